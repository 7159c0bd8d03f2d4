// Whole numbers that a run of seeds adds to: all that shares, head coverage, correlation and escape are computed from.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "flow/seeds.hpp"
#include "model/model.hpp"
#include "statistics/escape_law.hpp"
#include "statistics/head_pairs.hpp"
#include "statistics/occupancy.hpp"

namespace phaselock {

/// How a seed ended, with what its run found out about it.
struct SeedRecord {
  SeedEnd end;
  bool certified = false;      ///< the end is inside a proved trapping box
  std::optional<bool> agrees;  ///< of linear gates, if asked: the static flow from the start's static part selects the same
};

constexpr int flow_outcomes = int(FlowOutcome::not_finite) + 1;

/// Counts over seeds of one model; sums over any split of the seeds are the same.
struct SeedCounts {
  std::array<std::int64_t, flow_outcomes> outcomes{};  ///< seeds of each outcome, in the order of FlowOutcome
  std::map<Shape, std::int64_t> shapes;                ///< selected seeds of each occupancy shape that occurs
  HeadSums heads;                                      ///< where the heads of selected seeds are, one by one and in pairs
  EscapeHistogram escapes;                             ///< seeds that escaped
  std::int64_t certified = 0;                          ///< seeds
  std::int64_t agreeing = 0, disagreeing = 0;          ///< selected seeds that were compared with static flows

  /// No seeds yet.
  explicit SeedCounts(const Model& model) : heads(model.heads, model.phases()) {}

  std::int64_t seeds() const;                            ///< of any outcome
  std::int64_t selected() const { return heads.seeds; }  ///< seeds whose every head selects
  std::int64_t collided() const;                         ///< of them: seeds of less coverage than heads
  std::int64_t of(FlowOutcome outcome) const { return outcomes[std::size_t(outcome)]; }

  /// One more seed. DomainError if it selected, but not an offset in 0 .. S - 2 for each head.
  void add(const SeedRecord& seed);

  /// The counts of both. DomainError unless they are of as many heads and offsets.
  SeedCounts& operator+=(const SeedCounts& other);

  bool operator==(const SeedCounts&) const = default;
};

SeedCounts count_seeds(const Model& model, std::span<const SeedRecord> seeds);

}  // namespace phaselock
