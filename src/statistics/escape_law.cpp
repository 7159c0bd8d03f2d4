#include "statistics/escape_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>

#include "model/errors.hpp"

namespace phaselock {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Time at a place of the bins' axis: k is the lower edge of bin k, k + 1/2 its middle. At escaped_at_start and next to it: 0.
double time_at(double place) { return std::pow(10.0, place / 100.0); }

void check_level(double level) {
  if (!(level > 0.0 && level < 1.0)) throw DomainError(fmt::format("confidence level {} must be in (0, 1)", level));
}

std::int64_t total(const EscapeHistogram& histogram) {
  std::int64_t sum = 0;
  for (const auto& [bin, count] : histogram) {
    if (count < 0) throw DomainError(fmt::format("{} escapes in bin {}", count, bin));
    sum += count;
  }
  return sum;
}

/// Place of bin of order statistic `rank` = 1, 2, ..; infinity beyond the last.
double place_of_rank(const EscapeHistogram& histogram, std::int64_t rank) {
  for (const auto& [bin, count] : histogram) {
    if (rank <= count) return bin;
    rank -= count;
  }
  return infinity;
}

/// Of the last bin that is not empty; -infinity if all are.
double last_place(const EscapeHistogram& histogram) {
  double place = -infinity;
  for (const auto& [bin, count] : histogram)
    if (count > 0) place = bin;
  return place;
}

/// The least k = 0 .. n + 1 for which `holds`, false before it and true from it on; n + 1 if for none up to n.
template <class F>
std::int64_t first_rank(std::int64_t n, F holds) {
  std::int64_t low = 0, high = n + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Mean and variance over seeds of f(time), times at the middles of their bins.
struct Moments {
  double seeds = 0.0, mean = 0.0, variance = 0.0;
};
template <class F>
Moments moments(const EscapeHistogram& histogram, F f) {
  Moments m;
  m.seeds = double(total(histogram));
  for (const auto& [bin, count] : histogram) m.mean += double(count) * f(time_at(bin + 0.5)) / m.seeds;
  for (const auto& [bin, count] : histogram) {
    const double off = f(time_at(bin + 0.5)) - m.mean;
    m.variance += double(count) * off * off / (m.seeds - 1.0);
  }
  return m;
}

}  // namespace

int escape_bin(double time) {
  if (!(time >= 0.0 && time < infinity)) throw DomainError(fmt::format("escape time {} must be finite and >= 0", time));
  if (time == 0.0) return escaped_at_start;
  return int(std::floor(100.0 * std::log10(time)));
}

Estimate escape_quantile(const EscapeHistogram& histogram, double q, std::int64_t not_escaped, double level) {
  check_level(level);
  if (!(q > 0.0 && q < 1.0)) throw DomainError(fmt::format("quantile {} must be in (0, 1)", q));
  if (not_escaped < 0) throw DomainError(fmt::format("{} seeds that did not escape", not_escaped));
  const std::int64_t n = total(histogram) + not_escaped;
  if (n == 0) return {nan, {0.0, infinity}};
  // The number B of seeds that escape by the quantile's time is binomial (n, q) at least (exactly, if T has no atom there).
  // X_(l) <= quantile unless B < l, X_(u) >= quantile unless u or more are before it.
  const boost::math::binomial before(double(n), q);
  const double tail = (1.0 - level) / 2.0;
  const std::int64_t l = first_rank(n, [&](std::int64_t k) { return cdf(before, double(k)) > tail; });
  const std::int64_t u = first_rank(n, [&](std::int64_t k) { return k > 0 && cdf(complement(before, double(k - 1))) <= tail; });
  // A seed that did not escape is only known to be later than those that did.
  const double first = l == 0 ? -infinity : std::min(place_of_rank(histogram, l), last_place(histogram));
  const double low = time_at(first), high = time_at(place_of_rank(histogram, u) + 1.0);
  return {time_at(place_of_rank(histogram, std::int64_t(std::ceil(q * double(n)))) + 0.5), {low, high}};
}

double escape_clock(double lambda, double mu, double time) { return lambda * time + mu * std::log(time); }

double escape_time_at(double lambda, double mu, double time, double shrink) {
  if (!(lambda > 0.0 && lambda < infinity && std::isfinite(mu)))
    throw DomainError(fmt::format("escape rate {} with correction {}", lambda, mu));
  if (!(shrink > 0.0 && shrink < infinity)) throw DomainError(fmt::format("starts cannot be {} times smaller", shrink));
  const double earliest = std::max(0.0, -mu / lambda);  // where the clock starts to grow
  if (!(time > earliest && time < infinity)) throw DomainError(fmt::format("escape time {} must be > {}", time, earliest));
  const double target = escape_clock(lambda, mu, time) + std::log(shrink);
  const auto excess = [&](double t) { return escape_clock(lambda, mu, t) - target; };
  double low = time, high = time;
  while (excess(high) < 0.0) high *= 2.0;
  while (excess(low) > 0.0) {
    low = earliest + (low - earliest) / 2.0;
    if (!(low - earliest > 1e-12 * time))
      throw DomainError(fmt::format("starts {} times smaller escape before the law holds", shrink));
  }
  if (low == high) return time;
  std::uintmax_t steps = 200;
  const auto [left, right] =
      boost::math::tools::toms748_solve(excess, low, high, boost::math::tools::eps_tolerance<double>(50), steps);
  return left + (right - left) / 2.0;
}

EscapeSlope escape_slope(const EscapeHistogram& at_rho, const EscapeHistogram& at_smaller, double shrink, double lambda, double mu,
                         double level) {
  check_level(level);
  if (!(lambda > 0.0 && lambda < infinity && std::isfinite(mu)))
    throw DomainError(fmt::format("escape rate {} with correction {}", lambda, mu));
  if (!(shrink > 0.0 && shrink < infinity && shrink != 1.0))
    throw DomainError(fmt::format("no slope between starts that are {} times smaller", shrink));
  if (at_rho.contains(escaped_at_start) || at_smaller.contains(escaped_at_start))
    throw DomainError("no slope from starts that are past the escape already");
  const auto clock = [&](double time) { return escape_clock(lambda, mu, time); };
  const Moments before = moments(at_rho, clock), after = moments(at_smaller, clock);
  if (before.seeds < 2.0 || after.seeds < 2.0)
    throw DomainError(fmt::format("a slope needs at least 2 seeds at each size, not {} and {}", before.seeds, after.seeds));
  const double predicted = std::log(shrink), change = after.mean - before.mean;
  const double error = std::sqrt(before.variance / before.seeds + after.variance / after.seeds);
  const double reach = quantile(complement(boost::math::normal(), (1.0 - level) / 2.0)) * error / std::abs(predicted);
  const double ratio = change / predicted, off = std::abs(change - predicted);
  const double p_value = error > 0.0 ? 2.0 * cdf(complement(boost::math::normal(), off / error)) : (off > 0.0 ? 0.0 : 1.0);
  return {{ratio, {ratio - reach, ratio + reach}}, p_value};
}

}  // namespace phaselock
