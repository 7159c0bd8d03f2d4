// The vocabulary's geometry: the Gram matrix K of the token embeddings (theory.md sections 1 and 8).
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace phaselock {

/// K of a vocabulary of N tokens: exact, K = kappa 11^T + I, or a dense matrix. Everything the dynamics needs of the embeddings.
class Geometry {
 public:
  /// Exact geometry of N tokens; kappa >= 0 and finite (theory.md: kappa > 0), else DomainError.
  static Geometry exact(double kappa, int vocabulary);

  /// K = kappa 11^T + I + epsilon E with E symmetric, entries independent and uniform in [-1, 1], of stream `seed`.
  /// DomainError, naming the largest epsilon that would do, if K is not positive semidefinite.
  static Geometry perturbed(double kappa, double epsilon, std::uint64_t seed, int vocabulary);

  /// From a user's embeddings X, rows = tokens: rows scaled to unit length if `normalize`, then all by one factor so that the mean
  /// diagonal minus the mean off-diagonal of K = X X^T is 1 (theory.md section 8). kappa() and epsilon() are the fitted ones.
  /// DomainError for fewer than two rows, a non-finite entry, a zero row to normalize, or a spread that is not positive.
  static Geometry embeddings(Eigen::MatrixXd X, bool normalize);

  /// Any symmetric positive semidefinite K; kappa and epsilon fitted as above. For tests and comparisons with the exact path.
  static Geometry dense(Eigen::MatrixXd K);

  bool is_exact() const { return !dense_; }
  int vocabulary() const { return vocabulary_; }
  double kappa() const { return kappa_; }
  double epsilon() const { return epsilon_; }              ///< max |K - kappa 11^T - I|, 0 at exact geometry
  const Eigen::MatrixXd& gram() const { return *dense_; }  ///< only if not exact

  /// out = rows K for rows [count][N] row-major: the gradient flow's metric (theory.md section 3).
  void apply(std::span<const double> rows, std::span<double> out) const;

  /// Initial tables [2][H][S][N] of linear gates: c uniform in the Euclidean ball of radius rho around 0 in R^(2HSd),
  /// G_r(i) = <c_r, x_i>, with any embedding x of this K (theory.md section 3).
  std::vector<double> initial_tables(const Model& model, double rho, std::uint64_t seed) const;

 private:
  Geometry(int vocabulary, double kappa) : vocabulary_(vocabulary), kappa_(kappa) {}
  void fit();

  int vocabulary_;
  double kappa_;
  double epsilon_ = 0.0;
  std::optional<Eigen::MatrixXd> dense_;   ///< K [N][N], absent at exact geometry
  std::optional<Eigen::MatrixXd> tokens_;  ///< an embedding [N][d] with K = X X^T, absent at exact geometry
};

}  // namespace phaselock
