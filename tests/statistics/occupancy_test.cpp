// Shapes of occupancy and their laws: enumeration of all choices, the occupancy law as a marginal, known values.
#include "statistics/occupancy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model/errors.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

/// Share of each shape among all values^choices choices, in the order of occupancy_shapes.
std::vector<double> enumerated_shapes(int choices, int values) {
  std::map<Shape, double> law;
  const int all = int(std::lround(std::pow(values, choices)));
  std::vector<int> selection(choices);
  for (int code = 0; code < all; ++code) {
    for (int h = 0, rest = code; h < choices; ++h, rest /= values) selection[h] = rest % values;
    law[shape_of(selection)] += 1.0 / all;
  }
  std::vector<double> ordered;
  for (const Shape& shape : occupancy_shapes(choices, values)) ordered.push_back(law[shape]);
  CHECK(law.size() == ordered.size());
  return ordered;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("shapes of selections, and their names") {
    CHECK(shape_of(std::vector<int>{2, 0, 2}) == Shape{2, 1});
    CHECK(shape_of(std::vector<int>{0, 1, 1, 5, 5, 5}) == Shape{3, 2, 1});
    CHECK(shape_of(std::vector<int>{}).empty());
    CHECK(shape_name({3, 2, 1}) == "3+2+1");
    CHECK(shape_name({4}) == "4");
    CHECK_THROWS_AS(shape_of(std::vector<int>{0, -1}), DomainError);
  }

  TEST_CASE("all shapes, from all heads together to most spread") {
    CHECK(occupancy_shapes(4, 4) == std::vector<Shape>{{4}, {3, 1}, {2, 2}, {2, 1, 1}, {1, 1, 1, 1}});
    CHECK(occupancy_shapes(4, 2) == std::vector<Shape>{{4}, {3, 1}, {2, 2}});
    CHECK(occupancy_shapes(5, 1) == std::vector<Shape>{{5}});
    CHECK(occupancy_shapes(1, 9) == std::vector<Shape>{{1}});
    CHECK(occupancy_shapes(10, 10).size() == 42);    // partitions of 10
    CHECK(occupancy_shapes(30, 30).size() == 5604);  // of 30
    CHECK(occupancy_shapes(100, 3).size() == 884);   // round(103^2 / 12)
    const std::vector<Shape> shapes = occupancy_shapes(12, 5);
    CHECK(std::is_sorted(shapes.rbegin(), shapes.rend()));
    CHECK_THROWS_AS(occupancy_shapes(200, 200), DomainError);
    CHECK_THROWS_AS(occupancy_shapes(0, 3), DomainError);
    CHECK_THROWS_AS(shape_law(3, 0), DomainError);
  }

  TEST_CASE("the law of shapes equals the enumeration of all n^H choices, and the multinomial law") {
    for (int choices = 1; choices <= 6; ++choices)
      for (int values = 1; values <= 5; ++values)
        CHECK(test::relative_error(shape_law(choices, values), enumerated_shapes(choices, values)) < 1e-11);
    const std::vector<double> law = shape_law(3, 3);
    CHECK(law[0] == doctest::Approx(3.0 / 27).epsilon(1e-15));
    CHECK(law[1] == doctest::Approx(18.0 / 27).epsilon(1e-15));
    CHECK(law[2] == doctest::Approx(6.0 / 27).epsilon(1e-15));
    const std::vector<Shape> shapes = occupancy_shapes(6, 4);
    const auto at = [&](const Shape& shape) { return std::find(shapes.begin(), shapes.end(), shape) - shapes.begin(); };
    // scipy 1.10: multinomial.pmf([3, 2, 1, 0], 6, [0.25] * 4) * 24, multinomial.pmf([2, 2, 1, 1], 6, [0.25] * 4) * 6
    CHECK(shape_law(6, 4)[at({3, 2, 1})] == doctest::Approx(0.35156249999999983).epsilon(1e-13));
    CHECK(shape_law(6, 4)[at({2, 2, 1, 1})] == doctest::Approx(0.2636718750000002).epsilon(1e-13));
  }

  TEST_CASE("the occupancy law is the marginal of the law of shapes, and counts are summed alike") {
    for (const auto& [choices, values] : {std::pair{1, 1}, {3, 3}, {7, 4}, {4, 7}, {20, 20}, {40, 5}}) {
      const std::vector<double> shapes = shape_law(choices, values);
      CHECK(std::accumulate(shapes.begin(), shapes.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-12));
      CHECK(test::relative_error(distinct_of_shapes(choices, values, std::span<const double>(shapes)),
                                 occupancy_law(choices, values)) < 1e-12);
    }
    const std::vector<std::int64_t> counts = {1, 20, 300, 4000, 50000};
    CHECK(distinct_of_shapes(4, 4, std::span<const std::int64_t>(counts)) == std::vector<std::int64_t>{1, 320, 4000, 50000});
    CHECK_THROWS_AS(distinct_of_shapes(4, 3, std::span<const std::int64_t>(counts)), DomainError);
  }

  TEST_CASE("occupancy law: Stirling's formula, and the mean of a large one") {
    const std::vector<double> law = occupancy_law(3, 3);
    CHECK(law[1] == doctest::Approx(18.0 / 27).epsilon(1e-15));  // 3!/1! S2(3, 2) / 3^3
    const std::vector<double> large = occupancy_law(400, 300);
    CHECK(std::accumulate(large.begin(), large.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-12));
    double mean = 0.0;
    for (std::size_t k = 0; k < large.size(); ++k) mean += double(k + 1) * large[k];
    CHECK(mean == doctest::Approx(300 * (1 - std::pow(299.0 / 300, 400))).epsilon(1e-12));
    CHECK_THROWS_AS(occupancy_law(0, 3), DomainError);
    CHECK_THROWS_AS(occupancy_law(3, 0), DomainError);
  }
}
