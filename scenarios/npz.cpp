#include "npz.hpp"

#include <fmt/format.h>
#include <boost/crc.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

namespace phaselock {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

template <class T>
void append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

using Column = std::vector<std::string>;

/// All cells as numbers of a type; an empty cell becomes `missing`, if there is such a value.
template <class T>
std::optional<std::vector<T>> numbers(const Column& cells, std::optional<T> missing) {
  std::vector<T> values;
  for (const std::string& cell : cells) {
    T value{};
    if (cell.empty() && missing) {
      value = *missing;
    } else {
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
    }
    values.push_back(value);
  }
  return values;
}

/// A .npy file, format version 1.0, of one axis.
std::string npy(const std::string& type, std::size_t length, const std::string& data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type, length);
  constexpr std::size_t before_header = 10, alignment = 64;
  header.append(alignment - (before_header + header.size() + 1) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  append(bytes, std::uint16_t(header.size()));
  return bytes + header + data;
}

template <class T>
std::string npy_of(const std::string& type, const std::vector<T>& values) {
  return npy(type, values.size(), std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

/// Words in 32-bit characters, padded with zeros; the tables' words are ASCII.
std::string npy_of_words(const Column& cells) {
  std::size_t width = 1;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  std::string data;
  for (const std::string& cell : cells)
    for (std::size_t k = 0; k < width; ++k) append(data, std::uint32_t(k < cell.size() ? static_cast<unsigned char>(cell[k]) : 0));
  return npy(fmt::format("<U{}", width), cells.size(), data);
}

std::string npy_of_column(const Column& cells) {
  if (const auto whole = numbers<std::int64_t>(cells, std::nullopt)) return npy_of("<i8", *whole);
  if (const auto real = numbers<double>(cells, NAN)) return npy_of("<f8", *real);
  return npy_of_words(cells);
}

/// A zip archive of files that are not compressed, dated 1980-01-01.
class Zip {
 public:
  void add(const std::string& name, const std::string& data) {
    boost::crc_32_type crc;
    crc.process_bytes(data.data(), data.size());
    const std::uint32_t at = std::uint32_t(bytes_.size());
    append(bytes_, std::uint32_t(0x04034b50));
    add_facts(bytes_, name, data, crc.checksum());
    bytes_ += name + data;
    append(directory_, std::uint32_t(0x02014b50));
    append(directory_, std::uint16_t(20));  // made by version 2.0
    add_facts(directory_, name, data, crc.checksum());
    append(directory_, std::uint16_t(0));  // comment
    append(directory_, std::uint16_t(0));  // disk
    append(directory_, std::uint16_t(0));  // attributes
    append(directory_, std::uint32_t(0));
    append(directory_, at);
    directory_ += name;
    ++files_;
  }

  std::string finish() {
    const std::uint32_t at = std::uint32_t(bytes_.size());
    bytes_ += directory_;
    append(bytes_, std::uint32_t(0x06054b50));
    append(bytes_, std::uint32_t(0));  // disks
    append(bytes_, files_);
    append(bytes_, files_);
    append(bytes_, std::uint32_t(directory_.size()));
    append(bytes_, at);
    append(bytes_, std::uint16_t(0));
    return std::move(bytes_);
  }

 private:
  static void add_facts(std::string& out, const std::string& name, const std::string& data, std::uint32_t crc) {
    append(out, std::uint16_t(20));                                       // needs version 2.0
    append(out, std::uint32_t(0));                                        // flags, stored without compression
    append(out, std::uint32_t(((1980 - 1980) << 9 | 1 << 5 | 1) << 16));  // time and date
    append(out, crc);
    append(out, std::uint32_t(data.size()));
    append(out, std::uint32_t(data.size()));
    append(out, std::uint16_t(name.size()));
    append(out, std::uint16_t(0));  // extra field
  }

  std::string bytes_, directory_;
  std::uint16_t files_ = 0;
};

Column split(const std::string& line) {
  Column cells(1);
  for (const char c : line)
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

}  // namespace

std::string npz(const CsvTable& table) {
  std::istringstream lines(table.text);
  std::string line;
  Column names;
  std::vector<Column> columns;
  while (std::getline(lines, line)) {
    if (line.starts_with("#")) continue;
    Column cells = split(line);
    if (names.empty()) {
      names = std::move(cells);
      columns.resize(names.size());
    } else {
      for (std::size_t k = 0; k < columns.size() && k < cells.size(); ++k) columns[k].push_back(std::move(cells[k]));
    }
  }
  Zip zip;
  for (std::size_t k = 0; k < names.size(); ++k) zip.add(names[k] + ".npy", npy_of_column(columns[k]));
  return zip.finish();
}

}  // namespace phaselock
