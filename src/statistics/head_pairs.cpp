#include "statistics/head_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "model/errors.hpp"
#include "statistics/occupancy.hpp"

namespace phaselock {

namespace {

std::int64_t sum_of_squares(const HeadSums& sums) {
  std::int64_t sum = 0;
  for (int r = 0; r < sums.phases; ++r) sum += sums.product(r, r);
  return sum;
}

void check(const HeadSums& sums) {
  const std::int64_t n = sums.phases, H = sums.heads;
  bool fits = H >= 1 && n >= 1 && sums.seeds >= 0 && std::int64_t(sums.at.size()) == n &&
              std::int64_t(sums.products.size()) == n * (n + 1) / 2;
  for (int r = 0; fits && r < n; ++r) {
    std::int64_t row = 0;  // sum_s n_r n_s = H n_r
    for (int s = 0; s < n; ++s) row += sums.product(r, s);
    fits = sums.at[r] >= 0 && row == H * sums.at[r];
  }
  if (!fits || std::accumulate(sums.at.begin(), sums.at.end(), std::int64_t(0)) != H * sums.seeds)
    throw DomainError(fmt::format("sums of {} heads at {} positions over {} seeds do not belong together", H, n, sums.seeds));
}

/// Numbers of seeds with each value of H (H - 1) y, over the values that shapes can have.
std::map<int, std::int64_t> meeting_pairs(int heads, int phases, std::span<const std::int64_t> shape_counts) {
  const std::vector<Shape> shapes = occupancy_shapes(heads, phases);
  if (shape_counts.size() != shapes.size())
    throw DomainError(
        fmt::format("{} counts for the {} shapes of {} heads at {} positions", shape_counts.size(), shapes.size(), heads, phases));
  std::map<int, std::int64_t> seeds;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    if (shape_counts[k] < 0) throw DomainError(fmt::format("{} seeds of shape {}", shape_counts[k], shape_name(shapes[k])));
    int meetings = 0;
    for (const int part : shapes[k]) meetings += part * (part - 1);
    seeds[meetings] += shape_counts[k];
  }
  return seeds;
}

Estimate mean_on_unit_interval(const std::map<int, std::int64_t>& seeds, double most, double level) {
  double count = 0.0, sum = 0.0, squares = 0.0;
  for (const auto& [meetings, times] : seeds) {
    const double y = meetings / most;
    count += double(times);
    sum += double(times) * y;
    squares += double(times) * y * y;
  }
  if (count == 0.0) return {std::numeric_limits<double>::quiet_NaN(), {0.0, 1.0}};
  const double value = sum / count;
  if (seeds.size() == 2) {
    const auto least = *seeds.begin(), greatest = *seeds.rbegin();
    const Interval share = clopper_pearson(greatest.second, least.second + greatest.second, level);
    const auto y = [&](double p) { return (least.first + (greatest.first - least.first) * p) / most; };
    return {value, {y(share.low), y(share.high)}};
  }
  const double z = quantile(complement(boost::math::normal(), (1.0 - level) / 2.0)), added = z * z / 2.0;
  const double total = count + 2.0 * added, mean = (sum + added) / total;
  const double reach = z * std::sqrt(((squares + added) / total - mean * mean) / total);
  // The mean lies between the least and the largest value that a seed can have.
  return {value, {std::max(mean - reach, seeds.begin()->first / most), std::min(mean + reach, seeds.rbegin()->first / most)}};
}

}  // namespace

HeadSums::HeadSums(int heads_, int phases_) : heads(heads_), phases(phases_) {
  if (heads < 1 || phases < 1) throw DomainError(fmt::format("sums of {} heads at {} positions", heads, phases));
  at.assign(std::size_t(phases), 0);
  products.assign(std::size_t(phases) * (phases + 1) / 2, 0);
}

void HeadSums::add(std::span<const int> selection) {
  if (std::int64_t(selection.size()) != heads)
    throw DomainError(fmt::format("positions of {} heads where {} are expected", selection.size(), heads));
  for (const int r : selection)
    if (r < 0 || r >= phases) throw DomainError(fmt::format("position {} is outside 0..{}", r, phases - 1));
  ++seeds;
  for (const int r : selection) {
    ++at[r];
    for (const int s : selection)
      if (r <= s) ++products[pair_index(r, s)];
  }
}

HeadSums& HeadSums::operator+=(const HeadSums& other) {
  if (other.heads != heads || other.phases != phases)
    throw DomainError(fmt::format("sums of {} heads at {} positions and of {} at {}", heads, phases, other.heads, other.phases));
  seeds += other.seeds;
  std::transform(at.begin(), at.end(), other.at.begin(), at.begin(), std::plus<>());
  std::transform(products.begin(), products.end(), other.products.begin(), products.begin(), std::plus<>());
  return *this;
}

GoodnessOfFit phase_uniformity(const HeadSums& sums) {
  check(sums);
  const std::int64_t n = sums.phases, H = sums.heads;
  const std::int64_t spread = n * sum_of_squares(sums) - H * H * sums.seeds;  // n (n - 1) v seeds
  if (spread == 0) return chi_square_of(0.0, sums.phases - 1);
  double statistic = 0.0;  // sum_r (at_r - H seeds / n)^2 / (v seeds)
  for (const std::int64_t count : sums.at) {
    const double excess = double(n * count - H * sums.seeds);
    statistic += excess * excess * double(n - 1) / (double(n) * double(spread));
  }
  return chi_square_of(statistic, sums.phases - 1);
}

std::vector<double> joint_phases(const HeadSums& sums) {
  check(sums);
  if (sums.heads < 2 || sums.seeds < 1) throw DomainError(fmt::format("pairs of {} heads of {} seeds", sums.heads, sums.seeds));
  const double pairs = double(sums.seeds) * sums.heads * (sums.heads - 1);
  std::vector<double> joint;
  for (int r = 0; r < sums.phases; ++r)
    for (int s = 0; s < sums.phases; ++s) joint.push_back(double(sums.product(r, s) - (r == s ? sums.at[r] : 0)) / pairs);
  return joint;
}

GoodnessOfFit pair_independence(const HeadSums& sums) {
  check(sums);
  const std::int64_t n = sums.phases, H = sums.heads;
  if (n < 2 || H < 2 || sums.seeds == 0) return chi_square_of(0.0, 0);
  double squares = 0.0;  // of n^2 T
  for (int r = 0; r < n; ++r)
    for (int s = 0; s < n; ++s) {
      const std::int64_t together = sums.product(r, s) - (r == s ? sums.at[r] : 0);
      const double entry = double(n * n * together - n * (H - 1) * (sums.at[r] + sums.at[s]) + H * (H - 1) * sums.seeds);
      squares += entry * entry;
    }
  return chi_square_of(squares / (2.0 * double(n * n * H * (H - 1)) * double(sums.seeds)), int(n * (n - 1) / 2));
}

PairCorrelation pair_correlation(int heads, int phases, std::span<const std::int64_t> shape_counts, double level) {
  if (heads < 2 || phases < 2) throw DomainError(fmt::format("correlation of {} heads at {} positions", heads, phases));
  if (!(level > 0.0 && level < 1.0)) throw DomainError(fmt::format("confidence level {} must be in (0, 1)", level));
  const Estimate same = mean_on_unit_interval(meeting_pairs(heads, phases, shape_counts), double(heads) * (heads - 1), level);
  const double chance = 1.0 / phases;
  const auto correlation = [&](double p) { return (p - chance) / (1.0 - chance); };
  return {same, {correlation(same.value), {correlation(same.interval.low), correlation(same.interval.high)}}};
}

}  // namespace phaselock
