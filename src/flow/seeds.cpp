#include "flow/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "model/errors.hpp"
#include "model/gates.hpp"

namespace phaselock {

namespace {

/// Whether all that the flows are asked for is whether they select.
bool ensemble_serves(const SeedOptions& seeds) {
  const FlowOptions& options = seeds.flow;
  return seeds.ensemble && options.stop != StopRule::time && !options.record && options.integration.save_at.empty() &&
         !options.on_step && !options.on_checkpoint;
}

/// The end of a flow at an interior minimum.
SeedEnd interior_end(const SingleBlock& model, const Equilibrium& limit, double t, double escape, double residual) {
  return {FlowOutcome::interior, t, escape, residual, one_hot_heads(model, limit.weights)};
}

class Seeds {
 public:
  Seeds(const SingleBlock& model, double kappa, const SeedOptions& options, std::uint64_t first, std::int64_t count)
      : model_(model), kappa_(kappa), options_(options), first_(first), ends_(std::size_t(count)) {}

  std::vector<SeedEnd> run() && {
    if (ensemble_serves(options_)) {
      anneal();
      descend();
      to_the_end_of_stiffness();
    }
    std::vector<SeedEnd> ends;
    for (std::size_t k = 0; k < ends_.size(); ++k) ends.push_back(ends_[k] ? std::move(*ends_[k]) : alone(k));
    return ends;
  }

 private:
  /// Where the flow of a seed stands.
  struct Standing {
    std::int64_t seed;
    double t, escape;
    std::vector<double> bias;
  };

  static constexpr std::int64_t many_steps = 4000;  ///< cheaper than the stiff stepper through a few units of log time

  EnsembleOptions lanes(double until) const {
    const FlowOptions& exact = options_.flow;
    EnsembleOptions result{.until = until,
                           .rtol = exact.integration.rtol,
                           .atol = exact.integration.atol,
                           .residual = exact.residual,
                           .repulsion = options_.coordination.repulsion};
    result.max_steps = std::min(result.max_steps, exact.integration.max_steps);
    return result;
  }

  EnsembleOptions patient(EnsembleOptions options) const {
    options.max_steps = std::min(many_steps, options_.flow.integration.max_steps);
    options.stiff_after = 0;
    return options;
  }

  /// Runs the flows that stand somewhere, and leaves there those for which settled(seed, flow), asked about every end, is false.
  template <class Settled>
  void run(const SingleBlock& model, const EnsembleOptions& options, const Settled& settled) {
    std::vector<Standing> rest;
    options_.ensemble(
        model, kappa_, std::int64_t(standing_.size()),
        [&](std::int64_t k) { return EnsembleStart(std::move(standing_[k].bias), standing_[k].t); }, options,
        [&](std::int64_t k, EnsembleFlow&& flow) {
          const Standing& before = standing_[k];
          if (!std::isnan(before.escape)) flow.escape = before.escape;
          if (!settled(before.seed, flow)) rest.push_back({before.seed, flow.t, flow.escape, std::move(flow.bias)});
        });
    standing_ = std::move(rest);
  }

  std::vector<double> start(std::int64_t k) const {
    return coordinated_bias(model_, kappa_, options_.rho, first_ + std::uint64_t(k), options_.coordination);
  }

  /// The starts, and what becomes of them under the annealed model; a flow that does not reach its end is left to `alone`.
  void anneal() {
    for (std::size_t k = 0; k < ends_.size(); ++k)
      standing_.push_back({std::int64_t(k), 0.0, std::numeric_limits<double>::quiet_NaN(), start(std::int64_t(k))});
    const double until = std::min(options_.coordination.anneal_until, options_.flow.integration.until);
    if (until == 0.0) return;
    EnsembleOptions options = lanes(until);
    options.residual = 0.0;
    run(annealed(model_, options_.coordination), patient(options),
        [](std::int64_t, const EnsembleFlow& flow) { return flow.ending == EnsembleEnding::given_up; });
  }

  void descend() {
    run(model_, lanes(options_.flow.integration.until),
        [&](std::int64_t k, const EnsembleFlow& flow) { return settles(k, flow) || flow.ending != EnsembleEnding::given_up; });
  }

  /// Goes on with the flows that crawl and are not at an interior minimum: they pass by one, or come to it later.
  void to_the_end_of_stiffness() {
    run(model_, patient(lanes(options_.flow.integration.until)), [&](std::int64_t k, const EnsembleFlow& flow) {
      settles(k, flow);
      return true;
    });
  }

  /// Whether the flow's end is known; then it is written down.
  bool settles(std::int64_t k, const EnsembleFlow& flow) {
    GateObservation gates = observe_static(model_, flow.bias);
    if (selects(gates, options_.flow.residual)) {
      ends_[k] = {FlowOutcome::selected, flow.t, flow.escape, gates.residual, std::move(gates.selection)};
    } else if (flow.ending != EnsembleEnding::peaked) {
      const double repulsion = options_.coordination.repulsion;
      auto limit = interior_nearby(model_, gates.weights, repulsion);
      const bool at_end = flow.ending == EnsembleEnding::until;
      if (!limit && at_end) limit = interior_limit(model_, kappa_, flow.bias, gates.weights, repulsion);
      if (limit)
        ends_[k] = interior_end(model_, *limit, flow.t, flow.escape, gates.residual);
      else if (at_end)
        ends_[k] = {FlowOutcome::undecided, flow.t, flow.escape, gates.residual, std::move(gates.selection)};
    }
    return ends_[k].has_value();
  }

  SeedEnd alone(std::int64_t k) const {
    FlowResult flow = static_flow(model_, kappa_, start(k), options_.flow, options_.coordination);
    if (flow.equilibrium) return interior_end(model_, *flow.equilibrium, flow.t, flow.escape, flow.gates.residual);
    return {flow.outcome, flow.t, flow.escape, flow.gates.residual, std::move(flow.gates.selection)};
  }

  const SingleBlock& model_;
  double kappa_;
  const SeedOptions& options_;
  std::uint64_t first_;
  std::vector<std::optional<SeedEnd>> ends_;
  std::vector<Standing> standing_;
};

}  // namespace

std::vector<SeedEnd> static_seeds(const SingleBlock& model, double kappa, const SeedOptions& options, std::uint64_t first,
                                  std::int64_t count) {
  validate(model);
  validate(model, options.coordination);
  if (count < 0) throw DomainError(fmt::format("{} seeds: at least 0 are needed", count));
  if (!(options.rho > 0.0)) throw DomainError(fmt::format("initial radius {} must be > 0", options.rho));
  return Seeds(model, kappa, options, first, count).run();
}

}  // namespace phaselock
