#include "output/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/interrupt.hpp"
#include "output/failure.hpp"
#include "output/new_folders.hpp"
#include "output/put_file.hpp"

namespace phaselock {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

/// Whether all of the cell is a number, which is then `value`.
template <class T>
bool parse(std::string_view cell, T& value) {
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size();
}

using Cells = std::vector<std::string_view>;

void split(std::string_view line, Cells& cells) {
  cells.clear();
  for (std::size_t comma; (comma = line.find(',')) != line.npos; line.remove_prefix(comma + 1))
    cells.push_back(line.substr(0, comma));
  cells.push_back(line);
}

/// The rows of a table's text, from its beginning; the first is the header.
class Rows {
 public:
  explicit Rows(std::istream& csv) : csv_(csv) {
    csv_.clear();
    csv_.seekg(0);
  }

  /// Moves on to the next row; false after the last.
  bool next() {
    do
      if (!std::getline(csv_, line_)) return false;
    while (line_.starts_with("#"));
    check_interrupt();
    split(line_, cells_);
    if (columns_ == 0) columns_ = cells_.size();
    if (cells_.size() != columns_)
      throw Failure(Exit::bad_data, fmt::format("a table's row has {} cells, its header {}", cells_.size(), columns_));
    return true;
  }

  const Cells& cells() const { return cells_; }

 private:
  std::istream& csv_;
  std::string line_;
  Cells cells_;
  std::size_t columns_ = 0;
};

/// A column as an array of one axis: what all its cells are, and their bytes.
class Column {
 public:
  explicit Column(std::string_view name) : name_(name) {}

  void note(std::string_view cell) {
    std::int64_t whole = 0;
    double real = 0.0;
    whole_ = whole_ && parse(cell, whole);
    real_ = real_ && (cell.empty() || parse(cell, real));
    width_ = std::max(width_, cell.size());
    ++length_;
  }

  void encode(std::string_view cell, std::string& bytes) const {
    if (whole_) {
      std::int64_t value = 0;
      parse(cell, value);
      append(bytes, value);
    } else if (real_) {
      double value = NAN;
      parse(cell, value);
      append(bytes, value);
    } else {  // 32-bit characters, padded with zeros; the tables' words are ASCII
      for (std::size_t k = 0; k < width_; ++k)
        append(bytes, std::uint32_t(k < cell.size() ? static_cast<unsigned char>(cell[k]) : 0));
    }
  }

  /// What stands before the cells in a .npy file, format version 1.0.
  std::string header() const {
    const std::string type = whole_ ? "<i8" : real_ ? "<f8" : fmt::format("<U{}", width_);
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type, length_);
    constexpr std::size_t before_header = 10, alignment = 64;
    header.append(alignment - (before_header + header.size() + 1) % alignment, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    append(bytes, std::uint16_t(header.size()));
    return bytes + header;
  }

  std::string file() const { return name_ + ".npy"; }
  std::uint64_t size() const { return header().size() + length_ * (whole_ || real_ ? 8 : 4 * width_); }

 private:
  std::string name_;
  bool whole_ = true, real_ = true;  ///< whether all cells so far are
  std::size_t width_ = 1, length_ = 0;
};

std::vector<Column> read_columns(std::istream& csv) {
  std::vector<Column> columns;
  Rows rows(csv);
  if (rows.next())
    for (const std::string_view name : rows.cells()) columns.emplace_back(name);
  while (rows.next())
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k].note(rows.cells()[k]);
  return columns;
}

/// The .npy file of one column as libzip reads it, from first to last byte.
class ColumnFile {
 public:
  ColumnFile(std::istream& csv, std::size_t index, const Column& column) : csv_(csv), index_(index), column_(column) {}

  /// What libzip asks of a source of bytes; `self` is a ColumnFile. Nothing is thrown through libzip: failed() has it then.
  static zip_int64_t answer(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    ColumnFile& file = *static_cast<ColumnFile*>(self);
    try {
      return file.answer(data, length, command);
    } catch (...) {
      file.failed_ = std::current_exception();
      zip_error_set(&file.error_, ZIP_ER_READ, 0);
      return -1;
    }
  }

  const std::exception_ptr& failed() const { return failed_; }

 private:
  zip_int64_t answer(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
                                              ZIP_SOURCE_FREE, -1);
      case ZIP_SOURCE_STAT: {
        auto& facts = *static_cast<zip_stat_t*>(data);
        zip_stat_init(&facts);
        facts.size = column_.size();
        facts.valid = ZIP_STAT_SIZE;
        return sizeof facts;
      }
      case ZIP_SOURCE_OPEN:
        rows_.emplace(csv_).next();
        bytes_ = column_.header();
        given_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return zip_int64_t(read(static_cast<char*>(data), length));
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, length);
      default:
        zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  std::size_t read(char* to, std::size_t length) {
    if (bytes_.size() - given_ < length) {
      bytes_.erase(0, std::exchange(given_, 0));
      while (bytes_.size() < length && rows_->next()) column_.encode(rows_->cells()[index_], bytes_);
    }
    const std::size_t count = bytes_.copy(to, length, given_);
    given_ += count;
    return count;
  }

  std::istream& csv_;
  std::size_t index_;
  const Column& column_;
  std::optional<Rows> rows_;
  std::string bytes_;      ///< encoded, of which
  std::size_t given_ = 0;  ///< so many are handed over
  zip_error_t error_{};
  std::exception_ptr failed_;
};

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

Failure zip_failure(const std::filesystem::path& path, zip_error_t& error) {
  const bool of_system = zip_error_system_type(&error) == ZIP_ET_SYS;
  return cannot_write(path, of_system ? std::strerror(zip_error_code_system(&error)) : zip_error_strerror(&error));
}

Archive new_archive(const std::filesystem::path& path, const std::filesystem::path& partial) {
  int code = 0;
  Archive archive(zip_open(partial.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  throw zip_failure(path, error);
}

/// Adds a file, stored without compression and dated 1980-01-01.
void add(zip_t* archive, const std::string& name, ColumnFile& file, const std::filesystem::path& path) {
  constexpr zip_uint16_t midnight = 0, first_day = 1 << 5 | 1;
  zip_source_t* source = zip_source_function(archive, ColumnFile::answer, &file);
  const zip_int64_t index = source ? zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (source && index < 0) zip_source_free(source);
  if (index < 0 || zip_set_file_compression(archive, zip_uint64_t(index), ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, zip_uint64_t(index), midnight, first_day, 0) != 0)
    throw zip_failure(path, *zip_get_error(archive));
}

}  // namespace

void put_npz(const std::filesystem::path& path, const std::filesystem::path& partial, std::istream& csv) {
  const std::vector<Column> columns = read_columns(csv);
  std::deque<ColumnFile> files;  // where they are must not change
  Archive archive = new_archive(path, partial);
  for (std::size_t k = 0; k < columns.size(); ++k)
    add(archive.get(), columns[k].file(), files.emplace_back(csv, k, columns[k]), path);
  if (zip_close(archive.get()) != 0) {
    for (const ColumnFile& file : files)
      if (file.failed()) std::rethrow_exception(file.failed());
    throw zip_failure(path, *zip_get_error(archive.get()));
  }
  (void)archive.release();  // closed
  put_written(path, partial);
}

}  // namespace phaselock
