// Rosenbrock's method of order 4. Boost 1.74's implementation needs C++17, so this file stands alone.
#include <boost/numeric/odeint/stepper/rosenbrock4.hpp>
#include <boost/numeric/odeint/stepper/rosenbrock4_controller.hpp>
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/vector.hpp>

#include <cmath>
#include <utility>

#include "clock.hpp"
#include "integrate.hpp"

namespace phaselock {

namespace odeint = boost::numeric::odeint;
namespace ublas = boost::numeric::ublas;

Integration integrate_stiff(const VectorField& field, const JacobianField& jacobian, State& y, const IntegrateOptions& options,
                            const StepVisitor& visit, double t0, std::int64_t steps_before) {
  using Vector = ublas::vector<double>;
  using Matrix = ublas::matrix<double>;
  // dy/ds = q f(y), dq/ds = q with q = 1 + t. The clock q is a variable of the system because this stepper is of order 4 for
  // autonomous systems only: with an explicit s it was measured to be of order 1 (Boost 1.74).
  const std::size_t n = y.size();
  State state(n), rate(n);
  std::vector<double> slopes(n * n);
  bool met_not_finite = false;  // in the attempt at hand
  const auto system = [&](const Vector& x, Vector& dxds, double) {
    std::copy_n(x.begin(), n, state.begin());
    field(state, rate);
    met_not_finite = met_not_finite || !all_finite(rate);
    for (std::size_t i = 0; i < n; ++i) dxds(i) = x(n) * rate[i];
    dxds(n) = x(n);
  };
  const auto slope = [&](const Vector& x, Matrix& J, const double&, Vector& dfds) {
    std::copy_n(x.begin(), n, state.begin());
    field(state, rate);
    jacobian(state, slopes);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) J(i, j) = x(n) * slopes[i * n + j];
      J(i, n) = rate[i];
      J(n, i) = 0.0;
    }
    J(n, n) = 1.0;
    dfds.clear();
  };
  odeint::rosenbrock4_controller<odeint::rosenbrock4<double>> stepper(options.atol, options.rtol);
  Clock clock(options, t0);
  Vector x(n + 1), previous(n + 1);
  std::copy(y.begin(), y.end(), x.begin());
  x(n) = 1.0 + t0;
  const auto end = [&](Ending ending) { return Integration{ending, clock.t(), clock.attempts() + steps_before}; };
  if (t0 == 0.0 && visit(0.0, y, steps_before)) return end(Ending::stopped);
  while (!clock.at_end()) {
    if (clock.attempts() + steps_before >= options.max_steps) return end(Ending::step_limit);
    previous = x;
    met_not_finite = false;
    const auto verdict = clock.attempt([&](double& s, double& ds) {
      const double tried = ds;
      if (stepper.try_step(std::make_pair(std::cref(system), std::cref(slope)), x, s, ds) != odeint::success) return false;
      if (all_finite(x)) return true;  // the controller accepts an error that is NaN
      x = previous;
      ds = tried / 5;
      return false;
    });
    if (verdict == Clock::rejected) {
      if (!clock.stuck()) continue;
      return end(met_not_finite ? Ending::not_finite : Ending::no_progress);
    }
    std::copy_n(x.begin(), n, y.begin());
    if (visit(clock.t(), y, clock.attempts() + steps_before)) return end(Ending::stopped);
  }
  return end(Ending::until);
}

}  // namespace phaselock
