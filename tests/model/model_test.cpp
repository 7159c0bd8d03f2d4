// Sizes, scales and the attention function (theory.md sections 1 to 3).
#include "model/model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "model/errors.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

std::string complaint(const Model& model) {
  try {
    validate(model);
  } catch (const DomainError& e) {
    return e.what();
  }
  return "";
}

double slope_of(const auto& f, double u) {
  return test::finite_differences([&](const auto& x) { return f(x[0]); }, {u})[0];
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("attention is e^(gamma u) over e^(gamma u) + L - 1") {
    for (const Model& model : test::test_models())
      for (const double u : {0.0, 0.3, 1.0}) {
        const auto [w, o] = attention(model, u);
        const double e = std::exp(model.gamma * u);
        CHECK(w == doctest::Approx(e / (e + model.blocks - 1)).epsilon(1e-15));
        CHECK(w + (model.blocks - 1) * o == doctest::Approx(1.0).epsilon(1e-15));
      }
    CHECK(attention(Model{}, 0.0).w == 0.25);  // w0 = 1 / L
  }

  TEST_CASE("derivatives of the attention equal finite differences") {
    for (const Model& model : test::test_models())
      for (const double u : {0.0, 0.2, 0.7, 1.0}) {
        const double w = attention(model, u).w;
        CHECK(w_slope(model, w) == doctest::Approx(slope_of([&](double x) { return attention(model, x).w; }, u)).epsilon(1e-10));
        CHECK(o_slope(model, w) == doctest::Approx(slope_of([&](double x) { return attention(model, x).o; }, u)).epsilon(1e-10));
        const auto slope = [&](double x) { return w_slope(model, attention(model, x).w); };
        CHECK(w_curvature(model, w) == doctest::Approx(slope_of(slope, u)).epsilon(1e-9));
      }
  }

  TEST_CASE("attention is convex and below 1/2 for L >= 4 and gamma <= 1, and not always for L = 3") {
    for (int L = 4; L <= 12; ++L)
      for (const double gamma : {0.01, 0.5, 1.0}) {
        const Model model{.blocks = L, .vocabulary = 4 * L, .gamma = gamma};
        for (double u = 0.0; u <= 1.0; u += 0.05) CHECK(w_curvature(model, attention(model, u).w) > 0.0);
        CHECK(attention(model, 1.0).w < 0.5);
      }
    const Model three{.blocks = 3, .gamma = 1.0};
    CHECK(w_curvature(three, attention(three, 1.0).w) < 0.0);
  }

  TEST_CASE("bad sizes and scales are refused with the key's name") {
    CHECK(complaint(Model{}) == "");
    CHECK(complaint({.blocks = 1}).find("model.blocks = 1") == 0);
    CHECK(complaint({.positions = 1}).find("model.positions = 1") == 0);
    CHECK(complaint({.heads = 0}).find("model.heads = 0") == 0);
    CHECK(complaint({.vocabulary = 15}).find("model.vocabulary = 15 must be at least blocks * positions = 16") == 0);
    CHECK(complaint({.blocks = 1 << 20, .positions = 1 << 20}).find("model.vocabulary") == 0);  // L S beyond 32 bits
    for (const double gamma : {0.0, -1.0, 1.5, double(NAN)}) CHECK(complaint({.gamma = gamma}).find("model.gamma") == 0);
    for (const double beta : {0.0, -1.0, 234.0, double(NAN), double(INFINITY)})
      CHECK(complaint({.heads = 3, .beta = beta}).find("model.beta") == 0);
    CHECK(complaint({.vocabulary = 16, .gamma = 1.0, .beta = 233.0}) == "");
  }

  TEST_CASE("assumptions of the theorems that do not hold are named") {
    CHECK(unmet_assumptions(Model{}).empty());
    CHECK(unmet_assumptions({.blocks = 3}) == std::vector<std::string>{"L >= 4 (L = 3)"});
    CHECK(unmet_assumptions({.positions = 2, .heads = 1}) == std::vector<std::string>{"S >= 3 (S = 2)"});
    CHECK(unmet_assumptions({.positions = 3, .heads = 3}) == std::vector<std::string>{"H < S (H = 3, S = 3)"});
  }

  TEST_CASE("scale of the initial biases and speed of the static flow") {
    const Model model{.blocks = 4, .positions = 4, .heads = 3, .vocabulary = 99};
    CHECK(static_speed(model, 0.5) == doctest::Approx(0.5 + 1.0 / 99).epsilon(1e-15));
    CHECK(bias_scale(model, 0.5, 1e-2) == doctest::Approx(1e-2 * std::sqrt((0.5 + 1.0 / 99) / (24.0 * 100 + 2))).epsilon(1e-14));
  }
}
