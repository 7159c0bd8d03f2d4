#include "sweep/seed_rows.hpp"

#include <algorithm>
#include <utility>

#include "model/interrupt.hpp"
#include "schema/sweep_axes.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

namespace {

int most_heads(const Scenario& scenario) {
  int heads = 0;
  for (const Scenario& cell : sweep_cells(scenario)) heads = std::max(heads, cell.model.heads);
  return heads;
}

/// Refuses rows that are none of a table.
void check_row(const StoredSeed& seed, int heads, const std::string& store) {
  const auto consists_of = [](const std::string& text, std::string_view characters) {
    return text.find_first_not_of(characters) == std::string::npos;
  };
  if (!consists_of(seed.outcome, "abcdefghijklmnopqrstuvwxyz_") || !consists_of(seed.selection, "-0123456789 ") ||
      std::count(seed.selection.begin(), seed.selection.end(), ' ') >= heads)
    throw Failure(Exit::bad_data, fmt::format("{}: damaged: the row of seed {}", store, seed.seed));
}

}  // namespace

TableSchema seed_rows_schema(const Scenario& scenario) {
  using enum ColumnType;
  TableSchema schema = {seed_rows_file,
                        "a row a seed",
                        {{"cell", integer},
                         {"seed", integer, "of the start"},
                         {"outcome", text, "of the flow"},
                         {"t", number, "time reached"},
                         {"escape", number, "time at which it left the saddle"},
                         {"residual", number, "largest 1 - p"},
                         {"certified", integer, "inside a proved trapping box"}},
                        "",
                        "head0, ...: key offset of each head, -1 where none, empty in cells of fewer"};
  const int heads = most_heads(scenario);
  for (int h = 0; h < heads; ++h) schema.columns.push_back({fmt::format("head{}", h), integer});
  return schema;
}

void write_seed_rows(const Scenario& scenario, const SweepStore& store, std::span<const Chunk> chunks, const Sink& sink) {
  const int heads = most_heads(scenario);
  CsvTable table(seed_rows_schema(scenario));
  for (const Chunk& chunk : chunks) {
    check_interrupt();
    store.for_each_seed(chunk, [&](const StoredSeed& seed) {
      check_row(seed, heads, store.name());
      std::string selection = seed.selection;
      std::replace(selection.begin(), selection.end(), ' ', ',');
      selection.append(std::size_t(heads - 1 - std::count(selection.begin(), selection.end(), ',')), ',');
      table.row(chunk.cell, seed.seed, seed.outcome, seed.t, seed.escape, seed.residual, int(seed.certified), selection);
    });
    sink(std::exchange(table.text, {}));
  }
}

std::vector<TableSchema> put_seed_rows(const Scenario& scenario, const SweepStore& store, const LiveFolder& folder) {
  if (scenario.sweep.keep != Keep::seeds) return {};
  const std::vector<Chunk> chunks = stored_chunks(scenario, store);
  if (chunks.empty()) return {};
  folder.write(seed_rows_file, [&](const Sink& sink) { write_seed_rows(scenario, store, chunks, sink); });
  return {seed_rows_schema(scenario)};
}

}  // namespace phaselock
