#include "proofs/bounds.hpp"

#include <boost/math/tools/toms748_solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "proofs/ball.hpp"

namespace phaselock {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double beyond = 1e300;  ///< where the search for a root ends

/// theory.md's notation for one model, in the number type T (double or Ball).
template <class T>
struct Notation {
  T L, S, H, n, beta, gamma;
  T w0, w1, D, o1;  ///< attention at u = 0 and u = 1; D = w1 - w0; o1 = (1 - w1) / (L - 1)
  T z1, z0;  ///< excess of the definition's Z over N for a covered and an uncovered query of a distinct pattern: by E without
             ///< cancellation, and apart from N, which is any real number here; tested against the definition (bounds_test)

  explicit Notation(const SingleBlock& m)
      : L(m.blocks),
        S(m.positions),
        H(m.heads),
        n(m.phases()),
        beta(m.beta),
        gamma(m.gamma),
        w0(attention(m, T(0.0)).w),
        w1(attention(m, T(1.0)).w),
        D(w1 - w0),
        o1(attention(m, T(1.0)).o),
        z1(E(beta * w1) + L * (H - 1.0) * E(beta / L) + (L - 1.0) * E(beta * o1)),
        z0(L * H * E(beta / L)) {}

  static T E(const T& x) {
    using std::expm1;
    return expm1(x);
  }
};

/// loss*, theory.md section 4.3.
template <class T>
T loss_star(const Notation<T>& k, const T& N) {
  using std::log;
  using std::log1p;
  return log(N) - k.beta * k.H * k.w1 / k.n + (k.H * log1p(k.z1 / N) + (k.n - k.H) * log1p(k.z0 / N)) / k.n;
}

/// The constants c1, c2 of theory.md sections 4.1 and 4.7: `cost(x)` bounds the cost of one rising token that ends at m' = x /
/// beta.
template <class T, class Cost>
std::pair<T, T> exchange_costs(const Notation<T>& k, const Cost& cost) {
  const T answer = cost(k.beta * k.H * k.w1), other = cost(k.beta * k.H / k.L);
  return {k.gamma * k.w1 * (1.0 - k.w1) * answer + k.D * other,
          k.w1 * answer + (k.S - 2.0) / k.L * cost(k.beta * ((k.H - 1.0) * k.w1 + 1.0 / k.L)) +
              (k.S - 1.0) * (1.0 - 1.0 / k.L) * other};
}

/// N0, theory.md section 4.1.
template <class T>
T n0(const Notation<T>& k) {
  using std::min;
  const auto [c1, c2] = exchange_costs(k, [](const T& x) { return Notation<T>::E(x); });
  return min(2.0 * c2 / k.D, (2.0 * c1 + c2) / k.D);
}

/// Right minus left side of the inequality that defines N1, theory.md section 4.2; increases with N.
template <class T>
T excess_n1(const Notation<T>& k, const T& N) {
  using std::exp;
  using std::log1p;
  using std::max;
  const T q = k.w1 + (k.S - 2.0) / k.L + k.n * (1.0 - 1.0 / k.L);
  const T Lam = k.L * (k.H * log1p(k.z1 / N) + (k.n - k.H) * log1p(k.z0 / N));
  return k.D * max(T(0.5), T(1.0 - Lam / (k.beta * k.D))) - exp(2.0 * k.w1 * Lam / k.D) * (k.w1 * Lam + q / N);
}

/// D minus the cost of an exchange, form 2, theory.md section 4.7; increases with N.
template <class T>
T excess_n2(const Notation<T>& k, const T& N) {
  using std::min;
  const auto [c1, c2] = exchange_costs(k, [&](const T& x) -> T { return 1.0 / (1.0 + N / Notation<T>::E(x)); });
  return k.D - min(T(2.0 * c2), T(2.0 * c1 + c2));
}

/// Left minus right side of the equation for N*(distinct), theory.md section 4.4; increases with N.
template <class T>
T stability(const Notation<T>& k, const T& N) {
  const T covered =
      (k.w1 * k.E(k.beta * k.w1) + (k.H - 1.0) * k.E(k.beta / k.L) + (k.L - 1.0) * k.o1 * k.E(k.beta * k.o1)) / (N + k.z1);
  const T uncovered = (k.n - k.H) * k.E(k.beta / k.L) / (N + k.z0);
  return k.D - covered - uncovered;
}

/// The least N >= low at which the increasing `excess(N)` is >= 0, to full precision; infinite if none below 1e300.
double first_nonnegative(const std::function<double(double)>& excess, double low) {
  if (excess(low) >= 0.0) return low;
  double high = 2.0 * low;
  while (!(excess(high) >= 0.0)) {
    low = high;
    if ((high *= 4.0) > beyond) return infinity;
  }
  std::uintmax_t iterations = 200;
  return boost::math::tools::toms748_solve(excess, low, high, boost::math::tools::eps_tolerance<double>(50), iterations).second;
}

/// Whether value() > 0.
Decision is_positive(const std::function<Ball()>& value) {
  const ScopedPrecision restore;
  for (Ball::precision() = 64; Ball::precision() <= 4096; Ball::precision() *= 2) {
    const Ball x = value();
    if (x > Ball(0.0)) return Decision::yes;
    if (x < Ball(0.0)) return Decision::no;
  }
  return Decision::unknown;
}

template <class Value>
Enclosure enclose(const Value& value) {
  const ScopedPrecision restore;
  Ball::precision() = 128;
  const Ball x = value();
  return {x.lower(), x.upper()};
}

using Excess = Ball (*)(const Notation<Ball>&, const Ball&);

Decision is_positive(Excess excess, const SingleBlock& model, double N) {
  return is_positive([&] { return excess(Notation<Ball>(model), Ball(N)); });
}

/// Encloses the least N >= L S from which on the increasing `excess` is >= 0; `near` is where doubles see it.
Enclosure enclose_root(Excess excess, const SingleBlock& model, double near) {
  const double least = model.slots();
  if (is_positive(excess, model, least) == Decision::yes) return {least, least};
  if (!std::isfinite(near)) return {is_positive(excess, model, beyond) == Decision::no ? beyond : least, infinity};
  for (double width = 1e-14; width < 1.0; width *= 4.0) {
    const double low = std::max(least, near * (1 - width)), high = near * (1 + width);
    if ((low == least || is_positive(excess, model, low) == Decision::no) && is_positive(excess, model, high) == Decision::yes)
      return {low, high};
  }
  return {least, infinity};
}

}  // namespace

std::string_view name(Decision decision) { return decision == Decision::yes ? "yes" : decision == Decision::no ? "no" : "unknown"; }

double distinct_loss(const SingleBlock& model) { return loss_star(Notation<double>(model), double(model.vocabulary)); }

double sufficient_n0(const SingleBlock& model) { return n0(Notation<double>(model)); }

double sufficient_n1(const SingleBlock& model) {
  const Notation<double> k(model);
  return first_nonnegative([&](double N) { return std::max(excess_n1(k, N), -beyond); },
                           model.slots());  // the exponential may overflow
}

double sufficient_n2(const SingleBlock& model) {
  const Notation<double> k(model);
  return first_nonnegative([&](double N) { return excess_n2(k, N); }, model.slots());
}

double necessary_n_star(const SingleBlock& model) {
  if (model.heads >= model.phases()) return model.slots();
  const Notation<double> k(model);
  return first_nonnegative([&](double N) { return stability(k, N); }, model.slots());
}

double distinct_stability(const SingleBlock& model) {
  return model.heads >= model.phases() ? infinity : stability(Notation<double>(model), double(model.vocabulary));
}

Decision above_n0(const SingleBlock& model) {
  return is_positive([&] { return Ball(model.vocabulary) - n0(Notation<Ball>(model)); });
}
Decision above_n1(const SingleBlock& model) { return is_positive(excess_n1<Ball>, model, model.vocabulary); }
Decision above_n2(const SingleBlock& model) { return is_positive(excess_n2<Ball>, model, model.vocabulary); }
Decision below_n_star(const SingleBlock& model) {
  if (model.heads >= model.phases()) return Decision::no;
  return is_positive([&] { return -stability(Notation<Ball>(model), Ball(model.vocabulary)); });
}

Enclosure enclose_n0(const SingleBlock& model) {
  return enclose([&] { return n0(Notation<Ball>(model)); });
}
Enclosure enclose_n1(const SingleBlock& model) { return enclose_root(excess_n1<Ball>, model, sufficient_n1(model)); }
Enclosure enclose_n2(const SingleBlock& model) { return enclose_root(excess_n2<Ball>, model, sufficient_n2(model)); }
Enclosure enclose_n_star(const SingleBlock& model) {
  if (model.heads >= model.phases()) return {double(model.slots()), double(model.slots())};
  return enclose_root(stability<Ball>, model, necessary_n_star(model));
}
Enclosure enclose_distinct_loss(const SingleBlock& model) {
  return enclose([&] { return loss_star(Notation<Ball>(model), Ball(model.vocabulary)); });
}
Enclosure enclose_distinct_stability(const SingleBlock& model) {
  if (model.heads >= model.phases()) return {infinity, infinity};
  return enclose([&] { return stability(Notation<Ball>(model), Ball(model.vocabulary)); });
}

}  // namespace phaselock
