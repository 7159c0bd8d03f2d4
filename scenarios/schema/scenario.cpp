#include "schema/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "output/files.hpp"
#include "proofs/trapping.hpp"
#include "schema/kind_description.hpp"
#include "schema/schema.hpp"
#include "schema/sweep_axes.hpp"
#include "schema/toml.hpp"

namespace phaselock {

namespace {

/// One key that was given, wherever.
struct Setting {
  std::string path;
  TomlValue value;
  std::string place;
};

bool has_section(KindList kinds, std::string_view section) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const KindDescription* kind) {
    const std::vector<const Key*> keys = keys_of(*kind);
    return std::any_of(keys.begin(), keys.end(), [&](const Key* key) { return key->section() == section; });
  });
}

/// Settings of a table in the order of the text; sections that hold no known key appear as settings, to be refused.
void flatten(const TomlTable& table, const std::string& prefix, const std::string& source, KindList kinds,
             std::vector<Setting>& settings) {
  for (const TomlEntry& entry : table) {
    const std::string path = prefix.empty() ? entry.key : prefix + "." + entry.key;
    const auto* inner = std::get_if<TomlTable>(&entry.value.data);
    const bool section = inner && has_section(kinds, path);
    const bool axes = inner && (path + ".").rfind(axis_prefix, 0) == 0 &&
                      (path.size() < axis_prefix.size() || !find_key(kinds, path.substr(axis_prefix.size())));
    if (section || axes)
      flatten(*inner, path, source, kinds, settings);
    else
      settings.push_back({path, entry.value, fmt::format("{}:{}:{}", source, entry.line, entry.column)});
  }
}

/// `KEY=VALUE` of the command line; words and file names need no quotes.
Setting parse_override(const std::string& text) {
  const std::string place = "--set " + text.substr(0, 100);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw Failure(Exit::bad_scenario, place + ": must be KEY=VALUE");
  Setting setting{text.substr(0, equals), {}, place};
  std::erase(setting.path, '"');  // of sweep.over."model.beta", as a file has it
  const std::string value = text.substr(equals + 1);
  setting.value.data = value;
  try {
    TomlTable table = parse_toml("v = " + value, place);
    if (table.size() == 1) setting.value = std::move(table.front().value);
  } catch (const Failure&) {  // a bare word: kept as text
  }
  return setting;
}

std::vector<Setting> parse_overrides(std::span<const std::string> overrides) {
  std::vector<Setting> settings;
  for (const std::string& text : overrides) settings.push_back(parse_override(text));
  return settings;
}

/// Later settings of a path replace earlier ones; one value replaces an axis.
void replace_earlier(std::vector<Setting>& settings, std::vector<Setting> later) {
  for (Setting& setting : later) {
    std::erase_if(settings, [&](const Setting& earlier) {
      return earlier.path == setting.path || earlier.path == std::string(axis_prefix) + setting.path;
    });
    settings.push_back(std::move(setting));
  }
}

/// The names of the kinds that something holds for, in quotes.
template <class Holds>
std::string names(KindList kinds, const Holds& holds) {
  std::vector<std::string> found;
  for (const KindDescription* kind : kinds)
    if (holds(*kind)) found.push_back(toml_quoted(kind->name));
  return fmt::format("{}", fmt::join(found, ", "));
}

/// Defaults fit for the kind.
Scenario defaults(const KindDescription& kind) {
  Scenario scenario;
  scenario.kind = &kind;
  for (const Key& key : kind.own_keys) key.place(scenario);  // makes the kind's own sections
  if (kind.set_defaults) kind.set_defaults(scenario);
  return scenario;
}

const KindDescription& kind_of(const std::vector<Setting>& settings, const std::string& source, KindList kinds) {
  std::vector<std::string_view> words;
  for (const KindDescription* kind : kinds) words.push_back(kind->name);
  const std::string one = fmt::format("one of {}", fmt::join(words, ", "));
  for (const Setting& setting : settings) {
    if (setting.path != kind_key) continue;
    const auto* word = std::get_if<std::string>(&setting.value.data);
    for (const KindDescription* kind : kinds)
      if (word && *word == kind->name) return *kind;
    throw Failure(Exit::bad_scenario, fmt::format("{}: kind = {} must be {}", setting.place, to_text(setting.value), one));
  }
  throw Failure(Exit::bad_scenario, fmt::format("{}:1:1: kind is missing; it must be {}", source, one));
}

/// An axis also gives its key a value, the first: the one that the model has where no cell is meant.
void apply_axis(const Setting& setting, Scenario& scenario, KindList kinds) {
  if (!scenario.kind->sweeps)
    throw Failure(Exit::bad_scenario, fmt::format("{}: sweep.over applies only to kind = {}", setting.place,
                                                  names(kinds, [](const KindDescription& kind) { return kind.sweeps; })));
  SweepAxis axis =
      read_axis(std::string_view(setting.path).substr(axis_prefix.size()), setting.value, setting.place, *scenario.kind, kinds);
  for (const SweepAxis& earlier : scenario.sweep.over)
    if (earlier.key == axis.key)
      throw Failure(Exit::bad_scenario,
                    fmt::format("{}: {} of sweep.over was given at {} already", axis.place, axis.key, earlier.place));
  store(*find_key(*scenario.kind, axis.key), axis.values.front(), scenario);
  scenario.places[axis.key] = axis.place;
  scenario.sweep.over.push_back(std::move(axis));
}

void apply(const Setting& setting, Scenario& scenario, KindList kinds) {
  if (setting.path.rfind(axis_prefix, 0) == 0) return apply_axis(setting, scenario, kinds);
  if (setting.path + "." == axis_prefix)
    throw Failure(Exit::bad_scenario, setting.place + ": sweep.over takes keys, as in sweep.over.model.beta = [1.0, 4.0]");
  scenario.places[setting.path] = setting.place;
  if (setting.path == kind_key) return;  // it came first
  const KindDescription& kind = *scenario.kind;
  if (const Key* key = find_key(kind, setting.path)) {
    if (const auto wrong = store(*key, setting.value, scenario)) throw Failure(Exit::bad_scenario, setting.place + ": " + *wrong);
    return;
  }
  const Key* of_another = find_key(kinds, setting.path);
  if (!of_another) throw Failure(Exit::bad_scenario, setting.place + ": " + unknown_key(setting.path, kind));
  throw Failure(Exit::bad_scenario,
                fmt::format("{}: {} does not apply to kind = \"{}\", only to {}", setting.place, of_another->path, kind.name,
                            names(kinds, [&](const KindDescription& other) { return of_another->applies_to(other); })));
}

/// Checks that concern one key and the words of others.
void check_keys(const Scenario& scenario, bool is_cell) {
  for (const Key* key : keys_of(*scenario.kind)) {
    const bool given = scenario.is_given(key->path);
    if (given && !is_cell && !key->condition.empty() && !key->has_effect(scenario))
      throw scenario.failure(key->path, fmt::format("{} applies only to {}", key->path, key->condition));
    if (!given && key->required && key->has_effect(scenario))
      throw scenario.failure(key->path, fmt::format("{} is missing; it must be {}", key->path, allowed(*key)));
  }
}

}  // namespace

void check(Scenario& scenario, bool is_cell) {
  check_keys(scenario, is_cell);
  scenario.kind->check(scenario);
}

namespace {

/// Makes a file's path absolute: paths in a scenario are relative to its folder, those of --set to the current one.
void resolve(const Scenario& scenario, std::string_view key, std::string& file, const std::filesystem::path& folder) {
  if (file.empty()) return;
  const bool overridden = scenario.places.find(key)->second.rfind("--set ", 0) == 0;
  const std::filesystem::path current = std::filesystem::current_path();
  file = ((overridden ? current : current / folder) / file).lexically_normal().string();
}

}  // namespace

FlowOptions flow_options(const Scenario& scenario) {
  const FlowKeys& keys = scenario.flow;
  FlowOptions options;
  options.integration.until = keys.until;
  options.integration.rtol = keys.rtol;
  options.integration.atol = keys.atol;
  options.integration.max_steps = keys.max_steps;
  options.integration.save_at = keys.save_at;
  options.stop = keys.stop;
  options.residual = keys.residual;
  if (const auto block = single_block(scenario.model)) options.trap = Trap(*block);
  return options;
}

Failure Scenario::failure(std::string_view key, const std::string& message) const {
  const auto found = places.find(key);
  return Failure(Exit::bad_scenario, fmt::format("{}: {}", found == places.end() ? source : found->second, message));
}

Failure Scenario::failure(const DomainError& error) const {
  const std::string message = error.what();
  return failure(message.substr(0, message.find_first_of(" :")), message);
}

Scenario parse_scenario(std::string_view text, const std::string& source, const std::filesystem::path& folder,
                        std::span<const std::string> overrides, KindList kinds) {
  std::vector<Setting> settings;
  flatten(parse_toml(text, source), "", source, kinds, settings);
  replace_earlier(settings, parse_overrides(overrides));
  Scenario scenario = defaults(kind_of(settings, source, kinds));
  scenario.source = source;
  for (const Setting& setting : settings) apply(setting, scenario, kinds);
  sweep_cells(scenario);  // for its checks, which tell the axis to blame
  check(scenario);
  resolve(scenario, "geometry.file", scenario.geometry.file, folder);
  resolve(scenario, "initial.file", scenario.initial.file, folder);
  return scenario;
}

Scenario load_scenario(const std::filesystem::path& file, std::span<const std::string> overrides, KindList kinds) {
  return parse_scenario(read_text(file, 1 << 20), file.string(), file.parent_path(), overrides, kinds);
}

std::string write_scenario(const Scenario& scenario) {
  const auto line = [](std::string_view key, std::string_view value, std::string_view help) {
    return fmt::format("{:<32}  # {}\n", fmt::format("{} = {}", key, value), help);
  };
  std::string text = line(kind_key, toml_quoted(scenario.kind->name), "what to compute");
  std::string_view section;
  for (const Key* key : keys_of(*scenario.kind)) {
    if (!key->has_effect(scenario)) continue;
    const auto value = value_text(*key, scenario);
    if (!value) continue;
    if (key->section() != section) text += fmt::format("\n[{}]\n", section = key->section());
    text += line(key->path.substr(section.size() + 1), *value, key->help);
  }
  if (!scenario.sweep.over.empty()) text += "\n[sweep.over]\n";
  for (const SweepAxis& axis : scenario.sweep.over) text += axis_text(axis, *scenario.kind) + "\n";
  return text;
}

Scenario parse_model_override(std::span<const std::string> overrides, const KindDescription& kind) {
  Scenario scenario = defaults(kind);
  scenario.source = "verify";
  for (const Setting& setting : parse_overrides(overrides)) {
    const Key* key = find_key(kind, setting.path);
    if (!key || !(key->section() == "model" || key->path == "geometry.kappa"))
      throw Failure(Exit::bad_scenario,
                    fmt::format("{}: verify takes model.blocks, model.positions, model.heads, model.vocabulary, "
                                "model.gamma, model.beta and geometry.kappa",
                                setting.place));
    if (const auto wrong = store(*key, setting.value, scenario)) throw Failure(Exit::bad_scenario, setting.place + ": " + *wrong);
    scenario.places[setting.path] = setting.place;
  }
  check_model(scenario);
  return scenario;
}

}  // namespace phaselock
