// Gradient flow of gates: linear gate tables, static biases, tied and uniform controls (theory.md sections 3 and 5).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "../contexts.hpp"
#include "../geometry.hpp"
#include "../observe.hpp"
#include "../trapping.hpp"
#include "equilibrium.hpp"
#include "integrate.hpp"

namespace phaselock {

enum class GateClass { linear, fixed, tied, uniform };  ///< fixed: static gates (the word is taken in C++)
enum class StopRule { time, residual, certified };      ///< certified: inside a trapping box, or else by residual

struct FlowOptions {
  IntegrateOptions integration;
  StopRule stop = StopRule::residual;
  double residual = 1e-3;  ///< largest 1 - p of any gate at which a flow counts as selected
  bool record = false;     ///< keep a Sample after every accepted step
  std::function<void(double t, const State& state)> on_interrupt = {};  ///< told the state before Interrupted goes on
  std::function<void(double t)> on_step = {};                           ///< told the time of every accepted step; for progress
};

enum class FlowOutcome {
  selected,    ///< every gate of every sampled context is within `residual` of one position, K and V adjacent; or the state is
               ///< trapped
  interior,    ///< at a local minimum of the static loss with a mixed gate: it will not select
  undecided,   ///< the end time came first
  step_limit,  ///< max_steps attempted, or the clock's resolution reached
  not_finite,  ///< NaN or infinity met
};

std::string_view name(FlowOutcome outcome);

/// Progress of one flow, kept after every accepted step if asked for.
struct Sample {
  double t, loss, residual;
  std::vector<double> weights;         ///< gate averages E[p], [2][H][S]
  std::vector<double> static_offsets;  ///< exp Ent(E[p]), [2][H]
  std::vector<double> avg_offsets;     ///< E[exp Ent(p)], [2][H]
};

/// A state asked for by save_at.
struct SavedState {
  double t, loss;
  std::vector<double> weights;  ///< [2][H][S]
};

struct FlowResult {
  FlowOutcome outcome;
  Ending ending;  ///< how the integrator ended
  double t;       ///< time reached
  std::int64_t steps;
  State initial, state;   ///< bias [2][H][S] or tables [2][H][S][N], at t = 0 and at t
  GateObservation gates;  ///< of `state`
  double residual_all;    ///< bound of 1 - p over every context of the vocabulary
  double loss;
  PhaseCurve phases, initial_phases;
  std::optional<double>
      conserved_drift;     ///< largest change of sum_(r,i) G_r(i) (static: sum_r b_r) over branches and heads; exact geometry only
  double energy_residual;  ///< |Loss(0) - Loss(T) - integral of |grad|^2| / max(1, |Loss(0)|)
  std::optional<TrappingProof>
      trap;  ///< the state is inside this box: the population flow from it converges to the selection, proved in balls
  std::optional<Equilibrium> equilibrium;  ///< the interior minimum, if that is the outcome
  std::vector<SavedState> saved;
  std::vector<Sample> samples;
};

/// Flow of static biases from `bias` [2][H][S] at exact geometry: db/dt = -c dLoss/db.
FlowResult static_flow(const Model& model, double kappa, std::vector<double> bias, const FlowOptions& options);

/// Flow of gate tables from `tables` [2][H][S][N] under the loss of the sampled contexts: dG/dt = -(dLoss/dG) K.
/// tied: both branches move together from the key tables; uniform: all weights 1/S, nothing moves.
FlowResult table_flow(const Model& model, const Geometry& geometry, const Contexts& contexts, GateClass gate_class,
                      std::vector<double> tables, const FlowOptions& options);

/// Velocity -(gradient K) of tables and their loss: what `evaluate` prints.
struct TableVelocity {
  double loss;
  std::vector<double> gradient, velocity;
};
TableVelocity table_velocity(const Model& model, const Geometry& geometry, const Contexts& contexts,
                             const std::vector<double>& tables);

}  // namespace phaselock
