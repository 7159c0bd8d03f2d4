// The integrators on systems whose solutions are known: accuracy, order, save times, named endings.
#include "flow/integrate.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "model/errors.hpp"

using namespace phaselock;

namespace {

const StepVisitor keep_going = [](double, const State&, std::int64_t) { return false; };

/// dy/dt = -y^2 from 1: y = 1 / (1 + t), the law of late residuals.
const VectorField decay = [](const State& y, State& dydt) { dydt[0] = -y[0] * y[0]; };
const JacobianField decay_slope = [](const State& y, std::vector<double>& J) { J[0] = -2.0 * y[0]; };

/// dy0/dt = y1, dy1/dt = -y0: (cos t, -sin t).
const VectorField rotation = [](const State& y, State& dydt) { dydt = {y[1], -y[0]}; };

/// Either integrator, so that every promise of the interface is asked of both.
using Integrator = Integration (*)(State& y, const IntegrateOptions& options, const StepVisitor& visit);
Integration explicit_decay(State& y, const IntegrateOptions& options, const StepVisitor& visit) {
  return integrate(decay, y, options, visit);
}
Integration stiff_decay(State& y, const IntegrateOptions& options, const StepVisitor& visit) {
  return integrate_stiff(decay, decay_slope, y, options, visit);
}
constexpr Integrator both[] = {explicit_decay, stiff_decay};

/// Error at s = 4 with steps of length h in s: every error is tolerated, and the save times force the steps.
double error_at_steps(Integrator integrator, double h) {
  constexpr double end = 4.0;
  IntegrateOptions options;
  options.until = std::expm1(end);
  options.rtol = options.atol = 1e6;
  for (int k = 1; k < std::lround(end / h); ++k) options.save_at.push_back(std::expm1(k * h));
  State y = {1.0};
  REQUIRE(integrator(y, options, keep_going).ending == Ending::until);
  return std::abs(y[0] - std::exp(-end));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a closed form is met up to t = 1e9 in a few hundred steps") {
    IntegrateOptions options;
    options.until = 1e9;
    options.atol = 1e-20;  // so that the relative error counts at y = 1e-9 too
    options.save_at = {1e-3, 1.0, 1e4};
    State y = {1.0};
    double worst = 0.0;
    const Integration end = integrate(decay, y, options, [&](double t, const State& state, std::int64_t) {
      worst = std::max(worst, std::abs(state[0] * (1.0 + t) - 1.0));
      return false;
    });
    CHECK(end.ending == Ending::until);
    CHECK(end.t == 1e9);
    CHECK(end.steps < 500);
    CHECK(worst < 1e-8);
    CHECK(std::abs(y[0] * 1e9 - 1.0) < 1e-8);
  }

  TEST_CASE("the error of the explicit integrator follows the tolerance") {
    for (const double rtol : {1e-5, 1e-7, 1e-9}) {
      IntegrateOptions options;
      options.until = 20.0;
      options.rtol = rtol;
      options.atol = rtol;
      State y = {1.0, 0.0};
      integrate(rotation, y, options, keep_going);
      const double error = std::hypot(y[0] - std::cos(20.0), y[1] + std::sin(20.0));
      CHECK(error < 100 * rtol);
      CHECK(error > 1e-4 * rtol);  // no more work than was asked for
    }
  }

  TEST_CASE("the explicit integrator is of order 7 at least, the stiff one of order 4") {
    const auto order = [](Integrator integrator, double h) {
      return std::log2(error_at_steps(integrator, h) / error_at_steps(integrator, h / 2));
    };
    CHECK(order(explicit_decay, 0.5) > 6.5);
    // With the clock as an explicit variable of the field the stiff stepper is of order 1: this is the test against that trap.
    CHECK(order(stiff_decay, 0.2) == doctest::Approx(4.0).epsilon(0.1));
    CHECK(order(stiff_decay, 0.1) == doctest::Approx(4.0).epsilon(0.1));
  }

  TEST_CASE("the stiff integrator keeps its tolerance, and long steps where the explicit one crawls") {
    // A fast variable that follows a slow one: dy0/dt = 1000 (y1 - y0), dy1/dt = -y1^2.
    const VectorField field = [](const State& y, State& dydt) { dydt = {1000.0 * (y[1] - y[0]), -y[1] * y[1]}; };
    const JacobianField slope = [](const State& y, std::vector<double>& J) { J = {-1000.0, 1000.0, 0.0, -2.0 * y[1]}; };
    IntegrateOptions options;
    options.until = 1e6;
    options.rtol = 1e-8;
    options.atol = 1e-12;
    options.max_steps = 20000;
    State y = {0.0, 1.0};
    const Integration end = integrate_stiff(field, slope, y, options, keep_going);
    CHECK(end.ending == Ending::until);
    CHECK(end.steps < 5000);
    CHECK(std::abs(y[1] * (1.0 + 1e6) - 1.0) < 1e-5);
    CHECK(std::abs(y[0] / y[1] - 1.0) < 1e-5);

    y = {0.0, 1.0};
    options.stiff_after = 200;
    const Integration crawling = integrate(field, y, options, keep_going);
    CHECK(crawling.ending == Ending::stiff);
    CHECK(crawling.t < 1e6);
    IntegrationPoint from = IntegrationPoint::at(crawling.t, crawling.steps);
    const Integration resumed = integrate_stiff(field, slope, y, from, options, keep_going);
    CHECK(resumed.ending == Ending::until);
    CHECK(resumed.steps > crawling.steps);
    CHECK(std::abs(y[1] * (1.0 + 1e6) - 1.0) < 1e-5);

    y = {0.0, 1.0};
    options.stiff_after = 0;
    options.max_steps = 2000;
    CHECK(integrate(field, y, options, keep_going).ending == Ending::step_limit);
  }

  TEST_CASE("steps land on the save times exactly, in increasing order, starting with t = 0") {
    for (const Integrator integrator : both) {
      IntegrateOptions options;
      options.until = 1e5;
      options.save_at = {0.5, 0.5000001, 3.0, 1e4, 1e5};
      std::vector<double> times;
      std::vector<std::int64_t> counts;
      State y = {1.0};
      integrator(y, options, [&](double t, const State&, std::int64_t steps) {
        times.push_back(t);
        counts.push_back(steps);
        return false;
      });
      CHECK(times.front() == 0.0);
      CHECK(times.back() == 1e5);
      CHECK(std::is_sorted(times.begin(), times.end(), std::less_equal<>()));
      CHECK(std::is_sorted(counts.begin(), counts.end()));
      const std::set<double> met(times.begin(), times.end());
      for (const double t : options.save_at) CHECK(met.count(t) == 1);
    }
  }

  TEST_CASE("visitors see the flow at least twice per unit of log time") {
    for (const Integrator integrator : both) {
      IntegrateOptions options;
      options.until = 1e9;
      options.rtol = options.atol = 1e3;
      double last = 0.0, longest = 0.0;
      State y = {1.0};
      integrator(y, options, [&](double t, const State&, std::int64_t) {
        longest = std::max(longest, std::log1p(t) - last);
        last = std::log1p(t);
        return false;
      });
      CHECK(longest <= 0.501);
    }
  }

  TEST_CASE("an integration that is split in two at some time ends at the same place") {
    IntegrateOptions options;
    options.until = 50.0;
    State y = {1.0, 0.0};
    const Integration first = integrate(rotation, y, options, keep_going);
    bool started_again = false;
    options.until = 100.0;
    IntegrationPoint from = IntegrationPoint::at(first.t, first.steps);
    const Integration second = integrate(rotation, y, from, options, [&](double t, const State&, std::int64_t) {
      started_again = started_again || t <= 50.0;
      return false;
    });
    CHECK(second.t == 100.0);
    CHECK(second.steps > first.steps);
    CHECK(!started_again);
    CHECK(y[0] == doctest::Approx(std::cos(100.0)).epsilon(1e-7));
  }

  TEST_CASE("an exception leaves state and point at the last accepted step: going on gives the same bits, the steppers' own too") {
    IntegrateOptions options;
    options.until = 1e4;
    options.save_at = {3.0, 100.0};
    const auto integrator = [&](bool stiff, State& y, IntegrationPoint& point, const VectorField& field, const StepVisitor& visit) {
      return stiff ? integrate_stiff(field, decay_slope, y, point, options, visit) : integrate(field, y, point, options, visit);
    };
    for (const bool stiff : {false, true}) {
      CAPTURE(stiff);
      std::vector<double> times;
      const auto note = [&](double t, const State&, std::int64_t) {
        times.push_back(t);
        return false;
      };
      State whole = {1.0};
      IntegrationPoint whole_point;
      const Integration end = integrator(stiff, whole, whole_point, decay, note);
      const std::vector<double> whole_times = std::exchange(times, {});
      // Thrown out of the field now and then, and out of the visitor at every third visit.
      State y = {1.0};
      IntegrationPoint point;
      Integration resumed{};
      int calls = 0, visits = 0, interruptions = 0;
      const VectorField field = [&](const State& state, State& dydt) {
        if (++calls % 97 == 0) throw Interrupted();
        decay(state, dydt);
      };
      for (bool done = false; !done;) try {
          resumed = integrator(stiff, y, point, field, [&](double t, const State& state, std::int64_t steps) {
            if (++visits % 3 == 0) throw Interrupted();
            return note(t, state, steps);
          });
          done = true;
        } catch (const Interrupted&) {
          ++interruptions;
        }
      CHECK(interruptions > 20);
      CHECK(times == whole_times);
      CHECK(y == whole);
      CHECK(resumed.t == end.t);
      CHECK(resumed.steps == end.steps);
      CHECK(point.growth == whole_point.growth);
    }
  }

  TEST_CASE("ending: stopped by the visitor, at t = 0 too; the state belongs to the time") {
    for (const Integrator integrator : both) {
      State y = {1.0};
      const Integration end = integrator(y, {}, [](double t, const State&, std::int64_t) { return t > 10.0; });
      CHECK(end.ending == Ending::stopped);
      CHECK(end.t > 10.0);
      CHECK(end.t < 20.0);
      CHECK(y[0] * (1.0 + end.t) == doctest::Approx(1.0).epsilon(1e-6));
      State untouched = {1.0};
      const Integration at_once = integrator(untouched, {}, [](double, const State&, std::int64_t) { return true; });
      CHECK(at_once.ending == Ending::stopped);
      CHECK(at_once.t == 0.0);
      CHECK(untouched[0] == 1.0);
    }
  }

  TEST_CASE("ending: step_limit counts attempts of all integrators together") {
    for (const Integrator integrator : both) {
      IntegrateOptions options;
      options.max_steps = 7;
      State y = {1.0};
      const Integration end = integrator(y, options, keep_going);
      CHECK(end.ending == Ending::step_limit);
      CHECK(end.steps == 7);
      CHECK(end.t < options.until);
    }
    IntegrateOptions options;
    options.max_steps = 7;
    State y = {1.0};
    IntegrationPoint from = IntegrationPoint::at(1.0, 5);
    CHECK(integrate(decay, y, from, options, keep_going).steps == 7);
  }

  TEST_CASE("ending: not_finite at once, and where the field becomes NaN or infinite on the way") {
    const JacobianField none = [](const State&, std::vector<double>& J) { J[0] = 0.0; };
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (const double wall : {-1.0, 5.0}) {
        const VectorField field = [=](const State& y, State& dydt) { dydt[0] = y[0] > wall ? bad : 1.0; };
        State y = {0.0};
        const Integration end = integrate(field, y, {}, keep_going);
        CHECK(end.ending == Ending::not_finite);
        CHECK(std::isfinite(y[0]));
        CHECK(end.t <= 5.0 + 1e-6);
        CHECK(end.t == doctest::Approx(y[0]).epsilon(1e-9));
        State z = {0.0};
        const Integration stiff_end = integrate_stiff(field, none, z, {}, keep_going);
        CHECK(stiff_end.ending == Ending::not_finite);
        CHECK(std::isfinite(z[0]));
        CHECK(stiff_end.t <= 5.0 + 1e-6);
      }
  }

  TEST_CASE("ending: no_progress at a finite-time singularity, and where the tolerance cannot be met") {
    const VectorField field = [](const State& y, State& dydt) { dydt[0] = y[0] * y[0]; };  // 1 / (1 - t)
    State y = {1.0};
    const Integration end = integrate(field, y, {}, keep_going);
    CHECK(end.ending == Ending::no_progress);
    CHECK(end.t == doctest::Approx(1.0).epsilon(1e-6));
    for (const Integrator integrator : both) {
      IntegrateOptions options;
      options.rtol = options.atol = 1e-300;
      State z = {1.0};
      const Integration stuck = integrator(z, options, keep_going);
      CHECK(stuck.ending == Ending::no_progress);
      CHECK(stuck.t < 1.0);
    }
  }

  TEST_CASE("every ending has a name of its own") {
    std::set<std::string_view> names;
    for (const Ending ending :
         {Ending::until, Ending::stopped, Ending::stiff, Ending::step_limit, Ending::no_progress, Ending::not_finite})
      names.insert(name(ending));
    CHECK(names.size() == 6);
    CHECK(names.count("") == 0);
  }
}
