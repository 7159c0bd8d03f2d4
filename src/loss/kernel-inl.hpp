// What the kernels across contexts and across blocks have in common, in vectors (see centred_scales.hpp for the formulas). Compiled
// once for each instruction set: included from files that hwy/foreach_target.h compiles again and again.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "centred_scales.hpp"
#include "token_lines.hpp"

#if defined(PHASELOCK_KERNEL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASELOCK_KERNEL_INL_HPP
#undef PHASELOCK_KERNEL_INL_HPP
#else
#define PHASELOCK_KERNEL_INL_HPP
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr D d{};
using D4 = hn::CappedTag<double, TokenLines::grain>;
constexpr D4 d4{};

HWY_INLINE V constant(double x) { return hn::Set(d, x); }
HWY_INLINE V at(const double* p, std::size_t k) { return hn::Load(d, p + k * hn::Lanes(d)); }
HWY_INLINE void put(double* p, std::size_t k, V v) { hn::Store(v, d, p + k * hn::Lanes(d)); }

/// y = e^y for `count` vectors, eight at a time so that their chains of operations overlap.
template <int degree>
HWY_NOINLINE void polynomial(const double* coefficient, double* y, std::size_t count) {
  const auto evaluate = [coefficient](V v) HWY_ATTR {
    V p = constant(coefficient[degree]);
    for (int k = degree - 1; k >= 0; --k) p = hn::MulAdd(p, v, constant(coefficient[k]));
    return p;
  };
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    V v[8], p[8];
    for (int k = 0; k < 8; ++k) v[k] = at(y, i + k), p[k] = constant(coefficient[degree]);
    for (int k = degree - 1; k >= 0; --k)
      for (int n = 0; n < 8; ++n) p[n] = hn::MulAdd(p[n], v[n], constant(coefficient[k]));
    for (int k = 0; k < 8; ++k) put(y, i + k, p[k]);
  }
  for (; i < count; ++i) put(y, i, evaluate(at(y, i)));
}

template <int... degrees>
HWY_INLINE void polynomial_of(int degree, const double* coefficient, double* y, std::size_t count,
                              std::integer_sequence<int, degrees...>) {
  using Function = void (*)(const double*, double*, std::size_t);
  constexpr Function by_degree[] = {polynomial<degrees + 1>...};
  by_degree[degree - 1](coefficient, y, count);
}

HWY_NOINLINE void exponentials(const ShortExp& e, double* y, std::size_t count) {
  if (e.degree > 0)
    return polynomial_of(e.degree, e.coefficient.data(), y, count, std::make_integer_sequence<int, ShortExp::most>());
  for (std::size_t i = 0; i < count; ++i) put(y, i, hn::Exp(d, at(y, i)));
}

/// Transposes the square of Lanes(d4) vectors.
template <class Vec>
HWY_INLINE void transpose(Vec* v) {
#if HWY_TARGET == HWY_SCALAR
  (void)v;
#elif HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
  const Vec a = v[0];
  v[0] = hn::InterleaveLower(d4, a, v[1]);
  v[1] = hn::InterleaveUpper(d4, a, v[1]);
#else
  const Vec a = hn::InterleaveLower(d4, v[0], v[1]), b = hn::InterleaveUpper(d4, v[0], v[1]);
  const Vec c = hn::InterleaveLower(d4, v[2], v[3]), e = hn::InterleaveUpper(d4, v[2], v[3]);
  v[0] = hn::ConcatLowerLower(d4, c, a);
  v[1] = hn::ConcatLowerLower(d4, e, b);
  v[2] = hn::ConcatUpperUpper(d4, c, a);
  v[3] = hn::ConcatUpperUpper(d4, e, b);
#endif
}

/// The lines at Lanes(d) places -> vectors [width].
HWY_INLINE void gather(const double* lines, const std::size_t* places, int width, double* out) {
  constexpr std::size_t W = hn::MaxLanes(d4);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t lane = 0; lane < lanes; lane += W)
    for (int c = 0; c < width; c += int(W)) {
      hn::Vec<D4> v[W];
      for (std::size_t k = 0; k < W; ++k) v[k] = hn::Load(d4, lines + places[lane + k] + c);
      transpose(v);
      for (std::size_t k = 0; k < W; ++k) hn::Store(v[k], d4, out + (c + k) * lanes + lane);
    }
}

/// Adds vectors [width] to the lines at the first `used` places.
HWY_INLINE void scatter(const double* in, int width, double* lines, const std::size_t* places, std::size_t used) {
  constexpr std::size_t W = hn::MaxLanes(d4);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t lane = 0; lane < used; lane += W)
    for (int c = 0; c < width; c += int(W)) {
      hn::Vec<D4> v[W];
      for (std::size_t k = 0; k < W; ++k) v[k] = hn::Load(d4, in + (c + k) * lanes + lane);
      transpose(v);
      for (std::size_t k = 0; k < W && lane + k < used; ++k) {
        double* line = lines + places[lane + k] + c;
        hn::Store(hn::Add(hn::Load(d4, line), v[k]), d4, line);
      }
    }
}

/// Gates of `blocks` blocks from exponentials [blocks][S][width]: p = e / sum of e over the block.
HWY_NOINLINE void normalize(int blocks, int S, int gates, int width, double* p) {
  for (int l = 0; l < blocks; ++l) {
    double* block = p + std::size_t(l) * S * width * hn::Lanes(d);
    for (int g = 0; g < gates; ++g) {
      V total = at(block, g);
      for (int r = 1; r < S; ++r) total = hn::Add(total, at(block, std::size_t(r) * width + g));
      const V scale = hn::Div(constant(1.0), total);
      for (int r = 0; r < S; ++r) put(block, std::size_t(r) * width + g, hn::Mul(at(block, std::size_t(r) * width + g), scale));
    }
  }
}

/// dLoss/dlogits = p (d - sum p d), in place of d. The mean is taken off twice: the second time takes off the rounding error of
/// the first, which would drown the gradient of a gate that is nearly one-hot.
HWY_NOINLINE void pull_back(int blocks, int S, int gates, int width, const double* p, double* dp) {
  for (int l = 0; l < blocks; ++l) {
    const std::size_t block = std::size_t(l) * S * width * hn::Lanes(d);
    for (int g = 0; g < gates; ++g) {
      V mean = constant(0.0), rest = constant(0.0);
      for (int r = 0; r < S; ++r) mean = hn::MulAdd(at(p + block, r * width + g), at(dp + block, r * width + g), mean);
      for (int r = 0; r < S; ++r)
        rest = hn::MulAdd(at(p + block, r * width + g), hn::Sub(at(dp + block, r * width + g), mean), rest);
      for (int r = 0; r < S; ++r) {
        const std::size_t k = r * width + g;
        put(dp + block, k, hn::Mul(at(p + block, k), hn::Sub(hn::Sub(at(dp + block, k), mean), rest)));
      }
    }
  }
}

/// The slot's factor f = e^(beta mid sum_h dv_h) of `slots` slots, whose values stand at v, `width` vectors from slot to slot.
template <int H>
HWY_NOINLINE void slot_factors(const ShortExp& e, double beta_mid, const double* v, int width, int slots, double* f) {
  for (int j = 0; j < slots; ++j) {
    V total = constant(-0.5 * H);
    for (int h = 0; h < H; ++h) total = hn::Add(total, at(v, j * width + h));
    put(f, j, hn::Mul(constant(beta_mid), total));
  }
  exponentials(e, f, slots);
}

/// Attention of every query of `blocks` blocks (theory.md section 2), from keys at p: dw and d_o [queries][H], beta times the
/// distances of w and o from their centres, and the query's factors g = e^(beta / 2 sum_h a_h - shift), a = w and o.
template <int H>
HWY_NOINLINE void attend(const CentredScales& scales, int blocks, int width, const double* p, double* dw, double* d_o,
                         double* own_g, double* g) {
  const Model& model = scales.model;
  const int phases = model.phases(), queries = blocks * phases;
  for (int l = 0, k = 0; l < blocks; ++l)
    for (int r = 0; r < phases; ++r)
      for (int h = 0; h < H; ++h, ++k)
        put(d_o, k, hn::Mul(constant(model.gamma), hn::Sub(at(p, (l * model.positions + r) * width + h), constant(0.5))));
  exponentials(scales.score, d_o, std::size_t(queries) * H);
  for (int q = 0, k = 0; q < queries; ++q) {
    V w_total = constant(0.0), o_total = constant(0.0);
    for (int h = 0; h < H; ++h, ++k) {
      const V e = hn::Mul(constant(scales.score_mid), at(d_o, k));  // e^(gamma u)
      const V o = hn::Div(constant(1.0), hn::Add(e, constant(model.blocks - 1.0)));
      const V from_o = hn::Mul(constant(model.beta), hn::Sub(o, constant(scales.o_mid)));
      const V from_w = hn::Mul(constant(model.beta), hn::MulSub(e, o, constant(scales.w_mid)));
      put(d_o, k, from_o);
      put(dw, k, from_w);
      o_total = hn::Add(o_total, from_o);
      w_total = hn::Add(w_total, from_w);
    }
    put(g, q, hn::Mul(constant(0.5), o_total));
    put(own_g, q, hn::Mul(constant(0.5), w_total));
  }
  exponentials(scales.off_pair, g, queries);
  exponentials(scales.own_pair, own_g, queries);
  for (int q = 0; q < queries; ++q) {
    put(g, q, hn::Mul(constant(scales.off_g_mid), at(g, q)));
    put(own_g, q, hn::Mul(constant(scales.own_g_mid), at(own_g, q)));
  }
}

/// y_jq = sum_h a_qh dv_jh for a tile of Q queries and `count` slots.
template <int H, int Q>
HWY_INLINE void pair_exponents(const double* a, const double* v, int width, int count, double* y) {
  V start[Q];  // dv = v - 1/2
  for (int q = 0; q < Q; ++q) {
    start[q] = at(a, q * H);
    for (int h = 1; h < H; ++h) start[q] = hn::Add(start[q], at(a, q * H + h));
    start[q] = hn::Mul(constant(-0.5), start[q]);
  }
  for (int j = 0; j < count; ++j) {
    V total[Q];
    for (int q = 0; q < Q; ++q) total[q] = start[q];
    for (int h = 0; h < H; ++h) {
      const V v_jh = at(v, j * width + h);
      for (int q = 0; q < Q; ++q) total[q] = hn::MulAdd(at(a, q * H + h), v_jh, total[q]);
    }
    for (int q = 0; q < Q; ++q) put(y, j * Q + q, total[q]);
  }
}

/// P_jq <- P_jq f_j, and out[q] += sum_j P_jq, sum_j P_jq v_j over `count` slots, for `some` queries of a tile of Q from `from` on.
template <int H, int Q, int from, int some>
HWY_INLINE void contract(double* P, const double* f, const double* v, int width, int count, V (&out)[Q][H + 1]) {
  V total[some][H + 1];
  for (int q = 0; q < some; ++q)
    for (int h = 0; h <= H; ++h) total[q][h] = out[from + q][h];
  for (int j = 0; j < count; ++j) {
    V p[some];
    const V f_j = at(f, j);
    for (int q = 0; q < some; ++q) {
      p[q] = hn::Mul(at(P, j * Q + from + q), f_j);
      put(P, j * Q + from + q, p[q]);
      total[q][0] = hn::Add(total[q][0], p[q]);
    }
    for (int h = 0; h < H; ++h) {
      const V v_jh = at(v, j * width + h);
      for (int q = 0; q < some; ++q) total[q][1 + h] = hn::MulAdd(p[q], v_jh, total[q][1 + h]);
    }
  }
  for (int q = 0; q < some; ++q)
    for (int h = 0; h <= H; ++h) out[from + q][h] = total[q][h];
}

/// P_jq = f_j e^(sum_h a_qh dv_jh) for a tile of Q queries and `count` slots, and out[q] += sum_j P_jq, sum_j P_jq v_j; in
/// stretches that stay in the nearest cache.
template <int H, int Q>
HWY_NOINLINE void sum_over_slots(const ShortExp& e, const double* a, const double* f, const double* v, int width, int count,
                                 double* P, V (&out)[Q][H + 1]) {
  constexpr int stretch = 32;
  const std::size_t lanes = hn::Lanes(d);
  for (int j = 0; j < count; j += stretch) {
    const int some = std::min(stretch, count - j);
    double* const P_j = P + std::size_t(j) * Q * lanes;
    const double *const f_j = f + j * lanes, *const v_j = v + std::size_t(j) * width * lanes;
    pair_exponents<H, Q>(a, v_j, width, some, P_j);
    exponentials(e, P_j, std::size_t(some) * Q);
    if constexpr (Q * (H + 1) <= 12 || Q <= 2) {
      contract<H, Q, 0, Q>(P_j, f_j, v_j, width, some, out);
    } else {  // two at a time, where registers do not hold all sums
      contract<H, Q, 0, 2>(P_j, f_j, v_j, width, some, out);
      contract<H, Q, 2, Q - 2>(P_j, f_j, v_j, width, some, out);
    }
  }
}

/// dv_jh += sum_q c_qh P_jq over `count` slots, whose dLoss/dv stands at dv, `width` vectors from slot to slot.
template <int H, int Q>
HWY_NOINLINE void accumulate(const double* P, const V (&c)[Q][H], int width, int count, double* dv) {
  for (int j = 0; j < count; ++j) {
    V p[Q];
    for (int q = 0; q < Q; ++q) p[q] = at(P, j * Q + q);
    for (int h = 0; h < H; ++h) {
      V total = at(dv, j * width + h);
      for (int q = 0; q < Q; ++q) total = hn::MulAdd(c[q][h], p[q], total);
      put(dv, j * width + h, total);
    }
  }
}

/// From a tile's sums off, own [Q][H + 1] over slots of other blocks and of its own: Z of its queries, the gradient with respect to
/// their keys, the answers' terms of that with respect to values, and the coefficients c with which P enters the latter. p and dp
/// point to the first query's gates, dw, d_o, g and own_g to its attention.
template <int H, int Q>
HWY_NOINLINE void query_gradients(const CentredScales& scales, int width, const double* p, const double* dw, const double* d_o,
                                  const double* g, const double* own_g, const V (&off)[Q][H + 1], const V (&own)[Q][H + 1],
                                  double* Z, double* dp, V (&off_scale)[Q], V (&off_c)[Q][H], V (&own_c)[Q][H]) {
  const Model& model = scales.model;
  const V per_query = constant(model.beta / model.queries()), per_beta = constant(1.0 / model.beta);
  for (int q = 0; q < Q; ++q) {
    const V Z_q = hn::MulAdd(at(own_g, q), own[q][0], hn::MulAdd(at(g, q), off[q][0], constant(scales.outside)));
    put(Z, q, Z_q);
    const V scale = hn::Div(per_query, Z_q), own_scale = hn::Mul(scale, at(own_g, q));
    off_scale[q] = hn::Mul(scale, at(g, q));
    for (int h = 0; h < H; ++h) {
      const int key = q * width + h, value = key + width + H;
      const V w = hn::MulAdd(per_beta, at(dw, q * H + h), constant(scales.w_mid));
      const V o = hn::MulAdd(per_beta, at(d_o, q * H + h), constant(scales.o_mid));
      const V dloss_dw = hn::NegMulAdd(per_query, at(p, value), hn::Mul(own_scale, own[q][1 + h]));
      const V dloss_do = hn::Mul(off_scale[q], off[q][1 + h]);
      const V slope = hn::Mul(hn::Mul(constant(model.gamma), w), hn::Sub(constant(1.0), w));                // w' = gamma w (1 - w)
      put(dp, key, hn::Mul(slope, hn::NegMulAdd(constant(1.0 / (model.blocks - 1)), dloss_do, dloss_dw)));  // o' = -w' / (L - 1)
      put(dp, value, hn::NegMulAdd(per_query, w, at(dp, value)));
      own_c[q][h] = hn::Mul(own_scale, w);
      off_c[q][h] = hn::Mul(off_scale[q], o);
    }
  }
}

/// Sum over the queries of `blocks` blocks of log Z - beta m of the answer.
template <int H>
HWY_NOINLINE V sum_of_losses(const CentredScales& scales, int blocks, int width, const double* p, const double* dw,
                             const double* Z) {
  const Model& model = scales.model;
  const int queries = blocks * model.phases();
  V from_mid = constant(0.0), at_mid = constant(0.0),
    logs = constant(queries * scales.shift);  // beta m = dw . v + beta w_mid sum v
  for (int l = 0, k = 0; l < blocks; ++l)
    for (int r = 1; r < model.positions; ++r)
      for (int h = 0; h < H; ++h, ++k) {
        const V v = at(p, (l * model.positions + r) * width + H + h);
        from_mid = hn::MulAdd(at(dw, k), v, from_mid);
        at_mid = hn::Add(at_mid, v);
      }
  int q = 0;
  if (scales.products_fit)  // one logarithm for four
    for (; q + 4 <= queries; q += 4) {
      const V product = hn::Mul(hn::Mul(at(Z, q), at(Z, q + 1)), hn::Mul(at(Z, q + 2), at(Z, q + 3)));
      logs = hn::Add(logs, hn::Log(d, product));
    }
  for (; q < queries; ++q) logs = hn::Add(logs, hn::Log(d, at(Z, q)));
  return hn::Sub(logs, hn::MulAdd(constant(model.beta * scales.w_mid), at_mid, from_mid));
}

/// dLoss/dgates of `slots` slots before any query has been seen.
HWY_INLINE void clear(int width, int slots, double* dp) { std::fill_n(dp, std::size_t(slots) * width * hn::Lanes(d), 0.0); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#endif
