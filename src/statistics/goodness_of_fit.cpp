#include "statistics/goodness_of_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/random.hpp"

namespace phaselock {

namespace {

constexpr double least_expected = 5.0;
constexpr std::int64_t most_simulated_draws = 500;
constexpr int tables = 1999;

/// Counts and probabilities of the cells that can occur, the least likely first.
struct Cells {
  std::vector<std::int64_t> counts;
  std::vector<double> probabilities;
  std::int64_t total = 0;

  Cells(std::span<const std::int64_t> all_counts, std::span<const double> all_probabilities) {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < all_counts.size(); ++k)
      if (all_probabilities[k] > 0.0) order.push_back(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return all_probabilities[a] < all_probabilities[b]; });
    for (const std::size_t k : order) {
      counts.push_back(all_counts[k]);
      probabilities.push_back(all_probabilities[k]);
      total += all_counts[k];
    }
  }

  double expected(std::size_t k) const { return double(total) * probabilities[k]; }

  void pool() {
    while (counts.size() > 1 && expected(0) < least_expected) {
      // The pool grows by the least likely other cell, and takes the place that its new probability has in the order.
      const std::int64_t count = counts[0] + counts[1];
      const double probability = probabilities[0] + probabilities[1];
      counts.erase(counts.begin(), counts.begin() + 2);
      probabilities.erase(probabilities.begin(), probabilities.begin() + 2);
      const auto place = std::upper_bound(probabilities.begin(), probabilities.end(), probability);
      counts.insert(counts.begin() + (place - probabilities.begin()), count);
      probabilities.insert(place, probability);
    }
  }
};

/// Share of tables drawn from the law, the one at hand among them, whose statistic is no less than its.
double simulated_p_value(const Cells& cells, double statistic) {
  std::vector<double> cumulative(cells.probabilities.size());
  std::partial_sum(cells.probabilities.begin(), cells.probabilities.end(), cumulative.begin());
  Stream stream(1, Purpose::reference_counts);
  std::vector<std::int64_t> drawn(cells.counts.size());
  int extreme = 1;
  for (int table = 0; table < tables; ++table) {
    std::fill(drawn.begin(), drawn.end(), 0);
    for (std::int64_t draw = 0; draw < cells.total; ++draw) {
      const auto cell = std::lower_bound(cumulative.begin(), cumulative.end() - 1, stream.uniform());
      ++drawn[std::size_t(cell - cumulative.begin())];
    }
    // Equal statistics of different tables may differ in the last digits.
    extreme += chi_square_test(drawn, cells.probabilities).statistic >= statistic * (1.0 - 1e-12);
  }
  return double(extreme) / (tables + 1);
}

}  // namespace

LawFit goodness_of_fit(std::span<const std::int64_t> counts, std::span<const double> probabilities) {
  GoodnessOfFit test = chi_square_test(counts, probabilities);
  Cells cells(counts, probabilities);
  const auto compared = [&] { return int(cells.counts.size()); };
  const bool impossible = std::isinf(test.statistic);
  if (impossible || cells.counts.empty() || cells.expected(0) >= least_expected) return {test, FitMethod::chi_square, compared()};
  if (cells.total <= most_simulated_draws) {
    test.p_value = simulated_p_value(cells, test.statistic);
    return {test, FitMethod::monte_carlo, compared()};
  }
  cells.pool();
  return {chi_square_test(cells.counts, cells.probabilities), FitMethod::pooled_chi_square, compared()};
}

}  // namespace phaselock
