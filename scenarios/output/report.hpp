// What a run hands over: results, tables and a summary.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/model.hpp"
#include "output/json.hpp"
#include "statistics/intervals.hpp"

namespace phaselock {

/// A CSV file: comment lines that give the units, a header, rows. A number that is not finite is an empty cell; an estimate takes
/// three cells: value, low, high.
class CsvTable {
 public:
  CsvTable(std::string file_name, std::string_view comment, std::string_view header)
      : name(std::move(file_name)), text(fmt::format("# {}\n{}\n", comment, header)) {}

  template <class... Cells>
  void row(const Cells&... cells) {
    bool first = true;
    ((text += first ? "" : ",", first = false, add(cells)), ...);
    text += '\n';
  }

  std::string name, text;

 private:
  template <class Cell>
  void add(const Cell& cell) {
    if constexpr (std::is_floating_point_v<Cell>) {
      if (!std::isfinite(cell)) return;
    }
    text += fmt::format("{}", cell);
  }
  void add(const Estimate& e) {
    add(e.value);
    for (const double end : {e.interval.low, e.interval.high}) text += ',', add(end);
  }
};

struct Report {
  Json results;
  std::vector<CsvTable> tables;
  std::vector<std::string> summary;  ///< lines for people
  Json certificate = nullptr;        ///< a certificate of what the run proved (docs/certificate.md), or null

  /// "PROVED" if the run carries a certificate, else null.
  Json verdict() const { return certificate.is_null() ? Json() : Json("PROVED"); }
};

/// "L = 4, S = 4, H = 3, N = 64, gamma = 1, beta = 1".
std::string model_text(const Model& model);

/// "name = a, b, c" of numbers in short.
std::string list_text(std::span<const double> numbers);

}  // namespace phaselock
