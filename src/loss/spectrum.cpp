#include "loss/spectrum.hpp"

#include <Eigen/Eigenvalues>

namespace phaselock {

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

Spectrum spectrum(const Eigen::MatrixXd& symmetric) {
  const Solver solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& symmetric) { return Solver(symmetric, Eigen::EigenvaluesOnly).eigenvalues(); }

}  // namespace phaselock
