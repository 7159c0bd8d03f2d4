// How a scenario is run, by its kind.
#pragma once

#include "output/json.hpp"
#include "output/live_folder.hpp"
#include "output/progress.hpp"
#include "output/report.hpp"
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

Report run_flow(const Scenario& scenario, RunContext& context);
Report run_search(const Scenario& scenario, RunContext& context);
Report run_coverage(const Scenario& scenario, RunContext& context);
Report run_toy(const Scenario& scenario, RunContext& context);
Report run_stability(const Scenario& scenario, RunContext& context);
Report run_diagram(const Scenario& scenario, RunContext& context);

/// By the scenario's kind, after the check of sizes. Throws Failure, or Interrupted.
Report run_scenario(const Scenario& scenario, RunContext& context);

/// The numbers of the model that a kind uses and no axis runs over, with the scenario's key names.
Json scenario_model_json(const Scenario& scenario);

}  // namespace phaselock
