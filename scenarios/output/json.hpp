// JSON files in, numbers and gate weights out.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace phaselock {

using Json = nlohmann::ordered_json;  ///< objects keep the order in which they are filled

/// Parses a file. Throws Failure: cannot_read if it is missing, bad_data with the byte if it is not JSON.
Json read_json(const std::filesystem::path& file);

/// The numbers of nested lists of the given shape, row-major. Throws Failure (bad_data) `file: name ...` for another shape.
std::vector<double> read_numbers(const Json& value, std::span<const std::size_t> shape, const std::string& name,
                                 const std::filesystem::path& file);

/// Nested lists of the given shape from row-major numbers; what is not finite becomes null.
Json nested(std::span<const double> numbers, std::initializer_list<int> shape);

/// {"pK": [H][S], "pV": [H][S]} of weights [2][H][S].
Json branches(const Model& model, std::span<const double> weights);

Json model_json(const Model& model);

/// A document as text; what is not finite is null.
std::string dump(const Json& document);

}  // namespace phaselock
