// Losses and their gradients: reference cases, brute force with explicit embeddings, finite differences, and the mean of sampled
// contexts against the enumerated population (theory.md sections 1 to 3 and 8).
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <numeric>

#include "brute_force.hpp"
#include "kernels/table_loss.hpp"
#include "loss/context_loss.hpp"
#include "loss/dense_loss.hpp"
#include "loss/geometry.hpp"
#include "loss/static_loss.hpp"
#include "support.hpp"

using namespace phaselock;
using test::finite_differences;
using test::joined;
using test::normals;
using test::relative_error;

namespace {

/// dLoss/db of static gates from dLoss/dG: the sum over tokens.
std::vector<double> token_sums(const SingleBlock& model, const std::vector<double>& dtables) {
  std::vector<double> sums = static_part(model, dtables);
  for (double& x : sums) x *= model.vocabulary;
  return sums;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("reference cases: loss to 1e-13, gradient and velocity to 1e-12") {
    int cases = 0;
    for (const auto& c : test::read_json("loss_cases.json")) {
      ++cases;
      CAPTURE(cases);
      const SingleBlock model = test::model_of(c);
      const Geometry geometry = Geometry::exact(c.at("kappa"), model.vocabulary);
      const Contexts contexts = Contexts::from_tokens(model, test::flatten<Token>(c.at("contexts")));
      const std::vector<double> tables = test::flatten(c.at("tables"));
      REQUIRE(tables.size() == model.table_size());
      std::vector<double> gradient(tables.size()), velocity(tables.size());
      const double loss = table_loss(model, geometry, contexts, tables, gradient);
      geometry.apply(gradient, velocity);
      for (double& v : velocity) v = -v;
      CHECK(std::abs(loss / c.at("loss").get<double>() - 1.0) < 1e-13);
      CHECK(relative_error(gradient, test::flatten(c.at("gradient"))) < 1e-12);
      CHECK(relative_error(velocity, test::flatten(c.at("velocity"))) < 1e-12);
      CHECK(table_loss(model, geometry, contexts, tables) == loss);
    }
    CHECK(cases == 8);
  }

  TEST_CASE("closed form of one context equals brute force with explicit embeddings x_i = (e_i, sqrt(kappa))") {
    std::uint64_t seed = 40;
    for (const SingleBlock& model : test::test_models())
      for (const double kappa : {0.0, 1.0, 3.7}) {
        const ContextGates gates = test::random_gates(model, ++seed);
        const Contexts contexts = sample_independent(model, 1, seed);
        const double expected = test::brute_force_loss(model, test::exact_embeddings(model, kappa), contexts[0], gates);
        CHECK(std::abs(context_loss(model, gates) / expected - 1.0) < 1e-13);
      }
  }

  TEST_CASE("oracle weights: both gradients of one context equal finite differences") {
    std::uint64_t seed = 60;
    for (const SingleBlock& model : test::test_models()) {
      const ContextGates gates = test::random_gates(model, ++seed);
      ContextGates gradient(model, 7.0);  // overwritten, not added to
      const double loss = context_loss(model, gates, &gradient);
      CHECK(loss == context_loss(model, gates));
      const auto f = [&](const std::vector<double>& x) { return context_loss(model, test::split(model, x)); };
      const ContextGates expected = test::split(model, finite_differences(f, joined(gates)));
      CHECK(relative_error(gradient.key, expected.key) < 1e-9);
      CHECK(relative_error(gradient.value, expected.value) < 1e-9);
      for (int h = 0; h < model.heads; ++h)  // pK(S) has identically zero derivative
        for (int l = 0; l < model.blocks; ++l) CHECK(gradient.key[gate_index(model, h, l, model.positions - 1)] == 0.0);
    }
  }

  TEST_CASE("a query's probabilities sum to one, m to H, and its loss is -log of its answer's probability") {
    const SingleBlock model{4, 4, 3, 40, 0.7, 3.0};
    int queries = 0;
    double mean = 0.0;
    const ContextGates gates = test::random_gates(model, 70);
    for_each_query(model, gates, [&](const Query& query) {
      ++queries;
      mean += query.loss / model.queries();
      const double inside = std::accumulate(query.share.begin(), query.share.end(), 0.0);
      CHECK(inside + (model.vocabulary - model.slots()) * query.outside_share == doctest::Approx(1.0).epsilon(1e-14));
      CHECK(std::accumulate(query.m.begin(), query.m.end(), 0.0) == doctest::Approx(model.heads).epsilon(1e-14));
      CHECK(query.loss == doctest::Approx(-std::log(query.share[query.answer])).epsilon(1e-13));
    });
    CHECK(queries == 12);
    CHECK(mean == doctest::Approx(context_loss(model, gates)).epsilon(1e-14));
  }

  TEST_CASE("static closed form equals the loss of one context with equal blocks; its gradient is summed over blocks") {
    std::uint64_t seed = 80;
    for (const SingleBlock& model : test::test_models()) {
      const std::vector<double> weights = static_weights(model, normals(2 * model.branch_rows(), 1.5, ++seed));
      std::vector<double> gradient(weights.size(), 7.0), summed(weights.size(), 0.0);
      ContextGates by_block(model);
      const double loss = static_loss(model, weights.data(), gradient.data());
      CHECK(std::abs(loss / context_loss(model, equal_blocks(model, weights), &by_block) - 1.0) < 1e-13);
      for (int h = 0; h < model.heads; ++h)
        for (int l = 0; l < model.blocks; ++l)
          for (int r = 0; r < model.positions; ++r) {
            summed[row_index(model, key_branch, h, r)] += by_block.key[gate_index(model, h, l, r)];
            summed[row_index(model, value_branch, h, r)] += by_block.value[gate_index(model, h, l, r)];
          }
      CHECK(relative_error(gradient, summed) < 1e-12);
      CHECK(static_loss<double>(model, weights.data(), nullptr) == loss);
    }
  }

  TEST_CASE("static loss: gradients in weights and in biases equal finite differences") {
    std::uint64_t seed = 90;
    for (const SingleBlock& model : test::test_models()) {
      const std::vector<double> bias = normals(2 * model.branch_rows(), 1.5, ++seed), weights = static_weights(model, bias);
      std::vector<double> gradient(bias.size());
      static_loss(model, weights.data(), gradient.data());
      const auto of_weights = [&](const std::vector<double>& x) { return static_loss<double>(model, x.data(), nullptr); };
      const std::vector<double> expected = finite_differences(of_weights, weights);
      const std::size_t half = model.branch_rows();
      CHECK(relative_error(std::span(gradient).first(half), std::span(expected).first(half)) < 1e-9);
      CHECK(relative_error(std::span(gradient).last(half), std::span(expected).last(half)) < 1e-9);
      static_bias_loss(model, bias.data(), gradient.data());
      const auto of_bias = [&](const std::vector<double>& x) { return static_bias_loss<double>(model, x.data(), nullptr); };
      CHECK(relative_error(gradient, finite_differences(of_bias, bias)) < 1e-9);
    }
  }

  TEST_CASE("losses stay finite and agree at beta H = 700") {
    const SingleBlock model{2, 3, 7, 6, 1.0, 100.0};
    for (const double scale : {0.1, 30.0}) {
      const std::vector<double> weights = static_weights(model, normals(2 * model.branch_rows(), scale, 101));
      const double loss = static_loss<double>(model, weights.data(), nullptr);
      CHECK(std::isfinite(loss));
      CHECK(std::abs(loss / context_loss(model, equal_blocks(model, weights)) - 1.0) < 1e-12);
    }
  }

  TEST_CASE("gate tables: the gradient equals finite differences, exact and perturbed geometry") {
    const SingleBlock model{4, 3, 2, 13, 0.8, 4.0};
    const Contexts contexts = sample_independent(model, 3, 110);
    const std::vector<double> tables = normals(model.table_size(), 1.0, 111);
    for (const Geometry& geometry : {Geometry::exact(0.6, 13), Geometry::perturbed(0.6, 0.1, 1, 13)}) {
      std::vector<double> gradient(tables.size(), 7.0);  // overwritten, not added to
      table_loss(model, geometry, contexts, tables, gradient);
      const auto f = [&](const std::vector<double>& x) { return table_loss(model, geometry, contexts, x); };
      const std::vector<double> expected = finite_differences(f, tables, 3e-3);
      const std::size_t half = tables.size() / 2;
      CHECK(relative_error(std::span(gradient).first(half), std::span(expected).first(half)) < 1e-8);
      CHECK(relative_error(std::span(gradient).last(half), std::span(expected).last(half)) < 1e-8);
    }
  }

  TEST_CASE("static gates are invariant under the population and balanced samples, not under an independent one") {
    const SingleBlock model{2, 2, 1, 6, 1.0, 2.0};
    const double kappa = 0.7;
    const Geometry geometry = Geometry::exact(kappa, 6);
    const std::vector<double> bias = normals(2 * model.branch_rows(), 1.0, 120), tables = tables_from_bias(model, bias);
    std::vector<double> expected(bias.size());
    const double loss = static_bias_loss(model, bias.data(), expected.data());
    for (double& x : expected) x *= -static_speed(model, kappa);  // db/dt = -c dLoss/db
    Contexts population(2, 2);
    for_each_context(model, [&](std::span<const Token> context) { population.append(context); });
    for (const Contexts& contexts : {population, sample_balanced(model, 3, 121)}) {
      std::vector<double> gradient(tables.size()), velocity(tables.size());
      CHECK(table_loss(model, geometry, contexts, tables, gradient) == doctest::Approx(loss).epsilon(1e-13));
      geometry.apply(gradient, velocity);
      for (double& v : velocity) v = -v;
      CHECK(relative_error(velocity, tables_from_bias(model, expected)) < 1e-13);
    }
    std::vector<double> gradient(tables.size());
    table_loss(model, geometry, sample_independent(model, 7, 122), tables, gradient);
    const std::vector<double> means = static_part(model, gradient);
    CHECK(relative_error(gradient, tables_from_bias(model, means)) > 0.1);
    CHECK(relative_error(token_sums(model, gradient), token_sums(model, tables_from_bias(model, means))) < 1e-13);
  }

  TEST_CASE("both samplers' mean loss is the population loss by enumeration (5 standard errors)") {
    for (const SingleBlock& model : {SingleBlock{2, 2, 1, 5, 1.0, 3.0}, SingleBlock{2, 2, 2, 6, 0.8, 4.0}}) {
      const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
      const std::vector<double> tables = normals(model.table_size(), 2.0, 130);
      Contexts population(2, 2);
      for_each_context(model, [&](std::span<const Token> context) { population.append(context); });
      std::vector<double> gradient(tables.size());
      const double expected = table_loss(model, geometry, population, tables, gradient);
      // One unit: one independent context, or one group of the balanced sampler; units are independent.
      const auto check = [&](const Contexts& contexts, std::size_t unit) {
        const std::size_t units = contexts.size() / unit;
        double mean = 0.0, squares = 0.0;
        ContextGates gates(model);
        for (std::size_t k = 0; k < units; ++k) {
          double loss = 0.0;
          for (std::size_t m = k * unit; m < (k + 1) * unit; ++m) {
            gates_from_tables(model, tables, contexts[m], gates);
            loss += context_loss(model, gates) / double(unit);
          }
          mean += loss / double(units);
          squares += loss * loss / double(units);
        }
        const double error = std::sqrt((squares - mean * mean) / double(units));
        CHECK(error > 1e-5);
        CHECK(std::abs(mean - expected) < 5.0 * error);
        CHECK(error < 0.01);
        std::vector<double> sampled(tables.size());
        table_loss(model, geometry, contexts, tables, sampled);
        CHECK(relative_error(sampled, gradient) < 0.1);
      };
      check(sample_independent(model, 20000, 131), 1);
      check(sample_balanced(model, 20000, 132), balanced_group(model));
    }
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("loss and gradient of tables have the same bits at any number of threads") {
    const SingleBlock model{4, 3, 2, 24, 1.0, 2.0};
    const Contexts contexts = sample_independent(model, 700, 140);
    const std::vector<double> tables = normals(model.table_size(), 1.0, 141);
    for (const Geometry& geometry : {Geometry::exact(1.0, 24), Geometry::perturbed(1.0, 0.05, 1, 24)}) {
      std::vector<double> first(tables.size()), again(tables.size());
      double loss = 0.0;
      {
        const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
        loss = table_loss(model, geometry, contexts, tables, first);
      }
      for (const int threads : {2, 3, 8}) {
        const tbb::global_control several(tbb::global_control::max_allowed_parallelism, threads);
        CHECK(table_loss(model, geometry, contexts, tables, again) == loss);
        CHECK(again == first);
      }
    }
  }
}
