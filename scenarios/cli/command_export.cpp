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

constexpr std::string_view partial_name = ".partial";

/// Removes what a killed export left behind: libzip, too, writes beside the file it makes, under its name and more.
void remove_partial(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(partial_name)) fs::remove(entry.path(), ignored);
}

}  // namespace

int command_export(const std::string& folder) {
  const SweepStore store = SweepStore::open(fs::path(folder) / store_file);
  const Scenario scenario = stored_scenario(store, folder, kind_list());
  const fs::path target = fs::path(folder) / "export";
  const auto put = [&](const fs::path& name, const Produce& produce) { put_file(target / name, target / partial_name, produce); };
  const auto put_arrays = [&](fs::path name, std::istream& csv) {
    put_npz(target / name.replace_extension(".npz"), target / partial_name, csv);
  };
  Report report;
  std::vector<Chunk> chunks;
  {
    const Snapshot moment = store.snapshot();  // short, for a running sweep waits at its next chunk
    report = coverage_report(scenario, store);
    chunks = stored_chunks(scenario, store);
  }
  const Descriptor lock = locked(target);
  remove_partial(target);
  for (const CsvTable& table : report.tables) {
    std::istringstream csv(table.text);
    put(table.name(), [&](const Sink& sink) { sink(table.text); });
    put_arrays(table.name(), csv);
  }
  if (scenario.sweep.keep == Keep::seeds && !chunks.empty()) {
    put(seed_rows_file, [&](const Sink& sink) { write_seed_rows(scenario, store, chunks, sink); });
    std::ifstream csv(target / seed_rows_file);
    put_arrays(seed_rows_file, csv);
    report.written = {seed_rows_schema(scenario)};
  }
  const std::string described = dump(report.tables_document());
  put(tables_file, [&](const Sink& sink) { sink(described); });
  print(fmt::format("{} tables written to {}\n", report.tables.size() + report.written.size(), target.string()));
  return int(Exit::done);
}

}  // namespace phaselock
