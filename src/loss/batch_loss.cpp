// How the kernel across contexts is laid out. A vector holds the same number of several contexts, one a lane; everything below is
// the closed form of theory.md section 2 for one context in its centred form (centred_scales.hpp), written in vectors.
//   lines    exponentials e^(G - shift) come in lines, one for each (offset, token), with the numbers of all 2 H gates. Four
//            lines are transposed in registers into vectors across contexts, and gradients go back the same way.
//   gates    softmax needs no exponential: p = e / sum e over a block, from the lines.
//   pairs    the work is in the pairs (query, slot). Queries of one block go in tiles of up to four, so that each slot's numbers
//            are loaded once for four queries: exponents of all pairs of the tile, their exponentials P, sums over slots of P f
//            and P f v, which give Z and dLoss/d(w, o), and last the sums over queries that give dLoss/dv.
// H and the tile's size are compile-time numbers. L, S and the degrees of the exponentials are not.
#include "batch_loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loss/batch_loss.cpp"
#include <hwy/foreach_target.h>

#include "kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

/// Numbers of one batch of contexts, all in vectors. F stands for a slot's factor f, then f v of each head.
struct Workspace {
  Workspace(const Model& model, int width) {
    const std::size_t H = model.heads, slots = model.slots(), queries = model.queries();
    const std::size_t sizes[] = {slots * width, slots * width, slots * H,   slots * (H + 1), slots * (H + 1), slots * H, slots * H,
                                 queries * H,   queries * H,   queries * H, queries * H,     queries,         queries,   queries,
                                 slots * 4,     slots};
    double** const places[] = {&p, &dp, &dv, &F, &own_F, &sum, &own_sum, &w, &o, &dw, &d_o, &g, &own_g, &Z, &P, &y};
    std::size_t total = 0;
    for (const std::size_t size : sizes) total += size;
    memory = hwy::AllocateAligned<double>(total * hn::Lanes(d));
    std::fill_n(memory.get(), total * hn::Lanes(d), 0.0);
    double* next = memory.get();
    for (std::size_t k = 0; k < std::size(sizes); ++k) {
      *places[k] = next;
      next += sizes[k] * hn::Lanes(d);
    }
  }

  double *p, *dp;         ///< gates and dLoss/dgates, [slots][width]: keys, then values
  double* dv;             ///< v - 1/2, [slots][H]
  double *F, *own_F;      ///< of a slot as seen from other blocks and from its own, [slots][H + 1]
  double *sum, *own_sum;  ///< sum_q c_q P_q over queries of other blocks and of the slot's own, [slots][H]
  double *w, *o;          ///< attention, [queries][H]
  double *dw, *d_o;       ///< beta times its distance from the centre, [queries][H]
  double *g, *own_g;      ///< the query's factor on other blocks and on its own, [queries]
  double* Z;              ///< [queries]
  double* P;              ///< pair exponentials of a tile, [slots][queries of the tile]
  double* y;              ///< exponents, [slots]
  hwy::AlignedFreeUniquePtr<double[]> memory;
};

/// Q queries of block l from position r0 on: their Z, and their part of the gradient if wanted.
template <int H, int Q>
HWY_NOINLINE void tile(const CentredScales& scales, int width, const Workspace& work, int l, int r0, bool gradient) {
  const Model& model = scales.model;
  const int S = model.positions, first = l * S, last = first + S, after = model.slots() - last;
  const std::size_t lanes = hn::Lanes(d), query = std::size_t(l) * model.phases() + r0;
  const auto from = [lanes](double* numbers, std::size_t each, std::size_t k) { return numbers + k * each * lanes; };
  double *const own_P = from(work.P, Q, first), *const after_P = from(work.P, Q, last);
  const double *const dw = from(work.dw, H, query), *const d_o = from(work.d_o, H, query);
  V own[Q][H + 1], off[Q][H + 1], off_scale[Q], own_c[Q][H], off_c[Q][H];
  for (int q = 0; q < Q; ++q)
    for (int h = 0; h <= H; ++h) own[q][h] = off[q][h] = constant(0.0);
  sum_over_slots<H, Q>(scales.off_pair, d_o, work.dv, work.F, first, work.P, off);
  sum_over_slots<H, Q>(scales.own_pair, dw, from(work.dv, H, first), from(work.own_F, H + 1, first), S, own_P, own);
  sum_over_slots<H, Q>(scales.off_pair, d_o, from(work.dv, H, last), from(work.F, H + 1, last), after, after_P, off);
  query_gradients<H, Q>(scales, width, from(work.p, width, first + r0), from(work.w, H, query), from(work.o, H, query),
                        from(work.g, 1, query), from(work.own_g, 1, query), off, own, from(work.Z, 1, query),
                        from(work.dp, width, first + r0), off_scale, off_c, own_c);
  if (!gradient) return;
  accumulate<H, Q>(work.P, off_c, first, work.sum);
  accumulate<H, Q>(own_P, own_c, S, from(work.own_sum, H, first));
  accumulate<H, Q>(after_P, off_c, after, from(work.sum, H, last));
}

/// Losses of Lanes(d) contexts from their gates, and dLoss/dgates if wanted.
template <int H>
HWY_NOINLINE V contexts_loss(const CentredScales& scales, int width, const Workspace& work, bool gradient) {
  const Model& model = scales.model;
  const int L = model.blocks, S = model.positions, slots = model.slots(), queries = model.queries();
  for (int j = 0; j < slots; ++j)
    for (int h = 0; h < H; ++h) {
      put(work.dv, j * H + h, hn::Sub(at(work.p, j * width + H + h), constant(0.5)));
      put(work.sum, j * H + h, constant(0.0));
      put(work.own_sum, j * H + h, constant(0.0));
    }
  slot_factors<H>(scales.off_slot, model.beta * scales.o_mid, work.dv, slots, work.y, work.F);
  slot_factors<H>(scales.own_slot, model.beta * scales.w_mid, work.dv, slots, work.y, work.own_F);
  attend<H>(scales, L, width, work.p, work.w, work.o);
  centre<H>(scales.off_pair, model.beta, scales.o_mid, scales.off_g_mid, work.o, queries, work.d_o, work.g);
  centre<H>(scales.own_pair, model.beta, scales.w_mid, scales.own_g_mid, work.w, queries, work.dw, work.own_g);
  constexpr decltype(&tile<H, 1>) rest[] = {nullptr, tile<H, 1>, tile<H, 2>, tile<H, 3>};
  for (int l = 0; l < L; ++l) {
    int r = 0;
    for (; r + 4 <= model.phases(); r += 4) tile<H, 4>(scales, width, work, l, r, gradient);
    if (r < model.phases()) rest[model.phases() - r](scales, width, work, l, r, gradient);
  }
  if (gradient)
    for (int j = 0; j < slots; ++j)
      for (int h = 0; h < H; ++h) {
        const int value = j * width + H + h;
        const V others = hn::Mul(at(work.F, j * (H + 1)), at(work.sum, j * H + h));
        const V all = hn::MulAdd(at(work.own_F, j * (H + 1)), at(work.own_sum, j * H + h), others);
        put(work.dp, value, j % S == 0 ? all : hn::Add(all, at(work.dp, value)));  // no answer sits first
        if (j % S == S - 1) put(work.dp, j * width + h, constant(0.0));            // and no query last
      }
  return hn::Mul(sum_of_losses<H>(scales, L, width, work.p, work.w, work.Z), constant(1.0 / queries));
}

template <int H>
double run(const CentredScales& scales, const TokenLines& exponentials_of, const Contexts& contexts, std::size_t first,
           std::size_t last, TokenLines* gradient) {
  constexpr std::size_t most_lanes = hn::MaxLanes(d);
  const std::size_t lanes = hn::Lanes(d), N = scales.model.vocabulary;
  const int width = exponentials_of.width, L = scales.model.blocks, S = scales.model.positions, slots = scales.model.slots();
  const Workspace work(scales.model, width);
  std::vector<std::size_t> places(slots * most_lanes);  // of each slot's and lane's line
  HWY_ALIGN double losses[most_lanes];
  double loss = 0.0;
  for (std::size_t m = first; m < last; m += lanes) {
    const std::size_t used = std::min(lanes, last - m);
    for (std::size_t k = 0; k < lanes; ++k) {  // lanes beyond the last context repeat it
      const Token* const tokens = contexts[m + std::min(k, used - 1)].data();
      for (int j = 0, r = 0; j < slots; ++j, r = r + 1 == S ? 0 : r + 1) places[j * most_lanes + k] = (r * N + tokens[j]) * width;
    }
    for (int j = 0; j < slots; ++j)
      gather(exponentials_of.numbers.get(), &places[j * most_lanes], width, work.p + std::size_t(j) * width * lanes);
    normalize(L, S, 2 * H, width, work.p);
    put(losses, 0, contexts_loss<H>(scales, width, work, gradient != nullptr));
    for (std::size_t k = 0; k < used; ++k) loss += losses[k];
    if (!gradient) continue;
    pull_back(L, S, 2 * H, width, work.p, work.dp);
    for (int j = 0; j < slots; ++j)
      scatter(work.dp + std::size_t(j) * width * lanes, width, gradient->numbers.get(), &places[j * most_lanes], used);
  }
  return loss;
}

double BatchLoss(const CentredScales& scales, const TokenLines& exponentials, const Contexts& contexts, std::size_t first,
                 std::size_t last, TokenLines* gradient) {
  constexpr decltype(&run<1>) by_heads[] = {run<1>, run<2>, run<3>, run<4>, run<5>, run<6>, run<7>, run<8>};
  return by_heads[scales.model.heads - 1](scales, exponentials, contexts, first, last, gradient);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(BatchLoss);

double batch_loss(const CentredScales& scales, const TokenLines& exponentials, const Contexts& contexts, std::size_t first,
                  std::size_t last, TokenLines* gradient) {
  return HWY_DYNAMIC_DISPATCH(BatchLoss)(scales, exponentials, contexts, first, last, gradient);
}

}  // namespace phaselock
#endif  // HWY_ONCE
