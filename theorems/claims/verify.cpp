// The fixed suite of models and seeds behind `verify`, and the rules its checks share.
#include <fmt/format.h>

#include <functional>

#include "claims/checks.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "statistics/intervals.hpp"

namespace phaselock {

std::vector<Assumption> size_assumptions(const Model& m) {
  return {{fmt::format("L = {} >= 4", m.blocks), m.blocks >= 4},
          {fmt::format("S = {} >= 3", m.positions), m.positions >= 3},
          {fmt::format("H = {} < S = {}", m.heads, m.positions), m.heads < m.positions}};
}

Verdict judge_share(std::int64_t successes, std::int64_t trials, nlohmann::ordered_json& evidence) {
  const Interval interval = clopper_pearson(successes, trials, 0.95);
  evidence["successes"] = successes;
  evidence["trials"] = trials;
  evidence["interval"] = {interval.low, interval.high};
  return interval.low >= 0.95 ? Verdict::supported : interval.high < 0.95 ? Verdict::refuted : Verdict::undecided;
}

namespace {

/// One entry of the suite: what it is, and the check that yields one or more results.
struct Check {
  std::string what;
  std::function<std::vector<ClaimResult>()> run;
};

ClaimResult expecting(ClaimResult result, const char* outcome) {
  result.expected = outcome;
  return result;
}

SingleBlock sizes(int L, int S, int H, double gamma, double beta, int N) { return {L, S, H, N, gamma, beta}; }

void add_toy(std::vector<Check>& suite, const VerifyOptions& options) {
  const SingleBlock model = options.model.value_or(sizes(4, 2, 2, 1.0, 4.0, 8));
  suite.push_back({"toy example", [=] { return std::vector{check_toy_rates(model), check_toy_endpoints(model, 200)}; }});
}

void add_theorem1(std::vector<Check>& suite, const VerifyOptions& options) {
  const auto add = [&](SingleBlock model, const char* expected = nullptr) {
    suite.push_back({fmt::format("theorem1 at N = {}, beta = {:g}", model.vocabulary, model.beta), [=] {
                       const ClaimResult result = check_theorem1(model);
                       return std::vector{expected ? expecting(result, expected) : result};
                     }});
  };
  const auto add_distinctness = [&](SingleBlock model) {
    suite.push_back({"distinctness", [=] { return std::vector{check_distinctness(model)}; }});
  };
  if (options.model) {
    add(*options.model);
    add_distinctness(*options.model);
    return;
  }
  add(sizes(4, 3, 1, 1.0, 10.0, 1000));               // above N0
  add(sizes(4, 4, 3, 1.0, 8.0, 7000));                // above N1, far below N0
  add(sizes(4, 3, 1, 1.0, 10.0, 193));                // between N* and N0
  add(sizes(4, 4, 3, 1.0, 2.0, 64));                  // between, where plain multi-start gets stuck
  add(sizes(4, 3, 1, 1.0, 10.0, 190), "REFUTED");     // just below N*
  add(sizes(4, 3, 1, 1.0, 10.0, 50), "REFUTED");      // far below
  add(sizes(4, 3, 3, 1.0, 1.0, 1000), "ASSUMPTION");  // H = S
  add_distinctness(sizes(4, 3, 2, 1.0, 4.0, 12));
  add_distinctness(sizes(4, 4, 2, 1.0, 2.0, 100));
  suite.push_back({"theorem1 in a perturbed vocabulary", [] {
                     const SingleBlock model = sizes(4, 3, 2, 1.0, 1.0, 64);
                     return std::vector{check_theorem1_perturbed(model, Geometry::perturbed(1.0, 0.02, 1, 64), "perturbed", 20, 8)};
                   }});
  if (options.word_vectors.size() > 0)
    suite.push_back({"theorem1 on word vectors", [words = options.word_vectors] {
                       const Geometry geometry = Geometry::embeddings(words, true);
                       const SingleBlock model = sizes(4, 3, 2, 1.0, 1.0, geometry.vocabulary());
                       return std::vector{check_theorem1_perturbed(model, geometry, "word vectors", 20, 4)};
                     }});
}

void add_theorem2(std::vector<Check>& suite, const VerifyOptions& options) {
  const SingleBlock small = sizes(4, 4, 3, 1.0, 1.0, 64), middle = sizes(4, 4, 3, 1.0, 1.0, 128),
                    large = sizes(4, 4, 3, 1.0, 1.0, 256);
  const double kappa = options.kappa;
  const SingleBlock base = options.model.value_or(small);
  const std::vector<FlowPlan> plan =
      options.model ? std::vector<FlowPlan>{{base, 1e-2, 100}}
                    : std::vector<FlowPlan>{{small, 1e-2, 34}, {small, 1e-4, 34}, {middle, 1e-2, 34}, {large, 1e-3, 20}};
  suite.push_back({"theorem2", [=, progress = options.progress] { return check_theorem2(plan, kappa, progress); }});
  suite.push_back({"sample independence", [=] {
                     return std::vector{
                         check_sample_independence(options.model ? base : sizes(4, 4, 3, 1.0, 1.0, 32), kappa, 1e-2, 20)};
                   }});
  suite.push_back({"late-time law",
                   [=] { return std::vector{check_late_time(options.model ? base : sizes(4, 4, 3, 1.0, 1.0, 1000), kappa, 20)}; }});
  if (options.model) return;
  suite.push_back({"control: uniform gates", [=] {
                     return std::vector{expecting(check_theorem2_control(small, kappa, GateClass::uniform, 10), "REFUTED")};
                   }});
  suite.push_back({"control: tied gates",
                   [=] { return std::vector{expecting(check_theorem2_control(small, kappa, GateClass::tied, 10), "REFUTED")}; }});
  suite.push_back({"control: interior equilibria", [=, progress = options.progress] {
                     const std::vector<FlowPlan> mixed{{sizes(4, 4, 3, 1.0, 8.0, 1000), 1e-2, 60, GateClass::fixed}};
                     return std::vector{expecting(check_theorem2(mixed, kappa, progress).front(), "REFUTED")};
                   }});
  suite.push_back({"control: as many heads as positions", [=, progress = options.progress] {
                     const std::vector<FlowPlan> wide{{sizes(4, 3, 3, 1.0, 1.0, 64), 1e-2, 10}};
                     return std::vector{expecting(check_theorem2(wide, kappa, progress).front(), "ASSUMPTION")};
                   }});
}

void add_coverage(std::vector<Check>& suite, const VerifyOptions& options) {
  const SingleBlock reference = options.model.value_or(sizes(4, 4, 3, 1.0, 1.0, 1000));
  const SingleBlock limit = options.model.value_or(sizes(4, 4, 3, 1.0, 1.0, 1000000));
  const double kappa = options.kappa;
  suite.push_back({"positions over seeds", [=] { return std::vector{check_coverage_symmetry(reference, kappa, 2000)}; }});
  suite.push_back(
      {"coverage against the occupancy law", [=] { return std::vector{check_coverage_occupancy(limit, kappa, 2000)}; }});
  if (options.model) return;
  suite.push_back({"coverage at beta = 8, N = 100",
                   [=] { return std::vector{check_coverage_repulsion(sizes(4, 4, 3, 1.0, 8.0, 100), kappa, 300)}; }});
  suite.push_back(
      {"coverage at N = 20", [=] { return std::vector{check_coverage_repulsion(sizes(4, 4, 3, 1.0, 1.0, 20), kappa, 1000)}; }});
}

}  // namespace

std::vector<ClaimResult> verify(std::string_view what, const VerifyOptions& options) {
  if (options.model) validate(*options.model);
  std::vector<Check> suite;
  const bool all = what == "all";
  if (!all && what != "toy" && what != "theorem1" && what != "theorem2" && what != "coverage")
    throw DomainError(fmt::format("verify {}: choose toy, theorem1, theorem2, coverage or all", what));
  if (all || what == "toy") add_toy(suite, options);
  if (all || what == "theorem1") add_theorem1(suite, options);
  if (all || what == "theorem2") add_theorem2(suite, options);
  if (all || what == "coverage") add_coverage(suite, options);
  std::vector<ClaimResult> results;
  for (std::size_t k = 0; k < suite.size(); ++k) {
    check_interrupt();
    options.progress(suite[k].what, int(k), int(suite.size()));
    for (ClaimResult& result : suite[k].run()) results.push_back(std::move(result));
  }
  options.progress("done", int(suite.size()), int(suite.size()));
  return results;
}

}  // namespace phaselock
