// Coordination of heads: repulsion in the static loss, starts that keep heads apart, annealing (theory.md section 5).
#include "flow/coordination.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "flow/equilibrium.hpp"
#include "flow/flow.hpp"
#include "flow/seeds.hpp"
#include "kernels/ensemble.hpp"
#include "kernels/ensemble_kernel.hpp"
#include "loss/static_curvature.hpp"
#include "loss/static_loss.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "proofs/trapping.hpp"
#include "support.hpp"

using namespace phaselock;
using test::relative_error;

namespace {

const SingleBlock usual{4, 4, 3, 1000, 1.0, 1.0};

SeedOptions with(const Coordination& coordination, double rho = 1e-2) {
  SeedOptions options;
  options.rho = rho;
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  options.coordination = coordination;
  options.ensemble = static_ensemble;
  return options;
}

/// Mean overlap of the keys, pair by pair.
double overlap(const SingleBlock& model, const std::vector<double>& weights) {
  double sum = 0.0;
  int pairs = 0;
  for (int h = 0; h < model.heads; ++h)
    for (int g = 0; g < h; ++g, ++pairs)
      for (int r = 0; r < model.positions; ++r)
        sum += weights[row_index(model, key_branch, h, r)] * weights[row_index(model, key_branch, g, r)];
  return pairs ? sum / pairs : 0.0;
}

int distinct(const std::vector<SeedEnd>& ends, int heads) {
  return int(std::count_if(ends.begin(), ends.end(), [&](const SeedEnd& end) {
    return end.outcome == FlowOutcome::selected && coverage(end.selection) == heads;
  }));
}

/// Mean-free part of the numbers of a gate that correspond to phases.
std::vector<double> matched(const SingleBlock& model, const std::vector<double>& bias, int branch, int head) {
  const double* first = bias.data() + row_index(model, branch, head, branch == key_branch ? 0 : 1);
  std::vector<double> part(first, first + model.phases());
  double mean = 0.0;
  for (const double b : part) mean += b / model.phases();
  for (double& b : part) b -= mean;
  return part;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the repulsion adds the mean overlap of the keys; gradients and Hessians equal finite differences") {
    for (const SingleBlock& model : test::test_models()) {
      const std::vector<double> bias = test::normals(2 * model.branch_rows(), 1.0, 91), weights = static_weights(model, bias);
      const double plain = static_loss<double>(model, weights.data(), nullptr);
      CHECK(static_loss<double>(model, weights.data(), nullptr, 0.7) ==
            doctest::Approx(plain + 0.7 * overlap(model, weights)).epsilon(1e-13));
      const auto of_weights = [&](const std::vector<double>& x) { return static_loss<double>(model, x.data(), nullptr, 0.7); };
      const auto of_bias = [&](const std::vector<double>& x) { return static_bias_loss<double>(model, x.data(), nullptr, 0.7); };
      std::vector<double> d(weights.size()), db(weights.size());
      static_loss(model, weights.data(), d.data(), 0.7);
      static_bias_loss(model, bias.data(), db.data(), 0.7);
      CHECK(relative_error(d, test::finite_differences(of_weights, weights)) < 1e-8);
      CHECK(relative_error(db, test::finite_differences(of_bias, bias)) < 1e-8);
      const Eigen::MatrixXd hessian = bias_hessian(model, bias, 0.7);
      for (std::size_t i = 0; i < bias.size(); ++i) {
        const auto component = [&](const std::vector<double>& x) {
          std::vector<double> g(x.size());
          static_bias_loss(model, x.data(), g.data(), 0.7);
          return g[i];
        };
        const std::vector<double> row = test::finite_differences(component, bias);
        for (std::size_t j = 0; j < bias.size(); ++j) CHECK(std::abs(hessian(i, j) - row[j]) < 1e-9);
      }
      std::vector<double> none(weights.size()), zero(weights.size());
      static_loss(model, weights.data(), none.data());
      static_loss(model, weights.data(), zero.data(), 0.0);
      CHECK(none == zero);
    }
  }

  TEST_CASE("velocities in lanes are those of the loss with repulsion") {
    for (const SingleBlock& model : {usual, SingleBlock{5, 5, 3, 60, 0.8, 2.0}}) {
      const auto kernel = ensemble_kernel(model, 0.7, 0.4), plain = ensemble_kernel(model, 0.7);
      const std::size_t lanes = kernel->lanes(), count = 2 * model.branch_rows();
      const std::vector<double> normal = test::normals(count * lanes, 1.0, 92);
      const LaneNumbers b(normal.begin(), normal.end());
      LaneNumbers s(lanes, 0.5), step(lanes, 0.3), out(count * lanes), without(count * lanes);
      kernel->velocity(b.data(), s.data(), step.data(), 0.25, out.data(), nullptr);
      plain->velocity(b.data(), s.data(), step.data(), 0.25, without.data(), nullptr);
      CHECK(out != without);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        std::vector<double> bias(count), expected(count), found(count);
        for (std::size_t k = 0; k < count; ++k) bias[k] = b[k * lanes + lane];
        static_bias_loss(model, bias.data(), expected.data(), 0.4);
        for (std::size_t k = 0; k < count; ++k) {
          expected[k] *= -0.7 * 0.3 * std::exp(0.5 + 0.25 * 0.3);
          found[k] = out[k * lanes + lane];
        }
        CHECK(relative_error(found, expected) < 1e-12);
      }
    }
  }

  TEST_CASE("spread heads: one direction a head, orthogonal or a simplex, lengths and the rest as drawn") {
    for (const SingleBlock& model :
         {SingleBlock{4, 4, 3, 40, 1.0, 1.0}, SingleBlock{4, 6, 3, 40, 1.0, 1.0}, SingleBlock{4, 5, 1, 40, 1.0, 1.0},
          SingleBlock{4, 6, 5, 40, 1.0, 1.0}, SingleBlock{4, 3, 2, 40, 1.0, 1.0}}) {
      const std::vector<double> drawn = test::normals(2 * model.branch_rows(), 0.3, 93), spread = spread_heads(model, drawn);
      const double expected = model.heads < model.phases() ? 0.0 : -1.0 / (model.phases() - 1);
      for (int h = 0; h < model.heads; ++h) {
        const std::vector<double> key = matched(model, spread, key_branch, h), value = matched(model, spread, value_branch, h);
        CHECK(cosine(key, value) == doctest::Approx(1.0).epsilon(1e-12));
        for (int g = 0; g < h; ++g)
          CHECK(cosine(key, matched(model, spread, key_branch, g)) == doctest::Approx(expected).epsilon(1e-12));
        for (const int branch : {key_branch, value_branch}) {
          const std::vector<double> before = matched(model, drawn, branch, h), after = matched(model, spread, branch, h);
          CHECK(product(after, after) == doctest::Approx(product(before, before)).epsilon(1e-12));
        }
        const std::size_t last_key = row_index(model, key_branch, h, model.positions - 1),
                          first_value = row_index(model, value_branch, h, 0);
        CHECK(spread[last_key] == drawn[last_key]);
        CHECK(spread[first_value] == drawn[first_value]);
      }
      double before = 0.0, after = 0.0;
      for (const double b : drawn) before += b;
      for (const double b : spread) after += b;
      CHECK(after == doctest::Approx(before).epsilon(1e-12));
    }
    // Equivariant under a permutation of the heads: no head is preferred.
    const SingleBlock model{4, 5, 3, 40, 1.0, 1.0};
    const std::vector<double> drawn = test::normals(2 * model.branch_rows(), 0.3, 94);
    const auto rotated = [&](const std::vector<double>& bias) {
      std::vector<double> result(bias.size());
      for (const int branch : {key_branch, value_branch})
        for (int h = 0; h < 3; ++h)
          std::copy_n(bias.begin() + row_index(model, branch, h, 0), model.positions,
                      result.begin() + row_index(model, branch, (h + 1) % 3, 0));
      return result;
    };
    CHECK(relative_error(spread_heads(model, rotated(drawn)), rotated(spread_heads(model, drawn))) < 1e-12);
  }

  TEST_CASE("without coordination a flow has the bits it always had") {
    const std::vector<double> bias = initial_bias(usual, 1.0, 0.1, 3);
    Coordination idle;
    idle.anneal_beta = 8.0;  // for no time
    const FlowResult plain = static_flow(usual, 1.0, bias, {}), other = static_flow(usual, 1.0, bias, {}, idle);
    CHECK(plain.state == other.state);
    CHECK(plain.steps == other.steps);
    CHECK(plain.energy_residual == other.energy_residual);
    CHECK(coordinated_bias(usual, 1.0, 0.1, 3, {}) == bias);
  }

  TEST_CASE("energy and sums are conserved under repulsion and annealing, losses told are the plain model's") {
    Coordination coordination{.repulsion = 0.2, .anneal_until = 50.0, .anneal_beta = 6.0, .anneal_vocabulary = 60};
    const std::vector<double> bias = test::normals(2 * usual.branch_rows(), 0.3, 95);
    FlowOptions options;
    options.integration.until = 400.0;
    options.integration.save_at = {20.0, 50.0, 200.0};
    options.stop = StopRule::time;
    const FlowResult flow = static_flow(usual, 1.0, bias, options, coordination);
    CHECK(flow.t == 400.0);
    CHECK(flow.energy_residual < 1e-8);
    CHECK(*flow.conserved_drift < 1e-8);
    REQUIRE(flow.saved.size() == 3);
    for (const SavedState& saved : flow.saved)
      CHECK(saved.loss == doctest::Approx(static_loss<double>(usual, saved.weights.data(), nullptr)).epsilon(1e-14));
    CHECK(flow.loss == static_bias_loss<double>(usual, flow.state.data(), nullptr));
    CHECK(!flow.trap);

    // The two stages one after the other: first the other model alone, then from there the clock goes on (the field is autonomous).
    Coordination first = coordination, second = coordination;
    first.anneal_until = second.anneal_until = 0.0;
    FlowOptions part = options;
    part.integration.save_at.clear();
    part.integration.until = 50.0;
    const FlowResult early = static_flow(annealed(usual, coordination), 1.0, bias, part, first);
    part.integration.until = 350.0;
    CHECK(relative_error(static_flow(usual, 1.0, early.state, part, second).state, flow.state) < 1e-7);
    // The speed belongs to the annealed N as well: c = kappa + 1/N.
    CHECK(annealed(usual, coordination).vocabulary == 60);
    CHECK(annealed(usual, coordination).beta == 6.0);
    CHECK(annealed(usual, {}).beta == usual.beta);
  }

  TEST_CASE("seeds in lanes end as static_flow's under every kind of coordination, alone and together") {
    const std::vector<Coordination> kinds = {
        {.repulsion = 0.1},
        {.orthogonal = true},
        {.anneal_until = 200.0, .anneal_beta = 8.0, .anneal_vocabulary = 100},
        {.repulsion = 0.05, .orthogonal = true, .anneal_until = 300.0, .anneal_vocabulary = 16}};
    for (const Coordination& kind : kinds) {
      const std::vector<SeedEnd> ends = static_seeds(usual, 1.0, with(kind), 1, 12);
      for (int k = 0; k < 12; ++k) {
        const SeedEnd alone = static_seeds(usual, 1.0, with(kind), 1 + k, 1)[0];
        CHECK(alone.t == ends[k].t);
        CHECK(alone.escape == ends[k].escape);
        CHECK(alone.selection == ends[k].selection);
        if (k >= 4) continue;
        const FlowResult flow = static_flow(usual, 1.0, coordinated_bias(usual, 1.0, 1e-2, 1 + k, kind), with(kind).flow, kind);
        CHECK(flow.outcome == ends[k].outcome);
        CHECK(flow.gates.selection == ends[k].selection);
        CHECK(flow.escape == doctest::Approx(ends[k].escape).epsilon(2e-3));
      }
    }
  }

  TEST_CASE("annealing lasts its time, also for seeds whose gates peak before it ends") {
    const Coordination slow{.anneal_until = 2e4, .anneal_beta = 2.0};
    SeedOptions at_once = with(slow), plain = with({});
    at_once.flow.residual = plain.flow.residual = 1e-2;
    const std::vector<SeedEnd> ends = static_seeds(usual, 1.0, at_once, 1, 4);
    const std::vector<SeedEnd> under_annealed = static_seeds(annealed(usual, slow), 1.0, plain, 1, 4);
    for (int k = 0; k < 4; ++k) {
      REQUIRE(under_annealed[k].outcome == FlowOutcome::selected);
      REQUIRE(under_annealed[k].t < 1.5e4);
      const FlowResult flow =
          static_flow(usual, 1.0, coordinated_bias(usual, 1.0, 1e-2, std::uint64_t(1 + k), slow), at_once.flow, slow);
      CHECK(ends[k].outcome == FlowOutcome::selected);
      CHECK(ends[k].t >= 2e4);
      CHECK(ends[k].t == doctest::Approx(flow.t).epsilon(2e-3));  // the lanes look at once, the flow after a step
      CHECK(ends[k].residual == doctest::Approx(flow.gates.residual).epsilon(1e-4));
    }
  }

  TEST_CASE("each kind of coordination keeps heads apart where by themselves a fifth of the seeds do") {
    const int seeds = 60;
    const auto apart = [&](const Coordination& kind) { return distinct(static_seeds(usual, 1.0, with(kind), 1, seeds), 3); };
    CHECK(apart({}) < 30);
    CHECK(apart({.repulsion = 0.3}) == seeds);
    CHECK(apart({.orthogonal = true}) >= seeds - 3);
    CHECK(apart({.anneal_until = 1000.0, .anneal_beta = 8.0, .anneal_vocabulary = 100}) == seeds);
  }

  TEST_CASE("nothing is proved about the plain model under a repulsion; after annealing it is") {
    FlowOptions options;
    options.stop = StopRule::certified;
    options.trap = Trap(usual);
    const std::vector<double> bias = test::normals(2 * usual.branch_rows(), 1.0, 96);
    CHECK(static_flow(usual, 1.0, bias, options).trap.has_value());
    const FlowResult repelled = static_flow(usual, 1.0, bias, options, {.repulsion = 0.1});
    CHECK(!repelled.trap);
    CHECK(repelled.outcome == FlowOutcome::selected);
    const FlowResult cooled = static_flow(usual, 1.0, bias, options, {.anneal_until = 2e4, .anneal_beta = 2.0});
    CHECK(cooled.trap.has_value());
    CHECK(cooled.t >= 2e4);
  }

  TEST_CASE("bad coordination is refused") {
    CHECK_THROWS_AS(validate(usual, Coordination{.repulsion = -0.1}), DomainError);
    CHECK_THROWS_AS(validate(usual, Coordination{.repulsion = NAN}), DomainError);
    CHECK_THROWS_AS(validate(usual, Coordination{.anneal_until = -1.0}), DomainError);
    CHECK_THROWS_WITH_AS(validate(usual, Coordination{.anneal_until = 1.0, .anneal_vocabulary = 15}),
                         doctest::Contains("coordination.anneal_vocabulary: model.vocabulary = 15 must be"), DomainError);
    CHECK_NOTHROW(validate(usual, Coordination{.anneal_vocabulary = 15}));  // for no time
    const SingleBlock crowded{4, 4, 4, 100, 1.0, 1.0};
    CHECK_THROWS_AS(validate(crowded, Coordination{.orthogonal = true}), DomainError);
    CHECK_THROWS_AS(spread_heads(crowded, std::vector<double>(2 * crowded.branch_rows(), 0.0)), DomainError);
    CHECK_THROWS_AS(static_seeds(usual, 1.0, with({.repulsion = -1.0}), 1, 1), DomainError);
  }
}
