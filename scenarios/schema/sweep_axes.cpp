#include "schema/sweep_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "model/interrupt.hpp"
#include "schema/kind_description.hpp"
#include "schema/schema.hpp"

namespace phaselock {

namespace {

constexpr std::size_t most_values = 10000, most_cells = 100000;

Failure wrong(const std::string& place, const std::string& message) {
  return Failure(Exit::bad_scenario, fmt::format("{}: {}", place, message));
}

const TomlValue* entry(const TomlTable& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const TomlEntry& e) { return e.key == key; });
  return found == table.end() ? nullptr : &found->value;
}

std::optional<double> number(const TomlValue* value) {
  if (!value) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&value->data)) return double(*whole);
  if (const auto* real = std::get_if<double>(&value->data)) return *real;
  return std::nullopt;
}

/// Values of a range, its ends included.
std::vector<TomlValue> range_values(std::string_view path, const TomlTable& range, const std::string& place) {
  const auto fail = [&](std::string_view what) {
    return wrong(
        place, fmt::format("{} of sweep.over: {}; a range is {{ from = A, to = B, count = n, scale = \"linear\" | \"log\" }}", path,
                           what));
  };
  for (const TomlEntry& given : range)
    if (given.key != "from" && given.key != "to" && given.key != "count" && given.key != "scale")
      throw fail(fmt::format("unknown key {}", toml_quoted(given.key)));
  const auto from = number(entry(range, "from")), to = number(entry(range, "to"));
  const TomlValue *count = entry(range, "count"), *scale = entry(range, "scale");
  const auto* n = count ? std::get_if<std::int64_t>(&count->data) : nullptr;
  const auto* word = scale ? std::get_if<std::string>(&scale->data) : nullptr;
  if (!from || !to || !std::isfinite(*from) || !std::isfinite(*to)) throw fail("from and to must be finite numbers");
  if (!n || *n < 2 || *n > std::int64_t(most_values))
    throw fail(fmt::format("count must be a whole number from 2 to {}", most_values));
  if (scale && (!word || (*word != "linear" && *word != "log"))) throw fail("scale must be \"linear\" or \"log\"");
  const bool log = word && *word == "log";
  if (log && !(*from > 0 && *to > 0)) throw fail("from and to of a logarithmic range must be > 0");
  const bool whole = std::holds_alternative<std::int64_t>(entry(range, "from")->data) &&
                     std::holds_alternative<std::int64_t>(entry(range, "to")->data);
  std::vector<TomlValue> values;
  double last = 0.0;
  const long double low = *from, high = *to;  // their ratio or difference may be beyond a double
  for (std::int64_t k = 0; k < *n; ++k) {
    const long double part = (long double)(k) / (long double)(*n - 1);
    const double x = k == 0        ? *from
                     : k + 1 == *n ? *to
                                   : double(log ? low * std::pow(high / low, part) : low + part * (high - low));
    const double rounded = whole ? std::round(x) : x;
    if (k > 0 && rounded == last) {
      if (whole) continue;  // whole numbers may round alike
      throw fail("from and to are too close for so many values");
    }
    last = rounded;
    TomlValue& value = values.emplace_back();
    if (whole)
      value.data = std::int64_t(rounded);
    else
      value.data = rounded;
  }
  return values;
}

/// Where a value of an axis was given; one of a range or of the command line, where the axis was.
std::string value_place(const SweepAxis& axis, const TomlValue& value) {
  if (value.line == 0 || axis.place.starts_with("--set ")) return axis.place;
  const std::string_view file = std::string_view(axis.place).substr(0, axis.place.rfind(':', axis.place.rfind(':') - 1));
  return fmt::format("{}:{}:{}", file, value.line, value.column);
}

const Key& key_of(const SweepAxis& axis, const Scenario& scenario) { return *find_key(*scenario.kind, axis.key); }

/// Refuses what would compute the same cells twice: values that axes which vary together take together more than once.
void refuse_repeated(std::span<const SweepAxis> together, const Scenario& scenario) {
  std::map<std::string, std::string> places;
  Scenario scratch = scenario;
  for (std::size_t k = 0; k < together.front().values.size(); ++k) {
    std::vector<std::string> words;
    for (const SweepAxis& axis : together) {
      store(key_of(axis, scratch), axis.values[k], scratch);
      words.push_back(fmt::format("{} = {}", axis.key, axis_value(scratch, axis.key)));
    }
    const std::string values = fmt::format("{}", fmt::join(words, ", ")),
                      place = value_place(together.front(), together.front().values[k]);
    const auto [earlier, is_new] = places.emplace(values, place);
    if (!is_new)
      throw wrong(place, fmt::format("{} of sweep.over was given at {} already: its cells would be computed twice", values,
                                     earlier->second));
  }
}

/// Refuses axes that change nothing in any cell.
void refuse_idle(const Scenario& scenario, const std::vector<Scenario>& cells) {
  for (const SweepAxis& axis : scenario.sweep.over)
    if (std::none_of(cells.begin(), cells.end(), [&](const Scenario& cell) { return key_of(axis, cell).has_effect(cell); }))
      throw wrong(axis.place, fmt::format("{} of sweep.over has no effect on any cell", axis.key));
}

bool fits(Scenario cell) {
  try {
    check(cell, true);
    return true;
  } catch (const Failure&) {
    return false;
  }
}

/// The failure of a cell at the value to blame: that of an axis which has another with which the cell would do. If there is none,
/// or if the failure is at such a value already, the failure as it is.
Failure cell_failure(const Scenario& scenario, const Scenario& cell, const Failure& failure) {
  const std::string what = failure.what();
  for (const SweepAxis& axis : scenario.sweep.over)
    if (what.starts_with(cell.places.at(axis.key) + ":")) return failure;
  for (const SweepAxis& axis : scenario.sweep.over) {
    const bool blamed = std::any_of(axis.values.begin(), axis.values.end(), [&](const TomlValue& value) {
      Scenario other = cell;
      store(key_of(axis, other), value, other);
      return fits(std::move(other));
    });
    if (blamed)
      return wrong(cell.places.at(axis.key), fmt::format("{} = {} of sweep.over: {}", axis.key, axis_value(cell, axis.key), what));
  }
  return failure;
}

/// Number of cells, after the checks between axes.
std::size_t cell_count(const Scenario& scenario) {
  const std::vector<SweepAxis>& axes = scenario.sweep.over;
  if (axes.empty()) return 1;
  if (scenario.sweep.combine == Combine::zip) {
    for (const SweepAxis& axis : axes)
      if (axis.values.size() != axes.front().values.size())
        throw wrong(axis.place,
                    fmt::format("{} has {} values and {} has {}; with sweep.combine = \"zip\" all axes must be of one length",
                                axis.key, axis.values.size(), axes.front().key, axes.front().values.size()));
    refuse_repeated(axes, scenario);
    return axes.front().values.size();
  }
  std::size_t cells = 1;
  for (const SweepAxis& axis : axes) {
    refuse_repeated({&axis, 1}, scenario);
    cells *= axis.values.size();
    if (cells > most_cells) throw wrong(axis.place, fmt::format("the sweep has more than {} cells", most_cells));
  }
  return cells;
}

}  // namespace

SweepAxis read_axis(std::string_view path, const TomlValue& value, const std::string& place, const KindDescription& kind,
                    KindList kinds) {
  const Key* key = find_key(kind, path);
  if (!key && path != kind_key && !find_key(kinds, path)) throw wrong(place, unknown_key(path, kind));
  if (!key || key->section() == "sweep" || path.ends_with(".file"))
    throw wrong(place, fmt::format("{} cannot be swept: it must be a key of a {} run other than kind, a file or one of [sweep]",
                                   path, kind.name));
  SweepAxis axis{std::string(path), {}, place};
  if (const auto* items = std::get_if<TomlArray>(&value.data)) axis.values = *items;
  if (const auto* range = std::get_if<TomlTable>(&value.data)) axis.values = range_values(path, *range, place);
  if (axis.values.empty() || axis.values.size() > most_values)
    throw wrong(place, fmt::format("{} of sweep.over must be a list of 1 to {} values or a range {{ from, to, count, scale }}",
                                   path, most_values));
  Scenario scratch;
  for (const TomlValue& item : axis.values)
    if (const auto problem = store(*key, item, scratch)) throw wrong(value_place(axis, item), *problem);
  return axis;
}

std::string axis_text(const SweepAxis& axis, const KindDescription& kind) {
  const Key& key = *find_key(kind, axis.key);
  std::vector<std::string> values;
  Scenario scratch;
  for (const TomlValue& value : axis.values) {
    store(key, value, scratch);
    values.push_back(value_text(key, scratch).value_or("\"\""));
  }
  return fmt::format("{} = [{}]", toml_quoted(axis.key), fmt::join(values, ", "));
}

std::string axis_value(const Scenario& cell, std::string_view key) {
  if (key == kind_key) return std::string(cell.kind->name);
  std::string text = value_text(*find_key(*cell.kind, key), cell).value_or("");
  std::erase(text, '"');
  return text;
}

Json axis_values(const Scenario& scenario, const Scenario& cell) {
  Json values = Json::object();
  for (const SweepAxis& axis : scenario.sweep.over) {
    const std::string value = axis_value(cell, axis.key);
    values[axis.key] = Json::accept(value) ? Json::parse(value) : Json(value);
  }
  return values;
}

std::vector<Scenario> sweep_cells(const Scenario& scenario) {
  std::vector<Scenario> cells;
  const std::size_t count = cell_count(scenario);
  Scenario base = scenario;
  base.sweep.over.clear();
  for (std::size_t k = 0; k < count; ++k) {
    check_interrupt();
    Scenario cell = base;
    std::size_t rest = k;
    for (auto axis = scenario.sweep.over.rbegin(); axis != scenario.sweep.over.rend(); ++axis) {
      const std::size_t n = axis->values.size();
      const TomlValue& value = axis->values[scenario.sweep.combine == Combine::zip ? k : rest % n];
      store(key_of(*axis, cell), value, cell);
      cell.places[axis->key] = value_place(*axis, value);
      rest /= n;
    }
    try {
      check(cell, true);
    } catch (const Failure& failure) {
      throw cell_failure(scenario, cell, failure);
    }
    cells.push_back(std::move(cell));
  }
  refuse_idle(scenario, cells);
  return cells;
}

}  // namespace phaselock
