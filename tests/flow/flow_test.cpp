// Gradient flow of static biases and gate tables: references, invariants, classes of gates, endings (theory.md sections 3 and 5).
#include "flow/flow.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "kernels/table_loss.hpp"
#include "loss/static_loss.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/interrupt.hpp"
#include "sampled_flow.hpp"
#include "support.hpp"

using namespace phaselock;
using test::relative_error;
using test::table_flow;
using test::table_velocity;

namespace {

const SingleBlock small{4, 4, 3, 16, 1.0, 1.0};

FlowOptions until(double t, double rtol = 1e-10, double atol = 1e-12) {
  FlowOptions options;
  options.stop = StopRule::time;
  options.integration.until = t;
  options.integration.rtol = rtol;
  options.integration.atol = atol;
  return options;
}

FlowOptions with_trap(const SingleBlock& model, FlowOptions options) {
  options.trap = Trap(model);
  return options;
}

/// Linear flow at some geometry from the ball of radius rho on the least balanced sample.
FlowResult linear_flow(const SingleBlock& model, const Geometry& geometry, double rho, const FlowOptions& options) {
  return table_flow(model, geometry, sample_balanced(model, 1, 5), GateClass::linear, geometry.initial_tables(model, rho, 6),
                    options);
}

/// A loss told as start + told times the sum of slopes times tables, whose gradient is said to be the slopes: sums of tables are
/// not conserved and energy does not balance, both by known amounts.
class Slopes final : public Loss {
 public:
  Slopes(const Model& model, const Geometry& geometry, const Contexts& contexts, double start, double told)
      : Loss(model, geometry, contexts), start_(start), told_(told) {}
  using Loss::operator();
  double operator()(std::span<const double> tables, std::span<double> gradient) override {
    double loss = start_;
    for (std::size_t k = 0; k < tables.size(); ++k) {
      loss += told_ * slope(k) * tables[k];
      if (!gradient.empty()) gradient[k] = slope(k);
    }
    return loss;
  }
  PhaseCurve phases(std::span<const double> tables) const override {
    return phase_curve_tables(model(), geometry(), tables, contexts());
  }
  /// Of the key gates 0.003, of the value gates -0.002.
  double slope(std::size_t k) const { return k < model().table_size() / 2 ? 0.003 : -0.002; }

 private:
  double start_, told_;
};

void check_loss_never_rises(const FlowResult& flow) {
  REQUIRE(flow.samples.size() > 20);
  for (std::size_t k = 1; k < flow.samples.size(); ++k) CHECK(flow.samples[k].loss <= flow.samples[k - 1].loss + 1e-13);
  CHECK(flow.samples.back().loss < flow.samples.front().loss - 1e-4);
}

/// Biases of heads whose offsets are renamed: K offset r becomes rename[r], V offset r + 1 becomes rename[r] + 1.
std::vector<double> renamed(const SingleBlock& model, const std::vector<double>& bias, const std::vector<int>& rename) {
  std::vector<double> result = bias;
  for (int h = 0; h < model.heads; ++h)
    for (int r = 0; r < model.phases(); ++r) {
      result[row_index(model, key_branch, h, rename[r])] = bias[row_index(model, key_branch, h, r)];
      result[row_index(model, value_branch, h, rename[r] + 1)] = bias[row_index(model, value_branch, h, r + 1)];
    }
  return result;
}

/// All that a run folder shows of two flows, bit for bit.
void check_same(const FlowResult& a, const FlowResult& b) {
  CHECK(a.outcome == b.outcome);
  CHECK(a.ending == b.ending);
  CHECK(a.t == b.t);
  CHECK(a.steps == b.steps);
  CHECK(a.initial == b.initial);
  CHECK(a.state == b.state);
  CHECK(a.loss == b.loss);
  CHECK(a.energy_residual == b.energy_residual);
  CHECK(a.trap.has_value() == b.trap.has_value());
  CHECK(a.equilibrium.has_value() == b.equilibrium.has_value());
  if (a.equilibrium && b.equilibrium) CHECK(a.equilibrium->weights == b.equilibrium->weights);
  REQUIRE(a.saved.size() == b.saved.size());
  for (std::size_t k = 0; k < a.saved.size(); ++k) {
    CHECK(a.saved[k].t == b.saved[k].t);
    CHECK(a.saved[k].loss == b.saved[k].loss);
    CHECK(a.saved[k].weights == b.saved[k].weights);
  }
  REQUIRE(a.samples.size() == b.samples.size());
  bool same = true;
  for (std::size_t k = 0; k < a.samples.size(); ++k)
    same = same && a.samples[k].t == b.samples[k].t && a.samples[k].loss == b.samples[k].loss &&
           a.samples[k].weights == b.samples[k].weights;
  CHECK(same);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("reference static flows: gate weights to 1e-6 and the loss at every saved time") {
    for (const auto& c : test::read_json("static_flow_cases.json")) {
      const SingleBlock model = test::model_of(c);
      FlowOptions options = until(1.0);
      for (const auto& state : c["states"]) options.integration.save_at.push_back(state["t"]);
      options.integration.until = options.integration.save_at.back();
      const FlowResult flow = static_flow(model, c["kappa"], test::flatten(c["bias0"]), options);
      CHECK(flow.ending == Ending::until);
      REQUIRE(flow.saved.size() == c["states"].size());
      for (std::size_t k = 0; k < flow.saved.size(); ++k) {
        std::vector<double> expected = test::flatten(c["states"][k]["pK"]);
        const std::vector<double> value = test::flatten(c["states"][k]["pV"]);
        expected.insert(expected.end(), value.begin(), value.end());
        CHECK(flow.saved[k].t == c["states"][k]["t"]);
        REQUIRE(flow.saved[k].weights.size() == expected.size());
        for (std::size_t j = 0; j < expected.size(); ++j) CHECK(std::abs(flow.saved[k].weights[j] - expected[j]) < 1e-6);
        CHECK(flow.saved[k].loss == doctest::Approx(c["states"][k]["loss"].get<double>()).epsilon(1e-9));
      }
      CHECK(*flow.conserved_drift < 1e-8);
      CHECK(flow.energy_residual < 1e-8);
    }
  }

  TEST_CASE("static flow: the loss never rises, sums of biases are conserved, energy balances") {
    for (const SingleBlock& model : {SingleBlock{4, 4, 3, 1000, 1.0, 8.0}, SingleBlock{4, 3, 2, 12, 0.5, 2.0}}) {
      FlowOptions options = until(1e6);
      options.record = true;
      const FlowResult flow = static_flow(model, 0.5, test::normals(2 * model.branch_rows(), 0.1, 61), options);
      check_loss_never_rises(flow);
      REQUIRE(flow.conserved_drift.has_value());
      CHECK(*flow.conserved_drift < 1e-9);
      CHECK(flow.energy_residual < 1e-9);
      CHECK(flow.loss < flow.samples.front().loss - 1e-3);  // so that the balance is between numbers that count
    }
  }

  TEST_CASE("velocity of tables is -(gradient K); at exact geometry -(g + kappa sum_j g)") {
    const SingleBlock model{4, 3, 2, 14, 0.7, 3.0};
    const Contexts contexts = sample_independent(model, 4, 62);
    const std::vector<double> tables = test::normals(model.table_size(), 1.0, 63);
    const TableVelocity exact = table_velocity(model, Geometry::exact(0.6, 14), contexts, tables);
    std::vector<double> gradient(tables.size()), expected(tables.size());
    CHECK(exact.loss == table_loss(model, Geometry::exact(0.6, 14), contexts, tables, gradient));
    CHECK(exact.gradient == gradient);
    for (std::size_t row = 0; row < tables.size(); row += 14) {
      const double sum = std::accumulate(gradient.begin() + row, gradient.begin() + row + 14, 0.0);
      for (std::size_t i = row; i < row + 14; ++i) expected[i] = -(gradient[i] + 0.6 * sum);
    }
    CHECK(relative_error(exact.velocity, expected) < 1e-13);

    const Geometry perturbed = Geometry::perturbed(0.6, 0.05, 1, 14);
    const TableVelocity dense = table_velocity(model, perturbed, contexts, tables);
    for (std::size_t row = 0; row < tables.size(); row += 14)
      for (int i = 0; i < 14; ++i) {
        expected[row + i] = 0.0;
        for (int j = 0; j < 14; ++j) expected[row + i] -= dense.gradient[row + j] * perturbed.gram()(j, i);
      }
    CHECK(relative_error(dense.velocity, expected) < 1e-13);
  }

  TEST_CASE("a short flow moves by its velocity, for linear and static gates") {
    const Geometry geometry = Geometry::exact(1.0, 16);
    const Contexts contexts = sample_balanced(small, 1, 64);
    const std::vector<double> tables = test::normals(small.table_size(), 0.5, 65);
    constexpr double t = 1e-4;
    FlowResult flow = table_flow(small, geometry, contexts, GateClass::linear, tables, until(t));
    std::vector<double> moved(tables.size());
    for (std::size_t k = 0; k < tables.size(); ++k) moved[k] = (flow.state[k] - tables[k]) / t;
    CHECK(relative_error(moved, table_velocity(small, geometry, contexts, tables).velocity) < 1e-3);

    const std::vector<double> bias = test::normals(2 * small.branch_rows(), 0.5, 66);
    std::vector<double> gradient(bias.size()), step(bias.size());
    static_bias_loss(small, bias.data(), gradient.data());
    flow = static_flow(small, 2.0, bias, until(t));
    for (std::size_t k = 0; k < bias.size(); ++k) {
      step[k] = (flow.state[k] - bias[k]) / t;
      gradient[k] *= -(2.0 + 1.0 / 16);
    }
    CHECK(relative_error(step, gradient) < 1e-3);
  }

  TEST_CASE("linear flow at exact geometry: the loss never rises, sums of tables are conserved, energy balances") {
    FlowOptions options = until(2e3, 1e-8, 1e-10);
    options.record = true;
    const FlowResult flow = linear_flow(small, Geometry::exact(1.0, 16), 3.0, options);
    check_loss_never_rises(flow);
    REQUIRE(flow.conserved_drift.has_value());
    CHECK(*flow.conserved_drift < 1e-9);
    CHECK(flow.energy_residual < 1e-8);
    for (const Sample& sample : flow.samples) CHECK(sample.residual <= 1.0);
  }

  TEST_CASE("drift of conserved sums and energy residual are those of a flow that conserves neither") {
    const Model model{4, 3, 2, 12, 1.0, 1.0};
    const Geometry geometry = Geometry::exact(0.0, 12);  // velocity = -gradient
    const Contexts contexts = sample_balanced(model, 1, 5);
    for (const auto& [start, told] : {std::pair{4.0, 3.0}, {-4.0, 0.0}, {0.5, 3.0}}) {
      Slopes loss(model, geometry, contexts, start, told);
      const std::vector<double> zero(model.table_size(), 0.0);
      const FlowResult flow = table_flow(loss, GateClass::linear, zero, until(2.0));
      CHECK(*flow.conserved_drift == doctest::Approx(2.0 * 0.003 * 3 * 12).epsilon(1e-9));
      const double dissipated = 2.0 * double(model.table_size() / 2) * (0.003 * 0.003 + 0.002 * 0.002);
      CHECK(flow.energy_residual ==
            doctest::Approx(std::abs(told - 1.0) * dissipated / std::max(1.0, std::abs(start))).scale(0.0).epsilon(1e-8));
      CHECK(flow.loss == doctest::Approx(start - told * dissipated).epsilon(1e-12));
    }
  }

  TEST_CASE("linear flow at perturbed geometry: the loss never rises and energy balances; no conserved sums are claimed") {
    FlowOptions options = until(300.0, 1e-8, 1e-10);
    options.record = true;
    const SingleBlock model{4, 3, 1, 16, 1.0, 4.0};
    const FlowResult flow = linear_flow(model, Geometry::perturbed(1.0, 0.1, 3, 16), 2.0, options);
    check_loss_never_rises(flow);
    CHECK(!flow.conserved_drift.has_value());
    CHECK(flow.energy_residual < 1e-8);
  }

  TEST_CASE("static gates are invariant on a balanced sample: tables with constant rows follow the static flow") {
    const std::vector<double> bias = test::normals(2 * small.branch_rows(), 0.05, 67);
    for (const double kappa : {0.3, 1.0}) {
      const FlowOptions options = until(1e3);
      const FlowResult static_ = static_flow(small, kappa, bias, options);
      const FlowResult linear = table_flow(small, Geometry::exact(kappa, 16), sample_balanced(small, 8, 68), GateClass::linear,
                                           tables_from_bias(small, bias), options);
      CHECK(relative_error(linear.state, tables_from_bias(small, static_.state)) < 1e-8);
      CHECK(linear.loss == doctest::Approx(static_.loss).epsilon(1e-10));
      CHECK(linear.gates.avg_offsets[0] == doctest::Approx(static_.gates.static_offsets[0]).epsilon(1e-8));
      CHECK(linear.residual_all == doctest::Approx(linear.gates.residual).epsilon(1e-8));
    }
    // An independent sample does not occupy every slot equally, and the rows spread.
    const FlowResult uneven = table_flow(small, Geometry::exact(1.0, 16), sample_independent(small, 4, 68), GateClass::linear,
                                         tables_from_bias(small, bias), until(50.0));
    double spread = 0.0;
    for (std::size_t row = 0; row < uneven.state.size(); row += 16)
      spread = std::max(spread, std::abs(uneven.state[row] - uneven.state[row + 1]));
    CHECK(spread > 1e-4);
  }

  TEST_CASE("tied gates stay tied and cannot select") {
    const Geometry geometry = Geometry::exact(1.0, 16);
    const FlowResult flow = table_flow(small, geometry, sample_balanced(small, 1, 69), GateClass::tied,
                                       geometry.initial_tables(small, 0.1, 70), until(3e3, 1e-7, 1e-9));
    const std::size_t half = flow.gates.weights.size() / 2;
    CHECK(std::equal(flow.gates.weights.begin(), flow.gates.weights.begin() + half, flow.gates.weights.begin() + half));
    CHECK(flow.state.size() == small.table_size() / 2);
    CHECK(flow.gates.selection == std::vector<int>{-1, -1, -1});
    CHECK(flow.outcome != FlowOutcome::selected);
    CHECK(flow.loss < table_loss(small, geometry, sample_balanced(small, 1, 69), std::vector<double>(small.table_size(), 0.0)));
    CHECK(flow.energy_residual < 1e-7);
  }

  TEST_CASE("uniform gates do not move") {
    const Geometry geometry = Geometry::exact(1.0, 16);
    const FlowResult flow = table_flow(small, geometry, sample_balanced(small, 1, 71), GateClass::uniform,
                                       geometry.initial_tables(small, 0.1, 72), until(1e6));
    for (const double p : flow.gates.weights) CHECK(p == doctest::Approx(0.25).epsilon(1e-14));
    CHECK(flow.energy_residual < 1e-15);
    CHECK(flow.outcome == FlowOutcome::undecided);
    CHECK(flow.phases.gap == doctest::Approx(0.0));
    CHECK(flow.loss == doctest::Approx(flow.phases.loss[0]).epsilon(1e-12));
  }

  TEST_CASE("the static flow is equivariant under permutations of the phases") {
    const SingleBlock model{4, 4, 3, 100, 1.0, 4.0};
    const std::vector<double> bias = test::normals(2 * model.branch_rows(), 0.2, 73);
    const FlowResult flow = static_flow(model, 1.0, bias, until(1e5));
    REQUIRE(flow.outcome == FlowOutcome::selected);
    std::vector<int> rename = {0, 1, 2};
    while (std::next_permutation(rename.begin(), rename.end())) {
      const FlowResult image = static_flow(model, 1.0, renamed(model, bias, rename), until(1e5));
      CHECK(relative_error(image.state, renamed(model, flow.state, rename)) < 1e-6);
      for (int h = 0; h < 3; ++h) CHECK(image.gates.selection[h] == rename[flow.gates.selection[h]]);
    }
  }

  TEST_CASE("a flow stops when it has selected, at the residual asked for and not before the last save time") {
    const SingleBlock model{4, 4, 3, 1000, 1.0, 1.0};
    const std::vector<double> bias = initial_bias(model, 1.0, 1.0, 3);
    FlowOptions options;
    options.residual = 1e-2;
    const FlowResult flow = static_flow(model, 1.0, bias, options);
    CHECK(flow.outcome == FlowOutcome::selected);
    CHECK(flow.ending == Ending::stopped);
    CHECK(flow.gates.residual < 1e-2);
    CHECK(flow.gates.residual > 3e-3);
    CHECK(flow.t < 1e5);
    CHECK(flow.residual_all == doctest::Approx(flow.gates.residual).epsilon(1e-12));
    options.integration.save_at = {10.0, 5e5};
    const FlowResult later = static_flow(model, 1.0, bias, options);
    CHECK(later.t == 5e5);
    CHECK(later.outcome == FlowOutcome::selected);
    CHECK(later.gates.selection == flow.gates.selection);
    REQUIRE(later.saved.size() == 2);
    CHECK(later.saved[1].weights == later.gates.weights);
    CHECK(later.saved[1].loss == later.loss);
  }

  TEST_CASE("outcomes: undecided, step_limit, not_finite, each with a name of its own") {
    const SingleBlock model{4, 4, 3, 1000, 1.0, 1.0};
    std::vector<double> bias = initial_bias(model, 1.0, 1e-2, 3);
    FlowOptions options;
    options.integration.until = 50.0;
    CHECK(static_flow(model, 1.0, bias, options).outcome == FlowOutcome::undecided);
    options.integration.until = 1e6;
    options.integration.max_steps = 10;
    const FlowResult cut = static_flow(model, 1.0, bias, options);
    CHECK(cut.outcome == FlowOutcome::step_limit);
    CHECK(cut.steps == 10);
    options.integration.max_steps = 1000;
    bias[1] = std::numeric_limits<double>::quiet_NaN();
    CHECK(static_flow(model, 1.0, bias, options).outcome == FlowOutcome::not_finite);
    std::set<std::string_view> names;
    for (const FlowOutcome outcome :
         {FlowOutcome::selected, FlowOutcome::interior, FlowOutcome::undecided, FlowOutcome::step_limit, FlowOutcome::not_finite})
      names.insert(name(outcome));
    CHECK(names.size() == 5);
  }

  TEST_CASE("shapes that do not fit and classes without tables are refused") {
    const Geometry geometry = Geometry::exact(1.0, 16);
    const Contexts contexts = sample_balanced(small, 1, 74);
    CHECK_THROWS_AS(static_flow(small, 1.0, std::vector<double>(23, 0.0), {}), DomainError);
    CHECK_THROWS_AS(table_flow(small, geometry, contexts, GateClass::linear, std::vector<double>(7, 0.0), {}), DomainError);
    CHECK_THROWS_AS(table_flow(small, geometry, contexts, GateClass::static_, std::vector<double>(small.table_size(), 0.0), {}),
                    DomainError);
    SingleBlock bad = small;
    bad.vocabulary = 15;
    CHECK_THROWS_AS(static_flow(bad, 1.0, std::vector<double>(24, 0.0), {}), DomainError);
  }

  TEST_CASE("an interrupt is told the state it stops at, then goes on as Interrupted") {
    const std::vector<double> bias = test::normals(2 * small.branch_rows(), 0.1, 75);
    FlowOptions options;
    double asked_at = -1.0;
    FlowCheckpoint last;
    options.on_step = [&](double t) {
      if (t > 10.0 && asked_at < 0.0) {
        asked_at = t;
        interrupt_flag() = true;
      }
    };
    options.on_checkpoint = [&](const FlowCheckpoint& checkpoint) { last = checkpoint; };
    CHECK_THROWS_AS(static_flow(small, 1.0, bias, options), Interrupted);
    interrupt_flag() = false;
    CHECK(asked_at > 10.0);
    CHECK(last.point.t >= asked_at);
    REQUIRE(last.y.size() == bias.size() + 1);
    last.y.pop_back();
    CHECK(relative_error(static_flow(small, 1.0, bias, until(last.point.t)).state, last.y) < 1e-7);

    const Geometry geometry = Geometry::exact(1.0, 16);
    const Contexts contexts = sample_balanced(small, 1, 77);
    options.on_step = {};
    interrupt_flag() = true;
    CHECK_THROWS_AS(table_flow(small, geometry, contexts, GateClass::linear, geometry.initial_tables(small, 0.1, 76), options),
                    Interrupted);
    interrupt_flag() = false;
  }

  TEST_CASE("a flow goes on from any checkpoint to the same bits: explicit, stiff, tied, uniform, of dense geometry") {
    const Geometry exact = Geometry::exact(1.0, 12), dense = Geometry::perturbed(1.0, 0.05, 3, 12);
    const SingleBlock tiny{4, 3, 1, 12, 1.0, 1.0};
    const Contexts contexts = sample_balanced(tiny, 1, 90);
    const auto of_tables = [&](const Geometry& geometry, GateClass gates) {
      return [&, gates](const FlowOptions& options) {
        return table_flow(tiny, geometry, contexts, gates, geometry.initial_tables(tiny, 0.5, 91), with_trap(tiny, options));
      };
    };
    const std::vector<double> bias = test::normals(2 * small.branch_rows(), 0.1, 92);
    const SingleBlock crowded{4, 4, 3, 1000, 1.0, 8.0};  // stays at an interior equilibrium
    const auto meet = [&](const FlowOptions& options) {
      return static_flow(crowded, 1.0, initial_bias(crowded, 1.0, 1e-2, 1), options);
    };
    struct Case {
      const char* name;
      std::function<FlowResult(const FlowOptions&)> flow;
      double until;
      StopRule stop;
    };
    const Case cases[] = {
        {"linear", of_tables(exact, GateClass::linear), 100.0, StopRule::certified},
        {"tied", of_tables(exact, GateClass::tied), 100.0, StopRule::certified},
        {"uniform", of_tables(exact, GateClass::uniform), 100.0, StopRule::certified},
        {"dense", of_tables(dense, GateClass::linear), 100.0, StopRule::residual},
        {"static", [&](const FlowOptions& options) { return static_flow(small, 1.0, bias, with_trap(small, options)); }, 1e5,
         StopRule::certified},
        {"interior", meet, 1e6, StopRule::residual},
        {"stiff", meet, 1e6, StopRule::time}};
    for (const Case& one : cases) {
      CAPTURE(one.name);
      FlowOptions options = until(one.until);
      options.stop = one.stop;
      options.record = one.until < 1e6;  // the others take more steps than one would copy at each of them
      options.integration.save_at = {2.0, 50.0};
      std::vector<FlowCheckpoint> checkpoints;
      options.on_checkpoint = [&](const FlowCheckpoint& checkpoint) { checkpoints.push_back(checkpoint); };
      options.checkpoint_every = 0.0;
      const FlowResult whole = one.flow(options);
      CHECK(checkpoints.back().samples.size() + 1 == (options.record ? whole.samples.size() : 1));
      CHECK(checkpoints.back().stiff == (std::string(one.name) == "stiff"));
      CHECK((whole.outcome == FlowOutcome::interior) == (one.until == 1e6));
      const std::vector<FlowCheckpoint> from = checkpoints;
      for (std::size_t k = 0; k < from.size(); k += 1 + from.size() / 3) {
        options.resume = &from[k];
        check_same(one.flow(options), whole);
        CHECK(checkpoints.back().point.s == from.back().point.s);
        CHECK(checkpoints.back().next_look == from.back().next_look);
      }
      options.resume = &from.back();
      check_same(one.flow(options), whole);
    }
  }

  TEST_CASE("a flow goes on from wherever an interrupt meets it to the same bits") {
    const Geometry exact = Geometry::exact(1.0, 16);
    const Contexts contexts = sample_balanced(small, 1, 90);
    const std::vector<double> tables = exact.initial_tables(small, 0.5, 91);
    FlowOptions options = until(1e2);
    options.record = true;
    options.integration.save_at = {2.0, 50.0};
    const FlowResult whole = table_flow(small, exact, contexts, GateClass::linear, tables, options);
    std::optional<FlowCheckpoint> last;
    options.on_checkpoint = [&](const FlowCheckpoint& checkpoint) { last = checkpoint; };
    int interruptions = 0, steps = 0;
    options.on_step = [&](double) {
      if (++steps == 4) interrupt_flag() = true;  // once for certain
    };
    for (std::optional<FlowResult> end; !end;) {
      // Another thread interrupts after a random time, between steps or within one.
      std::jthread other([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(500 + 1371 * interruptions % 7000));
        interrupt_flag() = true;
      });
      std::optional<FlowCheckpoint> from = std::exchange(last, std::nullopt);
      options.resume = from ? &*from : nullptr;
      try {
        end = table_flow(small, exact, contexts, GateClass::linear, tables, options);
      } catch (const Interrupted&) {
        ++interruptions;
        if (!last) last = from;  // before its first step
      }
      other.join();
      interrupt_flag() = false;
      if (end) check_same(*end, whole);
    }
    CHECK(interruptions > 0);
  }

  TEST_CASE("a checkpoint of another flow is refused") {
    FlowCheckpoint checkpoint;
    FlowOptions options = until(1e3);
    options.on_checkpoint = [&](const FlowCheckpoint& one) { checkpoint = one; };
    options.checkpoint_every = 0.0;
    const std::vector<double> bias = test::normals(2 * small.branch_rows(), 0.1, 93);
    static_flow(small, 1.0, bias, options);
    options.resume = &checkpoint;
    CHECK_NOTHROW(static_flow(small, 1.0, bias, options));
    FlowCheckpoint other = checkpoint;
    options.resume = &other;
    CHECK_THROWS_AS(static_flow(small, 1.0, test::normals(2 * small.branch_rows(), 0.1, 94), options), CheckpointMismatch);
    other.y.pop_back();
    CHECK_THROWS_AS(static_flow(small, 1.0, bias, options), CheckpointMismatch);
    const Geometry geometry = Geometry::exact(1.0, 16);
    const Contexts contexts = sample_balanced(small, 1, 77);
    const std::vector<double> tables = geometry.initial_tables(small, 0.1, 76);
    options.resume = nullptr;
    table_flow(small, geometry, contexts, GateClass::linear, tables, options);
    other = checkpoint;
    other.stiff = true;  // tables have no such stepper
    options.resume = &other;
    CHECK_THROWS_AS(table_flow(small, geometry, contexts, GateClass::linear, tables, options), CheckpointMismatch);
  }

  TEST_CASE("recorded samples belong to accepted steps and agree with the saved states") {
    FlowOptions options = until(1e4);
    options.record = true;
    options.integration.save_at = {7.0, 1e3};
    int steps = 0;
    options.on_step = [&](double) { ++steps; };
    const FlowResult flow = static_flow(small, 1.0, test::normals(2 * small.branch_rows(), 0.1, 78), options);
    CHECK(flow.samples.size() == std::size_t(steps));
    CHECK(flow.samples.front().t == 0.0);
    CHECK(flow.samples.back().t == flow.t);
    CHECK(flow.samples.back().weights == flow.gates.weights);
    for (const SavedState& saved : flow.saved) {
      const auto found = std::find_if(flow.samples.begin(), flow.samples.end(), [&](const Sample& s) { return s.t == saved.t; });
      REQUIRE(found != flow.samples.end());
      CHECK(found->weights == saved.weights);
      CHECK(found->loss == saved.loss);
    }
  }
}

TEST_SUITE("slow") {
  TEST_CASE("a linear flow selects as the static flow from its static part does, and both effective offsets go to 1") {
    for (const auto& [N, rho] : {std::pair{64, 1e-2}, {64, 1e-3}, {256, 1e-2}})
      for (const std::uint64_t seed : {1, 2}) {
        const SingleBlock model{4, 4, 3, N, 1.0, 1.0};
        const Geometry geometry = Geometry::exact(1.0, N);
        FlowOptions options;
        options.integration.rtol = 1e-8;
        options.integration.atol = 1e-10;
        const FlowResult linear = table_flow(model, geometry, sample_balanced(model, 1, seed), GateClass::linear,
                                             geometry.initial_tables(model, rho, seed), options);
        const FlowResult static_ = static_flow(model, 1.0, static_part(model, linear.initial), options);
        CHECK(linear.outcome == FlowOutcome::selected);
        CHECK(linear.gates.selection == static_.gates.selection);
        for (const double offsets : linear.gates.static_offsets) CHECK(offsets < 1.01);
        for (const double offsets : linear.gates.avg_offsets) CHECK(offsets < 1.01);
        CHECK(linear.residual_all >= linear.gates.residual);
        CHECK(linear.residual_all < 2e-3);
        CHECK(*linear.conserved_drift < 1e-8);
      }
  }

  TEST_CASE("flow at perturbed geometry over a long time: energy balances and the loss never rises") {
    const SingleBlock model{4, 4, 2, 48, 1.0, 2.0};
    FlowOptions options = until(1e4, 1e-7, 1e-9);
    options.record = true;
    const FlowResult flow = linear_flow(model, Geometry::perturbed(1.0, 0.05, 4, 48), 0.1, options);
    check_loss_never_rises(flow);
    CHECK(flow.energy_residual < 1e-6);
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("a flow of tables has the same bits with 1 and with 2 threads") {
    for (const bool exact : {true, false}) {
      const SingleBlock model{4, 3, 2, 24, 1.0, 2.0};
      const Geometry geometry = exact ? Geometry::exact(1.0, 24) : Geometry::perturbed(1.0, 0.05, 2, 24);
      const Contexts contexts = sample_balanced(model, 60, 79);
      const auto run = [&](int threads) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        return table_flow(model, geometry, contexts, GateClass::linear, geometry.initial_tables(model, 0.5, 80), until(30.0));
      };
      const FlowResult one = run(1), two = run(2);
      CHECK(one.state == two.state);
      CHECK(one.loss == two.loss);
      CHECK(one.energy_residual == two.energy_residual);
      CHECK(one.steps == two.steps);
      CHECK(one.gates.weights == two.gates.weights);
      CHECK(one.phases.loss == two.phases.loss);
    }
  }
}
