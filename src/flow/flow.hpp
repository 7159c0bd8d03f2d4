// Gradient flow of gates: linear gate tables, static biases, tied and uniform controls (theory.md sections 3 and 5).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "flow/coordination.hpp"
#include "flow/equilibrium.hpp"
#include "flow/integrate.hpp"
#include "flow/trap.hpp"
#include "loss/geometry.hpp"
#include "loss/loss.hpp"
#include "loss/observe.hpp"
#include "model/contexts.hpp"
#include "model/errors.hpp"

namespace phaselock {

enum class GateClass { linear, static_, tied, uniform };  ///< static_: the plain word is taken in C++
enum class StopRule { time, residual, certified };        ///< certified: inside a trapping box, or else by residual

enum class FlowOutcome {
  selected,    ///< every gate of every sampled context is within `residual` of one offset, K and V adjacent; or the state is
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

/// A flow on its way: with the same start and options, all that the rest of it depends on.
struct FlowCheckpoint {
  double initial_loss = 0.0;  ///< to tell whether model, contexts or start are others
  std::int64_t stage = 0;     ///< of annealing, and what the flow descends: at its start, and over the stages that ended
  double stage_start = 0.0, descended = 0.0;
  State y = {};  ///< parameters, then the energy dissipated
  IntegrationPoint point = {};
  bool stiff = false;  ///< the stiff stepper is at work
  // What has been watched before the point, or at it if the point is `visited`.
  double next_look = 0.0, look_every = 0.0, last_s = 0.0;
  std::vector<double> last_weights = {};
  double escape = 0.0, before_escape_s = 0.0;
  State before_escape = {};
  std::vector<SavedState> saved = {};
  std::vector<Sample> samples = {};
};

/// The checkpoint to resume from belongs to another flow.
class CheckpointMismatch : public DomainError {
 public:
  using DomainError::DomainError;
};

struct FlowOptions {
  IntegrateOptions integration;
  StopRule stop = StopRule::residual;
  double residual = 1e-3;                      ///< largest 1 - p of any gate at which a flow counts as selected
  TrapProver trap = {};                        ///< of this flow's model; empty: no box is tried, and `certified` stops by residual
  bool record = false;                         ///< keep a Sample after every accepted step
  std::function<void(double t)> on_step = {};  ///< told the time of every accepted step; for progress
  std::function<void(const FlowCheckpoint&)> on_checkpoint =
      {};                                  ///< given one after a step now and then, and before Interrupted goes on
  double checkpoint_every = 10.0;          ///< seconds of wall-clock time, at least
  const FlowCheckpoint* resume = nullptr;  ///< go on from here, to the same bits
};

struct FlowResult {
  FlowOutcome outcome;
  Ending ending;  ///< how the integrator ended
  double t;       ///< time reached
  double escape;  ///< of static gates from the saddle, see escape.hpp; NaN: not yet, or gate tables
  std::int64_t steps;
  State initial, state;   ///< bias [2][H][S] or tables [2][H][S][N], at t = 0 and at t
  GateObservation gates;  ///< of `state`
  double residual_all;    ///< bound of 1 - p over every context of the vocabulary
  double loss;
  PhaseCurve phases, initial_phases;
  std::optional<double>
      conserved_drift;     ///< largest change of sum_(r,i) G_r(i) (static: sum_r b_r) over branches and heads; exact geometry only
  double energy_residual;  ///< |Loss(0) - Loss(T) - integral of |grad|^2| / max(1, |Loss(0)|), of what the flow descends
  std::optional<TrappingProof>
      trap;  ///< the state is inside this box: the population flow from it converges to the selection, proved in balls
  std::optional<Equilibrium> equilibrium;  ///< the interior minimum, if that is the outcome
  std::vector<SavedState> saved;
  std::vector<Sample> samples;
};

/// Flow of static biases from `bias` [2][H][S] at exact geometry: db/dt = -c dLoss/db. With coordination it descends the loss plus
/// the repulsion, until anneal_until that of the annealed model; it does not stop before, and t counts on. Losses and phase curves
/// of the result are the plain model's, whereas `conserved_drift` and `energy_residual` check what was descended, and `equilibrium`
/// is one of the last objective. Under a repulsion no trapping box is proved: the proof is of the plain loss. The start is the
/// caller's, see coordinated_bias. Throws DomainError for a bad shape, CheckpointMismatch, Interrupted.
FlowResult static_flow(const SingleBlock& model, double kappa, std::vector<double> bias, const FlowOptions& options,
                       const Coordination& coordination = {});

/// Flow of gate tables from `tables` [2][H][S][N] under `loss`, of the sampled contexts: dG/dt = -(dLoss/dG) K.
/// tied: both branches move together from the key tables; uniform: all weights 1/S, nothing moves.
FlowResult table_flow(Loss& loss, GateClass gate_class, std::vector<double> tables, const FlowOptions& options);

/// Velocity -(gradient K) of tables and their loss: what `evaluate` prints.
struct TableVelocity {
  double loss;
  std::vector<double> gradient, velocity;
};
TableVelocity table_velocity(Loss& loss, const std::vector<double>& tables);

}  // namespace phaselock
