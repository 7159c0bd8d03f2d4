// phaselock run
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "commands.hpp"
#include "cost.hpp"
#include "files.hpp"
#include "inputs.hpp"
#include "interrupt.hpp"
#include "provenance.hpp"
#include "report.hpp"
#include "run_folder.hpp"

namespace phaselock {

namespace {

void warn(const Scenario& scenario) {
  if (scenario.kind == Kind::toy) return;
  for (const std::string& assumption : unmet_assumptions(scenario.model))
    fmt::print(stderr, "warning: the theorems do not speak of this model: they assume {}\n", assumption);
  if (scenario.kind == Kind::search && scenario.is_exact() && scenario.contexts.count > 1)
    fmt::print(stderr, "warning: one context is searched instead of {}: at exact geometry all are equivalent\n",
               scenario.contexts.count);
}

void dry_run(const Scenario& scenario, const Cost& cost, bool json) {
  if (json) {
    print(dump({{"kind", name(scenario.kind)},
                {"dry_run", true},
                {"model", scenario_model_json(scenario)},
                {"scenario", write_scenario(scenario)},
                {"memory_bytes", cost.bytes},
                {"memory_limit_bytes", memory_limit()},
                {"evaluations", cost.evaluations}}));
    return;
  }
  print(fmt::format("{}\n# memory: at most about {} of {} allowed\n# cost: about {:.2g} losses with gradient of one {}\n",
                    write_scenario(scenario), bytes_text(cost.bytes), bytes_text(memory_limit()), cost.evaluations,
                    scenario.kind == Kind::flow && scenario.gates.gates != GateWord::fixed ? "context" : "model"));
}

void write_run(RunFolder& folder, const Scenario& scenario, const std::string& document, const Report& report) {
  folder.write("scenario.toml", write_scenario(scenario));
  for (const CsvTable& table : report.tables) folder.write(table.name, table.text);
  if (!report.certificate.is_null()) folder.write("certificate.json", dump(report.certificate));
  folder.write("result.json", document);
  folder.commit();
}

/// What an interrupted run leaves in its folder: the scenario and state.json, no result.
void write_state(RunFolder& folder, const Scenario& scenario, const Json& state) {
  folder.discard_files();
  folder.write("scenario.toml", write_scenario(scenario));
  folder.write("state.json", dump(state));
  folder.commit();
}

}  // namespace

int command_run(const std::string& file, const CommandOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const Scenario scenario = load_scenario(find_scenario(file), options.overrides);
  const Cost cost = estimate(scenario, options.out.has_value());
  refuse_if_too_large(scenario, cost);
  check_inputs(scenario);
  warn(scenario);
  if (options.dry_run) {
    dry_run(scenario, cost, options.json);
    return int(Exit::done);
  }
  std::optional<RunFolder> folder;
  if (options.out) folder.emplace(*options.out);
  ProgressBar progress(options.quiet);
  RunContext context{progress, options.out.has_value()};
  try {
    const Report report = run_scenario(scenario, context);
    progress.clear();
    const Json document = {{"kind", name(scenario.kind)},
                           {"verdict", report.verdict()},
                           {"model", scenario_model_json(scenario)},
                           {"results", report.results},
                           {"provenance", provenance_json(seeds_json(scenario), started)}};
    const std::string text = dump(document);
    if (folder) write_run(*folder, scenario, text, report);
    if (options.json)
      print(text);
    else
      print(fmt::format("{}\n", fmt::join(report.summary, "\n")) + (folder ? fmt::format("written to {}\n", *options.out) : ""));
  } catch (const Interrupted&) {
    progress.clear();
    if (folder) write_state(*folder, scenario, context.state);
    fmt::print(stderr, "interrupted{}\n", folder ? fmt::format("; state saved in {}/state.json", *options.out) : "");
    return int(Exit::interrupted);
  }
  return int(Exit::done);
}

}  // namespace phaselock
