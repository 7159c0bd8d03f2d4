// The selection does not depend on the balanced sample (theory.md section 3).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "claims/checks.hpp"
#include "claims/judge_share.hpp"
#include "claims/selecting_flows.hpp"
#include "model/contexts.hpp"

namespace phaselock {

ClaimResult check_sample_independence(const SingleBlock& model, double kappa, double rho, int seeds) {
  ClaimResult result = begin_result("sample_independence", model);
  if (!result.assumptions_hold()) return result;
  const std::size_t group = balanced_group(model);
  constexpr int variants = 4,
                independents = 2;  // balanced: three other seeds, of one, two and four groups, and one of seed 1; independent: two
  std::vector<int> same(seeds, 0), changed(seeds, 0), usable(seeds, 0);
  tbb::parallel_for(
      0, seeds,
      [&](int s) {
        const auto selection = [&](const Contexts& contexts) {
          return flow_of_seed(model, kappa, rho, s + 1, contexts, GateClass::linear, quick_flow(model)).gates.selection;
        };
        const std::vector<int> reference = selection(sample_balanced(model, group, 1));
        usable[s] = std::find(reference.begin(), reference.end(), -1) == reference.end();
        if (!usable[s]) return;
        const std::size_t sizes[variants] = {group, 2 * group, 4 * group, 2 * group};
        for (int v = 0; v < variants; ++v) same[s] += selection(sample_balanced(model, sizes[v], v < 3 ? 101 + v : 1)) == reference;
        for (int v = 0; v < independents; ++v) changed[s] += selection(sample_independent(model, group, 201 + v)) != reference;
      },
      tbb::simple_partitioner());
  std::int64_t agreeing = 0, changing = 0, starts = 0;
  for (int s = 0; s < seeds; ++s) {
    starts += usable[s];
    agreeing += same[s];
    changing += changed[s];
  }
  result.evidence = {{"summary", ""}};
  if (starts == 0) {
    result.evidence["summary"] = fmt::format("none of {} starts selects, so there is nothing to compare", seeds);
    return result;
  }
  result.verdict = judge_share(agreeing, starts * variants);
  tell_share(agreeing, starts * variants, result.evidence);
  result.evidence["starts"] = starts;
  result.evidence["balanced_sizes"] = {group, 2 * group, 4 * group, 2 * group};
  result.evidence["independent_samples"] = starts * independents;
  result.evidence["independent_changed"] = changing;
  result.evidence["summary"] =
      fmt::format("{} of {} other balanced samples give the same positions; independent samples: {} of {} change", agreeing,
                  starts * variants, changing, starts * independents);
  return result;
}

namespace {

Checks checks(const VerifyOptions& options) {
  const SingleBlock model = options.model.value_or(SingleBlock{4, 4, 3, 32, 1.0, 1.0});
  return {check_one("sample independence",
                    [model, kappa = options.kappa] { return check_sample_independence(model, kappa, 1e-2, 20); })};
}

}  // namespace

extern const Claim sample_independence_claim;
constinit const Claim sample_independence_claim = {
    .id = "sample_independence",
    .title = "The selection does not depend on the balanced sample",
    .statement =
        "Balanced samples of contexts of other seeds and sizes lead the flow from the same start to the same "
        "positions.",
    .assumptions = "as theorem2; balanced samples",
    .acceptance =
        "SUPPORTED if the lower Clopper-Pearson bound (95%) of the share of flows with the same positions is "
        "at least 0.95. For independent samples the share that changes is reported, not judged.",
    .rejection = "REFUTED if the upper bound is below 0.95; between, UNDECIDED.",
    .source = "this project, theory.md section 3",
    .group = ClaimGroup::theorem2,
    .checks = checks,
};

}  // namespace phaselock
