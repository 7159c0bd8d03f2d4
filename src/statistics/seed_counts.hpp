// Whole numbers that a run of seeds adds to: what coverage, collisions, correlation and escape are computed from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/seeds.hpp"
#include "model/model.hpp"

namespace phaselock {

/// How a seed ended, with what its chunk found out about it.
struct SeedRecord {
  SeedEnd end;
  bool certified = false;      ///< the end is inside a proved trapping box
  std::optional<bool> agrees;  ///< of linear gates, if asked: the static flow from the start's static part selects the same
};

/// Counts by quantity and key; sums over any split of the seeds are the same.
///   outcome   name of the outcome                         seeds
///   shape     occupancy shape, "2+1"                      selected seeds
///   position  key offset r                                heads of selected seeds at r
///   pair      "r,s", r <= s                               sum over selected seeds of n_r n_s, n_r heads at r
///   escape    escape_bin of the escape time (escape_law.hpp) seeds that escaped
///   certified "yes"                                       seeds
///   agrees    "yes", "no"                                 selected seeds that were compared
using SeedCounts = std::map<std::string, std::map<std::string, std::int64_t>>;

SeedCounts count_seeds(const Model& model, std::span<const SeedRecord> seeds);

}  // namespace phaselock
