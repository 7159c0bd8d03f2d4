// A flow from its start to its end: stages, steps, checkpoints, and what is told of the end.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "flow/flow.hpp"

namespace phaselock {

/// What a flow descends until a time.
struct Stage {
  double until;
  VectorField field;
  JacobianField jacobian;  ///< empty: no stiff stepper
  std::function<double(const State&)> objective;
};

/// What flows, as those who step and watch see it; parameters are the state without the energy entry at its end.
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

/// Largest absolute change of sum_(r,i) G_r(i) (static: sum_r b_r) over branches and heads, each `gate` numbers in a row; both
/// spans of one length, a multiple of `gate`.
double conserved_drift(std::span<const double> before, std::span<const double> after, std::size_t gate);

/// The flow of `problem` from `parameters`. Throws CheckpointMismatch, Interrupted, the latter with a checkpoint given before.
FlowResult follow(const Problem& problem, const FlowOptions& options, State parameters);

}  // namespace phaselock
