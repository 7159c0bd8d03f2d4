// The convex lower bound of a pair of blocks over a box of key weights (theory.md section 4.8), generic in the number type.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

/// Key weights u of two blocks, [2][H][n]: low <= u <= high.
struct KeyBox {
  std::vector<double> low, high;
};

/// Phi(V) <= f2(u, V) for all u in the box, convex in the value weights V [2][H][S]. f2 is the loss per query of a pair of blocks
/// x, y: the mean over x's queries in company of L - 1 copies of y, and y's in company of copies of x. Equal to f2 if the box is a
/// point.
template <class T>
class PairBound {
 public:
  PairBound(const SingleBlock& model, const KeyBox& box)
      : H_(model.heads),
        n_(model.phases()),
        S_(model.positions),
        others_(model.blocks - 1),
        outside_(model.outside()),
        own_(std::size_t(2) * n_ * S_),
        copy_(own_.size()) {
    const auto scales = [&](const Attention<T>& a) { return Scales{model.beta * a.w, model.beta * a.w, model.beta * a.o}; };
    for (int x = 0; x < 2; ++x)
      for (int r = 0; r < n_; ++r)
        for (int h = 0; h < H_; ++h) {
          const std::size_t k = std::size_t(x * H_ + h) * n_ + r;
          low_.push_back(scales(attention(model, T(box.low[k]))));
          high_.push_back(scales(attention(model, T(box.high[k]))));
          bound_.push_back(Scales{low_.back().own, high_.back().answer, high_.back().copy});
        }
  }

  /// Phi at V, and its gradient [2][H][S]. Keeps the shares for `curvature`.
  T operator()(const T* V, T* gradient) {
    using std::log;
    for (int k = 0; k < 2 * H_ * S_; ++k) gradient[k] = T(0.0);
    const T weight = T(1.0) / T(2.0 * n_);
    T total(0.0);
    for (int q = 0; q < 2 * n_; ++q) {
      const int x = q / n_, answer = q % n_ + 1;
      T *own = &own_[std::size_t(q) * S_], *copy = &copy_[std::size_t(q) * S_];
      const T X = odds(q, &bound_[std::size_t(q) * H_], V, own, copy);
      total += weight * log(X);
      for (int s = 0; s < S_; ++s) {
        own[s] /= X;
        copy[s] /= X;
        for (int h = 0; h < H_; ++h) {
          const Scales& scale = bound_[std::size_t(q) * H_ + h];
          gradient[(x * H_ + h) * S_ + s] += weight * (s == answer ? -scale.answer * (T(1.0) - own[s]) : scale.own * own[s]);
          gradient[((1 - x) * H_ + h) * S_ + s] += weight * scale.copy * copy[s];
        }
      }
    }
    return total;
  }

  /// Second derivative of Phi, at the V of the last evaluation, along weight of the value gate of block x and head h that moves
  /// from offset `from` to `to`: variances of the exponents' derivatives.
  T curvature(int x, int h, int from, int to) const {
    T total(0.0);
    for (int q = 0; q < 2 * n_; ++q) {
      const T *own = &own_[std::size_t(q) * S_], *copy = &copy_[std::size_t(q) * S_];
      const Scales& scale = bound_[std::size_t(q) * H_ + h];
      T mean(0.0), square(0.0);
      if (q / n_ != x) {
        mean = scale.copy * (copy[to] - copy[from]);
        square = scale.copy * scale.copy * (copy[to] + copy[from]);
      } else {
        const int answer = q % n_ + 1;
        const auto move = [&](int s) { return s == to ? 1.0 : s == from ? -1.0 : 0.0; };
        const T shift = scale.answer * move(answer);
        T standing(1.0);  // share of the tokens outside the block
        for (int s = 0; s < S_; ++s) {
          standing -= own[s];
          if (s == answer) continue;
          const T d = scale.own * move(s) - shift;
          mean += own[s] * d;
          square += own[s] * d * d;
        }
        mean -= standing * shift;
        square += standing * shift * shift;
      }
      total += square - mean * mean;
    }
    return total / T(2.0 * n_);
  }

  /// By how much, at V, the loss of phase r of block x is above its part of Phi with the key weight of head h at an end of its
  /// range, the higher of both: what a cut of this weight may gain.
  T slack(int x, int h, int r, const T* V) const {
    using std::log;
    using std::max;
    const int q = x * n_ + r;
    std::vector<T> own(S_), copy(S_);
    std::vector<Scales> scales(bound_.begin() + q * H_, bound_.begin() + (q + 1) * H_);
    const T bound = odds(q, scales.data(), V, own.data(), copy.data());
    scales[h] = low_[std::size_t(q) * H_ + h];
    const T low = odds(q, scales.data(), V, own.data(), copy.data());
    scales[h] = high_[std::size_t(q) * H_ + h];
    return log(max(low, odds(q, scales.data(), V, own.data(), copy.data())) / bound);
  }

 private:
  /// beta times the attention that the block's other tokens, the answer and the copies' tokens get from one head.
  struct Scales {
    T own, answer, copy;
  };

  /// X = 1 + sum over all tokens but the answer of e^(beta (m - m_answer)), so that the query's loss is log X; and the context's
  /// terms, the answer's 1 included, in own [S] and copy [S]. `scales` [H]. This is Z e^(-beta m_answer) and not the definition's
  /// code, which has one attention a query where a bound has three; tested against it on contexts of alike blocks
  /// (branch_and_bound_test, step 1).
  T odds(int q, const Scales* scales, const T* V, T* own, T* copy) const {
    using std::exp;
    const T *value = V + (q / n_) * H_ * S_, *copied = V + (1 - q / n_) * H_ * S_;
    const int answer = q % n_ + 1;
    T top(0.0);
    for (int h = 0; h < H_; ++h) top += scales[h].answer * value[h * S_ + answer];
    T X = outside_ * exp(-top);
    for (int s = 0; s < S_; ++s) {
      T to_own = -top, to_copy = -top;
      for (int h = 0; h < H_; ++h) {
        to_own += scales[h].own * value[h * S_ + s];
        to_copy += scales[h].copy * copied[h * S_ + s];
      }
      own[s] = s == answer ? T(1.0) : T(exp(to_own));
      copy[s] = others_ * exp(to_copy);
      X += own[s] + copy[s];
    }
    return X;
  }

  int H_, n_, S_;
  double others_, outside_;
  std::vector<Scales> low_, high_, bound_;  ///< at the low and the high end of each key weight; of the bound; [2][n][H]
  std::vector<T> own_, copy_;               ///< shares of the tokens, [2][n][S]
};

}  // namespace phaselock
