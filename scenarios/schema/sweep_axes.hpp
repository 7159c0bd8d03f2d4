// The axes of a sweep, [sweep.over]: scenario keys and the values they take; their product or zip is the sweep's cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "output/json.hpp"
#include "schema/scenario.hpp"

namespace phaselock {

/// Sections below this one name the keys: "sweep.over.model.beta".
constexpr std::string_view axis_prefix = "sweep.over.";

/// The axis that a setting `sweep.over.KEY = value` asks for: a list of values, or a range
/// { from = 1.0, to = 8.0, count = 4, scale = "log" } (scale "linear" if left out; of whole numbers if both ends are). `path` is
/// the scenario key, one of `kind`; `kinds` are known for what is said of others. Throws Failure (bad_scenario) at `place`.
SweepAxis read_axis(std::string_view path, const TomlValue& value, const std::string& place, const KindDescription& kind,
                    KindList kinds);

/// The value lists as TOML: `"model.beta" = [1.0, 4.0]`.
std::string axis_text(const SweepAxis& axis, const KindDescription& kind);

/// A key's value in a cell, words without quotes.
std::string axis_value(const Scenario& cell, std::string_view key);

/// {"model.beta": 4.0} of the keys that the sweep varies.
Json axis_values(const Scenario& scenario, const Scenario& cell);

/// One scenario for each cell, without axes, checked: with product, the last axis varies fastest; with zip, all vary together.
/// A scenario without axes is its only cell. Throws Failure (bad_scenario) at the place of the key that does not fit, of an axis'
/// value that makes a cell invalid or (with zip, of values together) is taken twice, or of an axis without effect; Interrupted.
std::vector<Scenario> sweep_cells(const Scenario& scenario);

}  // namespace phaselock
