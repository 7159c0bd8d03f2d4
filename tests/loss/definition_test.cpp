// The definition in other numbers than doubles: it encloses the loss in balls, and its automatic derivatives are the gradient
// (theory.md section 2).
#include <doctest/doctest.h>

#include <boost/math/differentiation/autodiff.hpp>
#include <cmath>
#include <vector>

#include "loss/context_loss.hpp"
#include "proofs/ball.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;

template <class T>
GatesOf<T> converted(const Model& model, const ContextGates& gates) {
  GatesOf<T> result(model);
  for (std::size_t k = 0; k < gates.key.size(); ++k) {
    result.key[k] = T(gates.key[k]);
    result.value[k] = T(gates.value[k]);
  }
  return result;
}

bool contains(const Ball& ball, double x, double error) { return ball.lower() <= x + error && ball.upper() >= x - error; }

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("in balls the definition encloses loss, shares and gradient of doubles within their rounding, and is sharp") {
    std::uint64_t seed = 80;
    for (const SingleBlock& model : test::test_models()) {
      const ContextGates gates = test::random_gates(model, ++seed);
      ContextGates gradient(model);
      const double loss = context_loss(model, gates, &gradient);
      const GatesOf<Ball> exact = converted<Ball>(model, gates);
      GatesOf<Ball> exact_gradient(model);
      const Ball ball = context_loss(model, exact, &exact_gradient);
      CHECK(contains(ball, loss, 1e-13 * std::abs(loss)));
      CHECK(ball.upper() - ball.lower() < 1e-15 * std::max(1.0, std::abs(loss)));
      for (std::size_t k = 0; k < gates.key.size(); ++k) {
        CHECK(contains(exact_gradient.key[k], gradient.key[k], 1e-14));
        CHECK(contains(exact_gradient.value[k], gradient.value[k], 1e-14));
        CHECK(exact_gradient.value[k].upper() - exact_gradient.value[k].lower() < 1e-15);
      }
      std::vector<double> shares;
      for_each_query(model, gates,
                     [&](const Query& query) { shares.insert(shares.end(), query.share.begin(), query.share.end()); });
      std::size_t k = 0;
      for_each_query(model, exact, [&](const QueryOf<Ball>& query) {
        for (const Ball& share : query.share) CHECK(contains(share, shares[k++], 1e-14));
      });
      CHECK(k == shares.size());
    }
  }

  TEST_CASE("a ball of weights encloses the loss at every point of it") {
    const SingleBlock model{4, 3, 2, 20, 0.8, 3.0};
    const ContextGates gates = test::random_gates(model, 90);
    GatesOf<Ball> around = converted<Ball>(model, gates);
    constexpr double radius = 1e-3;
    for (std::size_t k = 0; k < gates.key.size(); ++k) {
      around.key[k] = Ball::hull(gates.key[k] - radius, gates.key[k] + radius);
      around.value[k] = Ball::hull(gates.value[k] - radius, gates.value[k] + radius);
    }
    const Ball ball = context_loss(model, around);
    CHECK(ball.upper() - ball.lower() < 0.5);
    double lowest = INFINITY, highest = -INFINITY;
    for (int trial = 0; trial < 200; ++trial) {
      ContextGates point = gates;
      const std::vector<double> moves = test::normals(2 * gates.key.size(), 1.0, 91 + trial);
      for (std::size_t k = 0; k < gates.key.size(); ++k) {
        point.key[k] += moves[k] > 0 ? radius : -radius;
        point.value[k] += moves[gates.key.size() + k] > 0 ? radius : -radius;
      }
      const double loss = context_loss(model, point);
      CHECK(ball.lower() <= loss);
      CHECK(ball.upper() >= loss);
      lowest = std::min(lowest, loss);
      highest = std::max(highest, loss);
    }
    CHECK(highest - lowest > 1e-3);  // the points do differ
  }

  TEST_CASE("in dual numbers the loss's derivative is the gradient, and the gradient's its finite differences") {
    std::uint64_t seed = 300;
    for (const SingleBlock& model : test::test_models()) {
      const ContextGates gates = test::random_gates(model, ++seed);
      const std::vector<double> direction = test::normals(2 * gates.key.size(), 1.0, 1000 + seed);
      const std::vector<double> at = test::joined(gates);
      const Dual epsilon = boost::math::differentiation::make_fvar<double, 1>(0.0);
      GatesOf<Dual> moving = converted<Dual>(model, gates);
      for (std::size_t k = 0; k < gates.key.size(); ++k) {
        moving.key[k] += direction[k] * epsilon;
        moving.value[k] += direction[gates.key.size() + k] * epsilon;
      }
      GatesOf<Dual> dual_gradient(model);
      const Dual loss = context_loss(model, moving, &dual_gradient);
      ContextGates gradient(model);
      CHECK(double(loss) == doctest::Approx(context_loss(model, gates, &gradient)).epsilon(1e-15));
      const std::vector<double> slope = test::joined(gradient);
      double expected = 0.0;
      for (std::size_t k = 0; k < slope.size(); ++k) expected += slope[k] * direction[k];
      CHECK(loss.derivative(1) == doctest::Approx(expected).epsilon(1e-12));

      // d/dt of the gradient at weights + t direction, by central differences of fourth order.
      const auto gradient_at = [&](double t) {
        std::vector<double> x = at;
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * direction[k];
        ContextGates there(model);
        context_loss(model, test::split(model, x), &there);
        return test::joined(there);
      };
      constexpr double step = 1e-3;
      const std::vector<double> a = gradient_at(-2 * step), b = gradient_at(-step), c = gradient_at(step),
                                d = gradient_at(2 * step);
      std::vector<double> second(at.size()), by_dual;
      for (std::size_t k = 0; k < at.size(); ++k) second[k] = (8.0 * (c[k] - b[k]) - (d[k] - a[k])) / (12.0 * step);
      for (const auto* branch : {&dual_gradient.key, &dual_gradient.value})
        for (const Dual& x : *branch) by_dual.push_back(x.derivative(1));
      CHECK(test::relative_error(by_dual, second) < 1e-7);
    }
  }
}
