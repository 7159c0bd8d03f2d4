// A TOML document as a tree of values that know their place. The only door to toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace phaselock {

struct TomlValue;
struct TomlEntry;
using TomlArray = std::vector<TomlValue>;
using TomlTable = std::vector<TomlEntry>;  ///< in the order of the text

/// Dates and times: nothing in a scenario takes one.
struct TomlDate {};

/// Lines and columns count from 1; 0 if unknown.
struct TomlValue {
  int line = 0, column = 0;
  std::variant<TomlTable, TomlArray, std::string, std::int64_t, double, bool, TomlDate> data;
};

struct TomlEntry {
  std::string key;
  int line = 0, column = 0;  ///< of the key
  TomlValue value;
};

/// Throws Failure (bad_scenario) `source:line:column: ...` if the text is not TOML 1.0.
TomlTable parse_toml(std::string_view text, const std::string& source);

/// A value as one would write it, at most about 60 characters; for messages.
std::string to_text(const TomlValue& value);

/// `text` as a TOML basic string, quotes included.
std::string toml_quoted(std::string_view text);

std::string toml_library_version();

}  // namespace phaselock
