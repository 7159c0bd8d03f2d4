// Rates of the static flow (theory.md section 5, Rates): how it starts, how heads part, how it ends.
#pragma once

#include <span>
#include <vector>

#include "../model.hpp"

namespace phaselock {

/// Escape rate of the symmetric saddle for N -> infinity (pK uniform on 1..S-1, pV uniform on 2..S):
/// lambda = (c beta / n^3) ( w''/n + sqrt((w''/n)^2 + 4 w'^2) ) / 2, with w', w'' at u = 1/n, n = S - 1.
double saddle_rate(const Model& model, double c);

/// Growth rates at the saddle at finite N, of differences between heads and of their sum.
struct HeadModes {
  double difference, sum;
};
HeadModes head_mode_rates(const Model& model, double c);

/// Late-time constants C of 1 - p ~ C / t at a selection, per gate [2][H]: C = ( sum_(s != t) 1/m_s ) / (S c), with the vertex
/// margins m_s = d_s - d_target of the static loss. Infinite where a margin is not positive (the selection is unstable there).
std::vector<double> late_time_constants(const Model& model, double kappa, std::span<const int> selection);

/// The largest of them: the residual of the whole flow tends to it over t.
double late_time_constant(const Model& model, double kappa, std::span<const int> selection);

}  // namespace phaselock
