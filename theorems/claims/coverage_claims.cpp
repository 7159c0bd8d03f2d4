#include <fmt/format.h>

#include "claims/checks.hpp"
#include "kernels/seed_threads.hpp"
#include "proofs/trapping.hpp"
#include "statistics/cell_facts.hpp"

namespace phaselock {

namespace {

/// Static flows of seeds 1, 2, .. and what their counts say.
struct Run {
  std::vector<SeedRecord> seeds;
  CellFacts facts;
};

Run run(const SingleBlock& model, double kappa, int seeds) {
  SeedOptions options;
  options.flow.trap = Trap(model);
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  std::vector<SeedRecord> records = static_seeds_in_threads(model, kappa, options, 1, seeds);
  CellFacts facts = cell_facts(model, count_seeds(model, records));
  return {std::move(records), std::move(facts)};
}

/// The assumptions and counts that the coverage claims share.
ClaimResult begin(const char* id, const CellFacts& facts) {
  return {.id = id,
          .model = facts.model,
          .assumptions = size_assumptions(facts.model),
          .evidence = {{"summary", ""},
                       {"seeds", facts.seeds},
                       {"selected", facts.selected.count},
                       {"not_selected", facts.seeds - facts.selected.count}},
          .expected = {}};
}

/// Probability that independent uniform heads do not all choose distinct offsets.
double occupancy_collision(const CellFacts& facts) {
  return 1.0 - (int(facts.occupancy_law.size()) == facts.model.heads ? facts.occupancy_law.back() : 0.0);
}

}  // namespace

ClaimResult check_coverage_symmetry(const SingleBlock& model, double kappa, int seeds) {
  const Run found = run(model, kappa, seeds);
  ClaimResult result = begin("coverage_symmetry", found.facts);
  // One head a seed: heads of one flow are not independent of each other.
  std::vector<std::int64_t> counts(model.phases(), 0);
  for (const SeedRecord& seed : found.seeds)
    if (const int offset = seed.end.selection.front(); offset >= 0) ++counts[offset];
  const GoodnessOfFit fit = chi_square_test(counts, std::vector<double>(model.phases(), 1.0 / model.phases()));
  result.verdict = found.facts.selected.count == 0 ? Verdict::undecided
                   : fit.p_value >= 0.001          ? Verdict::supported
                                                   : Verdict::refuted;
  result.evidence["first_head_positions"] = counts;
  result.evidence["chi_square"] = fit.statistic;
  result.evidence["p_value"] = fit.p_value;
  result.evidence["summary"] = fmt::format("first head at each position {} (chi-square p = {:.3f})",
                                           result.evidence["first_head_positions"].dump(), fit.p_value);
  return result;
}

ClaimResult check_coverage_occupancy(const SingleBlock& model, double kappa, int seeds) {
  const CellFacts facts = run(model, kappa, seeds).facts;
  ClaimResult result = begin("coverage_occupancy", facts);
  // The claim is about the number of distinct offsets, the marginal of what shape_fit tests.
  const GoodnessOfFit fit = goodness_of_fit(facts.distinct, facts.occupancy_law).test;
  result.verdict = facts.selected.count == 0 ? Verdict::undecided : fit.p_value >= 0.01 ? Verdict::supported : Verdict::refuted;
  result.evidence["distinct"] = facts.distinct;
  result.evidence["occupancy"] = facts.occupancy_law;
  result.evidence["chi_square"] = fit.statistic;
  result.evidence["p_value"] = fit.p_value;
  result.evidence["summary"] = fmt::format("seeds by distinct positions {} against the occupancy law (chi-square p = {:.3f})",
                                           result.evidence["distinct"].dump(), fit.p_value);
  return result;
}

ClaimResult check_coverage_repulsion(const SingleBlock& model, double kappa, int seeds) {
  const CellFacts facts = run(model, kappa, seeds).facts;
  ClaimResult result = begin("coverage_repulsion", facts);
  const double independent = occupancy_collision(facts);
  const Interval interval = clopper_pearson(facts.collided.count, facts.selected.count);
  result.verdict = facts.selected.count == 0     ? Verdict::undecided
                   : interval.high < independent ? Verdict::supported
                   : interval.low > independent  ? Verdict::refuted
                                                 : Verdict::undecided;
  result.evidence["distinct"] = facts.distinct;
  result.evidence["collided"] = facts.collided.count;
  result.evidence["interval"] = {interval.low, interval.high};
  result.evidence["occupancy_collision_probability"] = independent;
  result.evidence["summary"] = fmt::format("{} of {} collide (at most {:.3f}) against {:.3f} of independent choices",
                                           facts.collided.count, facts.selected.count, interval.high, independent);
  return result;
}

}  // namespace phaselock
