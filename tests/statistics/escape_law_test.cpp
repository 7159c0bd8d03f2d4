// Escape times: quantiles and means of histograms, the law of their change with the size of the start. Levels stated, fixed seeds.
#include "statistics/escape_law.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "model/errors.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

constexpr double lambda = 0.008529, mu = -0.118;  // of one head of the first model, theory.md section 5, Rates

/// Escape times whose clock is normal, deviation 0.82 as seen in flows: log T and T are smooth laws, the median is exact.
struct Times {
  double median, deviation = 0.82;

  double draw(Stream& stream) const { return escape_time_at(lambda, mu, median, std::exp(deviation * stream.normal())); }
  EscapeHistogram histogram(Stream& stream, int seeds) const {
    EscapeHistogram result;
    for (int seed = 0; seed < seeds; ++seed) ++result[escape_bin(draw(stream))];
    return result;
  }
};

const double error = std::sqrt(0.95 * 0.05 / 2000);  // of the share of 2000 data sets

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("bins") {
    CHECK(escape_bin(1.0) == 0);
    CHECK(escape_bin(1000.0) == 300);
    CHECK(escape_bin(1020.0) == 300);
    CHECK(escape_bin(1024.0) == 301);
    CHECK(escape_bin(0.5) == -31);  // log10 = -0.30103
    CHECK(escape_bin(0.0) == escaped_at_start);
    CHECK_THROWS_AS(escape_bin(-1.0), DomainError);
    CHECK_THROWS_AS(escape_bin(INFINITY), DomainError);
    CHECK_THROWS_AS(escape_bin(NAN), DomainError);
  }

  TEST_CASE("quantiles: starts past the escape are earlier than all, seeds that did not escape later") {
    const EscapeHistogram most{{escaped_at_start, 178}, {200, 22}};
    CHECK(escape_quantile(most, 0.5).value == 0.0);
    CHECK(escape_quantile(most, 0.5).interval.high == 0.0);
    const EscapeHistogram few{{escaped_at_start, 1}, {100, 1}, {200, 1}};
    CHECK(escape_quantile(few, 0.5).value == doctest::Approx(std::pow(10.0, 1.005)));
    CHECK(escape_quantile(few, 0.5, 2).value == doctest::Approx(std::pow(10.0, 2.005)));
    CHECK_THROWS_AS(escape_slope(few, {{100, 2}}, 10.0, lambda, mu), DomainError);
  }

  TEST_CASE("quantiles: bins of the order statistics") {
    // One seed in each of bins 1 .. n: order statistic k is in bin k.
    const auto ladder = [](int n) {
      EscapeHistogram histogram;
      for (int k = 1; k <= n; ++k) histogram[k] = 1;
      return histogram;
    };
    const auto check = [](const Estimate& found, double value, double low, double high) {
      CHECK(100 * std::log10(found.value) == doctest::Approx(value).epsilon(1e-12));
      CHECK(100 * std::log10(found.interval.low) == doctest::Approx(low).epsilon(1e-12));
      CHECK(100 * std::log10(found.interval.high) == doctest::Approx(high).epsilon(1e-12));
    };
    // Ranks, scipy 1.10: the largest l with binom.cdf(l - 1, n, q) <= 0.025, the least u with binom.sf(u - 1, n, q) <= 0.025.
    check(escape_quantile(ladder(20), 0.5), 10.5, 6, 16);
    check(escape_quantile(ladder(100), 0.25), 25.5, 17, 36);
    check(escape_quantile(ladder(1000), 0.5), 500.5, 469, 533);
    check(escape_quantile(ladder(1000), 0.99), 990.5, 983, 998);
    const Estimate half = escape_quantile(ladder(500), 0.5, 500);  // 500 more are later than all
    CHECK(half.value == escape_quantile(ladder(1000), 0.5).value);
    CHECK(half.interval.low == escape_quantile(ladder(1000), 0.5).interval.low);
    CHECK(std::isinf(half.interval.high));
    const Estimate few = escape_quantile(ladder(3), 0.5);
    CHECK(few.interval.low == 0.0);
    CHECK(std::isinf(few.interval.high));
    const Estimate late = escape_quantile(ladder(10), 0.5, 990);
    CHECK(std::isinf(late.value));
    CHECK(late.interval.low == doctest::Approx(std::pow(10.0, 0.1)).epsilon(1e-14));  // later than the last that escaped
    CHECK(std::isinf(late.interval.high));
    CHECK(std::isnan(escape_quantile({}, 0.5).value));
    CHECK(escape_quantile({}, 0.5, 40).interval.low == 0.0);
    CHECK(escape_quantile({{300, 40}}, 0.5).interval.high == doctest::Approx(std::pow(10.0, 3.01)).epsilon(1e-14));
    CHECK_THROWS_AS(escape_quantile({{1, 1}}, 1.0), DomainError);
    CHECK_THROWS_AS(escape_quantile({{1, 1}}, 0.5, -1), DomainError);
    CHECK_THROWS_AS(escape_quantile({{1, -1}}, 0.5), DomainError);
    CHECK_THROWS_AS(escape_quantile({{1, 1}}, 0.5, 0, 0.0), DomainError);
  }

  TEST_CASE("intervals of median and upper decile cover in at least 95% of 2000 data sets (3 standard errors)") {
    Stream stream(101, Purpose::choice);
    const Times times{900.0};
    const double decile = escape_time_at(lambda, mu, 900.0, std::exp(0.82 * 1.2815515655446004));
    int median_covered = 0, decile_covered = 0;
    for (int set = 0; set < 2000; ++set) {
      const EscapeHistogram histogram = times.histogram(stream, 60);
      const Interval median = escape_quantile(histogram, 0.5).interval, upper = escape_quantile(histogram, 0.9).interval;
      median_covered += median.low <= 900.0 && 900.0 <= median.high;
      decile_covered += upper.low <= decile && decile <= upper.high;
    }
    CHECK(median_covered >= 2000 * (0.95 - 3 * error));
    CHECK(decile_covered >= 2000 * (0.95 - 3 * error));
  }

  TEST_CASE("the law carries a time to that of a smaller start and back, at the rate 1 / (lambda + mu / T)") {
    // scipy 1.10: brentq of lambda T + mu log T = lambda 917 + mu log 917 + log 1000; theory.md: T = 917, 1734
    CHECK(escape_time_at(lambda, mu, 917, 1e3) == doctest::Approx(1735.741826347392).epsilon(1e-10));
    CHECK(escape_time_at(lambda, mu, escape_time_at(lambda, mu, 917, 1e3), 1e-3) == doctest::Approx(917).epsilon(1e-10));
    CHECK(escape_time_at(lambda, mu, 917, 1.0) == doctest::Approx(917).epsilon(1e-12));
    const double slope =
        (escape_time_at(lambda, mu, 917, std::exp(1e-3)) - escape_time_at(lambda, mu, 917, std::exp(-1e-3))) / 2e-3;
    CHECK(slope == doctest::Approx(1.0 / (lambda + mu / 917)).epsilon(1e-6));
    CHECK(escape_time_at(lambda, 0.0, 917, 1e3) == doctest::Approx(917 + std::log(1e3) / lambda).epsilon(1e-12));
    CHECK_THROWS_AS(escape_time_at(lambda, mu, 917, 0.0), DomainError);
    CHECK_THROWS_AS(escape_time_at(0.0, mu, 917, 2.0), DomainError);
    CHECK_THROWS_AS(escape_time_at(lambda, mu, 13.0, 2.0), DomainError);  // before -mu / lambda = 13.8
    CHECK_THROWS_AS(escape_time_at(lambda, mu, 917, 1e-6), DomainError);  // would escape before it
  }

  TEST_CASE("measured slope: interval covers 1, level 0.05 (2000 data sets, 3 standard errors); a rate wrong by a tenth is found") {
    Stream stream(102, Purpose::choice);
    const Times before{894.6}, after{escape_time_at(lambda, mu, 894.6, 1e3)};
    int rejected = 0, covered = 0, found = 0;
    for (int set = 0; set < 2000; ++set) {
      const EscapeHistogram first = before.histogram(stream, 60), second = after.histogram(stream, 80);
      const EscapeSlope slope = escape_slope(first, second, 1e3, lambda, mu);
      rejected += slope.p_value <= 0.05;
      covered += slope.ratio.interval.low <= 1.0 && 1.0 <= slope.ratio.interval.high;
      found += escape_slope(first, second, 1e3, 1.1 * lambda, mu).p_value <= 0.05;
    }
    CHECK(rejected <= 2000 * (0.05 + 3 * error));
    CHECK(rejected >= 2000 * (0.05 - 4 * error));
    CHECK(covered == 2000 - rejected);
    CHECK(found > 1800);
  }

  TEST_CASE("measured slope: by hand, either direction, what is refused") {
    const EscapeHistogram first = {{290, 50}, {295, 50}}, second = {{320, 50}, {325, 50}};
    const EscapeSlope there = escape_slope(first, second, 1e3, lambda, mu), back = escape_slope(second, first, 1e-3, lambda, mu);
    const auto clock = [&](int bin) { return escape_clock(lambda, mu, std::pow(10.0, (bin + 0.5) / 100)); };
    CHECK(there.ratio.value ==
          doctest::Approx((clock(320) + clock(325) - clock(290) - clock(295)) / 2 / std::log(1e3)).epsilon(1e-12));
    // Few seeds, so that a variance over n is not one over n - 1: of two numbers a and b the latter is (a - b)^2 / 2, of the 3
    // others the sum of squares over 2.
    const EscapeSlope few = escape_slope({{290, 1}, {295, 1}}, {{320, 2}, {326, 1}}, 1e3, lambda, mu);
    const double before = std::pow(clock(290) - clock(295), 2) / 2, off = (clock(326) - clock(320)) / 3;
    const double after = (2 * off * off + 4 * off * off) / 2, width = std::sqrt(before / 2 + after / 3) / std::log(1e3);
    CHECK(few.ratio.interval.high - few.ratio.value == doctest::Approx(1.959963984540054 * width).epsilon(1e-10));
    CHECK(few.ratio.value - few.ratio.interval.low == doctest::Approx(1.959963984540054 * width).epsilon(1e-10));
    CHECK(few.p_value == doctest::Approx(std::erfc(std::abs(few.ratio.value - 1) / width / std::sqrt(2.0))).epsilon(1e-10));
    CHECK(back.ratio.value == doctest::Approx(there.ratio.value).epsilon(1e-12));
    CHECK(back.p_value == doctest::Approx(there.p_value).epsilon(1e-9));
    CHECK(back.ratio.interval.low == doctest::Approx(there.ratio.interval.low).epsilon(1e-12));
    CHECK_THROWS_AS(escape_slope(first, second, 1.0, lambda, mu), DomainError);
    CHECK_THROWS_AS(escape_slope(first, second, -2.0, lambda, mu), DomainError);
    CHECK_THROWS_AS(escape_slope(first, second, 2.0, 0.0, mu), DomainError);
    CHECK_THROWS_AS(escape_slope(first, {{1, 1}}, 2.0, lambda, mu), DomainError);
    CHECK_THROWS_AS(escape_slope({}, second, 2.0, lambda, mu), DomainError);
  }
}
