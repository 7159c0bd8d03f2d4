#include "integrate.hpp"

#include <boost/numeric/odeint/algebra/default_operations.hpp>
#include <boost/numeric/odeint/algebra/range_algebra.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>

#include <cmath>
#include <limits>

#include "clock.hpp"

namespace phaselock {

namespace odeint = boost::numeric::odeint;

namespace {

/// odeint's own checker takes the maximum of the scaled errors, which skips NaN: here any error that is not finite is infinite.
class FiniteErrorChecker : public odeint::default_error_checker<double, odeint::range_algebra, odeint::default_operations> {
  using Base = odeint::default_error_checker<double, odeint::range_algebra, odeint::default_operations>;

 public:
  using Base::Base;

  template <class Y, class Dydt, class Err, class Time>
  double error(odeint::range_algebra& algebra, const Y& y, const Dydt& dydt, Err& err, Time dt) const {
    const double largest = Base::error(algebra, y, dydt, err, dt);
    return all_finite(err) ? largest : std::numeric_limits<double>::infinity();
  }
};

using Fehlberg = odeint::runge_kutta_fehlberg78<State>;
using Stepper = odeint::controlled_runge_kutta<Fehlberg, FiniteErrorChecker>;

}  // namespace

std::string_view name(Ending ending) {
  switch (ending) {
    case Ending::until:
      return "until";
    case Ending::stopped:
      return "stopped";
    case Ending::stiff:
      return "stiff";
    case Ending::step_limit:
      return "step_limit";
    case Ending::no_progress:
      return "no_progress";
    case Ending::not_finite:
      return "not_finite";
  }
  return "";
}

Integration integrate(const VectorField& field, State& y, const IntegrateOptions& options, const StepVisitor& visit, double t0,
                      std::int64_t steps_before) {
  constexpr double short_step = 0.02;
  Stepper stepper(FiniteErrorChecker(options.atol, options.rtol));
  bool met_not_finite = false;  // in the attempt at hand
  // dy/ds = (1 + t) f(y): one clock from the first instant to the latest time.
  const auto system = [&](const State& state, State& dyds, double s) {
    field(state, dyds);
    met_not_finite = met_not_finite || !all_finite(dyds);
    const double scale = std::exp(s);
    for (double& v : dyds) v *= scale;
  };
  Clock clock(options, t0);
  std::int64_t short_steps = 0;
  const auto end = [&](Ending ending) { return Integration{ending, clock.t(), clock.attempts() + steps_before}; };
  if (t0 == 0.0 && visit(0.0, y, steps_before)) return end(Ending::stopped);
  while (!clock.at_end()) {
    if (clock.attempts() + steps_before >= options.max_steps) return end(Ending::step_limit);
    const double before = clock.s();
    met_not_finite = false;
    const auto verdict =
        clock.attempt([&](double& s, double& ds) { return stepper.try_step(std::cref(system), y, s, ds) == odeint::success; });
    if (verdict == Clock::rejected) {
      if (clock.stuck()) return end(met_not_finite ? Ending::not_finite : Ending::no_progress);
      continue;
    }
    if (!all_finite(y)) return end(Ending::not_finite);
    if (visit(clock.t(), y, clock.attempts() + steps_before)) return end(Ending::stopped);
    short_steps = clock.s() - before < short_step ? short_steps + 1 : 0;
    if (options.stiff_after > 0 && short_steps >= options.stiff_after) return end(Ending::stiff);
  }
  return end(Ending::until);
}

}  // namespace phaselock
