// At small N or large beta heads repel (theory.md section 5, Head coverage).
#include <fmt/format.h>

#include "claims/checks.hpp"
#include "claims/coverage_of_seeds.hpp"

namespace phaselock {

namespace {

double occupancy_collision(const CoverageResult& coverage, const Model& model) {
  return 1.0 - (int(coverage.occupancy.size()) == model.heads ? coverage.occupancy.back() : 0.0);
}

}  // namespace

ClaimResult check_coverage_repulsion(const Model& model, double kappa, int seeds) {
  const CoverageResult coverage = coverage_of_seeds(model, kappa, seeds);
  ClaimResult result = begin_coverage("coverage_repulsion", model, coverage);
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

namespace {

Checks checks(const VerifyOptions& options) {
  if (options.model) return {};
  const auto check = [kappa = options.kappa](const char* what, const Model& model, int seeds) {
    return check_one(what, [=] { return check_coverage_repulsion(model, kappa, seeds); });
  };
  return {check("coverage at beta = 8, N = 100", {4, 4, 3, 100, 1.0, 8.0}, 300),
          check("coverage at N = 20", {4, 4, 3, 20, 1.0, 1.0}, 1000)};
}

}  // namespace

extern const Claim coverage_repulsion_claim;
constinit const Claim coverage_repulsion_claim = {
    .id = "coverage_repulsion",
    .title = "At small N or large beta heads repel",
    .statement = "Collisions are rarer than under the occupancy law.",
    .assumptions = "exact geometry; static gates; N small or beta large",
    .acceptance =
        "SUPPORTED if the upper Clopper-Pearson bound (95%) of the collision probability is below the "
        "occupancy law's.",
    .rejection = "REFUTED if the lower bound is above it; between, UNDECIDED.",
    .source = "this project, theory.md section 5 (Head coverage)",
    .group = ClaimGroup::coverage,
    .checks = checks,
};

}  // namespace phaselock
