// kind = "stability": from which vocabulary on a selection pattern is locally stable, and the map of that threshold over beta.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "kinds/kind.hpp"
#include "model/interrupt.hpp"
#include "proofs/stability.hpp"

namespace phaselock {

namespace {

Json interval_json(const Threshold& found) { return {{"low", found.low}, {"high", found.high}, {"proved", found.proved}}; }

/// Thresholds of the patterns with k = 1 .. H heads on one offset, at one beta; nothing where beta is too large for the model's
/// heads.
struct MapRow {
  double beta;
  std::vector<Threshold> by_heads;
};

bool valid(const Model& model) {
  try {
    validate(model);
    return true;
  } catch (const DomainError&) {
    return false;
  }
}

std::vector<MapRow> stability_map(const Scenario& scenario, RunContext& context) {
  const int count = scenario.stability.betas;
  const DiagramAxis axis{DiagramNumber::beta, scenario.stability.beta_range[0], scenario.stability.beta_range[1]};
  std::vector<MapRow> map(count);
  context.progress.begin("stability", "values of beta");
  std::mutex reporting;
  int done = 0;
  tbb::parallel_for(0, count, [&](int k) {
    check_interrupt();
    Model model = scenario.model;
    model.beta = map[k].beta = axis.at(double(k) / (count - 1));
    if (valid(model))
      for (int heads = 1; heads <= model.heads; ++heads)
        map[k].by_heads.push_back(pattern_threshold(model, collision_pattern(model, heads)));
    const std::lock_guard<std::mutex> lock(reporting);
    context.progress.update(++done, count);
  });
  return map;
}

CsvTable map_table(const std::vector<MapRow>& map) {
  using enum ColumnType;
  CsvTable table({"stability_map.csv", "stability thresholds of selection patterns over beta",
                  joined({{{"beta", number},
                           {"heads", integer},
                           {"N_star", number,
                            "least N from which on the pattern with so many heads on one key offset, the others on offsets of "
                            "their own if there are enough, is locally stable"}},
                          alike({"low", "high"}, {"", number, "its enclosure"}),
                          {{"proved", integer, "1 if the enclosure is proved"}}})});
  for (const MapRow& row : map)
    for (std::size_t k = 0; k < row.by_heads.size(); ++k) {
      const Threshold& found = row.by_heads[k];
      table.row(row.beta, k + 1, found.n_star, found.low, found.high, int(found.proved));
    }
  return table;
}

std::string threshold_text(const Threshold& found) {
  return fmt::format("{:.12g}, {} in [{:.12g}, {:.12g}]", found.n_star, found.proved ? "proved to lie" : "not proved to lie",
                     found.low, found.high);
}

}  // namespace

Report run_stability(const Scenario& scenario, RunContext& context) {
  const Model& model = scenario.model;
  const std::vector<int> selection(scenario.stability.pattern.begin(), scenario.stability.pattern.end());
  const Threshold found = pattern_threshold(model, selection);
  const std::vector<double> margins = SelectionMargins<double>(model, selection).at(1.0 / model.vocabulary);
  const double least = *std::min_element(margins.begin(), margins.end());
  Report report;
  Json& results = report.results;
  results = {{"pattern", selection},
             {"N_star", found.n_star},
             {"N_star_interval", interval_json(found)},
             {"margins", nested(margins, {2, model.heads})},
             {"stable", least > 0.0},
             {"distinct_and_no_collision", nullptr}};
  report.summary = {fmt::format("stability: the pattern is {} at N = {}, least margin {:.6g}",
                                least > 0.0 ? "locally stable" : "unstable", model.vocabulary, least),
                    fmt::format("model: {}", model_text(model)),
                    fmt::format("pattern (key offset of each head): {}", fmt::join(selection, ", ")),
                    fmt::format("stable for all N above N* = {}", threshold_text(found))};
  if (const auto collision = first_collision(model)) {
    const Threshold distinct = pattern_threshold(model, collision_pattern(model, 1));
    const bool proved = distinct.proved && collision->threshold.proved;
    const bool any = distinct.high < collision->threshold.low;
    results["distinct_and_no_collision"] = {{"low", distinct.n_star},
                                            {"high", collision->threshold.n_star},
                                            {"proved", proved},
                                            {"empty", !any},
                                            {"first_collision", collision->selection}};
    report.summary.push_back(
        any ? fmt::format("only distinct patterns are stable for N from {:.12g} to {:.12g} ({}; patterns alike in every block)",
                          distinct.n_star, collision->threshold.n_star, proved ? "proved" : "not proved")
            : "at no N are distinct patterns the only stable ones");
  }
  report.tables.push_back(map_table(stability_map(scenario, context)));
  return report;
}

}  // namespace phaselock
