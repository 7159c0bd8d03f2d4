// Adaptive integration of an autonomous system dy/dt = f(y) in logarithmic time s = log(1 + t), with named endings.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace phaselock {

using State = std::vector<double>;
/// Writes f(y) to dydt, both of the state's length.
using VectorField = std::function<void(const State& y, State& dydt)>;
/// Called after every accepted step, and at t = 0, with time, state and number of steps; true stops the integration.
using StepVisitor = std::function<bool(double t, const State& y, std::int64_t steps)>;

struct IntegrateOptions {
  double until = 1e6;  ///< end time, > 0
  double rtol = 1e-10, atol = 1e-12;
  std::int64_t max_steps = 100000;  ///< attempted steps, accepted or not
  std::vector<double> save_at;      ///< times in increasing order that a step must end on
  std::int64_t stiff_after = 0;     ///< end as `stiff` after so many consecutive steps shorter than 0.02 in s; 0: never
};

enum class Ending {
  until,        ///< reached the end time
  stopped,      ///< the visitor asked to stop
  stiff,        ///< the explicit stepper crawls; the caller may go on with integrate_stiff
  step_limit,   ///< max_steps attempted
  no_progress,  ///< the step fell below the resolution of the clock
  not_finite,   ///< the field or the state is NaN or infinite
};

std::string_view name(Ending ending);

struct Integration {
  Ending ending;
  double t;            ///< time reached; the state belongs to it
  std::int64_t steps;  ///< attempted steps so far, all steppers together
};

/// Integrates y from `t0` on with the explicit Runge-Kutta-Fehlberg 7(8) pair, error per step at most atol + rtol |y|.
Integration integrate(const VectorField& field, State& y, const IntegrateOptions& options, const StepVisitor& visit,
                      double t0 = 0.0, std::int64_t steps_before = 0);

/// The same with Rosenbrock's method of order 4, for small stiff systems. `jacobian` writes df_i/dy_j, row-major.
using JacobianField = std::function<void(const State& y, std::vector<double>& jacobian)>;
Integration integrate_stiff(const VectorField& field, const JacobianField& jacobian, State& y, const IntegrateOptions& options,
                            const StepVisitor& visit, double t0 = 0.0, std::int64_t steps_before = 0);

}  // namespace phaselock
