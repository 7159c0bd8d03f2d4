#include "coverage.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <mutex>
#include <span>
#include <utility>

#include "errors.hpp"
#include "gates.hpp"
#include "interrupt.hpp"

namespace phaselock {

namespace {

/// Chi-square test that every head's position is uniform. The heads of one seed depend on each other, so the pooled counts
/// are not multinomial; but seeds are independent, and since the flow treats positions 1 .. S - 1 alike (theory.md section 5), the
/// counts X_r of one seed have covariance v (I - 11^T / n), n = S - 1, v = E[sum_r X_r^2 - H^2 / n] / (n - 1). Independent heads
/// have v = H / n: Pearson's statistic times (H / n) / v is chi-square for dependent heads too.
GoodnessOfFit uniform_positions(std::span<const FlowOutcome> outcomes, const CoverageResult& result, std::int64_t heads) {
  const std::int64_t n = std::int64_t(result.positions.size());
  const GoodnessOfFit pearson = chi_square_test(result.positions, std::vector<double>(n, 1.0 / double(n)));
  std::int64_t squares = 0;  // sum of X_r^2 over positions and selected seeds
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    if (outcomes[k] != FlowOutcome::selected) continue;
    std::vector<std::int64_t> at(n, 0);
    for (const int r : result.selections[k]) ++at[r];
    for (const std::int64_t X : at) squares += X * X;
  }
  const std::int64_t excess = n * squares - heads * heads * result.selected;  // v n (n - 1) times the number of seeds
  if (excess <= 0) return chi_square_of(0.0, pearson.degrees);                // every seed has H / n heads at each position
  const double ratio = double(heads) * double(n - 1) * double(result.selected) / double(excess);
  return chi_square_of(pearson.statistic * ratio, pearson.degrees);
}

/// Counts of `result` from the outcome and selection of each seed.
void count(const Model& model, std::span<const FlowOutcome> outcomes, CoverageResult& result) {
  result.outcomes.assign(std::size_t(FlowOutcome::not_finite) + 1, 0);
  result.positions.assign(model.phases(), 0);
  result.occupancy = occupancy_law(model.heads, model.phases());
  result.distinct.assign(result.occupancy.size(), 0);
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    ++result.outcomes[std::size_t(outcomes[k])];
    if (outcomes[k] != FlowOutcome::selected) continue;
    const int distinct = coverage(result.selections[k]);
    ++result.selected;
    ++result.distinct[distinct - 1];
    result.collided += distinct < model.heads;
    for (const int r : result.selections[k]) ++result.positions[r];
  }
  result.not_selected = result.seeds - result.selected;
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
  std::mutex reporting;
  std::int64_t done = 0;
  // Each seed writes only its own entries, so that the number of threads cannot matter.
  tbb::parallel_for(std::int64_t(0), options.seeds, [&](std::int64_t k) {
    check_interrupt();
    const std::uint64_t seed = options.first_seed + std::uint64_t(k);
    FlowResult flow = static_flow(model, kappa, initial_bias(model, kappa, options.rho, seed), options.flow);
    outcomes[k] = flow.outcome;
    result.selections[k] = std::move(flow.gates.selection);
    const std::lock_guard<std::mutex> lock(reporting);
    ++done;
    if (progress) progress(done);
  });
  count(model, outcomes, result);
  result.seed_outcomes = std::move(outcomes);
  result.collision_interval = clopper_pearson(result.collided, result.selected);
  result.occupancy_fit = chi_square_test(result.distinct, result.occupancy);
  result.position_fit = uniform_positions(result.seed_outcomes, result, model.heads);
  return result;
}

}  // namespace phaselock
