// Tables of a run. A table's columns are declared once: header and comment of its CSV file and its part of tables.json follow.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "output/json.hpp"
#include "statistics/intervals.hpp"

namespace phaselock {

/// What the cells of a column are. A number or share (from 0 to 1) may be missing, its cell is empty then; an integer only where
/// the table says so.
enum class ColumnType { number, share, integer, text };

struct Column {
  std::string name;
  ColumnType type;
  std::string meaning = {};  ///< empty where the name, or what is said of the whole table, says it
  std::string unit = {};     ///< empty for what has none, as the time of a flow
  bool in_comment = true;    ///< whether the CSV file's comment says it too
};

using Columns = std::vector<Column>;

/// Several columns of one meaning.
Columns alike(std::initializer_list<const char*> names, const Column& column);

/// The three columns of an Estimate: `column`, and its interval as NAME_low and NAME_high.
Columns estimate(const Column& column);

/// `parts` one after the other.
Columns joined(std::initializer_list<Columns> parts);

struct TableSchema {
  std::string file;   ///< its name, with .csv
  std::string about;  ///< what its rows are; in tables.json alone
  Columns columns;
  std::string first = {}, last = {};  ///< said of several columns at once, before and after what is said of single ones

  /// "t: time; loss: nats; head, offset: from 0".
  std::string comment() const;
  /// "t,loss,head,offset".
  std::string header() const;
};

/// A CSV file: a comment line, a header, rows. A number that is not finite is an empty cell; an estimate takes three cells: value,
/// low, high.
class CsvTable {
 public:
  explicit CsvTable(TableSchema declared) : schema(std::move(declared)) {
    text = fmt::format("# {}\n{}\n", schema.comment(), schema.header());
  }

  template <class... Cells>
  void row(const Cells&... cells) {
    bool is_first = true;
    ((text += is_first ? "" : ",", is_first = false, add(cells)), ...);
    text += '\n';
  }

  const std::string& name() const { return schema.file; }

  TableSchema schema;
  std::string text;

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

/// The file that describes the tables beside it.
constexpr const char* tables_file = "tables.json";

/// {"NAME.csv": {"about", "columns": [{"name", "unit", "type", "meaning"}]}}.
Json tables_json(const std::vector<TableSchema>& tables);

}  // namespace phaselock
