#include "flow/escape.hpp"

#include <boost/math/tools/toms748_solve.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace phaselock {

double largest_key_weight(const SingleBlock& model, const double* key_bias) {
  double largest = 0.0;
  for (int h = 0; h < model.heads; ++h) {
    const double* b = key_bias + h * model.positions;
    const double peak = *std::max_element(b, b + model.positions);
    double total = 0.0;
    for (int s = 0; s < model.positions; ++s) total += std::exp(b[s] - peak);
    largest = std::max(largest, 1.0 / total);
  }
  return largest;
}

double escape_in_step(const SingleBlock& model, const StepEnd& from, const StepEnd& to) {
  const double threshold = escape_weight(model), step = to.s - from.s;
  std::vector<double> key(model.branch_rows());
  const auto excess = [&](double x) {
    const double rest = 1.0 - x, value = x * x * (1.0 + 2.0 * rest), slope = x * rest * rest, end_slope = -x * x * rest;
    for (std::size_t k = 0; k < key.size(); ++k)
      key[k] = from.bias[k] + value * (to.bias[k] - from.bias[k]) + slope * from.velocity[k] + end_slope * to.velocity[k];
    return largest_key_weight(model, key.data()) - threshold;
  };
  const double before = excess(0.0), after = excess(1.0);
  if (!(before < 0.0)) return std::expm1(from.s);
  if (!(after > 0.0)) return std::expm1(to.s);
  std::uintmax_t most = 50;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, 0.0, 1.0, before, after, [](double a, double b) { return b - a < 1e-6; }, most);
  return std::expm1(from.s + 0.5 * (low + high) * step);
}

}  // namespace phaselock
