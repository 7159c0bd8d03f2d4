#include "loss/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loss/spectrum.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/random.hpp"

namespace phaselock {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// X with X X^T = K, from the eigendecomposition; DomainError if K has an eigenvalue below -1e-10 of its largest.
Eigen::MatrixXd square_root(const Eigen::MatrixXd& K) {
  const auto [values, vectors] = spectrum(K);
  if (!(values.minCoeff() >= -1e-10 * std::max(1.0, values.maxCoeff())))
    throw DomainError(fmt::format("the Gram matrix is not positive semidefinite: smallest eigenvalue {:.3g}", values.minCoeff()));
  return vectors * values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// The largest number of six significant digits that is not above x > 0: printed with six digits it still is not above x.
double rounded_down(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 5.0);
  return std::floor(x / unit * (1.0 - 1e-12)) * unit;
}

/// mean diagonal - mean off-diagonal of K, and the mean off-diagonal.
struct Spread {
  double spread, off_diagonal;
};

Spread spread_of(const Eigen::MatrixXd& K) {
  const double N = double(K.rows());
  const double diagonal = K.trace() / N;
  const double off = (K.sum() - K.trace()) / (N * (N - 1.0));
  return {diagonal - off, off};
}

}  // namespace

Geometry Geometry::exact(double kappa, int vocabulary) {
  if (!(kappa >= 0.0 && std::isfinite(kappa))) throw DomainError(fmt::format("geometry.kappa = {} must be >= 0 and finite", kappa));
  return Geometry(vocabulary, kappa);
}

Geometry Geometry::perturbed(double kappa, double epsilon, std::uint64_t seed, int vocabulary) {
  Geometry geometry = exact(kappa, vocabulary);
  if (!(epsilon >= 0.0 && std::isfinite(epsilon)))
    throw DomainError(fmt::format("geometry.epsilon = {} must be >= 0 and finite", epsilon));
  const int N = vocabulary;
  Eigen::MatrixXd E(N, N);
  Stream stream(seed, Purpose::perturbation);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) E(i, j) = E(j, i) = 2.0 * stream.uniform() - 1.0;
  const Eigen::MatrixXd base = Eigen::MatrixXd::Constant(N, N, kappa) + Eigen::MatrixXd::Identity(N, N);
  geometry.dense_ = base + epsilon * E;
  // K >= 0 iff I + epsilon B^(-1/2) E B^(-1/2) >= 0 with B the unperturbed K; B^(-1/2) = I - s 11^T/N by B's two eigenvalues.
  const double s = 1.0 - 1.0 / std::sqrt(1.0 + kappa * N);
  const Eigen::MatrixXd half = Eigen::MatrixXd::Identity(N, N) - Eigen::MatrixXd::Constant(N, N, s / N);
  const double lowest = eigenvalues(half * E * half).minCoeff();
  if (1.0 + epsilon * lowest < 0.0)
    throw DomainError(
        fmt::format("geometry.epsilon = {} makes the Gram matrix indefinite: with this seed, kappa and vocabulary "
                    "the largest epsilon that would do is {:.6g}",
                    epsilon, rounded_down(-1.0 / lowest)));
  geometry.epsilon_ = epsilon * E.cwiseAbs().maxCoeff();
  geometry.tokens_ = square_root(*geometry.dense_);
  return geometry;
}

Geometry Geometry::embeddings(Eigen::MatrixXd X, bool normalize) {
  if (X.rows() < 2 || X.cols() < 1)
    throw DomainError(fmt::format("embeddings of shape ({}, {}): at least 2 rows and 1 column are needed", X.rows(), X.cols()));
  if (!X.allFinite()) throw DomainError("embeddings hold a value that is not finite");
  if (normalize) {
    for (Eigen::Index i = 0; i < X.rows(); ++i) {
      const double length = X.row(i).norm();
      if (!(length > 0.0)) throw DomainError(fmt::format("embedding row {} is zero and cannot be scaled to unit length", i));
      X.row(i) /= length;
    }
  }
  const double spread = spread_of(X * X.transpose()).spread;
  if (!(spread > 0.0)) throw DomainError("embeddings without spread: the mean diagonal of K is not above its mean off-diagonal");
  X /= std::sqrt(spread);
  Geometry geometry(int(X.rows()), 0.0);
  geometry.dense_ = X * X.transpose();
  geometry.tokens_ = std::move(X);
  geometry.fit();
  return geometry;
}

Geometry Geometry::dense(Eigen::MatrixXd K) {
  if (K.rows() != K.cols() || K.rows() < 2 || !K.allFinite() || !K.isApprox(K.transpose(), 1e-12))
    throw DomainError("a Gram matrix must be square, finite and symmetric, of at least two tokens");
  Geometry geometry(int(K.rows()), 0.0);
  geometry.tokens_ = square_root(K);
  geometry.dense_ = std::move(K);
  geometry.fit();
  return geometry;
}

void Geometry::fit() {
  const Eigen::Index N = dense_->rows();
  kappa_ = spread_of(*dense_).off_diagonal;
  epsilon_ = (*dense_ - Eigen::MatrixXd::Constant(N, N, kappa_) - Eigen::MatrixXd::Identity(N, N)).cwiseAbs().maxCoeff();
}

void Geometry::apply(std::span<const double> rows, std::span<double> out) const {
  const Eigen::Index N = vocabulary_, count = Eigen::Index(rows.size()) / N;
  const Eigen::Map<const RowMajor> in(rows.data(), count, N);
  Eigen::Map<RowMajor> result(out.data(), count, N);
  if (dense_) {
    result.noalias() = in * *dense_;
  } else {
    for (Eigen::Index row = 0; row < count; ++row) result.row(row).array() = in.row(row).array() + kappa_ * in.row(row).sum();
  }
}

std::vector<double> Geometry::initial_tables(const Model& model, double rho, std::uint64_t seed) const {
  const Eigen::Index N = vocabulary_, rows = Eigen::Index(2 * model.branch_rows());
  const Eigen::Index d = dense_ ? tokens_->cols() : N + 1;
  Stream stream(seed, Purpose::initial);
  RowMajor c(rows, d);
  for (Eigen::Index k = 0; k < c.size(); ++k) c.data()[k] = stream.normal();
  // Uniform in the ball: a uniform direction times rho U^(1/dimension).
  c *= rho * std::pow(stream.uniform(), 1.0 / double(c.size())) / c.norm();
  std::vector<double> tables(model.table_size());
  Eigen::Map<RowMajor> G(tables.data(), rows, N);
  if (dense_)
    G.noalias() = c * tokens_->transpose();
  else  // x_i = (e_i, sqrt(kappa)), the constant coordinate first in c
    G = c.rightCols(N) + std::sqrt(kappa_) * c.col(0) * Eigen::RowVectorXd::Ones(N);
  return tables;
}

}  // namespace phaselock
