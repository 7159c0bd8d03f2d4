#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "certificates/certificate.hpp"
#include "claims/checks.hpp"
#include "flow/rates.hpp"
#include "kernels/table_loss.hpp"
#include "model/gates.hpp"
#include "model/random.hpp"
#include "proofs/trapping.hpp"

namespace phaselock {

namespace {

FlowOptions quick_flow(const SingleBlock& model) {
  FlowOptions options;
  options.trap = Trap(model);
  options.integration.rtol = 1e-8;
  options.integration.atol = 1e-10;
  return options;
}

FlowResult flow_of_seed(const SingleBlock& model, double kappa, double rho, int seed, const Contexts& contexts,
                        GateClass gate_class, const FlowOptions& options) {
  const Geometry geometry = Geometry::exact(kappa, model.vocabulary);
  TableLoss loss(model, geometry, contexts);
  return table_flow(loss, gate_class, geometry.initial_tables(model, rho, seed), options);
}

/// The acceptance rule of theorem2 for one flow.
bool selects(const FlowResult& flow) {
  const auto concentrated = [](double offsets) { return offsets < 1.05; };
  return flow.outcome != FlowOutcome::not_finite && flow.residual_all < 1e-2 &&
         std::find(flow.gates.selection.begin(), flow.gates.selection.end(), -1) == flow.gates.selection.end() &&
         std::all_of(flow.gates.static_offsets.begin(), flow.gates.static_offsets.end(), concentrated) &&
         std::all_of(flow.gates.avg_offsets.begin(), flow.gates.avg_offsets.end(), concentrated);
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

/// What one seed of a plan leaves behind.
struct SeedRecord {
  bool selects = false, agrees = false, collides = false;
  std::optional<nlohmann::json> certificate;
  FlowOutcome outcome{};
  double static_offsets = 0, avg_offsets = 0, residual_all = 0, energy = 0, drift = 0, rate_ratio = 0;
};

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

SeedRecord run_seed(const FlowPlan& plan, double kappa, int seed) {
  const bool linear = plan.gate_class == GateClass::linear;
  const FlowResult flow =
      linear ? flow_of_seed(plan.model, kappa, plan.rho, seed, sample_balanced(plan.model, balanced_group(plan.model), seed),
                            GateClass::linear, quick_flow(plan.model))
             : static_flow(plan.model, kappa, initial_bias(plan.model, kappa, plan.rho, seed), quick_flow(plan.model));
  const FlowResult fixed =
      linear ? static_flow(plan.model, kappa, static_part(plan.model, flow.initial), quick_flow(plan.model)) : flow;
  SeedRecord record;
  record.certificate = trapping_certificate(plan.model, kappa, !linear, flow);
  record.outcome = flow.outcome;
  record.selects = selects(flow);
  record.agrees = record.selects && fixed.gates.selection == flow.gates.selection;
  record.collides = coverage(flow.gates.selection) < plan.model.heads;
  record.static_offsets = largest(flow.gates.static_offsets);
  record.avg_offsets = largest(flow.gates.avg_offsets);
  record.residual_all = flow.residual_all;
  record.energy = flow.energy_residual;
  record.drift = *flow.conserved_drift;
  if (record.selects)
    record.rate_ratio = flow.gates.residual * flow.t / late_time_constant(plan.model, kappa, flow.gates.selection);
  return record;
}

}  // namespace

std::vector<ClaimResult> check_theorem2(const std::vector<FlowPlan>& plan, double kappa, const Progress& progress) {
  ClaimResult theorem{.id = "theorem2",
                      .model = plan.front().model,
                      .assumptions = size_assumptions(plan.front().model),
                      .evidence = {},
                      .expected = {}};
  ClaimResult agreement = theorem;
  agreement.id = "static_agreement";
  if (!theorem.assumptions_hold()) {
    theorem.evidence["summary"] = agreement.evidence["summary"] = "not examined: the statement does not speak of this model";
    return {theorem, agreement};
  }
  std::int64_t total = 0, selecting = 0, agreeing = 0, colliding = 0;
  std::vector<double> spread_of_offsets;
  double low_ratio = INFINITY, high_ratio = 0.0, energy = 0.0, drift = 0.0;
  std::int64_t proved = 0, running = 0;
  std::map<std::string, std::int64_t> without_proof;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array(), agreement_rows = rows, unproved = rows;
  for (std::size_t k = 0; k < plan.size(); ++k) {
    const FlowPlan& row = plan[k];
    progress(fmt::format("theorem2: {} flows at N = {}, rho = {:g}", row.seeds, row.model.vocabulary, row.rho), int(k),
             int(plan.size()));
    std::vector<SeedRecord> records(row.seeds);
    tbb::parallel_for(
        0, row.seeds, [&](int s) { records[s] = run_seed(row, kappa, s + 1); }, tbb::simple_partitioner());
    std::int64_t selected = 0, agreed = 0, collided = 0, row_proved = 0;
    double static_offsets = 1.0, avg_offsets = 1.0, residual_all = 0.0;
    std::map<std::string, int> outcomes;
    for (int s = 0; s < row.seeds; ++s) {
      const SeedRecord& record = records[s];
      ++outcomes[std::string(name(record.outcome))];
      if (record.certificate) {
        ++row_proved;
        theorem.certificates.push_back(*record.certificate);
      } else {
        ++without_proof[record.outcome == FlowOutcome::interior ? "interior" : "undecided"];
        unproved.push_back(
            {{"N", row.model.vocabulary}, {"rho", row.rho}, {"seed", s + 1}, {"reason", why_unproved(record.outcome)}});
      }
      selected += record.selects;
      running += !record.selects && (record.outcome == FlowOutcome::undecided || record.outcome == FlowOutcome::step_limit);
      agreed += record.agrees;
      collided += record.selects && record.collides;
      static_offsets = std::max(static_offsets, record.static_offsets);
      avg_offsets = std::max(avg_offsets, record.avg_offsets);
      residual_all = std::max(residual_all, record.residual_all);
      energy = std::max(energy, record.energy);
      drift = std::max(drift, record.drift);
      if (record.selects) low_ratio = std::min(low_ratio, record.rate_ratio);
      high_ratio = std::max(high_ratio, record.rate_ratio);
    }
    proved += row_proved;
    const nlohmann::ordered_json contexts =
        row.gate_class == GateClass::linear ? nlohmann::ordered_json(balanced_group(row.model)) : nlohmann::ordered_json();
    rows.push_back({{"N", row.model.vocabulary},
                    {"rho", row.rho},
                    {"flows", row.seeds},
                    {"contexts", contexts},
                    {"proved", row_proved},
                    {"selecting", selected},
                    {"colliding", collided},
                    {"outcomes", outcomes},
                    {"largest_static_offsets", static_offsets},
                    {"largest_avg_offsets", avg_offsets},
                    {"largest_residual_all", residual_all}});
    agreement_rows.push_back({{"N", row.model.vocabulary}, {"rho", row.rho}, {"flows", row.seeds}, {"agreeing", agreed}});
    total += row.seeds;
    selecting += selected;
    agreeing += agreed;
    colliding += collided;
  }
  theorem.evidence["summary"] = "";
  theorem.verdict = judge_share(selecting, total, theorem.evidence);
  // A flow that ran out of time or steps is no counterexample.
  nlohmann::ordered_json at_best;
  if (theorem.verdict == Verdict::refuted && judge_share(selecting + running, total, at_best) != Verdict::refuted)
    theorem.verdict = Verdict::undecided;
  theorem.evidence["proved"] = proved;
  theorem.evidence["interior"] = without_proof["interior"];
  theorem.evidence["undecided"] = without_proof["undecided"];
  theorem.evidence["not_proved"] = unproved;
  theorem.evidence["colliding"] = colliding;
  if (selecting > 0) theorem.evidence["residual_times_t_over_late_constant"] = {low_ratio, high_ratio};
  theorem.evidence["largest_energy_residual"] = energy;
  theorem.evidence["largest_conserved_drift"] = drift;
  theorem.evidence["rows"] = rows;
  theorem.evidence["summary"] =
      fmt::format("{} of {} flows select (share {:.3f} .. {:.3f}): {} PROVED, {} interior, {} undecided; {} with collided heads",
                  selecting, total, theorem.evidence["interval"][0].get<double>(), theorem.evidence["interval"][1].get<double>(),
                  proved, without_proof["interior"], without_proof["undecided"], colliding);
  agreement.evidence["summary"] = "";
  if (selecting > 0) agreement.verdict = judge_share(agreeing, selecting, agreement.evidence);
  agreement.evidence["rows"] = agreement_rows;
  agreement.evidence["summary"] = selecting == 0
                                      ? "no flow selects, so there is nothing to compare"
                                      : fmt::format("{} of {} flows that select do so as their static part does (share >= {:.3f})",
                                                    agreeing, selecting, agreement.evidence["interval"][0].get<double>());
  return {theorem, agreement};
}

ClaimResult check_theorem2_control(const SingleBlock& model, double kappa, GateClass gate_class, int seeds) {
  ClaimResult result{.id = "theorem2", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
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
  result.verdict = judge_share(successes, seeds, result.evidence);
  result.evidence["smallest_residual"] = *std::min_element(residuals.begin(), residuals.end());
  result.evidence["summary"] = fmt::format("control with {} gates: {} of {} flows select", gates, successes, seeds);
  return result;
}

ClaimResult check_sample_independence(const SingleBlock& model, double kappa, double rho, int seeds) {
  ClaimResult result{
      .id = "sample_independence", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  if (!result.assumptions_hold()) {
    result.evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
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
  result.verdict = judge_share(agreeing, starts * variants, result.evidence);
  result.evidence["starts"] = starts;
  result.evidence["balanced_sizes"] = {group, 2 * group, 4 * group, 2 * group};
  result.evidence["independent_samples"] = starts * independents;
  result.evidence["independent_changed"] = changing;
  result.evidence["summary"] =
      fmt::format("{} of {} other balanced samples give the same positions; independent samples: {} of {} change", agreeing,
                  starts * variants, changing, starts * independents);
  return result;
}

ClaimResult check_late_time(const SingleBlock& model, double kappa, int seeds) {
  ClaimResult result{.id = "late_time", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  if (!result.assumptions_hold()) {
    result.evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
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
  result.verdict = *low > 0.99 && *high < 1.01 ? Verdict::supported : Verdict::refuted;
  result.evidence = {{"summary", fmt::format("measured / predicted constant at t = 1e9 in {:.4f} .. {:.4f} over {} flows", *low,
                                             *high, ratios.size())},
                     {"flows", ratios.size()},
                     {"not_selected", seeds - std::int64_t(ratios.size())},
                     {"smallest_ratio", *low},
                     {"largest_ratio", *high}};
  return result;
}

}  // namespace phaselock
