// What the counts over seeds of one model say: in the order of the laws they are compared with, and the statistics of them
// (docs/statistics.md).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "loss/observe.hpp"
#include "statistics/escape_law.hpp"
#include "statistics/goodness_of_fit.hpp"
#include "statistics/head_pairs.hpp"
#include "statistics/intervals.hpp"
#include "statistics/occupancy.hpp"
#include "statistics/seed_counts.hpp"

namespace phaselock {

/// A number that is not known, as of no seeds.
constexpr Estimate unknown_estimate{std::numeric_limits<double>::quiet_NaN(),
                                    {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()}};

/// A count of so many, its share and 95% Clopper-Pearson interval; of none, the share is unknown.
struct Share {
  std::int64_t count, of;
  Estimate estimate = unknown_estimate;
  /// DomainError unless 0 <= count <= of; count is not looked at if `of` is 0.
  Share(std::int64_t count, std::int64_t of);
};

/// A cell is one model of a sweep, or the only one of a run.
struct CellFacts {
  SingleBlock model;
  std::int64_t seeds;
  std::array<std::int64_t, flow_outcomes> outcomes;  ///< by FlowOutcome
  Share selected, certified;                         ///< of all seeds
  Share agrees;                                      ///< of the selected seeds that were compared with static flows; of = 0: none

  // Selected seeds by occupancy shape.
  std::vector<Shape> shapes;               ///< occupancy_shapes, the order of the next four
  std::vector<std::int64_t> shape_counts;  ///< seeds
  std::vector<Estimate> shape_shares;      ///< with simultaneous 95% intervals; NaN without seeds
  std::vector<double> shape_law;           ///< of independent uniform heads
  std::vector<ShapeQuality> qualities;     ///< under the plain model
  ShapeQuality quality;                    ///< mean over seeds; NaN without any
  LawFit shape_fit;                        ///< of shape_counts against shape_law; p is NaN without seeds

  // Selected seeds by coverage 1, 2, .. min(H, S - 1), the number of distinct offsets that their heads select.
  std::vector<std::int64_t> distinct;     ///< seeds
  std::vector<Estimate> distinct_shares;  ///< as shape_shares
  std::vector<double> occupancy_law;      ///< of independent uniform heads
  Share all_distinct, collided;           ///< as many distinct offsets as heads, or fewer

  // Where the heads of selected seeds are; p is NaN without seeds.
  HeadSums sums;
  GoodnessOfFit phase_fit;  ///< phase_uniformity
  GoodnessOfFit pair_fit;   ///< pair_independence
  PairCorrelation pairs;    ///< NaN without two heads and two offsets

  // Escape times of all seeds.
  EscapeHistogram escapes;
  std::int64_t escaped;
  Estimate escape_median;  ///< NaN if none escaped
};

/// DomainError if the counts do not belong together or to the model.
CellFacts cell_facts(const SingleBlock& model, const SeedCounts& counts);

}  // namespace phaselock
