// The toy example of theory.md section 6: two phases, two heads, keys only.
#pragma once

#include <array>
#include <vector>

#include "model/model.hpp"

namespace phaselock {

/// L, gamma and beta of a Model are used (its S, H, N are 2, 2 and unused); A weighs the wrong answers.
struct Toy {
  Model model;
  double A = 10.0;
};

using ToyPoint = std::array<double, 2>;

/// p_h = sigmoid(theta_h).
ToyPoint toy_weights(const ToyPoint& theta);

/// Loss = mean over the two phases of l(margin), l(m) = log(1 + A e^(-beta m)); margins w(p1) + w(p2) and w(1 - p1) + w(1 - p2).
double toy_loss(const Toy& toy, const ToyPoint& p);

/// dtheta/dt = -dLoss/dtheta, as a function of p: -p (1 - p) dLoss/dp.
ToyPoint toy_velocity(const Toy& toy, const ToyPoint& p);

/// Growth rates at p = 1/2: difference mode (1/16)(-l' w''), sum mode (1/16)(-l' w'' - 2 l'' w'^2).
struct ToyRates {
  double difference, sum;
};
ToyRates toy_rates(const Toy& toy);

}  // namespace phaselock
