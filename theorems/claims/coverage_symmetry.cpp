// Each head's position is uniform (theory.md section 5).
#include <fmt/format.h>

#include "claims/checks.hpp"
#include "claims/coverage_of_seeds.hpp"

namespace phaselock {

ClaimResult check_coverage_symmetry(const SingleBlock& model, double kappa, int seeds) {
  const CoverageOfSeeds found = coverage_of_seeds(model, kappa, seeds);
  ClaimResult result = begin_coverage("coverage_symmetry", found.facts);
  // One head a seed: heads of one flow are not independent of each other.
  std::vector<std::int64_t> counts(model.phases(), 0);
  for (const SeedRecord& seed : found.seeds)
    if (const int offset = seed.end.selection.front(); offset >= 0) ++counts[offset];
  const GoodnessOfFit fit = chi_square_test(counts, std::vector<double>(model.phases(), 1.0 / model.phases()));
  result.verdict = judge_fit(found.facts.selected.count, fit.p_value, 0.001);
  result.evidence["first_head_positions"] = counts;
  result.evidence["chi_square"] = fit.statistic;
  result.evidence["p_value"] = fit.p_value;
  result.evidence["summary"] = fmt::format("first head at each position {} (chi-square p = {:.3f})",
                                           result.evidence["first_head_positions"].dump(), fit.p_value);
  return result;
}

namespace {

Checks checks(const VerifyOptions& options) {
  const SingleBlock model = options.model.value_or(SingleBlock{4, 4, 3, 1000, 1.0, 1.0});
  return {
      check_one("positions over seeds", [model, kappa = options.kappa] { return check_coverage_symmetry(model, kappa, 2000); })};
}

}  // namespace

extern const Claim coverage_symmetry_claim;
constinit const Claim coverage_symmetry_claim = {
    .id = "coverage_symmetry",
    .title = "Each head's position is uniform",
    .statement =
        "Over random starts of the static flow a head selects each of the S - 1 key offsets with the same "
        "probability.",
    .assumptions = "exact geometry; static gates; independent starts; heads that selected",
    .acceptance =
        "SUPPORTED unless a chi-square test rejects uniformity at level 0.001 (each seed's first head, so "
        "that counts are independent).",
    .rejection = "REFUTED if it rejects.",
    .source = "equivariance under permutations of offsets: this project, theory.md section 5",
    .group = ClaimGroup::coverage,
    .checks = checks,
};

}  // namespace phaselock
