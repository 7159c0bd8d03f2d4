// The trapping box of Theorem 2 (theory.md section 5, Trapping certificate): where every gate of every head and block holds at
// least 1 - eta at its target, and the inequality over the box that makes gradient flow converge from anywhere inside. Generic in
// the number type.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "flow/trap.hpp"
#include "model/single_block.hpp"

namespace phaselock {

/// All numbers between two ends, low <= high.
template <class T>
struct Range {
  T low, high;

  friend Range operator+(const Range& a, const Range& b) { return {a.low + b.low, a.high + b.high}; }
  friend Range operator-(const Range& a, const Range& b) { return {a.low - b.high, a.high - b.low}; }
  /// a * b for a >= 0.
  friend Range scaled(const Range& a, const Range& b) {
    using std::max;
    using std::min;
    return {min(a.low * b.low, a.high * b.low), max(a.low * b.high, a.high * b.high)};
  }
};

/// What the queries of one phase see over the box: derivatives of the loss with respect to the weight m of each offset.
template <class T>
struct BoxQuery {
  std::vector<Range<T>> w, o, slope;  ///< attention of each head on the right and on another block, and w', [H]
  std::vector<Range<T>> right,
      other;  ///< share - 1{answer} on the query's block and share on another block, [S]; times beta: dLoss/dm
};

template <class T>
BoxQuery<T> box_query(const SingleBlock& model, std::span<const int> selection, const T& eta, int phase) {
  using std::exp;
  const int H = model.heads, S = model.positions;
  const double others = model.blocks - 1;
  const T one(1.0), zero(0.0);
  const auto weight = [&](int offset, int target) { return offset == target ? Range<T>{one - eta, one} : Range<T>{zero, eta}; };
  BoxQuery<T> query;
  std::vector<Range<T>> m_right(S, {zero, zero}), m_other(S, {zero, zero});
  for (int h = 0; h < H; ++h) {
    const Range<T> u = weight(phase, selection[h]);
    const Attention<T> least = attention(model, u.low), most = attention(model, u.high);
    query.w.push_back({least.w, most.w});
    query.o.push_back({most.o, least.o});
    query.slope.push_back({w_slope(model, least.w), w_slope(model, most.w)});  // w' grows with u while w < 1/2, which L >= 4 gives
    for (int r = 0; r < S; ++r) {
      m_right[r] = m_right[r] + scaled(query.w[h], weight(r, selection[h] + 1));
      m_other[r] = m_other[r] + scaled(query.o[h], weight(r, selection[h] + 1));
    }
  }
  const auto exponential = [&](const Range<T>& m) { return Range<T>{exp(model.beta * m.low), exp(model.beta * m.high)}; };
  // The definition's Z over a box, not at a point: each term is a range, and a share below takes its own term out of Z. Tested
  // against the definition at random points of the box (trapping_test).
  const T outside(double(model.outside()));
  Range<T> Z{outside, outside};
  for (int r = 0; r < S; ++r) {
    m_right[r] = exponential(m_right[r]);
    m_other[r] = exponential(m_other[r]);
    Z = Z + m_right[r] + Range<T>{others * m_other[r].low, others * m_other[r].high};
  }
  // e / (e + rest) grows with e and falls with the rest; the rest's ends are Z's without the token's own term.
  const auto share = [&](const Range<T>& e) {
    return Range<T>{e.low / (e.low + (Z.high - e.high)), e.high / (e.high + (Z.low - e.low))};
  };
  for (int r = 0; r < S; ++r) {
    const T answer = r == phase + 1 ? one : zero;
    query.right.push_back(share(m_right[r]) - Range<T>{answer, answer});
    query.other.push_back(share(m_other[r]));
  }
  return query;
}

/// The least over all gates of (1 - eta) min_(s != t) (d_s - d_t) - eta max_(u,s != t) |d_u - d_s| over the box, d = dLoss/dp of
/// one context times L (S - 1) / beta. Positive: the box is never left, and every gate in it converges to its target t. selection:
/// key offset of each head, 0-based, [H]. Needs L >= 4, S >= 3, H < S or not, 0 < eta < 1.
template <class T>
T trapping_margin(const SingleBlock& model, std::span<const int> selection, const T& eta) {
  using std::max;
  using std::min;
  const int H = model.heads, S = model.positions;
  const double others = model.blocks - 1;
  std::vector<BoxQuery<T>> queries;
  for (int q = 0; q < model.phases(); ++q) queries.push_back(box_query(model, selection, eta, q));

  // sum_r x_r p_r over weights p with p_t >= 1 - eta.
  const auto weighted = [&](const std::vector<Range<T>>& x, int target) {
    Range<T> result = x[target];
    for (int r = 0; r < S; ++r) {
      if (r == target) continue;
      result.low = min(result.low, (T(1.0) - eta) * x[target].low + eta * x[r].low);
      result.high = max(result.high, (T(1.0) - eta) * x[target].high + eta * x[r].high);
    }
    return result;
  };
  // d_K(q) = w' (sum_r dm(l*, r) pV(r) - mean over other blocks of the same), by o' = -w' / (L - 1); no query sits at the last
  // offset.
  const auto key_derivative = [&](int h, int s) {
    if (s == model.phases()) return Range<T>{T(0.0), T(0.0)};
    const int target = selection[h] + 1;
    return scaled(queries[s].slope[h], weighted(queries[s].right, target) - weighted(queries[s].other, target));
  };
  // d_V(s) - d_V(u), query by query so that each attention is used once.
  const auto value_difference = [&](int h, int s, int u) {
    Range<T> sum{T(0.0), T(0.0)};
    for (const BoxQuery<T>& query : queries) {
      const Range<T> other = scaled(query.o[h], query.other[s] - query.other[u]);
      sum = sum + scaled(query.w[h], query.right[s] - query.right[u]) + Range<T>{others * other.low, others * other.high};
    }
    return sum;
  };

  std::optional<T> margin;
  const auto add_gate = [&](int target, auto difference) {
    std::optional<T> least;
    T spread(0.0);
    for (int s = 0; s < S; ++s) {
      if (s == target) continue;
      const T gap = difference(s, target).low;
      least = least ? min(*least, gap) : gap;
      for (int u = 0; u < S; ++u)
        if (u != target && u != s) spread = max(spread, difference(s, u).high);
    }
    const T gate = (T(1.0) - eta) * *least - eta * spread;
    margin = margin ? min(*margin, gate) : gate;
  };
  for (int h = 0; h < H; ++h) {
    std::vector<Range<T>> d;
    for (int s = 0; s < S; ++s) d.push_back(key_derivative(h, s));
    add_gate(selection[h], [&](int s, int u) { return d[s] - d[u]; });
    add_gate(selection[h] + 1, [&](int s, int u) { return value_difference(h, s, u); });
  }
  return *margin;
}

/// The largest eta < 1/2 whose box passes in double precision, to 1e-9 relative; 0 if none above 1e-9 does. Needs L >= 4 and S >= 3
/// (else 0).
double largest_eta(const SingleBlock& model, std::span<const int> selection);

/// The gap that every gate's logits must have to be inside the box: log((S - 1) (1 - eta) / eta).
double box_gap(const SingleBlock& model, double eta);

/// Smallest over all gates of min_i G_t(i) - max_(s != t, j) G_s(j): rows [2][H][S] of `tokens` numbers (1 for static biases).
double logit_gap(const SingleBlock& model, std::span<const double> rows, int tokens, std::span<const int> selection);

/// Proves the box of size eta in balls, with precision raised to at most 1024 bits; nothing if it does not pass.
std::optional<TrappingProof> prove_trapping(const SingleBlock& model, std::span<const int> selection, double eta);

/// Whether a state of this logit gap is inside the box of size eta for certain, in balls.
bool surely_inside(const SingleBlock& model, double gap, double eta);

/// The boxes of one model's selections, with the largest eta of the last selection kept: a flow asks for the same one at every
/// step. What FlowOptions::trap is given.
class Trap {
 public:
  explicit Trap(const SingleBlock& model) : model_(model) {}

  /// Whether the state is inside the largest box of its selection, in double precision; false if some head has none (-1).
  bool holds(std::span<const double> rows, int tokens, std::span<const int> selection);

  /// The same for certain, in balls.
  std::optional<TrappingProof> operator()(std::span<const double> rows, int tokens, std::span<const int> selection);

 private:
  double eta(std::span<const int> selection);

  SingleBlock model_;
  std::vector<int> selection_;
  double eta_ = 0.0;
};

}  // namespace phaselock
