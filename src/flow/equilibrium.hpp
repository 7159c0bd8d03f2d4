// Where a static flow ends: a selection, or an interior equilibrium that will never select (theory.md section 5). With a repulsion
// between heads, the loss is that with it (static_loss.hpp).
#pragma once

#include <optional>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

/// The limit of a static flow, with the evidence that it is a local minimum of the static loss over gate weights.
struct Equilibrium {
  std::vector<double> weights;  ///< p [2][H][S]
  int mixed_gates;              ///< gates with more than one offset in their support
  double stationarity;          ///< largest |d_r - d_s| over offsets of one support, d = dLoss/dp
  double margin;                ///< smallest d_s - d_support off the support (not negative: leaving it does not pay)
  double scale;                 ///< min(1, gamma beta): key derivatives are of this size
  double curvature;             ///< smallest eigenvalue of the Hessian on the supports' tangent space (1 if no gate is mixed)

  /// Largest difference of a weight from those given.
  double distance(const std::vector<double>& from) const;

  /// A minimum to second order with a mixed gate. Margin and curvature may vanish: heads that share a key can trade value weight at
  /// no cost, so such minima are not isolated.
  bool is_interior() const {
    const double zero = 1e-9 * scale;
    return mixed_gates > 0 && margin > -zero && curvature > -zero && stationarity < zero;
  }
};

/// Examines weights [2][H][S] as a candidate equilibrium; an offset belongs to a gate's support if its weight is above 1e-6.
Equilibrium examine(const SingleBlock& model, std::vector<double> weights, double repulsion = 0.0);

/// Smallest curvature of the static loss over the tangent space of the supports (weights above `support`); 1 if no gate is mixed.
double support_curvature(const SingleBlock& model, const std::vector<double>& weights, double support, double repulsion = 0.0);

/// An interior minimum (is_interior) that holds a static flow which has slowed down at `weights`: Newton's method finds it on the
/// supports of `weights` (those above 0.02), within 0.05 of them and no higher in loss. Flat directions are allowed only where
/// heads that share a key trade value weight at no cost, and only if it stays a minimum however they trade: a flow drifts along
/// such a family for ever in log time, and would find a way out where a part of the family is no minimum. Nothing returned means
/// that this search found none; there may be one elsewhere or on other supports.
std::optional<Equilibrium> interior_nearby(const SingleBlock& model, const std::vector<double>& weights, double repulsion = 0.0);

/// Key offsets of the heads whose key and value an interior minimum leaves one-hot, however heads that share a key trade value
/// weight; -1 for the others. [H]
std::vector<int> one_hot_heads(const SingleBlock& model, const std::vector<double>& weights);

/// Follows the static flow from `bias` to t = 1e12 with the stiff stepper and examines the end.
Equilibrium static_limit(const SingleBlock& model, double kappa, std::vector<double> bias, double repulsion = 0.0);

/// static_limit, if it is an interior minimum within 0.2 of `weights`, where the gates are now. The distance may be that large
/// because the way there, along the floor of a valley, takes log time.
std::optional<Equilibrium> interior_limit(const SingleBlock& model, double kappa, std::vector<double> bias,
                                          const std::vector<double>& weights, double repulsion = 0.0);

}  // namespace phaselock
