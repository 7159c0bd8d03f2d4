// Bounds of Theorem 1 (theory.md section 4): N0, N1, loss*, N*(distinct) and margins of patterns.
#include "proofs/bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "loss/context_loss.hpp"
#include "model/random.hpp"
#include "proofs/stability.hpp"
#include "search/search.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

/// The pattern with the same offsets in every block, from [H] offsets.
std::vector<int> in_every_block(const SingleBlock& model, const std::vector<int>& offsets) {
  std::vector<int> pattern;
  for (int h = 0; h < model.heads; ++h) pattern.insert(pattern.end(), model.blocks, offsets[h]);
  return pattern;
}

/// Least loss over selections of one head and block, all other gates as they are.
double best_exchange(const SingleBlock& model, const ContextGates& gates, int h, int l) {
  double best = INFINITY;
  for (int r = 0; r < model.phases(); ++r) {
    ContextGates trial = gates;
    for (int s = 0; s < model.positions; ++s) {
      trial.key[gate_index(model, h, l, s)] = s == r;
      trial.value[gate_index(model, h, l, s)] = s == r + 1;
    }
    best = std::min(best, context_loss(model, trial));
  }
  return best;
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

  TEST_CASE("N1 is where the inequality of section 4.2 begins to hold, whichever of the gain's two bounds is the larger") {
    const auto excess = [](const Model& m, double N) {  // right minus left side, written out anew
      const auto E = [](double x) { return std::expm1(x); };
      const double L = m.blocks, S = m.positions, H = m.heads, n = S - 1, w1 = attention(m, 1.0).w, o1 = attention(m, 1.0).o;
      const double D = w1 - 1 / L, q = w1 + (S - 2) / L + n * (1 - 1 / L);
      const double z1 = E(m.beta * w1) + L * (H - 1) * E(m.beta / L) + (L - 1) * E(m.beta * o1), z0 = L * H * E(m.beta / L);
      const double Lam = L * (H * std::log1p(z1 / N) + (n - H) * std::log1p(z0 / N)), second = 1 - Lam / (m.beta * D);
      const double gain = D * std::max(0.5, second);
      return std::pair(gain - std::exp(2 * w1 * Lam / D) * (w1 * Lam + q / N), second < 0.5);
    };
    int by_half = 0, by_second = 0;
    for (int S : {3, 4, 6})
      for (int H = 1; H < S; ++H)
        for (double beta : {0.01, 0.1, 1.0, 4.0, 8.0}) {
          SingleBlock model{4, S, H, 4 * S, 1.0, beta};
          CAPTURE(S);
          CAPTURE(H);
          CAPTURE(beta);
          const double n1 = sufficient_n1(model);
          const auto [above, half] = excess(model, n1 * (1 + 1e-9));
          CHECK(above > 0.0);
          if (n1 == model.slots()) continue;  // it holds from the smallest vocabulary on
          CHECK(excess(model, n1 * (1 - 1e-9)).first < 0.0);
          model.vocabulary = int(std::ceil(n1));
          CHECK(above_n1(model) == Decision::yes);
          model.vocabulary = int(std::ceil(n1)) - 1;
          CHECK(above_n1(model) == Decision::no);
          ++(half ? by_half : by_second);
        }
    CHECK(by_half >= 3);
    CHECK(by_second >= 3);
  }

  TEST_CASE("margins change sign at the reference thresholds of every pattern") {
    for (const auto& c : test::read_json("stability_thresholds.json")) {
      SingleBlock model{c["L"], c["S"], c["H"], 16, c["gamma"], c["beta"]};
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
      SingleBlock model = test::random_theorem_model(stream);
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
        const SingleBlock model{4, S, S - 1, 4 * S, 1.0, beta};
        CHECK(least(pattern_margins(model, distinct_pattern(model))) > 0.0);
        CHECK(necessary_n_star(model) == 4 * S);
      }
  }

  TEST_CASE("loss* is the loss of distinct patterns, and no pattern is below it") {
    Stream stream(12, Purpose::choice);
    for (int k = 0; k < 100; ++k) {
      const SingleBlock model = test::random_theorem_model(stream);
      CHECK(distinct_loss(model) ==
            doctest::Approx(context_loss(model, selection_gates(model, distinct_pattern(model)))).epsilon(1e-13));
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
      const SingleBlock m = test::random_theorem_model(stream);
      const auto [w1, o1] = attention(m, 1.0);
      const auto log_Z = [&](int heads) {
        return std::log(m.vocabulary + std::expm1(m.beta * heads * w1) +
                        (m.heads - heads) * m.blocks * std::expm1(m.beta / m.blocks) +
                        (m.blocks - 1) * heads * std::expm1(m.beta * o1));
      };
      for (int heads = 1; heads < m.heads; ++heads) CHECK(log_Z(heads - 1) + log_Z(heads + 1) > 2 * log_Z(heads));
    }
  }

  TEST_CASE("decisions and enclosures agree with the double functions") {
    Stream stream(15, Purpose::choice);
    const auto inside = [](double x, Enclosure e) { return e.low <= x * (1 + 1e-12) && x * (1 - 1e-12) <= e.high; };
    for (int k = 0; k < 200; ++k) {
      const SingleBlock model = test::random_theorem_model(stream);
      CAPTURE(k);
      const double N = model.vocabulary, n0 = sufficient_n0(model), n1 = sufficient_n1(model), n2 = sufficient_n2(model),
                   n_star = necessary_n_star(model);
      for (const auto& [x, e] : {std::pair{n0, enclose_n0(model)},
                                 {n1, enclose_n1(model)},
                                 {n2, enclose_n2(model)},
                                 {n_star, enclose_n_star(model)},
                                 {distinct_loss(model), enclose_distinct_loss(model)}}) {
        CHECK(inside(x, e));
        CHECK(e.high - e.low <= 1e-12 * std::abs(x));
      }
      CHECK((above_n0(model) == Decision::yes) == (N > n0));
      CHECK((above_n1(model) == Decision::yes) == (N > n1 || n1 == model.slots()));
      CHECK((above_n2(model) == Decision::yes) == (N > n2 || n2 == model.slots()));
      CHECK((below_n_star(model) == Decision::yes) == (N < n_star));
      if (model.heads < model.phases()) {
        const Enclosure stability = enclose_distinct_stability(model);
        CHECK((stability.high < 0.0) == (below_n_star(model) == Decision::yes));
        CHECK(distinct_stability(model) == doctest::Approx(stability.low).epsilon(1e-9));
      }
    }
  }

  TEST_CASE("decisions at the vocabularies next to the bounds of the theory note") {
    const auto at = [](int N) { return SingleBlock{4, 3, 1, N, 1.0, 10.0}; };
    CHECK(below_n_star(at(191)) == Decision::yes);
    CHECK(below_n_star(at(192)) == Decision::no);
    CHECK(above_n0(at(606)) == Decision::no);
    CHECK(above_n0(at(607)) == Decision::yes);
    CHECK(above_n2(at(512)) == Decision::no);
    CHECK(above_n2(at(513)) == Decision::yes);
    CHECK(above_n1({4, 4, 3, 6536, 1.0, 8.0}) == Decision::no);
    CHECK(above_n1({4, 4, 3, 6537, 1.0, 8.0}) == Decision::yes);
    CHECK(below_n_star({4, 4, 3, 16, 1.0, 8.0}) == Decision::no);  // H = S - 1
    CHECK(enclose_n1({4, 4, 3, 16, 1.0, 700.0 / 3}).low > 1e49);   // no overflow
  }

  TEST_CASE("form 2: log(Z'/Z) is at most beta sum of rise * E(beta m')/(N + E(beta m')), for any change that keeps the sum of m") {
    Stream stream(16, Purpose::choice);
    for (int k = 0; k < 500; ++k) {
      const int tokens = 3 + int(stream.below(12));
      const double beta = 8 * stream.uniform(), N = tokens + 100 * stream.uniform();
      std::vector<double> before(tokens), after(tokens);
      double sum_before = 0.0, sum_after = 0.0;
      for (int j = 0; j < tokens; ++j) {
        sum_before += before[j] = std::pow(stream.uniform(), 3);
        sum_after += after[j] = std::pow(stream.uniform(), 3);
      }
      double Z = N, Z_after = N, cost = 0.0;
      for (int j = 0; j < tokens; ++j) {
        after[j] *= sum_before / sum_after;
        Z += std::expm1(beta * before[j]);
        Z_after += std::expm1(beta * after[j]);
        if (after[j] > before[j]) cost += beta * (after[j] - before[j]) / (1 + N / std::expm1(beta * after[j]));
      }
      CHECK(std::log(Z_after / Z) <= cost + 1e-12);
    }
  }

  TEST_CASE("N2 is at most N0 or L S, and above it an exchange for the best selection lowers the loss, whatever the other gates") {
    Stream stream(17, Purpose::choice);
    int tried = 0;
    for (int k = 0; k < 300; ++k) {
      SingleBlock model = test::random_theorem_model(stream, 4);
      const double n2 = sufficient_n2(model);
      CHECK(n2 <= std::max(sufficient_n0(model), double(model.slots())) * (1 + 1e-12));
      if (n2 > 1e9) continue;
      model.vocabulary = std::max(model.slots(), int(std::floor(n2)) + 1);
      const ContextGates gates = test::random_gates(model, 1700 + k, 3.0);
      const int h = int(stream.below(model.heads)), l = int(stream.below(model.blocks));
      CHECK(best_exchange(model, gates, h, l) < context_loss(model, gates));
      ++tried;
    }
    CHECK(tried > 200);
  }

  TEST_CASE("above N0 replacing the gates of a head and block by the best selection lowers the loss, whatever the others") {
    Stream stream(14, Purpose::choice);
    int tried = 0;
    for (int k = 0; k < 300; ++k) {
      SingleBlock model = test::random_theorem_model(stream, 4);
      model.beta = 0.2 + 3.0 * stream.uniform();
      const double n0 = sufficient_n0(model);
      if (n0 > 1e9) continue;
      model.vocabulary = std::max(model.slots(), int(std::floor(n0)) + 1);
      const ContextGates gates = test::random_gates(model, 1000 + k);
      const int h = int(stream.below(model.heads)), l = int(stream.below(model.blocks));
      CHECK(best_exchange(model, gates, h, l) < context_loss(model, gates));
      ++tried;
    }
    CHECK(tried > 200);
  }
}
