#include "flow/integrate.hpp"

#include <boost/numeric/odeint/algebra/default_operations.hpp>
#include <boost/numeric/odeint/algebra/range_algebra.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>

#include <cmath>
#include <limits>

#include "flow/clock.hpp"

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

IntegrationPoint IntegrationPoint::at(double t, std::int64_t steps) {
  IntegrationPoint point;
  point.t = t;
  point.s = std::log1p(t);
  point.steps = steps;
  point.visited = true;
  return point;
}

Integration integrate(const VectorField& field, State& y, IntegrationPoint& point, const IntegrateOptions& options,
                      const StepVisitor& visit) {
  Stepper stepper(FiniteErrorChecker(options.atol, options.rtol));  // remembers nothing from step to step
  bool met_not_finite = false;                                      // in the attempt at hand
  // dy/ds = (1 + t) f(y): one clock from the first instant to the latest time.
  const auto system = [&](const State& state, State& dyds, double s) {
    field(state, dyds);
    met_not_finite = met_not_finite || !all_finite(dyds);
    const double scale = std::exp(s);
    for (double& v : dyds) v *= scale;
  };
  const auto step = [&](double& s, double& ds) {
    met_not_finite = false;
    return stepper.try_step(std::cref(system), y, s, ds) == odeint::success;
  };
  return march(y, point, options, visit, options.stiff_after, met_not_finite, step, [] {});
}

Integration integrate(const VectorField& field, State& y, const IntegrateOptions& options, const StepVisitor& visit) {
  IntegrationPoint start;
  return integrate(field, y, start, options, visit);
}

}  // namespace phaselock
