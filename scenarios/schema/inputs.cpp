#include "schema/inputs.hpp"

#include <fmt/format.h>

#include <array>

#include "model/gates.hpp"
#include "output/json.hpp"

namespace phaselock {

namespace {

/// Biases or tables of initial.file.
struct Start {
  std::vector<double> bias, tables;  ///< one of them is empty
};

Start read_start(const Scenario& scenario) {
  const Model& model = scenario.model;
  const std::string& file = scenario.initial.file;
  const Json start = read_json(file);
  const std::array<std::size_t, 4> shape = {2, std::size_t(model.heads), std::size_t(model.positions),
                                            std::size_t(model.vocabulary)};
  const bool bias = start.is_object() && start.contains("bias"), tables = start.is_object() && start.contains("tables");
  if (bias == tables)
    throw Failure(Exit::bad_data, file + ": must hold one of {\"bias\": [2][H][S]} and {\"tables\": [2][H][S][N]}");
  if (tables && is_static(scenario))
    throw Failure(Exit::bad_data, file + ": static gates start from {\"bias\": [2][H][S]}, not from tables");
  if (bias) return {read_numbers(start["bias"], std::span(shape).first(3), "bias", file), {}};
  return {{}, read_numbers(start["tables"], shape, "tables", file)};
}

}  // namespace

std::optional<NpyHeader> embeddings_header(const Scenario& scenario) {
  if (scenario.geometry.kind != GeometryKind::embeddings) return std::nullopt;
  const NpyHeader header = read_npy_header(scenario.geometry.file);
  if (header.rows != scenario.model.vocabulary)
    throw Failure(Exit::bad_data,
                  fmt::format("{}: model.vocabulary = {} must be the number of rows of {}, which is {}",
                              scenario.is_given("model.vocabulary") ? scenario.places.at("model.vocabulary") : scenario.source,
                              scenario.model.vocabulary, scenario.geometry.file, header.rows));
  return header;
}

void check_inputs(const Scenario& scenario) {
  if (embeddings_header(scenario)) read_npy(scenario.geometry.file);
  if (!scenario.initial.file.empty()) read_start(scenario);
}

Geometry make_geometry(const Scenario& scenario) {
  const GeometryKeys& keys = scenario.geometry;
  const int N = scenario.model.vocabulary;
  if (keys.kind == GeometryKind::embeddings) {
    Eigen::MatrixXd rows = read_npy(keys.file);
    try {
      return Geometry::embeddings(std::move(rows), keys.normalize);
    } catch (const DomainError& error) {
      throw Failure(Exit::bad_data, fmt::format("{}: {}", keys.file, error.what()));
    }
  }
  try {
    return keys.kind == GeometryKind::exact ? Geometry::exact(keys.kappa, N)
                                            : Geometry::perturbed(keys.kappa, keys.epsilon, keys.seed, N);
  } catch (const DomainError& error) {
    throw scenario.failure(error);
  }
}

double context_count(const Scenario& scenario) {
  if (scenario.gates.gates == GateWord::oracle && scenario.is_exact()) return 1;
  const double count = double(scenario.contexts.count);
  if (scenario.contexts.sampling == Sampling::independent) return count;
  const double group = double(balanced_group(scenario.model));
  return std::ceil(count / group) * group;
}

Contexts make_contexts(const Scenario& scenario) {
  const std::size_t count = std::size_t(context_count(scenario));
  return scenario.contexts.sampling == Sampling::balanced ? sample_balanced(scenario.model, count, scenario.contexts.seed)
                                                          : sample_independent(scenario.model, count, scenario.contexts.seed);
}

std::vector<double> initial_biases(const Scenario& scenario) {
  if (!scenario.initial.file.empty()) return read_start(scenario).bias;
  return initial_bias(scenario.model, scenario.geometry.kappa, scenario.initial.radius, scenario.initial.seed);
}

std::vector<double> initial_tables(const Scenario& scenario, const Geometry& geometry) {
  if (scenario.initial.file.empty()) return geometry.initial_tables(scenario.model, scenario.initial.radius, scenario.initial.seed);
  Start start = read_start(scenario);
  return start.tables.empty() ? tables_from_bias(scenario.model, start.bias) : std::move(start.tables);
}

}  // namespace phaselock
