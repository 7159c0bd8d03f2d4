#include "output/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "output/failure.hpp"

namespace phaselock {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied from the file as they are");

Failure bad(const std::filesystem::path& file, const std::string& what) {
  return Failure(Exit::bad_data, fmt::format("{}: {}", file.string(), what));
}

std::ifstream open(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::error_code ignored;
  if (!stream || std::filesystem::is_directory(file, ignored))
    throw Failure(Exit::cannot_read, fmt::format("{}: {}", file.string(), std::strerror(stream ? EISDIR : errno)));
  return stream;
}

/// The text behind `'name':` in the header's dictionary, up to the end.
std::optional<std::string> value_of(const std::string& header, const std::string& name) {
  std::size_t at = header.find("'" + name + "'");
  if (at == std::string::npos) return std::nullopt;
  at = header.find(':', at);
  if (at == std::string::npos) return std::nullopt;
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? std::nullopt : std::optional(header.substr(at));
}

/// Numbers of a tuple `(a, b)`; nothing if it is none.
std::optional<std::vector<std::int64_t>> tuple(const std::string& text) {
  if (text.empty() || text[0] != '(') return std::nullopt;
  std::vector<std::int64_t> numbers;
  const char *at = text.data() + 1, *const end = text.data() + text.size();
  while (at != end && *at != ')') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return std::nullopt;
    numbers.push_back(number);
    at = after;
  }
  return at == end ? std::nullopt : std::optional(numbers);
}

/// The header's dictionary, and where the data begin.
std::pair<std::string, std::int64_t> read_dictionary(std::ifstream& stream, const std::filesystem::path& file) {
  unsigned char start[8];
  if (!stream.read(reinterpret_cast<char*>(start), 8) || std::memcmp(start, "\x93NUMPY", 6) != 0)
    throw bad(file, "not a .npy file: it does not begin with \\x93NUMPY");
  if (start[6] < 1 || start[6] > 3) throw bad(file, fmt::format(".npy version {}.{}; 1.0 to 3.0 can be read", start[6], start[7]));
  const int width = start[6] == 1 ? 2 : 4;
  unsigned char size_bytes[4] = {};
  if (!stream.read(reinterpret_cast<char*>(size_bytes), width)) throw bad(file, "ends within its header");
  const std::uint32_t size = size_bytes[0] | size_bytes[1] << 8 | size_bytes[2] << 16 | std::uint32_t(size_bytes[3]) << 24;
  if (size > 1 << 16) throw bad(file, fmt::format("header of {} bytes; at most 65536 are allowed", size));
  std::string dictionary(size, '\0');
  if (!stream.read(dictionary.data(), size)) throw bad(file, "ends within its header");
  return {dictionary, 8 + width + std::int64_t(size)};
}

template <class Number>
Eigen::MatrixXd read_numbers(std::ifstream& stream, const NpyHeader& header, const std::filesystem::path& file) {
  using Rows = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<Number> numbers(std::size_t(header.rows * header.columns));
  stream.seekg(header.data_at);
  if (!stream.read(reinterpret_cast<char*>(numbers.data()), std::streamsize(numbers.size() * sizeof(Number))))
    throw Failure(Exit::cannot_read, fmt::format("{}: cannot be read to its end", file.string()));
  Eigen::MatrixXd matrix;
  if (header.fortran_order)
    matrix = Eigen::Map<const Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>>(numbers.data(), header.rows, header.columns)
                 .template cast<double>();
  else
    matrix = Eigen::Map<const Rows>(numbers.data(), header.rows, header.columns).template cast<double>();
  return matrix;
}

}  // namespace

NpyHeader read_npy_header(const std::filesystem::path& file) {
  std::ifstream stream = open(file);
  const auto [dictionary, data_at] = read_dictionary(stream, file);
  const auto type = value_of(dictionary, "descr"), order = value_of(dictionary, "fortran_order"),
             shape = value_of(dictionary, "shape");
  if (!type || !order || !shape) throw bad(file, "header without descr, fortran_order and shape");
  const bool single = type->rfind("'<f4'", 0) == 0;
  if (!single && type->rfind("'<f8'", 0) != 0)
    throw bad(file, fmt::format("numbers of type {}; '<f4' or '<f8' are allowed (little-endian float32 or float64)",
                                type->substr(0, std::min<std::size_t>(type->find(','), 20))));
  const bool fortran = order->rfind("True", 0) == 0;
  if (!fortran && order->rfind("False", 0) != 0) throw bad(file, "fortran_order must be True or False");
  const auto sizes = tuple(*shape);
  if (!sizes) throw bad(file, "shape must be a tuple of whole numbers");
  if (sizes->size() != 2) throw bad(file, fmt::format("{} dimensions; it must have 2, rows = tokens", sizes->size()));
  const NpyHeader header{(*sizes)[0], (*sizes)[1], single ? 4 : 8, fortran, data_at};
  const double bytes = double(header.rows) * double(header.columns) * header.item_size;
  std::error_code error;
  const double held = double(std::filesystem::file_size(file, error)) - double(data_at);
  if (error) throw Failure(Exit::cannot_read, fmt::format("{}: {}", file.string(), error.message()));
  if (header.rows < 1 || header.columns < 1)
    throw bad(file, fmt::format("shape ({}, {}); both must be at least 1", header.rows, header.columns));
  if (held != bytes)
    throw bad(file, fmt::format("{} data: shape ({}, {}) takes {:.0f} bytes, the file holds {:.0f}",
                                held < bytes ? "truncated" : "surplus", header.rows, header.columns, bytes, held));
  return header;
}

Eigen::MatrixXd read_npy(const std::filesystem::path& file) {
  const NpyHeader header = read_npy_header(file);
  std::ifstream stream = open(file);
  Eigen::MatrixXd matrix =
      header.item_size == 4 ? read_numbers<float>(stream, header, file) : read_numbers<double>(stream, header, file);
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j)
      if (!std::isfinite(matrix(i, j)))
        throw bad(file, fmt::format("row {}, column {} is {}; every entry must be finite", i, j, matrix(i, j)));
  return matrix;
}

}  // namespace phaselock
