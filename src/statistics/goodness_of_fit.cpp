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

/// Counts and probabilities of the categories that can occur, the least likely first.
struct Categories {
  std::vector<std::int64_t> counts;
  std::vector<double> probabilities;
  std::int64_t total = 0;

  Categories(std::span<const std::int64_t> all_counts, std::span<const double> all_probabilities) {
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
      // The pool grows by the least likely other category, and takes the place that its new probability has in the order.
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
double simulated_p_value(const Categories& categories, double statistic) {
  std::vector<double> cumulative(categories.probabilities.size());
  std::partial_sum(categories.probabilities.begin(), categories.probabilities.end(), cumulative.begin());
  Stream stream(1, Purpose::reference_counts);
  std::vector<std::int64_t> drawn(categories.counts.size());
  int extreme = 1;
  for (int table = 0; table < tables; ++table) {
    std::fill(drawn.begin(), drawn.end(), 0);
    for (std::int64_t draw = 0; draw < categories.total; ++draw) {
      const auto category = std::lower_bound(cumulative.begin(), cumulative.end() - 1, stream.uniform());
      ++drawn[std::size_t(category - cumulative.begin())];
    }
    // Equal statistics of different tables may differ in the last digits.
    extreme += chi_square_test(drawn, categories.probabilities).statistic >= statistic * (1.0 - 1e-12);
  }
  return double(extreme) / (tables + 1);
}

}  // namespace

LawFit goodness_of_fit(std::span<const std::int64_t> counts, std::span<const double> probabilities) {
  GoodnessOfFit test = chi_square_test(counts, probabilities);
  Categories categories(counts, probabilities);
  const auto compared = [&] { return int(categories.counts.size()); };
  const bool impossible = std::isinf(test.statistic);
  if (impossible || categories.counts.empty() || categories.expected(0) >= least_expected)
    return {test, FitMethod::chi_square, compared()};
  if (categories.total <= most_simulated_draws) {
    test.p_value = simulated_p_value(categories, test.statistic);
    return {test, FitMethod::monte_carlo, compared()};
  }
  categories.pool();
  return {chi_square_test(categories.counts, categories.probabilities), FitMethod::pooled_chi_square, compared()};
}

}  // namespace phaselock
