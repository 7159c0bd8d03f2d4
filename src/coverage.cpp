#include "coverage.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <mutex>
#include <span>
#include <utility>

#include "errors.hpp"
#include "flow/ensemble.hpp"
#include "gates.hpp"
#include "interrupt.hpp"

namespace phaselock {

namespace {

/// Counts of `result`, and their statistics, from the outcome and selection of each seed.
void tally(const Model& model, std::span<const FlowOutcome> outcomes, CoverageResult& result) {
  result.outcomes.assign(std::size_t(FlowOutcome::not_finite) + 1, 0);
  result.positions.assign(model.phases(), 0);
  result.occupancy = occupancy_law(model.heads, model.phases());
  result.distinct.assign(result.occupancy.size(), 0);
  std::vector<std::vector<int>> selected;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    ++result.outcomes[std::size_t(outcomes[k])];
    if (outcomes[k] != FlowOutcome::selected) continue;
    const int distinct = coverage(result.selections[k]);
    ++result.selected;
    ++result.distinct[distinct - 1];
    result.collided += distinct < model.heads;
    for (const int r : result.selections[k]) ++result.positions[r];
    selected.push_back(result.selections[k]);
  }
  result.not_selected = result.seeds - result.selected;
  result.collision_interval = clopper_pearson(result.collided, result.selected);
  result.occupancy_fit = chi_square_test(result.distinct, result.occupancy);
  result.position_fit = uniformity_of_groups(selected, model.phases());
}

/// Whether all that the flows are asked for is whether they select.
bool ensemble_serves(const FlowOptions& options) {
  return options.stop != StopRule::time && !options.record && options.integration.save_at.empty() && !options.on_step &&
         !options.on_interrupt;
}

}  // namespace

CoverageResult head_coverage(const Model& model, double kappa, const CoverageOptions& options,
                             const std::function<void(std::int64_t)>& progress) {
  validate(model);
  if (options.seeds < 1) throw DomainError(fmt::format("coverage of {} seeds: at least 1 is needed", options.seeds));
  if (!(options.rho > 0.0)) throw DomainError(fmt::format("initial radius {} must be > 0", options.rho));
  CoverageResult result{};
  result.seeds = options.seeds;
  result.selections.resize(std::size_t(options.seeds));
  std::vector<FlowOutcome> outcomes(std::size_t(options.seeds), FlowOutcome::undecided);
  std::vector<char> known(std::size_t(options.seeds), 0);
  std::mutex reporting;
  std::int64_t done = 0;
  const auto start = [&](std::int64_t k) { return initial_bias(model, kappa, options.rho, options.first_seed + std::uint64_t(k)); };
  // Each seed writes only its own entries, so that the number of threads cannot matter.
  const auto settle = [&](std::int64_t k, FlowOutcome outcome, GateObservation gates) {
    outcomes[k] = outcome;
    result.selections[k] = std::move(gates.selection);
    known[k] = 1;
    const std::lock_guard<std::mutex> lock(reporting);
    ++done;
    if (progress) progress(done);
  };
  if (ensemble_serves(options.flow)) {
    const EnsembleOptions quick = {.until = options.flow.integration.until,
                                   .rtol = options.flow.integration.rtol,
                                   .atol = options.flow.integration.atol,
                                   .residual = options.flow.residual};
    constexpr std::int64_t at_once = 128;  // many more than lanes, so that few lanes are idle towards the end
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, options.seeds, at_once),
        [&](const tbb::blocked_range<std::int64_t>& seeds) {
          static_ensemble(
              model, kappa, seeds.size(), [&](std::int64_t k) { return start(seeds.begin() + k); }, quick,
              [&](std::int64_t k, EnsembleFlow&& flow) {
                GateObservation gates = observe_static(model, flow.bias);
                if (selects(gates, options.flow.residual)) settle(seeds.begin() + k, FlowOutcome::selected, std::move(gates));
              });
        },
        tbb::simple_partitioner());
  }
  tbb::parallel_for(std::int64_t(0), options.seeds, [&](std::int64_t k) {
    check_interrupt();
    if (known[k]) return;
    FlowResult flow = static_flow(model, kappa, start(k), options.flow);
    settle(k, flow.outcome, std::move(flow.gates));
  });
  tally(model, outcomes, result);
  result.seed_outcomes = std::move(outcomes);
  return result;
}

}  // namespace phaselock
