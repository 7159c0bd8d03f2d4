// Toy example: endpoints (theory.md section 6).
#include <fmt/format.h>

#include <algorithm>

#include "claims/checks.hpp"
#include "claims/judge_share.hpp"
#include "claims/toy.hpp"
#include "model/random.hpp"

namespace phaselock {

Verdict judge_toy_endpoints(std::int64_t sharpened, std::int64_t starts, double complementary_loss, double equal_loss) {
  if (!(complementary_loss < equal_loss)) return Verdict::refuted;
  // A start that is not sharp yet is no counterexample.
  return judge_share(sharpened, starts) == Verdict::supported ? Verdict::supported : Verdict::undecided;
}

ClaimResult check_toy_endpoints(const SingleBlock& model, int starts) {
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
  tell_share(sharpened, starts, evidence);
  evidence["complementary"] = complementary;
  evidence["complementary_loss"] = complementary_loss;
  evidence["equal_loss"] = equal_loss;
  evidence["summary"] = fmt::format("{} of {} starts sharpen, {} complementary; loss {:.6g} against {:.6g} of equal heads",
                                    sharpened, starts, complementary, complementary_loss, equal_loss);
  return {.id = "toy_endpoints",
          .model = model,
          .assumptions = toy_assumptions(model),
          .evidence = evidence,
          .verdict = judge_toy_endpoints(sharpened, starts, complementary_loss, equal_loss)};
}

namespace {

Checks checks(const VerifyOptions& options) {
  return {check_one("toy endpoints", [model = toy_model(options)] { return check_toy_endpoints(model, 200); })};
}

}  // namespace

extern const Claim toy_endpoints_claim;
constinit const Claim toy_endpoints_claim = {
    .id = "toy_endpoints",
    .title = "Toy example: endpoints",
    .statement =
        "Almost every start off the symmetric point sharpens to one-hot heads, and complementary endpoints "
        "have a lower loss than equal ones.",
    .assumptions = "as toy_rates; random starts of standard deviation 1e-2",
    .acceptance =
        "SUPPORTED if the lower Clopper-Pearson bound (95%) of the share of starts that sharpen is at least "
        "0.95 and the complementary loss is the lower.",
    .rejection = "REFUTED if the complementary loss is not the lower; UNDECIDED if too few starts sharpen by t = 1e9.",
    .source = "paper, appendix A.1; this project, theory.md section 6",
    .group = ClaimGroup::toy,
    .checks = checks,
};

}  // namespace phaselock
