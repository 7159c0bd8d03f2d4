// Static flows in SIMD lanes: kernels of every instruction set against the closed form, flows against references and static_flow.
#include "kernels/ensemble.hpp"

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <limits>

#include "flow/escape.hpp"
#include "flow/flow.hpp"
#include "kernels/ensemble_kernel.hpp"
#include "kernels/seed_threads.hpp"
#include "loss/static_loss.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/interrupt.hpp"
#include "proofs/trapping.hpp"
#include "support.hpp"

namespace phaselock::HWY_NAMESPACE {
#include "kernels/pack-inl.hpp"
}

using namespace phaselock;
using test::relative_error;

namespace {

const SingleBlock usual{4, 4, 3, 64, 1.0, 1.0};

using Starts = std::vector<std::vector<double>>;

std::vector<EnsembleFlow> flows(const SingleBlock& model, double kappa, const Starts& starts, const EnsembleOptions& options) {
  std::vector<EnsembleFlow> result(starts.size());
  static_ensemble(
      model, kappa, std::int64_t(starts.size()), [&](std::int64_t k) { return starts[k]; }, options,
      [&](std::int64_t k, EnsembleFlow&& flow) { result[k] = std::move(flow); });
  return result;
}

Starts seeds(const SingleBlock& model, int count, double rho = 1e-2) {
  Starts starts;
  for (int k = 0; k < count; ++k) starts.push_back(initial_bias(model, 1.0, rho, 1 + k));
  return starts;
}

bool same(const EnsembleFlow& a, const EnsembleFlow& b) {
  const bool escapes = a.escape == b.escape || (std::isnan(a.escape) && std::isnan(b.escape));
  return a.ending == b.ending && a.t == b.t && escapes && a.steps == b.steps && a.bias == b.bias;
}

/// Runs `body` with the kernels of each instruction set that this CPU has.
template <class Body>
void for_each_target(Body body) {
  for (const std::int64_t target : ensemble_targets()) {
    hwy::SetSupportedTargetsForTest(target);
    INFO(ensemble_target());
    CHECK(ensemble_target() == hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

/// Options that follow a flow as closely as static_flow does by default.
EnsembleOptions close_to(double until) {
  return {.until = until, .rtol = 1e-10, .atol = 1e-12, .max_steps = 100000, .stiff_after = 0};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("exp of a pack: relative error below 1e-15 + 4e-17 |x|, 0 far below, NaN for NaN") {
    using phaselock::HWY_NAMESPACE::Pack;
    const auto exp_of = [](double x) {
      Pack pack[3] = {x, 0.0, x};
      phaselock::HWY_NAMESPACE::exponentials(pack, 3);
      double lanes[HWY_MAX_BYTES / sizeof(double)];
      pack[2].store(lanes);
      return lanes[0];
    };
    for (double x = -700.0; x < 709.0; x += 0.01237) CHECK(std::abs(exp_of(x) / std::exp(x) - 1.0) < 1e-15 + 4e-17 * std::abs(x));
    CHECK(exp_of(0.0) == 1.0);
    CHECK(exp_of(-1e4) < 1e-300);
    CHECK(exp_of(-INFINITY) < 1e-300);
    CHECK(std::isnan(exp_of(NAN)));
  }

  TEST_CASE("velocities of every instruction set are those of the closed form") {
    CHECK(!ensemble_targets().empty());
    for_each_target([] {
      Stream stream(31, Purpose::choice);
      for (int round = 0; round < 200; ++round) {
        const SingleBlock model = round % 4 == 0
                                      ? SingleBlock{4, 4, 3, 16 + int(stream.below(999)), 1.0, 0.1 + 8.0 * stream.uniform()}
                                      : test::random_theorem_model(stream, 8);
        const auto kernel = ensemble_kernel(model, 0.7);
        const std::size_t lanes = kernel->lanes(), count = 2 * model.branch_rows();
        const double scale = std::pow(10.0, 4.0 * stream.uniform() - 3.0);
        const std::vector<double> normal = test::normals(count * lanes, scale, 1000 + round);
        const LaneNumbers b(normal.begin(), normal.end());
        LaneNumbers s(lanes), step(lanes), out(count * lanes), residual(lanes), key(lanes);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          s[lane] = 10.0 * stream.uniform();
          step[lane] = stream.uniform();
        }
        const Peaks peaks{residual.data(), key.data()};
        kernel->velocity(b.data(), s.data(), step.data(), 0.25, out.data(), &peaks);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          std::vector<double> bias(count), expected(count), found(count);
          for (std::size_t k = 0; k < count; ++k) bias[k] = b[k * lanes + lane];
          static_bias_loss(model, bias.data(), expected.data());
          for (std::size_t k = 0; k < count; ++k) {
            expected[k] *= -0.7 * step[lane] * std::exp(s[lane] + 0.25 * step[lane]);
            found[k] = out[k * lanes + lane];
          }
          const double size = step[lane] * std::exp(s[lane]);  // of a derivative before what cancels has cancelled
          for (std::size_t k = 0; k < count; ++k) CHECK(std::abs(found[k] - expected[k]) < 1e-14 * model.beta * size);
          const std::vector<double> weights = static_weights(model, bias);
          double least = 1.0;
          for (std::size_t row = 0; row < count; row += model.positions)
            least = std::min(least, *std::max_element(&weights[row], &weights[row] + model.positions));
          CHECK(residual[lane] == doctest::Approx(1.0 - least).epsilon(1e-12).scale(1.0));
          CHECK(key[lane] == doctest::Approx(*std::max_element(weights.begin(), weights.begin() + count / 2)).epsilon(1e-12));
          CHECK(key[lane] == doctest::Approx(largest_key_weight(model, bias.data())).epsilon(1e-12));
        }
      }
    });
  }

  TEST_CASE("reference flows: gate weights to 1e-6 at every saved time, on every instruction set") {
    for_each_target([] {
      for (const auto& c : test::read_json("static_flow_cases.json")) {
        const SingleBlock model = test::model_of(c);
        const std::vector<double> bias = test::flatten(c["bias0"]);
        for (const auto& state : c["states"]) {
          const EnsembleFlow flow = flows(model, c["kappa"], {bias}, close_to(state["t"]))[0];
          CHECK(flow.ending == EnsembleEnding::until);
          CHECK(flow.t == state["t"]);
          std::vector<double> expected = test::flatten(state["pK"]);
          const std::vector<double> value = test::flatten(state["pV"]), weights = static_weights(model, flow.bias);
          expected.insert(expected.end(), value.begin(), value.end());
          REQUIRE(weights.size() == expected.size());
          for (std::size_t j = 0; j < expected.size(); ++j) CHECK(std::abs(weights[j] - expected[j]) < 1e-6);
        }
      }
    });
  }

  TEST_CASE("flows of random models end where static_flow's do") {
    Stream stream(32, Purpose::choice);
    for (int round = 0; round < 12; ++round) {
      const SingleBlock model = test::random_theorem_model(stream);
      const double kappa = 2.0 * stream.uniform(), until = std::pow(10.0, 1.0 + 2.5 * stream.uniform());
      Starts starts;
      for (int k = 0; k < 7; ++k) starts.push_back(test::normals(2 * model.branch_rows(), 0.1, 100 * round + k));
      const std::vector<EnsembleFlow> found = flows(model, kappa, starts, close_to(until));
      FlowOptions options;
      options.stop = StopRule::time;
      options.integration.until = until;
      for (std::size_t k = 0; k < starts.size(); ++k) {
        CHECK(found[k].t == until);
        CHECK(relative_error(found[k].bias, static_flow(model, kappa, starts[k], options).state) < 1e-6);
      }
    }
  }

  TEST_CASE("a flow does not see its neighbours: alone, in any company and beside NaN it has the same bits") {
    EnsembleOptions options;
    options.residual = 1e-2;
    const Starts starts = seeds(usual, 19, 0.1);
    const std::vector<EnsembleFlow> together = flows(usual, 1.0, starts, options);
    for (std::size_t k = 0; k < starts.size(); ++k) {
      CHECK(together[k].ending == EnsembleEnding::peaked);
      CHECK(same(flows(usual, 1.0, {starts[k]}, options)[0], together[k]));
    }
    for (std::size_t count = 0; count <= starts.size(); ++count) {
      const std::vector<EnsembleFlow> some = flows(usual, 1.0, Starts(starts.begin(), starts.begin() + count), options);
      for (std::size_t k = 0; k < count; ++k) CHECK(same(some[k], together[k]));
    }
    for (const double poison : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      Starts poisoned = starts;
      poisoned[5][7] = poison;
      const std::vector<EnsembleFlow> others = flows(usual, 1.0, poisoned, options);
      CHECK(others[5].ending == EnsembleEnding::given_up);
      for (std::size_t k = 0; k < starts.size(); ++k)
        if (k != 5) CHECK(same(others[k], together[k]));
    }
  }

  TEST_CASE("endings: peaked below the residual, given up when steps run out or a stiff flow crawls, an interrupt is obeyed") {
    EnsembleOptions options;
    options.residual = 1e-2;
    const EnsembleFlow flow = flows(usual, 1.0, seeds(usual, 1), options)[0];
    CHECK(flow.ending == EnsembleEnding::peaked);
    const GateObservation gates = observe_static(usual, flow.bias);
    CHECK(gates.residual < 1e-2);
    CHECK(gates.residual > 1e-3);
    options.max_steps = 20;
    const EnsembleFlow cut = flows(usual, 1.0, seeds(usual, 1), options)[0];
    CHECK(cut.ending == EnsembleEnding::given_up);
    CHECK(cut.steps == 20);
    CHECK(cut.t < flow.t);
    const SingleBlock meeting{4, 4, 3, 1000, 1.0, 8.0};  // seed 1 ends at an interior equilibrium
    const EnsembleFlow stiff = flows(meeting, 1.0, seeds(meeting, 1), {})[0];
    CHECK(stiff.ending == EnsembleEnding::given_up);
    CHECK(stiff.steps < 200);
    interrupt_flag() = true;
    CHECK_THROWS_AS(flows(usual, 1.0, seeds(usual, 1), options), Interrupted);
    interrupt_flag() = false;
  }

  TEST_CASE("a flow taken up where another ended goes on as that one would have") {
    const Starts starts = seeds(usual, 5, 0.1);
    for (const auto& bias : starts) {
      const EnsembleFlow whole = flows(usual, 1.0, {bias}, close_to(1e4))[0], first = flows(usual, 1.0, {bias}, close_to(300.0))[0];
      EnsembleFlow second;
      static_ensemble(
          usual, 1.0, 1, [&](std::int64_t) { return EnsembleStart(first.bias, first.t); }, close_to(1e4),
          [&](std::int64_t, EnsembleFlow&& flow) { second = std::move(flow); });
      CHECK(second.t == 1e4);
      CHECK(relative_error(second.bias, whole.bias) < 1e-7);
      CHECK((std::isnan(first.escape) ? second.escape : first.escape) == doctest::Approx(whole.escape).epsilon(1e-6));
    }
  }

  TEST_CASE("error per seed is no larger than DOP853's at the same tolerances") {
    // SciPy's DOP853 over the same 64 seeds: median 1.2e-7, largest 7.5e-6 (bench/peers/scipy_flow.py).
    const Starts starts = seeds(usual, 64, 1e-3);
    EnsembleOptions exact = close_to(1e6), options;
    exact.rtol = 1e-13;
    exact.atol = 1e-15;
    const std::vector<EnsembleFlow> reference = flows(usual, 1.0, starts, exact), found = flows(usual, 1.0, starts, options);
    std::vector<double> errors;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      CHECK(found[k].ending == EnsembleEnding::until);
      double error = 0.0;
      for (std::size_t j = 0; j < starts[k].size(); ++j) error = std::max(error, std::abs(found[k].bias[j] - reference[k].bias[j]));
      errors.push_back(error);
    }
    std::sort(errors.begin(), errors.end());
    CHECK(errors[32] < 1.23e-7);
    CHECK(errors.back() < 7.4e-6);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("coverage in lanes gives every seed the outcome and selection of static_flow") {
    struct Case {
      SingleBlock model;
      int seeds;
      double rho;
      StopRule stop;
    };
    const std::vector<Case> cases = {
        {{4, 4, 3, 1000, 1.0, 1.0}, 60, 1e-2, StopRule::residual}, {{4, 4, 3, 20, 1.0, 1.0}, 60, 1e-2, StopRule::residual},
        {{4, 4, 3, 1000, 1.0, 8.0}, 30, 1e-2, StopRule::residual},  // a third of these end at interior equilibria
        {{4, 4, 3, 100, 1.0, 8.0}, 60, 1e-2, StopRule::residual},  {{4, 3, 2, 64, 0.5, 4.0}, 60, 0.5, StopRule::residual},
        {{5, 5, 4, 60, 0.8, 3.0}, 40, 1e-2, StopRule::certified},  {{4, 4, 1, 64, 1.0, 1.0}, 60, 1e-4, StopRule::certified}};
    for (const Case& c : cases) {
      SeedOptions options;
      options.rho = c.rho;
      options.flow.stop = c.stop;
      options.flow.trap = Trap(c.model);
      options.flow.integration.rtol = 1e-8;
      options.flow.integration.atol = 1e-10;
      const std::vector<SeedRecord> found = static_seeds_in_threads(c.model, 1.0, options, 1, c.seeds);
      tbb::parallel_for(0, c.seeds, [&](int k) {
        const FlowResult flow = static_flow(c.model, 1.0, initial_bias(c.model, 1.0, c.rho, 1 + k), options.flow);
        CHECK(found[k].end.outcome == flow.outcome);
        CHECK(found[k].end.selection ==
              (flow.equilibrium ? one_hot_heads(c.model, flow.equilibrium->weights) : flow.gates.selection));
      });
    }
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("flows split over threads in any way have the bits of one run") {
    EnsembleOptions options;
    options.residual = 1e-2;
    const Starts starts = seeds(usual, 40, 0.1);
    const std::vector<EnsembleFlow> once = flows(usual, 1.0, starts, options);
    for (const int threads : {1, 2, 8})
      for (const int at_once : {1, 7}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        tbb::parallel_for(0, 40, at_once, [&](int first) {
          const Starts part(starts.begin() + first, starts.begin() + std::min(40, first + at_once));
          const std::vector<EnsembleFlow> found = flows(usual, 1.0, part, options);
          for (std::size_t k = 0; k < part.size(); ++k) CHECK(same(found[k], once[first + k]));
        });
      }
  }
}
