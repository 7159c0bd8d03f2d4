// Intervals and the chi-square test: known values, and calibration by simulation.
#include "statistics/intervals.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "model/errors.hpp"
#include "model/random.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

double choose(int n, int k) { return std::round(std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1))); }

double binomial(int n, int k, double p) { return choose(n, k) * std::pow(p, k) * std::pow(1 - p, n - k); }

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

  TEST_CASE("Clopper-Pearson: the interval holds p with at least the level, for every p (exact sum)") {
    for (const int n : {5, 30})
      for (double p = 0.01; p < 1.0; p += 0.01) {
        double covered = 0.0;
        for (int x = 0; x <= n; ++x) {
          const Interval interval = clopper_pearson(x, n);
          if (interval.low <= p && p <= interval.high) covered += binomial(n, x, p);
        }
        CHECK(covered >= 0.95 - 1e-12);
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

  TEST_CASE("Clopper-Pearson continued to counts that are not whole") {
    const Interval interval = clopper_pearson_continued(2.5, 11.0);
    CHECK(interval.low == doctest::Approx(0.039826943084991136).epsilon(1e-12));  // scipy 1.10: beta.ppf(0.025, 2.5, 9.5)
    CHECK(interval.high == doctest::Approx(0.5650954805017856).epsilon(1e-12));   // beta.ppf(0.975, 3.5, 8.5)
    CHECK(clopper_pearson_continued(3.0, 17.0).high == clopper_pearson(3, 17).high);
  }

  TEST_CASE(
      "simultaneous intervals: Clopper-Pearson at 1 - 0.05 / 3 for three cells, at the level itself for two, certain for one") {
    const std::vector<Interval> three = simultaneous_intervals(std::vector<std::int64_t>{12, 60, 128});
    // scipy 1.10: binomtest(k, 200).proportion_ci(1 - 0.05 / 3, "exact")
    const double low[] = {0.02685465542395106, 0.22485209911621906, 0.553949948411073},
                 high[] = {0.11265231355173805, 0.3837255387028088, 0.7200562177459046};
    for (int k = 0; k < 3; ++k) {
      CHECK(three[k].low == doctest::Approx(low[k]).epsilon(1e-10));
      CHECK(three[k].high == doctest::Approx(high[k]).epsilon(1e-10));
    }
    const std::vector<Interval> two = simultaneous_intervals(std::vector<std::int64_t>{12, 188});
    CHECK(two[0].low == clopper_pearson(12, 200).low);
    CHECK(two[0].low == doctest::Approx(1.0 - two[1].high).epsilon(1e-12));
    CHECK(simultaneous_intervals(std::vector<std::int64_t>{7})[0].low == 1.0);
    const std::vector<Interval> none = simultaneous_intervals(std::vector<std::int64_t>{0, 0, 0});
    CHECK(none[2].low == 0.0);
    CHECK(none[2].high == 1.0);
  }

  TEST_CASE("counts that are none and levels outside (0, 1) are refused") {
    CHECK_THROWS_AS(clopper_pearson(-1, 10), DomainError);
    CHECK_THROWS_AS(clopper_pearson(11, 10), DomainError);
    CHECK_THROWS_AS(clopper_pearson(1, 10, 1.0), DomainError);
    CHECK_THROWS_AS(chi_square_test(std::vector<std::int64_t>{1, 2}, std::vector<double>{1.0}), DomainError);
    CHECK_THROWS_AS(chi_square_test({}, {}), DomainError);
    CHECK_THROWS_AS(clopper_pearson_continued(2.5, 2.4), DomainError);
    CHECK_THROWS_AS(simultaneous_intervals({}), DomainError);
    CHECK_THROWS_AS(simultaneous_intervals(std::vector<std::int64_t>{3, -1}), DomainError);
    CHECK_THROWS_AS(simultaneous_intervals(std::vector<std::int64_t>{3}, 0.0), DomainError);
    CHECK_THROWS_AS(level_of_each(0.95, 0), DomainError);
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
}

TEST_SUITE("slow") {
  TEST_CASE("simultaneous intervals: all cover at once in at least 95% of 2000 data sets (3 standard errors)") {
    Stream stream(34, Purpose::choice);
    const double allowed = 0.95 - 3 * std::sqrt(0.95 * 0.05 / 2000);
    const std::vector<std::vector<double>> laws = {{0.11, 0.67, 0.22}, {0.0, 0.02, 0.98}, {0.3, 0.7}, {0.05, 0.1, 0.2, 0.3, 0.35}};
    for (const std::vector<double>& law : laws)
      for (const int draws : {30, 200}) {
        int covered = 0, one_at_a_time = 0;
        for (int round = 0; round < 2000; ++round) {
          std::vector<std::int64_t> counts(law.size(), 0);
          for (int k = 0; k < draws; ++k) ++counts[test::choose(stream, law)];
          const std::vector<Interval> intervals = simultaneous_intervals(counts);
          bool all = true, all_single = true;
          for (std::size_t k = 0; k < law.size(); ++k) {
            all = all && intervals[k].low <= law[k] && law[k] <= intervals[k].high;
            const Interval single = clopper_pearson(counts[k], draws);
            all_single = all_single && single.low <= law[k] && law[k] <= single.high;
          }
          covered += all;
          one_at_a_time += all_single;
        }
        CHECK(covered >= 2000 * allowed);
        if (law.size() == 5 && draws == 200) CHECK(one_at_a_time < 2000 * allowed);  // why the level of each is raised
      }
  }
}
