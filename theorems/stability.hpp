// Local stability of selection patterns: KKT margins over probability vectors (theory.md section 4, Necessary).
#pragma once

#include <span>
#include <vector>

#include "model.hpp"

namespace phaselock {

/// Smallest margin d_s - d_target of each gate, [2][H][L], at the selection pattern r = pattern[h * L + l] (0-based key offsets), d = dLoss/dp of one
/// context. The pattern is locally stable iff all are positive.
std::vector<double> pattern_margins(const Model& model, std::span<const int> pattern);

/// The distinct pattern r = h in every block; needs H < S.
std::vector<int> distinct_pattern(const Model& model);

}  // namespace phaselock
