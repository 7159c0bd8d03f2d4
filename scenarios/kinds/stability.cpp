// kind = "stability": from which vocabulary on a selection pattern is locally stable, and the map of that threshold over beta.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "kinds/kind.hpp"
#include "model/interrupt.hpp"
#include "proofs/stability.hpp"
#include "schema/key_table.hpp"
#include "schema/number_axis.hpp"

namespace phaselock {

namespace {

struct StabilityKeys {
  std::vector<double> pattern;  ///< key offset of each head, the same in every block
  std::vector<double> beta_range = {1, 20};
  int betas = 39;
};

constexpr Key keys[] = {
    own_key<&StabilityKeys::pattern>("stability.pattern", "key offset of each head, from 0").in({0, most}).needed(),
    own_key<&StabilityKeys::beta_range>("stability.beta_range", "of the map of N*").in(above_zero).of_length(2),
    own_key<&StabilityKeys::betas>("stability.betas", "values of beta in the map").in(sizes(2, 10000)),
};

Json interval_json(const Threshold& found) { return {{"low", found.low}, {"high", found.high}, {"proved", found.proved}}; }

/// Thresholds of the patterns with k = 1 .. H heads on one offset, at one beta; nothing where beta is too large for the model's
/// heads.
struct MapRow {
  double beta;
  std::vector<Threshold> by_heads;
};

bool valid(const SingleBlock& model) {
  try {
    validate(model);
    return true;
  } catch (const DomainError&) {
    return false;
  }
}

std::vector<MapRow> stability_map(const Scenario& scenario, const SingleBlock& of, RunContext& context) {
  const StabilityKeys& given = own_keys<StabilityKeys>(scenario);
  const int count = given.betas;
  const NumberAxis axis{&shared_key("model.beta"), given.beta_range[0], given.beta_range[1]};
  std::vector<MapRow> map(count);
  context.progress.begin("stability", "values of beta");
  std::mutex reporting;
  int done = 0;
  tbb::parallel_for(0, count, [&](int k) {
    check_interrupt();
    SingleBlock model = of;
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

Report run_stability(const Scenario& scenario, RunContext& context) {
  const SingleBlock model = require_single_block(scenario.model);
  const std::vector<double>& pattern = own_keys<StabilityKeys>(scenario).pattern;
  const std::vector<int> selection(pattern.begin(), pattern.end());
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
  report.tables.push_back(map_table(stability_map(scenario, model, context)));
  return report;
}

void check(Scenario& s) {
  check_model(s);
  const StabilityKeys& given = own_keys<StabilityKeys>(s);
  const auto fits = [&](double r) { return r == std::floor(r) && r < s.model.phases(); };
  if (int(given.pattern.size()) != s.model.heads || !std::all_of(given.pattern.begin(), given.pattern.end(), fits))
    throw s.failure("stability.pattern",
                    fmt::format("stability.pattern must be a list of {} whole numbers from 0 to {}: a key offset for each of "
                                "model.heads, none ending a block",
                                s.model.heads, s.model.phases() - 1));
  if (!(given.beta_range[0] < given.beta_range[1])) throw s.failure("stability.beta_range", "stability.beta_range must increase");
}

/// A threshold takes some hundred margins in balls, each about as much as a loss.
Cost stability_cost(const Scenario& scenario, bool) {
  const double S = scenario.model.positions, H = scenario.model.heads;
  const int betas = own_keys<StabilityKeys>(scenario).betas;
  return {usable_threads() * 100 * (S + H) * number_bytes + betas * H * 64, 1000.0 * betas * H};
}

constexpr std::string_view takes[] = {"model"};

}  // namespace

extern const Kind stability_kind;
constinit const Kind stability_kind = {.description = {.name = "stability", .takes = takes, .own_keys = keys, .check = check},
                                       .estimate = stability_cost,
                                       .run = run_stability};

}  // namespace phaselock
