// Each inequality in the proofs of the sufficient conditions N0, N1, N2 (theory.md sections 4.1, 4.2, 4.7), on random gates.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "loss/context_loss.hpp"
#include "model/random.hpp"
#include "proofs/bounds.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

/// One head's gates in one block, and what the proofs derive from them.
struct Gate {
  std::vector<double> a, b;  ///< pK and pV, [S]
  double sum_ab = 0.0;       ///< sum_r a_r b_(r+1)
  double linear = 0.0;       ///< sum_r w(a_r) b_(r+1)
  int u = 0;                 ///< maximises a_r + b_(r+1)
  double alpha, tau;         ///< 1 - a_u, 1 - b_(u+1)

  Gate(const SingleBlock& m, const ContextGates& gates, int h, int l) {
    for (int s = 0; s < m.positions; ++s) {
      a.push_back(gates.key[gate_index(m, h, l, s)]);
      b.push_back(gates.value[gate_index(m, h, l, s)]);
    }
    for (int r = 0; r < m.phases(); ++r) {
      sum_ab += a[r] * b[r + 1];
      linear += attention(m, a[r]).w * b[r + 1];
      if (a[r] + b[r + 1] > a[u] + b[u + 1]) u = r;
    }
    alpha = 1 - a[u];
    tau = 1 - b[u + 1];
  }
};

/// Constants as in the note.
struct Notation {
  double w1, w0, D;
  explicit Notation(const SingleBlock& m) : w1(attention(m, 1.0).w), w0(1.0 / m.blocks), D(w1 - w0) {}
};

ContextGates select(const SingleBlock& m, ContextGates gates, int h, int l, int u) {
  for (int s = 0; s < m.positions; ++s) {
    gates.key[gate_index(m, h, l, s)] = s == u;
    gates.value[gate_index(m, h, l, s)] = s == u + 1;
  }
  return gates;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("4.1, steps 1 and 2; 4.2, step 2: the linear part's loss against a selection") {
    Stream stream(41, Purpose::choice);
    for (int k = 0; k < 500; ++k) {
      const SingleBlock m = test::random_theorem_model(stream);
      const Notation c(m);
      const Gate g(m, test::random_gates(m, 4100 + k, 1.0 + 3.0 * stream.uniform()), 0, 0);
      CHECK(g.linear <= c.w0 * (1 - g.b[0]) + c.D * g.sum_ab + 1e-14);
      CHECK(c.w1 - g.linear >= c.D * (1 - g.sum_ab) - 1e-14);
      CHECK(g.sum_ab <= (2 - g.alpha - g.tau) / 2 + 1e-14);
      const double delta = g.alpha + g.tau;
      CHECK(1 - g.sum_ab >= delta - 2 * g.alpha * g.tau - 1e-14);
      CHECK(1 - g.sum_ab >= delta * (1 - delta / 2) - 1e-14);
    }
  }

  TEST_CASE("4.1, step 5: the gain with u = argmax b") {
    Stream stream(42, Purpose::choice);
    for (int k = 0; k < 500; ++k) {
      const SingleBlock m = test::random_theorem_model(stream);
      const Gate g(m, test::random_gates(m, 4200 + k, 1.0 + 3.0 * stream.uniform()), 0, 0);
      const int u = int(std::max_element(g.b.begin() + 1, g.b.end()) - g.b.begin()) - 1;
      const double alpha = 1 - g.a[u], tau = 1 - g.b[u + 1];
      const double G = tau <= 0.5 ? tau + alpha * (1 - 2 * tau) : tau;
      CHECK(1 - g.sum_ab >= G - 1e-14);
      const double c2 = 1.0, c1 = stream.uniform();
      CHECK((2 * c1 + c2) * G >= c1 * alpha + c2 * tau - 1e-14);
    }
  }

  TEST_CASE("4.1, step 4: where m rises in an exchange, by how much and up to what") {
    Stream stream(43, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock m = test::random_theorem_model(stream);
      const Notation c(m);
      const ContextGates before = test::random_gates(m, 4300 + k, 1.0 + 2.0 * stream.uniform());
      const Gate g(m, before, 0, 0);
      const ContextGates after = select(m, before, 0, 0, g.u);
      double in_all = 0.0;
      for (int l = 0; l < m.blocks; ++l)
        for (int r = 0; r < m.phases(); ++r) {
          const Query q = query_at(m, before, l, r), p = query_at(m, after, l, r);
          double rise_of_target = 0.0, elsewhere = 0.0, highest = 0.0;
          for (int j = 0; j < m.slots(); ++j) {
            const double rise = std::max(0.0, p.m[j] - q.m[j]);
            in_all += rise;
            if (j == g.u + 1)
              rise_of_target = rise;
            else
              elsewhere += rise, highest = std::max(highest, rise > 1e-15 ? p.m[j] : 0.0);
          }
          const double target_m = p.m[g.u + 1], e = 1e-14;
          CHECK(highest <= double(m.heads) / m.blocks + e);
          if (l == 0 && r == g.u) {
            CHECK(rise_of_target <= m.gamma * c.w1 * (1 - c.w1) * g.alpha + c.w1 * g.tau + e);
            CHECK(target_m <= m.heads * c.w1 + e);
          } else {
            CHECK(rise_of_target <= g.tau / m.blocks + e);
            CHECK(target_m <= (l == 0 ? (m.heads - 1) * c.w1 + 1.0 / m.blocks : double(m.heads) / m.blocks) + e);
          }
          if (l == 0 && r != g.u)
            CHECK(elsewhere <= c.D * g.a[r] + e);
          else
            CHECK(elsewhere <= e);
        }
      const double q = c.w1 + double(m.positions - 2) / m.blocks + m.phases() * (1 - 1.0 / m.blocks);
      CHECK(in_all <= q * (g.alpha + g.tau) + 1e-13);
    }
  }

  TEST_CASE("4.1, step 3 and 4.7: the rise of sum_q log Z in an exchange") {
    Stream stream(44, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock m = test::random_theorem_model(stream);
      const Notation c(m);
      const ContextGates before = test::random_gates(m, 4400 + k, 1.0 + 2.0 * stream.uniform());
      const Gate g(m, before, 0, 0);
      const ContextGates after = select(m, before, 0, 0, g.u);
      double rise = 0.0;
      for_each_query(m, before, [&](const Query& q) { rise += std::log(q.outside_share); });
      for_each_query(m, after, [&](const Query& q) { rise -= std::log(q.outside_share); });
      const double N = m.vocabulary, L = m.blocks, H = m.heads, S = m.positions;
      const auto bound = [&](const auto& cost) {
        const double c1 = m.gamma * c.w1 * (1 - c.w1) * cost(H * c.w1) + c.D * cost(H / L);
        const double c2 = c.w1 * cost(H * c.w1) + (S - 2) / L * cost((H - 1) * c.w1 + 1 / L) + (S - 1) * (1 - 1 / L) * cost(H / L);
        CHECK(c1 <= c2);
        return m.beta * (c1 * g.alpha + c2 * g.tau);
      };
      const double form0 = bound([&](double x) { return std::expm1(m.beta * x) / N; });
      const double form2 = bound([&](double x) { return std::expm1(m.beta * x) / (N + std::expm1(m.beta * x)); });
      CHECK(rise <= form2 + 1e-12);
      CHECK(form2 <= form0);
    }
  }

  TEST_CASE("4.2, steps 1 and 3: gaps and shares of any gates against the loss of a distinct pattern") {
    Stream stream(45, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock m = test::random_theorem_model(stream);
      const Notation c(m);
      const ContextGates gates = test::random_gates(m, 4500 + k, 1.0 + 2.0 * stream.uniform());
      double gaps = 0.0, logs = 0.0;
      for (int h = 0; h < m.heads; ++h)
        for (int l = 0; l < m.blocks; ++l) gaps += c.w1 - Gate(m, gates, h, l).linear;
      for_each_query(m, gates, [&](const Query& q) {
        const double excess = -std::log(q.outside_share * m.vocabulary);
        logs += excess;
        CHECK(excess >= -1e-14);
        for (const double share : q.share) CHECK(share <= 1.0 / m.vocabulary + excess + 1e-14);
      });
      // (loss - loss*) Q = beta gaps + sum log(Z/N) - Lam
      const double Lam = m.queries() * (distinct_loss(m) - std::log(m.vocabulary) + m.beta * m.heads * c.w1 / m.phases());
      CHECK(m.queries() * (context_loss(m, gates) - distinct_loss(m)) ==
            doctest::Approx(m.beta * gaps + logs - Lam).epsilon(1e-10));
    }
  }
}
