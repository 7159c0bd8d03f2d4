// At large N heads choose independently (theory.md section 5, Head coverage).
#include <fmt/format.h>

#include "claims/checks.hpp"
#include "claims/coverage_of_seeds.hpp"

namespace phaselock {

ClaimResult check_coverage_occupancy(const SingleBlock& model, double kappa, int seeds) {
  const CellFacts facts = coverage_of_seeds(model, kappa, seeds).facts;
  ClaimResult result = begin_coverage("coverage_occupancy", facts);
  // The claim is about the number of distinct offsets, the marginal of what shape_fit tests.
  const GoodnessOfFit fit = goodness_of_fit(facts.distinct, facts.occupancy_law).test;
  result.verdict = judge_fit(facts.selected.count, fit.p_value, 0.01);
  result.evidence["distinct"] = facts.distinct;
  result.evidence["occupancy"] = facts.occupancy_law;
  result.evidence["chi_square"] = fit.statistic;
  result.evidence["p_value"] = fit.p_value;
  result.evidence["summary"] = fmt::format("seeds by distinct positions {} against the occupancy law (chi-square p = {:.3f})",
                                           result.evidence["distinct"].dump(), fit.p_value);
  return result;
}

namespace {

Checks checks(const VerifyOptions& options) {
  const SingleBlock model = options.model.value_or(SingleBlock{4, 4, 3, 1000000, 1.0, 1.0});
  return {check_one("coverage against the occupancy law",
                    [model, kappa = options.kappa] { return check_coverage_occupancy(model, kappa, 2000); })};
}

}  // namespace

extern const Claim coverage_occupancy_claim;
constinit const Claim coverage_occupancy_claim = {
    .id = "coverage_occupancy",
    .title = "At large N heads choose independently",
    .statement =
        "As N grows heads decouple: the number of distinct positions follows the occupancy law of H "
        "independent uniform choices of S - 1.",
    .assumptions = "exact geometry; static gates; N large",
    .acceptance = "SUPPORTED unless a chi-square test rejects the occupancy law at level 0.01.",
    .rejection = "REFUTED (for this N) if it rejects.",
    .source = "this project, theory.md section 5 (Head coverage)",
    .group = ClaimGroup::coverage,
    .checks = checks,
};

}  // namespace phaselock
