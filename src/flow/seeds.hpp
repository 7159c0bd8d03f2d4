// How the static flows of a run of seeds end (theory.md section 5): what counts over seeds are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/ensemble.hpp"
#include "flow/flow.hpp"

namespace phaselock {

/// How one seed's flow ended.
struct SeedEnd {
  FlowOutcome outcome;
  double t;         ///< time reached
  double escape;    ///< first time at which the largest key weight over all heads and offsets reaches (1 + 1/n)/2, n = S - 1
                    ///< (theory.md section 5); NaN: never
  double residual;  ///< largest 1 - p
  std::vector<int> selection;  ///< [H] key offsets, -1 where none; of an interior end see one_hot_heads
};

struct SeedOptions {
  double rho = 1e-2;  ///< radius of the initial ball, > 0
  FlowOptions flow;
  Coordination coordination;
  Ensemble ensemble = {};  ///< runs many flows side by side; empty: each seed by itself, which takes many times longer
};

/// Static flows of seeds first .. first + count - 1 on the calling thread. They run side by side in SIMD lanes until they select;
/// those that do not are run again one by one with static_flow, which finds out why. Each seed's end depends on its own number, the
/// options and the CPU's instruction set only, not on its neighbours: any of them can be redone alone, bit for bit. Throws
/// Interrupted when asked to stop, DomainError unless count >= 0 and rho > 0.
std::vector<SeedEnd> static_seeds(const SingleBlock& model, double kappa, const SeedOptions& options, std::uint64_t first,
                                  std::int64_t count);

}  // namespace phaselock
