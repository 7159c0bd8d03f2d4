// A scenario: what one run computes. Every key of it is described in a table: of all kinds in keys.cpp, of one in the kind's file.
#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/coordination.hpp"
#include "flow/flow.hpp"
#include "model/errors.hpp"
#include "model/model.hpp"
#include "output/failure.hpp"
#include "schema/toml.hpp"

namespace phaselock {

struct KindDescription;                                    // kind_description.hpp
using KindList = std::span<const KindDescription* const>;  ///< of all kinds that a scenario may be of

// The order of each enumeration is that of its words in the table of keys.
enum class GeometryKind { exact, perturbed, embeddings };
enum class GateWord { linear, static_, tied, uniform, oracle };
enum class Sampling { balanced, independent };

struct GeometryKeys {
  GeometryKind kind = GeometryKind::exact;
  double kappa = 1.0;
  double epsilon = 0.05;
  std::uint64_t seed = 1;
  std::string file;  ///< absolute path; empty: none
  bool normalize = true;
};

struct GateKeys {
  GateWord gates = GateWord::linear;
};

struct InitialKeys {
  double radius = 1e-2;
  std::uint64_t seed = 1;
  std::string file;  ///< absolute path; empty: radius and seed hold
};

struct ContextKeys {
  Sampling sampling = Sampling::balanced;
  std::int64_t count = 4096;
  std::uint64_t seed = 1;
};

struct FlowKeys {
  double until = 1e6;
  StopRule stop = StopRule::certified;
  double residual = 1e-3;
  std::vector<double> save_at;
  double rtol = 1e-10, atol = 1e-12;
  std::int64_t max_steps = 100000;
};

enum class Combine { product, zip };
enum class Keep { counts, seeds };

/// One key of [sweep.over] and the values it takes (sweep_axes.hpp).
struct SweepAxis {
  std::string key;
  std::vector<TomlValue> values;
  std::string place;  ///< where it was given
};

struct SweepKeys {
  std::int64_t seeds = 10000;
  std::uint64_t first_seed = 1;
  std::int64_t chunk = 0;  ///< seeds that are computed and stored together; 0: chosen by the class of gates
  Combine combine = Combine::product;
  Keep keep = Keep::counts;
  bool compare_static = false;
  std::vector<SweepAxis> over;
};

struct Scenario {
  const KindDescription* kind = nullptr;  ///< of every scenario that was read
  Model model;
  GeometryKeys geometry;
  GateKeys gates;
  InitialKeys initial;
  ContextKeys contexts;
  FlowKeys flow;
  SweepKeys sweep;
  Coordination coordination;
  std::any own;  ///< the sections of one kind alone, a struct of that kind's file: own_keys<T>

  std::string source;                                      ///< the file's name as the user gave it
  std::map<std::string, std::string, std::less<>> places;  ///< of each key that was given: `file:line:column` or `--set K=V`

  /// A Failure (bad_scenario) at the place of a key if it was given, else at the file: `place: message`.
  Failure failure(std::string_view key, const std::string& message) const;

  /// The same for an error of the mathematics, whose message begins with the key's path.
  Failure failure(const DomainError& error) const;

  bool is_exact() const { return geometry.kind == GeometryKind::exact; }
  bool is_given(std::string_view key) const { return places.find(key) != places.end(); }
};

/// Whether gates are static biases, the same for all tokens.
inline bool is_static(const Scenario& scenario) { return scenario.gates.gates == GateWord::static_; }

/// The sections of a scenario's kind; T is the struct whose members that kind's table of keys names.
template <class T>
const T& own_keys(const Scenario& scenario) {
  return std::any_cast<const T&>(scenario.own);
}
/// The same to be changed; with the defaults if the scenario has none yet.
template <class T>
T& own_keys(Scenario& scenario) {
  T* keys = std::any_cast<T>(&scenario.own);
  return keys ? *keys : scenario.own.emplace<T>();
}

/// Checks between keys, and sets the numbers of a model that its kind leaves out. Throws Failure (bad_scenario).
/// In a cell of a sweep, keys may stand that only other cells need.
void check(Scenario& scenario, bool is_cell = false);

/// The options of a flow that a scenario's [flow] section asks for, with the trapping boxes of its model.
FlowOptions flow_options(const Scenario& scenario);

/// Reads a scenario file and applies overrides `KEY=VALUE`; relative paths in it are relative to its folder, those of
/// overrides to the current one. Throws Failure: cannot_read if the file cannot be read, bad_scenario for what does not fit the
/// tables of keys or the checks between keys.
Scenario load_scenario(const std::filesystem::path& file, std::span<const std::string> overrides, KindList kinds);

/// The same from text; `folder` is what relative paths in it are relative to.
Scenario parse_scenario(std::string_view text, const std::string& source, const std::filesystem::path& folder,
                        std::span<const std::string> overrides, KindList kinds);

/// The effective scenario: every key that has an effect, with its help as comment. Parses back to the same scenario.
std::string write_scenario(const Scenario& scenario);

/// A scenario of a kind with the default model, changed by overrides `model.* = V` and `geometry.kappa = V`, as `verify` takes
/// them; others are errors.
Scenario parse_model_override(std::span<const std::string> overrides, const KindDescription& kind);

}  // namespace phaselock
