// Phases and pairs of heads from sums over seeds: known values, levels and power by simulation.
#include "statistics/head_pairs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model/errors.hpp"
#include "statistics/occupancy.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

/// How simulated heads choose: all alike or all different with the given probabilities, else independently; the first, and
/// independent ones, from `law`.
struct Heads {
  int heads;
  std::vector<double> law;
  double alike = 0.0, apart = 0.0;

  std::vector<int> draw(Stream& stream) const {
    const int n = int(law.size());
    std::vector<int> selection(heads);
    for (int& r : selection) r = test::choose(stream, law);
    const double kind = stream.uniform();
    for (int h = 1; h < heads; ++h)
      if (kind < alike)
        selection[h] = selection[0];
      else if (kind < alike + apart)
        selection[h] = (selection[0] + h) % n;
    return selection;
  }
  HeadSums sums(Stream& stream, int seeds) const {
    HeadSums result(heads, int(law.size()));
    for (int seed = 0; seed < seeds; ++seed) result.add(draw(stream));
    return result;
  }
};

std::vector<double> uniform(int n) { return std::vector<double>(n, 1.0 / n); }

HeadSums sums_of(int heads, int phases, const std::vector<std::vector<int>>& selections) {
  HeadSums sums(heads, phases);
  for (const std::vector<int>& selection : selections) sums.add(selection);
  return sums;
}

double meeting(const Shape& shape) {
  double pairs = 0.0;
  const int heads = std::accumulate(shape.begin(), shape.end(), 0);
  for (const int part : shape) pairs += double(part) * (part - 1);
  return pairs / (double(heads) * (heads - 1));
}

/// Shares of 2000 data sets in which the interval of `same` covers, for seeds with this law of shapes.
double share_covering(std::uint64_t seed, int heads, int phases, const std::vector<double>& law, int seeds) {
  Stream stream(seed, Purpose::choice);
  const std::vector<Shape> shapes = occupancy_shapes(heads, phases);
  double truth = 0.0;
  for (std::size_t k = 0; k < law.size(); ++k) truth += law[k] * meeting(shapes[k]);
  int covered = 0;
  for (int set = 0; set < 2000; ++set) {
    std::vector<std::int64_t> counts(law.size(), 0);
    for (int k = 0; k < seeds; ++k) ++counts[test::choose(stream, law)];
    const Interval interval = pair_correlation(heads, phases, counts).same.interval;
    covered += interval.low <= truth + 1e-12 && truth <= interval.high + 1e-12;
  }
  return covered / 2000.0;
}

const double least_share = 0.95 - 3 * std::sqrt(0.95 * 0.05 / 2000);  // 0.9354

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("sums over seeds of numbers of heads and of their products") {
    HeadSums sums(3, 3);
    sums.add(std::vector<int>{0, 2, 0});
    sums.add(std::vector<int>{2, 1, 0});
    CHECK(sums.seeds == 2);
    CHECK(sums.at == std::vector<std::int64_t>{3, 1, 2});
    CHECK(sums.products == std::vector<std::int64_t>{5, 1, 3, 1, 1, 2});  // (0,0) (0,1) (0,2) (1,1) (1,2) (2,2)
    CHECK(sums.product(2, 0) == 3);
    CHECK_THROWS_AS(sums.add(std::vector<int>{0, 1}), DomainError);
    CHECK_THROWS_AS(sums.add(std::vector<int>{0, 1, 3}), DomainError);
    CHECK_THROWS_AS(sums.add(std::vector<int>{0, 1, -1}), DomainError);
    CHECK(sums.seeds == 2);
    CHECK_THROWS_AS(HeadSums(0, 3), DomainError);
    CHECK_THROWS_AS(HeadSums(3, 0), DomainError);
    ++sums.products[1];
    CHECK_THROWS_AS(phase_uniformity(sums), DomainError);
    CHECK_THROWS_AS(joint_phases(sums), DomainError);
    CHECK_THROWS_AS(pair_independence(sums), DomainError);
  }

  TEST_CASE("uniformity: Pearson's test for one head, certain for seeds that never vary") {
    const GoodnessOfFit one = phase_uniformity(sums_of(1, 3, {{0}, {1}, {1}, {2}, {1}, {0}, {1}}));
    const GoodnessOfFit pearson = chi_square_test(std::vector<std::int64_t>{2, 4, 1}, uniform(3));
    CHECK(one.statistic == doctest::Approx(pearson.statistic).epsilon(1e-13));
    CHECK(one.p_value == doctest::Approx(pearson.p_value).epsilon(1e-12));
    CHECK(phase_uniformity(sums_of(3, 3, {{0, 1, 2}, {2, 0, 1}})).p_value == 1.0);
    CHECK(phase_uniformity(HeadSums(3, 3)).p_value == 1.0);
    CHECK(phase_uniformity(sums_of(2, 1, {{0, 0}, {0, 0}})).p_value == 1.0);
    CHECK(phase_uniformity(sums_of(2, 3, std::vector<std::vector<int>>(50, {1, 1}))).p_value < 1e-10);
  }

  TEST_CASE("uniformity: p-values are uniform (level 1e-3) for independent, equal and repelling heads; biased ones are found") {
    Stream stream(33, Purpose::choice);
    const auto tenths = [&](double alike, double apart) {
      std::vector<std::int64_t> counts(10, 0);
      for (int round = 0; round < 1000; ++round) {
        const HeadSums sums = Heads{3, uniform(4), alike, apart}.sums(stream, 300);
        ++counts[std::min(9, int(10 * phase_uniformity(sums).p_value))];
      }
      return chi_square_test(counts, uniform(10)).p_value;
    };
    CHECK(tenths(0.0, 0.0) > 1e-3);
    CHECK(tenths(1.0, 0.0) > 1e-3);
    CHECK(tenths(0.0, 1.0) > 1e-3);
    CHECK(tenths(0.3, 0.4) > 1e-3);
    int found = 0;
    for (int round = 0; round < 100; ++round)
      found += phase_uniformity(Heads{3, {0.35, 0.25, 0.2, 0.2}, 0.3, 0.1}.sums(stream, 300)).p_value < 0.05;
    CHECK(found > 90);
  }

  TEST_CASE("joint positions of two heads: the average over the ordered pairs of each seed") {
    const std::vector<double> joint = joint_phases(sums_of(3, 3, {{0, 2, 0}, {2, 1, 0}}));
    // Pairs of the first seed: (0,2) (0,0) (2,0) (2,0) (0,0) (0,2); of the second all different ones.
    const double expected[] = {2, 1, 3, 1, 0, 1, 3, 1, 0};
    for (int k = 0; k < 9; ++k) CHECK(joint[k] == doctest::Approx(expected[k] / 12).epsilon(1e-14));
    CHECK_THROWS_AS(joint_phases(HeadSums(3, 3)), DomainError);
    CHECK_THROWS_AS(joint_phases(sums_of(1, 3, {{0}})), DomainError);
  }

  TEST_CASE("independence of pairs: two positions by hand, nothing to compare") {
    // H = 2, n = 2: a = +-(1/2, -1/2), T = (seeds that meet - seeds that do not) / 2 [[1, -1], [-1, 1]], so the statistic is
    // (meet - apart)^2 / seeds, Pearson's of the two counts.
    const GoodnessOfFit test = pair_independence(sums_of(2, 2, {{0, 0}, {0, 1}, {1, 0}, {1, 0}, {1, 0}, {0, 1}, {1, 1}}));
    CHECK(test.degrees == 1);
    CHECK(test.statistic == doctest::Approx(9.0 / 7).epsilon(1e-13));
    CHECK(test.p_value == doctest::Approx(chi_square_test(std::vector<std::int64_t>{2, 5}, uniform(2)).p_value).epsilon(1e-12));
    CHECK(pair_independence(HeadSums(3, 3)).p_value == 1.0);
    CHECK(pair_independence(sums_of(1, 3, {{0}})).p_value == 1.0);
    CHECK(pair_independence(sums_of(2, 1, {{0, 0}})).p_value == 1.0);
  }

  TEST_CASE("pair correlation: by hand, its ends, Clopper-Pearson for two heads") {
    // Shapes of 3 heads at 3 phases: 3, 2+1, 1+1+1 with y = 1, 1/3, 0.
    const PairCorrelation found = pair_correlation(3, 3, std::vector<std::int64_t>{10, 60, 30});
    CHECK(found.same.value == doctest::Approx(0.3).epsilon(1e-14));
    CHECK(found.correlation.value == doctest::Approx((0.3 - 1.0 / 3) / (2.0 / 3)).epsilon(1e-13));
    CHECK(found.correlation.interval.high == doctest::Approx((found.same.interval.high - 1.0 / 3) * 1.5).epsilon(1e-12));
    CHECK(found.same.interval.low < 0.3);
    CHECK(found.same.interval.high > 0.3);
    CHECK(pair_correlation(3, 3, std::vector<std::int64_t>{7, 0, 0}).correlation.value == doctest::Approx(1.0));
    CHECK(pair_correlation(3, 3, std::vector<std::int64_t>{0, 0, 7}).correlation.value == doctest::Approx(-0.5));
    const PairCorrelation two = pair_correlation(2, 5, std::vector<std::int64_t>{5, 5});
    CHECK(two.same.interval.low == doctest::Approx(clopper_pearson(5, 10).low).epsilon(1e-14));
    CHECK(two.same.interval.high == doctest::Approx(clopper_pearson(5, 10).high).epsilon(1e-14));
    const PairCorrelation crowded = pair_correlation(3, 2, std::vector<std::int64_t>{0, 50});  // y = 1 or 1/3
    CHECK(crowded.same.interval.low == doctest::Approx(1.0 / 3).epsilon(1e-14));
    CHECK(crowded.same.interval.high == doctest::Approx(1.0 / 3 + 2.0 / 3 * clopper_pearson(0, 50).high).epsilon(1e-14));
    const PairCorrelation none = pair_correlation(3, 3, std::vector<std::int64_t>{0, 0, 0});
    CHECK(std::isnan(none.same.value));
    CHECK(none.same.interval.low == 0.0);
    CHECK(none.same.interval.high == 1.0);
    // Shapes of 4 heads at 2 phases: 4, 3+1, 2+2 with y = 1, 1/2, 1/3. An interval never leaves the values that seeds can have:
    // around seeds that are all at an end it would.
    const Interval least = pair_correlation(4, 2, std::vector<std::int64_t>{0, 0, 7}).same.interval;
    CHECK(least.low == 1.0 / 3);
    CHECK(least.high > 1.0 / 3);
    CHECK(least.high < 1.0);
    const Interval greatest = pair_correlation(4, 2, std::vector<std::int64_t>{7, 0, 0}).same.interval;
    CHECK(greatest.low > 1.0 / 3);
    CHECK(greatest.low < 1.0);
    CHECK(greatest.high == 1.0);
    // By hand: 200 seeds, 100 at each of 1 and 1/3, far from both ends. z^2 = 3.8414588206941245.
    const double z2 = 3.8414588206941245, total = 200 + z2, mean = (100 + 100.0 / 3 + z2 / 2) / total;
    const double reach = std::sqrt(z2 * ((100 + 100.0 / 9 + z2 / 2) / total - mean * mean) / total);
    const Interval middle = pair_correlation(4, 2, std::vector<std::int64_t>{100, 0, 100}).same.interval;
    CHECK(middle.low == doctest::Approx(mean - reach).epsilon(1e-12));
    CHECK(middle.high == doctest::Approx(mean + reach).epsilon(1e-12));
    CHECK_THROWS_AS(pair_correlation(1, 3, std::vector<std::int64_t>{1}), DomainError);
    CHECK_THROWS_AS(pair_correlation(2, 1, std::vector<std::int64_t>{1}), DomainError);
    CHECK_THROWS_AS(pair_correlation(3, 3, std::vector<std::int64_t>{1, 2}), DomainError);
    CHECK_THROWS_AS(pair_correlation(3, 3, std::vector<std::int64_t>{1, 2, -1}), DomainError);
    CHECK_THROWS_AS(pair_correlation(3, 3, std::vector<std::int64_t>{1, 2, 1}, 1.0), DomainError);
  }

  TEST_CASE("pair correlation from shapes agrees with the diagonal of the joint table") {
    Stream stream(81, Purpose::choice);
    const Heads heads{4, {0.4, 0.3, 0.3}, 0.1, 0.2};
    const std::vector<Shape> shapes = occupancy_shapes(4, 3);
    std::vector<std::int64_t> counts(shapes.size(), 0);
    HeadSums sums(4, 3);
    for (int seed = 0; seed < 200; ++seed) {
      const std::vector<int> selection = heads.draw(stream);
      sums.add(selection);
      ++counts[std::find(shapes.begin(), shapes.end(), shape_of(selection)) - shapes.begin()];
    }
    const std::vector<double> joint = joint_phases(sums);
    CHECK(pair_correlation(4, 3, counts).same.value == doctest::Approx(joint[0] + joint[4] + joint[8]).epsilon(1e-13));
    CHECK(std::accumulate(joint.begin(), joint.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-13));
  }
}

TEST_SUITE("slow") {
  TEST_CASE("pair correlation: the 95% interval covers in at least 95% of 2000 data sets (3 standard errors)") {
    const std::vector<double> independent = shape_law(3, 3);
    CHECK(share_covering(82, 3, 3, independent, 50) >= least_share);
    CHECK(share_covering(83, 3, 3, independent, 1000) >= least_share);
    CHECK(share_covering(83, 3, 3, independent, 1000) <= 0.95 + 0.0146);  // not vacuous
    CHECK(share_covering(84, 5, 6, shape_law(5, 6), 200) >= least_share);
    for (const int same : {0, 1, 2}) {  // all seeds have the same value
      std::vector<double> law(3, 0.0);
      law[same] = 1.0;
      CHECK(share_covering(85, 3, 3, law, 30) == 1.0);
    }
    CHECK(share_covering(86, 3, 3, {0.0, 0.003, 0.997}, 300) >= least_share);  // nearly all: often no exception is seen
    CHECK(share_covering(87, 3, 3, {0.01, 0.0, 0.99}, 300) >= least_share);
    CHECK(share_covering(88, 3, 3, {0.002, 0.3, 0.698}, 1000) >= least_share);
    CHECK(share_covering(89, 3, 3, {0.998, 0.002, 0.0}, 500) >= least_share);
    CHECK(share_covering(90, 2, 3, {0.02, 0.98}, 100) >= least_share);
  }

  TEST_CASE(
      "pair correlation: the interval covers in at least 93% for random laws of three values, also rare ones (2000 data sets, 3 "
      "errors)") {
    Stream stream(92, Purpose::choice);
    double least = 1.0;
    for (int k = 0; k < 45; ++k) {
      const int seeds = k % 3 == 0 ? 30 : k % 3 == 1 ? 100 : 300;
      std::vector<double> law(3);
      for (double& p : law) p = std::pow(0.1 / seeds, stream.uniform());  // from one in ten data sets to all seeds
      const double sum = law[0] + law[1] + law[2];
      for (double& p : law) p /= sum;
      least = std::min(least, share_covering(1000 + k, 3, 3, law, seeds));
    }
    MESSAGE("least share ", least);
    CHECK(least >= 0.93 - 3 * std::sqrt(0.93 * 0.07 / 2000));
  }

  TEST_CASE("independence of pairs: level 0.05 for independent uniform heads (2000 data sets, 3 standard errors), and power") {
    Stream stream(91, Purpose::choice);
    const auto rejected = [&](const Heads& heads, int seeds, int data_sets) {
      int count = 0;
      for (int set = 0; set < data_sets; ++set) count += pair_independence(heads.sums(stream, seeds)).p_value <= 0.05;
      return double(count) / data_sets;
    };
    const double error = std::sqrt(0.05 * 0.95 / 2000);
    for (const auto& [heads, phases] : {std::pair{2, 3}, {3, 3}, {4, 5}, {7, 3}}) {
      const double share = rejected({heads, uniform(phases)}, 400, 2000);
      CHECK(share <= 0.05 + 3 * error);
      CHECK(share >= 0.05 - 4 * error);
    }
    CHECK(rejected({3, uniform(3), 0.15, 0.0}, 400, 200) > 0.9);
    CHECK(rejected({3, uniform(3), 0.0, 0.15}, 400, 200) > 0.8);
  }
}
