#include "claims/toy.hpp"

#include <fmt/format.h>

namespace phaselock {

VectorField toy_field(const Toy& toy) {
  return [toy](const State& theta, State& rate) {
    const ToyPoint v = toy_velocity(toy, toy_weights({theta[0], theta[1]}));
    rate = {v[0], v[1]};
  };
}

std::vector<Assumption> toy_assumptions(const SingleBlock& model) {
  return {{fmt::format("L = {} >= 4, so that w is convex", model.blocks), model.blocks >= 4}};
}

SingleBlock toy_model(const VerifyOptions& options) { return options.model.value_or(SingleBlock{4, 2, 2, 8, 1.0, 4.0}); }

}  // namespace phaselock
