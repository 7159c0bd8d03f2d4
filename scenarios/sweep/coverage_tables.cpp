#include "sweep/coverage_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flow/rates.hpp"
#include "schema/schema.hpp"
#include "schema/sweep_axes.hpp"

namespace phaselock {

namespace {

/// A column of the values of a scenario key, which tells its meaning.
Column key_column(std::string name, std::string_view path) {
  const Key& key = shared_key(path);
  Scenario any;
  const ValuePlace place = key.place(any);
  const bool is_integer = std::holds_alternative<int*>(place) || std::holds_alternative<std::int64_t*>(place) ||
                          std::holds_alternative<std::uint64_t*>(place);
  const ColumnType type = is_integer                               ? ColumnType::integer
                          : std::holds_alternative<double*>(place) ? ColumnType::number
                                                                   : ColumnType::text;
  return {std::move(name), type, std::string(key.help), "", false};
}

Columns cells_columns(const Scenario& scenario) {
  using enum ColumnType;
  Columns keys;
  for (const SweepAxis& axis : scenario.sweep.over) keys.push_back(key_column(axis.key, axis.key));
  for (const char* size : {"blocks", "positions", "heads", "vocabulary", "gamma", "beta"})
    keys.push_back(key_column(size, fmt::format("model.{}", size)));
  return joined({{{"cell", integer}},
                 keys,
                 {key_column("kappa", "geometry.kappa"),
                  key_column("rho", "initial.radius"),
                  key_column("gates", "gates.class"),
                  {"seeds", integer}},
                 estimate({"selected", share, "shares of all seeds"}),
                 estimate({"certified", share, "shares of all seeds"}),
                 estimate({"all_distinct", share, "of selected seeds"}),
                 estimate({"collision", share, "of selected seeds"}),
                 estimate({"together", share, "two heads share an offset"}),
                 estimate({"correlation", number, "0 independent, 1 always together"}),
                 estimate({"escape", number, "median time"}),
                 estimate({"agrees", share, "linear and static flow select the same"}),
                 alike({"mean_loss", "worst_loss"}, {"", number, "", "nats", false}),
                 alike({"mean_accuracy", "worst_accuracy", "occupancy_p", "uniform_p", "independent_p"}, {"", share}),
                 alike({"n_star_distinct", "n_star_pair", "n_star_all"}, {"", number})});
}

CsvTable cells_table(const Scenario& scenario, const std::vector<Cell>& cells) {
  CsvTable table({"cells.csv", "what the seeds of each cell did", cells_columns(scenario), "a row for each cell of the sweep",
                  "mean and worst over the phases, mean over selected seeds: loss in nats, accuracy; "
                  "_low, _high: 95% intervals; _p: p-values; n_star: N* of patterns"});
  for (const Cell& cell : cells) {
    const Scenario& s = cell.scenario;
    const Model& m = s.model;
    const CellFacts& f = cell.facts;
    std::string key = std::to_string(cell.index);
    for (const SweepAxis& axis : scenario.sweep.over) key += "," + axis_value(s, axis.key);
    table.row(key, m.blocks, m.positions, m.heads, m.vocabulary, m.gamma, m.beta, s.geometry.kappa, s.initial.radius,
              axis_value(s, "gates.class"), f.seeds, f.selected.estimate, f.certified.estimate, f.all_distinct.estimate,
              f.collided.estimate, f.pairs.same, f.pairs.correlation, f.escape_median, f.agrees.estimate, f.quality.mean_loss,
              f.quality.worst_loss, f.quality.mean_accuracy, f.quality.worst_accuracy, f.shape_fit.test.p_value,
              f.phase_fit.p_value, f.pair_fit.p_value, cell.thresholds.distinct, cell.thresholds.pair, cell.thresholds.all);
  }
  return table;
}

/// A table of the rows that `rows(table, cell, facts)` adds for each cell.
template <class Rows>
CsvTable table_of_cells(TableSchema schema, const std::vector<Cell>& cells, Rows rows) {
  CsvTable table(std::move(schema));
  for (const Cell& cell : cells) rows(table, cell.index, cell.facts);
  return table;
}

const Column cell_column = {"cell", ColumnType::integer};

CsvTable coverage_table(const std::vector<Cell>& cells) {
  using enum ColumnType;
  TableSchema schema = {
      "coverage.csv", "how many distinct positions the heads of a seed take",
      joined({{cell_column, {"distinct", integer, "number of distinct positions"}, {"count", integer, "selected seeds"}},
              alike({"share", "low", "high"}, {"", share, "of them, with simultaneous 95% intervals in each cell"}),
              {{"occupancy", share, "the law of independent uniform choices"}}})};
  return table_of_cells(std::move(schema), cells, [](CsvTable& table, int cell, const CellFacts& f) {
    for (std::size_t k = 0; k < f.distinct.size(); ++k)
      table.row(cell, k + 1, f.distinct[k], f.distinct_shares[k], f.occupancy_law[k]);
  });
}

CsvTable shapes_table(const std::vector<Cell>& cells) {
  using enum ColumnType;
  TableSchema schema = {
      "shapes.csv", "how the heads of a seed share offsets",
      joined({{cell_column,
               {"shape", text, "numbers of heads at the occupied offsets"},
               {"taken", integer},
               {"count", integer, "selected seeds"}},
              alike({"share", "low", "high"}, {"", share, "of them, with simultaneous 95% intervals in each cell"}),
              {{"law", share, "of independent uniform choices"}},
              alike({"mean_loss", "worst_loss"}, {"", number, "", "nats", false}),
              alike({"mean_accuracy", "worst_accuracy"}, {"", share})}),
      "", "mean and worst over the phases: loss in nats, accuracy"};
  return table_of_cells(std::move(schema), cells, [](CsvTable& table, int cell, const CellFacts& f) {
    for (std::size_t k = 0; k < f.shapes.size(); ++k)
      table.row(cell, shape_name(f.shapes[k]), f.shapes[k].size(), f.shape_counts[k], f.shape_shares[k], f.shape_law[k],
                f.qualities[k].mean_loss, f.qualities[k].worst_loss, f.qualities[k].mean_accuracy, f.qualities[k].worst_accuracy);
  });
}

CsvTable positions_table(const std::vector<Cell>& cells) {
  using enum ColumnType;
  TableSchema schema = {
      "positions.csv", "which key offsets the heads take",
      joined({{cell_column, {"position", integer, "key offset, from 0"}, {"count", integer, "heads there"}},
              alike({"share", "low", "high"},
                    {"", share, "of all heads, with the 95% Clopper-Pearson interval as if heads were independent"}),
              {{"uniform", share, "1 / (S - 1)"}}})};
  return table_of_cells(std::move(schema), cells, [](CsvTable& table, int cell, const CellFacts& f) {
    const std::int64_t heads = f.selected.count * f.model.heads;
    for (std::size_t r = 0; r < f.sums.at.size(); ++r) {
      const Share share(f.sums.at[r], heads);
      table.row(cell, r, share.count, share.estimate, 1.0 / double(f.sums.at.size()));
    }
  });
}

CsvTable pairs_table(const std::vector<Cell>& cells) {
  using enum ColumnType;
  TableSchema schema = {"pairs.csv",
                        "which key offsets two heads of a seed take",
                        {cell_column,
                         {"r", integer},
                         {"s", integer},
                         {"share", share, "probability that two different heads of a selected seed are at the key offsets r and s"},
                         {"independent", share, "the same for independent uniform heads"}}};
  return table_of_cells(std::move(schema), cells, [](CsvTable& table, int cell, const CellFacts& f) {
    if (f.selected.count == 0 || f.model.heads < 2) return;
    const std::vector<double> joint = joint_phases(f.sums);
    const std::size_t n = f.sums.at.size();
    for (std::size_t k = 0; k < joint.size(); ++k) table.row(cell, k / n, k % n, joint[k], 1.0 / double(n * n));
  });
}

CsvTable escape_table(const std::vector<Cell>& cells) {
  using enum ColumnType;
  TableSchema schema = {
      "escape.csv", "when seeds leave the saddle",
      joined(
          {{cell_column},
           alike({"t_low", "t_high"},
                 {"", number, "ends of a bin of escape times, the first at which some key weight reaches (1 + 1/n)/2, n = S - 1"}),
           {{"count", integer, "seeds in it"}, {"share", share, "of all seeds"}}})};
  return table_of_cells(std::move(schema), cells, [](CsvTable& table, int cell, const CellFacts& f) {
    for (const auto& [bin, count] : f.escapes)
      table.row(cell, std::pow(10.0, bin / 100.0), std::pow(10.0, (bin + 1) / 100.0), count, double(count) / double(f.seeds));
  });
}

/// Whether the escape law can speak of a cell: it has seeds that escape, and all that do leave the saddle first.
bool has_late_escapes(const CellFacts& facts) { return facts.escaped >= 2 && !facts.escapes.contains(escaped_at_start); }

/// The escape law dT/dlog(1/sigma_b) = 1/(lambda + mu/T), between cells that differ in rho alone (theory.md section 5).
CsvTable escape_law_table(const std::vector<Cell>& cells) {
  using enum ColumnType;
  CsvTable table({"escape_law.csv", "the escape law between cells that differ in the initial radius alone",
                  joined({{cell_column,
                           {"smaller_cell", integer},
                           {"rho", number},
                           {"smaller_rho", number},
                           {"ratio", number,
                            "measured growth of lambda T + mu log T from the cell of initial radius rho to the one of smaller_rho, "
                            "over the law's log(rho / smaller_rho), 1 for N -> infinity, with its 95% interval"},
                           {"low", number},
                           {"high", number},
                           {"p", share, "of ratio = 1"}},
                          alike({"predicted", "measured"}, {"", number, "median escape times at smaller_rho"})})});
  for (const Cell& from : cells)
    for (const Cell& to : cells) {
      const double rho = from.scenario.initial.radius, smaller = to.scenario.initial.radius;
      if (!(smaller < rho) || !has_late_escapes(from.facts) || !has_late_escapes(to.facts)) continue;
      Scenario at_rho = from.scenario;
      at_rho.initial.radius = smaller;
      if (write_scenario(at_rho) != write_scenario(to.scenario)) continue;
      const SingleBlock model = require_single_block(from.facts.model);
      const double lambda = saddle_rate(model, static_speed(model, at_rho.geometry.kappa)), mu = escape_correction(model);
      const EscapeSlope slope = escape_slope(from.facts.escapes, to.facts.escapes, rho / smaller, lambda, mu);
      const double median = from.facts.escape_median.value;
      const bool law_holds = std::isfinite(median) && lambda * median + mu > 0.0;
      table.row(from.index, to.index, rho, smaller, slope.ratio, slope.p_value,
                law_holds ? escape_time_at(lambda, mu, median, rho / smaller) : NAN, to.facts.escape_median.value);
    }
  return table;
}

}  // namespace

std::vector<CsvTable> coverage_tables(const Scenario& scenario, const std::vector<Cell>& cells) {
  return {cells_table(scenario, cells), coverage_table(cells), positions_table(cells), shapes_table(cells),
          pairs_table(cells),           escape_table(cells),   escape_law_table(cells)};
}

void leave_out_empty(std::vector<CsvTable>& tables) {
  std::erase_if(tables, [](const CsvTable& table) { return std::count(table.text.begin(), table.text.end(), '\n') == 2; });
}

}  // namespace phaselock
