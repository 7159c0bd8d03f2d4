#include "flow.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "../interrupt.hpp"
#include "../loss/table_loss.hpp"
#include "escape.hpp"
#include "static_field.hpp"

namespace phaselock {

namespace {

/// What a flow descends until a time.
struct Stage {
  double until;
  VectorField field;
  JacobianField jacobian;  ///< empty: no stiff stepper
  std::function<double(const State&)> objective;
};

/// A flow as the driver below sees it; parameters are the state without the energy entry at its end.
struct Problem {
  const Model& model;
  double kappa;            ///< for the static limit
  bool exact;              ///< exact geometry: conserved sums and static limits make sense
  std::size_t parameters;  ///< of which rows of `tokens` numbers belong to one (branch, head, offset)
  int tokens;
  double repulsion;  ///< between heads, of static gates
  std::vector<Stage> stages;
  std::function<double(const State&)> loss;  ///< the plain model's
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
        stage_(problem.stages.data()),
        last_save_(options.integration.save_at.empty() ? 0.0 : options.integration.save_at.back()) {}

  void enter(const Stage& stage) { stage_ = &stage; }

  bool operator()(double t, const State& y) {
    if (options_.on_step) options_.on_step(t);
    watch_escape(t, y);
    GateObservation gates = problem_.observe(y);
    const bool at_save = std::binary_search(options_.integration.save_at.begin(), options_.integration.save_at.end(), t);
    const double loss = at_save || options_.record ? problem_.loss(y) : 0.0;  // interrupts may end it; nothing has been kept so far
    if (at_save) result_.saved.push_back({t, loss, gates.weights});
    if (options_.record)
      result_.samples.push_back({t, loss, gates.residual, gates.weights, gates.static_offsets, gates.avg_offsets});
    const bool may_stop = options_.stop != StopRule::time && t >= last_save_ && stage_ == &problem_.stages.back();
    const bool stops = may_stop && (selected(gates) || trapped(y, gates) || looks_interior(t, y, gates));
    last_s_ = std::log1p(t);
    last_weights_ = std::move(gates.weights);
    return stops;
  }

  /// Puts what has been watched so far into a checkpoint, and takes it from one.
  void save(FlowCheckpoint& checkpoint) const {
    checkpoint.next_look = next_look_;
    checkpoint.look_every = look_every_;
    checkpoint.last_s = last_s_;
    checkpoint.last_weights = last_weights_;
    checkpoint.escape = result_.escape;
    checkpoint.before_escape_s = before_escape_s_;
    checkpoint.before_escape = before_escape_;
    checkpoint.saved = result_.saved;
    checkpoint.samples = result_.samples;
  }
  void restore(const FlowCheckpoint& checkpoint) {
    next_look_ = checkpoint.next_look;
    look_every_ = checkpoint.look_every;
    last_s_ = checkpoint.last_s;
    last_weights_ = checkpoint.last_weights;
    result_.escape = checkpoint.escape;
    before_escape_s_ = checkpoint.before_escape_s;
    before_escape_ = checkpoint.before_escape;
    result_.saved = checkpoint.saved;
    result_.samples = checkpoint.samples;
  }

  bool selected(const GateObservation& gates) const { return selects(gates, options_.residual); }

  /// Inside a trapping box, proved in balls once double precision says so.
  std::optional<TrappingProof> proof(const State& y, const GateObservation& gates) {
    if (!problem_.exact || problem_.repulsion != 0.0) return std::nullopt;
    return trap_.prove({y.data(), problem_.parameters}, problem_.tokens, gates.selection);
  }

  /// Whether the static limit from here is a mixed local minimum close to where the gates already are.
  bool at_interior(const State& y, const GateObservation& gates) {
    if (!problem_.exact || selected(gates)) return false;
    result_.equilibrium = interior_limit(problem_.model, problem_.kappa, problem_.bias(y), gates.weights, problem_.repulsion);
    return result_.equilibrium.has_value();
  }

 private:
  void watch_escape(double t, const State& y) {
    if (problem_.tokens > 1 || !std::isnan(result_.escape)) return;
    const double s = std::log1p(t);
    if (largest_key_weight(problem_.model, y.data()) < escape_weight(problem_.model)) {
      before_escape_ = y;
      before_escape_s_ = s;
    } else if (before_escape_.empty()) {
      result_.escape = t;
    } else {
      const auto velocity = [&](const State& at, double at_s) {
        State v(at.size());
        stage_->field(at, v);
        for (double& x : v) x *= (s - before_escape_s_) * std::exp(at_s);
        return v;
      };
      const State from = velocity(before_escape_, before_escape_s_), to = velocity(y, s);
      result_.escape =
          escape_in_step(problem_.model, {before_escape_s_, before_escape_.data(), from.data()}, {s, y.data(), to.data()});
    }
  }

  bool trapped(const State& y, const GateObservation& gates) { return options_.stop == StopRule::certified && proof(y, gates); }

  /// At an interior equilibrium; asked only when the gates have slowed down in log time, past the first instants and not at the
  /// saddle.
  bool looks_interior(double t, const State& y, const GateObservation& gates) {
    constexpr double still = 0.1, first_look = 10.0, support = 0.02;
    const double s = std::log1p(t);
    if (last_weights_.empty() || t < first_look || s < next_look_ || gates.residual < 2 * support) return false;
    double speed = 0.0;
    for (std::size_t k = 0; k < gates.weights.size(); ++k) speed = std::max(speed, std::abs(gates.weights[k] - last_weights_[k]));
    if (speed > still * (s - last_s_)) return false;
    next_look_ = s + look_every_;
    if (support_curvature(problem_.model, gates.weights, support, problem_.repulsion) <= -1e-4) return false;
    if (at_interior(y, gates)) return true;
    if (problem_.tokens == 1) look_every_ *= 2.0;  // the limit of static gates is the same from later on, and dear
    return false;
  }

  const Problem& problem_;
  const FlowOptions& options_;
  FlowResult& result_;
  Trap trap_;
  const Stage* stage_;
  double last_save_;
  double last_s_ = 0.0, next_look_ = 0.0, look_every_ = 0.5, before_escape_s_ = 0.0;
  State before_escape_;
  std::vector<double> last_weights_;
};

FlowOutcome classify(const Problem& problem, Watch& watch, const FlowResult& result, const State& y) {
  if (result.ending == Ending::not_finite) return FlowOutcome::not_finite;
  if (watch.selected(result.gates) || result.trap) return FlowOutcome::selected;
  if (result.equilibrium || (problem.model.positions > 1 && watch.at_interior(y, result.gates))) return FlowOutcome::interior;
  return result.ending == Ending::until ? FlowOutcome::undecided : FlowOutcome::step_limit;
}

/// A flow under way: its state, its place and what has been watched, saved together and restored together.
class Course {
 public:
  Course(const Problem& problem, FlowOptions options, State parameters)
      : problem_(problem), options_(std::move(options)), watch_(problem_, options_, result_), y_(std::move(parameters)) {
    result_.escape = std::numeric_limits<double>::quiet_NaN();
    result_.initial = y_;
    y_.push_back(0.0);
    result_.initial_phases = problem_.phases(y_);
    initial_loss_ = problem_.loss(y_);
    stage_start_ = stage().objective(y_);
    if (options_.resume) restore(*options_.resume);
  }

  FlowResult run() {
    try {
      integrate_to_end();
    } catch (const Interrupted&) {
      if (options_.on_checkpoint) options_.on_checkpoint(checkpoint());
      throw;
    }
    describe_end();
    y_.pop_back();
    result_.state = std::move(y_);
    return std::move(result_);
  }

 private:
  void integrate_to_end() {
    const StepVisitor visit = [&](double t, const State& state, std::int64_t) {
      check_interrupt();
      if (options_.on_checkpoint && seconds_since_checkpoint() >= options_.checkpoint_every) {
        options_.on_checkpoint(checkpoint());
        last_checkpoint_ = Time::now();
      }
      return watch_(t, state);
    };
    Integration end = integrate_stage(visit);
    while (end.ending == Ending::until && stage_ + 1 < problem_.stages.size()) {
      ++stage_;
      stage_start_ = stage().objective(y_);
      stiff_ = false;
      point_ = IntegrationPoint::at(end.t, end.steps);
      end = integrate_stage(visit);
    }
    result_.ending = end.ending;
    result_.t = end.t;
    result_.steps = end.steps;
  }

  const Stage& stage() const { return problem_.stages[stage_]; }

  /// The rest of the stage at hand.
  Integration integrate_stage(const StepVisitor& visit) {
    IntegrateOptions options = options_.integration;
    options.until = stage().until;
    std::erase_if(options.save_at, [&](double t) { return t > stage().until; });
    if (stage().jacobian) options.stiff_after = 500;
    watch_.enter(stage());
    Integration end;
    if (!stiff_) end = integrate(stage().field, y_, point_, options, visit);
    if (!stiff_ && end.ending == Ending::stiff) {
      stiff_ = true;
      point_ = IntegrationPoint::at(end.t, end.steps);
    }
    if (stiff_) end = integrate_stiff(stage().field, stage().jacobian, y_, point_, options, visit);
    descended_ += stage_start_ - stage().objective(y_);
    return end;
  }

  void describe_end() {
    result_.loss = problem_.loss(y_);
    result_.energy_residual = std::abs(descended_ - y_.back()) / std::max(1.0, std::abs(initial_loss_));
    result_.gates = problem_.observe(y_);
    result_.residual_all = problem_.bound(y_, result_.gates);
    result_.phases = problem_.phases(y_);
    if (problem_.exact) result_.conserved_drift = conserved_drift(problem_, result_.initial, y_);
    result_.trap = watch_.proof(y_, result_.gates);
    result_.outcome = classify(problem_, watch_, result_, y_);
  }

  FlowCheckpoint checkpoint() const {
    FlowCheckpoint checkpoint{.initial_loss = initial_loss_,
                              .stage = std::int64_t(stage_),
                              .stage_start = stage_start_,
                              .descended = descended_,
                              .y = y_,
                              .point = point_,
                              .stiff = stiff_};
    watch_.save(checkpoint);
    return checkpoint;
  }

  void restore(const FlowCheckpoint& checkpoint) {
    // Another instruction set may round otherwise, so the losses need not agree to the last bit.
    const bool same = checkpoint.y.size() == y_.size() && std::size_t(checkpoint.stage) < problem_.stages.size() &&
                      (!checkpoint.stiff || problem_.stages[std::size_t(checkpoint.stage)].jacobian) &&
                      std::abs(checkpoint.initial_loss - initial_loss_) <= 1e-9 * std::abs(initial_loss_);
    if (!same) throw CheckpointMismatch("the checkpoint is of another flow: its model, contexts or start differ");
    stage_ = std::size_t(checkpoint.stage);
    stage_start_ = checkpoint.stage_start;
    descended_ = checkpoint.descended;
    y_ = checkpoint.y;
    point_ = checkpoint.point;
    stiff_ = checkpoint.stiff;
    watch_.restore(checkpoint);
  }

  using Time = std::chrono::steady_clock;
  double seconds_since_checkpoint() const { return std::chrono::duration<double>(Time::now() - last_checkpoint_).count(); }

  const Problem& problem_;
  FlowOptions options_;
  FlowResult result_{};
  Watch watch_;
  State y_;
  IntegrationPoint point_;
  bool stiff_ = false;
  std::size_t stage_ = 0;
  double initial_loss_ = 0.0;
  double stage_start_ = 0.0, descended_ = 0.0;  ///< of what the flow descends: at the stage's start, over the stages that ended
  Time::time_point last_checkpoint_ = Time::now();
};

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

FlowResult static_flow(const Model& model, double kappa, std::vector<double> bias, const FlowOptions& options,
                       const Coordination& coordination) {
  validate(model);
  validate(model, coordination);
  if (bias.size() != 2 * model.branch_rows()) throw DomainError("static biases must have the shape [2][heads][positions]");
  const std::size_t count = bias.size();
  const auto parameters = [count](const State& y) { return std::span<const double>(y.data(), count); };
  const double end = options.integration.until, repulsion = coordination.repulsion;
  const auto stage = [&](const Model& of, double until) {
    const StaticField system{of, static_speed(of, kappa), repulsion};
    return Stage{until, system.velocity(), system.jacobian(),
                 [of, repulsion](const State& y) { return static_bias_loss<double>(of, y.data(), nullptr, repulsion); }};
  };
  std::vector<Stage> stages;
  if (coordination.anneal_until > 0.0)
    stages.push_back(stage(annealed(model, coordination), std::min(coordination.anneal_until, end)));
  stages.push_back(stage(model, end));
  const Problem problem{
      .model = model,
      .kappa = kappa,
      .exact = true,
      .parameters = count,
      .tokens = 1,
      .repulsion = repulsion,
      .stages = std::move(stages),
      .loss = [&](const State& y) { return static_bias_loss<double>(model, y.data(), nullptr); },
      .observe = [&](const State& y) { return observe_static(model, parameters(y)); },
      .phases = [&](const State& y) { return phase_curve_static(model, parameters(y)); },
      .bound = [&](const State& y, const GateObservation& gates) { return residual_bound(model, parameters(y), 1, gates); },
      .bias = [&](const State& y) { return std::vector<double>(y.begin(), y.begin() + count); },
  };
  return Course(problem, options, std::move(bias)).run();
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
      .repulsion = 0.0,
      .stages = {{options.integration.until, field, {}, [&](const State& y) { return loss(full(y)); }}},
      .loss = [&](const State& y) { return loss(full(y)); },
      .observe = [&](const State& y) { return observe_tables(model, full(y), contexts); },
      .phases = [&](const State& y) { return phase_curve_tables(model, geometry, full(y), contexts); },
      .bound = [&](const State& y,
                   const GateObservation& gates) { return residual_bound(model, full(y), model.vocabulary, gates); },
      .bias = [&](const State& y) { return static_part(model, std::span(y.data(), count)); },
  };
  return Course(problem, options, std::move(tables)).run();
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
