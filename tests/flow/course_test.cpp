// What a flow tells of its end.
#include "flow/course.hpp"

#include <doctest/doctest.h>

using namespace phaselock;

TEST_SUITE("fast") {
  TEST_CASE("the drift is the largest change of a gate's sum, up or down, in any gate") {
    const std::vector<double> before = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
    const auto drift = [&](std::vector<double> after, std::size_t gate) { return conserved_drift(before, after, gate); };
    CHECK(drift(before, 3) == 0.0);
    CHECK(drift({2.0, 1.0, 3.0, 4.0, 6.0, 5.0}, 3) == 0.0);  // moved within a gate
    CHECK(drift({1.0, 2.0, 4.0, 4.0, 5.0, 5.0}, 3) == 1.0);  // moved between gates
    CHECK(drift({1.5, 2.0, 3.0, 4.0, 5.0, 6.0}, 3) == 0.5);
    CHECK(drift({0.5, 2.0, 3.0, 4.0, 5.0, 6.0}, 3) == 0.5);
    CHECK(drift({1.0, 2.0, 3.0, 4.0, 5.0, 4.0}, 3) == 2.0);
    CHECK(drift({1.5, 2.0, 3.0, 4.0, 5.0, 4.0}, 3) == 2.0);
    CHECK(drift({1.5, 2.0, 3.0, 4.0, 5.0, 4.0}, 6) == 1.5);
  }
}
