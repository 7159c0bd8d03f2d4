// Polynomials in place of functions on a short interval, by interpolation in Chebyshev points.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace phaselock {

/// p(y) = sum_k coefficient[k] y^k, k = 0 .. degree.
struct Polynomial {
  static constexpr int most = 20;

  int degree = 0;
  std::array<double, most + 1> coefficient{};
};

/// The polynomial of `degree` <= Polynomial::most that equals f in the degree + 1 Chebyshev points of [-reach, reach], or of a
/// somewhat longer interval where that is so short that differences of f would be lost. f takes and returns long double.
template <class Function>
Polynomial interpolate(Function f, double reach, int degree) {
  reach = std::max(reach, 1e-9);
  const int n = degree + 1;
  std::array<long double, Polynomial::most + 1> node{}, difference{}, power{};
  for (int k = 0; k < n; ++k) {
    node[k] = reach * std::cos(std::numbers::pi_v<long double> * (k + 0.5L) / n);
    difference[k] = f(node[k]);
  }
  for (int order = 1; order < n; ++order)  // Newton's divided differences
    for (int k = n - 1; k >= order; --k) difference[k] = (difference[k] - difference[k - 1]) / (node[k] - node[k - order]);
  for (int k = n - 1; k >= 0; --k) {  // power <- power (y - node_k) + difference_k
    for (int j = n - 1; j > 0; --j) power[j] = power[j - 1] - node[k] * power[j];
    power[0] = difference[k] - node[k] * power[0];
  }
  Polynomial p{degree, {}};
  for (int k = 0; k < n; ++k) p.coefficient[k] = double(power[k]);
  return p;
}

}  // namespace phaselock
