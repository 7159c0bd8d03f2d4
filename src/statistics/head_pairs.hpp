// Where the heads of selected seeds are, one by one and in pairs: sums over seeds, and what they say about uniform phases and
// independent heads (theory.md section 5, head coverage). Seeds are independent, the heads of one seed need not be.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "statistics/intervals.hpp"

namespace phaselock {

/// Sums over seeds; n_r is the number of a seed's heads at phase r = 0 .. n - 1, n = S - 1.
struct HeadSums {
  int heads, phases;
  std::int64_t seeds = 0;
  std::vector<std::int64_t> at;        ///< sum of n_r, [n]
  std::vector<std::int64_t> products;  ///< sum of n_r n_s, r <= s, at pair_index, [n (n + 1) / 2]

  /// No seeds yet. DomainError unless heads >= 1 and phases >= 1.
  HeadSums(int heads, int phases);

  /// Place of r <= s in `products`: (0, 0), (0, 1), .., (0, n - 1), (1, 1), ..
  std::size_t pair_index(int r, int s) const { return std::size_t(r) * (2 * phases - r + 1) / 2 + (s - r); }

  /// Sum of n_r n_s in either order.
  std::int64_t product(int r, int s) const { return products[r < s ? pair_index(r, s) : pair_index(s, r)]; }

  /// One more seed. DomainError unless it has `heads` phases in 0 .. n - 1.
  void add(std::span<const int> selection);

  /// The seeds of both. DomainError unless they are of as many heads and phases.
  HeadSums& operator+=(const HeadSums& other);

  bool operator==(const HeadSums&) const = default;
};

/// Test that each head's phase is uniform, given that the law of a seed treats all phases alike: then the covariance of
/// n = (n_r) is v (I - 11^T / n), v = E[sum_r n_r^2 - H^2 / n] / (n - 1), and v is estimated by its mean over seeds. Chi-square of
/// n - 1 degrees for many seeds. (Independent heads have v = H / n, and then this is Pearson's test.) Heads that never vary in
/// numbers give statistic 0. As all below: DomainError if the sums do not belong together.
GoodnessOfFit phase_uniformity(const HeadSums& sums);

/// P(r_h = r, r_g = s) for two different heads of a seed, averaged over the pairs: symmetric, [n][n], sums to 1:
/// (sum n_r n_s - [r = s] sum n_r) / (seeds H (H - 1)). DomainError without a seed or a second head.
std::vector<double> joint_phases(const HeadSums& sums);

/// Test of independent uniform heads by their pairs, apart from single phases (which phase_uniformity tests): with
/// a_h = e_(r_h) - 1/n, the matrix T = sum over seeds and pairs of (a_h a_g^T + a_g a_h^T), 0 on average. Products of different
/// pairs are uncorrelated under independence, and ||T||^2 n^2 / (2 H (H - 1) seeds) is chi-square of n (n - 1) / 2 degrees for many
/// seeds (expect at least about 5 pairs at each (r, s)). No seed, head or phase to compare: p = 1.
GoodnessOfFit pair_independence(const HeadSums& sums);

/// How often two heads meet, and the correlation of their phases.
struct PairCorrelation {
  Estimate same;         ///< probability that two different heads of a seed share a phase
  Estimate correlation;  ///< (same - 1/n) / (1 - 1/n): 0 for independent uniform heads, 1 if they always meet
};

/// From counts of selected seeds in the order of occupancy_shapes(heads, phases). A seed's value is
/// y = sum_r n_r (n_r - 1) / (H (H - 1)), in [0, 1]. Where y can take two values only (two heads, or three at two phases), the
/// interval is Clopper and Pearson's, exact. Otherwise it is normal around the mean, after z^2 / 2 seeds are added at y = 0 and as
/// many at y = 1 (Agresti and Coull's interval, for any law on [0, 1]); its level is approximate: 95% intervals covered in at least
/// 93% of simulated data sets of 30 seeds or more, for every law tried, and always where all seeds agree. No seeds: NaN in [0, 1].
/// DomainError unless heads >= 2 and phases >= 2, and there is a count for each shape.
PairCorrelation pair_correlation(int heads, int phases, std::span<const std::int64_t> shape_counts, double level = 0.95);

}  // namespace phaselock
