// phaselock export
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "kinds/kind.hpp"
#include "output/descriptor.hpp"
#include "output/npz.hpp"
#include "sweep/coverage_report.hpp"
#include "sweep/seed_rows.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

namespace fs = std::filesystem;

namespace {

/// The folder, made if it is missing, for this process alone. Throws Failure (cannot_write).
Descriptor locked(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw cannot_write(folder, error.message());
  Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  const std::string why_not = opened ? take_lock(opened) : std::strerror(errno);
  if (!why_not.empty()) throw cannot_write(folder, why_not);
  return opened;
}

}  // namespace

int command_export(const std::string& folder) {
  const SweepStore store = SweepStore::open(fs::path(folder) / store_file);
  const Scenario scenario = stored_scenario(store, folder, kind_list());
  const fs::path target = fs::path(folder) / "export";
  const auto put = [&](const fs::path& name, const Produce& produce) { put_file(target / name, target / ".partial", produce); };
  const auto put_arrays = [&](fs::path name, std::istream& csv) {
    put(name.replace_extension(".npz"), [&](const Sink& sink) { write_npz(csv, sink); });
  };
  std::vector<CsvTable> tables;
  std::vector<Chunk> chunks;
  {
    const Snapshot moment = store.snapshot();  // short, for a running sweep waits at its next chunk
    tables = coverage_report(scenario, store).tables;
    chunks = stored_chunks(scenario, store);
  }
  const Descriptor lock = locked(target);
  for (const CsvTable& table : tables) {
    std::istringstream csv(table.text);
    put(table.name, [&](const Sink& sink) { sink(table.text); });
    put_arrays(table.name, csv);
  }
  const bool has_rows = scenario.sweep.keep == Keep::seeds && !chunks.empty();
  if (has_rows) {
    put(seed_rows_file, [&](const Sink& sink) { write_seed_rows(scenario, store, chunks, sink); });
    std::ifstream csv(target / seed_rows_file);
    put_arrays(seed_rows_file, csv);
  }
  print(fmt::format("{} tables written to {}\n", tables.size() + std::size_t(has_rows), target.string()));
  return int(Exit::done);
}

}  // namespace phaselock
