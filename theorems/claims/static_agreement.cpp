// Linear gates follow their static part (theory.md sections 3 and 5).
#include "claims/static_agreement.hpp"

#include <fmt/format.h>

#include "claims/judge_share.hpp"

namespace phaselock {

ClaimResult judge_agreement(const SingleBlock& model, const FlowTally& all, nlohmann::ordered_json rows) {
  ClaimResult result = begin_result("static_agreement", model);
  result.evidence["summary"] = "no flow selects, so there is nothing to compare";
  if (all.selecting > 0) {
    result.verdict = judge_share(all.agreeing, all.selecting);
    tell_share(all.agreeing, all.selecting, result.evidence);
    result.evidence["summary"] = fmt::format("{} of {} flows that select do so as their static part does (share >= {:.3f})",
                                             all.agreeing, all.selecting, result.evidence["interval"][0].get<double>());
  }
  result.evidence["rows"] = std::move(rows);
  return result;
}

extern const Claim static_agreement_claim;
constinit const Claim static_agreement_claim = {
    .id = "static_agreement",
    .title = "Linear gates follow their static part",
    .statement = "The flow of linear gates and the static flow from its token-mean biases select the same positions.",
    .assumptions = "as theorem2",
    .acceptance =
        "SUPPORTED if, among seeds whose linear flow selects, the lower Clopper-Pearson bound (95%) of the "
        "share that agree is at least 0.95.",
    .rejection = "REFUTED if the upper bound is below 0.95; between, UNDECIDED.",
    .source = "this project, theory.md sections 3 and 5",
    .group = ClaimGroup::theorem2,
    .checks = nullptr,  // theorem2 yields its results
};

}  // namespace phaselock
