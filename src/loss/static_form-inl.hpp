// The closed form of static gates: all blocks alike, cost O(H S^2) whatever L and N (theory.md sections 2 and 3). Written once,
// generic in the number type: double, a dual number, a SIMD pack. No include guard: see attention-inl.hpp, which it needs.

/// H and S as the loops see them: of any model, or known to the compiler.
struct RunTimeShape {
  explicit RunTimeShape(const SingleBlock& model) : heads(model.heads), positions(model.positions) {}
  int heads, positions;
};

template <int H, int S>
struct CompileTimeShape {
  explicit CompileTimeShape(const SingleBlock&) {}
  static constexpr int heads = H, positions = S;
};

/// Loss and gradient at exact geometry of one set of weights [2][H][S] at a time, in a workspace given by the caller.
/// Z = N - L S + sum_r [ e^(beta sum_h w_h pV_h(r)) + (L - 1) e^(beta sum_h o_h pV_h(r)) ].
/// This is the definition's Z with the L - 1 other blocks taken as one, and tested against it (loss_test).
/// Scaling by e^(-beta H w1) keeps Z finite for beta H <= 700. The attention sums to one, o = (1 - w) / (L - 1), so that o is not
/// needed beside w: sum_h o_h pV_h(r) = (sum_h pV_h(r) - sum_h w_h pV_h(r)) / (L - 1).
template <class T, class GateShape = RunTimeShape>
class StaticForm {
 public:
  /// Numbers of T that the workspace holds.
  static std::size_t workspace(const SingleBlock& m) {
    return std::size_t(m.phases()) * (m.heads + 2 * m.positions + 1) + m.positions;
  }

  StaticForm(const SingleBlock& model, T* work)
      : model_(model),
        shape_(model),
        top_(model.beta * model.heads * attention(model, 1.0).w),  // any number near the largest logit serves
        outside_(double(model.outside()) * std::exp(-top_)),
        others_(model.blocks - 1),
        w_(work),
        share_(w_ + std::size_t(model.phases()) * model.heads),
        Z_(share_ + std::size_t(model.phases()) * 2 * model.positions),
        sum_(Z_ + model.phases()) {}

  /// Attention, exponentials and Z of every phase; what loss() and gradient() are made of.
  void see(const T* weights) {
    const int H = shape_.heads, S = shape_.positions, Q = S - 1;
    const T *value = weights + H * S, gamma(model_.gamma), beta(model_.beta), top(top_), others(others_), per_other(1.0 / others_);
    T *const w = w_, *const share = share_, *const Z = Z_, *const sum = sum_;
    for (int q = 0; q < Q; ++q)
      for (int h = 0; h < H; ++h) w[q * H + h] = gamma * weights[h * S + q];
    exponentials(w, Q * H);
    for (int k = 0; k < Q * H; ++k) w[k] /= w[k] + others;
    for (int r = 0; r < S; ++r) {
      sum[r] = value[r];
      for (int h = 1; h < H; ++h) sum[r] += value[h * S + r];
    }
    for (int q = 0; q < Q; ++q) {
      T *const right = share + 2 * q * S, *const other = right + S;
      for (int r = 0; r < S; ++r) {
        T m_right = w[q * H] * value[r];
        for (int h = 1; h < H; ++h) m_right += w[q * H + h] * value[h * S + r];
        const T m_other = per_other * (sum[r] - m_right);
        right[r] = beta * m_right - top;
        other[r] = beta * m_other - top;
      }
    }
    exponentials(share, Q * 2 * S);
    for (int q = 0; q < Q; ++q) {
      const T *const right = share + 2 * q * S, *const other = right + S;
      T right_sum = right[0], other_sum = other[0];
      for (int r = 1; r < S; ++r) {
        right_sum += right[r];
        other_sum += other[r];
      }
      Z[q] = outside_ + right_sum + others * other_sum;
    }
  }

  /// Loss in nats of the weights seen; before gradient(), which overwrites what it needs.
  T loss() const {
    using std::log;
    const int S = shape_.positions, Q = S - 1;
    T total(0.0);
    for (int q = 0; q < Q; ++q) total += log(Z_[q]) - log(share_[2 * q * S + q + 1]);
    return total / double(Q);
  }

  /// `factor` times the total derivative of the loss with respect to the weights [2][H][S] seen (all blocks move together).
  /// With R = dLoss/dm_right and O = dLoss/dm_other it depends on w through D = R - O / (L - 1) only:
  /// dLoss/dw_h = sum_r pV_h(r) D(r), dLoss/dpV_h(r) = sum_q w_h D(r) + sum_q O(r) / (L - 1).
  void gradient(const T* weights, T* d, const T& factor = T(1.0)) {
    const int H = shape_.heads, S = shape_.positions, Q = S - 1;
    const T *value = weights + H * S, scale = model_.beta / Q * factor;
    const T* const w = w_;
    T *const share = share_, *const sum = sum_;
    for (int r = 0; r < S; ++r) sum[r] = T(0.0);
    for (int q = 0; q < Q; ++q) {
      T *const right = share + 2 * q * S, *const other = right + S;
      const T per_Z = scale / Z_[q];
      for (int r = 0; r < S; ++r) {  // right becomes D
        sum[r] += per_Z * other[r];
        right[r] = per_Z * (right[r] - other[r]);
      }
      right[q + 1] -= scale;
    }
    for (int h = 0; h < H; ++h)
      for (int r = 0; r < S; ++r) {
        T d_value = sum[r];
        for (int q = 0; q < Q; ++q) d_value += w[q * H + h] * share[2 * q * S + r];
        d[(H + h) * S + r] = d_value;
      }
    for (int h = 0; h < H; ++h) {
      for (int q = 0; q < Q; ++q) {
        const T* const D = share + 2 * q * S;
        T d_w = value[h * S] * D[0];
        for (int r = 1; r < S; ++r) d_w += value[h * S + r] * D[r];
        d[h * S + q] = w_slope(model_, w[q * H + h]) * d_w;
      }
      d[h * S + Q] = T(0.0);
    }
  }

 private:
  const SingleBlock& model_;
  GateShape shape_;
  double top_, outside_, others_;
  T* w_;      ///< [S - 1][H]
  T* share_;  ///< e^(beta m - top) on the query's block and on each other block, [S - 1][2][S]
  T* Z_;      ///< [S - 1], scaled by e^-top
  T* sum_;    ///< [S]
};

/// Mean overlap of the heads' key gates, 2/(H(H-1)) sum_(h<g) sum_r pK_h(r) pK_g(r), of weights [2][H][S]: 1 if all keys are
/// one-hot at one offset, 0 if no two share any; 0 for one head. If `gradient` is not null, `factor` times its derivative with
/// respect to the weights is added there.
template <class T>
T key_overlap(const SingleBlock& model, const T* weights, T* gradient, const T& factor = T(1.0)) {
  const int H = model.heads, S = model.positions;
  T overlap(0.0);
  if (H < 2) return overlap;
  const double per_pair = 2.0 / (double(H) * (H - 1));
  for (int r = 0; r < S; ++r) {
    T sum(0.0), squares(0.0);
    for (int h = 0; h < H; ++h) {
      sum += weights[h * S + r];
      squares += weights[h * S + r] * weights[h * S + r];
    }
    overlap += 0.5 * per_pair * (sum * sum - squares);
    if (gradient)
      for (int h = 0; h < H; ++h) gradient[h * S + r] += per_pair * factor * (sum - weights[h * S + r]);
  }
  return overlap;
}
