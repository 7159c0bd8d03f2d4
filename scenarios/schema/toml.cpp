#include "schema/toml.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "output/failure.hpp"

namespace phaselock {

namespace {

TomlTable convert(const toml::table& table);

TomlValue convert(const toml::node& node) {
  TomlValue value;
  value.line = int(node.source().begin.line);
  value.column = int(node.source().begin.column);
  if (const auto* table = node.as_table())
    value.data = convert(*table);
  else if (const auto* array = node.as_array()) {
    TomlArray items;
    for (const auto& item : *array) items.push_back(convert(item));
    value.data = std::move(items);
  } else if (const auto* text = node.as_string())
    value.data = text->get();
  else if (const auto* integer = node.as_integer())
    value.data = integer->get();
  else if (const auto* number = node.as_floating_point())
    value.data = number->get();
  else if (const auto* boolean = node.as_boolean())
    value.data = boolean->get();
  else
    value.data = TomlDate{};
  return value;
}

TomlTable convert(const toml::table& table) {
  TomlTable entries;
  for (const auto& [key, node] : table) {
    const auto& place = key.source().begin;
    entries.push_back({std::string(key.str()), int(place.line), int(place.column), convert(node)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  return entries;
}

struct TomlWriter {
  std::string operator()(const TomlTable&) const { return "a section"; }
  std::string operator()(const TomlArray& items) const {
    std::string text = "[";
    for (const TomlValue& item : items) {
      if (text.size() > 50) return text + ", ...]";
      text += (text.size() > 1 ? ", " : "") + to_text(item);
    }
    return text + "]";
  }
  std::string operator()(const std::string& text) const {
    return text.size() <= 60 ? toml_quoted(text) : toml_quoted(text.substr(0, 57)) + "...";
  }
  std::string operator()(std::int64_t value) const { return fmt::to_string(value); }
  std::string operator()(double value) const {
    const std::string text = fmt::to_string(value);
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(TomlDate) const { return "a date"; }
};

/// toml++ limits the depth of values but not of dotted keys, which it follows recursively until the stack ends.
void refuse_deep_keys(std::string_view text, const std::string& source) {
  constexpr int deepest = 64;
  int line = 1, column = 0, dots = 0;
  for (const char c : text) {
    ++column;
    const bool in_key =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '"' || c == '\'' || c == ' ' || c == '\t';
    dots = c == '.' ? dots + 1 : in_key ? dots : 0;
    if (dots > deepest)
      throw Failure(Exit::bad_scenario,
                    fmt::format("{}:{}:{}: not TOML for a scenario: a key of more than {} parts", source, line, column, deepest));
    if (c == '\n') {
      ++line;
      column = 0;
    }
  }
}

}  // namespace

TomlTable parse_toml(std::string_view text, const std::string& source) {
  try {
    refuse_deep_keys(text, source);
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const auto& place = error.source().begin;
    throw Failure(Exit::bad_scenario, fmt::format("{}:{}:{}: not TOML: {}", source, place.line, place.column, error.description()));
  }
}

std::string to_text(const TomlValue& value) { return std::visit(TomlWriter{}, value.data); }

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", int(c));
    else
      out += c;
  }
  return out + '"';
}

std::string toml_library_version() { return fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH); }

}  // namespace phaselock
