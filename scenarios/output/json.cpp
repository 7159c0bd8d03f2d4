#include "output/json.hpp"

#include <fmt/format.h>

#include "output/failure.hpp"
#include "output/files.hpp"

namespace phaselock {

namespace {

constexpr std::size_t largest_json = std::size_t(1) << 30;

void collect(const Json& value, std::span<const std::size_t> shape, const std::string& place, std::vector<double>& numbers) {
  if (shape.empty()) {
    if (!value.is_number()) throw Failure(Exit::bad_data, fmt::format("{} must be a number, it is {}", place, value.type_name()));
    numbers.push_back(value.get<double>());
    return;
  }
  if (!value.is_array()) throw Failure(Exit::bad_data, fmt::format("{} must be a list, it is {}", place, value.type_name()));
  if (value.size() != shape[0])
    throw Failure(Exit::bad_data, fmt::format("{} has {} entries, it must have {}", place, value.size(), shape[0]));
  for (std::size_t k = 0; k < shape[0]; ++k) collect(value[k], shape.subspan(1), fmt::format("{}[{}]", place, k), numbers);
}

Json nest(const double*& next, std::span<const int> shape) {
  if (shape.empty()) return Json(*next++);
  Json list = Json::array();
  for (int k = 0; k < shape[0]; ++k) list.push_back(nest(next, shape.subspan(1)));
  return list;
}

}  // namespace

Json read_json(const std::filesystem::path& file) {
  const std::string text = read_text(file, largest_json);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw Failure(Exit::bad_data, fmt::format("{}: not JSON: {}", file.string(), error.what()));
  }
}

std::vector<double> read_numbers(const Json& value, std::span<const std::size_t> shape, const std::string& name,
                                 const std::filesystem::path& file) {
  std::vector<double> numbers;
  collect(value, shape, fmt::format("{}: {}", file.string(), name), numbers);
  return numbers;
}

Json nested(std::span<const double> numbers, std::initializer_list<int> shape) {
  const double* next = numbers.data();
  return nest(next, {shape.begin(), shape.size()});
}

Json branches(const Model& model, std::span<const double> weights) {
  const std::size_t half = model.branch_rows();
  return {{"pK", nested(weights.first(half), {model.heads, model.positions})},
          {"pV", nested(weights.subspan(half), {model.heads, model.positions})}};
}

Json model_json(const Model& model) {
  return {{"blocks", model.blocks},         {"positions", model.positions}, {"heads", model.heads},
          {"vocabulary", model.vocabulary}, {"gamma", model.gamma},         {"beta", model.beta}};
}

std::string dump(const Json& document) { return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace phaselock
