// Tables of scenario keys: path, type, range or words, when each has an effect, and help. One table has the keys that kinds share,
// each kind has one of its own sections. Parsing, overrides, messages and the effective scenario come from them. Only `kind` itself
// is in none: it says which of them hold.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/scenario.hpp"
#include "schema/toml.hpp"

namespace phaselock {

constexpr std::string_view kind_key = "kind";  ///< names the kind; in no table

/// Where a key's value lives in a scenario; words are enumerations, in the order of the key's words.
struct WordPlace {
  void* place;
  int (*get)(const void*);
  void (*set)(void*, int);
};
using ValuePlace = std::variant<int*, std::int64_t*, std::uint64_t*, double*, bool*, std::string*, std::vector<double>*, WordPlace>;

/// Allowed numbers, of each entry for lists.
struct Limits {
  long double low = -std::numeric_limits<long double>::infinity();
  long double high = std::numeric_limits<long double>::infinity();
  bool open_low = false, open_high = false;

  bool contains(long double x) const { return (open_low ? x > low : x >= low) && (open_high ? x < high : x <= high); }
};

struct Key {
  std::string_view path;
  ValuePlace (*place)(Scenario&);
  std::string_view help;
  Limits range{};
  std::string_view words{};  ///< "exact|perturbed|embeddings"
  std::size_t length = 0;    ///< of a list; 0: any
  bool required = false;
  bool (*applies)(const Scenario&) = nullptr;  ///< beyond the kind; null: always
  std::string_view condition{};                ///< the same in words; empty: without effect otherwise, but allowed to stand
  bool in_factors = false;                     ///< a range of more than a factor of ten is cut into equal factors

  std::string_view section() const;
  bool applies_to(const KindDescription& kind) const;
  bool has_effect(const Scenario& scenario) const;  ///< of a kind
  bool is_whole() const;                            ///< whether it takes whole numbers alone

  // For the table: the same key, changed in one respect.
  constexpr Key in(Limits numbers) const {
    Key key = *this;
    key.range = numbers;
    return key;
  }
  constexpr Key one_of(std::string_view list) const {
    Key key = *this;
    key.words = list;
    return key;
  }
  constexpr Key of_length(std::size_t count) const {
    Key key = *this;
    key.length = count;
    return key;
  }
  constexpr Key needed() const {
    Key key = *this;
    key.required = true;
    return key;
  }
  /// An error to give it otherwise.
  constexpr Key only(bool (*when)(const Scenario&), std::string_view in_words) const {
    Key key = *this;
    key.applies = when;
    key.condition = in_words;
    return key;
  }
  /// Without effect otherwise.
  constexpr Key effect(bool (*when)(const Scenario&)) const { return only(when, {}); }
  constexpr Key by_factors() const {
    Key key = *this;
    key.in_factors = true;
    return key;
  }
};

/// The keys of sections that more than one kind takes, or that sweeps take.
std::span<const Key> shared_keys();

/// The keys of a kind: those of the shared table that it takes, then its own.
std::vector<const Key*> keys_of(const KindDescription& kind);

/// A key of a kind; null if it has none of that path.
const Key* find_key(const KindDescription& kind, std::string_view path);
/// A key of any of the kinds.
const Key* find_key(KindList kinds, std::string_view path);
/// A key of the shared table that the program itself names.
const Key& shared_key(std::string_view path);

/// What values a key takes, as in "must be ...": "a whole number from 2 to 10", "> 0", "one of a, b".
std::string allowed(const Key& key);

/// Stores a value; what is wrong with it otherwise, as `model.beta = -1 must be > 0`.
std::optional<std::string> store(const Key& key, const TomlValue& value, Scenario& scenario);

/// Puts a number where a key's value lives, rounded if that is a whole one. Limits are not looked at: they are the caller's to
/// check.
void put_number(const Key& key, double value, Scenario& scenario);

/// The value of a key as TOML; nothing for an empty list or path.
std::optional<std::string> value_text(const Key& key, const Scenario& scenario);

/// `unknown key ...` with the nearest key and the keys of its section for this kind.
std::string unknown_key(std::string_view path, const KindDescription& kind);

}  // namespace phaselock
