// The inequalities behind the claims, in intervals of the current precision.
#pragma once

#include "certificate.hpp"
#include "interval.hpp"

namespace phaselock_check {

/// Its low end bounds (1-eta) min (d_s - d_t) - eta max |d_u - d_s| from below, over all gates and the whole box (theory.md section
/// 5). Needs sizes >= 2 (heads >= 1), L S <= N, gamma > 0, beta > 0, 0 < eta < 1/2 and a selection in 0 .. S-2.
Interval box_margin(const Model& model, const Trapping& data);

/// Holds min_i G_t(i) - max_(s != t, j) G_s(j) - log((S-1)(1-eta)/eta), the least over all gates: positive inside the box.
Interval state_depth(const Model& model, const Trapping& data);

/// Positive iff N > N0 (theory.md section 4, form 0).
Interval above_n0(const Model& model);

/// Positive iff the inequality that defines N1 holds at N (theory.md section 4, form 1).
Interval above_n1(const Model& model);

/// Positive iff the inequality that defines N2 holds at N (theory.md section 4, form 2).
Interval above_n2(const Model& model);

/// The loss of every distinct pattern, per query (theory.md section 4.3), for H <= S - 1.
Interval distinct_loss(const Model& model);

/// D minus the right-hand side of the equation for N*(distinct) (theory.md section 4), for H <= S - 1.
Interval distinct_margin(const Model& model);

}  // namespace phaselock_check
