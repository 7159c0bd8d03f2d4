// phaselock export
#include <fmt/format.h>

#include <filesystem>

#include "commands.hpp"
#include "coverage_report.hpp"
#include "live_folder.hpp"
#include "npz.hpp"
#include "sweep.hpp"

namespace phaselock {

namespace fs = std::filesystem;

int command_export(const std::string& folder) {
  const SweepStore store = SweepStore::open(fs::path(folder) / store_file);
  const Report report = coverage_report(stored_scenario(store, folder), store);
  const fs::path target = fs::path(folder) / "export";
  const auto put = [&](const fs::path& name, const std::string& text) { put_file(target / name, target / ".partial", text); };
  for (const CsvTable& table : report.tables) {
    put(table.name, table.text);
    put(fs::path(table.name).replace_extension(".npz"), npz(table));
  }
  print(fmt::format("{} tables written to {}\n", report.tables.size(), target.string()));
  return int(Exit::done);
}

}  // namespace phaselock
