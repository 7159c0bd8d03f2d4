// A kind of scenario is a value: how it is read, what it costs, how it is run. Each has a file of its own; all_kinds.cpp lists
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/cost.hpp"
#include "output/json.hpp"
#include "output/live_folder.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
#include "schema/kind_description.hpp"
#include "schema/scenario.hpp"
#include "sweep/shard.hpp"

namespace phaselock {

/// What a runner is given beside its scenario, and where it leaves what is worth keeping if it is interrupted.
struct RunContext {
  ProgressBar& progress;
  bool tables;                         ///< whether tables are wanted
  const LiveFolder* folder = nullptr;  ///< the run's own folder, for what it saves on its way; none: nothing is saved
  double checkpoint_every = 10.0;      ///< seconds, at least, from one save to the next
  Shard shard = {};                    ///< of a sweep
  Json state = Json::object();         ///< becomes state.json on interruption, if anything is put there
};

/// The assumptions of the theorems that the scenario's model does not meet, as warnings.
std::vector<std::string> beyond_theorems(const Scenario& scenario);

struct Kind {
  KindDescription description;

  /// What a run would take, before anything is allocated. `tables`: whether there is a run folder: every step is kept for its
  /// tables; without one, a sweep keeps its rows in memory.
  Cost (*estimate)(const Scenario&, bool tables);

  /// Throws Failure, or Interrupted.
  Report (*run)(const Scenario&, RunContext&);

  /// What to tell before the run.
  std::vector<std::string> (*warnings)(const Scenario&) = beyond_theorems;

  /// Numbers of the model that play no part, by the last word of their keys: result.json leaves them out. Null: none.
  std::vector<std::string_view> (*unused_numbers)(const Scenario&) = nullptr;
};

/// Every kind, in the order in which messages name them.
std::span<const Kind* const> all_kinds();

/// What the reader of scenarios knows of them.
KindList kind_list();

/// The kind of a scenario that was read with kind_list().
const Kind& kind_of(const Scenario& scenario);

/// A kind that the program itself names.
const Kind& kind_named(std::string_view name);

/// By the scenario's kind. Reads the header of geometry.file.
Cost estimate(const Scenario& scenario, bool tables);

/// By the scenario's kind, after the check of sizes. Throws Failure, or Interrupted.
Report run_scenario(const Scenario& scenario, RunContext& context);

/// The numbers of the model that a kind uses and no axis runs over, with the scenario's key names.
Json scenario_model_json(const Scenario& scenario);

}  // namespace phaselock
