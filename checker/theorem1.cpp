#include "attention.hpp"
#include "formulas.hpp"

namespace phaselock_check {

namespace {

Interval E(const Interval& x) { return expm1(x); }

/// The symbols of theory.md section 4.
struct Symbols {
  Interval L, S, H, n, N, gamma, beta;
  Interval w1, D, o1;
  Interval z1, z0;  ///< Z - N of a query that a head of a distinct pattern answers, and of another one

  explicit Symbols(const Model& m)
      : L(m.blocks),
        S(m.positions),
        H(m.heads),
        n(m.positions - 1),
        N(m.vocabulary),
        gamma(m.gamma),
        beta(m.beta),
        w1(attention_right(m, 1)),
        D(w1 - 1 / L),
        o1(attention_other(m, 1)) {
    z1 = E(beta * w1) + L * (H - 1) * E(beta / L) + (L - 1) * E(beta * o1);
    z0 = L * H * E(beta / L);
  }
};

/// min(2 c2, 2 c1 + c2) with the given function of E(beta x) as cost of a token that rises to x.
template <class Cost>
Interval exchange_cost(const Symbols& k, const Cost& cost) {
  const Interval top = cost(E(k.beta * k.H * k.w1)), flat = cost(E(k.beta * k.H / k.L));
  const Interval middle = cost(E(k.beta * ((k.H - 1) * k.w1 + 1 / k.L)));
  const Interval c1 = k.gamma * k.w1 * (1 - k.w1) * top + k.D * flat;
  const Interval c2 = k.w1 * top + (k.S - 2) / k.L * middle + (k.S - 1) * (1 - 1 / k.L) * flat;
  return min(2 * c2, 2 * c1 + c2);
}

}  // namespace

Interval above_n0(const Model& model) {
  const Symbols k(model);
  return k.N - exchange_cost(k, [](const Interval& e) { return e; }) / k.D;
}

Interval above_n2(const Model& model) {
  const Symbols k(model);
  return k.D - exchange_cost(k, [&](const Interval& e) { return e / (k.N + e); });
}

Interval above_n1(const Model& model) {
  const Symbols k(model);
  const Interval Lam = k.L * (k.H * log1p(k.z1 / k.N) + (k.n - k.H) * log1p(k.z0 / k.N));
  const Interval q = k.w1 + (k.S - 2) / k.L + k.n * (1 - 1 / k.L);
  const Interval left = exp(2 * k.w1 * Lam / k.D) * (k.w1 * Lam + q / k.N);
  return -min(left - k.D * 0.5, left - k.D * (1 - Lam / (k.beta * k.D)));
}

Interval distinct_loss(const Model& model) {
  const Symbols k(model);
  const Interval log_Z = k.H * log(k.N + k.z1) + (k.n - k.H) * log(k.N + k.z0);
  return (log_Z - k.H * k.beta * k.w1) / k.n;
}

Interval distinct_margin(const Model& model) {
  const Symbols k(model);
  const Interval answered =
      (k.w1 * E(k.beta * k.w1) + (k.H - 1) * E(k.beta / k.L) + (k.L - 1) * k.o1 * E(k.beta * k.o1)) / (k.N + k.z1);
  return k.D - answered - (k.n - k.H) * E(k.beta / k.L) / (k.N + k.z0);
}

}  // namespace phaselock_check
