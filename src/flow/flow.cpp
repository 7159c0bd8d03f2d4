#include "flow/flow.hpp"

#include <algorithm>
#include <utility>

#include "flow/course.hpp"
#include "flow/static_field.hpp"

namespace phaselock {

namespace {

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

FlowResult static_flow(const SingleBlock& model, double kappa, std::vector<double> bias, const FlowOptions& options,
                       const Coordination& coordination) {
  validate(model);
  validate(model, coordination);
  if (bias.size() != 2 * model.branch_rows()) throw DomainError("static biases must have the shape [2][heads][positions]");
  const std::size_t count = bias.size();
  const auto parameters = [count](const State& y) { return std::span<const double>(y.data(), count); };
  const double end = options.integration.until, repulsion = coordination.repulsion;
  const auto stage = [&](const SingleBlock& of, double until) {
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
      .block = model,
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
  return follow(problem, options, std::move(bias));
}

FlowResult table_flow(Loss& loss, GateClass gate_class, std::vector<double> tables, const FlowOptions& options) {
  const Model& model = loss.model();
  const Geometry& geometry = loss.geometry();
  validate(model);
  if (tables.size() != model.table_size()) throw DomainError("gate tables must have the shape [2][heads][positions][vocabulary]");
  if (gate_class == GateClass::static_) throw DomainError("static gates flow on their biases, not on tables");
  const std::size_t half = model.table_size() / 2;
  if (gate_class == GateClass::tied) tables.resize(half);
  if (gate_class == GateClass::uniform) tables.assign(2 * half, 0.0);
  const std::size_t count = tables.size();
  const auto full = [&model, gate_class](const State& y) { return both_branches(model, gate_class, y); };

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
      .block = single_block(model),
      .kappa = geometry.kappa(),
      .exact = geometry.is_exact() && gate_class == GateClass::linear,
      .parameters = count,
      .tokens = model.vocabulary,
      .repulsion = 0.0,
      .stages = {{options.integration.until, field, {}, [&](const State& y) { return loss(full(y)); }}},
      .loss = [&](const State& y) { return loss(full(y)); },
      .observe = [&](const State& y) { return observe_tables(model, full(y), loss.contexts()); },
      .phases = [&](const State& y) { return loss.phases(full(y)); },
      .bound = [&](const State& y,
                   const GateObservation& gates) { return residual_bound(model, full(y), model.vocabulary, gates); },
      .bias = [&](const State& y) { return static_part(model, std::span(y.data(), count)); },
  };
  return follow(problem, options, std::move(tables));
}

TableVelocity table_velocity(Loss& loss, const std::vector<double>& tables) {
  TableVelocity result{0.0, std::vector<double>(tables.size()), std::vector<double>(tables.size())};
  result.loss = loss(tables, result.gradient);
  loss.geometry().apply(result.gradient, result.velocity);
  for (double& v : result.velocity) v = -v;
  return result;
}

}  // namespace phaselock
