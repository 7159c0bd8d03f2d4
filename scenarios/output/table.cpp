#include "output/table.hpp"

#include <string_view>

namespace phaselock {

namespace {

std::string_view name(ColumnType type) {
  static constexpr std::string_view names[] = {"number", "share", "integer", "text"};
  return names[int(type)];
}

/// What the comment says of a column; nothing, or what it is or else its unit.
const std::string& words(const Column& column) {
  static const std::string none;
  return !column.in_comment ? none : column.meaning.empty() ? column.unit : column.meaning;
}

void append(std::string& text, std::string_view separator, std::string_view part) {
  if (!text.empty() && !part.empty()) text += separator;
  text += part;
}

}  // namespace

Columns alike(std::initializer_list<const char*> names, const Column& column) {
  Columns columns(names.size(), column);
  auto name = names.begin();
  for (Column& one : columns) one.name = *name++;
  return columns;
}

Columns estimate(const Column& column) {
  Columns columns(3, column);
  for (int end : {1, 2}) {
    columns[end].name += end == 1 ? "_low" : "_high";
    columns[end].meaning.clear();
    columns[end].in_comment = false;
  }
  return columns;
}

Columns joined(std::initializer_list<Columns> parts) {
  Columns columns;
  for (const Columns& part : parts) columns.insert(columns.end(), part.begin(), part.end());
  return columns;
}

std::string TableSchema::comment() const {
  std::string text = first, names;
  const std::string* said = nullptr;
  const auto say = [&] {
    if (!names.empty()) append(text, "; ", fmt::format("{}: {}", names, *said));
    names.clear();
  };
  for (const Column& column : columns) {
    if (words(column).empty()) continue;  // what stands between columns of one meaning does not part them
    if (said && words(column) != *said) say();
    said = &words(column);
    append(names, ", ", column.name);
  }
  say();
  append(text, "; ", last);
  return text;
}

std::string TableSchema::header() const {
  std::string text;
  for (const Column& column : columns) append(text, ",", column.name);
  return text;
}

Json tables_json(const std::vector<TableSchema>& tables) {
  Json document = Json::object();
  for (const TableSchema& table : tables) {
    std::string about = table.about;
    for (const std::string& more : {table.first, table.last}) append(about, "; ", more);
    Json columns = Json::array();
    for (const Column& column : table.columns)
      columns.push_back({{"name", column.name}, {"unit", column.unit}, {"type", name(column.type)}, {"meaning", column.meaning}});
    document[table.file] = {{"about", std::move(about)}, {"columns", std::move(columns)}};
  }
  return document;
}

}  // namespace phaselock
