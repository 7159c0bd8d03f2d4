// Intervals, tests and laws for counts over seeds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace phaselock {

struct Interval {
  double low, high;
};

/// Clopper and Pearson's interval for a probability from `successes` of `trials`, each tail (1 - level) / 2; exact coverage >=
/// level. No trials: [0, 1]. DomainError unless 0 <= successes <= trials and 0 < level < 1.
Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// Clopper and Pearson's one-sided lower bound: the probability is above it with confidence `level`.
double clopper_pearson_lower(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// Pearson's chi-square test of counts against expected probabilities (which sum to 1; cells of probability 0 must be empty, else p
/// = 0).
struct GoodnessOfFit {
  double statistic;
  int degrees;
  double p_value;
};
/// With no counts at all the statistic is 0 and p = 1. The p-value is asymptotic: expect at least about 5 in each cell.
GoodnessOfFit chi_square_test(std::span<const std::int64_t> counts, std::span<const double> probabilities);

/// The test's outcome for a statistic whose law is chi-square of so many degrees (0 degrees: p = 1).
GoodnessOfFit chi_square_of(double statistic, int degrees);

/// Chi-square test that draws among 0 .. values - 1 are uniform, where draws of one group may depend on each other but groups are
/// independent and the law of a group treats all values alike. With X_r the number of draws at r in a group of size H, the
/// covariance of X is v (I - 11^T / n), v = E[sum_r X_r^2 - H^2 / n] / (n - 1), n = values; v is estimated by its mean over groups.
/// (Independent draws have v = H / n, and then this is Pearson's test.) Groups that never vary give statistic 0.
GoodnessOfFit uniformity_of_groups(std::span<const std::vector<int>> groups, int values);

/// Occupancy law: probability of k distinct values, k = 1 .. min(H, n), among H independent uniform choices of n; entry k - 1.
/// P(k) = n! / (n - k)! S2(H, k) / n^H, S2 Stirling's numbers of the second kind (theory.md section 5, head coverage).
std::vector<double> occupancy_law(int choices, int values);

}  // namespace phaselock
