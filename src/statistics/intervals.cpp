#include "statistics/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/errors.hpp"

namespace phaselock {

namespace {

using boost::math::beta_distribution;
using boost::math::complement;
using boost::math::quantile;

void check_level(double level) {
  if (!(level > 0.0 && level < 1.0)) throw DomainError(fmt::format("confidence level {} must be in (0, 1)", level));
}

void check_counts(double successes, double trials, double level) {
  if (!(0 <= successes && successes <= trials))
    throw DomainError(fmt::format("{} successes of {} trials are no counts of a binomial law", successes, trials));
  check_level(level);
}

/// The p at which `x` or more of `n` have probability `tail`: quantile `tail` of Beta(x, n - x + 1).
double lower_bound(double x, double n, double tail) { return x == 0.0 ? 0.0 : quantile(beta_distribution<>(x, n - x + 1.0), tail); }

/// The p at which `x` or fewer of `n` have probability `tail`: quantile 1 - `tail` of Beta(x + 1, n - x).
double upper_bound(double x, double n, double tail) {
  return x == n ? 1.0 : quantile(complement(beta_distribution<>(x + 1.0, n - x), tail));
}

}  // namespace

Interval clopper_pearson_continued(double successes, double trials, double level) {
  check_counts(successes, trials, level);
  const double tail = (1.0 - level) / 2.0;
  return {lower_bound(successes, trials, tail), upper_bound(successes, trials, tail)};
}

Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level) {
  return clopper_pearson_continued(double(successes), double(trials), level);
}

double level_of_each(double level, int cells) {
  check_level(level);
  if (cells < 1) throw DomainError(fmt::format("intervals of {} cells", cells));
  return cells == 2 ? level : 1.0 - (1.0 - level) / cells;
}

std::vector<Interval> simultaneous_intervals(std::span<const std::int64_t> counts, double level) {
  const double each = level_of_each(level, int(counts.size()));
  if (counts.size() == 1) return {{1.0, 1.0}};
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t(0));
  std::vector<Interval> intervals;
  for (const std::int64_t count : counts) intervals.push_back(clopper_pearson(count, total, each));
  return intervals;
}

GoodnessOfFit chi_square_test(std::span<const std::int64_t> counts, std::span<const double> probabilities) {
  if (counts.empty() || counts.size() != probabilities.size())
    throw DomainError(fmt::format("{} counts cannot be tested against {} probabilities", counts.size(), probabilities.size()));
  const double total = double(std::accumulate(counts.begin(), counts.end(), std::int64_t(0)));
  double statistic = 0.0;
  int cells = 0;
  bool impossible = false;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (probabilities[k] > 0.0) {
      ++cells;
      const double expected = total * probabilities[k];
      if (total > 0.0) statistic += (double(counts[k]) - expected) * (double(counts[k]) - expected) / expected;
    } else if (counts[k] != 0) {
      impossible = true;
    }
  }
  if (impossible) return {std::numeric_limits<double>::infinity(), std::max(cells - 1, 0), 0.0};
  return chi_square_of(statistic, std::max(cells - 1, 0));
}

GoodnessOfFit chi_square_of(double statistic, int degrees) {
  return {statistic, degrees, degrees > 0 ? cdf(complement(boost::math::chi_squared(degrees), statistic)) : 1.0};
}

}  // namespace phaselock
