// Bounds of Theorem 1 (theory.md section 4): N0, N1, loss*, N*(distinct) and margins of patterns.
#include "bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "loss/context_loss.hpp"
#include "random.hpp"
#include "search.hpp"
#include "stability.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

/// The pattern with the same offsets in every block, from [H] offsets.
std::vector<int> in_every_block(const Model& model, const std::vector<int>& offsets) {
  std::vector<int> pattern;
  for (int h = 0; h < model.heads; ++h) pattern.insert(pattern.end(), model.blocks, offsets[h]);
  return pattern;
}

Model random_theorem_model(Stream& stream, int largest_positions = 5) {
  Model model;
  model.blocks = 4 + int(stream.below(3));
  model.positions = 3 + int(stream.below(largest_positions - 2));
  model.heads = 1 + int(stream.below(model.positions - 1));
  model.gamma = 0.2 + 0.8 * stream.uniform();
  model.beta = 0.2 + 8.0 * stream.uniform();
  model.vocabulary = model.slots() + int(stream.below(2000));
  return model;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("N0, N1 and N* at the models worked out in the theory note") {
    CHECK(necessary_n_star({4, 3, 1, 50, 1.0, 10.0}) == doctest::Approx(191.743).epsilon(1e-5));
    CHECK(sufficient_n0({4, 3, 1, 50, 1.0, 10.0}) == doctest::Approx(606.3).epsilon(1e-4));
    CHECK(sufficient_n1({4, 4, 3, 50, 1.0, 8.0}) == doctest::Approx(6536.4).epsilon(1e-5));
    CHECK(sufficient_n0({4, 4, 3, 50, 1.0, 8.0}) == doctest::Approx(4.3e5).epsilon(0.02));
    CHECK(necessary_n_star({4, 4, 3, 50, 1.0, 8.0}) == 16.0);
  }

  TEST_CASE("margins change sign at the reference thresholds of every pattern") {
    for (const auto& c : test::read_json("stability_thresholds.json")) {
      Model model{c["L"], c["S"], c["H"], 16, c["gamma"], c["beta"]};
      const double threshold = c["N_star"];
      if (threshold > 1e9) continue;  // beyond the vocabulary's integer type
      const std::vector<int> pattern = in_every_block(model, c["selection"].get<std::vector<int>>());
      CAPTURE(c.dump());
      model.vocabulary = int(std::ceil(threshold * (1 + 1e-9)));
      CHECK(least(pattern_margins(model, pattern)) > 0.0);
      if (threshold == 16) continue;  // stable from the smallest vocabulary on
      model.vocabulary = int(std::floor(threshold));
      CHECK(least(pattern_margins(model, pattern)) < 0.0);
    }
  }

  TEST_CASE("the closed form of the distinct pattern's stability is its smallest value margin") {
    Stream stream(11, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      Model model = random_theorem_model(stream);
      if (model.heads >= model.phases()) continue;
      const double margin = least(pattern_margins(model, distinct_pattern(model)));
      const double closed = distinct_stability(model) * model.beta / (model.blocks * model.phases());
      CAPTURE(model.vocabulary);
      CHECK((margin > 0.0) == (closed > 0.0));
      if (closed < 0.0) CHECK(margin == doctest::Approx(closed).epsilon(1e-9));
    }
  }

  TEST_CASE("distinct patterns of H = S - 1 heads are stable from N = L S on") {
    for (double beta : {0.5, 4.0, 16.0, 40.0})
      for (int S : {3, 4, 6}) {
        const Model model{4, S, S - 1, 4 * S, 1.0, beta};
        CHECK(least(pattern_margins(model, distinct_pattern(model))) > 0.0);
        CHECK(necessary_n_star(model) == 4 * S);
      }
  }

  TEST_CASE("loss* is the loss of distinct patterns, and no pattern is below it") {
    Stream stream(12, Purpose::choice);
    for (int k = 0; k < 100; ++k) {
      const Model model = random_theorem_model(stream);
      CHECK(distinct_loss(model) == doctest::Approx(context_loss(model, selection_gates(model, distinct_pattern(model)))).epsilon(1e-13));
      std::vector<int> pattern(std::size_t(model.heads) * model.blocks);
      for (int& r : pattern) r = int(stream.below(model.phases()));
      CHECK(context_loss(model, selection_gates(model, pattern)) >= distinct_loss(model) - 1e-13);
    }
  }

  TEST_CASE("the sharp split e^(x+y) + 1 >= e^x + e^y and the discrete convexity of log Z*(k) behind distinctness") {
    Stream stream(13, Purpose::choice);
    for (int k = 0; k < 500; ++k) {
      const double x = 10 * stream.uniform(), y = 10 * stream.uniform();
      CHECK(std::exp(x + y) + 1 >= std::exp(x) + std::exp(y));
      const Model m = random_theorem_model(stream);
      const auto [w1, o1] = attention(m, 1.0);
      const auto log_Z = [&](int heads) {
        return std::log(m.vocabulary + std::expm1(m.beta * heads * w1) + (m.heads - heads) * m.blocks * std::expm1(m.beta / m.blocks) +
                        (m.blocks - 1) * heads * std::expm1(m.beta * o1));
      };
      for (int heads = 1; heads < m.heads; ++heads) CHECK(log_Z(heads - 1) + log_Z(heads + 1) > 2 * log_Z(heads));
    }
  }

  TEST_CASE("above N0 replacing the gates of a head and block by the best selection lowers the loss, whatever the others") {
    Stream stream(14, Purpose::choice);
    int tried = 0;
    for (int k = 0; k < 300; ++k) {
      Model model = random_theorem_model(stream, 4);
      model.beta = 0.2 + 3.0 * stream.uniform();
      const double n0 = sufficient_n0(model);
      if (n0 > 1e9) continue;
      model.vocabulary = std::max(model.slots(), int(std::floor(n0)) + 1);
      ContextGates gates = test::random_gates(model, 1000 + k);
      const double before = context_loss(model, gates);
      const int h = int(stream.below(model.heads)), l = int(stream.below(model.blocks));
      double best = INFINITY;
      for (int r = 0; r < model.phases(); ++r) {
        ContextGates trial = gates;
        for (int s = 0; s < model.positions; ++s) {
          trial.key[gate_index(model, h, l, s)] = s == r;
          trial.value[gate_index(model, h, l, s)] = s == r + 1;
        }
        best = std::min(best, context_loss(model, trial));
      }
      CHECK(best < before);
      ++tried;
    }
    CHECK(tried > 200);
  }
}
