// A flow from its start to its end: stages, steps, checkpoints, and what is told of the end.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "flow/flow.hpp"

namespace phaselock {

/// A part of a flow, until a time, in which it descends one objective; annealing has two.
struct Stage {
  double until;
  VectorField field;
  JacobianField jacobian;  ///< empty: no stiff stepper
  std::function<double(const State&)> objective;
};

/// One flow as integrators and watchers see it, whatever its gates. A State holds the parameters, then the energy dissipated.
struct Problem {
  const Model& model;
  std::optional<SingleBlock> block;  ///< the same model where static limits and escapes are known
  double kappa;                      ///< for the static limit
  bool exact;                        ///< exact geometry: conserved sums and static limits make sense
  std::size_t parameters;            ///< their number: a row of `tokens` numbers for each (branch, head, offset)
  int tokens;                        ///< N of gate tables, 1 of static biases
  double repulsion;                  ///< between heads, of static gates
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

/// Follows `problem` from `parameters` to its end. Throws CheckpointMismatch; Interrupted, after a last checkpoint was handed over.
FlowResult follow(const Problem& problem, const FlowOptions& options, State parameters);

}  // namespace phaselock
