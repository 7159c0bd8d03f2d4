// Intervals of probabilities and the chi-square test, for counts over seeds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace phaselock {

struct Interval {
  double low, high;
};

/// A number and its confidence interval.
struct Estimate {
  double value;
  Interval interval;
};

/// Clopper and Pearson's interval for a probability from `successes` of `trials`, each tail (1 - level) / 2; it holds the
/// probability in at least a share `level` of all draws. No trials: [0, 1]. DomainError unless 0 <= successes <= trials and 0 <
/// level < 1.
Interval clopper_pearson(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// Clopper and Pearson's formula continued to counts that are not whole: the quantiles of Beta(x, n - x + 1) and Beta(x + 1, n -
/// x).
Interval clopper_pearson_continued(double successes, double trials, double level = 0.95);

/// The level that each of the intervals of a multinomial law's `cells` probabilities needs so that with probability `level` all
/// of them cover: 1 - (1 - level) / cells (Bonferroni), but `level` itself for two cells, whose intervals mirror each other.
double level_of_each(double level, int cells);

/// Simultaneous intervals of a multinomial law's probabilities: Clopper and Pearson's at level_of_each. With probability at least
/// `level` all of them cover, whatever the law and the number of draws. A single cell: [1, 1]. DomainError for no cell, a negative
/// count, or a level outside (0, 1).
std::vector<Interval> simultaneous_intervals(std::span<const std::int64_t> counts, double level = 0.95);

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

}  // namespace phaselock
