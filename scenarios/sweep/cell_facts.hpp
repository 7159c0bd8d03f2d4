// One cell of a sweep: its counts in the order of the laws they are compared with, and the statistics of them.
#pragma once

#include <optional>
#include <vector>

#include "loss/observe.hpp"
#include "schema/scenario.hpp"
#include "statistics/escape_law.hpp"
#include "statistics/goodness_of_fit.hpp"
#include "statistics/head_pairs.hpp"
#include "statistics/intervals.hpp"
#include "statistics/occupancy.hpp"
#include "statistics/seed_counts.hpp"

namespace phaselock {

/// A count of so many, its share and 95% Clopper-Pearson interval.
struct Share {
  std::int64_t count = 0, of = 0;
  Estimate estimate{NAN, {NAN, NAN}};
  Share(std::int64_t count, std::int64_t of);
};

struct CellFacts {
  Model model;
  std::int64_t seeds;
  std::vector<std::int64_t> outcomes;                   ///< by FlowOutcome
  std::vector<Shape> shapes;                            ///< occupancy_shapes
  std::vector<std::int64_t> shape_counts, distinct;     ///< of selected seeds, by shape and by number of distinct positions
  std::vector<Estimate> shape_shares, distinct_shares;  ///< of selected seeds, with simultaneous 95% intervals
  std::vector<double> shape_law, occupancy_law;         ///< of independent uniform heads
  HeadSums sums;
  EscapeHistogram escapes;
  std::int64_t escaped;
  Share selected, collided, all_distinct, certified, agrees;  ///< agrees.of = 0 unless compared with static flows
  LawFit occupancy_fit;
  GoodnessOfFit position_fit, pair_fit;
  std::vector<ShapeQuality> qualities;  ///< of each shape, under the plain model
  ShapeQuality quality;                 ///< mean over selected seeds; NaN without any
  PairCorrelation pairs;                ///< NaN without two heads and two positions
  Estimate escape_median;
};

/// `seeds` as many as the counts are of.
CellFacts cell_facts(const Model& model, const SeedCounts& counts, std::int64_t seeds);

}  // namespace phaselock
