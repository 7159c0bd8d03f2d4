// Decides after each step whether a flow is over (selected, certified or at an interior equilibrium), and keeps samples on the way.
#pragma once

#include <optional>
#include <vector>

#include "flow/course.hpp"

namespace phaselock {

/// Watches one flow. Writes to its result `escape`, `saved`, `samples` and `equilibrium`.
class Watch {
 public:
  /// All three must outlive it; `result.escape` is NaN until the flow has escaped.
  Watch(const Problem& problem, const FlowOptions& options, FlowResult& result);

  /// The stage that the following steps belong to.
  void enter(const Stage& stage) { stage_ = &stage; }

  /// Looks at the state after a step; true when the flow is over.
  bool operator()(double t, const State& y);

  /// Puts what has been watched so far into a checkpoint, and takes it from one.
  void save(FlowCheckpoint& checkpoint) const;
  void restore(const FlowCheckpoint& checkpoint);

  bool selected(const GateObservation& gates) const;

  /// The proof that y is inside a trapping box. Doubles are asked first, because balls cost more.
  std::optional<TrappingProof> proof(const State& y, const GateObservation& gates);

  /// Whether the static limit from here is a mixed local minimum close to where the gates already are.
  bool at_interior(const State& y, const GateObservation& gates);

 private:
  void watch_escape(double t, const State& y);
  bool trapped(const State& y, const GateObservation& gates);

  /// Whether the flow is at an interior equilibrium. The costly question is put only once the gates have slowed down in log time;
  /// they are slow at the very start and at the saddle too, which does not count.
  bool looks_interior(double t, const State& y, const GateObservation& gates);

  const Problem& problem_;
  const FlowOptions& options_;
  FlowResult& result_;
  const Stage* stage_;
  double last_save_;
  double last_s_ = 0.0, next_look_ = 0.0, look_every_ = 0.5, before_escape_s_ = 0.0;
  State before_escape_;
  std::vector<double> last_weights_;
};

}  // namespace phaselock
