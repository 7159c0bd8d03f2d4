// Head coverage over seeds of static flows (theory.md section 5, head coverage). Levels 1e-3, fixed seeds.
#include "kernels/coverage.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <numeric>

#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "statistics/occupancy.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

CoverageOptions short_flows(std::int64_t seeds) {
  CoverageOptions options;
  options.seeds = seeds;
  options.rho = 0.5;
  options.flow.integration.until = 1e6;
  options.flow.integration.rtol = 1e-6;
  options.flow.integration.atol = 1e-8;
  options.flow.residual = 0.05;
  return options;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t(0)); }

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("counts agree with each other and with the flows of the seeds") {
    const SingleBlock model{4, 4, 3, 1000, 1.0, 1.0};
    CoverageOptions options = short_flows(24);
    options.first_seed = 5;
    std::vector<std::int64_t> told;
    const CoverageResult result = head_coverage(model, 1.0, options, [&](std::int64_t done) { told.push_back(done); });
    CHECK(result.seeds == 24);
    CHECK(result.selected + result.not_selected == 24);
    CHECK(result.selected == result.outcomes[std::size_t(FlowOutcome::selected)]);
    CHECK(sum(result.outcomes) == 24);
    CHECK(sum(result.distinct) == result.selected);
    CHECK(sum(result.positions) == 3 * result.selected);
    CHECK(result.collided == result.selected - result.distinct[2]);
    CHECK(result.occupancy == occupancy_law(3, 3));
    CHECK(result.collision_interval.low == clopper_pearson(result.collided, result.selected).low);
    REQUIRE(result.selections.size() == 24);
    for (const std::int64_t k : {0, 7}) {
      const FlowResult flow = static_flow(model, 1.0, initial_bias(model, 1.0, options.rho, 5 + k), options.flow);
      CHECK(result.selections[k] == flow.gates.selection);
    }
    REQUIRE(told.size() == 24);  // one call at a time, in order
    for (std::int64_t k = 0; k < 24; ++k) CHECK(told[k] == k + 1);
  }

  TEST_CASE("heads repel at beta = 8, N = 100: all distinct, and the position test allows for the dependence") {
    const CoverageResult result = head_coverage({4, 4, 3, 100, 1.0, 8.0}, 1.0, short_flows(16));
    CHECK(result.selected == 16);
    CHECK(result.distinct == std::vector<std::int64_t>{0, 0, 16});
    CHECK(result.collided == 0);
    CHECK(result.occupancy_fit.p_value < 1e-6);  // the occupancy law would have 2 in 9 distinct
    CHECK(result.position_fit.statistic == 0.0);
    CHECK(result.position_fit.p_value == 1.0);
  }

  TEST_CASE("flows that end before they select are counted apart") {
    CoverageOptions options = short_flows(3);
    options.flow.integration.until = 1.0;
    const CoverageResult result = head_coverage({4, 4, 3, 100, 1.0, 8.0}, 1.0, options);
    CHECK(result.not_selected == 3);
    CHECK(result.outcomes[std::size_t(FlowOutcome::undecided)] == 3);
    CHECK(sum(result.distinct) == 0);
    CHECK(result.collision_interval.low == 0.0);
    CHECK(result.collision_interval.high == 1.0);
    CHECK(result.occupancy_fit.p_value == 1.0);
  }

  TEST_CASE("bad options are refused, an interrupt is obeyed") {
    CHECK_THROWS_AS(head_coverage(SingleBlock{}, 1.0, short_flows(0)), DomainError);
    CoverageOptions options = short_flows(2);
    options.rho = 0.0;
    CHECK_THROWS_AS(head_coverage(SingleBlock{}, 1.0, options), DomainError);
    interrupt_flag() = true;
    CHECK_THROWS_AS(head_coverage(SingleBlock{}, 1.0, short_flows(2)), Interrupted);
    interrupt_flag() = false;
  }
}

TEST_SUITE("slow") {
  TEST_CASE("N = 1000, beta = 1: coverage follows the occupancy law and positions are uniform") {
    const CoverageResult result = head_coverage({4, 4, 3, 1000, 1.0, 1.0}, 1.0, short_flows(400));
    CHECK(result.selected >= 395);
    CHECK(result.occupancy_fit.p_value > 1e-3);
    CHECK(result.position_fit.p_value > 1e-3);
  }

  TEST_CASE("N = 20, beta = 1: heads never all meet in 60 seeds") {
    const CoverageResult result = head_coverage({4, 4, 3, 20, 1.0, 1.0}, 1.0, short_flows(60));
    CHECK(result.distinct[0] == 0);
    CHECK(result.selected + result.not_selected == 60);
  }

  TEST_CASE("one head: positions are uniform, and the test of groups is Pearson's") {
    const CoverageResult result = head_coverage({4, 4, 1, 64, 1.0, 1.0}, 1.0, short_flows(300));
    CHECK(result.selected == 300);
    CHECK(result.position_fit.p_value > 1e-3);
    CHECK(result.position_fit.statistic ==
          doctest::Approx(chi_square_test(result.positions, std::vector<double>(3, 1.0 / 3)).statistic).epsilon(1e-12));
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("coverage does not depend on the number of threads") {
    const SingleBlock model{4, 4, 3, 200, 1.0, 2.0};
    const auto run = [&](int threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return head_coverage(model, 1.0, short_flows(20));
    };
    const CoverageResult one = run(1);
    for (const int threads : {2, 8}) {
      const CoverageResult several = run(threads);
      CHECK(several.selections == one.selections);
      CHECK(several.outcomes == one.outcomes);
      CHECK(several.distinct == one.distinct);
      CHECK(several.position_fit.p_value == one.position_fit.p_value);
    }
  }
}
