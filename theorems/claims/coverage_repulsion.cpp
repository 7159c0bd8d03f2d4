// At small N or large beta heads repel (theory.md section 5, Head coverage).
#include <fmt/format.h>

#include "claims/checks.hpp"
#include "claims/coverage_of_seeds.hpp"

namespace phaselock {

namespace {

/// Probability that independent uniform heads do not all choose distinct offsets.
double occupancy_collision(const CellFacts& facts) {
  return 1.0 - (int(facts.occupancy_law.size()) == facts.model.heads ? facts.occupancy_law.back() : 0.0);
}

}  // namespace

ClaimResult check_coverage_repulsion(const SingleBlock& model, double kappa, int seeds) {
  const CellFacts facts = coverage_of_seeds(model, kappa, seeds).facts;
  ClaimResult result = begin_coverage("coverage_repulsion", facts);
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

namespace {

Checks checks(const VerifyOptions& options) {
  if (options.model) return {};
  const auto check = [kappa = options.kappa](const char* what, const SingleBlock& model, int seeds) {
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
