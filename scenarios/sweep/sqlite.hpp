// An SQLite database and its statements. The only door to SQLite's own interface; what fails becomes a Failure.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace phaselock {

std::string sqlite_version();

class Database {
 public:
  /// Opens a file, made if it is missing; an empty path is a database in memory. Throws Failure: cannot_read if it cannot be
  /// opened, bad_data if it is no database, cannot_write for a full disk and the like, in this and every later call; Interrupted
  /// while it waits for other programs that use the file. Opened for writing where the file allows it even if it is only read: what
  /// a killed process left half done is then undone.
  explicit Database(const std::filesystem::path& file);

  /// Runs statements that return nothing.
  void run(const std::string& sql);

  sqlite3* handle() const { return handle_.get(); }
  const std::string& name() const { return name_; }  ///< for messages

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string name_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement. Parameters and columns count from 0 in the order of the text.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  /// Binds all parameters: whole numbers, doubles (NaN becomes NULL), text, and truths that may be unknown (NULL).
  template <class... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(handle_.get());
    int place = 0;
    (put(place++, values), ...);
    return *this;
  }

  /// Whether there is a next row.
  bool step();

  /// Runs a statement that returns nothing.
  void run() {
    step();
    sqlite3_reset(handle_.get());
  }

  std::int64_t whole(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const;  ///< NaN for NULL
  std::string text(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }

 private:
  void put(int place, std::int64_t value);
  void put(int place, int value) { put(place, std::int64_t(value)); }
  void put(int place, double value);
  void put(int place, std::optional<bool> value);
  void put(int place, std::string_view value);

  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// While it lives, what is read of a database is its state at the first reading, whatever others write.
class Snapshot {
 public:
  explicit Snapshot(const Database& database) : database_(database) { Statement(database_, "BEGIN").run(); }
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  const Database& database_;
};

/// What is done to a database until commit() happens as a whole or not at all.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace phaselock
