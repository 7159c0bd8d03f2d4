// Gates approach their vertex like 1/t (theory.md section 5, Rates).
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "claims/checks.hpp"
#include "flow/rates.hpp"
#include "model/gates.hpp"
#include "proofs/trapping.hpp"

namespace phaselock {

Verdict judge_late_time(const std::vector<double>& ratios) {
  if (ratios.empty()) return Verdict::undecided;
  const auto near_one = [](double ratio) { return ratio > 0.99 && ratio < 1.01; };
  return std::all_of(ratios.begin(), ratios.end(), near_one) ? Verdict::supported : Verdict::refuted;
}

ClaimResult check_late_time(const SingleBlock& model, double kappa, int seeds) {
  ClaimResult result = begin_result("late_time", model);
  if (!result.assumptions_hold()) return result;
  FlowOptions options;
  options.stop = StopRule::time;
  options.integration.until = 1e9;
  options.trap = Trap(model);
  std::vector<double> ratios(seeds, 0.0);
  tbb::parallel_for(0, seeds, [&](int s) {
    const FlowResult flow = static_flow(model, kappa, initial_bias(model, kappa, 1e-2, s + 1), options);
    if (flow.outcome == FlowOutcome::selected)
      ratios[s] = flow.gates.residual * flow.t / late_time_constant(model, kappa, flow.gates.selection);
  });
  std::erase(ratios, 0.0);
  if (ratios.empty()) {
    result.evidence["summary"] = fmt::format("none of {} static flows selected by t = 1e9", seeds);
    return result;
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  result.verdict = judge_late_time(ratios);
  result.evidence = {{"summary", fmt::format("measured / predicted constant at t = 1e9 in {:.4f} .. {:.4f} over {} flows", *low,
                                             *high, ratios.size())},
                     {"flows", ratios.size()},
                     {"not_selected", seeds - std::int64_t(ratios.size())},
                     {"smallest_ratio", *low},
                     {"largest_ratio", *high}};
  return result;
}

namespace {

Checks checks(const VerifyOptions& options) {
  const SingleBlock model = options.model.value_or(SingleBlock{4, 4, 3, 1000, 1.0, 1.0});
  return {check_one("late-time law", [model, kappa = options.kappa] { return check_late_time(model, kappa, 20); })};
}

}  // namespace

extern const Claim late_time_claim;
constinit const Claim late_time_claim = {
    .id = "late_time",
    .title = "Gates approach their vertex like 1/t",
    .statement = "1 - p(t) of each static gate tends to ( sum 1/m_s ) / (S c t), with the vertex margins m_s.",
    .assumptions = "exact geometry; static gates; a selection with positive margins",
    .acceptance =
        "SUPPORTED if at t = 1e9 the measured residual times t is within 1% of the predicted constant in "
        "every flow.",
    .rejection = "REFUTED otherwise.",
    .source = "this project, theory.md section 5 (Rates, End)",
    .group = ClaimGroup::theorem2,
    .checks = checks,
};

}  // namespace phaselock
