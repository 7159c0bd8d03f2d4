// The report of a sweep and its tables: every number under its own name, of a store whose counts are known.
#include "sweep/coverage_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "flow/rates.hpp"
#include "kinds/kind.hpp"
#include "proofs/stability.hpp"
#include "schema/sweep_axes.hpp"
#include "seed_records.hpp"
#include "statistics/cell_facts.hpp"
#include "sweep/sweep.hpp"

namespace phaselock::test {
namespace {

/// Two cells of twelve seeds that differ in rho alone, four times smaller in the second.
Scenario two_cells() {
  return parse_scenario(
      "kind = \"coverage\"\n[model]\nblocks = 4\npositions = 4\nheads = 3\nvocabulary = 100\ngamma = 1.0\nbeta = 8.0\n"
      "[sweep]\nseeds = 12\nchunk = 12\n[sweep.over]\n\"initial.radius\" = [1.0, 0.25]\n",
      "x.toml", "/tmp", {}, kind_list());
}

/// Nine of twelve seeds select: five all different offsets, three 2+1, one all the same. They escape at `time` and later.
SeedCounts counts_of(const Model& model, double time) {
  std::vector<SeedRecord> seeds = {ended(FlowOutcome::interior, 3, 3 * time), ended(FlowOutcome::interior, 3),
                                   ended(FlowOutcome::undecided, 3)};
  for (int k = 0; k < 5; ++k) seeds.push_back(selected({k % 3, (k + 1) % 3, (k + 2) % 3}, time, k != 0, k != 1));
  for (int k = 0; k < 3; ++k) seeds.push_back(selected({0, 2, 0}, 2 * time, false, k == 0));
  seeds.push_back(selected({1, 1, 1}, 2 * time));
  return count_seeds(model, seeds);
}

constexpr double times[] = {400.0, 560.0};

struct Known {
  Scenario scenario = two_cells();
  std::vector<CellFacts> facts;
  Report report;

  Known() {
    const std::vector<Scenario> cells = sweep_cells(scenario);
    const std::vector<CellRow> rows = cell_rows(scenario, cells);
    SweepStore store = SweepStore::create({}, write_scenario(scenario), {}, rows);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const SingleBlock model = require_single_block(cells[c].model);
      const SeedCounts counts = counts_of(model, times[c]);
      store.add(chunk_of(rows[c], cells[c], int(c), 0), counts, {});
      facts.push_back(cell_facts(model, counts));
    }
    report = coverage_report(scenario, store);
  }

  /// The rows of a table, by column.
  std::vector<std::map<std::string, std::string>> rows(const std::string& name) const {
    const auto table = std::find_if(report.tables.begin(), report.tables.end(), [&](const auto& t) { return t.name() == name; });
    REQUIRE(table != report.tables.end());
    std::istringstream text(table->text);
    std::string line;
    std::getline(text, line);  // the comment
    std::getline(text, line);
    const std::vector<std::string> header = cells_of(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(text, line)) {
      const std::vector<std::string> cells = cells_of(line);
      REQUIRE(cells.size() == header.size());
      rows.emplace_back();
      for (std::size_t k = 0; k < cells.size(); ++k) rows.back()[header[k]] = cells[k];
    }
    return rows;
  }

 private:
  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream text(line + ",");
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    return cells;
  }
};

double n_star(const SingleBlock& model, int together) { return pattern_threshold(model, collision_pattern(model, together)).n_star; }

using Numbers = std::vector<std::pair<std::string, double>>;

/// Numbers of which no two are alike: one in another's place is seen.
void check_told_apart(const Numbers& numbers) {
  std::set<double> values;
  for (const auto& [name, value] : numbers) {
    CAPTURE(name);
    CHECK(values.insert(value).second);
  }
}

void add(Numbers& numbers, const std::string& name, const std::string& low, const std::string& high, const Estimate& e,
         const std::string& value = "") {
  numbers.insert(numbers.end(), {{name + value, e.value}, {name + low, e.interval.low}, {name + high, e.interval.high}});
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("result.json: every number of a cell is under its own name") {
    const Known known;
    const CellFacts& f = known.facts[0];
    Numbers numbers = {{"/quality/mean_loss", f.quality.mean_loss},
                       {"/quality/worst_loss", f.quality.worst_loss},
                       {"/quality/mean_accuracy", f.quality.mean_accuracy},
                       {"/quality/worst_accuracy", f.quality.worst_accuracy},
                       {"/n_star/distinct", n_star(f.model, 1)},
                       {"/n_star/pair", n_star(f.model, 2)},
                       {"/n_star/all", n_star(f.model, 3)},
                       {"/occupancy/statistic", f.shape_fit.test.statistic},
                       {"/occupancy/p_value", f.shape_fit.test.p_value},
                       {"/position_uniformity/statistic", f.phase_fit.statistic},
                       {"/position_uniformity/p_value", f.phase_fit.p_value},
                       {"/pair_independence/statistic", f.pair_fit.statistic},
                       {"/pair_independence/p_value", f.pair_fit.p_value}};
    for (const auto& [name, e] : {std::pair("/collision_probability", f.collided.estimate),
                                  {"/pair_correlation", f.pairs.correlation},
                                  {"/heads_together", f.pairs.same},
                                  {"/selected_probability", f.selected.estimate},
                                  {"/certified_probability", f.certified.estimate},
                                  {"/escape_time_median", f.escape_median},
                                  {"/static_agreement", f.agrees.estimate}})
      add(numbers, name, "/low", "/high", e, "/estimate");
    check_told_apart(numbers);
    const Json& cell = known.report.results["cells"][0];
    for (const auto& [name, value] : numbers) {
      CAPTURE(name);
      CHECK(cell.at(Json::json_pointer(name)).get<double>() == value);
    }
    CHECK(cell["seeds"] == 12);
    CHECK(cell["selected"] == 9);
    CHECK(cell["not_selected"] == 3);
    CHECK(cell["outcomes"] == Json::parse(R"({"selected":9,"interior":2,"undecided":1,"step_limit":0,"not_finite":0})"));
    CHECK(cell["shapes"] == Json::parse(R"({"3":1,"2+1":3,"1+1+1":5})"));
    CHECK(cell["distinct"] == Json::parse(R"({"1":1,"2":3,"3":5})"));
    CHECK(cell["positions"] == Json::parse("[11,8,8]"));
    CHECK(cell["occupancy"]["method"] == "monte_carlo");
    CHECK(cell["occupancy"]["law"]["3"].get<double>() == f.occupancy_law[2]);
    CHECK(known.report.results["seeds"] == 24);
  }

  TEST_CASE("cells.csv: every number is in its own column") {
    const Known known;
    const auto rows = known.rows("cells.csv");
    REQUIRE(rows.size() == 2);
    for (std::size_t c = 0; c < 2; ++c) {
      const CellFacts& f = known.facts[c];
      Numbers numbers = {{"mean_loss", f.quality.mean_loss},         {"worst_loss", f.quality.worst_loss},
                         {"mean_accuracy", f.quality.mean_accuracy}, {"worst_accuracy", f.quality.worst_accuracy},
                         {"occupancy_p", f.shape_fit.test.p_value},  {"uniform_p", f.phase_fit.p_value},
                         {"independent_p", f.pair_fit.p_value},      {"n_star_distinct", n_star(f.model, 1)},
                         {"n_star_pair", n_star(f.model, 2)},        {"n_star_all", n_star(f.model, 3)}};
      for (const auto& [name, e] : {std::pair("selected", f.selected.estimate),
                                    {"certified", f.certified.estimate},
                                    {"all_distinct", f.all_distinct.estimate},
                                    {"collision", f.collided.estimate},
                                    {"together", f.pairs.same},
                                    {"correlation", f.pairs.correlation},
                                    {"escape", f.escape_median},
                                    {"agrees", f.agrees.estimate}})
        add(numbers, name, "_low", "_high", e);
      Numbers unlike = numbers;  // where seeds cover all phases or fail at one, the worst accuracy is 1 or 0, its mean their share
      std::erase_if(unlike, [](const auto& number) { return number.first == "all_distinct"; });
      check_told_apart(unlike);
      for (const auto& [name, value] : numbers) {
        CAPTURE(name);
        CHECK(std::stod(rows[c].at(name)) == value);
      }
      CHECK(rows[c].at("cell") == std::to_string(c));
      CHECK(rows[c].at("rho") == (c == 0 ? "1" : "0.25"));
      CHECK(rows[c].at("seeds") == "12");
    }
  }

  TEST_CASE("escape.csv: a row for each bin, with its ends and its share of all seeds") {
    const auto rows = Known().rows("escape.csv");
    // Of 400, 800 and 1200, of 560, 1120 and 1680: floor(100 log10 T) by hand.
    const struct {
      const char* cell;
      int bin;
      const char* count;
    } expected[] = {{"0", 260, "5"}, {"0", 290, "4"}, {"0", 307, "1"}, {"1", 274, "5"}, {"1", 304, "4"}, {"1", 322, "1"}};
    REQUIRE(rows.size() == std::size(expected));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      CAPTURE(k);
      CHECK(rows[k].at("cell") == expected[k].cell);
      CHECK(std::stod(rows[k].at("t_low")) == doctest::Approx(std::pow(10, 0.01 * expected[k].bin)).epsilon(1e-14));
      CHECK(std::stod(rows[k].at("t_high")) == doctest::Approx(std::pow(10, 0.01 * (expected[k].bin + 1))).epsilon(1e-14));
      CHECK(rows[k].at("count") == expected[k].count);
      CHECK(std::stod(rows[k].at("share")) == doctest::Approx(std::stod(expected[k].count) / 12).epsilon(1e-14));
    }
  }

  TEST_CASE("escape_law.csv: from the larger start to the smaller one, measured against the law") {
    const Known known;
    const auto rows = known.rows("escape_law.csv");
    REQUIRE(rows.size() == 1);
    const auto number = [&](const char* column) { return std::stod(rows[0].at(column)); };
    const CellFacts &from = known.facts[0], &to = known.facts[1];
    const double lambda = saddle_rate(from.model, static_speed(from.model, 1.0)), mu = escape_correction(from.model);
    const EscapeSlope slope = escape_slope(from.escapes, to.escapes, 4.0, lambda, mu);
    const double predicted = escape_time_at(lambda, mu, from.escape_median.value, 4.0), measured = to.escape_median.value;
    const Numbers numbers = {{"cell", 0.0},
                             {"smaller_cell", 1.0},
                             {"smaller_rho", 0.25},
                             {"ratio", slope.ratio.value},
                             {"low", slope.ratio.interval.low},
                             {"high", slope.ratio.interval.high},
                             {"p", slope.p_value},
                             {"predicted", predicted},
                             {"measured", measured}};
    check_told_apart(numbers);
    for (const auto& [name, value] : numbers) CHECK(number(name.c_str()) == value);
    CHECK(number("rho") == 1.0);
    CHECK(predicted > from.escape_median.value);
  }

  TEST_CASE("coverage.csv, shapes.csv, positions.csv, pairs.csv: counts and laws of each cell") {
    const Known known;
    const CellFacts& f = known.facts[1];
    const auto of_cell = [&](const char* table) {
      auto rows = known.rows(table);
      std::erase_if(rows, [](const auto& row) { return row.at("cell") != "1"; });
      return rows;
    };
    const auto coverage = of_cell("coverage.csv"), shapes = of_cell("shapes.csv"), positions = of_cell("positions.csv"),
               pairs = of_cell("pairs.csv");
    REQUIRE(coverage.size() == 3);
    REQUIRE(shapes.size() == 3);
    REQUIRE(positions.size() == 3);
    REQUIRE(pairs.size() == 9);
    const auto check = [](const std::map<std::string, std::string>& row, const Numbers& numbers) {
      for (const auto& [name, value] : numbers) {
        CAPTURE(name);
        CHECK(std::stod(row.at(name)) == doctest::Approx(value).epsilon(1e-14));
      }
    };
    for (std::size_t k = 0; k < 3; ++k) {
      const Estimate distinct = f.distinct_shares[k], shape = f.shape_shares[k];
      const std::int64_t heads_there[] = {11, 8, 8};
      const Interval there = clopper_pearson(heads_there[k], 27);
      check(coverage[k], {{"distinct", k + 1.0},
                          {"count", double(f.distinct[k])},
                          {"share", distinct.value},
                          {"low", distinct.interval.low},
                          {"high", distinct.interval.high},
                          {"occupancy", f.occupancy_law[k]}});
      check(shapes[k], {{"taken", k + 1.0},
                        {"count", double(f.shape_counts[k])},
                        {"share", shape.value},
                        {"low", shape.interval.low},
                        {"high", shape.interval.high},
                        {"law", f.shape_law[k]},
                        {"mean_loss", f.qualities[k].mean_loss},
                        {"worst_loss", f.qualities[k].worst_loss},
                        {"mean_accuracy", f.qualities[k].mean_accuracy},
                        {"worst_accuracy", f.qualities[k].worst_accuracy}});
      check(positions[k], {{"position", double(k)},
                           {"count", double(heads_there[k])},
                           {"share", heads_there[k] / 27.0},
                           {"low", there.low},
                           {"high", there.high},
                           {"uniform", 1.0 / 3}});
      CHECK(shapes[k].at("shape") == shape_name(f.shapes[k]));
    }
    // Two different heads of the nine seeds, 54 ordered pairs: five times each pair of offsets, three times 0 and 0 twice, 0 and 2
    // twice either way, six times 1 and 1.
    const double together[] = {6, 5, 11, 5, 6, 5, 11, 5, 0};
    for (std::size_t k = 0; k < 9; ++k)
      check(pairs[k], {{"r", double(k / 3)}, {"s", double(k % 3)}, {"share", together[k] / 54}, {"independent", 1.0 / 9}});
  }
}

}  // namespace phaselock::test
