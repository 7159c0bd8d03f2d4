// Observables of trained gates on gates made by hand (theory.md section 7).
#include "loss/observe.hpp"
#include "statistics/occupancy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flow/flow.hpp"
#include "kernels/table_loss.hpp"
#include "loss/static_loss.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

constexpr double never = -800.0;  // a bias of weight zero beside others of order 1

/// Biases [2][H][S] whose weights are those given, in the order keys of all heads, values of all heads.
std::vector<double> bias_of(const std::vector<std::vector<double>>& gates) {
  std::vector<double> bias;
  for (const auto& weights : gates)
    for (const double p : weights) bias.push_back(p > 0.0 ? std::log(p) : never);
  return bias;
}

/// exp of the mean entropy of every gate [2][H] over contexts and blocks.
std::vector<double> exp_mean_entropy(const SingleBlock& model, const std::vector<double>& tables, const Contexts& contexts) {
  std::vector<double> sums(2 * model.heads, 0.0);
  ContextGates gates(model);
  for (std::size_t m = 0; m < contexts.size(); ++m) {
    gates_from_tables(model, tables, contexts[m], gates);
    for (int h = 0; h < model.heads; ++h)
      for (int l = 0; l < model.blocks; ++l)
        for (int branch = 0; branch < 2; ++branch) {
          const double* p = (branch == 0 ? gates.key : gates.value).data() + gate_index(model, h, l, 0);
          sums[branch * model.heads + h] += std::log(effective_offsets({p, std::size_t(model.positions)}));
        }
  }
  for (double& sum : sums) sum = std::exp(sum / (double(contexts.size()) * model.blocks));
  return sums;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("effective offsets: 1 at a one-hot gate, S at the uniform one, exp of the entropy between") {
    CHECK(effective_offsets(std::vector<double>{0.0, 1.0, 0.0}) == 1.0);
    CHECK(effective_offsets(std::vector<double>{0.25, 0.25, 0.25, 0.25}) == doctest::Approx(4.0).epsilon(1e-14));
    CHECK(effective_offsets(std::vector<double>{0.5, 0.0, 0.5}) == doctest::Approx(2.0).epsilon(1e-14));
    CHECK(effective_offsets(std::vector<double>{0.5, 0.25, 0.25}) == doctest::Approx(std::pow(2.0, 1.5)).epsilon(1e-14));
  }

  TEST_CASE("selection: adjacent peaks of key and value above 0.9, and nothing else") {
    const SingleBlock model{4, 3, 7, 20};
    const std::vector<double> e0 = {1, 0, 0}, e1 = {0, 1, 0}, e2 = {0, 0, 1};
    const GateObservation gates = observe_static(model, bias_of({e0,
                                                                 e1,
                                                                 e1,
                                                                 e2,
                                                                 {0.69, 0.31, 0},
                                                                 {0.95, 0.05, 0},
                                                                 e0,  // keys
                                                                 e1,
                                                                 e2,
                                                                 e1,
                                                                 e0,
                                                                 e1,
                                                                 {0.05, 0.95, 0},
                                                                 {0.31, 0.69, 0}}));  // values
    CHECK(gates.selection == std::vector<int>{0, 1, -1, -1, -1, 0, -1});
    CHECK(gates.residual == doctest::Approx(0.31).epsilon(1e-12));
    CHECK(coverage(gates.selection) == 2);
    CHECK(gates.static_offsets == gates.avg_offsets);
    CHECK(gates.static_offsets[0] == 1.0);
    CHECK(gates.static_offsets[4] == doctest::Approx(std::exp(-0.69 * std::log(0.69) - 0.31 * std::log(0.31))).epsilon(1e-12));
    for (std::size_t row = 0; row < gates.weights.size(); row += 3)
      CHECK(gates.weights[row] + gates.weights[row + 1] + gates.weights[row + 2] == doctest::Approx(1.0).epsilon(1e-14));
  }

  TEST_CASE("coverage counts distinct positions; heads without one do not count") {
    CHECK(coverage(std::vector<int>{0, 0, 2}) == 2);
    CHECK(coverage(std::vector<int>{0, 1, 2}) == 3);
    CHECK(coverage(std::vector<int>{-1, -1, 1}) == 1);
    CHECK(coverage(std::vector<int>{-1}) == 0);
  }

  TEST_CASE("uniform gates: S effective offsets, no selection, residual 1 - 1/S") {
    const SingleBlock model{4, 4, 2, 20};
    const GateObservation gates = observe_static(model, std::vector<double>(2 * model.branch_rows(), 0.3));
    for (const double offsets : gates.static_offsets) CHECK(offsets == doctest::Approx(4.0).epsilon(1e-14));
    CHECK(gates.selection == std::vector<int>{-1, -1});
    CHECK(gates.residual == doctest::Approx(0.75).epsilon(1e-14));
  }

  TEST_CASE("tables with constant rows are observed as the static gates they are") {
    const SingleBlock model{4, 4, 3, 40, 0.7, 3.0};
    const std::vector<double> bias = test::normals(2 * model.branch_rows(), 2.0, 38), tables = tables_from_bias(model, bias);
    const Contexts contexts = sample_independent(model, 5, 32);
    const GateObservation static_ = observe_static(model, bias), linear = observe_tables(model, tables, contexts);
    CHECK(test::relative_error(linear.weights, static_.weights) < 1e-13);
    CHECK(test::relative_error(linear.static_offsets, static_.static_offsets) < 1e-13);
    CHECK(test::relative_error(linear.avg_offsets, static_.static_offsets) < 1e-13);
    CHECK(linear.residual == doctest::Approx(static_.residual).epsilon(1e-13));
    CHECK(linear.selection == static_.selection);
    const PhaseCurve curve = phase_curve_static(model, bias);
    const PhaseCurve sampled = phase_curve_tables(model, Geometry::exact(1.0, model.vocabulary), tables, contexts);
    CHECK(test::relative_error(sampled.loss, curve.loss) < 1e-13);
    CHECK(test::relative_error(sampled.probability, curve.probability) < 1e-13);
    for (int r = 0; r < 3; ++r) CHECK(sampled.accuracy[r] == doctest::Approx(curve.accuracy[r]).epsilon(1e-13));
    CHECK(curve.mean > 0.0);
  }

  TEST_CASE("averages of token-dependent gates: weights, both effective offsets and the residual against their definitions") {
    const SingleBlock model{2, 3, 1, 6};
    const std::vector<double> tables = test::normals(model.table_size(), 1.0, 33);
    const Contexts contexts = sample_independent(model, 50, 34);
    const GateObservation gates = observe_tables(model, tables, contexts);
    double residual = 0.0;
    for (const int branch : {key_branch, value_branch}) {
      std::vector<double> mean(3, 0.0), all;
      double offsets = 0.0;
      for (std::size_t m = 0; m < contexts.size(); ++m)
        for (int l = 0; l < 2; ++l) {
          std::vector<double> logits(3), p(3);
          for (int r = 0; r < 3; ++r) logits[r] = tables[(3 * branch + r) * 6 + contexts[m][l * 3 + r]];
          softmax(logits.data(), 3, p.data());
          for (int r = 0; r < 3; ++r) mean[r] += p[r] / 100;
          offsets += effective_offsets(p) / 100;
          all.insert(all.end(), p.begin(), p.end());
        }
      const auto first = gates.weights.begin() + 3 * branch;
      CHECK(test::relative_error(std::vector<double>(first, first + 3), mean) < 1e-13);
      CHECK(gates.avg_offsets[branch] == doctest::Approx(offsets).epsilon(1e-13));
      CHECK(gates.static_offsets[branch] == doctest::Approx(effective_offsets(mean)).epsilon(1e-13));
      const int peak = int(std::max_element(mean.begin(), mean.end()) - mean.begin());
      for (std::size_t k = 0; k < all.size(); k += 3) residual = std::max(residual, 1.0 - all[k + peak]);
    }
    CHECK(gates.residual == doctest::Approx(residual).epsilon(1e-13));
  }

  TEST_CASE("exp(E Ent) <= static offsets always; avg <= static for S = 3, not for S = 4") {
    for (const int S : {3, 4})
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const SingleBlock model{4, S, 2, 30};
        const std::vector<double> tables = test::normals(model.table_size(), 2.0, 100 + seed);
        const Contexts contexts = sample_independent(model, 8, seed);
        const GateObservation gates = observe_tables(model, tables, contexts);
        const std::vector<double> lower = exp_mean_entropy(model, tables, contexts);
        for (std::size_t k = 0; k < lower.size(); ++k) {
          CHECK(lower[k] <= gates.static_offsets[k] + 1e-12);
          CHECK(lower[k] <= gates.avg_offsets[k] + 1e-12);
          if (S == 3) CHECK(gates.avg_offsets[k] <= gates.static_offsets[k] + 1e-12);
        }
      }
    // At S = 4 exp Ent is convex along (x, (1-x)/3, (1-x)/3, (1-x)/3) near x = 0.87: gates of x = 0.86 and 0.88 by token.
    const SingleBlock model{2, 4, 1, 8};
    std::vector<double> tables(model.table_size(), 0.0);
    for (int i = 0; i < 8; ++i) tables[i] = i % 2 ? std::log(3 * 0.86 / 0.14) : std::log(3 * 0.88 / 0.12);
    const GateObservation gates = observe_tables(model, tables, sample_balanced(model, 64, 35));
    CHECK(gates.avg_offsets[0] > gates.static_offsets[0] + 1e-6);
  }

  TEST_CASE("residual bound: above the residual of any context, met by the worst one, exact for static gates") {
    const SingleBlock model{4, 3, 2, 60};
    int attained = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      std::vector<double> tables = test::normals(model.table_size(), 0.4, 200 + seed);
      for (const int row : {0, 4, 7, 11})  // lift one row of each gate: targets 0, 1, 1, 2
        for (int i = 0; i < 60; ++i) tables[row * 60 + i] += 6.0;
      const Contexts contexts = sample_independent(model, 400, seed);
      const GateObservation gates = observe_tables(model, tables, contexts);
      const double bound = residual_bound(model, tables, 60, gates);
      CHECK(bound >= gates.residual);
      CHECK(bound < 20 * gates.residual);
      // The block that meets it for one gate: least token of the target, greatest of the others.
      double met = 0.0;
      for (const auto& [row, target] : {std::pair{0, 0}, {3, 1}, {6, 1}, {9, 2}}) {
        std::vector<Token> block;
        for (int s = 0; s < 3; ++s) {
          const auto first = tables.begin() + (row + s) * 60, last = first + 60;
          block.push_back(Token((s == target ? std::min_element(first, last) : std::max_element(first, last)) - first));
        }
        if (block[0] == block[1] || block[0] == block[2] || block[1] == block[2]) continue;
        std::vector<double> logits(3), p(3);
        for (int s = 0; s < 3; ++s) logits[s] = tables[(row + s) * 60 + block[s]];
        softmax(logits.data(), 3, p.data());
        met = std::max(met, 1.0 - p[target]);
      }
      CHECK(met <= bound * (1 + 1e-12));
      attained += met > bound * (1 - 1e-9);
    }
    CHECK(attained >= 3);
    const std::vector<double> bias = bias_of({{0.99, 0.01, 0}, {0, 0.97, 0.03}, {0.02, 0.98, 0}, {0, 0.01, 0.99}});
    const GateObservation static_ = observe_static(model, bias);
    CHECK(residual_bound(model, bias, 1, static_) == doctest::Approx(0.03).epsilon(1e-12));
    CHECK(static_.residual == doctest::Approx(0.03).epsilon(1e-12));
    std::vector<double> huge(2 * model.branch_rows(), 0.0);
    huge[0] = -1e6;
    CHECK(std::isfinite(residual_bound(model, huge, 1, observe_static(model, huge))));
  }

  TEST_CASE("phases: a selecting head answers its own phase and no other: a good mean hides a dead phase") {
    const SingleBlock model{4, 4, 2, 100, 1.0, 4.0};
    const std::vector<double> e0 = {1, 0, 0, 0}, e1 = {0, 1, 0, 0}, e2 = {0, 0, 1, 0};
    const PhaseCurve curve = phase_curve_static(model, bias_of({e0, e1, e1, e2}));
    CHECK(curve.accuracy == std::vector<double>{1.0, 1.0, 0.0});
    CHECK(curve.mean == doctest::Approx(2.0 / 3).epsilon(1e-14));
    CHECK(curve.worst == 0.0);
    CHECK(curve.gap == 1.0);
    // Covered phase: one head at w(1) on the answer and o(1) elsewhere, the other at 1/L on its own value offset of each block.
    const Attention<double> a = attention(model, 1.0);
    const double Z = 100 - 8 + std::exp(4 * a.w) + 3 * std::exp(4 * a.o) + 4 * std::exp(1.0);
    const double dead = 100 - 8 + 8 * std::exp(1.0);  // both heads spread over the blocks, and none holds the answer
    CHECK(curve.probability[0] == doctest::Approx(std::exp(4 * a.w) / Z).epsilon(1e-13));
    CHECK(curve.probability[1] == doctest::Approx(curve.probability[0]).epsilon(1e-13));
    CHECK(curve.probability[2] == doctest::Approx(1 / dead).epsilon(1e-13));
    for (int r = 0; r < 3; ++r) CHECK(curve.loss[r] == doctest::Approx(-std::log(curve.probability[r])).epsilon(1e-13));
  }

  TEST_CASE("phases: k tokens that tie for the highest probability credit 1/k") {
    const SingleBlock model{4, 4, 1, 50, 1.0, 2.0};
    const PhaseCurve uniform = phase_curve_static(model, std::vector<double>(2 * model.branch_rows(), 0.0));
    for (const double accuracy : uniform.accuracy) CHECK(accuracy == 0.25);  // the S tokens of the query's block
    CHECK(uniform.mean == 0.25);
    CHECK(uniform.gap == 0.0);
    const PhaseCurve half = phase_curve_static(model, bias_of({{0.5, 0.5, 0, 0}, {0, 0.5, 0.5, 0}}));
    CHECK(half.accuracy == std::vector<double>{0.5, 0.5, 0.0});
    // A value gate on offset 0 answers nothing; keys on the last offset see nothing.
    const PhaseCurve blind = phase_curve_static(model, bias_of({{0, 0, 0, 1}, {1, 0, 0, 0}}));
    CHECK(blind.accuracy == std::vector<double>{0.0, 0.0, 0.0});
    // A key that sees nothing before a value on the answer: the L blocks tie.
    const PhaseCurve blocks = phase_curve_static(model, bias_of({{0, 0, 0, 1}, {0, 1, 0, 0}}));
    CHECK(blocks.accuracy == std::vector<double>{0.25, 0.0, 0.0});
  }

  TEST_CASE("shapes: what a selection is worth depends on how many heads sit on each position alone") {
    const SingleBlock model{4, 5, 3, 60, 0.8, 2.0};
    for (const std::vector<int>& selection : {std::vector<int>{2, 0, 2}, {3, 1, 0}, {1, 1, 1}}) {
      std::vector<double> weights(2 * model.branch_rows(), 0.0);
      for (int h = 0; h < 3; ++h)
        weights[row_index(model, key_branch, h, selection[h])] = weights[row_index(model, value_branch, h, selection[h] + 1)] = 1.0;
      const std::vector<int> shape = shape_of(selection);
      const PhaseCurve found = phase_curve_of_shape(model, shape), direct = phase_curve_weights(model, weights);
      for (auto curves : {std::pair(found.loss, direct.loss), std::pair(found.probability, direct.probability),
                          std::pair(found.accuracy, direct.accuracy)}) {
        std::sort(curves.first.begin(), curves.first.end());
        std::sort(curves.second.begin(), curves.second.end());
        for (int r = 0; r < 4; ++r) CHECK(curves.first[r] == doctest::Approx(curves.second[r]).epsilon(1e-13));
      }
      const ShapeQuality quality = shape_quality(model, shape);
      CHECK(quality.mean_loss == doctest::Approx(static_loss<double>(model, weights.data(), nullptr)).epsilon(1e-13));
      CHECK(quality.worst_loss == doctest::Approx(*std::max_element(direct.loss.begin(), direct.loss.end())).epsilon(1e-13));
      CHECK(quality.worst_probability == doctest::Approx(std::exp(-quality.worst_loss)).epsilon(1e-12));
      CHECK(quality.mean_probability > quality.worst_probability);
      CHECK(quality.mean_accuracy == doctest::Approx(direct.mean));
      CHECK(quality.worst_accuracy == direct.worst);
    }
    // A distinct pattern has the least mean loss of all selections (theory.md section 4).
    CHECK(shape_quality(model, std::vector<int>{1, 1, 1}).mean_loss < shape_quality(model, std::vector<int>{2, 1}).mean_loss);
    for (const std::vector<int>& bad : {std::vector<int>{}, {2}, {2, 2}, {3, 0}, {1, 1, 1, 1, -1}})
      CHECK_THROWS_AS(phase_curve_of_shape(model, bad), DomainError);
    CHECK_THROWS_AS(phase_curve_of_shape({4, 3, 3, 60, 1.0, 1.0}, std::vector<int>{1, 1, 1}), DomainError);
  }

  TEST_CASE("phases of tables: a phase that every context answers has accuracy 1 exactly") {
    const SingleBlock model{4, 4, 2, 100, 1.0, 4.0};
    const std::vector<double> bias = bias_of({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}});
    const PhaseCurve curve =
        phase_curve_tables(model, Geometry::exact(1.0, 100), tables_from_bias(model, bias), sample_balanced(model, 75, 39));
    CHECK(curve.accuracy == std::vector<double>{1.0, 1.0, 0.0});
    CHECK(curve.gap == 1.0);
  }

  TEST_CASE("phases of tables: their mean loss is the loss; a dense matrix of the exact geometry gives the same curve") {
    const SingleBlock model{4, 4, 2, 24, 0.8, 3.0};
    const Geometry exact = Geometry::exact(0.7, 24);
    const Geometry dense = Geometry::dense(Eigen::MatrixXd::Constant(24, 24, 0.7) + Eigen::MatrixXd::Identity(24, 24));
    const Contexts contexts = sample_independent(model, 6, 36);
    for (const double scale : {0.0, 1.5}) {
      const std::vector<double> tables = test::normals(model.table_size(), scale, 37);
      const PhaseCurve a = phase_curve_tables(model, exact, tables, contexts),
                       b = phase_curve_tables(model, dense, tables, contexts);
      CHECK(test::relative_error(b.loss, a.loss) < 1e-12);
      CHECK(test::relative_error(b.probability, a.probability) < 1e-12);
      CHECK(test::relative_error(b.accuracy, a.accuracy) < 1e-12);
      CHECK(b.mean == doctest::Approx(a.mean).epsilon(1e-12));
      double mean = 0.0;
      for (const double loss : a.loss) mean += loss / 3;
      CHECK(mean == doctest::Approx(table_loss(model, exact, contexts, tables)).epsilon(1e-13));
    }
  }

  TEST_CASE("head by phase: leaving a head out of static gates takes its phase away") {
    // The effect the phase curve is there to show: with three distinct heads every phase is answered, with two of them one is dead.
    const SingleBlock three{4, 4, 3, 1000}, two{4, 4, 2, 1000};
    const std::vector<double> e0 = {1, 0, 0, 0}, e1 = {0, 1, 0, 0}, e2 = {0, 0, 1, 0}, e3 = {0, 0, 0, 1};
    CHECK(phase_curve_static(three, bias_of({e0, e1, e2, e1, e2, e3})).worst == 1.0);
    CHECK(phase_curve_static(two, bias_of({e0, e2, e1, e3})).accuracy == std::vector<double>{1.0, 0.0, 1.0});
  }
}
