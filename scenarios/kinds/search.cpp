// kind = "search": the best oracle weights of sampled contexts.
#include <fmt/format.h>

#include <algorithm>

#include "kinds/kind.hpp"
#include "model/interrupt.hpp"
#include "schema/inputs.hpp"
#include "schema/key_table.hpp"
#include "search/search.hpp"

namespace phaselock {

namespace {

struct SearchKeys {
  int starts = 64;
  std::uint64_t seed = 1;
};

constexpr Key keys[] = {
    own_key<&SearchKeys::starts>("search.starts", "of the continuous search").in(sizes(1, 1e6L)),
    own_key<&SearchKeys::seed>("search.seed", "of the starts").in(seeds),
};

ContextGates better_weights(const Model& model, const SearchResult& found) {
  return found.is_selection ? selection_gates(model, found.best_pattern) : found.best_weights;
}

Json search_json(const Model& model, const SearchResult& found) {
  const ContextGates weights = better_weights(model, found);
  const auto shape = {model.heads, model.blocks, model.positions};
  return {{"best_loss", found.best_loss},
          {"best_selection_loss", found.best_selection_loss},
          {"is_selection", found.is_selection},
          {"distinct", found.distinct},
          {"weights", {{"pK", nested(weights.key, shape)}, {"pV", nested(weights.value, shape)}}},
          {"kkt_residual", found.kkt_residual},
          {"starts", found.starts},
          {"starts_at_best", found.starts_at_best},
          {"best_pattern",
           nested(std::vector<double>(found.best_pattern.begin(), found.best_pattern.end()), {model.heads, model.blocks})}};
}

std::vector<CsvTable> search_tables(const Model& model, const SearchResult& found) {
  using enum ColumnType;
  CsvTable weights({"oracle_weights.csv", "optimal oracle weights, a row an entry and offset",
                    joined({alike({"head", "block", "offset"}, {"", integer, "from 0"}),
                            alike({"key", "value"}, {"", share, "gate weights of the better optimum of the first context"})})});
  const ContextGates best = better_weights(model, found);
  for (int h = 0; h < model.heads; ++h)
    for (int l = 0; l < model.blocks; ++l)
      for (int r = 0; r < model.positions; ++r) {
        const std::size_t k = gate_index(model, h, l, r);
        weights.row(h, l, r, std::clamp(best.key[k], 0.0, 1.0), std::clamp(best.value[k], 0.0, 1.0));
      }
  CsvTable starts({"starts.csv",
                   "where each start of the search ended",
                   {{"start", integer, "of the continuous search of the first context"}, {"loss", number, "", "nats"}}});
  for (std::size_t k = 0; k < found.start_losses.size(); ++k) starts.row(k, found.start_losses[k]);
  return {std::move(weights), std::move(starts)};
}

Report run_search(const Scenario& scenario, RunContext& context) {
  const Model& model = scenario.model;
  const Geometry geometry = make_geometry(scenario);
  const Contexts contexts = make_contexts(scenario);
  const auto& [starts, seed] = own_keys<SearchKeys>(scenario);
  const SearchOptions options{starts, seed};
  context.progress.begin("search", "contexts");
  context.state = {{"contexts", Json::array()}};
  Report report;
  std::size_t selections = 0, distinct = 0;
  for (std::size_t m = 0; m < contexts.size(); ++m) {
    check_interrupt();
    context.progress.update(double(m), double(contexts.size()));
    const SearchResult found = search_oracle(model, geometry, contexts[m], options);
    Json result = search_json(model, found);
    selections += found.is_selection;
    distinct += found.distinct;
    if (m == 0) {
      report.results = result;
      report.tables = search_tables(model, found);
    }
    result.erase("starts");
    result["tokens"] = contexts[m];
    context.state["contexts"].push_back(std::move(result));
  }
  const Json& first = report.results;
  report.summary = {
      fmt::format("search: the best weights of {} are {}", contexts.size() == 1 ? "the context" : "the first context",
                  !first["is_selection"] ? "no selection"
                  : first["distinct"]    ? "a selection of distinct positions"
                                         : "a selection with collisions"),
      fmt::format("model: {}; kappa = {:.6g}, epsilon = {:.4g}", model_text(model), geometry.kappa(), geometry.epsilon()),
      fmt::format("best loss of the continuous search: {:.12g} nats, reached by {} of {} starts", first["best_loss"].get<double>(),
                  first["starts_at_best"].get<int>(), first["starts"].get<int>()),
      fmt::format("best selection pattern: {:.12g} nats", first["best_selection_loss"].get<double>()),
      fmt::format("KKT residual of the better one: {:.3g}", first["kkt_residual"].get<double>()),
      fmt::format("contexts whose optimum is a selection: {} of {}; of distinct positions: {}", selections, contexts.size(),
                  distinct)};
  report.results["contexts_searched"] = contexts.size();
  report.results["selections"] = selections;
  report.results["distinct_selections"] = distinct;
  report.results["geometry"] = {{"kappa", geometry.kappa()}, {"epsilon", geometry.epsilon()}};
  report.results["contexts"] = std::move(context.state["contexts"]);
  return report;
}

void set_defaults(Scenario& scenario) {
  scenario.gates.gates = GateWord::oracle;
  scenario.contexts.sampling = Sampling::independent;
  scenario.contexts.count = 1;
}

void check(Scenario& s) {
  if (s.gates.gates != GateWord::oracle)
    throw s.failure("gates.class", "gates.class must be \"oracle\" for kind = \"search\": gates are trained by kind = \"flow\"");
  if (s.contexts.sampling != Sampling::independent)
    throw s.failure("contexts.sampling", "contexts.sampling must be \"independent\" for kind = \"search\"");
  check_model(s);
}

std::vector<std::string> warnings(const Scenario& scenario) {
  std::vector<std::string> all = beyond_theorems(scenario);
  if (scenario.is_exact() && scenario.contexts.count > 1)
    all.push_back(
        fmt::format("one context is searched instead of {}: at exact geometry all are equivalent", scenario.contexts.count));
  return all;
}

constexpr std::string_view takes[] = {"model", "geometry", "gates", "contexts"};

}  // namespace

extern const Kind search_kind;
constinit const Kind search_kind = {
    .description = {.name = "search", .takes = takes, .own_keys = keys, .set_defaults = set_defaults, .check = check},
    .estimate = [](const Scenario& scenario, bool) { return search_cost(scenario, own_keys<SearchKeys>(scenario).starts); },
    .run = run_search,
    .warnings = warnings};

}  // namespace phaselock
