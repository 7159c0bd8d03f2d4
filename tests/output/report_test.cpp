// What runs hand over beside tables.
#include "output/report.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace phaselock;

TEST_SUITE("fast") {
  TEST_CASE("lines for people: a model, a list of which 16 numbers are shown in short") {
    CHECK(model_text({4, 3, 2, 64, 0.5, 8.0}) == "L = 4, S = 3, H = 2, N = 64, gamma = 0.5, beta = 8");
    CHECK(list_text({}) == "");
    CHECK(list_text(std::vector{0.123456, 2.0}) == "0.1235  2");
    const std::string sixteen = "1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1";
    CHECK(list_text(std::vector<double>(16, 1.0)) == sixteen);
    CHECK(list_text(std::vector<double>(17, 1.0)) == sixteen + "  ...");
  }

  TEST_CASE("a run that hands over a certificate has proved something") {
    Report report;
    CHECK(report.verdict().is_null());
    report.certificate = Json::object();
    CHECK(report.verdict() == "PROVED");
  }
}
