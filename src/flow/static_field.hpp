// The static flow as a system for the integrators (theory.md section 3): db/dt = -c dLoss/db, and beside it the dissipated
// energy dE/dt = c |dLoss/db|^2, so that Loss + E is constant.
#pragma once

#include <vector>

#include "flow/integrate.hpp"
#include "loss/static_curvature.hpp"
#include "loss/static_loss.hpp"

namespace phaselock {

/// State: biases [2][H][S], then E.
struct StaticField {
  SingleBlock model;
  double c;                ///< kappa + 1/N
  double repulsion = 0.0;  ///< in Loss, see static_loss

  State start(std::vector<double> bias) const {
    bias.push_back(0.0);
    return bias;
  }

  VectorField velocity() const {
    return [*this](const State& y, State& dydt) {
      static_bias_loss(model, y.data(), dydt.data(), repulsion);
      double energy = 0.0;
      for (std::size_t k = 0; k + 1 < y.size(); ++k) {
        energy += c * dydt[k] * dydt[k];
        dydt[k] *= -c;
      }
      dydt.back() = energy;
    };
  }

  JacobianField jacobian() const {
    return [*this](const State& y, std::vector<double>& J) {
      const std::size_t n = y.size() - 1;
      std::vector<double> gradient(n);
      static_bias_loss(model, y.data(), gradient.data(), repulsion);
      const Eigen::MatrixXd hessian = bias_hessian(model, {y.data(), n}, repulsion);
      std::fill(J.begin(), J.end(), 0.0);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          J[i * (n + 1) + j] = -c * hessian(i, j);
          J[n * (n + 1) + j] += 2.0 * c * gradient[i] * hessian(i, j);
        }
    };
  }
};

}  // namespace phaselock
