#include "bounds.hpp"

#include <boost/math/tools/toms748_solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace phaselock {

namespace {

/// theory.md's notation for one model.
struct Notation {
  double L, S, H, n, N, beta, gamma;
  double w0, w1, D, o1;  ///< attention at u = 0 and u = 1; D = w1 - w0; o1 = (1 - w1) / (L - 1)
  double z1, z0;         ///< excess of Z over N for a covered and an uncovered query of a distinct pattern

  explicit Notation(const Model& m)
      : L(m.blocks), S(m.positions), H(m.heads), n(m.phases()), N(m.vocabulary), beta(m.beta), gamma(m.gamma),
        w0(attention(m, 0.0).w), w1(attention(m, 1.0).w), D(w1 - w0), o1(attention(m, 1.0).o),
        z1(E(beta * w1) + L * (H - 1) * E(beta / L) + (L - 1) * E(beta * o1)), z0(L * H * E(beta / L)) {}

  static double E(double x) { return std::expm1(x); }
};

/// The least N >= low at which the increasing predicate `excess(N)` >= 0, to full precision; infinite if none below 1e300.
double first_nonnegative(const std::function<double(double)>& excess, double low) {
  if (excess(low) >= 0.0) return low;
  double high = 2.0 * low;
  while (excess(high) < 0.0)
    if ((high *= 4.0) > 1e300) return std::numeric_limits<double>::infinity();
  std::uintmax_t iterations = 200;
  return boost::math::tools::toms748_solve(excess, low, high, boost::math::tools::eps_tolerance<double>(50), iterations).second;
}

double stability(const Notation& k, double N) {
  const double covered = (k.w1 * k.E(k.beta * k.w1) + (k.H - 1) * k.E(k.beta / k.L) + (k.L - 1) * k.o1 * k.E(k.beta * k.o1)) / (N + k.z1);
  const double uncovered = (k.n - k.H) * k.E(k.beta / k.L) / (N + k.z0);
  return k.D - covered - uncovered;
}

}  // namespace

double distinct_loss(const Model& model) {
  const Notation k(model);
  return std::log(k.N) - k.beta * k.H * k.w1 / k.n + (k.H * std::log1p(k.z1 / k.N) + (k.n - k.H) * std::log1p(k.z0 / k.N)) / k.n;
}

double sufficient_n0(const Model& model) {
  const Notation k(model);
  const double e = k.E(k.beta * k.H * k.w1), e_other = k.E(k.beta * k.H / k.L);
  const double c1 = k.gamma * k.w1 * (1 - k.w1) * e + k.D * e_other;
  const double c2 = k.w1 * e + (k.S - 2) / k.L * k.E(k.beta * ((k.H - 1) * k.w1 + 1 / k.L)) + (k.S - 1) * (1 - 1 / k.L) * e_other;
  return std::min(2 * c2 / k.D, (2 * c1 + c2) / k.D);
}

double sufficient_n1(const Model& model) {
  const Notation k(model);
  const double q = k.w1 + (k.S - 2) / k.L + k.n * (1 - 1 / k.L);
  const auto excess = [&](double N) {
    const double Lam = k.L * (k.H * std::log1p(k.z1 / N) + (k.n - k.H) * std::log1p(k.z0 / N));
    const double bound = std::exp(std::min(2 * k.w1 * Lam / k.D, 700.0)) * (k.w1 * Lam + q / N);
    return k.D * std::max(0.5, 1 - Lam / (k.beta * k.D)) - bound;
  };
  return first_nonnegative(excess, k.L * k.S);
}

double necessary_n_star(const Model& model) {
  const Notation k(model);
  if (k.H >= k.n) return k.L * k.S;
  return first_nonnegative([&](double N) { return stability(k, N); }, k.L * k.S);
}

double distinct_stability(const Model& model) {
  const Notation k(model);
  return k.H >= k.n ? std::numeric_limits<double>::infinity() : stability(k, k.N);
}

}  // namespace phaselock
