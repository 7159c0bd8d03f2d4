#include "statistics/seed_counts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "statistics/escape_law.hpp"
#include "statistics/occupancy.hpp"

namespace phaselock {

namespace {

/// Numbers of heads at each key offset, [S - 1].
std::vector<int> heads_at(const Model& model, std::span<const int> selection) {
  std::vector<int> heads(model.phases(), 0);
  for (const int r : selection) ++heads[r];
  return heads;
}

}  // namespace

SeedCounts count_seeds(const Model& model, std::span<const SeedRecord> seeds) {
  SeedCounts counts;
  for (const SeedRecord& seed : seeds) {
    const SeedEnd& end = seed.end;
    ++counts["outcome"][std::string(name(end.outcome))];
    if (seed.certified) ++counts["certified"]["yes"];
    if (std::isfinite(end.escape)) ++counts["escape"][fmt::to_string(escape_bin(end.escape))];
    if (end.outcome != FlowOutcome::selected) continue;
    if (seed.agrees) ++counts["agrees"][*seed.agrees ? "yes" : "no"];
    ++counts["shape"][shape_name(shape_of(end.selection))];
    const std::vector<int> heads = heads_at(model, end.selection);
    for (int r = 0; r < model.phases(); ++r) {
      if (heads[r] == 0) continue;
      counts["position"][fmt::to_string(r)] += heads[r];
      for (int s = r; s < model.phases(); ++s)
        if (heads[s] > 0) counts["pair"][fmt::format("{},{}", r, s)] += std::int64_t(heads[r]) * heads[s];
    }
  }
  return counts;
}

}  // namespace phaselock
