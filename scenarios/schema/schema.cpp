#include "schema/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>

#include "schema/kind_description.hpp"

namespace phaselock {

namespace {

/// Words of a key, in order.
std::vector<std::string_view> split(std::string_view words) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= words.size();) {
    const std::size_t bar = std::min(words.find('|', start), words.size());
    parts.push_back(words.substr(start, bar - start));
    start = bar + 1;
  }
  return parts;
}

std::string range_text(const Limits& range, bool whole) {
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  if (whole) return fmt::format("from {:.0f} to {:.0f}", range.low, range.high);
  if (low && high)
    return fmt::format("in {}{:g}, {:g}{}", range.open_low ? '(' : '[', range.low, range.high, range.open_high ? ')' : ']');
  if (low) return fmt::format("{} {:g}", range.open_low ? ">" : ">=", range.low);
  return "finite";
}

std::optional<long double> number(const TomlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<long double>(*integer);
  if (const auto* real = std::get_if<double>(&value.data); real && std::isfinite(*real)) return *real;
  return std::nullopt;
}

/// Writes a TOML value to a place; false if the type, the range or the word does not fit.
struct Storer {
  const Key& key;
  const TomlValue& value;

  template <class Integer>
  bool whole(Integer* place) const {
    const auto* integer = std::get_if<std::int64_t>(&value.data);
    if (!integer || !key.range.contains(*integer)) return false;
    *place = Integer(*integer);
    return true;
  }
  bool operator()(int* place) const { return whole(place); }
  bool operator()(std::int64_t* place) const { return whole(place); }
  bool operator()(std::uint64_t* place) const { return whole(place); }
  bool operator()(double* place) const {
    const auto x = number(value);
    if (!x || !key.range.contains(*x)) return false;
    *place = double(*x);
    return true;
  }
  bool operator()(bool* place) const {
    const auto* x = std::get_if<bool>(&value.data);
    if (x) *place = *x;
    return x;
  }
  bool operator()(std::string* place) const {
    const auto* x = std::get_if<std::string>(&value.data);
    if (!x || x->empty() || x->find('\0') != std::string::npos) return false;
    *place = *x;
    return true;
  }
  bool operator()(std::vector<double>* place) const {
    const auto* items = std::get_if<TomlArray>(&value.data);
    if (!items || (key.length && items->size() != key.length)) return false;
    std::vector<double> numbers;
    for (const TomlValue& item : *items) {
      const auto x = number(item);
      if (!x || !key.range.contains(*x)) return false;
      numbers.push_back(double(*x));
    }
    *place = std::move(numbers);
    return true;
  }
  bool operator()(WordPlace place) const {
    const auto* word = std::get_if<std::string>(&value.data);
    const auto words = split(key.words);
    const auto found = word ? std::find(words.begin(), words.end(), *word) : words.end();
    if (found == words.end()) return false;
    place.set(place.place, int(found - words.begin()));
    return true;
  }
};

/// The shortest text that reads back as x: 0.5, 64, 1e+15.
std::string shortest(double x) {
  std::string text = fmt::to_string(x);
  for (int digits = 0; digits < 5; ++digits) {
    std::string power = fmt::format("{:.{}e}", x, digits);
    if (power.size() < text.size() && std::strtod(power.c_str(), nullptr) == x) return power;
  }
  return text;
}

struct ValueWriter {
  const Key& key;
  std::string operator()(double* x) const { return shortest(*x); }
  template <class Number>
  std::string operator()(Number* x) const {
    return fmt::to_string(*x);
  }
  std::string operator()(std::string* x) const { return x->empty() ? "" : toml_quoted(*x); }
  std::string operator()(std::vector<double>* x) const {
    std::vector<std::string> items;
    for (const double item : *x) items.push_back(shortest(item));
    return items.empty() ? "" : fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::string operator()(WordPlace x) const { return toml_quoted(split(key.words)[x.get(x.place)]); }
};

/// Least number of inserted, deleted and changed characters between two words (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

/// A key as it was given; in quotes where it would not stand out.
std::string shown_key(std::string_view path) {
  return path.empty() || path.ends_with('.') || path.find_first_of(" \t\n") != std::string_view::npos ? toml_quoted(path)
                                                                                                      : std::string(path);
}

}  // namespace

std::string_view Key::section() const {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

bool Key::applies_to(const KindDescription& kind) const {
  const auto is_this = [&](std::string_view taken) { return taken == section() || taken == path; };
  return std::any_of(kind.takes.begin(), kind.takes.end(), is_this) ||
         std::any_of(kind.own_keys.begin(), kind.own_keys.end(), [&](const Key& key) { return key.path == path; });
}

bool Key::has_effect(const Scenario& scenario) const {
  const KindDescription& kind = *scenario.kind;
  return applies_to(kind) && (!applies || applies(scenario)) && !(kind.is_idle && kind.is_idle(scenario, *this));
}

bool Key::is_whole() const {
  Scenario any;
  return std::visit(
      [](auto value) {
        using Value = std::remove_pointer_t<decltype(value)>;
        return std::is_integral_v<Value> && !std::is_same_v<Value, bool>;
      },
      place(any));
}

std::vector<const Key*> keys_of(const KindDescription& kind) {
  std::vector<const Key*> keys;
  for (const Key& key : shared_keys())
    if (key.applies_to(kind)) keys.push_back(&key);
  for (const Key& key : kind.own_keys) keys.push_back(&key);
  return keys;
}

const Key* find_key(const KindDescription& kind, std::string_view path) {
  for (const std::span<const Key> table : {shared_keys(), kind.own_keys})
    for (const Key& key : table)
      if (key.path == path) return key.applies_to(kind) ? &key : nullptr;
  return nullptr;
}

const Key* find_key(KindList kinds, std::string_view path) {
  for (const KindDescription* kind : kinds)
    if (const Key* key = find_key(*kind, path)) return key;
  return nullptr;
}

const Key& shared_key(std::string_view path) {
  for (const Key& key : shared_keys())
    if (key.path == path) return key;
  throw std::logic_error(fmt::format("{} is no key that kinds share", path));
}

std::string allowed(const Key& key) {
  Scenario any;
  const ValuePlace place = key.place(any);
  if (!key.words.empty()) return fmt::format("one of {}", fmt::join(split(key.words), ", "));
  if (std::holds_alternative<bool*>(place)) return "true or false";
  if (std::holds_alternative<std::string*>(place)) return "the name of a file, in quotes";
  if (std::holds_alternative<std::vector<double>*>(place))
    return fmt::format("a list of {}numbers {}", key.length ? fmt::format("{} ", key.length) : "", range_text(key.range, false));
  if (std::holds_alternative<double*>(place)) return range_text(key.range, false);
  return "a whole number " + range_text(key.range, true);
}

std::optional<std::string> store(const Key& key, const TomlValue& value, Scenario& scenario) {
  const ValuePlace place = key.place(scenario);
  if (std::visit(Storer{key, value}, place)) return std::nullopt;
  const bool a_number = std::holds_alternative<double*>(place) && !number(value);
  return fmt::format("{} = {} must be {}{}", key.path, to_text(value), a_number ? "a finite number " : "", allowed(key));
}

void put_number(const Key& key, double value, Scenario& scenario) {
  const auto put = [&](auto place) {
    using Value = std::remove_pointer_t<decltype(place)>;
    if constexpr (std::is_same_v<Value, double>)
      *place = value;
    else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>)
      *place = Value(std::llround(value));
    else
      throw std::logic_error(fmt::format("{} takes no number", key.path));
  };
  std::visit(put, key.place(scenario));
}

std::optional<std::string> value_text(const Key& key, const Scenario& scenario) {
  Scenario copy = scenario;
  std::string text = std::visit(ValueWriter{key}, key.place(copy));
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string unknown_key(std::string_view path, const KindDescription& kind) {
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, std::min<std::size_t>(path.size(), 60) / 3) + 1;
  const std::string_view shown = path.substr(0, 60);
  const auto consider = [&](std::string_view candidate) {
    const std::size_t distance = edit_distance(shown, candidate);
    if (distance < least) least = distance, nearest = candidate;
  };
  const std::string_view section = path.substr(0, std::min(path.find('.'), path.size()));
  std::vector<std::string_view> siblings;
  std::vector<std::string_view> sections;
  consider("kind");
  for (const Key* key : keys_of(kind)) {
    consider(key->path);
    if (key->section() == section) siblings.push_back(key->path.substr(section.size() + 1));
    if (sections.empty() || sections.back() != key->section()) sections.push_back(key->section());
  }
  std::string text = fmt::format("unknown key {}", shown_key(shown));
  if (!nearest.empty()) text += fmt::format("; did you mean {}", nearest);
  if (!siblings.empty()) return text + fmt::format(". Keys of [{}]: {}", section, fmt::join(siblings, ", "));
  return text + fmt::format(". Allowed are kind and the sections {}", fmt::join(sections, ", "));
}

}  // namespace phaselock
