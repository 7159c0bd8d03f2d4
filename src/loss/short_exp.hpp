// e^y for |y| <= a known bound by a polynomial of just the degree that bound needs: cheaper than a general exponential, without
// reduction or branches, and so for any vector type.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace phaselock {

/// Coefficients of a polynomial equal to e^y (1 + 4e-15) or closer for |y| <= reach. degree 0 stands for "too far: use a general
/// exponential".
struct ShortExp {
  static constexpr int most = 20;
  static constexpr double tolerance = 4e-15;  ///< relative

  int degree = 0;
  std::array<double, most + 1> coefficient{};

  ShortExp() = default;

  /// Interpolation in the Chebyshev points of [-reach, reach], whose relative error is at most
  /// 2 e^(2 reach) (reach / 2)^(degree + 1) / (degree + 1)!.
  explicit ShortExp(double reach) {
    double bound = 2.0 * std::exp(2.0 * reach);
    for (int d = 0; d <= most; ++d) {
      bound *= 0.5 * reach / (d + 1);
      if (d > 0 && bound <= tolerance) {
        degree = d;
        interpolate(reach);
        return;
      }
    }
  }

 private:
  /// Newton's divided differences, then expanded into powers of y, in long double.
  void interpolate(double reach) {
    const int n = degree + 1;
    std::array<long double, most + 1> node{}, difference{}, power{};
    for (int k = 0; k < n; ++k) {
      node[k] = reach * std::cos(std::numbers::pi_v<long double> * (k + 0.5L) / n);
      difference[k] = std::exp(node[k]);
    }
    for (int order = 1; order < n; ++order)
      for (int k = n - 1; k >= order; --k) difference[k] = (difference[k] - difference[k - 1]) / (node[k] - node[k - order]);
    for (int k = n - 1; k >= 0; --k) {  // power <- power (y - node_k) + difference_k
      for (int j = n - 1; j > 0; --j) power[j] = power[j - 1] - node[k] * power[j];
      power[0] = difference[k] - node[k] * power[0];
    }
    for (int k = 0; k < n; ++k) coefficient[k] = double(power[k]);
  }
};

}  // namespace phaselock
