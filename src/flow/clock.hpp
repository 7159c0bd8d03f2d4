// The logarithmic clock s = log(1 + t) of the integrators: lands on the save times, keeps the step within bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "flow/integrate.hpp"

namespace phaselock {

template <class Numbers>
bool all_finite(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); });
}

class Clock {
 public:
  enum Verdict { accepted, rejected };

  Clock(const IntegrateOptions& options, const IntegrationPoint& from)
      : stops_(options.save_at), t_(from.t), s_(from.s), proposal_(from.proposal), attempts_(from.steps) {
    stops_.push_back(options.until);
    while (!at_end() && stops_[next_] <= t_) ++next_;
  }

  std::int64_t attempts() const { return attempts_; }
  bool at_end() const { return next_ == stops_.size(); }
  /// The step has fallen below the resolution of s.
  bool stuck() const { return proposal_ < 1e-14 * std::max(1.0, s_); }

  /// Attempts one step. `step(s, ds)` returns whether its error was small enough; if so, it has advanced s. Either way it leaves in
  /// ds the step to try next.
  template <class Step>
  Verdict attempt(Step step) {
    constexpr double longest_step = 0.5;  // so that visitors see the flow at least twice per unit of log time
    const double target = std::log1p(stops_[next_]);
    const double wanted = std::min(proposal_, longest_step);
    const bool lands = s_ + wanted >= target - 1e-3 * wanted;  // a slightly longer step now saves a tiny one afterwards
    double s = s_, ds = lands ? target - s_ : wanted;
    ++attempts_;
    if (!step(s, ds)) {
      proposal_ = ds;
      return rejected;
    }
    // A step cut short by a save time says nothing against the longer step planned before.
    proposal_ = lands ? std::max(ds, wanted) : ds;
    s_ = lands ? target : s;
    t_ = lands ? stops_[next_] : std::expm1(s_);
    while (!at_end() && stops_[next_] <= t_) ++next_;
    return accepted;
  }

  /// Notes an accepted step.
  void mark(IntegrationPoint& point) const {
    constexpr double short_step = 0.02;
    point.short_steps = s_ - point.s < short_step ? point.short_steps + 1 : 0;
    point.t = t_;
    point.s = s_;
    point.proposal = proposal_;
    point.steps = attempts_;
    point.visited = false;
  }

 private:
  std::vector<double> stops_;  ///< save times, then the end time
  std::size_t next_ = 0;
  double t_, s_, proposal_;
  std::int64_t attempts_;
};

/// The loop of both integrators: visits, attempts and endings. `step(s, ds)` is one attempt, as for the clock, and says whether it
/// met NaN or infinity in `met_not_finite`; `keep()` is called after an accepted one, for y and the stepper's own part of `point`.
template <class Step, class Keep>
Integration march(State& y, IntegrationPoint& point, const IntegrateOptions& options, const StepVisitor& visit,
                  std::int64_t stiff_after, const bool& met_not_finite, Step step, Keep keep) {
  Clock clock(options, point);
  const auto end = [&](Ending ending) { return Integration{ending, point.t, clock.attempts()}; };
  while (true) {
    if (!point.visited && visit(point.t, y, point.steps)) return end(Ending::stopped);
    point.visited = true;
    if (stiff_after > 0 && point.short_steps >= stiff_after) return end(Ending::stiff);
    if (clock.at_end()) return end(Ending::until);
    Clock::Verdict verdict;
    do {
      if (clock.attempts() >= options.max_steps) return end(Ending::step_limit);
      verdict = clock.attempt(step);
      if (verdict == Clock::rejected && clock.stuck()) return end(met_not_finite ? Ending::not_finite : Ending::no_progress);
    } while (verdict == Clock::rejected);
    keep();
    clock.mark(point);
    if (!all_finite(y)) return end(Ending::not_finite);
  }
}

}  // namespace phaselock
