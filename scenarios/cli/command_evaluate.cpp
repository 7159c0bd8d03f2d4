// phaselock evaluate
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "cli/commands.hpp"
#include "flow/flow.hpp"
#include "kernels/table_loss.hpp"
#include "loss/geometry.hpp"
#include "model/contexts.hpp"
#include "model/errors.hpp"
#include "output/failure.hpp"

namespace phaselock {

namespace {

const Json& member(const Json& object, const char* key, const std::string& file) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end())
    throw Failure(
        Exit::bad_data,
        fmt::format("{}: must be an object with L, S, H, N, gamma, beta, kappa, contexts, tables; {} is missing", file, key));
  return *found;
}

int whole(const Json& object, const char* key, const std::string& file) {
  const Json& value = member(object, key, file);
  constexpr int most = std::numeric_limits<int>::max();
  if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > most)
    throw Failure(Exit::bad_data, fmt::format("{}: {} = {} must be a whole number from 1 to {}", file, key, value.dump(), most));
  return value.get<int>();
}

double number(const Json& object, const char* key, const std::string& file) {
  const Json& value = member(object, key, file);
  if (!value.is_number())
    throw Failure(Exit::bad_data, fmt::format("{}: {} = {} must be a number", file, key, value.dump().substr(0, 40)));
  return value.get<double>();
}

Contexts read_contexts(const Json& list, const Model& model, const std::string& file) {
  if (!list.is_array() || list.empty()) throw Failure(Exit::bad_data, file + ": contexts must be a list of lists of L S tokens");
  const std::array<std::size_t, 2> shape = {list.size(), std::size_t(model.slots())};
  std::vector<Token> tokens;
  for (const double token : read_numbers(list, shape, "contexts", file)) {
    if (token != std::floor(token) || token < 0 || token >= model.vocabulary)
      throw Failure(Exit::bad_data,
                    fmt::format("{}: contexts hold {}, not a token from 0 to {}", file, token, model.vocabulary - 1));
    tokens.push_back(Token(token));
  }
  return Contexts::from_tokens(model, std::move(tokens));
}

}  // namespace

int command_evaluate(const std::string& file) {
  const Json input = read_json(file);
  Model model;
  model.blocks = whole(input, "L", file);
  model.positions = whole(input, "S", file);
  model.heads = whole(input, "H", file);
  model.vocabulary = whole(input, "N", file);
  model.gamma = number(input, "gamma", file);
  model.beta = number(input, "beta", file);
  try {
    validate(model);
    const Geometry geometry = Geometry::exact(number(input, "kappa", file), model.vocabulary);
    const std::array<std::size_t, 4> shape = {2, std::size_t(model.heads), std::size_t(model.positions),
                                              std::size_t(model.vocabulary)};
    const std::vector<double> tables = read_numbers(member(input, "tables", file), shape, "tables", file);
    const Contexts contexts = read_contexts(member(input, "contexts", file), model, file);
    TableLoss sampled(model, geometry, contexts);
    const TableVelocity result = table_velocity(sampled, tables);
    const auto lists = {2, model.heads, model.positions, model.vocabulary};
    const Json loss = result.loss;
    print(dump({{"loss", loss}, {"gradient", nested(result.gradient, lists)}, {"velocity", nested(result.velocity, lists)}}));
  } catch (const DomainError& error) {
    throw Failure(Exit::bad_data, fmt::format("{}: {}", file, error.what()));
  }
  return int(Exit::done);
}

}  // namespace phaselock
