// Head coverage over seeds of static flows (theory.md section 5, head coverage).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "flow/flow.hpp"
#include "statistics/intervals.hpp"

namespace phaselock {

struct CoverageOptions {
  std::int64_t seeds = 10000;
  std::uint64_t first_seed = 1;
  double rho = 1e-2;
  FlowOptions flow;
};

struct CoverageResult {
  std::int64_t seeds, selected, not_selected;
  std::vector<std::int64_t> outcomes;  ///< by FlowOutcome, in its order
  std::vector<std::int64_t>
      distinct;  ///< seeds with k distinct positions, entry k - 1, k = 1 .. min(H, S - 1); selected seeds only
  std::vector<std::int64_t> positions;  ///< heads at each key offset 0 .. S - 2, selected seeds only
  std::int64_t collided;                ///< selected seeds with fewer distinct positions than heads
  Interval collision_interval;          ///< 95% Clopper-Pearson, of collided / selected
  std::vector<double> occupancy;        ///< occupancy law, as `distinct`
  GoodnessOfFit occupancy_fit;          ///< of `distinct` against the occupancy law: independent heads
  GoodnessOfFit
      position_fit;  ///< of `positions` against uniform, whatever the dependence of heads of one seed (position_uniformity)
  std::vector<FlowOutcome> seed_outcomes;    ///< of each seed [seeds]
  std::vector<std::vector<int>> selections;  ///< of each seed [seeds][H]; -1 where none
};

/// Runs the seeds in parallel: side by side in SIMD lanes until they select, and those that do not, one by one with static_flow,
/// which finds out why. The result does not depend on the number of threads. `progress` is told the number of seeds done
/// (from any thread, one call at a time). Throws Interrupted when asked to stop,
/// DomainError unless seeds >= 1 and rho > 0.
CoverageResult head_coverage(const SingleBlock& model, double kappa, const CoverageOptions& options,
                             const std::function<void(std::int64_t)>& progress = {});

}  // namespace phaselock
