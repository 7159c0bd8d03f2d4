#include "flow/course.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "flow/watch.hpp"
#include "model/interrupt.hpp"

namespace phaselock {

namespace {

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
    const std::size_t gate = std::size_t(problem_.model.positions) * problem_.tokens;
    if (problem_.exact) result_.conserved_drift = conserved_drift(result_.initial, std::span(y_).first(problem_.parameters), gate);
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

}  // namespace

double conserved_drift(std::span<const double> before, std::span<const double> after, std::size_t gate) {
  double drift = 0.0;
  for (std::size_t first = 0; first < before.size(); first += gate) {
    double change = 0.0;
    for (std::size_t k = first; k < first + gate; ++k) change += after[k] - before[k];
    drift = std::max(drift, std::abs(change));
  }
  return drift;
}

FlowResult follow(const Problem& problem, const FlowOptions& options, State parameters) {
  return Course(problem, options, std::move(parameters)).run();
}

}  // namespace phaselock
