#include "flow/coordination.hpp"

#include <fmt/format.h>

#include <Eigen/Core>

#include <cmath>

#include "loss/spectrum.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"

namespace phaselock {

namespace {

/// The partial isometry nearest to `rows`, (A A^T)^(-1/2) A on the row space of A: `rank` directions.
Eigen::MatrixXd nearest_isometry(const Eigen::MatrixXd& rows, Eigen::Index rank) {
  const Spectrum gram = spectrum(rows * rows.transpose());  // ascending
  const Eigen::MatrixXd vectors = gram.vectors.rightCols(rank);
  return vectors * gram.values.tail(rank).cwiseSqrt().cwiseInverse().asDiagonal() * vectors.transpose() * rows;
}

}  // namespace

SingleBlock annealed(const SingleBlock& model, const Coordination& coordination) {
  SingleBlock result = model;
  if (coordination.anneal_beta != 0.0) result.beta = coordination.anneal_beta;
  if (coordination.anneal_vocabulary != 0) result.vocabulary = coordination.anneal_vocabulary;
  return result;
}

void validate(const SingleBlock& model, const Coordination& coordination) {
  const auto not_negative = [](const char* name, double value) {
    if (!(value >= 0.0 && std::isfinite(value))) throw DomainError(fmt::format("coordination.{} = {} must be >= 0", name, value));
  };
  not_negative("repulsion", coordination.repulsion);
  not_negative("anneal_until", coordination.anneal_until);
  if (coordination.anneal_until > 0.0) {
    try {
      validate(annealed(model, coordination));
    } catch (const DomainError& error) {
      throw DomainError(fmt::format("coordination.anneal_vocabulary: {}", error.what()));
    }
  }
  if (coordination.orthogonal && model.heads > model.phases())
    throw DomainError(fmt::format("coordination.orthogonal: {} heads do not fit {} positions", model.heads, model.phases()));
}

std::vector<double> spread_heads(const SingleBlock& model, std::span<const double> bias) {
  using Row = Eigen::RowVectorXd;
  const Eigen::Index H = model.heads, n = model.phases();
  if (H > n) throw DomainError(fmt::format("{} heads do not fit {} positions", H, n));
  std::vector<double> result(bias.begin(), bias.end());
  if (n < 2) return result;
  // The n numbers of a branch and head that correspond to phases.
  const auto matched = [&](int branch, Eigen::Index h) {
    return Eigen::Map<Row>(result.data() + row_index(model, branch, int(h), branch == key_branch ? 0 : 1), n);
  };
  const auto mean_free = [](const Row& row) { return Row(row.array() - row.mean()); };
  Eigen::MatrixXd directions(H, n);
  for (Eigen::Index h = 0; h < H; ++h) directions.row(h) = mean_free(matched(key_branch, h) + matched(value_branch, h));
  if (H == n) {
    directions.rowwise() -= Row(directions.colwise().mean());
    directions = std::sqrt(double(n) / double(n - 1)) * nearest_isometry(directions, n - 1);
  } else {
    directions = nearest_isometry(directions, H);
  }
  for (const int branch : {key_branch, value_branch})
    for (Eigen::Index h = 0; h < H; ++h) {
      const Row drawn = matched(branch, h);
      matched(branch, h) = Row((drawn.mean() + mean_free(drawn).norm() * directions.row(h).array()).matrix());
    }
  return result;
}

std::vector<double> coordinated_bias(const SingleBlock& model, double kappa, double rho, std::uint64_t seed,
                                     const Coordination& coordination) {
  std::vector<double> bias = initial_bias(model, kappa, rho, seed);
  return coordination.orthogonal ? spread_heads(model, bias) : bias;
}

}  // namespace phaselock
