#include "sweep/coverage_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include "proofs/stability.hpp"
#include "schema/sweep_axes.hpp"

namespace phaselock {

namespace {

Thresholds thresholds_of(const SingleBlock& model) {
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
    if (found == known_.end()) found = known_.emplace(key, thresholds_of(require_single_block(m))).first;
    return found->second;
  }

 private:
  std::map<std::tuple<int, int, int, double, double>, Thresholds> known_;
};

/// What a cell's counts say; if nothing, the store is to blame.
CellFacts facts_of(const Model& model, const SweepStore& store, int cell) {
  const auto damaged = [&](const std::string& why) {
    return Failure(Exit::bad_data, fmt::format("{}: damaged: counts of cell {}: {}", store.name(), cell, why));
  };
  try {
    const std::int64_t seeds = store.finished_seeds(cell);
    const SeedCounts counts = store.totals(cell, model);
    if (counts.seeds() != seeds) throw damaged("outcomes of other names");
    return cell_facts(require_single_block(model), counts);
  } catch (const std::logic_error& error) {  // DomainError, or of text that is no number
    throw damaged(error.what());
  }
}

}  // namespace

std::vector<Cell> read_cells(const Scenario& scenario, const SweepStore& store) {
  std::vector<Cell> cells;
  ThresholdTable thresholds;
  for (Scenario& cell : sweep_cells(scenario)) {
    const int index = int(cells.size());
    std::vector<std::string> words;
    for (const SweepAxis& axis : scenario.sweep.over)
      words.push_back(fmt::format("{} = {}", axis.key.substr(axis.key.find('.') + 1), axis_value(cell, axis.key)));
    CellFacts facts = facts_of(cell.model, store, index);
    const Thresholds& n_star = thresholds(cell.model);
    cells.push_back({index, std::move(cell), fmt::format("{}", fmt::join(words, ", ")), std::move(facts), n_star});
  }
  return cells;
}

}  // namespace phaselock
