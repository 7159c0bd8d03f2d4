// Rates of the static flow (theory.md section 5, Rates): how it starts, how heads part, how it ends.
#pragma once

#include <span>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

/// Escape rate of the symmetric saddle for N -> infinity (pK uniform on 1..S-1, pV uniform on 2..S):
/// lambda = (c beta / n^3) ( w''/n + sqrt((w''/n)^2 + 4 w'^2) ) / 2, with w', w'' at u = 1/n, n = S - 1.
double saddle_rate(const SingleBlock& model, double c);

/// Its correction on the way to the saddle, which gates reach only algebraically: as N -> infinity a small asymmetry grows at
/// lambda + mu / t. The weights that no query uses are x ~ X / t of pK(S) and y ~ Y / t of pV(1), X = n^3 / (c beta w' (n + 1)),
/// Y = n^2 / (c beta w (n + 1)), and with v the unit eigenvector of lambda in [[w''/n, w'], [w', 0]]
/// mu = (c beta / n^3) v^T ( X [[w' - 2 w''/n - w'''/n^2, -w' - w''/n], [., 0]] + Y [[-w''/n, -w'], [., n w]] ) v.
/// It depends on L, S and gamma only.
double escape_correction(const SingleBlock& model);

/// Growth rates at the saddle at finite N, of differences between heads and of their sum.
struct HeadModes {
  double difference, sum;
};
HeadModes head_mode_rates(const SingleBlock& model, double c);

/// Late-time constants C of 1 - p ~ C / t at a selection, per gate [2][H]: C = ( sum_(s != t) 1/m_s ) / (S c), with the vertex
/// margins m_s = d_s - d_target of the static loss. Infinite where a margin is not positive (the selection is unstable there).
std::vector<double> late_time_constants(const SingleBlock& model, double kappa, std::span<const int> selection);

/// The largest of them: the residual of the whole flow tends to it over t.
double late_time_constant(const SingleBlock& model, double kappa, std::span<const int> selection);

}  // namespace phaselock
