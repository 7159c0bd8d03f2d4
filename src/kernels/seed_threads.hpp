// Static flows of many seeds on all threads: where counts over seeds begin (theory.md section 5, head coverage).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "flow/seeds.hpp"
#include "statistics/seed_counts.hpp"

namespace phaselock {

/// How the static flows of seeds first .. first + count - 1 end, in order: static_seeds in parallel, side by side in SIMD lanes
/// (static_ensemble, whatever `options.ensemble` is). The bits depend neither on the number of threads nor on how the seeds are
/// divided. No seed is marked as certified. `progress` is told the number of seeds done (from any thread, one call at a time).
/// Throws Interrupted when asked to stop, DomainError unless count >= 1 and rho > 0.
std::vector<SeedRecord> static_seeds_in_threads(const SingleBlock& model, double kappa, SeedOptions options, std::uint64_t first,
                                                std::int64_t count, const std::function<void(std::int64_t)>& progress = {});

}  // namespace phaselock
