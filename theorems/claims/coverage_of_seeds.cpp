#include "claims/coverage_of_seeds.hpp"

#include "proofs/trapping.hpp"

namespace phaselock {

CoverageResult coverage_of_seeds(const Model& model, double kappa, int seeds) {
  CoverageOptions options;
  options.seeds = seeds;
  options.flow.trap = Trap(model);
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  return head_coverage(model, kappa, options);
}

ClaimResult begin_coverage(const char* id, const Model& model, const CoverageResult& coverage) {
  return {
      .id = id,
      .model = model,
      .assumptions = size_assumptions(model),
      .evidence = {
          {"summary", ""}, {"seeds", coverage.seeds}, {"selected", coverage.selected}, {"not_selected", coverage.not_selected}}};
}

Verdict judge_fit(std::int64_t selected, double p_value, double level) {
  if (selected == 0) return Verdict::undecided;
  return p_value >= level ? Verdict::supported : Verdict::refuted;
}

}  // namespace phaselock
