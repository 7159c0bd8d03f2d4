// The toy example of theory.md section 6: velocity, growth rates and endpoints.
#include "flow/toy.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "support.hpp"

using namespace phaselock;

namespace {

Toy toy(int blocks, double gamma, double beta, double A) {
  return {Model{.blocks = blocks, .positions = 2, .heads = 2, .gamma = gamma, .beta = beta}, A};
}

const std::vector<Toy> toys = {toy(4, 1.0, 1.0, 10.0), toy(4, 1.0, 20.0, 3.0), toy(8, 0.6, 5.0, 50.0), toy(5, 0.9, 2.0, 0.1)};

ToyPoint point(const std::vector<double>& x) { return {x[0], x[1]}; }

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("loss is the mean of log(1 + A e^(-beta margin)) over both phases") {
    const Toy t = toy(4, 1.0, 2.0, 10.0);
    const auto w = [](double u) { return std::exp(u) / (std::exp(u) + 3.0); };
    const auto l = [](double m) { return std::log(1.0 + 10.0 * std::exp(-2.0 * m)); };
    const double expected = 0.5 * (l(w(0.2) + w(0.9)) + l(w(0.8) + w(0.1)));
    CHECK(toy_loss(t, {0.2, 0.9}) == doctest::Approx(expected).epsilon(1e-14));
    CHECK(toy_weights({0.0, std::log(3.0)})[0] == 0.5);
    CHECK(toy_weights({0.0, std::log(3.0)})[1] == doctest::Approx(0.75).epsilon(1e-15));
  }

  TEST_CASE("velocity is minus the gradient of the loss in theta (finite differences)") {
    for (const Toy& t : toys)
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const std::vector<double> theta = test::normals(2, 1.5, seed);
        std::vector<double> expected =
            test::finite_differences([&](const auto& x) { return toy_loss(t, toy_weights(point(x))); }, theta);
        for (double& x : expected) x = -x;
        const ToyPoint v = toy_velocity(t, toy_weights(point(theta)));
        CHECK(test::relative_error(v, expected) < 1e-9);
      }
  }

  TEST_CASE("growth rates are the eigenvalues of the velocity's Jacobian in theta at p = 1/2") {
    for (const Toy& t : toys) {
      double jacobian[2][2];
      for (int i = 0; i < 2; ++i) {
        const auto row =
            test::finite_differences([&](const auto& x) { return toy_velocity(t, toy_weights(point(x)))[i]; }, {0.0, 0.0});
        jacobian[i][0] = row[0];
        jacobian[i][1] = row[1];
      }
      CHECK(jacobian[0][0] == doctest::Approx(jacobian[1][1]).epsilon(1e-9));
      CHECK(jacobian[0][1] == doctest::Approx(jacobian[1][0]).epsilon(1e-9));
      const ToyRates rates = toy_rates(t);
      const double scale = std::abs(jacobian[0][0]) + std::abs(jacobian[0][1]);
      CHECK(std::abs(rates.difference - (jacobian[0][0] - jacobian[0][1])) < 1e-9 * scale);
      CHECK(std::abs(rates.sum - (jacobian[0][0] + jacobian[0][1])) < 1e-9 * scale);
      CHECK(rates.difference > 0.0);        // w'' > 0 sharpens
      CHECK(rates.difference > rates.sum);  // l'' > 0 splits
      const ToyPoint rest = toy_velocity(t, {0.5, 0.5});
      CHECK(std::abs(rest[0]) + std::abs(rest[1]) < 1e-15);
    }
  }

  TEST_CASE("complementary endpoints beat equal ones, and both beat p = 1/2 where w'' wins") {
    for (const Toy& t : toys) {
      CHECK(toy_loss(t, {1.0, 0.0}) < toy_loss(t, {1.0, 1.0}) - 1e-6);
      CHECK(toy_loss(t, {1.0, 0.0}) < toy_loss(t, {0.5, 0.5}));
      CHECK(toy_loss(t, {1.0, 0.0}) == doctest::Approx(toy_loss(t, {0.0, 1.0})).epsilon(1e-15));
    }
  }
}
