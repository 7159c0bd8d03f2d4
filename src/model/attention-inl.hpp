// The formulas of one gate and one query, generic in the number type: attention and softmax (theory.md section 2).
//
// A compiler binds a template to the instruction set in force where the template is written. So this file has no include guard: it
// is included by model.hpp for ordinary numbers, and inside the namespace of each SIMD target by flow/ensemble_kernel.cpp for
// packs. The same holds for loss/static_form-inl.hpp. Needs <algorithm>, <cmath> and Model.

/// exp of `count` numbers in place. Packs have an overload that works on several at once.
template <class T>
void exponentials(T* x, int count) {
  using std::exp;
  for (int k = 0; k < count; ++k) x[k] = exp(x[k]);
}

/// Attention of one query as a function of u = pK(query), theory.md section 2:
/// w(u) = e^(gamma u) / (e^(gamma u) + L - 1) on the right block, o(u) = 1 / (e^(gamma u) + L - 1) on each other one.
template <class T>
struct Attention {
  T w, o;
};

/// T needs exp and arithmetic with double.
template <class T>
Attention<T> attention(const Model& model, const T& u) {
  using std::exp;
  const T e = exp(model.gamma * u);
  const T total = e + double(model.blocks - 1);
  return {e / total, 1.0 / total};
}

/// w' = gamma w (1 - w), theory.md section 2.
template <class T>
T w_slope(const Model& model, const T& w) {
  return model.gamma * w * (1.0 - w);
}

/// o' = -w' / (L - 1), theory.md section 2.
template <class T>
T o_slope(const Model& model, const T& w) {
  return -w_slope(model, w) / double(model.blocks - 1);
}

/// w'' = gamma w' (1 - 2 w), theory.md section 2.
template <class T>
T w_curvature(const Model& model, const T& w) {
  return model.gamma * w_slope(model, w) * (1.0 - 2.0 * w);
}

/// p = softmax(logits) of `rows` gates, each over `count` offsets: [rows][count].
template <class T>
void softmax(const T* logits, int rows, int count, T* p) {
  using std::max;
  for (int row = 0; row < rows * count; row += count) {
    T highest = logits[row];
    for (int s = 1; s < count; ++s) highest = max(highest, logits[row + s]);
    for (int s = 0; s < count; ++s) p[row + s] = logits[row + s] - highest;
  }
  exponentials(p, rows * count);
  for (int row = 0; row < rows * count; row += count) {
    T total = p[row];
    for (int s = 1; s < count; ++s) total += p[row + s];
    const T scale = 1.0 / total;
    for (int s = 0; s < count; ++s) p[row + s] *= scale;
  }
}

/// p = softmax(logits) over `count` offsets.
template <class T>
void softmax(const T* logits, int count, T* p) {
  softmax(logits, 1, count, p);
}

/// Pullback of softmax: dLoss/dlogits_s = p_s (d_s - sum_r p_r d_r) for d = dLoss/dp. The mean is taken off twice: the second time
/// takes off the rounding error of the first, which would drown the gradient of a gate that is nearly one-hot.
template <class T>
void softmax_pullback(const T* p, const T* d, int count, T* dlogits) {
  T mean(0.0), rest(0.0);
  for (int s = 0; s < count; ++s) mean += p[s] * d[s];
  for (int s = 0; s < count; ++s) rest += p[s] * (d[s] - mean);
  for (int s = 0; s < count; ++s) dlogits[s] = p[s] * ((d[s] - mean) - rest);
}
