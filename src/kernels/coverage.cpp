#include "kernels/coverage.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <mutex>
#include <span>
#include <utility>

#include "flow/seeds.hpp"
#include "kernels/ensemble.hpp"
#include "model/errors.hpp"
#include "statistics/head_pairs.hpp"
#include "statistics/occupancy.hpp"

namespace phaselock {

namespace {

/// Counts of `result`, and their statistics, from the outcome and selection of each seed.
void tally(const SingleBlock& model, std::span<const FlowOutcome> outcomes, CoverageResult& result) {
  result.outcomes.assign(std::size_t(FlowOutcome::not_finite) + 1, 0);
  result.occupancy = occupancy_law(model.heads, model.phases());
  result.distinct.assign(result.occupancy.size(), 0);
  HeadSums sums(model.heads, model.phases());
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    ++result.outcomes[std::size_t(outcomes[k])];
    if (outcomes[k] != FlowOutcome::selected) continue;
    const int distinct = coverage(result.selections[k]);
    ++result.selected;
    ++result.distinct[distinct - 1];
    result.collided += distinct < model.heads;
    sums.add(result.selections[k]);
  }
  result.positions = sums.at;
  result.not_selected = result.seeds - result.selected;
  result.collision_interval = clopper_pearson(result.collided, result.selected);
  result.occupancy_fit = chi_square_test(result.distinct, result.occupancy);
  result.position_fit = position_uniformity(sums);
}

}  // namespace

CoverageResult head_coverage(const SingleBlock& model, double kappa, const CoverageOptions& options,
                             const std::function<void(std::int64_t)>& progress) {
  validate(model);
  if (options.seeds < 1) throw DomainError(fmt::format("coverage of {} seeds: at least 1 is needed", options.seeds));
  CoverageResult result{};
  result.seeds = options.seeds;
  result.selections.resize(std::size_t(options.seeds));
  std::vector<FlowOutcome> outcomes(std::size_t(options.seeds), FlowOutcome::undecided);
  const SeedOptions of_seeds{options.rho, options.flow, {}, static_ensemble};
  std::mutex reporting;
  std::int64_t done = 0;
  constexpr std::int64_t at_once = 128;  // many more than SIMD lanes, so that few lanes are idle towards the end
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, options.seeds, at_once),
      [&](const tbb::blocked_range<std::int64_t>& seeds) {
        const std::uint64_t first = options.first_seed + std::uint64_t(seeds.begin());
        std::vector<SeedEnd> ends = static_seeds(model, kappa, of_seeds, first, std::int64_t(seeds.size()));
        for (std::size_t k = 0; k < ends.size(); ++k) {  // each seed has entries of its own: the number of threads cannot matter
          outcomes[seeds.begin() + k] = ends[k].outcome;
          result.selections[seeds.begin() + k] = std::move(ends[k].selection);
        }
        const std::lock_guard<std::mutex> lock(reporting);
        for (std::size_t k = 0; k < ends.size(); ++k) {
          ++done;
          if (progress) progress(done);
        }
      },
      tbb::simple_partitioner());
  tally(model, outcomes, result);
  result.seed_outcomes = std::move(outcomes);
  return result;
}

}  // namespace phaselock
