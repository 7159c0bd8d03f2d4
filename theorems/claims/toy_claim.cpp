#include <fmt/format.h>

#include <cmath>

#include "claims/checks.hpp"
#include "flow/integrate.hpp"
#include "flow/toy.hpp"
#include "model/random.hpp"

namespace phaselock {

namespace {

VectorField toy_field(const Toy& toy) {
  return [toy](const State& theta, State& rate) {
    const ToyPoint v = toy_velocity(toy, toy_weights({theta[0], theta[1]}));
    rate = {v[0], v[1]};
  };
}

/// Growth rate along (1, sign) at the symmetric point, from the flow over one growth time of a deviation of 1e-6.
double measured_rate(const Toy& toy, double sign, double predicted) {
  State theta{1e-6, sign * 1e-6};
  IntegrateOptions options;
  options.until = 1.0 / std::abs(predicted);
  options.atol = 1e-18;
  integrate(toy_field(toy), theta, options, [](double, const State&, std::int64_t) { return false; });
  return std::log((theta[0] + sign * theta[1]) / 2e-6) / options.until;
}

std::vector<Assumption> toy_assumptions(const Model& model) {
  return {{fmt::format("L = {} >= 4, so that w is convex", model.blocks), model.blocks >= 4}};
}

}  // namespace

ClaimResult check_toy_rates(const Model& model) {
  const Toy toy{model, 10.0};
  const ToyRates predicted = toy_rates(toy);
  const double difference = measured_rate(toy, -1.0, predicted.difference), sum = measured_rate(toy, 1.0, predicted.sum);
  const double error = std::max(std::abs(difference / predicted.difference - 1.0), std::abs(sum / predicted.sum - 1.0));
  const bool holds = error < 1e-4 && difference > sum;
  return {.id = "toy_rates",
          .model = model,
          .assumptions = toy_assumptions(model),
          .evidence = {{"summary", fmt::format("difference {:.6g} against {:.6g}, sum {:.6g} against {:.6g}", difference,
                                               predicted.difference, sum, predicted.sum)},
                       {"A", toy.A},
                       {"difference_measured", difference},
                       {"difference_predicted", predicted.difference},
                       {"sum_measured", sum},
                       {"sum_predicted", predicted.sum}},
          .verdict = holds ? Verdict::supported : Verdict::refuted,
          .expected = {}};
}

ClaimResult check_toy_endpoints(const Model& model, int starts) {
  const Toy toy{model, 10.0};
  const double complementary_loss = toy_loss(toy, {1.0, 0.0}), equal_loss = toy_loss(toy, {1.0, 1.0});
  int sharpened = 0, complementary = 0;
  for (int k = 0; k < starts; ++k) {
    Stream stream(1, Purpose::toy_start, k);
    State theta{1e-2 * stream.normal(), 0.0};
    theta[1] = 1e-2 * stream.normal();
    IntegrateOptions options;
    options.until = 1e9;
    const auto sharp = [](const State& state) {
      const ToyPoint p = toy_weights({state[0], state[1]});
      return std::min(p[0], 1 - p[0]) < 1e-3 && std::min(p[1], 1 - p[1]) < 1e-3;
    };
    integrate(toy_field(toy), theta, options, [&](double, const State& state, std::int64_t) { return sharp(state); });
    sharpened += sharp(theta);
    complementary += sharp(theta) && theta[0] * theta[1] < 0.0;
  }
  nlohmann::ordered_json evidence{{"summary", ""}};
  const Verdict share = judge_share(sharpened, starts, evidence);
  evidence["complementary"] = complementary;
  evidence["complementary_loss"] = complementary_loss;
  evidence["equal_loss"] = equal_loss;
  evidence["summary"] = fmt::format("{} of {} starts sharpen, {} complementary; loss {:.6g} against {:.6g} of equal heads",
                                    sharpened, starts, complementary, complementary_loss, equal_loss);
  return {.id = "toy_endpoints",
          .model = model,
          .assumptions = toy_assumptions(model),
          .evidence = evidence,
          .verdict = !(complementary_loss < equal_loss) ? Verdict::refuted
                     : share == Verdict::supported      ? share
                                                        : Verdict::undecided,
          .expected = {}};
}

}  // namespace phaselock
