// What reading and writing a scenario must know of its kind. How a kind is run is described in kinds/kind.hpp.
#pragma once

#include <span>
#include <string_view>

#include "schema/scenario.hpp"
#include "schema/schema.hpp"

namespace phaselock {

struct KindDescription {
  std::string_view name;  ///< kind = "name"

  /// What it takes of the shared table: sections, "model", or single keys, "flow.until".
  std::span<const std::string_view> takes;

  /// Keys of sections of its own; their values are members of one struct of the kind's file (`own_key`).
  std::span<const Key> own_keys = {};

  /// Whether it takes [sweep.over], has shards, and leaves a store of seeds.
  bool sweeps = false;

  /// Changes defaults of shared keys; null: none.
  void (*set_defaults)(Scenario&) = nullptr;

  /// Keys it takes that have no effect on this scenario, beyond what the table says of them; null: none.
  bool (*is_idle)(const Scenario&, const Key&) = nullptr;

  /// Checks between keys, and sets what the kind leaves out of the model; includes check_model. Throws Failure (bad_scenario).
  void (*check)(Scenario&) = nullptr;
};

/// Checks for kinds to call. Throw Failure (bad_scenario).
void check_model(const Scenario& scenario);            ///< the model's own domain
void check_trained_gates(const Scenario& scenario);    ///< gates.class is not "oracle"
void check_static_geometry(const Scenario& scenario);  ///< static gates are at exact geometry

}  // namespace phaselock
