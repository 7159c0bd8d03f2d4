#include "coverage_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "cell_facts.hpp"
#include "flow/rates.hpp"
#include "schema.hpp"
#include "stability.hpp"
#include "sweep.hpp"
#include "sweep_axes.hpp"

namespace phaselock {

namespace {

/// N* of the patterns that a cell's coverage is about (theory.md section 4): distinct, two heads together, all together.
struct Thresholds {
  double distinct, pair, all;
};

/// One cell with everything that its row says.
struct Cell {
  Scenario scenario;
  std::string parameters;  ///< "beta = 4, N = 100"
  CellFacts facts;
  Thresholds thresholds;
};

Thresholds thresholds_of(const Model& model) {
  const auto of = [&](int together) {
    return together <= model.heads ? pattern_threshold(model, collision_pattern(model, together)).n_star : NAN;
  };
  return {of(1), of(2), of(model.heads)};
}

/// Computed once for all vocabularies.
class ThresholdTable {
 public:
  const Thresholds& operator()(const Model& m) {
    const auto key = std::tuple(m.blocks, m.positions, m.heads, m.gamma, m.beta);
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(key, thresholds_of(m)).first;
    return found->second;
  }

 private:
  std::map<std::tuple<int, int, int, double, double>, Thresholds> known_;
};

std::vector<Cell> read_cells(const Scenario& scenario, const SweepStore& store) {
  std::vector<Cell> cells;
  ThresholdTable thresholds;
  for (Scenario& cell : sweep_cells(scenario)) {
    const int index = int(cells.size());
    std::vector<std::string> words;
    for (const SweepAxis& axis : scenario.sweep.over)
      words.push_back(fmt::format("{} = {}", axis.key.substr(axis.key.find('.') + 1), axis_value(cell, axis.key)));
    CellFacts facts = cell_facts(cell.model, store.totals(index), store.finished_seeds(index));
    const Thresholds& n_star = thresholds(cell.model);
    cells.push_back({std::move(cell), fmt::format("{}", fmt::join(words, ", ")), std::move(facts), n_star});
  }
  return cells;
}

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json estimate_json(const Estimate& e) {
  return {{"estimate", number(e.value)}, {"low", number(e.interval.low)}, {"high", number(e.interval.high)}, {"level", 0.95}};
}

Json fit_json(const GoodnessOfFit& fit) {
  return {{"statistic", fit.statistic}, {"degrees", fit.degrees}, {"p_value", fit.p_value}};
}

std::string_view name(FitMethod method) {
  static constexpr std::string_view names[] = {"chi_square", "monte_carlo", "pooled_chi_square"};
  return names[int(method)];
}

template <class Counts>
Json by_number(const Counts& counts) {
  Json numbers = Json::object();
  for (std::size_t k = 0; k < counts.size(); ++k) numbers[std::to_string(k + 1)] = counts[k];
  return numbers;
}

Json cell_json(const Cell& cell) {
  const CellFacts& f = cell.facts;
  Json shapes = Json::object(), outcomes = Json::object();
  for (std::size_t k = 0; k < f.shapes.size(); ++k) shapes[shape_name(f.shapes[k])] = f.shape_counts[k];
  for (std::size_t k = 0; k < f.outcomes.size(); ++k) outcomes[std::string(name(FlowOutcome(int(k))))] = f.outcomes[k];
  Json occupancy = fit_json(f.occupancy_fit.test);
  occupancy["method"] = name(f.occupancy_fit.method);
  occupancy["law"] = by_number(f.occupancy_law);
  Json results = {{"seeds", f.seeds},
                  {"distinct", by_number(f.distinct)},
                  {"positions", f.sums.at},
                  {"selected", f.selected.count},
                  {"not_selected", f.seeds - f.selected.count},
                  {"collision_probability", estimate_json(f.collided.estimate)},
                  {"occupancy", std::move(occupancy)},
                  {"position_uniformity", fit_json(f.position_fit)},
                  {"pair_independence", fit_json(f.pair_fit)},
                  {"pair_correlation", estimate_json(f.pairs.correlation)},
                  {"heads_together", estimate_json(f.pairs.same)},
                  {"selected_probability", estimate_json(f.selected.estimate)},
                  {"certified_probability", estimate_json(f.certified.estimate)},
                  {"escape_time_median", estimate_json(f.escape_median)},
                  {"n_star",
                   {{"distinct", number(cell.thresholds.distinct)},
                    {"pair", number(cell.thresholds.pair)},
                    {"all", number(cell.thresholds.all)}}},
                  {"quality",
                   {{"mean_loss", number(f.quality.mean_loss)},
                    {"worst_loss", number(f.quality.worst_loss)},
                    {"mean_accuracy", number(f.quality.mean_accuracy)},
                    {"worst_accuracy", number(f.quality.worst_accuracy)}}},
                  {"shapes", std::move(shapes)},
                  {"outcomes", std::move(outcomes)}};
  if (f.agrees.of > 0) results["static_agreement"] = estimate_json(f.agrees.estimate);
  return results;
}

Json sweep_json(const Scenario& scenario, const std::vector<Cell>& cells, const SweepStore& store) {
  if (scenario.sweep.over.empty()) return cell_json(cells.front());
  std::int64_t seeds = 0;
  Json list = Json::array(), axes = Json::array();
  for (const SweepAxis& axis : scenario.sweep.over) axes.push_back(axis.key);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    Json parameters = Json::object();
    for (const SweepAxis& axis : scenario.sweep.over) parameters[axis.key] = axis_value(cells[c].scenario, axis.key);
    Json cell = {{"cell", c}, {"parameters", std::move(parameters)}};
    cell.update(cell_json(cells[c]));
    list.push_back(std::move(cell));
    seeds += cells[c].facts.seeds;
  }
  return {{"seeds", seeds},
          {"axes", std::move(axes)},
          {"shard", fmt::format("{}/{}", store.shard().index, store.shard().count)},
          {"cells", std::move(list)}};
}

/// Cells of a CSV row that is put together piece by piece.
class Row {
 public:
  template <class Value>
  Row& add(const Value& value) {
    bool empty = false;
    if constexpr (std::is_floating_point_v<Value>) empty = !std::isfinite(value);
    cells_.push_back(empty ? "" : fmt::format("{}", value));
    return *this;
  }
  Row& add(const Estimate& e) { return add(e.value).add(e.interval.low).add(e.interval.high); }
  std::string text() const { return fmt::format("{}", fmt::join(cells_, ",")); }

 private:
  std::vector<std::string> cells_;
};

CsvTable cells_table(const Scenario& scenario, const std::vector<Cell>& cells) {
  std::string header = "cell";
  for (const SweepAxis& axis : scenario.sweep.over) header += "," + axis.key;
  header += ",blocks,positions,heads,vocabulary,gamma,beta,kappa,rho,gates,seeds";
  for (const char* estimate : {"selected", "certified", "all_distinct", "collision", "together", "correlation", "escape", "agrees"})
    header += fmt::format(",{0},{0}_low,{0}_high", estimate);
  header +=
      ",mean_loss,worst_loss,mean_accuracy,worst_accuracy,occupancy_p,uniform_p,independent_p,n_star_distinct,n_star_pair,n_star_"
      "all";
  CsvTable table(
      "cells.csv",
      "a row for each cell of the sweep; selected, certified: shares of all seeds; all_distinct, collision: of selected seeds; "
      "together: two heads share an offset; correlation: 0 independent, 1 always together; escape: median time; agrees: "
      "linear and static flow select the same; mean and worst over the phases, mean over selected seeds: loss in nats, accuracy; "
      "_low, _high: 95% intervals; _p: p-values; n_star: N* of patterns",
      header);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const Scenario& s = cells[c].scenario;
    const CellFacts& f = cells[c].facts;
    const Thresholds& n = cells[c].thresholds;
    Row row;
    row.add(c);
    for (const SweepAxis& axis : scenario.sweep.over) row.add(axis_value(s, axis.key));
    row.add(s.model.blocks).add(s.model.positions).add(s.model.heads).add(s.model.vocabulary).add(s.model.gamma).add(s.model.beta);
    row.add(s.geometry.kappa).add(s.initial.radius).add(s.gates.gates == GateWord::fixed ? "static" : "linear").add(f.seeds);
    for (const Estimate& e : {f.selected.estimate, f.certified.estimate, f.all_distinct.estimate, f.collided.estimate, f.pairs.same,
                              f.pairs.correlation, f.escape_median, f.agrees.estimate})
      row.add(e);
    for (const double quality : {f.quality.mean_loss, f.quality.worst_loss, f.quality.mean_accuracy, f.quality.worst_accuracy})
      row.add(quality);
    row.add(f.occupancy_fit.test.p_value).add(f.position_fit.p_value).add(f.pair_fit.p_value);
    row.add(n.distinct).add(n.pair).add(n.all);
    table.row(row.text());
  }
  return table;
}

CsvTable coverage_table(const std::vector<Cell>& cells) {
  CsvTable table("coverage.csv",
                 "distinct: number of distinct positions; count: selected seeds; share, low, high: of them, with simultaneous 95% "
                 "intervals in each cell; occupancy: the law of independent uniform choices",
                 "cell,distinct,count,share,low,high,occupancy");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellFacts& f = cells[c].facts;
    for (std::size_t k = 0; k < f.distinct.size(); ++k)
      table.row(c, k + 1, f.distinct[k], double(f.distinct[k]) / double(f.selected.count), f.distinct_intervals[k].low,
                f.distinct_intervals[k].high, f.occupancy_law[k]);
  }
  return table;
}

CsvTable shapes_table(const std::vector<Cell>& cells) {
  CsvTable table(
      "shapes.csv",
      "shape: numbers of heads at the occupied offsets; count: selected seeds; share, low, high: of them, with simultaneous "
      "95% intervals in each cell; law: of independent uniform choices; mean and worst over the phases: loss in nats, accuracy",
      "cell,shape,taken,count,share,low,high,law,mean_loss,worst_loss,mean_accuracy,worst_accuracy");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellFacts& f = cells[c].facts;
    for (std::size_t k = 0; k < f.shapes.size(); ++k)
      table.row(c, shape_name(f.shapes[k]), f.shapes[k].size(), f.shape_counts[k],
                double(f.shape_counts[k]) / double(f.selected.count), f.shape_intervals[k].low, f.shape_intervals[k].high,
                f.shape_law[k], f.qualities[k].mean_loss, f.qualities[k].worst_loss, f.qualities[k].mean_accuracy,
                f.qualities[k].worst_accuracy);
  }
  return table;
}

CsvTable positions_table(const std::vector<Cell>& cells) {
  CsvTable table("positions.csv",
                 "position: key offset, from 0; count: heads there; share, low, high: of all heads, with the 95% Clopper-Pearson "
                 "interval as if heads were independent; uniform: 1 / (S - 1)",
                 "cell,position,count,share,low,high,uniform");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellFacts& f = cells[c].facts;
    const std::int64_t heads = f.selected.count * f.model.heads;
    for (std::size_t r = 0; r < f.sums.at.size(); ++r) {
      const Share share(f.sums.at[r], heads);
      table.row(c, r, share.count, share.estimate.value, share.estimate.interval.low, share.estimate.interval.high,
                1.0 / double(f.sums.at.size()));
    }
  }
  return table;
}

CsvTable pairs_table(const std::vector<Cell>& cells) {
  CsvTable table(
      "pairs.csv",
      "share: probability that two different heads of a selected seed are at the key offsets r and s; independent: the same "
      "for independent uniform heads",
      "cell,r,s,share,independent");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellFacts& f = cells[c].facts;
    if (f.selected.count == 0 || f.model.heads < 2) continue;
    const std::vector<double> joint = joint_positions(f.sums);
    const std::size_t n = f.sums.at.size();
    for (std::size_t k = 0; k < joint.size(); ++k) table.row(c, k / n, k % n, joint[k], 1.0 / double(n * n));
  }
  return table;
}

CsvTable escape_table(const std::vector<Cell>& cells) {
  CsvTable table(
      "escape.csv",
      "t_low, t_high: ends of a bin of escape times, the first at which some key weight reaches (1 + 1/n)/2, n = S - 1; count: "
      "seeds in it; share: of all seeds",
      "cell,t_low,t_high,count,share");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellFacts& f = cells[c].facts;
    for (const auto& [bin, count] : f.escapes)
      table.row(c, std::pow(10.0, bin / 100.0), std::pow(10.0, (bin + 1) / 100.0), count, double(count) / double(f.seeds));
  }
  return table;
}

/// The escape law dT/dlog(1/sigma_b) = 1/(lambda + mu/T), between cells that differ in rho alone (theory.md section 5).
CsvTable escape_law_table(const std::vector<Cell>& cells) {
  CsvTable table(
      "escape_law.csv",
      "ratio: measured growth of lambda T + mu log T from the cell of initial radius rho to the one of smaller_rho, over the "
      "law's log(rho / smaller_rho), 1 for N -> infinity, with its 95% interval; p: of ratio = 1; predicted, measured: median "
      "escape times at smaller_rho",
      "cell,smaller_cell,rho,smaller_rho,ratio,low,high,p,predicted,measured");
  for (std::size_t a = 0; a < cells.size(); ++a)
    for (std::size_t b = 0; b < cells.size(); ++b) {
      Scenario at_rho = cells[a].scenario;
      const double rho = at_rho.initial.radius, smaller = cells[b].scenario.initial.radius;
      at_rho.initial.radius = smaller;
      if (!(smaller < rho) || write_scenario(at_rho) != write_scenario(cells[b].scenario)) continue;
      const CellFacts &from = cells[a].facts, &to = cells[b].facts;
      if (from.escaped < 2 || to.escaped < 2) continue;
      const double lambda = saddle_rate(from.model, static_speed(from.model, at_rho.geometry.kappa)),
                   mu = escape_correction(from.model);
      const EscapeSlope slope = escape_slope(from.escapes, to.escapes, rho / smaller, lambda, mu);
      table.row(a, b, rho, smaller, slope.ratio.value, slope.ratio.interval.low, slope.ratio.interval.high, slope.p_value,
                escape_time_at(lambda, mu, from.escape_median.value, rho / smaller), to.escape_median.value);
    }
  return table;
}

CsvTable seeds_table(const Scenario& scenario, const SweepStore& store, std::size_t cells) {
  std::string header = "cell,seed,outcome,t,escape,residual,certified";
  for (int h = 0; h < scenario.model.heads; ++h) header += fmt::format(",head{}", h);
  CsvTable table(
      "seeds.csv",
      "seed: of the start; outcome: of the flow; t: time reached; escape: time at which it left the saddle; residual: largest "
      "1 - p; certified: inside a proved trapping box; head0, ...: key offset of each head, -1 where none",
      header);
  for (std::size_t c = 0; c < cells; ++c)
    store.for_each_seed(int(c), [&](const StoredSeed& seed) {
      std::string heads = seed.selection;
      std::replace(heads.begin(), heads.end(), ' ', ',');
      table.row(c, seed.seed, seed.outcome, seed.t, seed.escape, seed.residual, int(seed.certified), heads);
    });
  return table;
}

std::string interval_text(const Estimate& e) {
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", e.value, e.interval.low, e.interval.high);
}

std::vector<std::string> one_cell_summary(const Cell& cell) {
  const CellFacts& f = cell.facts;
  std::vector<std::string> lines = {
      fmt::format("coverage: {} of {} seeds selected, {} did not; {} certified", f.selected.count, f.seeds,
                  f.seeds - f.selected.count, f.certified.count),
      fmt::format("model: {}; kappa = {:.6g}, {} gates", model_text(f.model), cell.scenario.geometry.kappa,
                  cell.scenario.gates.gates == GateWord::fixed ? "static" : "linear")};
  for (std::size_t k = 0; k < f.distinct.size() && k < 8; ++k)
    lines.push_back(fmt::format("{} distinct: {:>8}  {:.4f} [{:.4f}, {:.4f}]  independent choices: {:.4f}", k + 1, f.distinct[k],
                                double(f.distinct[k]) / double(f.selected.count), f.distinct_intervals[k].low,
                                f.distinct_intervals[k].high, f.occupancy_law[k]));
  lines.push_back(fmt::format("some heads collide: {} (95% interval)", interval_text(f.collided.estimate)));
  lines.push_back(fmt::format("correlation of two heads' positions: {}", interval_text(f.pairs.correlation)));
  lines.push_back(fmt::format("occupancy law of independent choices: statistic {:.4g}, p = {:.3g}", f.occupancy_fit.test.statistic,
                              f.occupancy_fit.test.p_value));
  lines.push_back(
      fmt::format("uniform positions: chi-square {:.4g}, p = {:.3g}", f.position_fit.statistic, f.position_fit.p_value));
  if (f.escaped > 0)
    lines.push_back(fmt::format("median escape time: {:.4g} [{:.4g}, {:.4g}]", f.escape_median.value, f.escape_median.interval.low,
                                f.escape_median.interval.high));
  if (f.agrees.of > 0) lines.push_back(fmt::format("same selection as the static flow: {}", interval_text(f.agrees.estimate)));
  return lines;
}

std::vector<std::string> sweep_summary(const Scenario& scenario, const std::vector<Cell>& cells) {
  constexpr std::size_t most_lines = 15;
  std::int64_t seeds = 0;
  for (const Cell& cell : cells) seeds += cell.facts.seeds;
  std::vector<std::string> lines = {fmt::format("coverage: {} seeds in {} cells", seeds, cells.size()),
                                    fmt::format("model: {}", model_text(scenario.model)),
                                    "shares with 95% intervals: selected; heads collide"};
  for (const Cell& cell : cells) {
    if (lines.size() >= most_lines) {
      lines.push_back("... all cells: cells.csv");
      break;
    }
    lines.push_back(
        fmt::format("{}: {:.4f}; {}", cell.parameters, cell.facts.selected.estimate.value,
                    interval_text(cell.facts.collided.estimate)) +
        (cell.facts.agrees.of > 0 ? fmt::format("; as static flows {}", interval_text(cell.facts.agrees.estimate)) : ""));
  }
  return lines;
}

}  // namespace

Report coverage_report(const Scenario& scenario, const SweepStore& store) {
  store.check(write_scenario(scenario));
  const std::vector<Cell> cells = read_cells(scenario, store);
  Report report;
  report.results = sweep_json(scenario, cells, store);
  report.tables = {cells_table(scenario, cells), coverage_table(cells), positions_table(cells), shapes_table(cells),
                   pairs_table(cells),           escape_table(cells),   escape_law_table(cells)};
  if (scenario.sweep.keep == Keep::seeds) report.tables.push_back(seeds_table(scenario, store, cells.size()));
  std::erase_if(report.tables, [](const CsvTable& table) { return std::count(table.text.begin(), table.text.end(), '\n') == 2; });
  report.summary = scenario.sweep.over.empty() ? one_cell_summary(cells.front()) : sweep_summary(scenario, cells);
  const std::string seed = scenario.sweep.seeds > 1 ? "SEED" : std::to_string(scenario.sweep.first_seed);
  report.summary.push_back("one seed alone: " + redo_command(scenario, cells.front().scenario, seed));
  return report;
}

}  // namespace phaselock
