// The trapping certificate (theory.md section 5): its inequality, its soundness, and flows that stop on it.
#include "proofs/trapping.hpp"
#include "sampled_flow.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "flow/flow.hpp"
#include "loss/context_loss.hpp"
#include "model/random.hpp"
#include "proofs/ball.hpp"

using namespace phaselock;
using test::table_flow;

namespace {

/// Weights with 1 - eta <= p(target), otherwise arbitrary; on the boundary if `extreme`.
void fill_box_gate(double* p, int count, int target, double eta, bool extreme, Stream& stream) {
  const double off = extreme ? eta : eta * stream.uniform();
  double total = 0.0;
  for (int s = 0; s < count; ++s) total += p[s] = s == target ? 0.0 : std::pow(stream.uniform(), 4.0);
  for (int s = 0; s < count; ++s) p[s] *= off / total;
  p[target] = 1.0 - off;
}

ContextGates random_in_box(const SingleBlock& model, const std::vector<int>& selection, double eta, Stream& stream) {
  ContextGates gates(model);
  const bool extreme = stream.below(2) == 0;
  for (int h = 0; h < model.heads; ++h)
    for (int l = 0; l < model.blocks; ++l) {
      fill_box_gate(&gates.key[gate_index(model, h, l, 0)], model.positions, selection[h], eta, extreme, stream);
      fill_box_gate(&gates.value[gate_index(model, h, l, 0)], model.positions, selection[h] + 1, eta, extreme, stream);
    }
  return gates;
}

/// The certificate's inequality at one point: the least over gates of (1 - eta) min (d_s - d_t) - eta max |d_u - d_s|.
double margin_at(const SingleBlock& model, const std::vector<int>& selection, double eta, const ContextGates& d) {
  double margin = INFINITY;
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < model.heads; ++h)
      for (int l = 0; l < model.blocks; ++l) {
        const double* gate = (branch == key_branch ? d.key : d.value).data() + gate_index(model, h, l, 0);
        const int target = selection[h] + branch;
        double least = INFINITY, low = INFINITY, high = -INFINITY;
        for (int s = 0; s < model.positions; ++s) {
          if (s == target) continue;
          least = std::min(least, gate[s] - gate[target]);
          low = std::min(low, gate[s]);
          high = std::max(high, gate[s]);
        }
        margin = std::min(margin, (1 - eta) * least - eta * (high - low));
      }
  return margin;
}

struct Case {
  SingleBlock model;
  std::vector<int> selection;
};

const Case cases[] = {{{4, 4, 3, 1000, 1.0, 1.0}, {1, 1, 2}}, {{4, 4, 1, 118, 1.0, 8.0}, {0}},
                      {{4, 4, 3, 100, 1.0, 8.0}, {0, 1, 2}},  {{5, 3, 2, 40, 0.5, 2.0}, {1, 1}},
                      {{4, 6, 3, 64, 0.8, 1.0}, {0, 4, 2}},   {{8, 8, 4, 128, 1.0, 4.0}, {0, 2, 4, 6}}};

/// A table whose gates all lie exactly on the boundary of the box: every token's target logit is `gap` above the greatest other.
std::vector<double> boundary_tables(const SingleBlock& model, const std::vector<int>& selection, double gap, std::uint64_t seed) {
  Stream stream(seed, Purpose::choice);
  std::vector<double> tables(model.table_size());
  const std::size_t N = model.vocabulary;
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < model.heads; ++h)
      for (int s = 0; s < model.positions; ++s)
        for (std::size_t i = 0; i < N; ++i) {
          const bool target = s == selection[h] + branch;
          const double spread = i == 0 ? 0.0 : stream.uniform();  // token 0 is the extreme one on both sides
          tables[row_index(model, branch, h, s) * N + i] = target ? gap + spread : -spread;
        }
  return tables;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the largest eta at the models worked out in the theory note") {
    CHECK(largest_eta({4, 4, 3, 1000, 1.0, 1.0}, std::vector{1, 1, 2}) == doctest::Approx(0.26).epsilon(0.005));
    CHECK(largest_eta({4, 4, 1, 118, 1.0, 8.0}, std::vector{0}) == doctest::Approx(0.0067).epsilon(0.02));
    CHECK(largest_eta({4, 4, 1, 114, 1.0, 8.0}, std::vector{0}) == 0.0);         // N* = 114.4
    CHECK(largest_eta({4, 4, 3, 1000, 1.0, 8.0}, std::vector{0, 0, 2}) == 0.0);  // N* = 2940
    CHECK(largest_eta({3, 4, 1, 1000, 1.0, 1.0}, std::vector{0}) == 0.0);        // w is not convex enough for the note's bounds
  }

  TEST_CASE("a box is proved just below the largest eta and refused just above it") {
    for (const Case& c : cases) {
      const double eta = largest_eta(c.model, c.selection);
      REQUIRE(eta > 0.0);
      CHECK(prove_trapping(c.model, c.selection, eta * (1 - 1e-6)));
      CHECK_FALSE(prove_trapping(c.model, c.selection, eta * (1 + 1e-6)));
      CHECK_FALSE(prove_trapping(c.model, c.selection, 0.0));
      CHECK_FALSE(prove_trapping(c.model, c.selection, 0.5));
    }
  }

  TEST_CASE("balls of any precision enclose the same margin, and the double value") {
    for (const Case& c : cases) {
      const double eta = 0.9 * largest_eta(c.model, c.selection);
      const double plain = trapping_margin(c.model, c.selection, eta);
      double low = -INFINITY, high = INFINITY;
      for (slong bits : {64, 128, 256, 512}) {
        Ball::precision() = bits;
        const Ball margin = trapping_margin(c.model, c.selection, Ball(eta));
        CHECK(margin.lower() <= plain + 1e-12);
        CHECK(margin.upper() >= plain - 1e-12);
        CHECK(margin.lower() >= low - 1e-300);  // sharper with every step
        CHECK(margin.upper() <= high + 1e-300);
        low = std::max(low, margin.lower());
        high = std::min(high, margin.upper());
      }
      Ball::precision() = 128;
      CHECK(high - low < 1e-15);
    }
  }

  TEST_CASE("no point of a proved box has a smaller margin than the certificate says, and the logits move the right way") {
    Stream stream(31, Purpose::choice);
    for (const Case& c : cases) {
      const double eta = 0.999 * largest_eta(c.model, c.selection);
      const auto proof = prove_trapping(c.model, c.selection, eta);
      REQUIRE(proof);
      for (int trial = 0; trial < 60; ++trial) {
        const ContextGates gates = random_in_box(c.model, c.selection, eta, stream);
        ContextGates d(c.model);
        context_loss(c.model, gates, &d);
        CHECK(margin_at(c.model, c.selection, eta, d) >= proof->margin);
        std::vector<double> dlogits(c.model.positions);
        for (int branch = 0; branch < 2; ++branch)
          for (int h = 0; h < c.model.heads; ++h)
            for (int l = 0; l < c.model.blocks; ++l) {
              const std::size_t g = gate_index(c.model, h, l, 0);
              softmax_pullback(&(branch == key_branch ? gates.key : gates.value)[g], &(branch == key_branch ? d.key : d.value)[g],
                               c.model.positions, dlogits.data());
              for (int s = 0; s < c.model.positions; ++s) {
                if (s == c.selection[h] + branch)
                  CHECK(dlogits[s] <= 0.0);
                else
                  CHECK(dlogits[s] >= 0.0);
              }
            }
      }
    }
  }

  TEST_CASE("a flow started on the boundary of a box stays inside and converges to the box's selection") {
    const SingleBlock model{4, 3, 2, 24, 1.0, 1.0};
    for (const std::vector<int>& selection : {std::vector{0, 1}, std::vector{1, 1}}) {
      const double eta = (1 - 1e-6) * largest_eta(model, selection);
      REQUIRE(eta > 0.0);
      for (std::uint64_t seed : {1, 2}) {
        const std::vector<double> start = boundary_tables(model, selection, box_gap(model, eta), seed);
        CHECK(logit_gap(model, start, model.vocabulary, selection) == doctest::Approx(box_gap(model, eta)));
        FlowOptions options;
        options.stop = StopRule::time;
        options.integration.until = 1e4;
        options.integration.rtol = 1e-8;
        double gap = logit_gap(model, start, model.vocabulary, selection);
        for (double until : {1.0, 30.0, 1e3, 1e4}) {
          options.integration.until = until;
          const FlowResult flow = table_flow(model, Geometry::exact(1.0, model.vocabulary), sample_balanced(model, 6, seed),
                                             GateClass::linear, start, options);
          const double later = logit_gap(model, flow.state, model.vocabulary, selection);
          CHECK(later >= gap - 1e-7);
          gap = later;
          if (until == 1e4) CHECK(flow.gates.selection == selection);
        }
      }
    }
  }

  TEST_CASE("certified flows stop earlier than by residual, inside the box, on the same selection") {
    const SingleBlock model{4, 4, 3, 64, 1.0, 1.0};
    for (std::uint64_t seed : {1, 2, 3}) {
      FlowOptions options;
      options.trap = Trap(model);
      const FlowResult late = static_flow(model, 1.0, initial_bias(model, 1.0, 1e-2, seed), options);
      options.stop = StopRule::certified;
      const FlowResult early = static_flow(model, 1.0, initial_bias(model, 1.0, 1e-2, seed), options);
      REQUIRE(early.trap);
      CHECK(early.outcome == FlowOutcome::selected);
      CHECK(early.t < 0.5 * late.t);
      CHECK(early.gates.selection == late.gates.selection);
      CHECK(early.residual_all <= early.trap->eta * (1 + 1e-9));
      CHECK(late.trap);
    }
  }

  TEST_CASE("without a box the certified rule falls back on the residual, and nothing is claimed") {
    const SingleBlock model{3, 3, 1, 12, 1.0, 1.0};  // L = 3: outside the certificate's assumptions
    FlowOptions options;
    options.trap = Trap(model);
    options.stop = StopRule::certified;
    const FlowResult flow = static_flow(model, 1.0, initial_bias(model, 1.0, 1e-2, 1), options);
    CHECK(flow.outcome == FlowOutcome::selected);
    CHECK_FALSE(flow.trap);
    CHECK(flow.gates.residual < 1e-3);
  }
}
