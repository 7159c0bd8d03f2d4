#include "schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

namespace phaselock {

namespace {

template <class T>
ValuePlace place_of(T& value) {
  if constexpr (std::is_enum_v<T>)
    return WordPlace{&value, [](const void* p) { return int(*static_cast<const T*>(p)); },
                     [](void* p, int word) { *static_cast<T*>(p) = T(word); }};
  else
    return &value;
}

/// The place of a member along a path of member pointers.
template <auto... path>
ValuePlace at(Scenario& scenario) {
  return place_of((scenario.*....*path));
}

constexpr Kinds flow = 1U << int(Kind::flow), search = 1U << int(Kind::search), coverage = 1U << int(Kind::coverage),
                toy = 1U << int(Kind::toy), all = flow | search | coverage | toy;

constexpr long double most = 1e9L, last_seed = 9223372036854775807.0L;
constexpr Range sizes(long double low, long double high = most) { return {low, high}; }
constexpr Range positive{.low = 0, .open_low = true}, not_negative{.low = 0}, seeds{0, last_seed};

bool not_toy(const Scenario& s) { return s.kind != Kind::toy; }
bool not_embeddings(const Scenario& s) { return s.geometry.kind != GeometryKind::embeddings; }
bool is_perturbed(const Scenario& s) { return s.geometry.kind == GeometryKind::perturbed; }
bool is_embeddings(const Scenario& s) { return s.geometry.kind == GeometryKind::embeddings; }
bool has_contexts(const Scenario& s) { return s.gates.gates != GateWord::fixed; }
bool draws_start(const Scenario& s) { return s.initial.file.empty(); }

constexpr Key keys[] = {
    {"kind", at<&Scenario::kind>, all, "what to compute", {}, "flow|search|coverage|toy", 0, true},

    {"model.blocks", at<&Scenario::model, &Model::blocks>, all, "L, compressed blocks of a context", sizes(2), {}, 0, true},
    {"model.positions", at<&Scenario::model, &Model::positions>, all, "S, tokens of a block", sizes(2), {}, 0, true, not_toy},
    {"model.heads", at<&Scenario::model, &Model::heads>, all, "H", sizes(1), {}, 0, true, not_toy},
    {"model.vocabulary", at<&Scenario::model, &Model::vocabulary>, all, "N >= L S", sizes(4), {}, 0, true, not_toy},
    {"model.gamma",
     at<&Scenario::model, &Model::gamma>,
     all,
     "scale of the attention scores",
     {.low = 0, .high = 1, .open_low = true},
     {},
     0,
     true},
    {"model.beta", at<&Scenario::model, &Model::beta>, all, "scale of the logits", positive, {}, 0, true},

    {"geometry.kind",
     at<&Scenario::geometry, &GeometryKeys::kind>,
     flow | search | coverage,
     "Gram matrix of the token embeddings",
     {},
     "exact|perturbed|embeddings"},
    {"geometry.kappa",
     at<&Scenario::geometry, &GeometryKeys::kappa>,
     flow | search | coverage,
     "K = kappa 11^T + I",
     {.low = 0, .high = 1e6},
     {},
     0,
     false,
     not_embeddings,
     "geometry.kind = \"exact\" or \"perturbed\": it is fitted for embeddings"},
    {"geometry.epsilon",
     at<&Scenario::geometry, &GeometryKeys::epsilon>,
     flow | search,
     "largest change of an entry of K",
     {.low = 0, .high = 1e6},
     {},
     0,
     false,
     is_perturbed,
     "geometry.kind = \"perturbed\""},
    {"geometry.seed",
     at<&Scenario::geometry, &GeometryKeys::seed>,
     flow | search,
     "of the change",
     seeds,
     {},
     0,
     false,
     is_perturbed,
     "geometry.kind = \"perturbed\""},
    {"geometry.file",
     at<&Scenario::geometry, &GeometryKeys::file>,
     flow | search,
     ".npy, rows = tokens",
     {},
     {},
     0,
     true,
     is_embeddings,
     "geometry.kind = \"embeddings\""},
    {"geometry.normalize",
     at<&Scenario::geometry, &GeometryKeys::normalize>,
     flow | search,
     "rows to unit length first",
     {},
     {},
     0,
     false,
     is_embeddings,
     "geometry.kind = \"embeddings\""},

    {"gates.class",
     at<&Scenario::gates, &GateKeys::gates>,
     flow | search | coverage,
     "of compression",
     {},
     "linear|static|tied|uniform|oracle"},

    {"initial.radius",
     at<&Scenario::initial, &InitialKeys::radius>,
     flow | coverage,
     "rho, of the ball of initial parameters",
     {.low = 0, .high = 1e6, .open_low = true},
     {},
     0,
     false,
     draws_start,
     "a flow without initial.file"},
    {"initial.seed",
     at<&Scenario::initial, &InitialKeys::seed>,
     flow,
     "of the initial parameters",
     seeds,
     {},
     0,
     false,
     draws_start,
     "a flow without initial.file"},
    {"initial.file", at<&Scenario::initial, &InitialKeys::file>, flow,
     ".json, {\"bias\": [2][H][S]} or {\"tables\": [2][H][S][N]}"},

    {"contexts.sampling",
     at<&Scenario::contexts, &ContextKeys::sampling>,
     flow | search,
     "of the contexts",
     {},
     "balanced|independent",
     0,
     false,
     has_contexts},
    {"contexts.count",
     at<&Scenario::contexts, &ContextKeys::count>,
     flow | search,
     "number of contexts",
     sizes(1),
     {},
     0,
     false,
     has_contexts},
    {"contexts.seed",
     at<&Scenario::contexts, &ContextKeys::seed>,
     flow | search,
     "of the contexts",
     seeds,
     {},
     0,
     false,
     has_contexts},

    {"flow.until",
     at<&Scenario::flow, &FlowKeys::until>,
     flow | coverage | toy,
     "end time",
     {.low = 0, .high = 1e15, .open_low = true}},
    {"flow.stop",
     at<&Scenario::flow, &FlowKeys::stop>,
     flow | coverage,
     "at the end time, or as soon as selected",
     {},
     "time|residual"},
    {"flow.residual",
     at<&Scenario::flow, &FlowKeys::residual>,
     flow | coverage,
     "largest 1 - p of a selection",
     {.low = 0, .high = 0.5, .open_low = true}},
    {"flow.save_at",
     at<&Scenario::flow, &FlowKeys::save_at>,
     flow,
     "times whose states are kept",
     {.low = 0, .high = 1e15, .open_low = true}},
    {"flow.rtol",
     at<&Scenario::flow, &FlowKeys::rtol>,
     flow | coverage | toy,
     "relative error of a step",
     {.low = 1e-14, .high = 0.1}},
    {"flow.atol",
     at<&Scenario::flow, &FlowKeys::atol>,
     flow | coverage | toy,
     "absolute error of a step",
     {.low = 0, .high = 0.1, .open_low = true}},
    {"flow.max_steps", at<&Scenario::flow, &FlowKeys::max_steps>, flow | coverage | toy, "attempted steps of a flow", sizes(1)},

    {"search.starts", at<&Scenario::search, &SearchKeys::starts>, search, "of the continuous search", sizes(1, 1e6L)},
    {"search.seed", at<&Scenario::search, &SearchKeys::seed>, search, "of the starts", seeds},

    {"sweep.seeds", at<&Scenario::sweep, &SweepKeys::seeds>, coverage, "number of flows", sizes(1)},
    {"sweep.first_seed",
     at<&Scenario::sweep, &SweepKeys::first_seed>,
     coverage,
     "seeds are first_seed, first_seed + 1, ...",
     {0, last_seed - most}},

    {"toy.A", at<&Scenario::toy, &ToyKeys::A>, toy, "weight of the wrong answers", {.low = 0, .high = 1e12, .open_low = true}},
    {"toy.theta", at<&Scenario::toy, &ToyKeys::theta>, toy, "start, p = sigmoid(theta)", {-700, 700}, {}, 2},
};

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

std::string range_text(const Range& range, bool whole) {
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
    const std::string power = fmt::format("{:.{}e}", x, digits);
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

}  // namespace

std::string_view Key::section() const {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::span<const Key> scenario_keys() { return keys; }

const Key* find_key(std::string_view path) {
  const auto found = std::find_if(std::begin(keys), std::end(keys), [&](const Key& key) { return key.path == path; });
  return found == std::end(keys) ? nullptr : &*found;
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

std::optional<std::string> value_text(const Key& key, const Scenario& scenario) {
  Scenario copy = scenario;
  std::string text = std::visit(ValueWriter{key}, key.place(copy));
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string unknown_key(std::string_view path, std::optional<Kind> kind) {
  const auto fits = [&](const Key& key) { return !kind || key.applies_to(*kind); };
  const Key* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(2, std::min<std::size_t>(path.size(), 60) / 3) + 1;
  const std::string_view shown = path.substr(0, 60);
  for (const Key& key : keys) {
    if (!fits(key)) continue;
    const std::size_t distance = edit_distance(shown, key.path);
    if (distance < least) least = distance, nearest = &key;
  }
  const std::string_view section = path.substr(0, std::min(path.find('.'), path.size()));
  std::vector<std::string_view> siblings;
  std::vector<std::string_view> sections;
  for (const Key& key : keys) {
    if (!fits(key)) continue;
    if (key.section() == section) siblings.push_back(key.path.substr(section.size() + 1));
    if (sections.empty() || sections.back() != key.section()) sections.push_back(key.section());
  }
  std::string text = fmt::format("unknown key {}", shown);
  if (nearest) text += fmt::format("; did you mean {}?", nearest->path);
  if (!siblings.empty()) return text + fmt::format(" Keys of [{}]: {}", section, fmt::join(siblings, ", "));
  sections.erase(sections.begin());  // the one of `kind`, which has no section
  return text + fmt::format(" Allowed are kind and the sections {}", fmt::join(sections, ", "));
}

}  // namespace phaselock
