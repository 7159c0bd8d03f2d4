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

/// Where an integration stands: at its start, or after its last accepted step. With the state y it is all that the rest depends
/// on.
struct IntegrationPoint {
  double t = 0.0, s = 0.0;       ///< s = log(1 + t), as the clock holds it
  double proposal = 1e-3;        ///< the step in s that is tried next
  std::int64_t steps = 0;        ///< attempted so far, all steppers together
  std::int64_t short_steps = 0;  ///< consecutive ones, for `stiff_after`
  bool visited = false;          ///< the visitor has seen this point
  // Memory of the stiff stepper; 0: none yet.
  double growth = 0.0;                  ///< its own 1 + t
  double last_step = 0.0, error = 0.0;  ///< of its last accepted step

  /// Where a stepper without memory takes over at time t.
  static IntegrationPoint at(double t, std::int64_t steps);
};

/// Integrates y from `point` on with the explicit Runge-Kutta-Fehlberg 7(8) pair, error per step at most atol + rtol |y|. y and
/// `point` stay at the last accepted step also when an exception passes (even from the visitor): the same call then goes on as if
/// nothing had happened, to the same bits.
Integration integrate(const VectorField& field, State& y, IntegrationPoint& point, const IntegrateOptions& options,
                      const StepVisitor& visit);

/// The same from t = 0.
Integration integrate(const VectorField& field, State& y, const IntegrateOptions& options, const StepVisitor& visit);

/// The same with Rosenbrock's method of order 4, for small stiff systems. `jacobian` writes df_i/dy_j, row-major.
using JacobianField = std::function<void(const State& y, std::vector<double>& jacobian)>;
Integration integrate_stiff(const VectorField& field, const JacobianField& jacobian, State& y, IntegrationPoint& point,
                            const IntegrateOptions& options, const StepVisitor& visit);
Integration integrate_stiff(const VectorField& field, const JacobianField& jacobian, State& y, const IntegrateOptions& options,
                            const StepVisitor& visit);

}  // namespace phaselock
