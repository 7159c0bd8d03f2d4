#include "schema/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "output/files.hpp"
#include "proofs/trapping.hpp"
#include "schema/schema.hpp"
#include "schema/sweep_axes.hpp"
#include "schema/toml.hpp"
#include "statistics/occupancy.hpp"

namespace phaselock {

namespace {

/// One key that was given, wherever.
struct Setting {
  std::string path;
  TomlValue value;
  std::string place;
};

/// Settings of a table in the order of the text; sections that hold no known key appear as settings, to be refused.
void flatten(const TomlTable& table, const std::string& prefix, const std::string& source, std::vector<Setting>& settings) {
  for (const TomlEntry& entry : table) {
    const std::string path = prefix.empty() ? entry.key : prefix + "." + entry.key;
    const auto* inner = std::get_if<TomlTable>(&entry.value.data);
    const auto keys = scenario_keys();
    const bool section = inner && std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.section() == path; });
    const bool axes = inner && (path + ".").rfind(axis_prefix, 0) == 0 &&
                      (path.size() < axis_prefix.size() || !find_key(path.substr(axis_prefix.size())));
    if (section || axes)
      flatten(*inner, path, source, settings);
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

std::string kinds_text(const Key& key) {
  std::vector<std::string> names;
  for (const Kind kind : {Kind::flow, Kind::search, Kind::coverage, Kind::toy, Kind::stability, Kind::diagram})
    if (key.applies_to(kind)) names.push_back(toml_quoted(name(kind)));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Defaults fit for the kind.
Scenario defaults(Kind kind) {
  Scenario scenario;
  scenario.kind = kind;
  if (kind == Kind::search) {
    scenario.gates.gates = GateWord::oracle;
    scenario.contexts.sampling = Sampling::independent;
    scenario.contexts.count = 1;
  }
  if (kind == Kind::coverage) scenario.gates.gates = GateWord::fixed;
  if (kind == Kind::toy) scenario.model.positions = scenario.model.heads = 2;
  return scenario;
}

Kind kind_of(const std::vector<Setting>& settings, const std::string& source) {
  const Key& key = *find_key("kind");
  for (const Setting& setting : settings) {
    if (setting.path != key.path) continue;
    Scenario scenario;
    if (const auto wrong = store(key, setting.value, scenario)) throw Failure(Exit::bad_scenario, setting.place + ": " + *wrong);
    return scenario.kind;
  }
  throw Failure(Exit::bad_scenario, fmt::format("{}:1:1: kind is missing; it must be {}", source, allowed(key)));
}

/// An axis also gives its key a value, the first: the one that the model has where no cell is meant.
void apply_axis(const Setting& setting, Scenario& scenario) {
  if (scenario.kind != Kind::coverage)
    throw Failure(Exit::bad_scenario, setting.place + ": sweep.over applies only to kind = \"coverage\"");
  SweepAxis axis = read_axis(std::string_view(setting.path).substr(axis_prefix.size()), setting.value, setting.place);
  for (const SweepAxis& earlier : scenario.sweep.over)
    if (earlier.key == axis.key)
      throw Failure(Exit::bad_scenario,
                    fmt::format("{}: {} of sweep.over was given at {} already", axis.place, axis.key, earlier.place));
  store(*find_key(axis.key), axis.values.front(), scenario);
  scenario.places[axis.key] = axis.place;
  scenario.sweep.over.push_back(std::move(axis));
}

void apply(const Setting& setting, Scenario& scenario) {
  if (setting.path.rfind(axis_prefix, 0) == 0) return apply_axis(setting, scenario);
  if (setting.path + "." == axis_prefix)
    throw Failure(Exit::bad_scenario, setting.place + ": sweep.over takes keys, as in sweep.over.model.beta = [1.0, 4.0]");
  const Key* key = find_key(setting.path);
  if (!key) throw Failure(Exit::bad_scenario, setting.place + ": " + unknown_key(setting.path, scenario.kind));
  if (!key->applies_to(scenario.kind))
    throw Failure(Exit::bad_scenario, fmt::format("{}: {} does not apply to kind = \"{}\", only to {}", setting.place, key->path,
                                                  name(scenario.kind), kinds_text(*key)));
  if (const auto wrong = store(*key, setting.value, scenario)) throw Failure(Exit::bad_scenario, setting.place + ": " + *wrong);
  scenario.places[setting.path] = setting.place;
}

/// Checks that concern one key and the words of others.
void check_keys(const Scenario& scenario, bool is_cell) {
  for (const Key& key : scenario_keys()) {
    const bool given = scenario.is_given(key.path);
    if (given && !is_cell && !key.condition.empty() && !key.has_effect(scenario))
      throw scenario.failure(key.path, fmt::format("{} applies only to {}", key.path, key.condition));
    if (!given && key.required && key.has_effect(scenario))
      throw scenario.failure(key.path, fmt::format("{} is missing; it must be {}", key.path, allowed(key)));
  }
}

void check_gates(const Scenario& s) {
  const GateWord gates = s.gates.gates;
  if ((gates == GateWord::oracle) != (s.kind == Kind::search) && s.kind != Kind::toy)
    throw s.failure("gates.class",
                    s.kind == Kind::search
                        ? "gates.class must be \"oracle\" for kind = \"search\": gates are trained by kind = \"flow\""
                        : "gates.class = \"oracle\" belongs to kind = \"search\"; here it must be one of linear, "
                          "static, tied, uniform");
  if (s.kind == Kind::coverage && !is_static(s) && gates != GateWord::linear)
    throw s.failure("gates.class", "gates.class must be \"static\" or \"linear\" for kind = \"coverage\"");
  const Coordination& c = s.coordination;
  if (s.kind == Kind::coverage && !is_static(s) && (c.repulsion != 0.0 || c.orthogonal || c.anneal_until != 0.0))
    throw s.failure("gates.class", "gates.class must be \"static\" with [coordination]");
  if (is_static(s) && !s.is_exact())
    throw s.failure(s.is_given("geometry.kind") ? "geometry.kind" : "gates.class",
                    "geometry.kind must be \"exact\" for static gates: they are not invariant at any other geometry");
  if (s.kind == Kind::search && s.contexts.sampling != Sampling::independent)
    throw s.failure("contexts.sampling", "contexts.sampling must be \"independent\" for kind = \"search\"");
}

/// What annealing would replace, without a time until which: left out that time is 0, never.
void check_annealing(const Scenario& s) {
  for (const std::string key : {"coordination.anneal_beta", "coordination.anneal_vocabulary"})
    if (s.is_given(key) && !s.is_given("coordination.anneal_until"))
      throw s.failure(key, key + " has no effect without coordination.anneal_until, the time until which it holds");
}

/// A coverage run counts shapes of occupancy.
void check_shapes(const Scenario& s) {
  try {
    occupancy_shapes(s.model.heads, s.model.phases());
  } catch (const DomainError& error) {
    throw s.failure("model.heads", fmt::format("model.heads = {}: {}", s.model.heads, error.what()));
  }
}

void check_times(const Scenario& s) {
  const std::vector<double>& times = s.flow.save_at;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (k > 0 && !(times[k] > times[k - 1]))
      throw s.failure("flow.save_at", fmt::format("flow.save_at must increase: {} does not follow {}", times[k], times[k - 1]));
    if (times[k] > s.flow.until)
      throw s.failure("flow.save_at", fmt::format("flow.save_at = {} must be <= flow.until = {}", times[k], s.flow.until));
  }
}

void check_stability(const Scenario& s) {
  const std::vector<double>& pattern = s.stability.pattern;
  const auto fits = [&](double r) { return r == std::floor(r) && r < s.model.phases(); };
  if (int(pattern.size()) != s.model.heads || !std::all_of(pattern.begin(), pattern.end(), fits))
    throw s.failure("stability.pattern",
                    fmt::format("stability.pattern must be a list of {} whole numbers from 0 to {}: a key offset for each of "
                                "model.heads, none ending a block",
                                s.model.heads, s.model.phases() - 1));
  if (!(s.stability.beta_range[0] < s.stability.beta_range[1]))
    throw s.failure("stability.beta_range", "stability.beta_range must increase");
}

void check_axis(const Scenario& s, const std::string& key, DiagramNumber number, const std::vector<double>& range) {
  const DiagramQuestion what = s.diagram.what;
  const bool of_start = number == DiagramNumber::rho || number == DiagramNumber::kappa;
  if ((of_start && what != DiagramQuestion::theorem2) || (number == DiagramNumber::vocabulary && what == DiagramQuestion::n_star))
    throw s.failure(key, fmt::format("{} = \"{}\" has no effect on diagram.what = \"{}\"", key, name(number), name(what)));
  const double most = DiagramAxis{number, 1, 1}.is_whole() ? 1e9 : number == DiagramNumber::gamma ? 1.0 : 1e6;
  if (!(range[0] < range[1] && range[1] <= most))
    throw s.failure(key + "_range", fmt::format("{}_range of {} must increase, to at most {:g}", key, name(number), most));
}

void check_diagram(const Scenario& s) {
  check_axis(s, "diagram.x", s.diagram.x, s.diagram.x_range);
  check_axis(s, "diagram.y", s.diagram.y, s.diagram.y_range);
  if (s.diagram.x == s.diagram.y) throw s.failure("diagram.y", "diagram.y must differ from diagram.x");
}

/// The toy has two phases and two heads of its own; the other sizes only make its Model a valid one.
void set_toy_sizes(Model& model) {
  model.positions = model.heads = 2;
  model.vocabulary = int(std::min(2LL * model.blocks, 2000000000LL));
}

/// Numbers on an axis get a value of it, so that the model off the axes is a valid one.
void set_axis_numbers(Scenario& s) {
  const auto put = [&](DiagramNumber number, const std::vector<double>& range) {
    if (number == DiagramNumber::vocabulary) s.model.vocabulary = int(range[1]);
    if (number == DiagramNumber::positions) s.model.positions = int(std::ceil(range[0]));
    if (number == DiagramNumber::heads) s.model.heads = int(std::ceil(range[0]));
    if (number == DiagramNumber::beta) s.model.beta = range[0];
    if (number == DiagramNumber::gamma) s.model.gamma = range[0];
  };
  put(s.diagram.x, s.diagram.x_range);
  put(s.diagram.y, s.diagram.y_range);
}

}  // namespace

void check(Scenario& scenario, bool is_cell) {
  check_keys(scenario, is_cell);
  check_gates(scenario);
  check_annealing(scenario);
  check_times(scenario);
  if (scenario.kind == Kind::toy) set_toy_sizes(scenario.model);
  if (scenario.kind == Kind::diagram) {
    check_diagram(scenario);
    set_axis_numbers(scenario);
  }
  try {
    validate(scenario.model);
    if (scenario.kind == Kind::coverage) validate(require_single_block(scenario.model), scenario.coordination);
  } catch (const DomainError& error) {
    throw scenario.failure(error);
  }
  if (scenario.kind == Kind::coverage) check_shapes(scenario);
  if (scenario.kind == Kind::stability) check_stability(scenario);
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

std::string_view name(Kind kind) {
  static constexpr std::string_view names[] = {"flow", "search", "coverage", "toy", "stability", "diagram"};
  return names[int(kind)];
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
                        std::span<const std::string> overrides) {
  std::vector<Setting> settings;
  flatten(parse_toml(text, source), "", source, settings);
  replace_earlier(settings, parse_overrides(overrides));
  Scenario scenario = defaults(kind_of(settings, source));
  scenario.source = source;
  for (const Setting& setting : settings) apply(setting, scenario);
  sweep_cells(scenario);  // for its checks, which tell the axis to blame
  check(scenario);
  resolve(scenario, "geometry.file", scenario.geometry.file, folder);
  resolve(scenario, "initial.file", scenario.initial.file, folder);
  return scenario;
}

Scenario load_scenario(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return parse_scenario(read_text(file, 1 << 20), file.string(), file.parent_path(), overrides);
}

std::string write_scenario(const Scenario& scenario) {
  std::string text;
  std::string_view section;
  for (const Key& key : scenario_keys()) {
    if (!key.has_effect(scenario)) continue;
    const auto value = value_text(key, scenario);
    if (!value) continue;
    if (key.section() != section) text += fmt::format("\n[{}]\n", section = key.section());
    const std::string_view last = section.empty() ? key.path : key.path.substr(section.size() + 1);
    text += fmt::format("{:<32}  # {}\n", fmt::format("{} = {}", last, *value), key.help);
  }
  if (!scenario.sweep.over.empty()) text += "\n[sweep.over]\n";
  for (const SweepAxis& axis : scenario.sweep.over) text += axis_text(axis) + "\n";
  return text;
}

Scenario parse_model_override(std::span<const std::string> overrides) {
  Scenario scenario;
  scenario.source = "verify";
  for (const Setting& setting : parse_overrides(overrides)) {
    const Key* key = find_key(setting.path);
    if (!key || !(key->section() == "model" || key->path == "geometry.kappa"))
      throw Failure(Exit::bad_scenario,
                    fmt::format("{}: verify takes model.blocks, model.positions, model.heads, model.vocabulary, "
                                "model.gamma, model.beta and geometry.kappa",
                                setting.place));
    apply(setting, scenario);
  }
  try {
    validate(scenario.model);
  } catch (const DomainError& error) {
    throw scenario.failure(error);
  }
  return scenario;
}

}  // namespace phaselock
