// Local stability of selection patterns: KKT margins over probability vectors (theory.md section 4.4).
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/gates.hpp"
#include "model/single_block.hpp"

namespace phaselock {

/// Smallest margin d_s - d_target of each gate, [2][H][L], at the selection pattern r = pattern[h * L + l] (0-based key offsets), d
/// = dLoss/dp of one context. The pattern is locally stable iff all are positive.
std::vector<double> pattern_margins(const SingleBlock& model, std::span<const int> pattern);

/// The distinct pattern r = h in every block; needs H < S.
std::vector<int> distinct_pattern(const SingleBlock& model);

/// The same margins in closed form for a pattern that is alike in every block, as functions of the vocabulary (theory.md
/// section 4.4). They depend on the pattern only through k_r, the number of heads on key offset r. With y_q = 1/Z_q, the
/// probability of a token outside the context at query q, Y = sum_q y_q:
///   Z_q = N + A_q      A_q = E(beta k_q w1) + (L-1) E(beta k_q o1) + L sum_(r != q) E(beta k_r / L)
///   V_r = y_r [ w1 E(beta k_r w1) + (1-w1) E(beta k_r o1) ] + (Y - y_r) E(beta k_r / L)      cost of token r+1 to a head on r,
///   U_r = y_r [ w0 E(beta k_r w1) + (1-w0) E(beta k_r o1) ] + (Y - y_r) E(beta k_r / L)      to a head elsewhere.
/// Margins of a head on t, in units of beta / Q: keys w'(1) [ 1 - y_t (e^(beta k_t w1) - e^(beta k_t o1)) ], which is positive at
/// every N; values min( w1, D + min_(s != t) U_s ) - V_t. If some offset is free, its U = 0, and D - V_t increases with N: one
/// change of sign. T is double or Ball. (The definition's Z, as N and an excess by E because N is any real number here; tested
/// against the definition's gradient in stability_test.)
template <class T>
class SelectionMargins {
 public:
  /// selection: key offset of each head, [H].
  SelectionMargins(const SingleBlock& model, std::span<const int> selection)
      : selection_(selection.begin(), selection.end()), unit_(T(model.beta) / T(double(model.queries()))) {
    using std::expm1;
    const auto E = [](const T& exponent) { return expm1(exponent); };
    const T L(double(model.blocks)), beta(model.beta);
    const auto [w1, o1] = attention(model, T(1.0));
    const T w0 = T(1.0) / L;
    w1_ = w1;
    D_ = w0 * (L - 1.0) * o1 * E(T(model.gamma));  // w1 - w0 without cancellation
    key_slope_ = w_slope(model, w1);
    std::vector<int> heads(model.phases(), 0);
    for (const int r : selection_) ++heads[r];
    T shared(0.0);
    for (const int count : heads) {
      const T k{double(count)};
      const T right = E(beta * k * w1), other = E(beta * k * o1), elsewhere = E(beta * k / L);
      offsets_.push_back({elsewhere, right - other, w1 * right + (1.0 - w1) * other, w0 * right + (1.0 - w0) * other,
                          right + (L - 1.0) * other - L * elsewhere});
      shared += L * elsewhere;
    }
    for (Offset& offset : offsets_) offset.excess += shared;
  }

  /// [2][H] margins dLoss/dp_s - dLoss/dp_target of one context, at N = 1/x: x in (0, 1/(L S)], or 0 for the limit.
  std::vector<T> at(const T& x) const {
    using std::min;
    std::vector<T> y;
    T Y(0.0);
    for (const Offset& offset : offsets_) Y += y.emplace_back(x / (1.0 + x * offset.excess));
    std::vector<T> key, value;
    for (const int t : selection_) {
      T least = w1_;
      for (int s = 0; s < int(offsets_.size()); ++s)
        if (s != t) least = min(least, D_ + y[s] * offsets_[s].from_afar + (Y - y[s]) * offsets_[s].elsewhere);
      key.push_back(unit_ * key_slope_ * (1.0 - y[t] * offsets_[t].lead));
      value.push_back(unit_ * (least - y[t] * offsets_[t].own - (Y - y[t]) * offsets_[t].elsewhere));
    }
    key.insert(key.end(), value.begin(), value.end());
    return key;
  }

 private:
  struct Offset {
    T elsewhere;  ///< E(beta k / L)
    T lead;       ///< e^(beta k w1) - e^(beta k o1)
    T own;        ///< w1 E(beta k w1) + (1 - w1) E(beta k o1)
    T from_afar;  ///< the same with w0
    T excess;     ///< A
  };
  std::vector<int> selection_;
  T unit_, w1_, D_, key_slope_;
  std::vector<Offset> offsets_;
};

/// A pattern's N*: the least real N >= L S from which on all its margins are positive.
struct Threshold {
  double n_star;
  double low, high;  ///< proved if `proved`: some margin is negative at `low` unless low = L S, all are positive at every N > high
  bool proved;       ///< false: the ball arithmetic did not decide within its steps
  std::int64_t steps;  ///< boxes it took
};

/// N* of a pattern that is alike in every block, selection[h] in 0 .. S-2 the key offset of head h; model.vocabulary does not
/// matter. Doubles search the last change of sign from far above, to full precision; balls then prove the enclosure, 1e-11 relative
/// to either side (or [L S, L S]), on boxes of 1/N. Infinite and not proved if beyond the range of doubles. Throws DomainError for
/// a pattern that does not fit the model.
Threshold pattern_threshold(const SingleBlock& model, std::span<const int> selection, std::int64_t most_steps = 100000);

/// The pattern with k heads on offset 0 and the others on offsets of their own as far as there are any; 1 <= k <= H. Without other
/// offsets all are on 0.
std::vector<int> collision_pattern(const SingleBlock& model, int k);

/// The least N* of all patterns, alike in every block, with two or more heads on one offset. As H < S each of them leaves an offset
/// free, so its margins change sign but once: below this N* no such pattern is stable. Nothing for H = 1, H >= S, or H > 20 (the
/// patterns are too many).
struct CollisionThreshold {
  std::vector<int> selection;
  Threshold threshold;
};
std::optional<CollisionThreshold> first_collision(const SingleBlock& model);

}  // namespace phaselock
