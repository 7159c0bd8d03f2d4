// Counts over seeds as the rows of a store's table `count`, and back (docs/sweeps.md).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "statistics/seed_counts.hpp"

namespace phaselock {

/// `n` of a quantity's key:
///   outcome   name of the outcome           seeds
///   shape     occupancy shape, "2+1"        selected seeds
///   position  key offset r                  heads of selected seeds at r
///   pair      "r,s", r <= s                 sum over selected seeds of n_r n_s, n_r heads at r
///   escape    escape_bin of the escape time seeds that escaped
///   certified "yes"                         seeds
///   agrees    "yes", "no"                   selected seeds that were compared with static flows
struct CountRow {
  std::string what, key;
  std::int64_t n;
  auto operator<=>(const CountRow&) const = default;
};

/// A row for each number that is not 0, in the order of the table's primary key.
std::vector<CountRow> count_rows(const SeedCounts& counts);

/// The model's counts from their rows. A row of another quantity or key counts in none of them: sums that then do not add up tell
/// of it. Throws std::logic_error for an escape bin that is no number.
SeedCounts read_counts(const Model& model, std::span<const CountRow> rows);

}  // namespace phaselock
