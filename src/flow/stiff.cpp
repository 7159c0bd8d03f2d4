// Rosenbrock's method of order 4. Boost 1.74's implementation needs C++17, so this file stands alone.
#include <boost/numeric/odeint/stepper/rosenbrock4.hpp>
#include <boost/numeric/odeint/stepper/rosenbrock4_controller.hpp>
#include <boost/numeric/ublas/matrix.hpp>
#include <boost/numeric/ublas/vector.hpp>

#include <cmath>
#include <utility>

#include "flow/clock.hpp"
#include "flow/integrate.hpp"

namespace phaselock {

namespace odeint = boost::numeric::odeint;
namespace ublas = boost::numeric::ublas;

namespace {

/// The controller with its memory of the last accepted step in reach.
class Controller : public odeint::rosenbrock4_controller<odeint::rosenbrock4<double>> {
 public:
  Controller(const IntegrateOptions& options, const IntegrationPoint& from)
      : odeint::rosenbrock4_controller<odeint::rosenbrock4<double>>(options.atol, options.rtol) {
    m_first_step = from.last_step == 0.0;
    m_dt_old = from.last_step;
    m_err_old = from.error;
  }
  double last_step() const { return m_dt_old; }
};

}  // namespace

Integration integrate_stiff(const VectorField& field, const JacobianField& jacobian, State& y, IntegrationPoint& point,
                            const IntegrateOptions& options, const StepVisitor& visit) {
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
  Controller stepper(options, point);
  Vector x(n + 1), previous(n + 1);
  std::copy(y.begin(), y.end(), x.begin());
  x(n) = point.growth > 0.0 ? point.growth : 1.0 + point.t;
  const auto step = [&](double& s, double& ds) {
    const double tried = ds;
    previous = x;
    met_not_finite = false;
    if (stepper.try_step(std::make_pair(std::cref(system), std::cref(slope)), x, s, ds) != odeint::success) return false;
    if (all_finite(x)) return true;  // the controller accepts an error that is NaN
    x = previous;
    ds = tried / 5;
    return false;
  };
  const auto keep = [&] {
    std::copy_n(x.begin(), n, y.begin());
    point.growth = x(n);
    point.last_step = stepper.last_step();
    point.error = stepper.last_error();
  };
  return march(y, point, options, visit, 0, met_not_finite, step, keep);
}

Integration integrate_stiff(const VectorField& field, const JacobianField& jacobian, State& y, const IntegrateOptions& options,
                            const StepVisitor& visit) {
  IntegrationPoint start;
  return integrate_stiff(field, jacobian, y, start, options, visit);
}

}  // namespace phaselock
