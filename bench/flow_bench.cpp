// Static flows of one size, in SIMD lanes and with a plain scalar loop over Odeint: one JSON line with microseconds a seed.
//   flow_bench [--seeds N] [--repeat N]   the timings; smallest CPU time of one thread over the repetitions, peers interleaved
//   flow_bench --initial N                initial biases [N][24] of the same seeds, as JSON, for bench/peers/scipy_flow.py
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <boost/numeric/odeint/integrate/integrate_adaptive.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/generation/generation_controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/generation/generation_runge_kutta_fehlberg78.hpp>
#include <boost/numeric/odeint/stepper/generation/make_controlled.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/ensemble.hpp"
#include "kernels/ensemble_kernel.hpp"
#include "loss/static_loss.hpp"
#include "model/gates.hpp"

using namespace phaselock;

namespace {

const SingleBlock model{4, 4, 3, 64, 1.0, 1.0};
constexpr double kappa = 1.0, rho = 1e-3, until = 1e6, relative = 1e-8, absolute = 1e-10;

using Biases = std::vector<std::vector<double>>;

double cpu_microseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * double(now.tv_sec) + 1e-3 * double(now.tv_nsec);
}

Biases ensemble(const Biases& starts, const EnsembleOptions& options, double& steps) {
  Biases ends(starts.size());
  steps = 0.0;
  static_ensemble(
      model, kappa, std::int64_t(starts.size()), [&](std::int64_t k) { return starts[k]; }, options,
      [&](std::int64_t k, EnsembleFlow&& flow) {
        steps += double(flow.steps) / double(starts.size());
        ends[k] = std::move(flow.bias);
      });
  return ends;
}

/// What one writes without packs: Odeint's controlled Fehlberg 7(8) on a vector, the closed form as right-hand side.
Biases scalar_loop(const Biases& starts) {
  namespace odeint = boost::numeric::odeint;
  Biases ends = starts;
  const double c = static_speed(model, kappa);
  for (std::vector<double>& bias : ends)
    odeint::integrate_adaptive(
        odeint::make_controlled(absolute, relative, odeint::runge_kutta_fehlberg78<std::vector<double>>()),
        [c](const std::vector<double>& b, std::vector<double>& dbds, double s) {
          static_bias_loss(model, b.data(), dbds.data());
          for (double& v : dbds) v *= -c * std::exp(s);
        },
        bias, 0.0, std::log1p(until), 0.1);
  return ends;
}

/// Median and largest over seeds of the largest difference of a bias.
std::pair<double, double> errors(const Biases& found, const Biases& exact) {
  std::vector<double> errors;
  for (std::size_t k = 0; k < found.size(); ++k) {
    double error = 0.0;
    for (std::size_t j = 0; j < found[k].size(); ++j) error = std::max(error, std::abs(found[k][j] - exact[k][j]));
    errors.push_back(error);
  }
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors.back()};
}

}  // namespace

int main(int count, char** arguments) {
  int seeds = 64, repeat = 9;
  bool initial = false;
  for (int k = 1; k + 1 < count; k += 2) {
    const std::string_view name = arguments[k];
    if (name == "--repeat") {
      repeat = std::max(1, std::atoi(arguments[k + 1]));
    } else {
      seeds = std::max(1, std::atoi(arguments[k + 1]));
      initial = name == "--initial";
    }
  }
  Biases starts;
  for (int k = 1; k <= seeds; ++k) starts.push_back(initial_bias(model, kappa, rho, std::uint64_t(k)));
  if (initial) {
    fmt::print("{}\n", starts);
    return 0;
  }
  double lanes_us = INFINITY, scalar_us = INFINITY, steps = 0.0, exact_steps = 0.0;
  Biases in_lanes, in_turn;
  const auto timed = [&](double& least, const std::function<void()>& run) {
    const double begin = cpu_microseconds();
    run();
    least = std::min(least, (cpu_microseconds() - begin) / seeds);
  };
  for (int round = 0; round < repeat; ++round) {
    timed(lanes_us,
          [&] { in_lanes = ensemble(starts, {.until = until, .rtol = relative, .atol = absolute, .stiff_after = 0}, steps); });
    timed(scalar_us, [&] { in_turn = scalar_loop(starts); });
  }
  const EnsembleOptions accurate{.until = until, .rtol = 1e-13, .atol = 1e-15, .max_steps = 100000, .stiff_after = 0};
  const Biases exact = ensemble(starts, accurate, exact_steps);
  const auto [median, largest] = errors(in_lanes, exact);
  const auto [scalar_median, scalar_largest] = errors(in_turn, exact);
  fmt::print(
      "{{\"us_per_seed\": {:.3f}, \"target\": \"{}\", \"steps_per_seed\": {:.2f}, \"error\": {:.3g}, \"error_median\": {:.3g}, "
      "\"scalar_us_per_seed\": {:.3f}, \"scalar_error\": {:.3g}, \"scalar_error_median\": {:.3g}}}\n",
      lanes_us, ensemble_target(), steps, largest, median, scalar_us, scalar_largest, scalar_median);
}
