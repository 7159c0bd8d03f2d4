// The exponentials of dense geometry against libm.
#include "kernels/simd_shifted_exp.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support.hpp"

using namespace phaselock;

TEST_SUITE("fast") {
  TEST_CASE("exponentials relative to the largest, and their sum, at every length from 1 to 70") {
    for (const double scale : {1e-3, 1.0, 300.0})
      for (std::size_t count = 1; count <= 70; ++count) {
        const std::vector<double> logits = test::normals(count, scale, 100 + count);
        std::vector<double> y = logits;
        const auto [top, sum] = simd_shifted_exp(y);
        CHECK(top == *std::max_element(logits.begin(), logits.end()));
        double expected_sum = 0.0, worst = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
          const double expected = std::exp(logits[i] - top);
          expected_sum += expected;
          worst = std::max(worst, std::abs(y[i] - expected) / (expected + 1e-300));
        }
        CHECK(worst < 1e-14);
        CHECK(std::abs(sum / expected_sum - 1.0) < 1e-14);
      }
  }

  TEST_CASE("a logit that is not finite makes the sum NaN, wherever it stands") {
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
      for (std::size_t count : {1, 4, 5, 8, 11})
        for (std::size_t place = 0; place < count; ++place) {
          std::vector<double> y(count, 0.5);
          y[place] = bad;
          CHECK(std::isnan(simd_shifted_exp(y).sum));
        }
  }
}
