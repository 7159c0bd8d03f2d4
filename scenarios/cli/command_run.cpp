// phaselock run
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cli/commands.hpp"
#include "kinds/cost.hpp"
#include "kinds/kind.hpp"
#include "kinds/run_output.hpp"
#include "model/interrupt.hpp"
#include "output/files.hpp"
#include "output/flow_checkpoint.hpp"
#include "output/live_folder.hpp"
#include "schema/inputs.hpp"
#include "statistics/planning.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

namespace {

constexpr const char* state_file = "state.json";  ///< what an interrupted run notes

/// How sure a coverage run of so many seeds can be, and how many a surer one takes.
Json planning_json(const Scenario& scenario) {
  Json seeds = Json::object();
  for (const double width : {0.1, 0.01, 0.001}) seeds[fmt::to_string(width)] = seeds_for_width(width);
  return {{"level", 0.95}, {"widest_interval", interval_width(double(scenario.sweep.seeds))}, {"seeds_for_width", seeds}};
}

std::string planning_text(const Scenario& scenario) {
  return fmt::format("# shares of a cell: 95% intervals at most {:.2g} wide; 0.01 takes {} selected seeds, 0.001 takes {}\n",
                     interval_width(double(scenario.sweep.seeds)), seeds_for_width(0.01), seeds_for_width(0.001));
}

void dry_run(const Scenario& scenario, const Cost& cost, bool json) {
  const bool sweeps = scenario.kind->sweeps;
  if (json) {
    print(dump({{"kind", scenario.kind->name},
                {"dry_run", true},
                {"model", scenario_model_json(scenario)},
                {"scenario", write_scenario(scenario)},
                {"memory_bytes", cost.bytes},
                {"memory_limit_bytes", memory_limit()},
                {"evaluations", cost.evaluations},
                {"planning", sweeps ? planning_json(scenario) : Json()}}));
    return;
  }
  print(fmt::format("{}\n# memory: at most about {} of {} allowed\n# cost: about {:.2g} losses with gradient of one {}\n",
                    write_scenario(scenario), bytes_text(cost.bytes), bytes_text(memory_limit()), cost.evaluations, cost.unit) +
        (sweeps ? planning_text(scenario) : ""));
}

/// A complete run needs nothing of what it saved on its way.
void remove_saves(const LiveFolder& folder) {
  for (const char* name : {state_file, flow_checkpoint_file}) folder.remove(name);
}

/// What an interrupted run leaves beside its checkpoint or store, if its kind has any: how far it had come.
void save_interrupted(LiveFolder& folder, const Json& state) {
  folder.keep();
  if (!state.empty()) folder.write(state_file, dump(state));
}

/// Where --resume takes up what the folder holds, in words.
const char* going_on(const LiveFolder& folder) {
  return folder.holds(flow_checkpoint_file) ? "goes on from the last checkpoint"
         : folder.holds(store_file)         ? "goes on with the chunks that are missing"
                                            : "starts again from the beginning";
}

void print_finished(const LiveFolder& folder, const Scenario& scenario, const CommandOptions& options) {
  if (scenario.kind->sweeps) check_shard(SweepStore::open(folder.path() / store_file), folder, options.shard.value_or(Shard{}));
  read_json(folder.path() / "result.json");  // refuses what is none
  remove_saves(folder);                      // unless a kill came in between
  const std::string where = (folder.path() / "result.json").string();
  print(options.json ? read_text(where, std::size_t(1) << 30) : fmt::format("the run is complete: {}\n", where));
}

}  // namespace

int command_run(const std::string& file, const CommandOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const Scenario scenario = load_scenario(find_scenario(file), options.overrides, kind_list());
  if (options.shard && !scenario.kind->sweeps)
    throw Failure(Exit::bad_scenario, "--shard: only runs of kind = \"coverage\" have shards");
  const Cost cost = estimate(scenario, options.out.has_value());
  refuse_if_too_large(scenario, cost);
  check_inputs(scenario);
  for (const std::string& warning : kind_of(scenario).warnings(scenario)) tell(fmt::format("warning: {}\n", warning));
  if (options.dry_run) {
    dry_run(scenario, cost, options.json);
    return int(Exit::done);
  }
  std::optional<LiveFolder> folder;
  if (options.out) folder.emplace(*options.out, write_scenario(scenario), options.resume);
  if (folder && folder->finished()) {
    print_finished(*folder, scenario, options);
    return int(Exit::done);
  }
  if (folder && folder->resumes()) tell(fmt::format("--resume: {}\n", going_on(*folder)));
  ProgressBar progress(options.quiet);
  RunContext context{progress, folder.has_value(), folder ? &*folder : nullptr, options.checkpoint_every,
                     options.shard.value_or(Shard{})};
  try {
    const Report report = run_scenario(scenario, context);
    progress.clear();
    const std::string text = dump(result_document(scenario, report, started));
    if (folder) {
      write_run(*folder, text, report);
      remove_saves(*folder);
    }
    if (options.json)
      print(text);
    else
      print(fmt::format("{}\n", fmt::join(report.summary, "\n")) + (folder ? fmt::format("written to {}\n", *options.out) : ""));
  } catch (const Interrupted&) {
    progress.clear();
    if (folder) save_interrupted(*folder, context.state);
    tell(fmt::format("interrupted{}\n", folder ? fmt::format("; {} is kept: --resume {}", *options.out, going_on(*folder)) : ""));
    return int(Exit::interrupted);
  }
  return int(Exit::done);
}

}  // namespace phaselock
