// Attention of a head as a function of u = pK(query), theory.md section 2; the sharpest intervals, as u occurs once.
#pragma once

#include "certificate.hpp"
#include "interval.hpp"

namespace phaselock_check {

/// w(u) = e^(gamma u) / (e^(gamma u) + L - 1), on the right block.
inline Interval attention_right(const Model& m, const Interval& u) { return 1 / (1 + (m.blocks - 1) * exp(-(m.gamma * u))); }

/// o(u) = 1 / (e^(gamma u) + L - 1), on each other block.
inline Interval attention_other(const Model& m, const Interval& u) { return 1 / (exp(m.gamma * u) + (m.blocks - 1)); }

/// w' = gamma w (1 - w) = gamma (1/4 - (w - 1/2)^2);  o' = -w' / (L - 1).
inline Interval attention_slope(const Model& m, const Interval& u) {
  return m.gamma * (0.25 - square(attention_right(m, u) - 0.5));
}

}  // namespace phaselock_check
