#include "sweep/sweep_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "output/failure.hpp"
#include "sweep/count_rows.hpp"

namespace phaselock {

namespace fs = std::filesystem;

namespace {

constexpr int application = 0x70686c6b;  // "phlk", SQLite's application_id

/// Integers alone are summed, so that sums do not depend on the order of the rows.
constexpr const char* schema = R"(
CREATE TABLE sweep (scenario TEXT NOT NULL, shard INTEGER NOT NULL, shards INTEGER NOT NULL);
CREATE TABLE cell (cell INTEGER PRIMARY KEY, parameters TEXT NOT NULL, blocks INTEGER NOT NULL, positions INTEGER NOT NULL,
  heads INTEGER NOT NULL, vocabulary INTEGER NOT NULL, gamma REAL NOT NULL, beta REAL NOT NULL, kappa REAL NOT NULL,
  rho REAL NOT NULL, gates TEXT NOT NULL, seeds INTEGER NOT NULL, chunks INTEGER NOT NULL);
CREATE TABLE chunk (cell INTEGER NOT NULL, chunk INTEGER NOT NULL, first_seed INTEGER NOT NULL, seeds INTEGER NOT NULL,
  PRIMARY KEY (cell, chunk)) WITHOUT ROWID;
CREATE TABLE count (cell INTEGER NOT NULL, what TEXT NOT NULL, key TEXT NOT NULL, chunk INTEGER NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (cell, what, key, chunk)) WITHOUT ROWID;
CREATE TABLE seed (cell INTEGER NOT NULL, seed INTEGER NOT NULL, chunk INTEGER NOT NULL, outcome TEXT NOT NULL, t REAL NOT NULL,
  escape_time REAL, residual REAL, selection TEXT NOT NULL, certified INTEGER NOT NULL, agrees INTEGER,
  PRIMARY KEY (cell, seed)) WITHOUT ROWID;

CREATE VIEW progress AS SELECT c.cell, c.chunks, count(k.chunk) AS chunks_done, c.seeds, coalesce(sum(k.seeds), 0) AS seeds_done
  FROM cell c LEFT JOIN chunk k USING (cell) GROUP BY c.cell;
CREATE VIEW total AS SELECT cell, what, key, sum(n) AS n FROM count GROUP BY cell, what, key;
CREATE VIEW outcomes AS SELECT cell, key AS outcome, n FROM total WHERE what = 'outcome';
CREATE VIEW shapes AS SELECT cell, key AS shape, length(key) - length(replace(key, '+', '')) + 1 AS positions_taken, n
  FROM total WHERE what = 'shape';
CREATE VIEW distinct_positions AS SELECT cell, positions_taken, sum(n) AS n FROM shapes GROUP BY cell, positions_taken;
CREATE VIEW positions AS SELECT cell, CAST(key AS INTEGER) AS position, n FROM total WHERE what = 'position';
CREATE VIEW pairs AS SELECT cell, CAST(key AS INTEGER) AS r, CAST(substr(key, instr(key, ',') + 1) AS INTEGER) AS s, n
  FROM total WHERE what = 'pair';
CREATE VIEW escapes AS SELECT cell, CAST(key AS INTEGER) AS bin, n FROM total WHERE what = 'escape';
CREATE VIEW coverage AS SELECT c.cell, c.parameters, p.seeds_done AS seeds,
  coalesce((SELECT n FROM outcomes o WHERE o.cell = c.cell AND outcome = 'selected'), 0) AS selected,
  coalesce((SELECT sum(n) FROM distinct_positions d WHERE d.cell = c.cell AND positions_taken < c.heads), 0) AS collided,
  coalesce((SELECT n FROM total t WHERE t.cell = c.cell AND what = 'certified'), 0) AS certified
  FROM cell c JOIN progress p USING (cell);
)";

/// What a store does not hold unless it is damaged: chunks, or counts of them, that do not add up.
constexpr const char* stray_rows[] = {
    "SELECT cell, chunk, seeds FROM chunk EXCEPT SELECT cell, chunk, sum(n) FROM count WHERE what = 'outcome' GROUP BY cell, chunk",
    "SELECT cell, chunk FROM count UNION SELECT cell, chunk FROM seed EXCEPT SELECT cell, chunk FROM chunk",
    "SELECT cell, chunk, key, n FROM count WHERE what = 'outcome' AND (SELECT instr(scenario, 'keep = \"seeds\"') FROM sweep) > 0 "
    "EXCEPT SELECT cell, chunk, outcome, count(*) FROM seed GROUP BY cell, chunk, outcome",
    "SELECT 1 FROM seed JOIN chunk USING (cell, chunk) WHERE seed - first_seed NOT BETWEEN 0 AND seeds - 1",
    "SELECT cell FROM chunk EXCEPT SELECT cell FROM cell",
    "SELECT 1 FROM count WHERE typeof(n) <> 'integer' OR n <= 0 OR what NOT IN ('outcome', 'shape', 'position', 'pair', 'escape', "
    "'certified', 'agrees') OR (what = 'certified' AND key <> 'yes') OR (what = 'agrees' AND key NOT IN ('yes', 'no'))",
    "SELECT cell, chunk, n FROM count WHERE what = 'outcome' AND key = 'selected' EXCEPT SELECT cell, chunk, sum(n) FROM count "
    "WHERE what = 'shape' GROUP BY cell, chunk",
    "SELECT cell, chunk, n * heads FROM count JOIN cell USING (cell) WHERE what = 'outcome' AND key = 'selected' EXCEPT "
    "SELECT cell, chunk, sum(n) FROM count WHERE what = 'position' GROUP BY cell, chunk",
    "SELECT cell, chunk FROM count JOIN chunk USING (cell, chunk) WHERE what IN ('escape', 'certified', 'agrees') "
    "GROUP BY cell, chunk, what HAVING sum(n) > seeds"};

std::int64_t single(const Database& database, const std::string& sql) {
  Statement statement(database, sql);
  return statement.step() ? statement.whole(0) : 0;
}

/// Refuses what is no store, and stores of other versions.
void check_identity(const Database& database) {
  if (single(database, "PRAGMA application_id") != application)
    throw Failure(Exit::bad_data, fmt::format("{}: is no store of a sweep", database.name()));
  const std::int64_t version = single(database, "PRAGMA user_version");
  if (version != SweepStore::schema_version)
    throw Failure(Exit::bad_data, fmt::format("{}: has schema version {}; this program reads and writes version {} only",
                                              database.name(), version, SweepStore::schema_version));
}

}  // namespace

SweepStore SweepStore::create(const fs::path& file, const std::string& scenario, Shard shard, std::span<const CellRow> cells) {
  SweepStore store{Database(file)};
  Database& database = store.database_;
  database.run("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
  Transaction transaction(database);
  database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", application, schema_version) + schema);
  Statement(database, "INSERT INTO sweep VALUES (?, ?, ?)").bind(std::string_view(scenario), shard.index, shard.count).run();
  Statement insert(database, "INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const CellRow& c = cells[k];
    const Model& m = c.model;
    insert
        .bind(std::int64_t(k), std::string_view(c.parameters), m.blocks, m.positions, m.heads, m.vocabulary, m.gamma, m.beta,
              c.kappa, c.rho, std::string_view(c.gates), c.seeds, c.chunks)
        .run();
  }
  transaction.commit();
  store.scenario_ = scenario;
  store.shard_ = shard;
  return store;
}

SweepStore SweepStore::open(const fs::path& file) {
  if (!fs::exists(file)) throw Failure(Exit::cannot_read, fmt::format("{}: there is no store of a sweep", file.string()));
  SweepStore store{Database(file)};
  check_identity(store.database_);
  store.database_.run("PRAGMA synchronous = FULL");
  store.read_identity();
  return store;
}

void SweepStore::check(const std::string& scenario) const {
  if (scenario_ != scenario) throw Failure(Exit::bad_data, fmt::format("{}: belongs to another scenario", database_.name()));
  std::int64_t strays = 0;
  for (const char* rows : stray_rows) strays += single(database_, fmt::format("SELECT count(*) FROM ({})", rows));
  if (strays > 0) throw Failure(Exit::bad_data, fmt::format("{}: damaged: {} chunks do not add up", database_.name(), strays));
}

void SweepStore::read_identity() {
  Statement row(database_, "SELECT scenario, shard, shards FROM sweep");
  if (!row.step()) throw Failure(Exit::bad_data, fmt::format("{}: names no scenario", database_.name()));
  scenario_ = row.text(0);
  shard_ = {int(row.whole(1)), int(row.whole(2))};
}

void SweepStore::add(const Chunk& chunk, const SeedCounts& counts, std::span<const SeedRecord> rows) {
  Transaction transaction(database_);
  Statement(database_, "INSERT INTO chunk VALUES (?, ?, ?, ?)")
      .bind(chunk.cell, chunk.number, std::int64_t(chunk.first), chunk.seeds)
      .run();
  Statement count(database_, "INSERT INTO count VALUES (?, ?, ?, ?, ?)");
  for (const CountRow& row : count_rows(counts))
    count.bind(chunk.cell, std::string_view(row.what), std::string_view(row.key), chunk.number, row.n).run();
  Statement seed(database_, "INSERT INTO seed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const SeedRecord& r = rows[k];
    seed.bind(chunk.cell, std::int64_t(chunk.first + k), chunk.number, phaselock::name(r.end.outcome), r.end.t, r.end.escape,
              r.end.residual, std::string_view(fmt::format("{}", fmt::join(r.end.selection, " "))), int(r.certified), r.agrees);
    seed.run();
  }
  transaction.commit();
}

std::vector<Chunk> SweepStore::chunks(int cell) const {
  std::vector<Chunk> chunks;
  Statement row(database_, "SELECT chunk, first_seed, seeds FROM chunk WHERE cell = ? ORDER BY chunk");
  row.bind(cell);
  while (row.step()) chunks.push_back({cell, row.whole(0), std::uint64_t(row.whole(1)), row.whole(2)});
  return chunks;
}

std::int64_t SweepStore::finished_seeds(int cell) const {
  Statement row(database_, "SELECT seeds_done FROM progress WHERE cell = ?");
  row.bind(cell);
  return row.step() ? row.whole(0) : 0;
}

SeedCounts SweepStore::totals(int cell, const Model& model) const {
  std::vector<CountRow> rows;
  Statement row(database_, "SELECT what, key, n FROM total WHERE cell = ?");
  row.bind(cell);
  while (row.step()) rows.push_back({row.text(0), row.text(1), row.whole(2)});
  return read_counts(model, rows);
}

void SweepStore::for_each_seed(const Chunk& chunk, const std::function<void(const StoredSeed&)>& visit) const {
  Statement row(database_,
                "SELECT seed, outcome, t, escape_time, residual, selection, certified FROM seed WHERE cell = ? AND seed BETWEEN ? "
                "AND ? ORDER BY seed");
  row.bind(chunk.cell, std::int64_t(chunk.first), std::int64_t(chunk.first) + chunk.seeds - 1);
  while (row.step())
    visit({std::uint64_t(row.whole(0)), row.text(1), row.real(2), row.real(3), row.real(4), row.text(5), row.whole(6) != 0});
}

void SweepStore::merge(const fs::path& other) {
  open(other).check(scenario_);
  Statement(database_, "ATTACH ? AS other").bind(std::string_view(other.native())).run();
  {
    Transaction transaction(database_);
    for (const char* table : {"chunk", "count", "seed"}) {
      // A chunk that both have must be the same in both.
      const auto rows = [&](const char* here, const char* there) {
        return fmt::format(
            "SELECT t.* FROM {0}.{2} t WHERE EXISTS (SELECT 1 FROM {1}.chunk x WHERE x.cell = t.cell AND x.chunk = t.chunk)", here,
            there, table);
      };
      const std::string ours = rows("main", "other"), theirs = rows("other", "main");
      for (const std::string& difference : {ours + " EXCEPT " + theirs, theirs + " EXCEPT " + ours})
        if (Statement(database_, difference).step())
          throw Failure(Exit::bad_data, fmt::format("{}: a chunk differs from the one in {}", other.string(), database_.name()));
    }
    for (const char* table : {"count", "seed", "chunk"})  // chunk last: the others ask it what is new
      database_.run(
          fmt::format("INSERT INTO main.{0} SELECT t.* FROM other.{0} t WHERE NOT EXISTS "
                      "(SELECT 1 FROM main.chunk x WHERE x.cell = t.cell AND x.chunk = t.chunk)",
                      table));
    transaction.commit();
  }
  database_.run("DETACH other");
}

}  // namespace phaselock
