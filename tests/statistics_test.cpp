// Intervals, the chi-square test and the occupancy law: known values, enumeration, and calibration by simulation.
#include "statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "errors.hpp"
#include "random.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

double choose(int n, int k) { return std::round(std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1))); }

double binomial(int n, int k, double p) { return choose(n, k) * std::pow(p, k) * std::pow(1 - p, n - k); }

/// Counts of 1 .. values seen distinct among all values^choices choices.
std::vector<double> enumerated_occupancy(int choices, int values) {
  std::vector<double> law(std::min(choices, values), 0.0);
  const int all = int(std::lround(std::pow(values, choices)));
  for (int code = 0; code < all; ++code) {
    std::set<int> seen;
    for (int h = 0, rest = code; h < choices; ++h, rest /= values) seen.insert(rest % values);
    law[seen.size() - 1] += 1.0 / all;
  }
  return law;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("Clopper-Pearson: known values") {
    const auto check = [](Interval interval, double low, double high) {
      CHECK(interval.low == doctest::Approx(low).epsilon(1e-10));
      CHECK(interval.high == doctest::Approx(high).epsilon(1e-10));
    };
    check(clopper_pearson(0, 10), 0.0, 1.0 - std::pow(0.025, 0.1));  // 0.3085
    check(clopper_pearson(100, 100), std::pow(0.025, 0.01), 1.0);    // 0.9638
    check(clopper_pearson(5, 10), 0.18708602844739855, 0.81291397155260145);
    check(clopper_pearson(0, 0), 0.0, 1.0);
    CHECK(clopper_pearson_lower(100, 100) == doctest::Approx(std::pow(0.05, 0.01)).epsilon(1e-12));  // 0.9705
    CHECK(clopper_pearson_lower(0, 100) == 0.0);
    CHECK(clopper_pearson_lower(7, 9, 0.99) == doctest::Approx(clopper_pearson(7, 9, 0.98).low).epsilon(1e-12));
  }

  TEST_CASE("Clopper-Pearson: at either end the outcome and those beyond have probability (1 - level) / 2") {
    for (const auto& [x, n] : {std::pair{3, 17}, {9, 10}, {1, 40}}) {
      const Interval interval = clopper_pearson(x, n, 0.9);
      double above = 0.0, below = 0.0;
      for (int k = x; k <= n; ++k) above += binomial(n, k, interval.low);
      for (int k = 0; k <= x; ++k) below += binomial(n, k, interval.high);
      CHECK(above == doctest::Approx(0.05).epsilon(1e-10));
      CHECK(below == doctest::Approx(0.05).epsilon(1e-10));
    }
  }

  TEST_CASE("Clopper-Pearson: coverage is at least the level for every p (exact sum)") {
    for (const int n : {5, 30})
      for (double p = 0.01; p < 1.0; p += 0.01) {
        double covered = 0.0, above_lower = 0.0;
        for (int x = 0; x <= n; ++x) {
          const Interval interval = clopper_pearson(x, n);
          if (interval.low <= p && p <= interval.high) covered += binomial(n, x, p);
          if (clopper_pearson_lower(x, n) <= p) above_lower += binomial(n, x, p);
        }
        CHECK(covered >= 0.95 - 1e-12);
        CHECK(above_lower >= 0.95 - 1e-12);
      }
  }

  TEST_CASE("Clopper-Pearson: calibration by simulation (4 standard errors)") {
    Stream stream(31, Purpose::choice);
    constexpr int rounds = 4000, trials = 200;
    constexpr double p = 0.3;
    int covered = 0;
    for (int round = 0; round < rounds; ++round) {
      int successes = 0;
      for (int k = 0; k < trials; ++k) successes += stream.uniform() < p;
      const Interval interval = clopper_pearson(successes, trials);
      covered += interval.low <= p && p <= interval.high;
    }
    const double error = std::sqrt(0.95 * 0.05 / rounds), share = double(covered) / rounds;
    CHECK(share > 0.95 - 4 * error);
    CHECK(share < 0.98 + 4 * error);  // not vacuous: discreteness adds little at 200 trials
  }

  TEST_CASE("counts that are none and levels outside (0, 1) are refused") {
    CHECK_THROWS_AS(clopper_pearson(-1, 10), DomainError);
    CHECK_THROWS_AS(clopper_pearson(11, 10), DomainError);
    CHECK_THROWS_AS(clopper_pearson(1, 10, 1.0), DomainError);
    CHECK_THROWS_AS(clopper_pearson_lower(1, 10, 0.0), DomainError);
    CHECK_THROWS_AS(chi_square_test(std::vector<std::int64_t>{1, 2}, std::vector<double>{1.0}), DomainError);
    CHECK_THROWS_AS(chi_square_test({}, {}), DomainError);
    CHECK_THROWS_AS(occupancy_law(0, 3), DomainError);
    CHECK_THROWS_AS(occupancy_law(3, 0), DomainError);
  }

  TEST_CASE("chi-square: known statistic and p-value") {
    // Two degrees of freedom: p = e^(-statistic / 2).
    const GoodnessOfFit fit = chi_square_test(std::vector<std::int64_t>{30, 14, 6}, std::vector<double>{0.5, 0.25, 0.25});
    CHECK(fit.statistic == doctest::Approx(25.0 / 25 + 1.5 * 1.5 / 12.5 + 6.5 * 6.5 / 12.5).epsilon(1e-14));
    CHECK(fit.degrees == 2);
    CHECK(fit.p_value == doctest::Approx(std::exp(-fit.statistic / 2)).epsilon(1e-12));
    CHECK(chi_square_of(3.841458820694124, 1).p_value == doctest::Approx(0.05).epsilon(1e-12));
  }

  TEST_CASE("chi-square: empty, impossible and certain cells") {
    const std::vector<double> law = {0.5, 0.5, 0.0};
    CHECK(chi_square_test(std::vector<std::int64_t>{5, 5, 0}, law).p_value == 1.0);
    CHECK(chi_square_test(std::vector<std::int64_t>{5, 5, 0}, law).degrees == 1);
    CHECK(chi_square_test(std::vector<std::int64_t>{5, 5, 1}, law).p_value == 0.0);
    CHECK(chi_square_test(std::vector<std::int64_t>{0, 0, 0}, law).p_value == 1.0);
    CHECK(chi_square_test(std::vector<std::int64_t>{7}, std::vector<double>{1.0}).p_value == 1.0);
  }

  TEST_CASE("chi-square: p-values of true laws are uniform (level 1e-3), of wrong ones tiny") {
    Stream stream(32, Purpose::choice);
    const std::vector<double> law = {0.1, 0.2, 0.3, 0.4}, wrong = {0.15, 0.2, 0.3, 0.35};
    std::vector<std::int64_t> tenths(10, 0);
    double least_wrong = 0.0;
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::int64_t> counts(4, 0);
      for (int k = 0; k < 2000; ++k) {
        const double x = stream.uniform();
        ++counts[(x > 0.1) + (x > 0.3) + (x > 0.6)];
      }
      ++tenths[std::min(9, int(10 * chi_square_test(counts, law).p_value))];
      least_wrong = std::max(least_wrong, chi_square_test(counts, wrong).p_value);
    }
    CHECK(chi_square_test(tenths, std::vector<double>(10, 0.1)).p_value > 1e-3);
    CHECK(least_wrong < 0.05);
  }

  TEST_CASE("uniformity of groups: p-values are uniform (level 1e-3) for independent, equal and repelling draws") {
    Stream stream(33, Purpose::choice);
    // Draws of a group of 3 among 4: alike with probability `alike`, else different with probability `apart`, else independent.
    const auto tenths = [&](double alike, double apart) {
      std::vector<std::int64_t> counts(10, 0);
      std::vector<std::vector<int>> groups(300, std::vector<int>(3));
      for (int round = 0; round < 1000; ++round) {
        for (std::vector<int>& group : groups) {
          const double kind = stream.uniform();
          for (int& r : group) r = int(stream.below(4));
          if (kind < alike) {
            group[1] = group[2] = group[0];
          } else if (kind < alike + apart) {
            const int left_out = group[0];
            for (int h = 0; h < 3; ++h) group[h] = (left_out + 1 + h) % 4;
          }
        }
        ++counts[std::min(9, int(10 * uniformity_of_groups(groups, 4).p_value))];
      }
      return chi_square_test(counts, std::vector<double>(10, 0.1)).p_value;
    };
    CHECK(tenths(0.0, 0.0) > 1e-3);
    CHECK(tenths(1.0, 0.0) > 1e-3);
    CHECK(tenths(0.0, 1.0) > 1e-3);
    CHECK(tenths(0.3, 0.4) > 1e-3);
  }

  TEST_CASE("uniformity of groups: Pearson's test for single draws, certain for groups that never vary, wrong draws refused") {
    const std::vector<std::vector<int>> singles = {{0}, {1}, {1}, {2}, {1}, {0}, {1}};
    const GoodnessOfFit pearson = chi_square_test(std::vector<std::int64_t>{2, 4, 1}, std::vector<double>(3, 1.0 / 3));
    CHECK(uniformity_of_groups(singles, 3).statistic == doctest::Approx(pearson.statistic).epsilon(1e-13));
    CHECK(uniformity_of_groups(singles, 3).p_value == doctest::Approx(pearson.p_value).epsilon(1e-12));
    CHECK(uniformity_of_groups(std::vector<std::vector<int>>{{0, 1, 2}, {2, 0, 1}}, 3).p_value == 1.0);
    CHECK(uniformity_of_groups({}, 3).p_value == 1.0);
    CHECK(uniformity_of_groups(std::vector<std::vector<int>>{{0, 0}, {0, 0}}, 1).p_value == 1.0);
    CHECK(uniformity_of_groups(std::vector<std::vector<int>>(50, {1, 1}), 3).p_value < 1e-10);
    CHECK_THROWS_AS(uniformity_of_groups(std::vector<std::vector<int>>{{3}}, 3), DomainError);
    CHECK_THROWS_AS(uniformity_of_groups(std::vector<std::vector<int>>{{-1}}, 3), DomainError);
    CHECK_THROWS_AS(uniformity_of_groups({}, 0), DomainError);
  }

  TEST_CASE("occupancy law equals the enumeration of all n^H choices, and Stirling's formula") {
    for (int choices = 1; choices <= 6; ++choices)
      for (int values = 1; values <= 5; ++values)
        CHECK(test::relative_error(occupancy_law(choices, values), enumerated_occupancy(choices, values)) < 1e-11);
    const std::vector<double> law = occupancy_law(3, 3);
    CHECK(law[0] == doctest::Approx(3.0 / 27).epsilon(1e-15));
    CHECK(law[1] == doctest::Approx(18.0 / 27).epsilon(1e-15));  // 3!/1! S2(3, 2) / 3^3
    CHECK(law[2] == doctest::Approx(6.0 / 27).epsilon(1e-15));
    const std::vector<double> large = occupancy_law(400, 300);
    CHECK(std::accumulate(large.begin(), large.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-12));
    double mean = 0.0;
    for (std::size_t k = 0; k < large.size(); ++k) mean += double(k + 1) * large[k];
    CHECK(mean == doctest::Approx(300 * (1 - std::pow(299.0 / 300, 400))).epsilon(1e-12));
  }
}
