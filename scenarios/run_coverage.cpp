// kind = "coverage": which positions the heads of static flows take, over seeds.
#include "coverage.hpp"

#include <fmt/format.h>

#include "report.hpp"

namespace phaselock {

namespace {

/// Counts with the 95% interval of each share and the share that a law expects; as a table and as JSON.
struct Counted {
  double share;
  Interval interval;
  Counted(std::int64_t count, std::int64_t of) : share(of ? double(count) / double(of) : NAN), interval{NAN, NAN} {
    if (of > 0) interval = clopper_pearson(count, of);
  }
};

Json interval_json(std::int64_t count, std::int64_t of) {
  const Counted counted(count, of);
  return {{"estimate", counted.share}, {"low", counted.interval.low}, {"high", counted.interval.high}, {"level", 0.95}};
}

Json fit_json(const GoodnessOfFit& fit) {
  return {{"statistic", fit.statistic}, {"degrees", fit.degrees}, {"p_value", fit.p_value}};
}

Json coverage_json(const CoverageResult& found) {
  Json distinct = Json::object(), law = Json::object(), outcomes = Json::object();
  for (std::size_t k = 0; k < found.distinct.size(); ++k) distinct[std::to_string(k + 1)] = found.distinct[k];
  for (std::size_t k = 0; k < found.occupancy.size(); ++k) law[std::to_string(k + 1)] = found.occupancy[k];
  for (std::size_t k = 0; k < found.outcomes.size(); ++k) outcomes[std::string(name(FlowOutcome(int(k))))] = found.outcomes[k];
  Json test = fit_json(found.occupancy_fit);
  test["law"] = std::move(law);
  return {{"seeds", found.seeds},
          {"distinct", std::move(distinct)},
          {"positions", found.positions},
          {"selected", found.selected},
          {"not_selected", found.not_selected},
          {"collision_probability", interval_json(found.collided, found.selected)},
          {"occupancy", std::move(test)},
          {"position_uniformity", fit_json(found.position_fit)},
          {"selected_probability", interval_json(found.selected, found.seeds)},
          {"outcomes", std::move(outcomes)}};
}

std::vector<CsvTable> coverage_tables(const Scenario& scenario, const CoverageResult& found) {
  CsvTable distinct("coverage.csv",
                    "distinct: number of distinct positions; count: selected seeds; share, low, high: of them, with the 95% "
                    "Clopper-Pearson interval; occupancy: the law of independent uniform choices",
                    "distinct,count,share,low,high,occupancy");
  for (std::size_t k = 0; k < found.distinct.size(); ++k) {
    const Counted counted(found.distinct[k], found.selected);
    distinct.row(k + 1, found.distinct[k], counted.share, counted.interval.low, counted.interval.high, found.occupancy[k]);
  }
  CsvTable positions(
      "positions.csv",
      "position: key offset, from 0; count: heads there; share, low, high: of all heads, with the 95% Clopper-Pearson "
      "interval as if heads were independent; uniform: 1 / (S - 1)",
      "position,count,share,low,high,uniform");
  const std::int64_t heads = found.selected * scenario.model.heads;
  for (std::size_t r = 0; r < found.positions.size(); ++r) {
    const Counted counted(found.positions[r], heads);
    positions.row(r, found.positions[r], counted.share, counted.interval.low, counted.interval.high,
                  1.0 / double(found.positions.size()));
  }
  std::string header = "seed,outcome";
  for (int h = 0; h < scenario.model.heads; ++h) header += fmt::format(",head{}", h);
  CsvTable seeds("seeds.csv", "seed: of the start; outcome: of the flow; head0, ...: key offset of each head, -1 where none",
                 header);
  for (std::size_t k = 0; k < found.selections.size(); ++k)
    seeds.row(scenario.sweep.first_seed + k, name(found.seed_outcomes[k]), fmt::to_string(fmt::join(found.selections[k], ",")));
  return {std::move(distinct), std::move(positions), std::move(seeds)};
}

std::vector<std::string> coverage_summary(const Scenario& scenario, const CoverageResult& found) {
  const Counted collided(found.collided, found.selected);
  std::vector<std::string> lines = {
      fmt::format("coverage: {} of {} seeds selected, {} did not", found.selected, found.seeds, found.not_selected),
      fmt::format("model: {}; kappa = {:.6g}, epsilon = 0", model_text(scenario.model), scenario.geometry.kappa)};
  for (std::size_t k = 0; k < found.distinct.size() && k < 8; ++k) {
    const Counted counted(found.distinct[k], found.selected);
    lines.push_back(fmt::format("{} distinct: {:>8}  {:.4f} [{:.4f}, {:.4f}]  independent choices: {:.4f}", k + 1,
                                found.distinct[k], counted.share, counted.interval.low, counted.interval.high, found.occupancy[k]));
  }
  lines.push_back(fmt::format("some heads collide: {:.4f} [{:.4f}, {:.4f}] (95% interval)", collided.share, collided.interval.low,
                              collided.interval.high));
  lines.push_back(fmt::format("occupancy law of independent choices: chi-square {:.4g}, p = {:.3g}", found.occupancy_fit.statistic,
                              found.occupancy_fit.p_value));
  lines.push_back(
      fmt::format("uniform positions: chi-square {:.4g}, p = {:.3g}", found.position_fit.statistic, found.position_fit.p_value));
  return lines;
}

}  // namespace

Report run_coverage(const Scenario& scenario, RunContext& context) {
  CoverageOptions options;
  options.seeds = scenario.sweep.seeds;
  options.first_seed = scenario.sweep.first_seed;
  options.rho = scenario.initial.radius;
  options.flow = flow_options(scenario.flow);
  context.progress.begin("coverage", "seeds");
  context.state = {{"seeds_done", 0}};
  const CoverageResult found = head_coverage(scenario.model, scenario.geometry.kappa, options, [&](std::int64_t done) {
    context.state["seeds_done"] = done;
    context.progress.update(double(done), double(options.seeds));
  });
  return {coverage_json(found), coverage_tables(scenario, found), coverage_summary(scenario, found)};
}

}  // namespace phaselock
