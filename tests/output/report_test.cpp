// Tables and lines of text that runs hand over.
#include "output/report.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace phaselock;

TEST_SUITE("fast") {
  TEST_CASE("a table: comment, header, rows; what is not finite is an empty cell, an estimate three cells") {
    CsvTable table("a.csv", "t: time", "t,name,p,p_low,p_high");
    table.row(0.5, "first", Estimate{0.25, {0.125, 0.75}});
    table.row(INFINITY, "second", Estimate{NAN, {0.0, 1.0}});
    CHECK(table.name == "a.csv");
    CHECK(table.text == "# t: time\nt,name,p,p_low,p_high\n0.5,first,0.25,0.125,0.75\n,second,,0,1\n");
  }

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
