// Fit of counts to laws with rare cells: choice of method, known values, level and power by simulation.
#include "statistics/goodness_of_fit.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "model/errors.hpp"
#include "statistics/occupancy.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

/// Share of data sets of `draws` from `law` whose test against `tested` has p <= 0.05.
double rejected(std::uint64_t seed, int data_sets, int draws, const std::vector<double>& law, const std::vector<double>& tested,
                FitMethod method) {
  Stream stream(seed, Purpose::choice);
  int count = 0;
  for (int set = 0; set < data_sets; ++set) {
    std::vector<std::int64_t> counts(law.size(), 0);
    for (int k = 0; k < draws; ++k) ++counts[test::choose(stream, law)];
    const LawFit fit = goodness_of_fit(counts, tested);
    CHECK(fit.method == method);
    count += fit.test.p_value <= 0.05;
  }
  return double(count) / data_sets;
}

/// Independent heads, but for a share of groups that are all together.
std::vector<double> clumped(int choices, int values, double share) {
  std::vector<double> law = shape_law(choices, values);
  for (double& p : law) p *= 1.0 - share;
  law[0] += share;
  return law;
}

double nominal(int data_sets) { return 0.05 + 3 * std::sqrt(0.05 * 0.95 / data_sets); }

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("no rare cell: Pearson's test") {
    const LawFit fit = goodness_of_fit(std::vector<std::int64_t>{48, 35, 17}, std::vector<double>{0.5, 0.3, 0.2});
    CHECK(fit.method == FitMethod::chi_square);
    CHECK(fit.cells == 3);
    CHECK(fit.test.statistic ==
          doctest::Approx(1.3633333333333333).epsilon(1e-12));  // scipy 1.10: chisquare([48, 35, 17], [50, 30, 20])
    CHECK(fit.test.p_value == doctest::Approx(0.5057733339556132).epsilon(1e-12));
  }

  TEST_CASE("rare cells of many draws are pooled, the least likely first, until all expect 5") {
    // Expected 0.6, 3, 5.4, 591, 0: the pool of 0.6 and 3 takes 5.4 in.
    const LawFit fit =
        goodness_of_fit(std::vector<std::int64_t>{1, 2, 9, 588, 0}, std::vector<double>{0.001, 0.005, 0.009, 0.985, 0.0});
    CHECK(fit.method == FitMethod::pooled_chi_square);
    CHECK(fit.cells == 2);
    CHECK(fit.test.degrees == 1);
    CHECK(fit.test.statistic == doctest::Approx(9.0 / 9 + 9.0 / 591).epsilon(1e-12));
    // Expected 2, 4, 7, 8, 979: the pool of 2 and 4 is the least likely of what is left.
    const LawFit kept =
        goodness_of_fit(std::vector<std::int64_t>{2, 4, 7, 8, 979}, std::vector<double>{0.002, 0.004, 0.007, 0.008, 0.979});
    CHECK(kept.cells == 4);
    CHECK(kept.test.p_value == doctest::Approx(1.0).epsilon(1e-12));
    const LawFit alone = goodness_of_fit(std::vector<std::int64_t>{0, 600}, std::vector<double>{0.001, 0.999});
    CHECK(alone.cells == 1);
    CHECK(alone.test.p_value == 1.0);
  }

  TEST_CASE("few draws: p is the share of tables no less extreme, compared with the exact one") {
    // Ten draws, probabilities 0.1 and 0.9, five in the rare cell: as extreme or more are 5 and more, P = 1 - 0.99836506
    // (binomial).
    const LawFit fit = goodness_of_fit(std::vector<std::int64_t>{5, 5}, std::vector<double>{0.1, 0.9});
    CHECK(fit.method == FitMethod::monte_carlo);
    CHECK(fit.test.p_value > 1.0 / 2000);
    CHECK(fit.test.p_value < 0.006);
    // Three in it: 3 and more, P = 0.0701908264 (scipy 1.10: binom.sf(2, 10, 0.1)); the statistic of 0 is smaller.
    const double p = goodness_of_fit(std::vector<std::int64_t>{3, 7}, std::vector<double>{0.1, 0.9}).test.p_value;
    CHECK(std::abs(p - 0.0701908264) < 4 * std::sqrt(0.07 * 0.93 / 1999));
    CHECK(p == goodness_of_fit(std::vector<std::int64_t>{3, 7}, std::vector<double>{0.1, 0.9}).test.p_value);
    CHECK(goodness_of_fit(std::vector<std::int64_t>{1, 9}, std::vector<double>{0.1, 0.9}).test.p_value == 1.0);
  }

  TEST_CASE("a rare cell that is full is pooled all the same: its first statistic is huge, not impossible") {
    const LawFit fit = goodness_of_fit(std::vector<std::int64_t>{300, 300, 400}, std::vector<double>{1e-6, 0.5, 0.499999});
    CHECK(fit.method == FitMethod::pooled_chi_square);
    CHECK(fit.cells == 2);
  }

  TEST_CASE("no draws, impossible draws, and what is refused") {
    CHECK(goodness_of_fit(std::vector<std::int64_t>{0, 0}, std::vector<double>{0.5, 0.5}).test.p_value == 1.0);
    CHECK(goodness_of_fit(std::vector<std::int64_t>{1, 2, 3}, std::vector<double>{0.0, 0.5, 0.5}).test.p_value == 0.0);
    CHECK_THROWS_AS(goodness_of_fit(std::vector<std::int64_t>{1}, std::vector<double>{0.5, 0.5}), DomainError);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("level 0.05 for independent heads, by each method (3 standard errors); power against heads that meet too often") {
    const std::vector<double> law = shape_law(4, 4), wide = shape_law(7, 7);
    CHECK(rejected(61, 4000, 400, law, law, FitMethod::chi_square) <= nominal(4000));
    CHECK(rejected(62, 4000, 1000, wide, wide, FitMethod::pooled_chi_square) <= nominal(4000));
    const double simulated = rejected(63, 600, 30, law, law, FitMethod::monte_carlo);
    CHECK(simulated <= nominal(600));
    CHECK(simulated >= 0.02);  // not vacuous
    CHECK(rejected(65, 200, 400, clumped(4, 4, 0.04), law, FitMethod::chi_square) > 0.9);
    CHECK(rejected(66, 200, 1000, clumped(7, 7, 0.02), wide, FitMethod::pooled_chi_square) > 0.9);
    CHECK(rejected(67, 100, 40, clumped(4, 4, 0.15), law, FitMethod::monte_carlo) > 0.8);
  }
}
