// The logarithmic clock s = log(1 + t) of the integrators: lands on the save times, keeps the step within bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "integrate.hpp"

namespace phaselock {

template <class Numbers>
bool all_finite(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); });
}

class Clock {
 public:
  enum Verdict { accepted, rejected };

  Clock(const IntegrateOptions& options, double t0) : stops_(options.save_at), t_(t0), s_(std::log1p(t0)) {
    stops_.push_back(options.until);
    while (!at_end() && stops_[next_] <= t0) ++next_;
  }

  double t() const { return t_; }
  double s() const { return s_; }
  std::int64_t attempts() const { return attempts_; }
  bool at_end() const { return next_ == stops_.size(); }
  /// The step has fallen below the resolution of s.
  bool stuck() const { return proposal_ < 1e-14 * std::max(1.0, s_); }

  /// One attempt of `step(s, ds)`, which returns whether it was accepted, then having advanced s, and leaves in ds the step it
  /// proposes next.
  template <class Step>
  Verdict attempt(Step step) {
    constexpr double longest_step = 0.5;  // so that visitors see the flow at least twice per unit of log time
    const double target = std::log1p(stops_[next_]);
    const double wanted = std::min(proposal_, longest_step);
    const bool lands = s_ + wanted >= target - 1e-3 * wanted;  // rather a little longer than a sliver afterwards
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

 private:
  std::vector<double> stops_;  ///< save times, then the end time
  std::size_t next_ = 0;
  double t_, s_;
  double proposal_ = 1e-3;
  std::int64_t attempts_ = 0;
};

}  // namespace phaselock
