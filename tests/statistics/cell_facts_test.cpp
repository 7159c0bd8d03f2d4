// What counts over seeds say: by hand, and of static flows (theory.md section 5, head coverage). Levels 1e-3, fixed seeds.
#include "statistics/cell_facts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "kernels/seed_threads.hpp"
#include "model/errors.hpp"
#include "seed_records.hpp"

using namespace phaselock;
using doctest::Approx;
using test::ended;
using test::selected;

namespace {

const SingleBlock model{4, 4, 3, 100, 1.0, 1.0};

/// Ten seeds: eight select, four of these all different offsets, three 2+1, one all the same.
std::vector<SeedRecord> ten_seeds() {
  std::vector<SeedRecord> seeds = {ended(FlowOutcome::interior, 3, 3000.0), ended(FlowOutcome::step_limit, 3)};
  for (const std::vector<int>& offsets : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}})
    seeds.push_back(selected(offsets, 1000.0, true, true));
  for (const std::vector<int>& offsets : {std::vector<int>{0, 0, 2}, {0, 1, 0}, {2, 0, 0}})
    seeds.push_back(selected(offsets, 2000.0, false, false));
  seeds.push_back(selected({1, 1, 1}, 2000.0));
  return seeds;
}

void check_share(const Share& share, std::int64_t count, std::int64_t of) {
  CHECK(share.count == count);
  CHECK(share.of == of);
  CHECK(share.estimate.value == double(count) / double(of));
  CHECK(share.estimate.interval.low == clopper_pearson(count, of).low);
  CHECK(share.estimate.interval.high == clopper_pearson(count, of).high);
}

SeedOptions short_flows() {
  SeedOptions options;
  options.rho = 0.5;
  options.flow.integration.until = 1e6;
  options.flow.integration.rtol = 1e-6;
  options.flow.integration.atol = 1e-8;
  options.flow.residual = 0.05;
  return options;
}

CellFacts facts_of_flows(const SingleBlock& of, std::int64_t seeds, const SeedOptions& options = short_flows()) {
  return cell_facts(of, count_seeds(of, static_seeds_in_threads(of, 1.0, options, 1, seeds)));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("shares of ten seeds") {
    const CellFacts f = cell_facts(model, count_seeds(model, ten_seeds()));
    CHECK(f.seeds == 10);
    CHECK(f.outcomes == std::array<std::int64_t, 5>{8, 1, 0, 1, 0});
    check_share(f.selected, 8, 10);
    check_share(f.certified, 4, 10);
    check_share(f.agrees, 4, 7);
    check_share(f.all_distinct, 4, 8);
    check_share(f.collided, 4, 8);
    CHECK(f.shapes == std::vector<Shape>{{3}, {2, 1}, {1, 1, 1}});
    CHECK(f.shape_counts == std::vector<std::int64_t>{1, 3, 4});
    CHECK(f.distinct == std::vector<std::int64_t>{1, 3, 4});
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(f.shape_shares[k].value == f.shape_counts[k] / 8.0);
      CHECK(f.shape_shares[k].interval.high == simultaneous_intervals(f.shape_counts)[k].high);
      CHECK(f.distinct_shares[k].value == f.distinct[k] / 8.0);
      CHECK(f.distinct_shares[k].interval.low == simultaneous_intervals(f.distinct)[k].low);
    }
  }

  TEST_CASE("tests and laws of ten seeds; means over those that select") {
    const CellFacts f = cell_facts(model, count_seeds(model, ten_seeds()));
    CHECK(f.shape_law == shape_law(3, 3));
    CHECK(f.occupancy_law == occupancy_law(3, 3));
    CHECK(f.shape_fit.method == FitMethod::monte_carlo);
    // Expected are 8/9, 48/9 and 16/9 seeds.
    CHECK(f.shape_fit.test.statistic == Approx(1.0 / 72 + 49.0 / 48 + 25.0 / 9).epsilon(1e-13));
    CHECK(f.sums.at == std::vector<std::int64_t>{10, 8, 6});
    CHECK(f.phase_fit.statistic == phase_uniformity(f.sums).statistic);
    CHECK(f.pair_fit.statistic == pair_independence(f.sums).statistic);
    CHECK(f.pairs.same.value == Approx((1.0 + 3.0 / 3) / 8).epsilon(1e-14));
    const auto quality = [&](double ShapeQuality::*of) {
      const auto at = [&](const Shape& shape) { return shape_quality(model, shape).*of; };
      CHECK(f.quality.*of == Approx((at({3}) + 3 * at({2, 1}) + 4 * at({1, 1, 1})) / 8).epsilon(1e-14));
    };
    for (const auto of : {&ShapeQuality::mean_loss, &ShapeQuality::worst_loss, &ShapeQuality::mean_probability,
                          &ShapeQuality::worst_probability, &ShapeQuality::mean_accuracy, &ShapeQuality::worst_accuracy})
      quality(of);
    CHECK(f.escaped == 9);
    CHECK(f.escapes == EscapeHistogram{{300, 4}, {330, 4}, {347, 1}});
    CHECK(f.escape_median.value == escape_quantile(f.escapes, 0.5, 1).value);
    CHECK(f.escape_median.interval.high == escape_quantile(f.escapes, 0.5, 1).interval.high);
  }

  TEST_CASE("more heads than three: shapes of one coverage are told apart, and summed") {
    const SingleBlock four{4, 5, 4, 100, 1.0, 1.0};
    const CellFacts f = cell_facts(four, count_seeds(four, std::vector{selected({0, 0, 0, 1}), selected({0, 1, 1, 0}),
                                                                       selected({2, 1, 1, 2}), selected({0, 1, 2, 2})}));
    CHECK(f.shape_counts == std::vector<std::int64_t>{0, 1, 2, 1, 0});  // 4, 3+1, 2+2, 2+1+1, 1+1+1+1
    CHECK(f.distinct == std::vector<std::int64_t>{0, 3, 1, 0});
    check_share(f.collided, 4, 4);
    check_share(f.all_distinct, 0, 4);
  }

  TEST_CASE("seeds none of which selects: no test speaks, nothing is estimated of them") {
    const CellFacts f = cell_facts(model, count_seeds(model, std::vector{ended(FlowOutcome::undecided, 3)}));
    check_share(f.selected, 0, 1);
    CHECK(f.collided.of == 0);
    for (const double number :
         {f.collided.estimate.value, f.collided.estimate.interval.low, f.shape_fit.test.p_value, f.phase_fit.p_value,
          f.pair_fit.p_value, f.pairs.same.value, f.quality.mean_loss, f.escape_median.value, f.agrees.estimate.value})
      CHECK(std::isnan(number));
    CHECK(f.shape_shares[0].interval.low == 0.0);
    CHECK(f.shape_shares[0].interval.high == 1.0);
  }

  TEST_CASE("one head, or one offset, has no pairs") {
    for (const SingleBlock& lone : {SingleBlock{4, 4, 1, 100, 1.0, 1.0}, {4, 2, 2, 100, 1.0, 1.0}}) {
      const SeedRecord seed = selected(std::vector<int>(std::size_t(lone.heads), 0));
      const CellFacts f = cell_facts(lone, count_seeds(lone, std::vector{seed}));
      CHECK(std::isnan(f.pairs.correlation.value));
      CHECK(f.pair_fit.p_value == 1.0);
    }
  }

  TEST_CASE("counts that do not belong together are refused") {
    SeedCounts counts = count_seeds(model, ten_seeds());
    ++counts.heads.products[1];
    CHECK_THROWS_AS(cell_facts(model, counts), DomainError);
    counts = count_seeds(model, ten_seeds());
    counts.escapes[300] += 2;
    CHECK_THROWS_AS(cell_facts(model, counts), DomainError);
  }

  TEST_CASE("heads repel at beta = 8, N = 100: all distinct, and the position test allows for the dependence") {
    const CellFacts f = facts_of_flows({4, 4, 3, 100, 1.0, 8.0}, 16);
    CHECK(f.selected.count == 16);
    CHECK(f.distinct == std::vector<std::int64_t>{0, 0, 16});
    CHECK(f.collided.count == 0);
    CHECK(chi_square_test(f.distinct, f.occupancy_law).p_value < 1e-6);  // the law would have 2 in 9 distinct
    CHECK(f.shape_fit.test.p_value == 1.0 / 2000);                       // no table drawn from the law is as extreme
    CHECK(f.phase_fit.statistic == 0.0);
    CHECK(f.phase_fit.p_value == 1.0);
  }

  TEST_CASE("flows that end before they select are counted apart") {
    SeedOptions options = short_flows();
    options.flow.integration.until = 1.0;
    const CellFacts f = facts_of_flows({4, 4, 3, 100, 1.0, 8.0}, 3, options);
    CHECK(f.selected.count == 0);
    CHECK(f.outcomes[std::size_t(FlowOutcome::undecided)] == 3);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("N = 1000, beta = 1: shapes follow the law of independent heads and positions are uniform") {
    const CellFacts f = facts_of_flows({4, 4, 3, 1000, 1.0, 1.0}, 400);
    CHECK(f.selected.count >= 395);
    CHECK(f.shape_fit.test.p_value > 1e-3);
    CHECK(f.phase_fit.p_value > 1e-3);
  }

  TEST_CASE("N = 20, beta = 1: heads never all meet in 60 seeds") {
    const CellFacts f = facts_of_flows({4, 4, 3, 20, 1.0, 1.0}, 60);
    CHECK(f.selected.count > 0);
    CHECK(f.distinct[0] == 0);
  }

  TEST_CASE("one head: positions are uniform, and the test of groups is Pearson's") {
    const CellFacts f = facts_of_flows({4, 4, 1, 64, 1.0, 1.0}, 300);
    CHECK(f.selected.count == 300);
    CHECK(f.phase_fit.p_value > 1e-3);
    CHECK(f.phase_fit.statistic == Approx(chi_square_test(f.sums.at, std::vector<double>(3, 1.0 / 3)).statistic).epsilon(1e-12));
  }
}
