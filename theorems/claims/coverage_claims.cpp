#include <fmt/format.h>

#include "claims/checks.hpp"
#include "kernels/coverage.hpp"
#include "proofs/trapping.hpp"

namespace phaselock {

namespace {

CoverageResult run(const SingleBlock& model, double kappa, int seeds) {
  CoverageOptions options;
  options.seeds = seeds;
  options.flow.trap = Trap(model);
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  return head_coverage(model, kappa, options);
}

/// The assumptions and counts that the coverage claims share.
ClaimResult begin(const char* id, const SingleBlock& model, const CoverageResult& coverage) {
  return {.id = id,
          .model = model,
          .assumptions = size_assumptions(model),
          .evidence = {{"summary", ""},
                       {"seeds", coverage.seeds},
                       {"selected", coverage.selected},
                       {"not_selected", coverage.not_selected}},
          .expected = {}};
}

double occupancy_collision(const CoverageResult& coverage, const SingleBlock& model) {
  return 1.0 - (int(coverage.occupancy.size()) == model.heads ? coverage.occupancy.back() : 0.0);
}

}  // namespace

ClaimResult check_coverage_symmetry(const SingleBlock& model, double kappa, int seeds) {
  const CoverageResult coverage = run(model, kappa, seeds);
  ClaimResult result = begin("coverage_symmetry", model, coverage);
  // One head a seed: heads of one flow are not independent of each other.
  std::vector<std::int64_t> counts(model.phases(), 0);
  for (const auto& selection : coverage.selections)
    if (selection.front() >= 0) ++counts[selection.front()];
  const GoodnessOfFit fit = chi_square_test(counts, std::vector<double>(model.phases(), 1.0 / model.phases()));
  result.verdict = coverage.selected == 0 ? Verdict::undecided : fit.p_value >= 0.001 ? Verdict::supported : Verdict::refuted;
  result.evidence["first_head_positions"] = counts;
  result.evidence["chi_square"] = fit.statistic;
  result.evidence["p_value"] = fit.p_value;
  result.evidence["summary"] = fmt::format("first head at each position {} (chi-square p = {:.3f})",
                                           result.evidence["first_head_positions"].dump(), fit.p_value);
  return result;
}

ClaimResult check_coverage_occupancy(const SingleBlock& model, double kappa, int seeds) {
  const CoverageResult coverage = run(model, kappa, seeds);
  ClaimResult result = begin("coverage_occupancy", model, coverage);
  result.verdict = coverage.selected == 0                   ? Verdict::undecided
                   : coverage.occupancy_fit.p_value >= 0.01 ? Verdict::supported
                                                            : Verdict::refuted;
  result.evidence["distinct"] = coverage.distinct;
  result.evidence["occupancy"] = coverage.occupancy;
  result.evidence["chi_square"] = coverage.occupancy_fit.statistic;
  result.evidence["p_value"] = coverage.occupancy_fit.p_value;
  result.evidence["summary"] = fmt::format("seeds by distinct positions {} against the occupancy law (chi-square p = {:.3f})",
                                           result.evidence["distinct"].dump(), coverage.occupancy_fit.p_value);
  return result;
}

ClaimResult check_coverage_repulsion(const SingleBlock& model, double kappa, int seeds) {
  const CoverageResult coverage = run(model, kappa, seeds);
  ClaimResult result = begin("coverage_repulsion", model, coverage);
  const double independent = occupancy_collision(coverage, model);
  const Interval interval = coverage.collision_interval;
  result.verdict = coverage.selected == 0        ? Verdict::undecided
                   : interval.high < independent ? Verdict::supported
                   : interval.low > independent  ? Verdict::refuted
                                                 : Verdict::undecided;
  result.evidence["distinct"] = coverage.distinct;
  result.evidence["collided"] = coverage.collided;
  result.evidence["interval"] = {interval.low, interval.high};
  result.evidence["occupancy_collision_probability"] = independent;
  result.evidence["summary"] = fmt::format("{} of {} collide (at most {:.3f}) against {:.3f} of independent choices",
                                           coverage.collided, coverage.selected, interval.high, independent);
  return result;
}

}  // namespace phaselock
