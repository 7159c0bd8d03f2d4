#include "statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "errors.hpp"

namespace phaselock {

namespace {

using boost::math::beta_distribution;
using boost::math::complement;
using boost::math::quantile;

void check_counts(std::int64_t successes, std::int64_t trials, double level) {
  if (!(0 <= successes && successes <= trials))
    throw DomainError(fmt::format("{} successes of {} trials are no counts of a binomial law", successes, trials));
  if (!(level > 0.0 && level < 1.0)) throw DomainError(fmt::format("confidence level {} must be in (0, 1)", level));
}

/// The p at which `successes` or more of `trials` have probability `tail`: quantile `tail` of Beta(x, n - x + 1).
double lower_bound(std::int64_t x, std::int64_t n, double tail) {
  return x == 0 ? 0.0 : quantile(beta_distribution<>(double(x), double(n - x + 1)), tail);
}

/// The p at which `successes` or fewer of `trials` have probability `tail`: quantile 1 - `tail` of Beta(x + 1, n - x).
double upper_bound(std::int64_t x, std::int64_t n, double tail) {
  return x == n ? 1.0 : quantile(complement(beta_distribution<>(double(x + 1), double(n - x)), tail));
}

}  // namespace

Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level) {
  check_counts(successes, trials, level);
  const double tail = (1.0 - level) / 2.0;
  return {lower_bound(successes, trials, tail), upper_bound(successes, trials, tail)};
}

double clopper_pearson_lower(std::int64_t successes, std::int64_t trials, double level) {
  check_counts(successes, trials, level);
  return lower_bound(successes, trials, 1.0 - level);
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

GoodnessOfFit uniformity_of_groups(std::span<const std::vector<int>> groups, int values) {
  if (values < 1) throw DomainError(fmt::format("draws among {} values", values));
  const std::int64_t n = values;
  std::vector<std::int64_t> total(values, 0), X(values);
  std::int64_t draws = 0, spread = 0;  // spread: sum over groups of n sum_r X_r^2 - H^2 = n (n - 1) v
  for (const std::vector<int>& group : groups) {
    std::fill(X.begin(), X.end(), 0);
    for (const int r : group) {
      if (r < 0 || r >= values) throw DomainError(fmt::format("draw {} is outside 0..{}", r, values - 1));
      ++X[r];
      ++total[r];
    }
    const std::int64_t size = std::int64_t(group.size());
    draws += size;
    spread += n * std::inner_product(X.begin(), X.end(), X.begin(), std::int64_t(0)) - size * size;
  }
  if (spread == 0) return chi_square_of(0.0, values - 1);
  double statistic = 0.0;  // sum_r (total_r - draws / n)^2 / (v groups)
  for (const std::int64_t count : total) {
    const double excess = double(n * count - draws);
    statistic += excess * excess * double(n - 1) / (double(n) * double(spread));
  }
  return chi_square_of(statistic, values - 1);
}

std::vector<double> occupancy_law(int choices, int values) {
  if (choices < 1 || values < 1) throw DomainError(fmt::format("occupancy of {} choices among {} values", choices, values));
  // One more choice repeats one of the k values seen with probability k / n, else it is new. All terms are positive, so
  // no figure is lost where the formula in Stirling's numbers would overflow.
  std::vector<double> law(std::min(choices, values), 0.0);
  law[0] = 1.0;
  for (int choice = 2; choice <= choices; ++choice)
    for (int k = int(law.size()); k >= 1; --k) {
      const double fresh = k == 1 ? 0.0 : law[k - 2] * double(values - k + 1) / values;
      law[k - 1] = law[k - 1] * double(k) / values + fresh;
    }
  return law;
}

}  // namespace phaselock
