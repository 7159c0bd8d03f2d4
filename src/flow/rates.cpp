#include "flow/rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "loss/static_loss.hpp"

namespace phaselock {

namespace {

/// Largest eigenvalue of [[a, b], [b, d]].
double largest_eigenvalue(double a, double b, double d) { return (a + d) / 2 + std::hypot((a - d) / 2, b); }

}  // namespace

double saddle_rate(const SingleBlock& model, double c) {
  const double n = model.phases();
  const double w = attention(model, 1.0 / n).w, w1 = w_slope(model, w), w2 = w_curvature(model, w);
  return c * model.beta / (n * n * n) * largest_eigenvalue(w2 / n, w1, 0.0);
}

double escape_correction(const SingleBlock& model) {
  const double n = model.phases();
  const double w = attention(model, 1.0 / n).w, w1 = w_slope(model, w), w2 = w_curvature(model, w);
  const double w3 = model.gamma * (w2 * (1.0 - 2.0 * w) - 2.0 * w1 * w1);
  // The unit eigenvector is (lambda, w') / norm, lambda without its factor f = c beta / n^3.
  const double lambda = largest_eigenvalue(w2 / n, w1, 0.0), norm = std::hypot(lambda, w1), key = lambda / norm, value = w1 / norm;
  const double fX = 1.0 / (w1 * (n + 1.0)), fY = 1.0 / (w * n * (n + 1.0));
  const double by_key = key * key * (w1 - 2.0 * w2 / n - w3 / (n * n)) - 2.0 * key * value * (w1 + w2 / n);
  const double by_value = -key * key * w2 / n - 2.0 * key * value * w1 + value * value * n * w;
  return fX * by_key + fY * by_value;
}

HeadModes head_mode_rates(const SingleBlock& model, double c) {
  const double n = model.phases(), L = model.blocks, H = model.heads, N = model.vocabulary, beta = model.beta;
  const auto [w, o] = attention(model, 1.0 / n);
  const double w1 = w_slope(model, w), w2 = w_curvature(model, w);
  // Probabilities at the saddle of a token in the query's block (po) and in another block (pt).
  const double right = std::exp(beta * H * w / n), other = std::exp(beta * H * o / n);
  // The definition's Z, each kind of token counted once; tested against the static loss's second derivatives (rates_test).
  const double Z = N - L * model.positions + L + n * right + (L - 1) * n * other;
  const double po = right / Z, pt = other / Z, dl = po - pt;
  const double A = w2 / n * (1 - n * dl);
  const double Xi = po * (1 / n - dl) + pt * (1 / (n * (L - 1)) + dl);
  const double f = c * beta / (n * n * n);
  return {f * largest_eigenvalue(A, w1, 0.0),
          f * largest_eigenvalue(A - H * beta * w1 * w1 * Xi, w1, -H * n * beta * (w * w * po + (L - 1) * o * o * pt))};
}

std::vector<double> late_time_constants(const SingleBlock& model, double kappa, std::span<const int> selection) {
  const int H = model.heads, S = model.positions;
  std::vector<double> weights(2 * model.branch_rows(), 0.0), d(weights.size());
  for (int h = 0; h < H; ++h) {
    weights[row_index(model, key_branch, h, selection[h])] = 1.0;
    weights[row_index(model, value_branch, h, selection[h] + 1)] = 1.0;
  }
  static_loss(model, weights.data(), d.data());
  const double c = static_speed(model, kappa);
  std::vector<double> constants;
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < H; ++h) {
      const double* gate = d.data() + row_index(model, branch, h, 0);
      const int target = selection[h] + branch;
      double sum = 0.0;
      for (int s = 0; s < S; ++s) {
        const double margin = gate[s] - gate[target];
        if (s != target) sum += margin > 0.0 ? 1.0 / margin : std::numeric_limits<double>::infinity();
      }
      constants.push_back(sum / (S * c));
    }
  return constants;
}

double late_time_constant(const SingleBlock& model, double kappa, std::span<const int> selection) {
  const std::vector<double> constants = late_time_constants(model, kappa, selection);
  return *std::max_element(constants.begin(), constants.end());
}

}  // namespace phaselock
