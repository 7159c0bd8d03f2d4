// Gate weights from tables, biases and patterns, and the pullback of derivatives (theory.md section 3).
#include "model/gates.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "statistics/intervals.hpp"
#include "support.hpp"

using namespace phaselock;
using test::normals;
using test::relative_error;

TEST_SUITE("fast") {
  TEST_CASE("softmax: a probability vector, unmoved by a common shift, finite for huge logits") {
    const std::vector<double> logits = {0.3, -1.2, 2.0, 0.0};
    std::vector<double> p(4), shifted = logits, q(4);
    softmax(logits.data(), 4, p.data());
    CHECK(std::accumulate(p.begin(), p.end(), 0.0) == doctest::Approx(1.0).epsilon(1e-15));
    CHECK(p[2] / p[0] == doctest::Approx(std::exp(1.7)).epsilon(1e-14));
    for (double& x : shifted) x += 5.0;
    softmax(shifted.data(), 4, q.data());
    CHECK(relative_error(q, p) < 1e-14);
    for (const double huge : {1e4, -1e4}) {
      const std::vector<double> far = {huge, 0.0};
      softmax(far.data(), 2, q.data());
      CHECK(q[huge > 0 ? 0 : 1] == 1.0);
      CHECK(q[huge > 0 ? 1 : 0] == 0.0);
    }
    std::vector<double> in_place = logits;
    softmax(in_place.data(), 4, in_place.data());
    CHECK(in_place == p);
  }

  TEST_CASE("softmax pullback equals finite differences") {
    const std::vector<double> logits = normals(5, 1.0, 1), d = normals(5, 1.0, 2);
    const auto f = [&](const std::vector<double>& x) {
      std::vector<double> p(5);
      softmax(x.data(), 5, p.data());
      return std::inner_product(p.begin(), p.end(), d.begin(), 0.0);
    };
    std::vector<double> p(5), pulled(5);
    softmax(logits.data(), 5, p.data());
    softmax_pullback(p.data(), d.data(), 5, pulled.data());
    CHECK(relative_error(pulled, test::finite_differences(f, logits)) < 1e-10);
    CHECK(std::abs(std::accumulate(pulled.begin(), pulled.end(), 0.0)) < 1e-15);
  }

  TEST_CASE("gates read the table at the context's token of each position") {
    const Model model{2, 2, 2, 5, 1.0, 1.0};
    const std::vector<double> tables = normals(model.table_size(), 1.0, 3);
    const std::vector<Token> context = {4, 0, 2, 3};
    ContextGates gates(model);
    gates_from_tables(model, tables, context, gates);
    for (int branch = 0; branch < 2; ++branch)
      for (int h = 0; h < 2; ++h)
        for (int l = 0; l < 2; ++l) {
          const double g0 = tables[((branch * 2 + h) * 2 + 0) * 5 + context[l * 2]];
          const double g1 = tables[((branch * 2 + h) * 2 + 1) * 5 + context[l * 2 + 1]];
          const auto& p = branch == key_branch ? gates.key : gates.value;
          CHECK(p[(h * 2 + l) * 2] == doctest::Approx(1.0 / (1.0 + std::exp(g1 - g0))).epsilon(1e-14));
          CHECK(p[(h * 2 + l) * 2 + 1] == doctest::Approx(1.0 / (1.0 + std::exp(g0 - g1))).epsilon(1e-14));
        }
  }

  TEST_CASE("pullback to tables equals finite differences, is weighted and adds") {
    const Model model{3, 4, 2, 14, 1.0, 1.0};
    const Contexts contexts = sample_independent(model, 1, 4);
    const std::vector<double> tables = normals(model.table_size(), 1.0, 5);
    const ContextGates d = test::split(model, normals(2 * model.gate_weights(), 1.0, 6));
    ContextGates gates(model);
    const auto f = [&](const std::vector<double>& x) {
      gates_from_tables(model, x, contexts[0], gates);
      return std::inner_product(gates.key.begin(), gates.key.end(), d.key.begin(), 0.0) +
             std::inner_product(gates.value.begin(), gates.value.end(), d.value.begin(), 0.0);
    };
    std::vector<double> expected = test::finite_differences(f, tables), pulled(tables.size(), 1.0);
    f(tables);
    pull_back_to_tables(model, gates, d, contexts[0], 0.5, pulled);
    for (double& x : expected) x = 1.0 + 0.5 * x;
    CHECK(relative_error(pulled, expected) < 1e-10);
  }

  TEST_CASE("tables of a bias have it as static part and give the same weights in every block") {
    const Model model{3, 4, 2, 14, 1.0, 1.0};
    const std::vector<double> bias = normals(2 * model.branch_rows(), 1.0, 7);
    const std::vector<double> tables = tables_from_bias(model, bias);
    CHECK(tables.size() == model.table_size());
    CHECK(relative_error(static_part(model, tables), bias) < 1e-15);
    ContextGates gates(model);
    gates_from_tables(model, tables, sample_independent(model, 1, 8)[0], gates);
    const ContextGates expected = equal_blocks(model, static_weights(model, bias));
    CHECK(gates.key == expected.key);
    CHECK(gates.value == expected.value);
    CHECK(expected.key != expected.value);
  }

  TEST_CASE("static part is the mean over tokens") {
    const Model model{2, 2, 1, 4, 1.0, 1.0};
    std::vector<double> tables(model.table_size(), 0.0);
    for (int i = 0; i < 4; ++i) tables[row_index(model, value_branch, 0, 1) * 4 + i] = i;
    CHECK(static_part(model, tables) == std::vector<double>{0.0, 0.0, 0.0, 1.5});
  }

  TEST_CASE("a selection puts the key on r and the value on r + 1") {
    const Model model{2, 3, 2, 6, 1.0, 1.0};
    const ContextGates gates = selection_gates(model, std::vector<int>{0, 1, 1, 0});
    CHECK(gates.key == std::vector<double>{1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0});
    CHECK(gates.value == std::vector<double>{0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0});
  }

  TEST_CASE("initial biases are independent normals of the ball's scale (5 standard errors, level 1e-3)") {
    const Model model{4, 4, 3, 64, 1.0, 1.0};
    const double sigma = bias_scale(model, 0.8, 0.05);
    double squares = 0.0;
    std::vector<std::int64_t> sign_pairs(4, 0);
    constexpr int seeds = 2000;
    for (int seed = 0; seed < seeds; ++seed) {
      const std::vector<double> bias = initial_bias(model, 0.8, 0.05, seed);
      for (const double b : bias) squares += b * b / (sigma * sigma);
      ++sign_pairs[2 * (bias[0] > 0) + (bias[13] > 0)];
    }
    const double count = seeds * 2.0 * double(model.branch_rows());
    CHECK(std::abs(squares / count - 1.0) < 5.0 * std::sqrt(2.0 / count));
    CHECK(chi_square_test(sign_pairs, std::vector<double>(4, 0.25)).p_value > 1e-3);
    CHECK(initial_bias(model, 0.8, 0.05, 1) == initial_bias(model, 0.8, 0.05, 1));
    CHECK(initial_bias(model, 0.8, 0.05, 1) != initial_bias(model, 0.8, 0.05, 2));
  }
}
