// kind = "diagram": outcomes over two numbers of the model, with theory's curves.
#include "proofs/diagram.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "kinds/kind.hpp"

namespace phaselock {

namespace {

DiagramOptions diagram_options(const Scenario& scenario) {
  const DiagramKeys& keys = scenario.diagram;
  DiagramOptions options;
  options.model = scenario.model;
  options.kappa = scenario.geometry.kappa;
  options.rho = scenario.initial.radius;
  options.x = {keys.x, keys.x_range[0], keys.x_range[1]};
  options.y = {keys.y, keys.y_range[0], keys.y_range[1]};
  options.what = keys.what;
  options.cells = keys.cells;
  options.refine = keys.refine;
  options.starts = keys.starts;
  options.seeds = keys.seeds;
  options.flow = flow_options(scenario);
  return options;
}

Json axis_json(const DiagramAxis& axis) {
  return {{"number", name(axis.number)}, {"low", axis.low}, {"high", axis.high}, {"logarithmic", axis.is_logarithmic()}};
}

CsvTable cells_table(const std::vector<DiagramCell>& cells) {
  using enum ColumnType;
  CsvTable table({"diagram.csv", "a row a cell of the diagram",
                  joined({alike({"x", "y"}, {"", number}),
                          {{"level", integer}},
                          alike({"x_low", "x_high", "y_low", "y_high"}, {"", number}),
                          {{"outcome", text}},
                          alike({"selected", "colliding", "interior"},
                                {"", share, "shares of the seeds (theorem2), colliding among the selected"}),
                          {{"log10_n_star", number, "of N*(distinct) (n_star)"}}}),
                  "x, y: where the cell was computed; x_low ... y_high: its edges; level: times it was halved"});
  for (const DiagramCell& c : cells)
    table.row(c.x, c.y, c.level, c.x_low, c.x_high, c.y_low, c.y_high, name(c.outcome), c.selected, c.colliding, c.interior,
              c.log10_n_star);
  return table;
}

CsvTable curves_table(const std::vector<CurvePoint>& curve) {
  using enum ColumnType;
  CsvTable table({"curves.csv",
                  "theory's curves through the diagram, if N is on one of its axes",
                  {{"at", number, "value on the axis that is not N"},
                   {"n_sufficient", number, "N >= L S above which a bound proves theorem 1, min(N0, N1, N2)"},
                   {"n_star", number, "N* from which on distinct patterns are locally stable"},
                   {"n_star_pair", number, "the same of two heads on one offset, the others on offsets of their own"}}});
  for (const CurvePoint& point : curve) table.row(point.at, point.n_sufficient, point.n_star, point.n_star_pair);
  return table;
}

std::string meaning(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::assumption:
      return "not examined: the statement does not speak of the model";
    case CellOutcome::proved:
      return "every optimum is a selection (proved)";
    case CellOutcome::selection:
      return "the search finds nothing below the distinct selections";
    case CellOutcome::interior:
      return "an optimum or equilibrium with a mixed gate";
    case CellOutcome::distinct:
      return "most flows select distinct positions";
    case CellOutcome::colliding:
      return "most flows select, heads colliding";
    case CellOutcome::unfinished:
      return "most flows end undecided";
    case CellOutcome::always_stable:
      return "distinct selections are stable at every N";
    case CellOutcome::threshold:
      return "distinct selections are stable above some N* > L S";
  }
  return {};
}

}  // namespace

Report run_diagram(const Scenario& scenario, RunContext& context) {
  const DiagramOptions options = diagram_options(scenario);
  context.progress.begin("diagram", "cells");
  context.state = {{"cells_done", 0}};
  const std::vector<DiagramCell> cells = compute_diagram(options, [&](int done, int total) {
    context.state["cells_done"] = done;
    context.progress.update(done, total);
  });
  std::map<CellOutcome, int> counts;
  for (const DiagramCell& cell : cells) ++counts[cell.outcome];
  Report report;
  Json outcomes = Json::object();
  std::vector<std::string> others;
  const Json model = scenario_model_json(scenario);
  for (const auto& [key, value] : model.items()) others.push_back(fmt::format("{} = {:g}", key, value.get<double>()));
  report.summary = {fmt::format("diagram: {} over {} in [{:g}, {:g}] and {} in [{:g}, {:g}], {} cells", name(options.what),
                                name(options.x.number), options.x.low, options.x.high, name(options.y.number), options.y.low,
                                options.y.high, cells.size()),
                    fmt::format("other numbers: {}", fmt::join(others, ", "))};
  for (const auto& [outcome, count] : counts) {
    outcomes[std::string(name(outcome))] = count;
    report.summary.push_back(fmt::format("{:>6} cells {:<13}  {}", count, name(outcome), meaning(outcome)));
  }
  report.results = {{"what", name(options.what)},
                    {"x", axis_json(options.x)},
                    {"y", axis_json(options.y)},
                    {"cells", cells.size()},
                    {"outcomes", std::move(outcomes)}};
  report.tables = {cells_table(cells), curves_table(diagram_curves(options))};
  return report;
}

}  // namespace phaselock
