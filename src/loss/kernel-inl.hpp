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

HWY_INLINE void exponentials(const ShortExp& e, double* y, std::size_t count) {
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

/// F of each slot: f = e^(beta mid sum_h dv_h), f v.
template <int H>
HWY_NOINLINE void slot_factors(const ShortExp& e, double beta_mid, const double* dv, int slots, double* y, double* F) {
  for (int j = 0; j < slots; ++j) {
    V total = at(dv, std::size_t(j) * H);
    for (int h = 1; h < H; ++h) total = hn::Add(total, at(dv, std::size_t(j) * H + h));
    put(y, j, hn::Mul(constant(beta_mid), total));
  }
  exponentials(e, y, slots);
  for (int j = 0; j < slots; ++j) {
    const V f = at(y, j);
    put(F, std::size_t(j) * (H + 1), f);
    for (int h = 0; h < H; ++h)
      put(F, std::size_t(j) * (H + 1) + 1 + h, hn::Mul(f, hn::Add(at(dv, std::size_t(j) * H + h), constant(0.5))));
  }
}

/// w and o [blocks S - blocks][H] of every query of `blocks` blocks, from their gates (theory.md section 2).
template <int H>
HWY_NOINLINE void attend(const CentredScales& scales, int blocks, int width, const double* p, double* w, double* o) {
  const Model& model = scales.model;
  const std::size_t count = std::size_t(blocks) * model.phases() * H;
  std::size_t k = 0;
  for (int l = 0; l < blocks; ++l)
    for (int r = 0; r < model.phases(); ++r)
      for (int h = 0; h < H; ++h)
        put(o, k++,
            hn::Mul(constant(model.gamma), hn::Sub(at(p, std::size_t(l * model.positions + r) * width + h), constant(0.5))));
  exponentials(scales.score, o, count);
  for (k = 0; k < count; ++k) {
    const V e = hn::Mul(constant(scales.score_mid), at(o, k));
    const V other = hn::Div(constant(1.0), hn::Add(e, constant(model.blocks - 1.0)));
    put(o, k, other);
    put(w, k, hn::Mul(e, other));
  }
}

/// beta (a - mid) of each query and head, and the query's factor g = e^(beta / 2 sum_h a_h - shift).
template <int H>
HWY_NOINLINE void centre(const ShortExp& e, double beta, double mid, double g_mid, const double* a, int queries, double* da,
                         double* g) {
  for (int q = 0; q < queries; ++q) {
    V total = constant(0.0);
    for (int h = 0; h < H; ++h) {
      const std::size_t k = std::size_t(q) * H + h;
      const V distance = hn::Mul(constant(beta), hn::Sub(at(a, k), constant(mid)));
      put(da, k, distance);
      total = hn::Add(total, distance);
    }
    put(g, q, hn::Mul(constant(0.5), total));
  }
  exponentials(e, g, queries);
  for (int q = 0; q < queries; ++q) put(g, q, hn::Mul(constant(g_mid), at(g, q)));
}

/// y_jq = sum_h a_qh dv_jh for a tile of Q queries and `count` slots.
template <int H, int Q>
HWY_NOINLINE void pair_exponents(const double* a, const double* dv, int count, double* y) {
  for (int j = 0; j < count; ++j) {
    V total[Q];
    for (int h = 0; h < H; ++h) {
      const V v = at(dv, std::size_t(j) * H + h);
      for (int q = 0; q < Q; ++q) {
        const V a_qh = at(a, std::size_t(q) * H + h);
        total[q] = h == 0 ? hn::Mul(a_qh, v) : hn::MulAdd(a_qh, v, total[q]);
      }
    }
    for (int q = 0; q < Q; ++q) put(y, std::size_t(j) * Q + q, total[q]);
  }
}

/// out[q] += sum_j P_jq F_j over `count` slots, for queries from .. from + some - 1 of a tile of Q.
template <int H, int Q, int from, int some>
HWY_NOINLINE void contract(const double* P, const double* F, int count, V (&out)[Q][H + 1]) {
  V total[some][H + 1];
  for (int q = 0; q < some; ++q)
    for (int h = 0; h <= H; ++h) total[q][h] = out[from + q][h];
  for (int j = 0; j < count; ++j) {
    V p[some];
    for (int q = 0; q < some; ++q) p[q] = at(P, std::size_t(j) * Q + from + q);
    for (int h = 0; h <= H; ++h) {
      const V F_jh = at(F, std::size_t(j) * (H + 1) + h);
      for (int q = 0; q < some; ++q) total[q][h] = hn::MulAdd(p[q], F_jh, total[q][h]);
    }
  }
  for (int q = 0; q < some; ++q)
    for (int h = 0; h <= H; ++h) out[from + q][h] = total[q][h];
}

/// The same for all queries of the tile, two at a time where registers do not hold all sums.
template <int H, int Q>
HWY_INLINE void contract_all(const double* P, const double* F, int count, V (&out)[Q][H + 1]) {
  if constexpr (Q * (H + 1) <= 12 || Q <= 2) {
    contract<H, Q, 0, Q>(P, F, count, out);
  } else {
    contract<H, Q, 0, 2>(P, F, count, out);
    contract<H, Q, 2, Q - 2>(P, F, count, out);
  }
}

/// P_jq = e^(sum_h a_qh dv_jh) for a tile of Q queries and `count` slots, and out[q] += sum_j P_jq F_j; in stretches that stay in
/// the nearest cache.
template <int H, int Q>
HWY_NOINLINE void sum_over_slots(const ShortExp& e, const double* a, const double* dv, const double* F, int count, double* P,
                                 V (&out)[Q][H + 1]) {
  constexpr int stretch = 32;
  const std::size_t lanes = hn::Lanes(d);
  for (int j = 0; j < count; j += stretch) {
    const int some = std::min(stretch, count - j);
    double* const P_j = P + std::size_t(j) * Q * lanes;
    pair_exponents<H, Q>(a, dv + std::size_t(j) * H * lanes, some, P_j);
    exponentials(e, P_j, std::size_t(some) * Q);
    contract_all<H, Q>(P_j, F + std::size_t(j) * (H + 1) * lanes, some, out);
  }
}

/// sum_jh += sum_q c_qh P_jq over `count` slots.
template <int H, int Q>
HWY_NOINLINE void accumulate(const double* P, const V (&c)[Q][H], int count, double* sum) {
  for (int j = 0; j < count; ++j) {
    V p[Q];
    for (int q = 0; q < Q; ++q) p[q] = at(P, std::size_t(j) * Q + q);
    for (int h = 0; h < H; ++h) {
      V total = at(sum, std::size_t(j) * H + h);
      for (int q = 0; q < Q; ++q) total = hn::MulAdd(c[q][h], p[q], total);
      put(sum, std::size_t(j) * H + h, total);
    }
  }
}

/// From a tile's sums off, own [Q][H + 1] of P f and P f v: Z of its queries, the gradient with respect to their keys and the
/// answers' terms of that with respect to values, and the coefficients c with which P f of other and own slots enters the latter. p
/// and dp point to the first query's gates, w and o to its attention.
template <int H, int Q>
HWY_NOINLINE void query_gradients(const CentredScales& scales, int width, const double* p, const double* w, const double* o,
                                  const double* g, const double* own_g, const V (&off)[Q][H + 1], const V (&own)[Q][H + 1],
                                  double* Z, double* dp, V (&off_scale)[Q], V (&off_c)[Q][H], V (&own_c)[Q][H]) {
  const Model& model = scales.model;
  const V per_query = constant(model.beta / model.queries());
  for (int q = 0; q < Q; ++q) {
    const V Z_q = hn::MulAdd(at(own_g, q), own[q][0], hn::MulAdd(at(g, q), off[q][0], constant(scales.outside)));
    put(Z, q, Z_q);
    const V scale = hn::Div(per_query, Z_q), own_scale = hn::Mul(scale, at(own_g, q));
    off_scale[q] = hn::Mul(scale, at(g, q));
    for (int h = 0; h < H; ++h) {
      const std::size_t key = std::size_t(q) * width + h, value = key + width + H;
      const V w_qh = at(w, std::size_t(q) * H + h);
      const V dloss_dw = hn::NegMulAdd(per_query, at(p, value), hn::Mul(own_scale, own[q][1 + h]));
      const V dloss_do = hn::Mul(off_scale[q], off[q][1 + h]);
      const V slope = hn::Mul(hn::Mul(constant(model.gamma), w_qh), hn::Sub(constant(1.0), w_qh));          // w' = gamma w (1 - w)
      put(dp, key, hn::Mul(slope, hn::NegMulAdd(constant(1.0 / (model.blocks - 1)), dloss_do, dloss_dw)));  // o' = -w' / (L - 1)
      put(dp, value, hn::Neg(hn::Mul(per_query, w_qh)));
      own_c[q][h] = hn::Mul(own_scale, w_qh);
      off_c[q][h] = hn::Mul(off_scale[q], at(o, std::size_t(q) * H + h));
    }
  }
}

/// Sum over the queries of `blocks` blocks of log Z - beta m of the answer.
template <int H>
HWY_NOINLINE V sum_of_losses(const CentredScales& scales, int blocks, int width, const double* p, const double* w,
                             const double* Z) {
  const Model& model = scales.model;
  const int queries = blocks * model.phases();
  V answers = constant(0.0), logs = constant(queries * scales.shift);
  int q = 0;
  for (int l = 0; l < blocks; ++l)
    for (int r = 0; r < model.phases(); ++r, ++q)
      for (int h = 0; h < H; ++h)
        answers =
            hn::MulAdd(at(w, std::size_t(q) * H + h), at(p, std::size_t(l * model.positions + r + 1) * width + H + h), answers);
  q = 0;
  if (scales.products_fit)  // one logarithm for four
    for (; q + 4 <= queries; q += 4) {
      const V product = hn::Mul(hn::Mul(at(Z, q), at(Z, q + 1)), hn::Mul(at(Z, q + 2), at(Z, q + 3)));
      logs = hn::Add(logs, hn::Log(d, product));
    }
  for (; q < queries; ++q) logs = hn::Add(logs, hn::Log(d, at(Z, q)));
  return hn::NegMulAdd(constant(model.beta), answers, logs);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#endif
