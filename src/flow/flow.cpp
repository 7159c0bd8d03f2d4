#include "flow.hpp"

#include <algorithm>
#include <cmath>

#include "../errors.hpp"
#include "../interrupt.hpp"
#include "../loss/table_loss.hpp"
#include "static_field.hpp"

namespace phaselock {

namespace {

/// A flow as the driver below sees it; parameters are the state without the energy entry at its end.
struct Problem {
  const Model& model;
  double kappa;            ///< for the static limit
  bool exact;              ///< exact geometry: conserved sums and static limits make sense
  std::size_t parameters;  ///< of which rows of `tokens` numbers belong to one (branch, head, offset)
  int tokens;
  VectorField field;
  JacobianField jacobian;  ///< empty: no stiff stepper
  std::function<double(const State&)> loss;
  std::function<GateObservation(const State&)> observe;
  std::function<PhaseCurve(const State&)> phases;
  std::function<double(const State&, const GateObservation&)> bound;
  std::function<std::vector<double>(const State&)> bias;  ///< the static part [2][H][S]
};

/// Largest change of sum_(r,i) G_r(i) over branches and heads.
double conserved_drift(const Problem& problem, const State& before, const State& after) {
  const std::size_t gate = std::size_t(problem.model.positions) * problem.tokens;
  double drift = 0.0;
  for (std::size_t first = 0; first < problem.parameters; first += gate) {
    double change = 0.0;
    for (std::size_t k = first; k < first + gate; ++k) change += after[k] - before[k];
    drift = std::max(drift, std::abs(change));
  }
  return drift;
}

/// Watches a flow step by step and decides when it is over in the terms of the theorem.
class Watch {
 public:
  Watch(const Problem& problem, const FlowOptions& options, FlowResult& result)
      : problem_(problem),
        options_(options),
        result_(result),
        trap_(problem.model),
        last_save_(options.integration.save_at.empty() ? 0.0 : options.integration.save_at.back()) {}

  bool operator()(double t, const State& y) {
    last_t_ = t;
    if (options_.on_step) options_.on_step(t);
    check_interrupt();
    GateObservation gates = problem_.observe(y);
    const bool at_save = std::binary_search(options_.integration.save_at.begin(), options_.integration.save_at.end(), t);
    if (at_save) result_.saved.push_back({t, problem_.loss(y), gates.weights});
    if (options_.record)
      result_.samples.push_back({t, problem_.loss(y), gates.residual, gates.weights, gates.static_offsets, gates.avg_offsets});
    const bool may_stop = options_.stop != StopRule::time && t >= last_save_;
    const bool stops = may_stop && (selected(gates) || trapped(y, gates) || looks_interior(t, y, gates));
    last_s_ = std::log1p(t);
    last_weights_ = std::move(gates.weights);
    return stops;
  }

  double last_t() const { return last_t_; }

  bool selected(const GateObservation& gates) const { return selects(gates, options_.residual); }

  /// Inside a trapping box, proved in balls once double precision says so.
  std::optional<TrappingProof> proof(const State& y, const GateObservation& gates) {
    if (!problem_.exact) return std::nullopt;
    return trap_.prove({y.data(), problem_.parameters}, problem_.tokens, gates.selection);
  }

  /// Whether the static limit from here is a mixed local minimum close to where the gates already are.
  bool at_interior(const State& y, const GateObservation& gates) {
    constexpr double near = 0.2;  // the valley floor towards the limit is crossed in log time only
    if (!problem_.exact || selected(gates)) return false;
    Equilibrium limit = static_limit(problem_.model, problem_.kappa, problem_.bias(y));
    double distance = 0.0;
    for (std::size_t k = 0; k < gates.weights.size(); ++k)
      distance = std::max(distance, std::abs(gates.weights[k] - limit.weights[k]));
    if (!limit.is_interior() || distance > near) return false;
    result_.equilibrium = std::move(limit);
    return true;
  }

 private:
  bool trapped(const State& y, const GateObservation& gates) { return options_.stop == StopRule::certified && proof(y, gates); }

  /// At an interior equilibrium; asked only when the gates have slowed down in log time, past the first instants and not at the
  /// saddle.
  bool looks_interior(double t, const State& y, const GateObservation& gates) {
    constexpr double still = 0.1, first_look = 10.0, look_every = 0.5, support = 0.02;
    const double s = std::log1p(t);
    if (last_weights_.empty() || t < first_look || s < next_look_ || gates.residual < 2 * support) return false;
    double speed = 0.0;
    for (std::size_t k = 0; k < gates.weights.size(); ++k) speed = std::max(speed, std::abs(gates.weights[k] - last_weights_[k]));
    if (speed > still * (s - last_s_)) return false;
    next_look_ = s + look_every;
    return support_curvature(problem_.model, gates.weights, support) > -1e-4 && at_interior(y, gates);
  }

  const Problem& problem_;
  const FlowOptions& options_;
  FlowResult& result_;
  Trap trap_;
  double last_save_;
  double last_t_ = 0.0, last_s_ = 0.0, next_look_ = 0.0;
  std::vector<double> last_weights_;
};

FlowOutcome classify(const Problem& problem, Watch& watch, const FlowResult& result, const State& y) {
  if (result.ending == Ending::not_finite) return FlowOutcome::not_finite;
  if (watch.selected(result.gates) || result.trap) return FlowOutcome::selected;
  if (result.equilibrium || (problem.model.positions > 1 && watch.at_interior(y, result.gates))) return FlowOutcome::interior;
  return result.ending == Ending::until ? FlowOutcome::undecided : FlowOutcome::step_limit;
}

/// Integrates y and fills the result.
void follow(const Problem& problem, FlowOptions& options, Watch& watch, State& y, FlowResult& result) {
  const double loss0 = problem.loss(y);
  result.initial_phases = problem.phases(y);
  const StepVisitor visit = [&](double t, const State& state, std::int64_t) { return watch(t, state); };
  if (problem.jacobian) options.integration.stiff_after = 500;
  Integration end = integrate(problem.field, y, options.integration, visit);
  if (end.ending == Ending::stiff)
    end = integrate_stiff(problem.field, problem.jacobian, y, options.integration, visit, end.t, end.steps);
  result.ending = end.ending;
  result.t = end.t;
  result.steps = end.steps;
  result.loss = problem.loss(y);
  result.energy_residual = std::abs(loss0 - result.loss - y.back()) / std::max(1.0, std::abs(loss0));
  result.gates = problem.observe(y);
  result.residual_all = problem.bound(y, result.gates);
  result.phases = problem.phases(y);
  if (problem.exact) result.conserved_drift = conserved_drift(problem, result.initial, y);
  result.trap = watch.proof(y, result.gates);
  result.outcome = classify(problem, watch, result, y);
}

FlowResult run(const Problem& problem, State parameters, FlowOptions options) {
  FlowResult result{};
  result.initial = parameters;
  State y = std::move(parameters);
  y.push_back(0.0);
  Watch watch(problem, options, result);
  try {
    follow(problem, options, watch, y, result);
  } catch (const Interrupted&) {  // y is the last accepted state
    if (options.on_interrupt) options.on_interrupt(watch.last_t(), State(y.begin(), y.begin() + problem.parameters));
    throw;
  }
  y.pop_back();
  result.state = std::move(y);
  return result;
}

/// Tables of both branches from a flow's parameters: tied gates hold one branch, uniform gates are tables of zeros.
std::vector<double> both_branches(const Model& model, GateClass gate_class, const State& y) {
  const std::size_t half = model.table_size() / 2;
  if (gate_class == GateClass::uniform) return std::vector<double>(2 * half, 0.0);
  std::vector<double> tables(y.begin(), y.begin() + (gate_class == GateClass::tied ? half : 2 * half));
  if (gate_class == GateClass::tied) tables.insert(tables.end(), y.begin(), y.begin() + half);
  return tables;
}

}  // namespace

std::string_view name(FlowOutcome outcome) {
  switch (outcome) {
    case FlowOutcome::selected:
      return "selected";
    case FlowOutcome::interior:
      return "interior";
    case FlowOutcome::undecided:
      return "undecided";
    case FlowOutcome::step_limit:
      return "step_limit";
    case FlowOutcome::not_finite:
      return "not_finite";
  }
  return "";
}

FlowResult static_flow(const Model& model, double kappa, std::vector<double> bias, const FlowOptions& options) {
  validate(model);
  if (bias.size() != 2 * model.branch_rows()) throw DomainError("static biases must have the shape [2][heads][positions]");
  const StaticField system{model, static_speed(model, kappa)};
  const std::size_t count = bias.size();
  const auto parameters = [count](const State& y) { return std::span<const double>(y.data(), count); };
  const Problem problem{
      .model = model,
      .kappa = kappa,
      .exact = true,
      .parameters = count,
      .tokens = 1,
      .field = system.velocity(),
      .jacobian = system.jacobian(),
      .loss = [&](const State& y) { return static_bias_loss<double>(model, y.data(), nullptr); },
      .observe = [&](const State& y) { return observe_static(model, parameters(y)); },
      .phases = [&](const State& y) { return phase_curve_static(model, parameters(y)); },
      .bound = [&](const State& y, const GateObservation& gates) { return residual_bound(model, parameters(y), 1, gates); },
      .bias = [&](const State& y) { return std::vector<double>(y.begin(), y.begin() + count); },
  };
  return run(problem, std::move(bias), options);
}

FlowResult table_flow(const Model& model, const Geometry& geometry, const Contexts& contexts, GateClass gate_class,
                      std::vector<double> tables, const FlowOptions& options) {
  validate(model);
  if (tables.size() != model.table_size()) throw DomainError("gate tables must have the shape [2][heads][positions][vocabulary]");
  if (gate_class == GateClass::fixed) throw DomainError("static gates flow on their biases, not on tables");
  const std::size_t half = model.table_size() / 2;
  if (gate_class == GateClass::tied) tables.resize(half);
  if (gate_class == GateClass::uniform) tables.assign(2 * half, 0.0);
  const std::size_t count = tables.size();
  const auto full = [&model, gate_class](const State& y) { return both_branches(model, gate_class, y); };

  TableLoss loss(model, geometry, contexts);
  std::vector<double> gradient(2 * half), metric(2 * half);
  const VectorField field = [&](const State& y, State& dydt) {
    std::fill(dydt.begin(), dydt.end(), 0.0);
    if (gate_class == GateClass::uniform) return;
    if (gate_class == GateClass::linear) {
      loss({y.data(), count}, gradient);
    } else {
      loss(full(y), gradient);
      for (std::size_t k = 0; k < half; ++k) gradient[k] += gradient[half + k];
    }
    geometry.apply({gradient.data(), count}, {metric.data(), count});
    for (std::size_t k = 0; k < count; ++k) {
      dydt[k] = -metric[k];
      dydt[count] += gradient[k] * metric[k];  // g K g^T, the dissipated energy
    }
  };
  const Problem problem{
      .model = model,
      .kappa = geometry.kappa(),
      .exact = geometry.is_exact() && gate_class == GateClass::linear,
      .parameters = count,
      .tokens = model.vocabulary,
      .field = field,
      .jacobian = {},
      .loss = [&](const State& y) { return loss(full(y)); },
      .observe = [&](const State& y) { return observe_tables(model, full(y), contexts); },
      .phases = [&](const State& y) { return phase_curve_tables(model, geometry, full(y), contexts); },
      .bound = [&](const State& y,
                   const GateObservation& gates) { return residual_bound(model, full(y), model.vocabulary, gates); },
      .bias = [&](const State& y) { return static_part(model, std::span(y.data(), count)); },
  };
  return run(problem, std::move(tables), options);
}

TableVelocity table_velocity(const Model& model, const Geometry& geometry, const Contexts& contexts,
                             const std::vector<double>& tables) {
  TableVelocity result{0.0, std::vector<double>(tables.size()), std::vector<double>(tables.size())};
  result.loss = table_loss(model, geometry, contexts, tables, result.gradient);
  geometry.apply(result.gradient, result.velocity);
  for (double& v : result.velocity) v = -v;
  return result;
}

}  // namespace phaselock
