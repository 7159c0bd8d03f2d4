// The closed form of static gates: all blocks alike, cost O(H S^2) whatever L and N (theory.md sections 2 and 3).
// Written once, generic in the number type T (double, a dual number, later a SIMD pack or a ball).
#pragma once

#include <vector>

#include "../gates.hpp"
#include "../model.hpp"

namespace phaselock {

/// Loss of static gates at exact geometry, nats, and its total derivative with respect to the weights (all blocks move
/// together). weights and gradient are [2][H][S], the gradient may be null.
/// Z = N - L S + sum_r [ e^(beta sum_h w_h pV_h(r)) + (L - 1) e^(beta sum_h o_h pV_h(r)) ].
/// Scaling by e^(-beta H w1) keeps Z finite for beta H <= 700.
template <class T>
T static_loss(const Model& model, const T* weights, T* gradient) {
  using std::exp;
  using std::log;
  const int H = model.heads, S = model.positions;
  const double others = model.blocks - 1;
  const T per_query = T(1.0) / T(double(model.phases()));
  const double top = model.beta * H * attention(model, 1.0).w;  // any number near the largest logit serves
  const T* value = weights + model.branch_rows();
  if (gradient)
    for (std::size_t k = 0; k < 2 * model.branch_rows(); ++k) gradient[k] = T(0.0);
  T loss(0.0);
  std::vector<Attention<T>> a(H);
  std::vector<T> right(S), other(S);  // e^(beta m) on the query's block and on each other block, scaled
  for (int q = 0; q < model.phases(); ++q) {
    for (int h = 0; h < H; ++h) a[h] = attention(model, weights[h * S + q]);
    T Z = T(double(model.vocabulary - model.slots())) * exp(T(-top));
    T answer(0.0);
    for (int r = 0; r < S; ++r) {
      T m_right(0.0), m_other(0.0);
      for (int h = 0; h < H; ++h) {
        m_right += a[h].w * value[h * S + r];
        m_other += a[h].o * value[h * S + r];
      }
      if (r == q + 1) answer = m_right;
      right[r] = exp(model.beta * m_right - top);
      other[r] = exp(model.beta * m_other - top);
      Z += right[r] + others * other[r];
    }
    loss += per_query * (log(Z) + top - model.beta * answer);
    if (!gradient) continue;
    for (int h = 0; h < H; ++h) {
      T dw(0.0), d_o(0.0);
      for (int r = 0; r < S; ++r) {
        const T d_right = per_query * model.beta * (right[r] / Z - (r == q + 1 ? 1.0 : 0.0));
        const T d_other = per_query * model.beta * others * (other[r] / Z);
        gradient[model.branch_rows() + h * S + r] += a[h].w * d_right + a[h].o * d_other;
        dw += value[h * S + r] * d_right;
        d_o += value[h * S + r] * d_other;
      }
      gradient[h * S + q] += w_slope(model, a[h].w) * dw + o_slope(model, a[h].w) * d_o;
    }
  }
  return loss;
}

/// Loss of static gates as a function of their biases [2][H][S], and its derivative dLoss/db if `gradient` is not null.
template <class T>
T static_bias_loss(const Model& model, const T* bias, T* gradient) {
  const std::size_t count = 2 * model.branch_rows();
  std::vector<T> weights(count), d(gradient ? count : 0);
  for (std::size_t row = 0; row < count; row += model.positions) softmax(bias + row, model.positions, weights.data() + row);
  const T loss = static_loss(model, weights.data(), gradient ? d.data() : nullptr);
  if (gradient)
    for (std::size_t row = 0; row < count; row += model.positions)
      softmax_pullback(weights.data() + row, d.data() + row, model.positions, gradient + row);
  return loss;
}

}  // namespace phaselock
