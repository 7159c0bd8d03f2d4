#include "sweep/sweep.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <mutex>

#include "kernels/ensemble.hpp"
#include "kernels/table_loss.hpp"
#include "model/gates.hpp"
#include "model/interrupt.hpp"
#include "output/files.hpp"
#include "output/json.hpp"
#include "proofs/shape_traps.hpp"
#include "schema/inputs.hpp"
#include "schema/schema.hpp"
#include "schema/sweep_axes.hpp"

namespace phaselock {

namespace {

/// Seeds of a whole chunk: about half a second of static flows, some seconds of linear ones. Stores do not hold it: other numbers
/// would need another schema version.
std::int64_t chunk_size(const Scenario& cell) {
  if (cell.sweep.chunk > 0) return cell.sweep.chunk;
  return is_static(cell) ? 8192 : 8;
}

/// `text` as one word of a shell's command.
std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_./,:=+-").find(char(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// Keys that say which seeds are run and how they are kept, rather than what each of them is.
bool is_of_the_sweep(const Scenario& scenario, const std::string& key) {
  return (key.starts_with("sweep.") && key != "sweep.compare_static") ||
         std::any_of(scenario.sweep.over.begin(), scenario.sweep.over.end(), [&](const SweepAxis& a) { return a.key == key; });
}

std::vector<SeedRecord> static_records(const Scenario& cell, std::uint64_t first, std::int64_t seeds) {
  const SeedOptions options{cell.initial.radius, flow_options(cell), cell.coordination, static_ensemble};
  std::vector<SeedRecord> records;
  const SingleBlock block = require_single_block(cell.model);
  ShapeTraps traps(block);
  for (SeedEnd& end : static_seeds(block, cell.geometry.kappa, options, first, seeds)) {
    const bool certified = end.outcome == FlowOutcome::selected && traps.holds(end.selection, end.residual);
    records.push_back({std::move(end), certified, std::nullopt});
  }
  return records;
}

std::vector<SeedRecord> linear_records(const Scenario& cell, std::uint64_t first, std::int64_t seeds) {
  const Geometry geometry = make_geometry(cell);
  const Contexts contexts = make_contexts(cell);
  const FlowOptions options = flow_options(cell);
  TableLoss loss(cell.model, geometry, contexts);
  std::vector<SeedRecord> records;
  for (std::int64_t k = 0; k < seeds; ++k) {
    FlowResult flow = table_flow(loss, GateClass::linear,
                                 geometry.initial_tables(cell.model, cell.initial.radius, first + std::uint64_t(k)), options);
    SeedRecord record{{flow.outcome, flow.t, NAN, flow.gates.residual, std::move(flow.gates.selection)}, flow.trap.has_value(), {}};
    if (cell.sweep.compare_static) {
      const FlowResult static_ =
          static_flow(require_single_block(cell.model), geometry.kappa(), static_part(cell.model, flow.initial), options);
      record.agrees = static_.outcome == FlowOutcome::selected && static_.gates.selection == record.end.selection;
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

SweepStore open_store(const Scenario& scenario, const LiveFolder* folder, Shard shard) {
  const std::vector<CellRow> rows = cell_rows(scenario, sweep_cells(scenario));
  const std::string text = write_scenario(scenario);
  if (!folder) return SweepStore::create({}, text, shard, rows);
  const std::filesystem::path file = folder->path() / store_file;
  if (!folder->holds(store_file)) {
    // Made beside its place, so that a store that is there is whole.
    const std::string fresh = std::string(store_file) + ".new";
    folder->remove(fresh);
    folder->remove(fresh + "-journal");
    { const SweepStore made = SweepStore::create(folder->path() / fresh, text, shard, rows); }
    std::error_code error;
    std::filesystem::rename(folder->path() / fresh, file, error);
    if (error) throw cannot_write(file, error.message());
  }
  SweepStore store = SweepStore::open(file);
  check_shard(store, *folder, shard);
  check_store(scenario, store);
  return store;
}

void check_store(const Scenario& scenario, const SweepStore& store) {
  store.check(write_scenario(scenario));
  const std::vector<Scenario> cells = sweep_cells(scenario);
  const std::vector<CellRow> rows = cell_rows(scenario, cells);
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (const Chunk& chunk : store.chunks(int(c)))
      if (chunk.number < 0 || chunk.number >= rows[c].chunks || !(chunk == chunk_of(rows[c], cells[c], int(c), chunk.number)))
        throw Failure(Exit::bad_data,
                      fmt::format("{}: damaged: chunk {} of cell {} is none of its scenario's", store.name(), chunk.number, c));
}

void check_shard(const SweepStore& store, const LiveFolder& folder, Shard shard) {
  if (!(store.shard() == shard))
    throw Failure(Exit::bad_scenario, fmt::format("{}: holds shard {}/{} of this sweep, not {}/{}", folder.path().string(),
                                                  store.shard().index, store.shard().count, shard.index, shard.count));
}

Scenario stored_scenario(const SweepStore& store, const std::filesystem::path& folder, KindList kinds) {
  try {
    return parse_scenario(store.scenario(), (folder / "scenario.toml").string(), folder, {}, kinds);
  } catch (const Failure& failure) {
    throw Failure(Exit::bad_data, fmt::format("{}: damaged: its scenario: {}", store.name(), failure.what()));
  }
}

SweepSize sweep_size(const Scenario& scenario, const SweepStore& store) {
  SweepSize size{0, 0};
  const std::vector<Scenario> cells = sweep_cells(scenario);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    size.seeds += cells[c].sweep.seeds;
    size.done += store.finished_seeds(int(c));
  }
  return size;
}

std::vector<CellRow> cell_rows(const Scenario& scenario, const std::vector<Scenario>& cells) {
  std::vector<CellRow> rows;
  for (const Scenario& cell : cells) {
    const std::int64_t seeds = cell.sweep.seeds, size = chunk_size(cell);
    rows.push_back({cell.model, cell.geometry.kappa, cell.initial.radius, axis_value(cell, "gates.class"),
                    axis_values(scenario, cell).dump(), seeds, (seeds + size - 1) / size});
  }
  return rows;
}

Chunk chunk_of(const CellRow& row, const Scenario& cell, int index, std::int64_t number) {
  const std::int64_t size = chunk_size(cell), before = number * size;
  return {index, number, cell.sweep.first_seed + std::uint64_t(before), std::min(size, row.seeds - before)};
}

std::vector<Chunk> stored_chunks(const Scenario& scenario, const SweepStore& store) {
  std::vector<Chunk> stored;
  for (std::size_t c = 0; c < sweep_cells(scenario).size(); ++c)
    for (const Chunk& chunk : store.chunks(int(c))) stored.push_back(chunk);
  return stored;
}

std::vector<SeedRecord> run_seeds(const Scenario& cell, std::uint64_t first, std::int64_t seeds) {
  return is_static(cell) ? static_records(cell, first, seeds) : linear_records(cell, first, seeds);
}

void run_chunks(const Scenario& scenario, SweepStore& store, const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const std::vector<Scenario> cells = sweep_cells(scenario);
  const std::vector<CellRow> rows = cell_rows(scenario, cells);
  std::vector<Chunk> work;
  std::int64_t done = 0, all = 0, number = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::vector<Chunk> stored = store.chunks(int(c));
    auto next = stored.begin();
    for (std::int64_t k = 0; k < rows[c].chunks; ++k, ++number) {
      const bool is_stored = next != stored.end() && next->number == k;
      if (is_stored) ++next;
      if (number % store.shard().count != store.shard().index) continue;
      const Chunk chunk = chunk_of(rows[c], cells[c], int(c), k);
      all += chunk.seeds;
      if (is_stored)
        done += chunk.seeds;
      else
        work.push_back(chunk);
    }
  }
  progress(done, all);
  std::mutex storing;  // one writer
  tbb::parallel_for(std::size_t(0), work.size(), [&](std::size_t k) {
    check_interrupt();
    const Chunk& chunk = work[k];
    const Scenario& cell = cells[std::size_t(chunk.cell)];
    const std::vector<SeedRecord> seeds = run_seeds(cell, chunk.first, chunk.seeds);
    const SeedCounts counts = count_seeds(cell.model, seeds);
    const std::lock_guard<std::mutex> lock(storing);
    store.add(chunk, counts, cell.sweep.keep == Keep::seeds ? std::span(seeds) : std::span<const SeedRecord>());
    done += chunk.seeds;
    progress(done, all);
  });
}

std::string redo_command(const Scenario& scenario, const Scenario& cell, const std::string& seed) {
  const std::string name = shipped_name(scenario.source);
  std::string command = fmt::format("phaselock run {} --set sweep.seeds=1 --set sweep.first_seed={} --set sweep.keep=seeds",
                                    shell_word(name.starts_with("-") ? "./" + name : name), seed);
  const auto set = [&](const std::string& key) {
    command += " --set " + shell_word(fmt::format("{}={}", key, axis_value(cell, key)));
  };
  for (const auto& [key, place] : scenario.places)  // what the command line changed
    if (place.starts_with("--set ") && !is_of_the_sweep(scenario, key)) set(key);
  for (const SweepAxis& axis : scenario.sweep.over) set(axis.key);
  return command;
}

}  // namespace phaselock
