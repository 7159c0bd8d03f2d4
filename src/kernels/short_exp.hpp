// e^y for |y| <= a known bound by a polynomial of just the degree that bound needs: cheaper than a general exponential, without
// reduction or branches, and so for any vector type.
#pragma once

#include <cmath>

#include "kernels/chebyshev.hpp"

namespace phaselock {

/// e^y = p(y)^(2^squarings) (1 + 1e-14) or closer for |y| <= reach. `general`: reach is too far, use a general exponential; p is
/// then y itself.
struct ShortExp {
  static constexpr double tolerance = 1e-14;                      ///< relative; rounding comes on top, 2^squarings times
  static constexpr int most_squarings = 4, most_operations = 16;  ///< 16 is what makes it cheaper than a general exponential

  bool general = true;
  int squarings = 0;
  Polynomial p{1, {0.0, 1.0}};

  /// The fewest multiplications that keep the tolerance. With r = reach / 2^squarings, interpolation of e^(y / 2^squarings) in n
  /// Chebyshev points of [-r, r] has a relative error of at most 2 e^(2 r) (r / 2)^n / n!, which each squaring doubles.
  explicit ShortExp(double reach) {
    int best = most_operations + 1;
    for (int s = 0; s <= most_squarings; ++s) {
      const double r = std::ldexp(reach, -s);
      double bound = std::ldexp(2.0 * std::exp(2.0 * r), s);
      for (int degree = 0; degree + s < best; ++degree) {
        bound *= 0.5 * r / (degree + 1);
        if (degree == 0 || bound > tolerance) continue;
        best = degree + s;
        general = false;
        squarings = s;
        p.degree = degree;
      }
    }
    if (general) return;
    const long double shrink = std::ldexp(1.0L, -squarings);
    p = interpolate([shrink](long double y) { return std::exp(shrink * y); }, reach, p.degree);
  }

  /// Multiplications that one number takes; 25 for a general exponential.
  int operations() const { return general ? 25 : p.degree + squarings; }
};

}  // namespace phaselock
