// Where a static flow ends: a selection, or an interior equilibrium that will never select (theory.md section 5).
#pragma once

#include <vector>

#include "../model.hpp"

namespace phaselock {

/// The limit of a static flow, with the evidence that it is a local minimum of the static loss over gate weights.
struct Equilibrium {
  std::vector<double> weights;  ///< p [2][H][S]
  int mixed_gates;              ///< gates with more than one position in their support
  double stationarity;          ///< largest |d_r - d_s| over positions of one support, d = dLoss/dp
  double margin;                ///< smallest d_s - d_support off the support (not negative: leaving it does not pay)
  double scale;                 ///< min(1, gamma beta): key derivatives are of this size
  double curvature;             ///< smallest eigenvalue of the Hessian on the supports' tangent space (1 if no gate is mixed)

  /// A minimum to second order with a mixed gate. Margin and curvature may vanish: heads that share a key can trade value weight at
  /// no cost, so such minima are not isolated.
  bool is_interior() const {
    const double zero = 1e-9 * scale;
    return mixed_gates > 0 && margin > -zero && curvature > -zero && stationarity < zero;
  }
};

/// Examines weights [2][H][S] as a candidate equilibrium; a position belongs to a gate's support if its weight is above 1e-6.
Equilibrium examine(const Model& model, std::vector<double> weights);

/// Smallest curvature of the static loss over the tangent space of the supports (weights above `support`); 1 if no gate is mixed.
double support_curvature(const Model& model, const std::vector<double>& weights, double support);

/// Follows the static flow from `bias` to t = 1e12 with the stiff stepper and examines the end.
Equilibrium static_limit(const Model& model, double kappa, std::vector<double> bias);

}  // namespace phaselock
