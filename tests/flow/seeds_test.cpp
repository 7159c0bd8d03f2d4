// The ends of runs of seeds (theory.md section 5): the same bits in any company, escape times, interior ends.
#include "flow/seeds.hpp"

#include <doctest/doctest.h>
#include <tbb/parallel_for.h>

#include <cmath>

#include "flow/escape.hpp"
#include "kernels/ensemble.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/interrupt.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

const SingleBlock usual{4, 4, 3, 1000, 1.0, 1.0};
const SingleBlock meeting{4, 4, 3, 1000, 1.0, 8.0};  // three seeds in ten end interior
const SingleBlock crawling{4, 4, 3, 20, 1.0, 4.0};   // one seed in fifty passes by equilibria that are none in the end

SeedOptions within(double rho = 1e-2) {
  SeedOptions options;
  options.rho = rho;
  options.ensemble = static_ensemble;
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  return options;
}

bool same(const SeedEnd& a, const SeedEnd& b) {
  return a.outcome == b.outcome && a.t == b.t && (a.escape == b.escape || (std::isnan(a.escape) && std::isnan(b.escape))) &&
         a.residual == b.residual && a.selection == b.selection;
}

/// Largest key weight at time t of a flow that is followed as closely as doubles allow.
double exact_key_weight(const SingleBlock& model, const std::vector<double>& bias, double t) {
  double weight = NAN;
  static_ensemble(
      model, 1.0, 1, [&](std::int64_t) { return bias; },
      {.until = t, .rtol = 1e-13, .atol = 1e-15, .max_steps = 100000, .stiff_after = 0},
      [&](std::int64_t, EnsembleFlow&& flow) { weight = largest_key_weight(model, flow.bias.data()); });
  return weight;
}

/// The flow has not escaped shortly before `escape` and has shortly after.
void check_escape(const SingleBlock& model, const std::vector<double>& bias, double escape, double error) {
  CHECK(exact_key_weight(model, bias, escape * (1.0 - error)) < escape_weight(model));
  CHECK(exact_key_weight(model, bias, escape * (1.0 + error)) > escape_weight(model));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a seed's end has the same bits alone and among others, however they are divided") {
    for (const SingleBlock& model : {usual, meeting, crawling}) {
      const std::vector<SeedEnd> together = static_seeds(model, 1.0, within(), 1, 60);
      REQUIRE(together.size() == 60);
      for (const std::int64_t part : {1, 7, 32})
        for (std::int64_t begin = 0; begin < 60; begin += part) {
          const std::int64_t count = std::min(part, 60 - begin);
          const std::vector<SeedEnd> some = static_seeds(model, 1.0, within(), std::uint64_t(1 + begin), count);
          REQUIRE(std::int64_t(some.size()) == count);
          for (std::int64_t k = 0; k < count; ++k) CHECK(same(some[k], together[begin + k]));
        }
    }
    CHECK(static_seeds(usual, 1.0, within(), 1, 0).empty());
  }

  TEST_CASE("escape times are within 1e-3 of those of a flow followed as closely as doubles allow") {
    for (const SingleBlock& model : {usual, meeting, crawling, SingleBlock{5, 6, 2, 100, 0.6, 2.0}})
      for (const double rho : {1e-2, 1.0}) {
        const std::vector<SeedEnd> ends = static_seeds(model, 1.0, within(rho), 1, 8);
        for (std::size_t k = 0; k < ends.size(); ++k) {
          CHECK(ends[k].escape < ends[k].t);
          check_escape(model, initial_bias(model, 1.0, rho, 1 + k), ends[k].escape, 1e-3);
        }
      }
  }

  TEST_CASE("escape times of flows one by one: the same; never before it, 0 for a start beyond it, none for tables") {
    for (const std::uint64_t seed : {1, 2}) {
      const std::vector<double> bias = initial_bias(usual, 1.0, 1e-2, seed);
      const FlowResult flow = static_flow(usual, 1.0, bias, within().flow);
      CHECK(static_seeds(usual, 1.0, within(), seed, 1)[0].escape == doctest::Approx(flow.escape).epsilon(1e-3));
      check_escape(usual, bias, flow.escape, 1e-3);
    }
    SeedOptions options = within();
    options.flow.integration.until = 100.0;
    const SeedEnd early = static_seeds(usual, 1.0, options, 1, 1)[0];
    CHECK(early.outcome == FlowOutcome::undecided);
    CHECK(std::isnan(early.escape));
    CHECK(early.t == 100.0);
    options.flow.stop = StopRule::time;  // one by one from the first instant
    CHECK(std::isnan(static_seeds(usual, 1.0, options, 1, 1)[0].escape));
    CHECK(static_seeds(usual, 1.0, within(1e4), 1, 1)[0].escape == 0.0);
    CHECK(static_flow(usual, 1.0, initial_bias(usual, 1.0, 1e4, 1), within().flow).escape == 0.0);
    // Landing on the end time just past the crossing counts.
    const double escape = static_seeds(usual, 1.0, within(), 1, 1)[0].escape;
    options.flow.stop = StopRule::residual;
    options.flow.integration.until = escape * 1.002;
    CHECK(static_seeds(usual, 1.0, options, 1, 1)[0].escape == doctest::Approx(escape).epsilon(1e-3));
  }

  TEST_CASE("escape within one step: exact for cubics, whatever the velocities' unit") {
    const SingleBlock model{4, 3, 1, 20, 1.0, 1.0};
    // Biases (x^3, 0, 0) of the step's parameter x: the weight e^b / (e^b + 2) is 3/4 at b = log 6.
    const double scale = 2.0, from[] = {0.0, 0.0, 0.0}, v[] = {0.0, 0.0, 0.0}, to[] = {scale, 0.0, 0.0},
                 w[] = {3.0 * scale, 0.0, 0.0};
    const double x = std::cbrt(std::log(6.0) / scale);
    CHECK(escape_in_step(model, {1.0, from, v}, {1.5, to, w}) == doctest::Approx(std::expm1(1.0 + 0.5 * x)).epsilon(1e-6));
    CHECK(escape_in_step(model, {1.0, to, w}, {1.5, to, w}) == doctest::Approx(std::expm1(1.0)).epsilon(1e-15));
  }

  TEST_CASE("bad options are refused, an interrupt is obeyed") {
    CHECK_THROWS_AS(static_seeds(usual, 1.0, within(0.0), 1, 2), DomainError);
    CHECK_THROWS_AS(static_seeds(usual, 1.0, within(), 1, -1), DomainError);
    CHECK_THROWS_AS(static_seeds({4, 4, 3, 12, 1.0, 1.0}, 1.0, within(), 1, 2), DomainError);
    interrupt_flag() = true;
    CHECK_THROWS_AS(static_seeds(usual, 1.0, within(), 1, 2), Interrupted);
    interrupt_flag() = false;
  }
}

TEST_SUITE("slow") {
  TEST_CASE("seeds one by one, without lanes, end as in them") {
    SeedOptions alone = within();
    alone.ensemble = {};
    const std::vector<SeedEnd> lanes = static_seeds(meeting, 1.0, within(), 1, 50),
                               others = static_seeds(meeting, 1.0, alone, 1, 50);
    REQUIRE(others.size() == lanes.size());
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      CAPTURE(k);
      CHECK(others[k].outcome == lanes[k].outcome);
      CHECK(others[k].selection == lanes[k].selection);
      CHECK(others[k].escape == doctest::Approx(lanes[k].escape).epsilon(2e-3));
    }
  }

  TEST_CASE("seeds that the lanes give up on end where the static flow's limit says") {
    for (const SingleBlock& model : {meeting, crawling, SingleBlock{4, 4, 3, 100, 1.0, 4.0}, SingleBlock{4, 4, 3, 100, 1.0, 8.0}}) {
      const std::vector<SeedEnd> ends = static_seeds(model, 1.0, within(), 1, 500);
      std::vector<std::uint64_t> hard;
      EnsembleOptions options{.rtol = 1e-8, .atol = 1e-10, .residual = 1e-3};
      static_ensemble(
          model, 1.0, 500, [&](std::int64_t k) { return initial_bias(model, 1.0, 1e-2, 1 + k); }, options,
          [&](std::int64_t k, EnsembleFlow&& flow) {
            if (flow.ending == EnsembleEnding::given_up && hard.size() < 12) hard.push_back(1 + k);
          });
      CHECK(!hard.empty());
      tbb::parallel_for(std::size_t(0), hard.size(), [&](std::size_t j) {
        const SeedEnd& end = ends[hard[j] - 1];
        const Equilibrium limit = static_limit(model, 1.0, initial_bias(model, 1.0, 1e-2, hard[j]));
        CHECK(end.outcome == (limit.is_interior() ? FlowOutcome::interior : FlowOutcome::selected));
        CHECK(end.selection ==
              (limit.is_interior() ? one_hot_heads(model, limit.weights) : observe_weights(model, limit.weights).selection));
      });
    }
  }
}
