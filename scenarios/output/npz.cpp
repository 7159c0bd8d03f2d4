#include "output/npz.hpp"

#include <fmt/format.h>
#include <boost/crc.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "model/interrupt.hpp"
#include "output/failure.hpp"

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

/// Visits the cells of each row of a table's text, from its beginning; the first row is the header.
template <class Visit>
void for_each_row(std::istream& csv, Visit visit) {
  csv.clear();
  csv.seekg(0);
  Cells cells;
  std::size_t columns = 0;
  bool is_header = true;
  for (std::string line; std::getline(csv, line);) {
    if (line.starts_with("#")) continue;
    check_interrupt();
    split(line, cells);
    if (is_header) columns = cells.size();
    if (cells.size() != columns)
      throw Failure(Exit::bad_data, fmt::format("a table's row has {} cells, its header {}", cells.size(), columns));
    visit(cells, is_header);
    is_header = false;
  }
}

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

/// A zip archive of files that are not compressed, dated 1980-01-01, with the 64-bit sizes of format version 4.5.
class Zip {
 public:
  explicit Zip(const Sink& sink) : sink_(sink) {}

  /// A file's bytes are to follow, by put().
  void begin(const std::string& name, std::uint64_t size, std::uint32_t crc) {
    const std::uint64_t at = at_;
    std::string local;
    append(local, std::uint32_t(0x04034b50));
    add_facts(local, name, crc, 20);
    local += name;
    add_sizes(local, 16, size);
    put(local);
    append(directory_, std::uint32_t(0x02014b50));
    append(directory_, version);  // made by
    add_facts(directory_, name, crc, 28);
    append(directory_, std::uint16_t(0));  // comment
    append(directory_, std::uint16_t(0));  // disk
    append(directory_, std::uint16_t(0));  // attributes
    append(directory_, std::uint32_t(0));
    append(directory_, elsewhere);  // where its local header is
    directory_ += name;
    add_sizes(directory_, 24, size);
    append(directory_, at);
    ++files_;
  }

  void put(std::string_view bytes) {
    sink_(bytes);
    at_ += bytes.size();
  }

  void finish() {
    const std::uint64_t directory_at = at_, directory_size = directory_.size();
    put(directory_);
    const std::uint64_t end_at = at_;
    std::string end;
    append(end, std::uint32_t(0x06064b50));
    append(end, std::uint64_t(44));  // bytes that follow of this record
    append(end, version);            // made by
    append(end, version);            // needed
    append(end, std::uint64_t(0));   // disks
    append(end, files_);
    append(end, files_);
    append(end, directory_size);
    append(end, directory_at);
    append(end, std::uint32_t(0x07064b50));
    append(end, std::uint32_t(0));
    append(end, end_at);
    append(end, std::uint32_t(1));
    append(end, std::uint32_t(0x06054b50));
    append(end, std::uint32_t(0));  // disks
    append(end, elsewhere);         // files, twice in 16 bits
    append(end, elsewhere);
    append(end, elsewhere);
    append(end, std::uint16_t(0));
    put(end);
  }

 private:
  static constexpr std::uint16_t version = 45;
  static constexpr std::uint32_t elsewhere = 0xffffffff;  ///< the value is in the 64-bit field

  static void add_facts(std::string& out, const std::string& name, std::uint32_t crc, std::uint16_t extra) {
    append(out, version);                                                 // needed
    append(out, std::uint32_t(0));                                        // flags, stored without compression
    append(out, std::uint32_t(((1980 - 1980) << 9 | 1 << 5 | 1) << 16));  // time and date
    append(out, crc);
    append(out, elsewhere);  // sizes, compressed and not
    append(out, elsewhere);
    append(out, std::uint16_t(name.size()));
    append(out, extra);
  }

  /// The start of the extra field with 64-bit values, of `bytes` bytes.
  static void add_sizes(std::string& out, std::uint16_t bytes, std::uint64_t size) {
    append(out, std::uint16_t(1));
    append(out, bytes);
    append(out, size);
    append(out, size);
  }

  const Sink& sink_;
  std::string directory_;
  std::uint64_t files_ = 0, at_ = 0;
};

}  // namespace

void write_npz(std::istream& csv, const Sink& sink) {
  constexpr std::size_t piece = 1 << 20;
  std::vector<Column> columns;
  for_each_row(csv, [&](const Cells& cells, bool is_header) {
    for (std::size_t k = 0; k < cells.size(); ++k)
      if (is_header)
        columns.emplace_back(cells[k]);
      else
        columns[k].note(cells[k]);
  });
  std::vector<boost::crc_32_type> sums(columns.size());
  std::string bytes;
  for_each_row(csv, [&](const Cells& cells, bool is_header) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      bytes = is_header ? columns[k].header() : "";
      if (!is_header) columns[k].encode(cells[k], bytes);
      sums[k].process_bytes(bytes.data(), bytes.size());
    }
  });
  Zip zip(sink);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    zip.begin(columns[k].file(), columns[k].size(), sums[k].checksum());
    bytes = columns[k].header();
    for_each_row(csv, [&](const Cells& cells, bool is_header) {
      if (!is_header) columns[k].encode(cells[k], bytes);
      if (bytes.size() < piece) return;
      zip.put(bytes);
      bytes.clear();
    });
    zip.put(bytes);
  }
  zip.finish();
}

}  // namespace phaselock
