// kind = "flow": gradient flow from one start.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "certificates/certificate.hpp"
#include "flow/rates.hpp"
#include "kernels/table_loss.hpp"
#include "kinds/kind.hpp"
#include "model/gates.hpp"
#include "output/files.hpp"
#include "output/flow_checkpoint.hpp"
#include "schema/inputs.hpp"

namespace phaselock {

namespace {

constexpr const char* branch_names[] = {"K", "V"};
constexpr double not_available = std::numeric_limits<double>::quiet_NaN();

/// Where an earlier process left this run, if anywhere.
std::optional<FlowCheckpoint> saved_checkpoint(const LiveFolder* folder) {
  if (!folder || !folder->holds(flow_checkpoint_file)) return std::nullopt;
  constexpr std::size_t most = std::size_t(1) << 40;
  return read_flow_checkpoint(read_text(folder->path() / flow_checkpoint_file, most),
                              (folder->path() / flow_checkpoint_file).string());
}

FlowOptions watched_flow_options(const Scenario& scenario, RunContext& context) {
  FlowOptions options = flow_options(scenario);
  options.record = context.tables;
  options.on_step = [&context, steps = 0.0, until = scenario.flow.until](double t) mutable {
    context.progress.update(std::log1p(t), std::log1p(until), ++steps);
  };
  if (context.folder)
    options.on_checkpoint = [folder = context.folder](const FlowCheckpoint& checkpoint) {
      folder->write(flow_checkpoint_file, write_flow_checkpoint(checkpoint));
    };
  options.checkpoint_every = context.checkpoint_every;
  return options;
}

Json phases_json(const PhaseCurve& phases) {
  return {{"loss", phases.loss},         {"probability", phases.probability},
          {"accuracy", phases.accuracy}, {"mean", phases.mean},
          {"worst", phases.worst},       {"gap", phases.gap}};
}

Json equilibrium_json(const Model& model, const std::optional<Equilibrium>& equilibrium) {
  if (!equilibrium) return nullptr;
  return {{"weights", branches(model, equilibrium->weights)},
          {"mixed_gates", equilibrium->mixed_gates},
          {"stationarity", equilibrium->stationarity},
          {"margin", equilibrium->margin},
          {"curvature", equilibrium->curvature}};
}

/// C of the late-time law residual ~ C / t, or nothing where the law does not speak.
double law_constant(const Scenario& scenario, const FlowResult& flow) {
  const bool speaks = flow.outcome == FlowOutcome::selected && scenario.is_exact() &&
                      (scenario.gates.gates == GateWord::linear || is_static(scenario));
  return speaks ? late_time_constant(require_single_block(scenario.model), scenario.geometry.kappa, flow.gates.selection)
                : not_available;
}

std::vector<CsvTable> flow_tables(const Scenario& scenario, const FlowResult& flow) {
  const Model& model = scenario.model;
  using enum ColumnType;
  const Column time_column = {"t", number, "time"}, loss_column = {"loss", number, "", "nats"};
  CsvTable trajectory({"trajectory.csv",
                       "the flow at its samples",
                       {time_column,
                        loss_column,
                        {"residual", number, "largest 1 - p of any gate of the sampled contexts"},
                        {"residual_law", number, "its late-time law C / t"}}});
  CsvTable gates({"gates.csv", "mean gate weights at each sample of the flow",
                  joined({{time_column, {"branch", text, "K or V"}},
                          alike({"head", "offset"}, {"", integer, "from 0"}),
                          {{"weight", share, "gate average E[p]"}}})});
  CsvTable offsets({"offsets.csv",
                    "how many offsets each head's gates spread over, at each sample of the flow",
                    {time_column,
                     {"branch", text},
                     {"head", integer},
                     {"static_offsets", number, "exp Ent(E[p])"},
                     {"avg_offsets", number, "E[exp Ent(p)]"}},
                    "",
                    "both from 1 to S"});
  CsvTable phases({"phases.csv", "how well each phase is answered, at the start and at the end of the flow",
                   joined({{time_column, {"phase", integer, "position of the query, from 0"}, loss_column},
                           alike({"probability", "accuracy"}, {"", share, "of the answer"})})});
  const double C = law_constant(scenario, flow);
  for (const Sample& sample : flow.samples) {
    trajectory.row(sample.t, sample.loss, sample.residual, sample.t > 0 ? C / sample.t : not_available);
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < model.heads; ++h) {
        for (int r = 0; r < model.positions; ++r)
          gates.row(sample.t, branch_names[b], h, r, std::clamp(sample.weights[row_index(model, b, h, r)], 0.0, 1.0));
        const std::size_t k = std::size_t(b) * model.heads + h;
        offsets.row(sample.t, branch_names[b], h, sample.static_offsets[k], sample.avg_offsets[k]);
      }
  }
  const auto add_phases = [&](double t, const PhaseCurve& curve) {
    for (int r = 0; r < model.phases(); ++r) phases.row(t, r, curve.loss[r], curve.probability[r], curve.accuracy[r]);
  };
  add_phases(0.0, flow.initial_phases);
  add_phases(flow.t, flow.phases);
  return {std::move(trajectory), std::move(gates), std::move(offsets), std::move(phases)};
}

/// How the losses were summed, with the bound of what the sums leave out.
Json method_json(const LossMethod& method) {
  return {{"name", method.name}, {"degree", method.degree}, {"remainder", method.remainder}};
}

Json flow_json(const Scenario& scenario, const FlowResult& flow, const Json& certificate, Json contexts, Json geometry,
               Json loss_method) {
  const Model& model = scenario.model;
  Json states = Json::array();
  for (const SavedState& saved : flow.saved) {
    Json state = {{"t", saved.t}};
    state.update(branches(model, saved.weights));
    state["loss"] = saved.loss;
    states.push_back(std::move(state));
  }
  return {{"outcome", name(flow.outcome)},
          {"selection", flow.gates.selection},
          {"residual", flow.gates.residual},
          {"residual_all", flow.residual_all},
          {"coverage", coverage(flow.gates.selection)},
          {"static_offsets", nested(flow.gates.static_offsets, {2, model.heads})},
          {"avg_offsets", nested(flow.gates.avg_offsets, {2, model.heads})},
          {"phases", phases_json(flow.phases)},
          {"initial_phases", phases_json(flow.initial_phases)},
          {"conserved_drift", flow.conserved_drift ? Json(*flow.conserved_drift) : Json()},
          {"energy_residual", flow.energy_residual},
          {"loss_method", std::move(loss_method)},
          {"states", std::move(states)},
          {"certificate", certificate},
          {"t", flow.t},
          {"steps", flow.steps},
          {"ending", name(flow.ending)},
          {"loss", flow.loss},
          {"weights", branches(model, flow.gates.weights)},
          {"equilibrium", equilibrium_json(model, flow.equilibrium)},
          {"contexts", std::move(contexts)},
          {"geometry", std::move(geometry)}};
}

Json certificate_json(const Scenario& scenario, const FlowResult& flow) {
  const auto block = single_block(scenario.model);
  const auto certificate = block ? trapping_certificate(*block, scenario.geometry.kappa, is_static(scenario), flow) : std::nullopt;
  return certificate ? Json(*certificate) : Json();
}

std::vector<std::string> flow_summary(const Scenario& scenario, const FlowResult& flow, double kappa, double epsilon) {
  std::string selection;
  for (std::size_t h = 0; h < flow.gates.selection.size() && h < 16; ++h) {
    const int r = flow.gates.selection[h];
    selection += r < 0 ? "  none" : fmt::format("  {}", r);
  }
  std::vector<std::string> lines = {
      fmt::format("flow: {} at t = {:.6g} after {} steps ({})", name(flow.outcome), flow.t, flow.steps, name(flow.ending)),
      fmt::format("model: {}; kappa = {:.6g}, epsilon = {:.4g}", model_text(scenario.model), kappa, epsilon),
      fmt::format("selected key offset by head:{}", selection),
      fmt::format("distinct positions: {} of {} heads", coverage(flow.gates.selection), scenario.model.heads),
      fmt::format("residual: {:.4g} on the contexts used, at most {:.4g} on any of the vocabulary", flow.gates.residual,
                  flow.residual_all),
      fmt::format("loss: {:.10g} nats", flow.loss),
      fmt::format("accuracy by phase: {}", list_text(flow.phases.accuracy)),
      fmt::format("answer probability by phase: {}", list_text(flow.phases.probability)),
      fmt::format("accuracy: mean {:.4g}, worst phase {:.4g}, gap {:.4g}", flow.phases.mean, flow.phases.worst, flow.phases.gap),
      fmt::format("energy residual: {:.3g}{}", flow.energy_residual,
                  flow.conserved_drift ? fmt::format("; drift of the conserved sums: {:.3g}", *flow.conserved_drift) : "")};
  if (flow.trap)
    lines.push_back(fmt::format(
        "PROVED: the population flow from here converges to this selection in every context (box eta = {:.4g}, {} bits)",
        flow.trap->eta, flow.trap->precision));
  if (flow.equilibrium)
    lines.push_back(fmt::format("interior equilibrium: {} mixed gates, smallest curvature {:.4g}, smallest margin {:.4g}",
                                flow.equilibrium->mixed_gates, flow.equilibrium->curvature, flow.equilibrium->margin));
  return lines;
}

Report run_flow(const Scenario& scenario, RunContext& context) {
  const Model& model = scenario.model;
  context.progress.begin("flow", "steps");
  const std::optional<FlowCheckpoint> from = saved_checkpoint(context.folder);
  FlowOptions options = watched_flow_options(scenario, context);
  options.resume = from ? &*from : nullptr;
  try {
    if (is_static(scenario)) {
      const FlowResult flow = static_flow(require_single_block(model), scenario.geometry.kappa, initial_biases(scenario), options);
      const Json geometry = {{"kappa", scenario.geometry.kappa}, {"epsilon", 0.0}};
      const Json certificate = certificate_json(scenario, flow);
      return {flow_json(scenario, flow, certificate, nullptr, geometry, method_json({"static"})), flow_tables(scenario, flow),
              flow_summary(scenario, flow, scenario.geometry.kappa, 0.0), certificate};
    }
    const Geometry geometry = make_geometry(scenario);
    const Contexts contexts = make_contexts(scenario);
    TableLoss loss(model, geometry, contexts);
    const FlowResult flow = table_flow(loss, GateClass(int(scenario.gates.gates)), initial_tables(scenario, geometry), options);
    const Json sample = {{"count", contexts.size()}};
    const Json facts = {{"kappa", geometry.kappa()}, {"epsilon", geometry.epsilon()}};
    const Json certificate = certificate_json(scenario, flow);
    return {flow_json(scenario, flow, certificate, sample, facts, method_json(loss_method(scenario.model, geometry))),
            flow_tables(scenario, flow), flow_summary(scenario, flow, geometry.kappa(), geometry.epsilon()), certificate};
  } catch (const CheckpointMismatch& mismatch) {
    throw Failure(Exit::bad_data, fmt::format("{}: {}", (context.folder->path() / flow_checkpoint_file).string(), mismatch.what()));
  }
}

void check_times(const Scenario& s) {
  const std::vector<double>& times = s.flow.save_at;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (k > 0 && !(times[k] > times[k - 1]))
      throw s.failure("flow.save_at", fmt::format("flow.save_at must increase: {} does not follow {}", times[k], times[k - 1]));
    if (times[k] > s.flow.until)
      throw s.failure("flow.save_at", fmt::format("flow.save_at = {} must be <= flow.until = {}", times[k], s.flow.until));
  }
}

void check(Scenario& scenario) {
  check_trained_gates(scenario);
  check_static_geometry(scenario);
  check_times(scenario);
  check_model(scenario);
}

constexpr std::string_view takes[] = {"model", "geometry", "gates", "initial", "contexts", "flow"};

}  // namespace

extern const Kind flow_kind;
constinit const Kind flow_kind = {
    .description = {.name = "flow", .takes = takes, .check = check}, .estimate = flow_cost, .run = run_flow};

}  // namespace phaselock
