// What the kernels across contexts and across blocks have in common, in vectors (see centred_scales.hpp for the formulas). Compiled
// once for each instruction set: included from files that hwy/foreach_target.h compiles again and again.
//
// How it is written, and why it matters more than the number of operations:
// - Loops over small arrays of vectors have constant bounds and are marked HWY_UNROLL, so that the arrays become registers. Left
//   alone, the compiler copies such arrays through memory in halves, and a load of a whole vector waits long for two stores of
//   halves.
// - To the compiler a stored vector may overlap anything, also the members that a loop reads. Sizes, pointers and coefficients are
//   copied to locals first, and what is stored to is HWY_RESTRICT where that helps.
// - Degrees are not compile-time numbers: with eight independent numbers in flight a loop over coefficients costs nothing.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/centred_scales.hpp"
#include "kernels/token_lines.hpp"

#if defined(PHASELOCK_KERNEL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASELOCK_KERNEL_INL_HPP
#undef PHASELOCK_KERNEL_INL_HPP
#else
#define PHASELOCK_KERNEL_INL_HPP
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
constexpr D d{};

HWY_INLINE V constant(double x) { return hn::Set(d, x); }
HWY_INLINE V at(const double* p, std::size_t k) { return hn::Load(d, p + k * hn::Lanes(d)); }
HWY_INLINE void put(double* p, std::size_t k, V v) { hn::Store(v, d, p + k * hn::Lanes(d)); }

/// y <- p(y) for each of n vectors: their chains of operations overlap.
template <int n>
HWY_INLINE void evaluate(const double* coefficient, int degree, V (&y)[n]) {
  V value[n];
  HWY_UNROLL(16)
  for (int i = 0; i < n; ++i) value[i] = constant(coefficient[degree]);
  const double* c = coefficient + degree;
  do {
    const V next = constant(*--c);
    HWY_UNROLL(16)
    for (int i = 0; i < n; ++i) value[i] = hn::MulAdd(value[i], y[i], next);
  } while (c != coefficient);
  HWY_UNROLL(16)
  for (int i = 0; i < n; ++i) y[i] = value[i];
}

/// y <- e^y; general exponentials are left to the caller.
template <int n>
HWY_INLINE void exponential(const double* coefficient, int degree, int squarings, V (&y)[n]) {
  evaluate(coefficient, degree, y);
  for (int s = squarings; s > 0; --s) {
    HWY_UNROLL(16)
    for (int i = 0; i < n; ++i) y[i] = hn::Mul(y[i], y[i]);
  }
}

/// body.template operator()<n>(first) for `count` things, eight at a time as far as they go.
template <class Body>
HWY_INLINE void by_eights(std::size_t count, const Body& body) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) body(i, std::integral_constant<int, 8>());
  if (i + 4 <= count) body(i, std::integral_constant<int, 4>()), i += 4;
  for (; i < count; ++i) body(i, std::integral_constant<int, 1>());
}

/// y <- p(y) for `count` vectors.
HWY_NOINLINE void evaluate(const Polynomial& p, double* HWY_RESTRICT y, std::size_t count) {
  const double* const coefficient = p.coefficient.data();
  const int degree = p.degree;
  by_eights(count, [&](std::size_t first, auto count_now) HWY_ATTR {
    constexpr int n = count_now;
    V v[n];
    HWY_UNROLL(16)
    for (int i = 0; i < n; ++i) v[i] = at(y, first + i);
    evaluate(coefficient, degree, v);
    HWY_UNROLL(16)
    for (int i = 0; i < n; ++i) put(y, first + i, v[i]);
  });
}

/// y <- e^y for `count` vectors.
HWY_NOINLINE void exponentials(const ShortExp& e, double* HWY_RESTRICT y, std::size_t count) {
  if (e.general) {
    for (std::size_t i = 0; i < count; ++i) put(y, i, hn::Exp(d, at(y, i)));
    return;
  }
  const double* const coefficient = e.p.coefficient.data();
  const int degree = e.p.degree, squarings = e.squarings;
  by_eights(count, [&](std::size_t first, auto count_now) HWY_ATTR {
    constexpr int n = count_now;
    V v[n];
    HWY_UNROLL(16)
    for (int i = 0; i < n; ++i) v[i] = at(y, first + i);
    exponential(coefficient, degree, squarings, v);
    HWY_UNROLL(16)
    for (int i = 0; i < n; ++i) put(y, first + i, v[i]);
  });
}

/// Lanes(d4) lanes of a vector, from `lane` on.
template <class Whole>
HWY_INLINE hn::Vec<D4> part(Whole v, [[maybe_unused]] int lane) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (!std::is_same_v<Whole, hn::Vec<D4>>)
    return lane == 0 ? hn::LowerHalf(d4, v) : hn::UpperHalf(d4, v);
  else
#endif
    return v;
}

constexpr std::size_t most_lanes = hn::MaxLanes(d);  ///< Lanes(d) is this or, with vectors of variable length, less

/// Calls body(c, count) for the gates c .. c + count - 1 in groups of W; the last group may have fewer, all counts are constants.
template <int H, class Body>
HWY_INLINE void by_groups(const Body& body) {
  constexpr int rest = 2 * H % W;
  for (int c = 0; c + W <= 2 * H; c += W) body(c, std::integral_constant<int, W>());
  if constexpr (rest > 0) body(2 * H - rest, std::integral_constant<int, rest>());
}

/// Gates of a block from the lines of its slots: p [S][width], p_r = e_r / sum_r e_r. The lines of slot r stand at
/// lines + places[r * most_lanes + lane].
template <int H>
HWY_NOINLINE void read_gates(const double* lines, const std::size_t* places, int S, int width, double* p) {
  const int lanes = int(hn::Lanes(d));
  by_groups<H>([&](int c, auto gates) HWY_ATTR {
    constexpr int n = gates;
    V total[n];
    HWY_UNROLL(16)
    for (int k = 0; k < n; ++k) total[k] = constant(0.0);
    for (int r = 0; r < S; ++r) {
      double* const to = p + (r * width + c) * lanes;
      for (int lane = 0; lane < lanes; lane += W) {
        hn::Vec<D4> v[W];
        HWY_UNROLL(16)
        for (int k = 0; k < W; ++k) v[k] = hn::Load(d4, lines + places[r * most_lanes + lane + k] + c);
        transpose(v);
        HWY_UNROLL(16)
        for (int k = 0; k < n; ++k) hn::Store(v[k], d4, to + k * lanes + lane);
      }
      HWY_UNROLL(16)
      for (int k = 0; k < n; ++k) total[k] = hn::Add(total[k], at(to, k));
    }
    HWY_UNROLL(16)
    for (int k = 0; k < n; ++k) total[k] = hn::Div(constant(1.0), total[k]);
    for (int r = 0; r < S; ++r) {
      HWY_UNROLL(16)
      for (int k = 0; k < n; ++k) put(p, r * width + c + k, hn::Mul(at(p, r * width + c + k), total[k]));
    }
  });
}

/// Adds a block's dLoss/dlogits = p (d - sum p d), d = dLoss/dgates, to the lines of its slots, those of the first `used` lanes.
/// The mean is taken off twice: the second time takes off the rounding error of the first, which would drown the gradient of a gate
/// that is nearly one-hot.
template <int H>
HWY_NOINLINE void add_gradients(const double* p, const double* dp, int S, int width, const std::size_t* places, int used,
                                double* lines) {
  const int lanes = int(hn::Lanes(d));
  by_groups<H>([&](int c, auto gates) HWY_ATTR {
    constexpr int n = gates;
    V mean[n], rest[n], x[n];
    HWY_UNROLL(16)
    for (int k = 0; k < n; ++k) mean[k] = rest[k] = constant(0.0);
    for (int r = 0; r < S; ++r) {
      HWY_UNROLL(16)
      for (int k = 0; k < n; ++k) mean[k] = hn::MulAdd(at(p, r * width + c + k), at(dp, r * width + c + k), mean[k]);
    }
    for (int r = 0; r < S; ++r) {
      HWY_UNROLL(16)
      for (int k = 0; k < n; ++k)
        rest[k] = hn::MulAdd(at(p, r * width + c + k), hn::Sub(at(dp, r * width + c + k), mean[k]), rest[k]);
    }
    for (int r = 0; r < S; ++r) {
      HWY_UNROLL(16)
      for (int k = 0; k < n; ++k)
        x[k] = hn::Mul(at(p, r * width + c + k), hn::Sub(hn::Sub(at(dp, r * width + c + k), mean[k]), rest[k]));
      for (int lane = 0; lane < lanes && lane < used; lane += W) {
        hn::Vec<D4> v[W];
        HWY_UNROLL(16)
        for (int k = 0; k < W; ++k) v[k] = k < n ? part(x[std::min<int>(k, n - 1)], lane) : hn::Zero(d4);
        transpose(v);
        HWY_UNROLL(16)
        for (int k = 0; k < W; ++k) {
          if (lane + k >= used) break;
          double* const line = lines + places[r * most_lanes + lane + k] + c;
          hn::Store(hn::Add(hn::Load(d4, line), v[k]), d4, line);
        }
      }
    }
  });
}

/// The slot's factor f = e^(beta o_mid sum_h dv_h) of `slots` slots, whose values stand at v, `width` vectors from slot to slot.
template <int H>
HWY_NOINLINE void slot_factors(const CentredScales& scales, const double* v, int width, int slots, double* f) {
  for (int j = 0; j < slots; ++j) {
    V total = constant(-0.5 * H);
    HWY_UNROLL(16)
    for (int h = 0; h < H; ++h) total = hn::Add(total, at(v, j * width + h));
    put(f, j, hn::Mul(constant(scales.model.beta * scales.o_mid), total));
  }
  exponentials(scales.off_slot, f, slots);
}

/// What pairs need of every query of `blocks` blocks, from keys at p: beta w and beta do [queries][H], the start of an exponent,
/// which is -beta / 2 sum_h do_h as v stands in place of dv, and the factor g = e^(beta / 2 sum_h o_h - shift).
template <int H>
HWY_NOINLINE void attend(const CentredScales& scales, int blocks, int width, const double* p, double* w, double* d_o, double* start,
                         double* g) {
  const Model& model = scales.model;
  const int phases = model.phases(), queries = blocks * phases;
  for (int l = 0, k = 0; l < blocks; ++l)
    for (int r = 0; r < phases; ++r)
      for (int h = 0; h < H; ++h, ++k) put(w, k, hn::Sub(at(p, (l * model.positions + r) * width + h), constant(0.5)));
  evaluate(scales.centred_w, w, std::size_t(queries) * H);
  const V beta = constant(model.beta), middle = constant(model.beta * scales.w_mid),
          to_o = constant(-model.beta / (model.blocks - 1));
  for (int q = 0, k = 0; q < queries; ++q) {
    V total = constant(0.0);
    for (int h = 0; h < H; ++h, ++k) {
      const V centred = at(w, k), from_o = hn::Mul(to_o, centred);
      put(w, k, hn::MulAdd(beta, centred, middle));
      put(d_o, k, from_o);
      total = hn::Add(total, from_o);
    }
    put(start, q, hn::Mul(constant(-0.5), total));
    put(g, q, hn::Mul(constant(0.5), total));
  }
  exponentials(scales.off_pair, g, queries);
  for (int q = 0; q < queries; ++q) put(g, q, hn::Mul(constant(scales.g_mid), at(g, q)));
}

/// Slots first .. last - 1.
struct SlotRange {
  int first, last;
};

/// P_jq = f_j e^(start_q + sum_h a_qh v_jh) for a tile of Q queries and n slots, whose numbers stand at v, f and P; where f is null
/// it is 1.
template <int H, int Q, int n>
HWY_INLINE void pairs(const double* coefficient, int degree, int squarings, const double* a, const double* start, const double* v,
                      const double* f, int width, double* P) {
  V y[n * Q];
  HWY_UNROLL(16)
  for (int q = 0; q < Q; ++q) {
    const V start_q = at(start, q);
    HWY_UNROLL(16)
    for (int s = 0; s < n; ++s) y[s * Q + q] = start_q;
  }
  HWY_UNROLL(16)
  for (int h = 0; h < H; ++h) {
    V v_h[n];
    HWY_UNROLL(16)
    for (int s = 0; s < n; ++s) v_h[s] = at(v, s * width + h);
    HWY_UNROLL(16)
    for (int q = 0; q < Q; ++q) {
      const V a_qh = at(a, q * H + h);
      HWY_UNROLL(16)
      for (int s = 0; s < n; ++s) y[s * Q + q] = hn::MulAdd(a_qh, v_h[s], y[s * Q + q]);
    }
  }
  exponential(coefficient, degree, squarings, y);
  HWY_UNROLL(16)
  for (int s = 0; s < n; ++s) {
    if (f) {
      const V f_s = at(f, s);
      HWY_UNROLL(16)
      for (int q = 0; q < Q; ++q) y[s * Q + q] = hn::Mul(f_s, y[s * Q + q]);
    }
    HWY_UNROLL(16)
    for (int q = 0; q < Q; ++q) put(P, s * Q + q, y[s * Q + q]);
  }
}

/// out[q] += sum_j P_jq, sum_j P_jq v_j over `count` slots, for queries of a tile of Q from `from` on: as many at a time as
/// registers hold the sums of.
template <int H, int Q, int from = 0>
HWY_INLINE void contract(const double* P, const double* v, int width, int count, V (&out)[Q][H + 1]) {
  constexpr int some = std::min(Q - from, std::max(1, 14 / (H + 1)));
  const std::size_t lanes = hn::Lanes(d);
  V total[some][H + 1];
  HWY_UNROLL(16)
  for (int q = 0; q < some; ++q) {
    HWY_UNROLL(16)
    for (int h = 0; h <= H; ++h) total[q][h] = out[from + q][h];
  }
  const double *P_j = P, *v_j = v;
  for (const double* const end = P + std::size_t(count) * Q * lanes; P_j != end; P_j += Q * lanes, v_j += width * lanes) {
    V p[some];
    HWY_UNROLL(16)
    for (int q = 0; q < some; ++q) {
      p[q] = at(P_j, from + q);
      total[q][0] = hn::Add(total[q][0], p[q]);
    }
    HWY_UNROLL(16)
    for (int h = 0; h < H; ++h) {
      const V v_jh = at(v_j, h);
      HWY_UNROLL(16)
      for (int q = 0; q < some; ++q) total[q][1 + h] = hn::MulAdd(p[q], v_jh, total[q][1 + h]);
    }
  }
  HWY_UNROLL(16)
  for (int q = 0; q < some; ++q) {
    HWY_UNROLL(16)
    for (int h = 0; h <= H; ++h) out[from + q][h] = total[q][h];
  }
  if constexpr (from + some < Q) contract<H, Q, from + some>(P, v, width, count, out);
}

/// P_jq = f_j e^(start_q + sum_h a_qh v_jh) for a tile of Q queries and the slots of some ranges, and out[q] = sum_j P_jq, sum_j
/// P_jq v_j; in stretches that stay in the nearest cache. Without f: 1.
template <int H, int Q>
HWY_NOINLINE void sum_over_slots(const ShortExp& e, const double* a, const double* start, const double* f, const double* v,
                                 int width, const SlotRange* ranges, int count, double* HWY_RESTRICT P, V (&out)[Q][H + 1]) {
  constexpr int stretch = 32, at_once = std::max(2, 8 / Q);
  const std::size_t lanes = hn::Lanes(d), next = width * lanes;
  const double* const coefficient = e.p.coefficient.data();
  const int degree = e.p.degree, squarings = e.squarings;
  const bool general = e.general;
  HWY_UNROLL(16)
  for (int q = 0; q < Q; ++q) {
    HWY_UNROLL(16)
    for (int h = 0; h <= H; ++h) out[q][h] = constant(0.0);
  }
  for (const SlotRange* range = ranges; range != ranges + count; ++range)
    for (int first = range->first; first < range->last; first += stretch) {
      const int some = std::min(stretch, range->last - first);
      const double* v_j = v + first * next;
      const double* f_j = f && !general ? f + first * lanes : nullptr;
      double* const P_first = P + std::size_t(first) * Q * lanes;
      double* P_j = P_first;
      int j = 0;
      for (; j + at_once <= some; j += at_once, v_j += at_once * next, P_j += at_once * Q * lanes) {
        pairs<H, Q, at_once>(coefficient, degree, squarings, a, start, v_j, f_j, width, P_j);
        if (f_j) f_j += at_once * lanes;
      }
      for (; j < some; ++j, v_j += next, P_j += Q * lanes) {
        pairs<H, Q, 1>(coefficient, degree, squarings, a, start, v_j, f_j, width, P_j);
        if (f_j) f_j += lanes;
      }
      if (general) {
        exponentials(e, P_first, std::size_t(some) * Q);
        for (j = 0; f && j < some; ++j) {
          HWY_UNROLL(16)
          for (int q = 0; q < Q; ++q) put(P_first, j * Q + q, hn::Mul(at(f, first + j), at(P_first, j * Q + q)));
        }
      }
      contract<H, Q>(P_first, v + first * next, width, some, out);
    }
}

/// dv_jh += sum_q c_qh P_jq over the slots of some ranges, whose dLoss/dv stands at dv, `width` vectors from slot to slot; heads
/// from `from` on, as many at a time as registers hold the coefficients of.
template <int H, int Q, int from = 0>
HWY_NOINLINE void accumulate(const double* P, const V (&c)[Q][H], int width, const SlotRange* ranges, int count, double* dv) {
  constexpr int some = std::min(H - from, std::max(1, 9 / Q));
  const std::size_t lanes = hn::Lanes(d), next = width * lanes;
  V c_from[Q][some];
  HWY_UNROLL(16)
  for (int q = 0; q < Q; ++q) {
    HWY_UNROLL(16)
    for (int h = 0; h < some; ++h) c_from[q][h] = c[q][from + h];
  }
  for (const SlotRange* range = ranges; range != ranges + count; ++range) {
    const double* P_j = P + std::size_t(range->first) * Q * lanes;
    double* dv_j = dv + range->first * next;
    for (const double* const end = P + std::size_t(range->last) * Q * lanes; P_j != end; P_j += Q * lanes, dv_j += next) {
      V total[some];
      HWY_UNROLL(16)
      for (int h = 0; h < some; ++h) total[h] = at(dv_j, from + h);
      HWY_UNROLL(16)
      for (int q = 0; q < Q; ++q) {
        const V p = at(P_j, q);
        HWY_UNROLL(16)
        for (int h = 0; h < some; ++h) total[h] = hn::MulAdd(c_from[q][h], p, total[h]);
      }
      HWY_UNROLL(16)
      for (int h = 0; h < some; ++h) put(dv_j, from + h, total[h]);
    }
  }
  if constexpr (from + some < H) accumulate<H, Q, from + some>(P, c, width, ranges, count, dv);
}

/// From a tile's sums off, own [Q][H + 1] over slots of other blocks and of its own: Z of its queries, the gradient with respect to
/// their keys, the answers' terms of that with respect to values, and the coefficients c with which P enters the latter. p and dp
/// point to the first query's gates, bw and g to its attention.
template <int H, int Q>
HWY_NOINLINE void query_gradients(const CentredScales& scales, int width, const double* p, const double* bw, const double* g,
                                  const V (&off)[Q][H + 1], const V (&own)[Q][H + 1], double* Z, double* dp, V (&off_scale)[Q],
                                  V (&off_c)[Q][H], V (&own_c)[Q][H]) {
  const Model& model = scales.model;
  const V per_query = constant(model.beta / model.queries()), per_beta = constant(1.0 / model.beta), gamma = constant(model.gamma);
  const V per_other = constant(1.0 / (model.blocks - 1));
  HWY_UNROLL(16)
  for (int q = 0; q < Q; ++q) {
    const V Z_q = hn::Add(own[q][0], hn::MulAdd(at(g, q), off[q][0], constant(scales.outside)));
    put(Z, q, Z_q);
    const V scale = hn::Div(per_query, Z_q);
    off_scale[q] = hn::Mul(scale, at(g, q));
    HWY_UNROLL(16)
    for (int h = 0; h < H; ++h) {
      const int key = q * width + h, value = key + width + H;
      const V w = hn::Mul(per_beta, at(bw, q * H + h)), not_w = hn::Sub(constant(1.0), w), o = hn::Mul(per_other, not_w);
      const V dloss_dw = hn::NegMulAdd(per_query, at(p, value), hn::Mul(scale, own[q][1 + h]));
      const V dloss_do = hn::Mul(off_scale[q], off[q][1 + h]);
      const V slope = hn::Mul(hn::Mul(gamma, w), not_w);                           // w' = gamma w (1 - w)
      put(dp, key, hn::Mul(slope, hn::NegMulAdd(per_other, dloss_do, dloss_dw)));  // o' = -w' / (L - 1)
      put(dp, value, hn::NegMulAdd(per_query, w, at(dp, value)));
      own_c[q][h] = hn::Mul(scale, w);
      off_c[q][h] = hn::Mul(off_scale[q], o);
    }
  }
}

/// Sum over the queries of `blocks` blocks of log Z - beta m of the answer.
template <int H>
HWY_NOINLINE V sum_of_losses(const CentredScales& scales, int blocks, int width, const double* p, const double* bw,
                             const double* Z) {
  const Model& model = scales.model;
  const int queries = blocks * model.phases();
  V m[H], logs = constant(queries * scales.shift);
  HWY_UNROLL(16)
  for (int h = 0; h < H; ++h) m[h] = constant(0.0);
  for (int l = 0, k = 0; l < blocks; ++l)
    for (int r = 1; r < model.positions; ++r)
      for (int h = 0; h < H; ++h, ++k) m[h] = hn::MulAdd(at(bw, k), at(p, (l * model.positions + r) * width + H + h), m[h]);
  int q = 0;
  if (scales.products_fit)  // one logarithm for four
    for (; q + 4 <= queries; q += 4) {
      const V product = hn::Mul(hn::Mul(at(Z, q), at(Z, q + 1)), hn::Mul(at(Z, q + 2), at(Z, q + 3)));
      logs = hn::Add(logs, hn::Log(d, product));
    }
  for (; q < queries; ++q) logs = hn::Add(logs, hn::Log(d, at(Z, q)));
  HWY_UNROLL(16)
  for (int h = 0; h < H; ++h) logs = hn::Sub(logs, m[h]);
  return logs;
}

/// dLoss/dgates of `slots` slots before any query has been seen.
template <int H>
HWY_INLINE void clear(int width, int slots, double* dp) {
  for (int j = 0; j < slots; ++j)
    for (int g = 0; g < 2 * H; ++g) put(dp, j * width + g, constant(0.0));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#endif
