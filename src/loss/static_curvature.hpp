// Second derivatives of the static loss, by automatic differentiation of its gradient.
#pragma once

#include <Eigen/Core>

#include <span>

#include "model/single_block.hpp"

namespace phaselock {

/// Hessian of static_loss with respect to the weights [2][H][S], at `weights`.
Eigen::MatrixXd weight_hessian(const SingleBlock& model, std::span<const double> weights, double repulsion = 0.0);

/// That Hessian times `directions`, [2 H S][count].
Eigen::MatrixXd weight_hessian(const SingleBlock& model, std::span<const double> weights, const Eigen::MatrixXd& directions,
                               double repulsion = 0.0);

/// Hessian of static_bias_loss with respect to the biases [2][H][S], at `bias`.
Eigen::MatrixXd bias_hessian(const SingleBlock& model, std::span<const double> bias, double repulsion = 0.0);

}  // namespace phaselock
