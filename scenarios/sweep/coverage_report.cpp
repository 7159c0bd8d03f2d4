#include "sweep/coverage_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "schema/sweep_axes.hpp"
#include "sweep/coverage_cells.hpp"
#include "sweep/coverage_tables.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

namespace {

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json estimate_json(const Estimate& e) {
  return {{"estimate", number(e.value)}, {"low", number(e.interval.low)}, {"high", number(e.interval.high)}, {"level", 0.95}};
}

Json fit_json(const GoodnessOfFit& fit) {
  return {{"statistic", fit.statistic}, {"degrees", fit.degrees}, {"p_value", number(fit.p_value)}};
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
  Json occupancy = fit_json(f.shape_fit.test);
  occupancy["method"] = name(f.shape_fit.method);
  occupancy["law"] = by_number(f.occupancy_law);
  Json results = {{"seeds", f.seeds},
                  {"distinct", by_number(f.distinct)},
                  {"positions", f.sums.at},
                  {"selected", f.selected.count},
                  {"not_selected", f.seeds - f.selected.count},
                  {"collision_probability", estimate_json(f.collided.estimate)},
                  {"occupancy", std::move(occupancy)},
                  {"position_uniformity", fit_json(f.phase_fit)},
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
    Json cell = {{"cell", c},
                 {"parameters", axis_values(scenario, cells[c].scenario)},
                 {"one_seed", redo_command(scenario, cells[c].scenario, "SEED")}};
    cell.update(cell_json(cells[c]));
    list.push_back(std::move(cell));
    seeds += cells[c].facts.seeds;
  }
  return {{"seeds", seeds},
          {"axes", std::move(axes)},
          {"shard", fmt::format("{}/{}", store.shard().index, store.shard().count)},
          {"cells", std::move(list)}};
}

std::string interval_text(const Estimate& e) {
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", e.value, e.interval.low, e.interval.high);
}

/// Shares and tests of the seeds that selected.
std::vector<std::string> selected_summary(const CellFacts& f) {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < f.distinct.size() && k < 8; ++k)
    lines.push_back(fmt::format("{} distinct: {:>8}  {}  independent choices: {:.4f}", k + 1, f.distinct[k],
                                interval_text(f.distinct_shares[k]), f.occupancy_law[k]));
  if (f.model.heads > 1) lines.push_back(fmt::format("some heads collide: {} (95% interval)", interval_text(f.collided.estimate)));
  if (std::isfinite(f.pairs.correlation.value))
    lines.push_back(fmt::format("correlation of two heads' positions: {}", interval_text(f.pairs.correlation)));
  lines.push_back(fmt::format("occupancy law of independent choices: statistic {:.4g}, p = {:.3g}", f.shape_fit.test.statistic,
                              f.shape_fit.test.p_value));
  lines.push_back(fmt::format("uniform positions: chi-square {:.4g}, p = {:.3g}", f.phase_fit.statistic, f.phase_fit.p_value));
  return lines;
}

std::vector<std::string> one_cell_summary(const Cell& cell) {
  const CellFacts& f = cell.facts;
  std::vector<std::string> lines = {fmt::format("coverage: {} of {} seeds selected, {} did not; {} certified", f.selected.count,
                                                f.seeds, f.seeds - f.selected.count, f.certified.count),
                                    fmt::format("model: {}; kappa = {:.6g}, {} gates", model_text(f.model),
                                                cell.scenario.geometry.kappa, axis_value(cell.scenario, "gates.class"))};
  if (f.selected.count > 0)
    for (std::string& line : selected_summary(f)) lines.push_back(std::move(line));
  if (f.escaped > 0)
    lines.push_back(fmt::format("median escape time: {:.4g} [{:.4g}, {:.4g}]", f.escape_median.value, f.escape_median.interval.low,
                                f.escape_median.interval.high));
  if (f.agrees.of > 0) lines.push_back(fmt::format("same selection as the static flow: {}", interval_text(f.agrees.estimate)));
  return lines;
}

/// One line of a sweep's summary.
std::string cell_summary(const CellFacts& f) {
  if (f.seeds == 0) return "no seeds";
  std::string text = fmt::format("selected {:.4f}", f.selected.estimate.value);
  if (f.model.heads > 1 && f.selected.count > 0) text += fmt::format(", some collide {}", interval_text(f.collided.estimate));
  if (f.model.heads == 1 && f.escaped > 0) text += fmt::format(", median escape time {:.6g}", f.escape_median.value);
  if (f.agrees.of > 0) text += fmt::format(", as static flows {}", interval_text(f.agrees.estimate));
  return text;
}

std::vector<std::string> sweep_summary(const Scenario& scenario, const std::vector<Cell>& cells) {
  constexpr std::size_t most_lines = 15;
  std::int64_t seeds = 0;
  for (const Cell& cell : cells) seeds += cell.facts.seeds;
  std::vector<std::string> lines = {fmt::format("coverage: {} seeds in {} cells", seeds, cells.size()),
                                    fmt::format("model of the first: {}", model_text(scenario.model)),
                                    "shares of seeds that select and, of these, whose heads collide [95% interval]"};
  for (const Cell& cell : cells) {
    if (lines.size() >= most_lines) {
      lines.push_back("... all cells: cells.csv");
      break;
    }
    lines.push_back(fmt::format("{}: {}", cell.parameters, cell_summary(cell.facts)));
  }
  return lines;
}

/// The row of the seed, if only one was run and it is kept.
std::vector<std::string> row_summary(const Scenario& scenario, const SweepStore& store) {
  std::vector<std::string> lines;
  if (scenario.sweep.keep != Keep::seeds || sweep_size(scenario, store).done != 1) return lines;
  store.for_each_seed(stored_chunks(scenario, store).front(), [&](const StoredSeed& seed) {
    lines.push_back(fmt::format("seed {}: {} at t = {:.6g}, heads at {}", seed.seed, seed.outcome, seed.t, seed.selection));
  });
  return lines;
}

}  // namespace

Report coverage_report(const Scenario& scenario, const SweepStore& store) {
  check_store(scenario, store);
  const std::vector<Cell> cells = read_cells(scenario, store);
  Report report;
  report.results = sweep_json(scenario, cells, store);
  report.tables = coverage_tables(scenario, cells);
  report.summary = scenario.sweep.over.empty() ? one_cell_summary(cells.front()) : sweep_summary(scenario, cells);
  for (std::string& line : row_summary(scenario, store)) report.summary.push_back(std::move(line));
  const std::string seed = scenario.sweep.seeds > 1 ? "SEED" : std::to_string(scenario.sweep.first_seed);
  report.summary.push_back("one seed alone: " + redo_command(scenario, cells.front().scenario, seed));
  return report;
}

}  // namespace phaselock
