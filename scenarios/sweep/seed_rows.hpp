// seeds.csv: the rows of seeds that a store keeps on request.
#pragma once

#include <span>
#include <vector>

#include "output/live_folder.hpp"
#include "output/table.hpp"
#include "schema/scenario.hpp"
#include "sweep/sweep_store.hpp"

namespace phaselock {

constexpr const char* seed_rows_file = "seeds.csv";

/// The columns of seeds.csv.
TableSchema seed_rows_schema(const Scenario& scenario);

/// The text of seeds.csv, a row for each seed of these chunks. Memory does not grow with their number. Throws Interrupted.
void write_seed_rows(const Scenario& scenario, const SweepStore& store, std::span<const Chunk> chunks, const Sink& sink);

/// Puts seeds.csv of all that is stored into a run folder, if the scenario keeps rows of seeds and there are any; returns
/// the schema if so.
std::vector<TableSchema> put_seed_rows(const Scenario& scenario, const SweepStore& store, const LiveFolder& folder);

}  // namespace phaselock
