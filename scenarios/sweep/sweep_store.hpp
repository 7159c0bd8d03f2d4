// The store of a sweep: an SQLite file with counts for each cell and chunk of seeds (docs/sweeps.md describes its tables and
// views).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "statistics/seed_counts.hpp"
#include "sweep/shard.hpp"
#include "sweep/sqlite.hpp"

namespace phaselock {

/// Seeds first .. first + seeds - 1 of one cell.
struct Chunk {
  int cell;
  std::int64_t number;  ///< within its cell
  std::uint64_t first;
  std::int64_t seeds;
  bool operator==(const Chunk&) const = default;
};

/// A cell as the store describes it; chunks count from 0.
struct CellRow {
  Model model;
  double kappa, rho;
  std::string gates;       ///< "static" or "linear"
  std::string parameters;  ///< JSON of the axes' values, {} without axes
  std::int64_t seeds, chunks;
};

/// A row of the table of seeds.
struct StoredSeed {
  std::uint64_t seed;
  std::string outcome;
  double t, escape, residual;
  std::string selection;  ///< key offsets with blanks between, -1 where none
  bool certified;
};

class SweepStore {
 public:
  static constexpr int schema_version = 1;

  /// A new store in a file, or in memory for an empty path.
  static SweepStore create(const std::filesystem::path& file, const std::string& scenario, Shard shard,
                           std::span<const CellRow> cells);

  /// An existing one. Throws Failure: cannot_read if it is missing, bad_data if it is no store or one of another schema version.
  static SweepStore open(const std::filesystem::path& file);

  /// Throws Failure (bad_data) unless the store is of this scenario and its chunks, counts and rows of seeds, where they are kept,
  /// speak of the same seeds.
  void check(const std::string& scenario) const;

  const std::string& name() const { return database_.name(); }  ///< of its file
  const std::string& scenario() const { return scenario_; }     ///< the effective one
  Shard shard() const { return shard_; }

  /// Stores a chunk as a whole, or not at all. Throws Failure (cannot_write). Rows for seeds only if asked for.
  void add(const Chunk& chunk, const SeedCounts& counts, std::span<const SeedRecord> rows);

  /// What is read while this lives is of one moment, also beside a process that writes.
  [[nodiscard]] Snapshot snapshot() const { return Snapshot(database_); }

  /// The chunks of a cell that are there, in order.
  std::vector<Chunk> chunks(int cell) const;

  std::int64_t finished_seeds(int cell) const;
  /// Counts of a cell, which is of this model. Throws std::logic_error as read_counts.
  SeedCounts totals(int cell, const Model& model) const;
  void for_each_seed(const Chunk& chunk, const std::function<void(const StoredSeed&)>& visit) const;

  /// Takes over the chunks of another store of the same sweep that are not there yet. Throws Failure (bad_data) if a chunk that
  /// both have differs, or if the other belongs to another scenario.
  void merge(const std::filesystem::path& other);

 private:
  explicit SweepStore(Database database) : database_(std::move(database)) {}
  void read_identity();

  Database database_;
  std::string scenario_;
  Shard shard_;
};

}  // namespace phaselock
