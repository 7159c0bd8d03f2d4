// The vocabulary's geometry, and the loss in general geometry against its definition and the closed form (theory.md
// sections 1, 3 and 8).
#include "loss/geometry.hpp"

#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "brute_force.hpp"
#include "kernels/table_loss.hpp"
#include "loss/context_loss.hpp"
#include "loss/dense_loss.hpp"
#include "model/errors.hpp"
#include "statistics/intervals.hpp"
#include "support.hpp"

using namespace phaselock;
using test::normals;
using test::relative_error;

namespace {

Eigen::MatrixXd exact_gram(double kappa, int N) { return Eigen::MatrixXd::Constant(N, N, kappa) + Eigen::MatrixXd::Identity(N, N); }

Eigen::MatrixXd random_embeddings(int N, int d, std::uint64_t seed) {
  const std::vector<double> x = normals(std::size_t(N) * d, 1.0, seed);
  Eigen::MatrixXd X = Eigen::Map<const Eigen::MatrixXd>(x.data(), N, d);
  X.array() += 0.5;
  return X;
}

/// Takes the mean over offsets off every gate's derivative: what is left acts on probability vectors.
std::vector<double> tangent(const SingleBlock& model, std::vector<double> d) {
  for (std::size_t gate = 0; gate < d.size(); gate += model.positions) {
    const double mean = std::accumulate(d.begin() + gate, d.begin() + gate + model.positions, 0.0) / model.positions;
    for (int r = 0; r < model.positions; ++r) d[gate + r] -= mean;
  }
  return d;
}

/// The last number in an error message.
double named_epsilon(const std::string& message) { return std::stod(message.substr(message.rfind(' ') + 1)); }

/// |c|^2 of the shortest c with G_r(i) = <c_r, x_i>: sum_r G_r K^(-1) G_r^T.
double shortest_square(const Eigen::MatrixXd& K, const std::vector<double>& tables) {
  const Eigen::Map<const Eigen::MatrixXd> G(tables.data(), K.rows(), Eigen::Index(tables.size()) / K.rows());
  return (G.transpose() * K.llt().solve(G)).trace();
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("general geometry at epsilon = 0 equals the closed form to 1e-12: loss and gradients") {
    std::uint64_t seed = 200;
    for (const SingleBlock& model : test::test_models())
      for (const double kappa : {0.0, 1.0, 2.5}) {
        const Geometry dense = Geometry::dense(exact_gram(kappa, model.vocabulary));
        const Geometry exact = Geometry::exact(kappa, model.vocabulary);
        const Contexts contexts = sample_independent(model, 2, ++seed);
        const ContextGates gates = test::random_gates(model, seed);
        ContextGates expected(model), gradient(model);
        const double loss = context_loss(model, gates, &expected);
        for (const Geometry& geometry : {dense, exact}) {
          CHECK(std::abs(dense_context_loss(model, geometry, contexts[0], gates, &gradient) / loss - 1.0) < 1e-12);
          // The closed form uses sum_r pK(r) = 1, so key derivatives agree up to a constant for each gate.
          CHECK(relative_error(tangent(model, gradient.key), tangent(model, expected.key)) < 1e-12);
          CHECK(relative_error(gradient.value, expected.value) < 1e-12);
        }
        const std::vector<double> tables = normals(model.table_size(), 1.0, seed);
        std::vector<double> dense_gradient(tables.size()), exact_gradient(tables.size());
        const double dense_loss = table_loss(model, dense, contexts, tables, dense_gradient);
        CHECK(std::abs(dense_loss / table_loss(model, exact, contexts, tables, exact_gradient) - 1.0) < 1e-12);
        CHECK(relative_error(dense_gradient, exact_gradient) < 1e-12);
        std::vector<double> dense_velocity(tables.size()), exact_velocity(tables.size());
        dense.apply(dense_gradient, dense_velocity);
        exact.apply(exact_gradient, exact_velocity);
        CHECK(relative_error(dense_velocity, exact_velocity) < 1e-12);
      }
  }

  TEST_CASE("loss in general geometry equals brute force with the embeddings") {
    std::uint64_t seed = 230;
    for (const SingleBlock& model : test::test_models()) {
      Eigen::MatrixXd X = random_embeddings(model.vocabulary, 7, ++seed);
      const Geometry geometry = Geometry::embeddings(X, false);
      X *= std::sqrt(geometry.gram()(0, 0)) / X.row(0).norm();
      const Contexts contexts = sample_independent(model, 1, seed);
      const ContextGates gates = test::random_gates(model, seed);
      const double expected = test::brute_force_loss(model, X, contexts[0], gates);
      CHECK(std::abs(dense_context_loss(model, geometry, contexts[0], gates) / expected - 1.0) < 1e-12);
      CHECK(oracle_loss(model, geometry, contexts[0], gates) == dense_context_loss(model, geometry, contexts[0], gates));
      CHECK(std::abs(expected / context_loss(model, gates) - 1.0) > 1e-3);  // and epsilon matters
    }
  }

  TEST_CASE("both gradients in perturbed geometry equal finite differences") {
    std::uint64_t seed = 250;
    for (const SingleBlock& model : test::test_models()) {
      const Geometry geometry = Geometry::perturbed(0.8, 0.1, ++seed, model.vocabulary);
      const Contexts contexts = sample_independent(model, 1, seed);
      const ContextGates gates = test::random_gates(model, seed);
      ContextGates gradient(model, 7.0);  // overwritten, not added to
      const double loss = dense_context_loss(model, geometry, contexts[0], gates, &gradient);
      CHECK(loss == dense_context_loss(model, geometry, contexts[0], gates));
      const auto f = [&](const std::vector<double>& x) {
        return dense_context_loss(model, geometry, contexts[0], test::split(model, x));
      };
      const ContextGates expected = test::split(model, test::finite_differences(f, test::joined(gates)));
      CHECK(relative_error(gradient.key, expected.key) < 1e-9);
      CHECK(relative_error(gradient.value, expected.value) < 1e-9);
    }
  }

  TEST_CASE("answer probabilities in general geometry sum to one and give the loss") {
    const SingleBlock model{4, 3, 2, 20, 0.9, 3.0};
    const Geometry geometry = Geometry::perturbed(1.0, 0.1, 3, 20);
    const Contexts contexts = sample_independent(model, 1, 260);
    const ContextGates gates = test::random_gates(model, 261);
    const Eigen::MatrixXd probability = dense_answer_probabilities(model, geometry, contexts[0], gates);
    REQUIRE(probability.rows() == 20);
    REQUIRE(probability.cols() == model.queries());
    CHECK((probability.colwise().sum().array() - 1.0).abs().maxCoeff() < 1e-14);
    double loss = 0.0;
    for (int q = 0; q < model.queries(); ++q)
      loss -= std::log(probability(contexts[0][q / 2 * 3 + q % 2 + 1], q)) / model.queries();
    CHECK(loss == doctest::Approx(dense_context_loss(model, geometry, contexts[0], gates)).epsilon(1e-13));
  }

  TEST_CASE("perturbed geometry: entries within epsilon, symmetric, of the seed, epsilon reported") {
    const Geometry geometry = Geometry::perturbed(1.5, 0.05, 7, 60);
    const Eigen::MatrixXd E = (geometry.gram() - exact_gram(1.5, 60)) / 0.05;
    CHECK(E.isApprox(E.transpose(), 1e-12));
    CHECK(E.cwiseAbs().maxCoeff() <= 1.0);
    CHECK(geometry.epsilon() == doctest::Approx(0.05 * E.cwiseAbs().maxCoeff()).epsilon(1e-12));
    CHECK(geometry.kappa() == 1.5);
    std::vector<std::int64_t> tenths(10, 0);  // uniform in [-1, 1], level 1e-3
    for (int i = 0; i < 60; ++i)
      for (int j = 0; j <= i; ++j) ++tenths[std::size_t(5.0 * (E(i, j) + 1.0 - 1e-12))];
    CHECK(chi_square_test(tenths, std::vector<double>(10, 0.1)).p_value > 1e-3);
    CHECK(Geometry::perturbed(1.5, 0.05, 7, 60).gram() == geometry.gram());
    CHECK(Geometry::perturbed(1.5, 0.05, 8, 60).gram() != geometry.gram());
  }

  TEST_CASE("an indefinite perturbation is refused with an epsilon that works, while 1.001 of it does not") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const int N = 10 + int(seed);
      std::string message;
      try {
        Geometry::perturbed(0.5, 5.0, seed, N);
      } catch (const DomainError& e) {
        message = e.what();
      }
      CAPTURE(message);
      REQUIRE(message.find("geometry.epsilon = 5 makes the Gram matrix indefinite") == 0);
      const double epsilon = named_epsilon(message);
      CHECK_NOTHROW(Geometry::perturbed(0.5, epsilon, seed, N));
      CHECK_THROWS_AS(Geometry::perturbed(0.5, 1.001 * epsilon, seed, N), DomainError);
    }
  }

  TEST_CASE("embeddings: mean diagonal minus mean off-diagonal is 1, kappa and epsilon are fitted") {
    for (const bool normalize : {false, true}) {
      const int N = 30;
      const Eigen::MatrixXd X = random_embeddings(N, 12, 270);
      const Geometry geometry = Geometry::embeddings(X, normalize);
      const Eigen::MatrixXd& K = geometry.gram();
      const double diagonal = K.trace() / N, off = (K.sum() - K.trace()) / (N * (N - 1));
      CHECK(diagonal - off == doctest::Approx(1.0).epsilon(1e-13));
      CHECK(geometry.kappa() == doctest::Approx(off).epsilon(1e-13));
      CHECK(geometry.epsilon() == doctest::Approx((K - exact_gram(off, N)).cwiseAbs().maxCoeff()).epsilon(1e-12));
      CHECK(geometry.vocabulary() == N);
      CHECK_FALSE(geometry.is_exact());
      // All rows are scaled by one factor; normalized rows have one length.
      const double cosine = X.row(1).dot(X.row(2)) / (X.row(1).norm() * X.row(2).norm());
      CHECK(K(1, 2) / std::sqrt(K(1, 1) * K(2, 2)) == doctest::Approx(cosine).epsilon(1e-13));
      const double ratio = normalize ? 1.0 : X.row(1).squaredNorm() / X.row(2).squaredNorm();
      CHECK(K(1, 1) / K(2, 2) == doctest::Approx(ratio).epsilon(1e-13));
    }
    const SingleBlock model{2, 2, 1, 9};
    const Geometry exact = Geometry::embeddings(test::exact_embeddings(model, 1.3), false);
    CHECK(exact.kappa() == doctest::Approx(1.3).epsilon(1e-13));
    CHECK(exact.epsilon() < 1e-13);
  }

  TEST_CASE("what is no geometry is refused") {
    CHECK_THROWS_AS(Geometry::exact(-0.1, 10), DomainError);
    CHECK_THROWS_AS(Geometry::exact(NAN, 10), DomainError);
    CHECK_THROWS_AS(Geometry::perturbed(1.0, -0.1, 1, 10), DomainError);
    CHECK_THROWS_AS(Geometry::perturbed(1.0, INFINITY, 1, 10), DomainError);
    Eigen::MatrixXd X = random_embeddings(5, 3, 280);
    CHECK_THROWS_AS(Geometry::embeddings(X.topRows(1), true), DomainError);
    CHECK_THROWS_WITH_AS(Geometry::embeddings(Eigen::MatrixXd::Ones(5, 3), true), doctest::Contains("without spread"), DomainError);
    X.row(3).setZero();
    CHECK_THROWS_WITH_AS(Geometry::embeddings(X, true), doctest::Contains("row 3 is zero"), DomainError);
    CHECK_NOTHROW(Geometry::embeddings(X, false));
    X(2, 1) = NAN;
    CHECK_THROWS_WITH_AS(Geometry::embeddings(X, false), doctest::Contains("not finite"), DomainError);
    Eigen::MatrixXd K = exact_gram(1.0, 4);
    K(0, 1) += 0.1;
    CHECK_THROWS_WITH_AS(Geometry::dense(K), doctest::Contains("symmetric"), DomainError);
    CHECK_THROWS_WITH_AS(Geometry::dense(-exact_gram(1.0, 4)), doctest::Contains("positive semidefinite"), DomainError);
  }

  TEST_CASE("apply multiplies each row by K") {
    const int N = 11;
    const Geometry perturbed = Geometry::perturbed(0.7, 0.1, 2, N);
    const std::vector<double> rows = normals(3 * N, 1.0, 290);
    for (const auto& [geometry, K] : {std::pair{Geometry::exact(0.7, N), exact_gram(0.7, N)}, {perturbed, perturbed.gram()}}) {
      std::vector<double> out(rows.size()), expected(rows.size(), 0.0);
      geometry.apply(rows, out);
      for (int row = 0; row < 3; ++row)
        for (int i = 0; i < N; ++i)
          for (int j = 0; j < N; ++j) expected[row * N + j] += rows[row * N + i] * K(i, j);
      CHECK(relative_error(out, expected) < 1e-14);
    }
  }

  TEST_CASE("initial tables: mean square of the token-mean biases is sigma_b^2 (5 standard errors)") {
    const SingleBlock model{4, 3, 2, 20, 1.0, 1.0};
    const double kappa = 0.6, rho = 0.3, sigma = bias_scale(model, kappa, rho);
    const Geometry geometry = Geometry::exact(kappa, model.vocabulary);
    double squares = 0.0;
    constexpr int seeds = 1500;
    for (int seed = 0; seed < seeds; ++seed)
      for (const double b : static_part(model, geometry.initial_tables(model, rho, seed))) squares += b * b / (sigma * sigma);
    const double count = seeds * 2.0 * double(model.branch_rows());
    CHECK(std::abs(squares / count - 1.0) < 5.0 * std::sqrt(2.0 / count));
  }

  TEST_CASE("initial tables: the ball's radius is never exceeded, and |c|^D is uniform (level 1e-3)") {
    const SingleBlock model{2, 2, 1, 4, 1.0, 1.0};
    const double rho = 0.3;
    const Geometry exact = Geometry::exact(0.6, 4), dense = Geometry::perturbed(0.6, 0.1, 5, 4);
    std::vector<std::int64_t> tenths(10, 0);
    double farthest = 0.0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      CHECK(shortest_square(exact_gram(0.6, 4), exact.initial_tables(model, rho, seed)) <= rho * rho * (1.0 + 1e-12));
      // A regular K has embeddings of dimension N, so the tables determine c: D = 2 H S N = 16.
      const double radius = std::sqrt(shortest_square(dense.gram(), dense.initial_tables(model, rho, seed))) / rho;
      farthest = std::max(farthest, radius);
      ++tenths[std::min(9, int(10.0 * std::pow(radius, 16)))];
    }
    CHECK(farthest <= 1.0 + 1e-12);
    CHECK(chi_square_test(tenths, std::vector<double>(10, 0.1)).p_value > 1e-3);
    CHECK(exact.initial_tables(model, rho, 1) == exact.initial_tables(model, rho, 1));
    CHECK(exact.initial_tables(model, rho, 1) != exact.initial_tables(model, rho, 2));
  }

  TEST_CASE("initial tables have the law of the geometry: covariance of G(i) and G(j) is K_ij rho^2 / (D + 2)") {
    const SingleBlock model{2, 2, 1, 4, 1.0, 1.0};
    const Geometry exact = Geometry::exact(1.5, 4), dense = Geometry::perturbed(1.5, 0.2, 6, 4);
    const auto check = [&](const Geometry& geometry, const Eigen::MatrixXd& K, double dimension) {
      Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(4, 4);
      constexpr int seeds = 5000;
      for (int seed = 0; seed < seeds; ++seed) {
        const std::vector<double> tables = geometry.initial_tables(model, 1.0, seed);
        const Eigen::Map<const Eigen::MatrixXd> G(tables.data(), 4, 4);  // a column for each row (branch, offset) of the tables
        covariance += G * G.transpose() * (dimension + 2.0) / (4.0 * seeds);
      }
      // Standard error of an entry: sqrt((K_ii K_jj + K_ij^2) / count).
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          CHECK(std::abs(covariance(i, j) - K(i, j)) < 5.0 * std::sqrt((K(i, i) * K(j, j) + K(i, j) * K(i, j)) / (4.0 * seeds)));
    };
    check(exact, exact_gram(1.5, 4), 4.0 * 5);
    check(dense, dense.gram(), 4.0 * 4);
  }
}
