// Toy example: sharpening and splitting rates (theory.md section 6).
#include <fmt/format.h>

#include <cmath>

#include "claims/checks.hpp"
#include "claims/toy.hpp"

namespace phaselock {

namespace {

/// Growth rate along (1, sign) at the symmetric point, from the flow over one growth time of a deviation of 1e-6.
double measured_rate(const Toy& toy, double sign, double predicted) {
  State theta{1e-6, sign * 1e-6};
  IntegrateOptions options;
  options.until = 1.0 / std::abs(predicted);
  options.atol = 1e-18;
  integrate(toy_field(toy), theta, options, [](double, const State&, std::int64_t) { return false; });
  return std::log((theta[0] + sign * theta[1]) / 2e-6) / options.until;
}

}  // namespace

Verdict judge_toy_rates(GrowthRates measured, GrowthRates predicted) {
  const auto agree = [](double rate, double formula) { return std::abs(rate / formula - 1.0) < 1e-4; };
  const bool holds =
      agree(measured.difference, predicted.difference) && agree(measured.sum, predicted.sum) && measured.difference > measured.sum;
  return holds ? Verdict::supported : Verdict::refuted;
}

ClaimResult check_toy_rates(const SingleBlock& model) {
  const Toy toy{model, 10.0};
  const ToyRates predicted = toy_rates(toy);
  const double difference = measured_rate(toy, -1.0, predicted.difference), sum = measured_rate(toy, 1.0, predicted.sum);
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
          .verdict = judge_toy_rates({difference, sum}, {predicted.difference, predicted.sum})};
}

namespace {

Checks checks(const VerifyOptions& options) {
  return {check_one("toy rates", [model = toy_model(options)] { return check_toy_rates(model); })};
}

}  // namespace

extern const Claim toy_rates_claim;
constinit const Claim toy_rates_claim = {
    .id = "toy_rates",
    .title = "Toy example: sharpening and splitting rates",
    .statement =
        "At p = 1/2 the difference of the heads grows at (1/16)(-l' w''), their sum at (1/16)(-l' w'' - 2 l''"
        " w'^2): heads sharpen because w is convex and split because l is.",
    .assumptions =
        "the toy example of the paper's appendix A.1, as reconstructed in theory.md section 6; L >= 4, so "
        "that w is convex",
    .acceptance =
        "SUPPORTED if both rates measured on the flow agree with the formulas to 1e-4 relative and the "
        "difference grows faster.",
    .rejection = "REFUTED otherwise.",
    .source = "paper, appendix A.1; reconstruction and rates: this project, theory.md section 6",
    .group = ClaimGroup::toy,
    .checks = checks,
};

}  // namespace phaselock
