#include "flow/watch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "flow/escape.hpp"

namespace phaselock {

Watch::Watch(const Problem& problem, const FlowOptions& options, FlowResult& result)
    : problem_(problem),
      options_(options),
      result_(result),
      stage_(problem.stages.data()),
      last_save_(options.integration.save_at.empty() ? 0.0 : options.integration.save_at.back()) {}

bool Watch::operator()(double t, const State& y) {
  if (options_.on_step) options_.on_step(t);
  watch_escape(t, y);
  GateObservation gates = problem_.observe(y);
  const bool at_save = std::binary_search(options_.integration.save_at.begin(), options_.integration.save_at.end(), t);
  const double loss = at_save || options_.record ? problem_.loss(y) : 0.0;  // interrupts may end it; nothing has been kept so far
  if (at_save) result_.saved.push_back({t, loss, gates.weights});
  if (options_.record) result_.samples.push_back({t, loss, gates.residual, gates.weights, gates.static_offsets, gates.avg_offsets});
  const bool may_stop = options_.stop != StopRule::time && t >= last_save_ && stage_ == &problem_.stages.back();
  const bool stops = may_stop && (selected(gates) || trapped(y, gates) || looks_interior(t, y, gates));
  last_s_ = std::log1p(t);
  last_weights_ = std::move(gates.weights);
  return stops;
}

void Watch::save(FlowCheckpoint& checkpoint) const {
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

void Watch::restore(const FlowCheckpoint& checkpoint) {
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

bool Watch::selected(const GateObservation& gates) const { return selects(gates, options_.residual); }

std::optional<TrappingProof> Watch::proof(const State& y, const GateObservation& gates) {
  if (!options_.trap || !problem_.exact || problem_.repulsion != 0.0) return std::nullopt;
  return options_.trap({y.data(), problem_.parameters}, problem_.tokens, gates.selection);
}

bool Watch::at_interior(const State& y, const GateObservation& gates) {
  if (!problem_.exact || !problem_.block || selected(gates)) return false;
  result_.equilibrium = interior_limit(*problem_.block, problem_.kappa, problem_.bias(y), gates.weights, problem_.repulsion);
  return result_.equilibrium.has_value();
}

void Watch::watch_escape(double t, const State& y) {
  if (problem_.tokens > 1 || !problem_.block || !std::isnan(result_.escape)) return;
  const double s = std::log1p(t);
  if (largest_key_weight(*problem_.block, y.data()) < escape_weight(*problem_.block)) {
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
        escape_in_step(*problem_.block, {before_escape_s_, before_escape_.data(), from.data()}, {s, y.data(), to.data()});
  }
}

bool Watch::trapped(const State& y, const GateObservation& gates) {
  return options_.stop == StopRule::certified && proof(y, gates);
}

bool Watch::looks_interior(double t, const State& y, const GateObservation& gates) {
  constexpr double still = 0.1, first_look = 10.0, support = 0.02;
  const double s = std::log1p(t);
  if (!problem_.block || last_weights_.empty() || t < first_look || s < next_look_ || gates.residual < 2 * support) return false;
  double speed = 0.0;
  for (std::size_t k = 0; k < gates.weights.size(); ++k) speed = std::max(speed, std::abs(gates.weights[k] - last_weights_[k]));
  if (speed > still * (s - last_s_)) return false;
  next_look_ = s + look_every_;
  if (support_curvature(*problem_.block, gates.weights, support, problem_.repulsion) <= -1e-4) return false;
  if (at_interior(y, gates)) return true;
  if (problem_.tokens == 1) look_every_ *= 2.0;  // the limit of static gates is the same from later on, and dear
  return false;
}

}  // namespace phaselock
