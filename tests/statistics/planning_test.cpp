// Numbers of seeds for intervals of a given width: brute force over numbers and outcomes, known values, how often intervals hold
// the truth by simulation.
#include "statistics/planning.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "model/errors.hpp"
#include "statistics/intervals.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

double width(std::int64_t x, std::int64_t n, double level) {
  const Interval interval = clopper_pearson(x, n, level);
  return interval.high - interval.low;
}

/// Widest interval of n trials whose share of successes is no closer to 1/2 than p.
double widest(std::int64_t n, double p, double level) {
  const double far = std::min(p, 1.0 - p);
  double w = 0.0;
  for (std::int64_t x = 0; x <= n; ++x)
    if (double(std::min(x, n - x)) <= far * double(n) * (1 + 1e-12)) w = std::max(w, width(x, n, level));
  return w;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("from the number on every outcome no closer to 1/2 has an interval at most as wide, and it is nearly the least such") {
    for (const double p : {0.5, 0.3, 0.9, 0.05, 0.0})
      for (const double w : {0.9, 0.5, 0.3, 0.2})
        for (const double level : {0.95, 0.8}) {
          const std::int64_t n = seeds_for_width(w, p, level);
          for (std::int64_t more = n; more < n + 40; ++more) CHECK(widest(more, p, level) <= w * (1 + 1e-12));
          CHECK(interval_width(double(n - 1), p, level) > w);
          std::int64_t least = n;  // of the numbers from which on the property holds
          while (least > 0 && widest(least - 1, p, level) <= w) --least;
          CHECK(double(n - least) <= (p > 0.0 ? 1.0 / std::min(p, 1.0 - p) : 0.0));
        }
  }

  TEST_CASE("the width falls with the number of seeds, and with the distance of the share from 1/2") {
    for (const double p : {0.0, 0.01, 0.25, 0.5, 0.8})
      for (double n = 0; n < 500; n = std::max(n + 1, std::floor(n * 1.3))) CHECK(interval_width(n + 1, p) < interval_width(n, p));
    for (double p = 0.0; p < 0.5; p += 0.01) CHECK(interval_width(50, p) < interval_width(50, p + 0.01));
    CHECK(interval_width(70, 0.2) == doctest::Approx(interval_width(70, 0.8)).epsilon(1e-12));
    CHECK(interval_width(0) == 1.0);
  }

  TEST_CASE("known values") {
    // scipy 1.10: beta.ppf(0.975, n / 2 + 1, n / 2) - beta.ppf(0.025, n / 2, n / 2 + 1) for n = 384, 1000
    CHECK(interval_width(384) == doctest::Approx(0.10228899259546065).epsilon(1e-11));
    CHECK(interval_width(1000) == doctest::Approx(0.06290165405641573).epsilon(1e-11));
    CHECK(seeds_for_width(0.1) == 402);  // the normal interval would take 384
    CHECK(seeds_for_width(0.01) == 38612);
    CHECK(seeds_for_width(1.0) == 0);
    CHECK(seeds_for_width(1e-4) == doctest::Approx(4 * 0.25 * 1.959963984540054 * 1.959963984540054 / 1e-8).epsilon(1e-4));
    CHECK(seeds_for_width(1e-5, 0.1) == doctest::Approx(4 * 0.09 * 1.959963984540054 * 1.959963984540054 / 1e-10).epsilon(1e-4));
    // No success expected: 1 - 0.025^(1/n) <= 0.01.
    CHECK(seeds_for_width(0.01, 0.0) == std::int64_t(std::ceil(std::log(0.025) / std::log(0.99))));
  }

  TEST_CASE("several cells: the seeds of one at the level of each") {
    CHECK(seeds_for_width(0.1, 0.5, 0.95, 2) == seeds_for_width(0.1));
    CHECK(seeds_for_width(0.1, 0.3, 0.95, 3) == seeds_for_width(0.1, 0.3, 1.0 - 0.05 / 3));
    CHECK(seeds_for_width(0.1, 0.5, 0.95, 7) > seeds_for_width(0.1, 0.5, 0.95, 3));
  }

  TEST_CASE(
      "planned for 1/2, simultaneous intervals are as narrow as planned whatever comes out, and cover (2000 data sets, 3 errors)") {
    const std::vector<double> law = {0.5, 0.3, 0.2};
    const std::int64_t n = seeds_for_width(0.2, 0.5, 0.95, 3);
    Stream stream(71, Purpose::choice);
    int covered = 0;
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::int64_t> counts(3, 0);
      for (std::int64_t k = 0; k < n; ++k) ++counts[test::choose(stream, law)];
      bool all = true;
      const std::vector<Interval> intervals = simultaneous_intervals(counts);
      for (std::size_t k = 0; k < law.size(); ++k) {
        CHECK(intervals[k].high - intervals[k].low <= 0.2);
        all = all && intervals[k].low <= law[k] && law[k] <= intervals[k].high;
      }
      covered += all;
    }
    CHECK(covered >= 2000 * (0.95 - 3 * std::sqrt(0.95 * 0.05 / 2000)));
  }

  TEST_CASE("what is refused") {
    CHECK_THROWS_AS(seeds_for_width(0.0), DomainError);
    CHECK_THROWS_AS(seeds_for_width(NAN), DomainError);
    CHECK_THROWS_AS(seeds_for_width(0.1, -0.1), DomainError);
    CHECK_THROWS_AS(seeds_for_width(0.1, 0.5, 1.0), DomainError);
    CHECK_THROWS_AS(seeds_for_width(0.1, 0.5, 0.95, 0), DomainError);
    CHECK_THROWS_AS(interval_width(-1.0), DomainError);
  }
}
