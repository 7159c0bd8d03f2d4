// Counts and extremes of many flows.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "claims/selecting_flows.hpp"

namespace phaselock {

/// Of the flows added so far: how many ended how, and the extremes of what was measured on them.
struct FlowTally {
  std::int64_t flows = 0;
  std::int64_t selecting = 0, agreeing = 0;                                      ///< agreeing: of those that select
  std::int64_t colliding = 0;                                                    ///< of those that select: heads on one position
  std::int64_t running = 0;                                                      ///< do not select, but ran out of time or steps
  std::int64_t proved = 0, interior = 0, undecided = 0;                          ///< they add up to `flows`
  std::map<std::string, int> outcomes;                                           ///< flows by the name of their FlowOutcome
  double static_offsets = 1.0, avg_offsets = 1.0;                                ///< largest
  double residual_all = 0.0, energy = 0.0, drift = 0.0;                          ///< largest
  double low_ratio = std::numeric_limits<double>::infinity(), high_ratio = 0.0;  ///< of rate_ratio, of those that select

  void add(const FlowRecord& flow);
};

}  // namespace phaselock
