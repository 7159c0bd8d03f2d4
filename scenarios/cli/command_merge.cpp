// phaselock merge
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "cli/commands.hpp"
#include "kinds/kind.hpp"
#include "kinds/run_output.hpp"
#include "sweep/coverage_report.hpp"
#include "sweep/coverage_tables.hpp"
#include "sweep/seed_rows.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

namespace fs = std::filesystem;

int command_merge(const std::string& out, const std::vector<std::string>& shards, bool json) {
  const auto started = std::chrono::steady_clock::now();
  for (const std::string& shard : shards) {
    std::error_code missing;
    if (fs::equivalent(out, shard, missing))
      throw Failure(Exit::bad_scenario, fmt::format("{}: is the folder to merge into; name the others only", shard));
  }
  const Scenario scenario = stored_scenario(SweepStore::open(fs::path(shards.front()) / store_file), out, kind_list());
  const std::string text = write_scenario(scenario);
  for (const std::string& shard : shards)
    check_store(scenario, SweepStore::open(fs::path(shard) / store_file));  // before anything is written
  const LiveFolder folder(out, text, true);
  SweepStore store = open_store(scenario, &folder, Shard{});
  for (const std::string& shard : shards) store.merge(fs::path(shard) / store_file);
  const SweepSize size = sweep_size(scenario, store);
  if (size.done < size.seeds) {
    const Json state = {{"kind", scenario.kind->name}, {"complete", false}, {"seeds_done", size.done}, {"seeds", size.seeds}};
    print(json ? dump(state) : fmt::format("merged: {} of {} seeds; the others are not in these shards\n", size.done, size.seeds));
    return int(Exit::done);
  }
  Report report = coverage_report(scenario, store);
  leave_out_empty(report.tables);
  const std::string document = dump(result_document(scenario, report, started));
  if (!folder.finished()) {
    report.written = put_seed_rows(scenario, store, folder);
    write_run(folder, document, report);
  }
  print(json ? document : fmt::format("{}\nwritten to {}\n", fmt::join(report.summary, "\n"), out));
  return int(Exit::done);
}

}  // namespace phaselock
