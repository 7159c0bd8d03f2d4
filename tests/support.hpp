// What tests share: reference cases, finite differences, comparison of vectors, random gates.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "model/gates.hpp"
#include "model/random.hpp"
#include "model/single_block.hpp"
#include "paths.hpp"

namespace phaselock::test {

/// A file of tests/data.
inline nlohmann::json read_json(const std::string& name) {
  std::ifstream file(paths::data_folder + "/" + name);
  return nlohmann::json::parse(file);
}

/// The numbers of nested arrays, in order.
template <class Number = double>
std::vector<Number> flatten(const nlohmann::json& nested) {
  if (!nested.is_array()) return {nested.get<Number>()};
  std::vector<Number> flat;
  for (const auto& part : nested) {
    const std::vector<Number> inner = flatten<Number>(part);
    flat.insert(flat.end(), inner.begin(), inner.end());
  }
  return flat;
}

/// The model of a reference case: keys L S H N gamma beta.
inline SingleBlock model_of(const nlohmann::json& c) {
  return {c.at("L"), c.at("S"), c.at("H"), c.at("N"), c.at("gamma"), c.at("beta")};
}

inline double max_norm(std::span<const double> x) {
  double largest = 0.0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

/// max |x - expected| / max |expected|; infinity for unequal lengths or a value that is not finite.
inline double relative_error(std::span<const double> x, std::span<const double> expected) {
  if (x.size() != expected.size()) return INFINITY;
  double largest = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!std::isfinite(x[k])) return INFINITY;
    largest = std::max(largest, std::abs(x[k] - expected[k]));
  }
  return largest / max_norm(expected);
}

/// Gradient of f at x by central differences of fourth order, error O(step^4) + O(1e-16 / step) in units of f.
template <class F>
std::vector<double> finite_differences(const F& f, std::vector<double> x, double step = 1e-3) {
  std::vector<double> gradient(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double centre = x[k];
    const auto at = [&](double offset) {
      x[k] = centre + offset * step;
      return f(x);
    };
    gradient[k] = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step);
    x[k] = centre;
  }
  return gradient;
}

/// Normal numbers of standard deviation `scale`.
inline std::vector<double> normals(std::size_t count, double scale, std::uint64_t seed) {
  Stream stream(seed, Purpose::choice);
  std::vector<double> x(count);
  for (double& value : x) value = scale * stream.normal();
  return x;
}

/// A cell, drawn with its probability.
inline int choose(Stream& stream, std::span<const double> probabilities) {
  double x = stream.uniform();
  std::size_t k = 0;
  while (k + 1 < probabilities.size() && x >= probabilities[k]) x -= probabilities[k++];
  return int(k);
}

/// A random model the theorems speak of, S at most `largest_positions`.
inline SingleBlock random_theorem_model(Stream& stream, int largest_positions = 5) {
  SingleBlock model;
  model.blocks = 4 + int(stream.below(3));
  model.positions = 3 + int(stream.below(largest_positions - 2));
  model.heads = 1 + int(stream.below(model.positions - 1));
  model.gamma = 0.2 + 0.8 * stream.uniform();
  model.beta = 0.2 + 8.0 * stream.uniform();
  model.vocabulary = model.slots() + int(stream.below(2000));
  return model;
}

/// The same with more of the small vocabularies and large betas, where Theorem 1 is in question.
inline SingleBlock random_contested_model(Stream& stream) {
  SingleBlock model = random_theorem_model(stream);
  model.beta = 0.5 + 10.0 * stream.uniform();
  model.vocabulary = model.slots() + int(std::exp(8.0 * stream.uniform()));
  return model;
}

/// Gates of one context with softmax weights of independent normal logits of standard deviation `scale`.
inline ContextGates random_gates(const Model& model, std::uint64_t seed, double scale = 1.0) {
  ContextGates gates(model);
  const std::vector<double> logits = normals(2 * gates.key.size(), scale, seed);
  for (std::size_t gate = 0; gate < gates.key.size(); gate += model.positions) {
    softmax(logits.data() + gate, model.positions, gates.key.data() + gate);
    softmax(logits.data() + gates.key.size() + gate, model.positions, gates.value.data() + gate);
  }
  return gates;
}

/// Key weights, then value weights.
inline std::vector<double> joined(const ContextGates& gates) {
  std::vector<double> all = gates.key;
  all.insert(all.end(), gates.value.begin(), gates.value.end());
  return all;
}

inline ContextGates split(const Model& model, std::span<const double> all) {
  ContextGates gates(model);
  std::copy_n(all.begin(), gates.key.size(), gates.key.begin());
  std::copy_n(all.begin() + gates.key.size(), gates.value.size(), gates.value.begin());
  return gates;
}

/// Models of different shapes and scales that gradients are tested on.
inline std::vector<SingleBlock> test_models() {
  return {
      {4, 3, 1, 12, 1.0, 1.0}, {4, 4, 3, 40, 0.7, 3.0}, {5, 3, 2, 15, 0.4, 8.0}, {2, 2, 1, 5, 1.0, 2.0}, {3, 5, 6, 20, 0.9, 1.5}};
}

}  // namespace phaselock::test
