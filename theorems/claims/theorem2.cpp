// Theorem 2 (theory.md section 5): gradient flow fixes one selection for every input.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "claims/checks.hpp"
#include "claims/flow_tally.hpp"
#include "claims/judge_share.hpp"
#include "claims/selecting_flows.hpp"
#include "claims/static_agreement.hpp"
#include "model/gates.hpp"

namespace phaselock {

namespace {

const char* why_unproved(FlowOutcome outcome) {
  switch (outcome) {
    case FlowOutcome::interior:
      return "interior equilibrium: a gate stays mixed";
    case FlowOutcome::selected:
      return "undecided: selected numerically, but no trapping box of this selection passes";
    case FlowOutcome::undecided:
      return "undecided: the end time came first";
    case FlowOutcome::step_limit:
      return "undecided: step limit";
    case FlowOutcome::not_finite:
      return "undecided: not finite";
  }
  return "";
}

std::vector<FlowRecord> run_row(const FlowPlan& row, double kappa) {
  std::vector<FlowRecord> records(row.seeds);
  tbb::parallel_for(
      0, row.seeds, [&](int s) { records[s] = run_flow(row, kappa, s + 1); }, tbb::simple_partitioner());
  return records;
}

nlohmann::ordered_json show_row(const FlowPlan& row, const FlowTally& tally) {
  const bool linear = row.gate_class == GateClass::linear;
  return {{"N", row.model.vocabulary},
          {"rho", row.rho},
          {"flows", row.seeds},
          {"contexts", linear ? nlohmann::ordered_json(balanced_group(row.model)) : nlohmann::ordered_json()},
          {"proved", tally.proved},
          {"selecting", tally.selecting},
          {"colliding", tally.colliding},
          {"outcomes", tally.outcomes},
          {"largest_static_offsets", tally.static_offsets},
          {"largest_avg_offsets", tally.avg_offsets},
          {"largest_residual_all", tally.residual_all}};
}

/// The flows of a plan, added up.
struct PlanOutcome {
  FlowTally all;
  std::vector<nlohmann::json> certificates;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array(), agreement_rows = rows;
  nlohmann::ordered_json not_proved = rows;  ///< each flow without a certificate, and why
};

PlanOutcome run_plan(const std::vector<FlowPlan>& plan, double kappa, const Progress& progress) {
  PlanOutcome outcome;
  for (std::size_t k = 0; k < plan.size(); ++k) {
    const FlowPlan& row = plan[k];
    const int N = row.model.vocabulary;
    progress(fmt::format("theorem2: {} flows at N = {}, rho = {:g}", row.seeds, N, row.rho), int(k), int(plan.size()));
    FlowTally tally;
    int seed = 0;
    for (const FlowRecord& record : run_row(row, kappa)) {
      ++seed;
      tally.add(record);
      outcome.all.add(record);
      if (record.certificate)
        outcome.certificates.push_back(*record.certificate);
      else
        outcome.not_proved.push_back({{"N", N}, {"rho", row.rho}, {"seed", seed}, {"reason", why_unproved(record.outcome)}});
    }
    outcome.rows.push_back(show_row(row, tally));
    outcome.agreement_rows.push_back({{"N", N}, {"rho", row.rho}, {"flows", row.seeds}, {"agreeing", tally.agreeing}});
  }
  return outcome;
}

ClaimResult judge_plan(const SingleBlock& model, PlanOutcome outcome) {
  const FlowTally& all = outcome.all;
  ClaimResult result = begin_result("theorem2", model);
  result.verdict = judge_flows(all.selecting, all.running, all.flows);
  result.certificates = std::move(outcome.certificates);
  auto& evidence = result.evidence;
  evidence["summary"] = "";
  tell_share(all.selecting, all.flows, evidence);
  evidence["proved"] = all.proved;
  evidence["interior"] = all.interior;
  evidence["undecided"] = all.undecided;
  evidence["not_proved"] = std::move(outcome.not_proved);
  evidence["colliding"] = all.colliding;
  if (all.selecting > 0) evidence["residual_times_t_over_late_constant"] = {all.low_ratio, all.high_ratio};
  evidence["largest_energy_residual"] = all.energy;
  evidence["largest_conserved_drift"] = all.drift;
  evidence["rows"] = std::move(outcome.rows);
  evidence["summary"] =
      fmt::format("{} of {} flows select (share {:.3f} .. {:.3f}): {} PROVED, {} interior, {} undecided; {} with collided heads",
                  all.selecting, all.flows, evidence["interval"][0].get<double>(), evidence["interval"][1].get<double>(),
                  all.proved, all.interior, all.undecided, all.colliding);
  return result;
}

}  // namespace

Verdict judge_flows(std::int64_t selecting, std::int64_t running, std::int64_t flows) {
  const Verdict verdict = judge_share(selecting, flows);
  if (verdict != Verdict::refuted) return verdict;
  return judge_share(selecting + running, flows) == Verdict::refuted ? Verdict::refuted : Verdict::undecided;
}

std::vector<ClaimResult> check_theorem2(const std::vector<FlowPlan>& plan, double kappa, const Progress& progress) {
  const SingleBlock& model = plan.front().model;
  ClaimResult theorem = begin_result("theorem2", model);
  if (!theorem.assumptions_hold()) return {std::move(theorem), begin_result("static_agreement", model)};
  PlanOutcome outcome = run_plan(plan, kappa, progress);
  ClaimResult agreement = judge_agreement(model, outcome.all, std::move(outcome.agreement_rows));
  return {judge_plan(model, std::move(outcome)), std::move(agreement)};
}

ClaimResult check_theorem2_control(const SingleBlock& model, double kappa, GateClass gate_class, int seeds) {
  ClaimResult result = begin_result("theorem2", model);
  std::vector<char> selecting(seeds);
  std::vector<double> residuals(seeds);
  FlowOptions options = quick_flow(model);
  options.integration.until = 1e5;  // linear gates of the suite select before 2e4
  tbb::parallel_for(0, seeds, [&](int s) {
    const FlowResult flow =
        flow_of_seed(model, kappa, 1e-2, s + 1, sample_balanced(model, balanced_group(model), s + 1), gate_class, options);
    selecting[s] = selects(flow);
    residuals[s] = flow.gates.residual;
  });
  const std::int64_t successes = std::count(selecting.begin(), selecting.end(), 1);
  const char* gates = gate_class == GateClass::tied ? "tied" : "uniform";
  result.evidence = {{"summary", ""}, {"control", fmt::format("{} gates", gates)}};
  result.verdict = judge_share(successes, seeds);
  tell_share(successes, seeds, result.evidence);
  result.evidence["smallest_residual"] = *std::min_element(residuals.begin(), residuals.end());
  result.evidence["summary"] = fmt::format("control with {} gates: {} of {} flows select", gates, successes, seeds);
  return result;
}

namespace {

SingleBlock suite_model(int N) { return {4, 4, 3, N, 1.0, 1.0}; }

Checks checks(const VerifyOptions& options) {
  std::vector<FlowPlan> plan = {
      {suite_model(64), 1e-2, 34}, {suite_model(64), 1e-4, 34}, {suite_model(128), 1e-2, 34}, {suite_model(256), 1e-3, 20}};
  if (options.model) plan = {{*options.model, 1e-2, 100}};
  return {
      {"theorem2", [plan, kappa = options.kappa, progress = options.progress] { return check_theorem2(plan, kappa, progress); }}};
}

Checks controls(const VerifyOptions& options) {
  if (options.model) return {};
  const auto gates = [kappa = options.kappa](const char* what, GateClass gate_class) {
    return check_control(what, "REFUTED", [=] { return check_theorem2_control(suite_model(64), kappa, gate_class, 10); });
  };
  const auto flows = [kappa = options.kappa, progress = options.progress](const char* what, const char* expected, FlowPlan row) {
    return check_control(what, expected, [=] { return check_theorem2({row}, kappa, progress).front(); });
  };
  return {gates("control: uniform gates", GateClass::uniform), gates("control: tied gates", GateClass::tied),
          flows("control: interior equilibria", "REFUTED", {{4, 4, 3, 1000, 1.0, 8.0}, 1e-2, 60, GateClass::static_}),
          flows("control: as many heads as positions", "ASSUMPTION", {{4, 3, 3, 64, 1.0, 1.0}, 1e-2, 10})};
}

}  // namespace

extern const Claim theorem2_claim;
constinit const Claim theorem2_claim = {
    .id = "theorem2",
    .title = "Theorem 2: gradient flow fixes one selection for every input",
    .statement =
        "Under gradient flow of linear gates every head h has one position r_h with pK(r_h) -> 1 and pV(r_h +"
        " 1) -> 1, in all contexts and blocks.",
    .assumptions =
        "exact geometry; L >= 4, S >= 3, H < S; c uniform in a small ball; N large relative to log(e/rho). "
        "Smallness and largeness are not quantified by the statement: each (N, rho) tried is listed",
    .acceptance =
        "SUPPORTED if the lower Clopper-Pearson bound (95%) of the share of flows that select is at least "
        "0.95. A flow selects if every gate of every sampled context, and the bound over all contexts of the "
        "vocabulary, is within 1e-2 of one position, K and V adjacent, and static and per-window effective "
        "offsets are below 1.05.",
    .rejection =
        "REFUTED if the upper Clopper-Pearson bound is below 0.95 even if flows that ran out of time or steps"
        " would select; between, UNDECIDED. The verdict is on the share; each flow for itself ends PROVED "
        "(its end state lies in a trapping box whose inequality holds in balls: from there the population "
        "flow converges in every context), interior (a gate stays mixed at a minimum) or undecided with its "
        "reason.",
    .source = "paper, Theorem 2 (informal); trapping certificate and checks: this project, theory.md section 5",
    .group = ClaimGroup::theorem2,
    .checks = checks,
    .controls = controls,
};

}  // namespace phaselock
