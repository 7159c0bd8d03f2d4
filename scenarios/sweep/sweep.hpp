// A sweep: its cells, cut into chunks of seeds that are computed in parallel and stored one by one.
#pragma once

#include <functional>
#include <vector>

#include "output/live_folder.hpp"
#include "schema/scenario.hpp"
#include "sweep/sweep_store.hpp"

namespace phaselock {

constexpr const char* store_file = "sweep.sqlite";  ///< in the run folder

/// The store of a run folder, new or with what is there already; in memory without a folder. Throws Failure: bad_scenario if the
/// folder holds another shard, bad_data if its store is damaged.
SweepStore open_store(const Scenario& scenario, const LiveFolder* folder, Shard shard);

/// Throws Failure (bad_data) unless the store is of this scenario and holds no other chunks than its, with counts and rows that
/// speak of the same seeds.
void check_store(const Scenario& scenario, const SweepStore& store);

/// Throws Failure (bad_scenario) unless the folder's store is of this shard.
void check_shard(const SweepStore& store, const LiveFolder& folder, Shard shard);

/// The scenario that a run folder's store belongs to. Throws Failure (bad_data) if it is damaged.
Scenario stored_scenario(const SweepStore& store, const std::filesystem::path& folder, KindList kinds);

/// Seeds of all cells, and how many of them are stored.
struct SweepSize {
  std::int64_t seeds, done;
};
SweepSize sweep_size(const Scenario& scenario, const SweepStore& store);

/// What the store says of each cell.
std::vector<CellRow> cell_rows(const Scenario& scenario, const std::vector<Scenario>& cells);

/// Chunk `number` of a cell.
Chunk chunk_of(const CellRow& row, const Scenario& cell, int index, std::int64_t number);

/// The chunks in the store, in the order of their cells and seeds.
std::vector<Chunk> stored_chunks(const Scenario& scenario, const SweepStore& store);

/// The flows of the seeds of one chunk, in order. The same bits on any thread and beside any others.
std::vector<SeedRecord> run_seeds(const Scenario& cell, std::uint64_t first, std::int64_t seeds);

/// Computes and stores every chunk of the store's shard that is not there yet. `progress` is told the number of seeds in the store
/// that belong to the shard, and of all seeds of the shard. Throws Interrupted when asked to stop, with every finished chunk
/// stored.
void run_chunks(const Scenario& scenario, SweepStore& store, const std::function<void(std::int64_t, std::int64_t)>& progress);

/// The command that runs one seed of a cell alone, for a shell.
std::string redo_command(const Scenario& scenario, const Scenario& cell, const std::string& seed);

}  // namespace phaselock
