#include "sweep/sqlite.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/interrupt.hpp"
#include "output/failure.hpp"

namespace phaselock {

namespace {

Failure failure(sqlite3* handle, const std::string& name) {
  const int code = handle ? sqlite3_errcode(handle) & 0xff : SQLITE_NOMEM;
  const std::string message = fmt::format("{}: {}", name, handle ? sqlite3_errmsg(handle) : "out of memory");
  if (code == SQLITE_BUSY) check_interrupt();
  switch (code) {
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return Failure(Exit::cannot_read, message);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // a table or column that is not there: another program's database
      return Failure(Exit::bad_data, message);
    default:
      return Failure(Exit::cannot_write, message);
  }
}

/// Waits for a program that reads while this one writes, up to an hour, unless interrupted; says so after some seconds.
int wait_for_others(void* handle, int tries) {
  constexpr int milliseconds = 20, tell_after = 500, most = 180000;
  if (interrupt_flag() || tries >= most) return 0;
  if (tries == tell_after)
    tell(fmt::format("{}: waits for another program that reads it\n", sqlite3_db_filename(static_cast<sqlite3*>(handle), "main")));
  sqlite3_sleep(milliseconds);
  return 1;
}

}  // namespace

std::string sqlite_version() { return sqlite3_libversion(); }

Database::Database(const std::filesystem::path& file) : name_(file.empty() ? "sweep in memory" : file.string()) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.empty() ? ":memory:" : file.c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) throw failure(handle, name_);
  sqlite3_busy_handler(handle, wait_for_others, handle);
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw failure(handle_.get(), name_);
}

Statement::Statement(const Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(database.handle(), sql.data(), int(sql.size()), &handle, nullptr) != SQLITE_OK)
    throw failure(database.handle(), database.name());
  handle_.reset(handle);
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) throw failure(database_.handle(), database_.name());
  return code == SQLITE_ROW;
}

double Statement::real(int column) const { return is_null(column) ? NAN : sqlite3_column_double(handle_.get(), column); }

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return text ? std::string(text, std::size_t(sqlite3_column_bytes(handle_.get(), column))) : std::string();
}

void Statement::put(int place, std::int64_t value) { sqlite3_bind_int64(handle_.get(), place + 1, value); }

void Statement::put(int place, double value) { sqlite3_bind_double(handle_.get(), place + 1, value); }

void Statement::put(int place, std::optional<bool> value) {
  if (value)
    sqlite3_bind_int(handle_.get(), place + 1, int(*value));
  else
    sqlite3_bind_null(handle_.get(), place + 1);
}

void Statement::put(int place, std::string_view value) {
  sqlite3_bind_text(handle_.get(), place + 1, value.data(), int(value.size()), SQLITE_TRANSIENT);
}

Snapshot::~Snapshot() { sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr); }

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace phaselock
