// Eigenvalues of symmetric matrices: the one place that compiles Eigen's solver, which takes a compiler half a minute.
#pragma once

#include <Eigen/Core>

namespace phaselock {

/// A = vectors diag(values) vectors^T, values ascending.
struct Spectrum {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// Spectrum of a symmetric matrix; only its lower triangle is read.
Spectrum spectrum(const Eigen::MatrixXd& symmetric);

/// The same, values alone.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& symmetric);

}  // namespace phaselock
