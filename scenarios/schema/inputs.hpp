// What a scenario's data files hold, checked against its model.
#pragma once

#include <optional>
#include <vector>

#include "loss/geometry.hpp"
#include "model/contexts.hpp"
#include "output/npy.hpp"
#include "schema/scenario.hpp"

namespace phaselock {

/// Header of geometry.file, if the scenario has one. Throws Failure (bad_data) unless it has model.vocabulary rows.
std::optional<NpyHeader> embeddings_header(const Scenario& scenario);

/// Checks that every data file of the scenario can be read and fits the model, without building a geometry.
void check_inputs(const Scenario& scenario);

/// Builds the scenario's geometry. Failures of the mathematics name the scenario's key or file.
Geometry make_geometry(const Scenario& scenario);

/// Contexts of a flow or search; at exact geometry a search has one, for all are equivalent.
Contexts make_contexts(const Scenario& scenario);

/// Number of contexts that make_contexts would sample.
double context_count(const Scenario& scenario);

/// Start of a static flow, biases [2][H][S].
std::vector<double> initial_biases(const Scenario& scenario);

/// Start of a flow of tables [2][H][S][N].
std::vector<double> initial_tables(const Scenario& scenario, const Geometry& geometry);

}  // namespace phaselock
