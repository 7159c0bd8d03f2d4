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
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loss/batch_loss.cpp"
#include <hwy/foreach_target.h>

#include "kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

/// Numbers of one batch of contexts, all in vectors.
struct Workspace {
  Workspace(const Model& model, int width) {
    const std::size_t H = model.heads, slots = model.slots(), queries = model.queries();
    const std::size_t sizes[] = {slots * width, slots * width, slots,   slots,   queries * H,
                                 queries * H,   queries,       queries, queries, slots * 4};
    double** const places[] = {&p, &dp, &f, &own_f, &dw, &d_o, &g, &own_g, &Z, &P};
    std::size_t total = 0;
    for (const std::size_t size : sizes) total += size;
    memory = hwy::AllocateAligned<double>(total * hn::Lanes(d));
    double* next = memory.get();
    for (std::size_t k = 0; k < std::size(sizes); ++k) {
      *places[k] = next;
      next += sizes[k] * hn::Lanes(d);
    }
  }

  double *p, *dp;     ///< gates and dLoss/dgates, [slots][width]: keys, then values
  double *f, *own_f;  ///< factor of a slot as seen from other blocks and from its own, [slots]
  double *dw, *d_o;   ///< attention less its centre, times beta, [queries][H]
  double *g, *own_g;  ///< the query's factor on other blocks and on its own, [queries]
  double* Z;          ///< [queries]
  double* P;          ///< pair exponentials of a tile, [slots][queries of the tile]
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
  double *const v = from(work.p, 1, H), *const dv = from(work.dp, 1, H);  // values of the first slot
  const double *const dw = from(work.dw, H, query), *const d_o = from(work.d_o, H, query);
  V own[Q][H + 1], off[Q][H + 1], off_scale[Q], own_c[Q][H], off_c[Q][H];
  for (int q = 0; q < Q; ++q)
    for (int h = 0; h <= H; ++h) own[q][h] = off[q][h] = constant(0.0);
  sum_over_slots<H, Q>(scales.off_pair, d_o, work.f, v, width, first, work.P, off);
  sum_over_slots<H, Q>(scales.own_pair, dw, from(work.own_f, 1, first), from(v, width, first), width, S, own_P, own);
  sum_over_slots<H, Q>(scales.off_pair, d_o, from(work.f, 1, last), from(v, width, last), width, after, after_P, off);
  query_gradients<H, Q>(scales, width, from(work.p, width, first + r0), dw, d_o, from(work.g, 1, query), from(work.own_g, 1, query),
                        off, own, from(work.Z, 1, query), from(work.dp, width, first + r0), off_scale, off_c, own_c);
  if (!gradient) return;
  accumulate<H, Q>(work.P, off_c, width, first, dv);
  accumulate<H, Q>(own_P, own_c, width, S, from(dv, width, first));
  accumulate<H, Q>(after_P, off_c, width, after, from(dv, width, last));
}

/// Losses of Lanes(d) contexts from their gates, and dLoss/dgates if wanted.
template <int H>
HWY_NOINLINE V contexts_loss(const CentredScales& scales, int width, const Workspace& work, bool gradient) {
  const Model& model = scales.model;
  const int L = model.blocks, slots = model.slots();
  const double* const v = work.p + H * hn::Lanes(d);
  clear(width, slots, work.dp);
  slot_factors<H>(scales.off_slot, model.beta * scales.o_mid, v, width, slots, work.f);
  slot_factors<H>(scales.own_slot, model.beta * scales.w_mid, v, width, slots, work.own_f);
  attend<H>(scales, L, width, work.p, work.dw, work.d_o, work.own_g, work.g);
  constexpr decltype(&tile<H, 1>) rest[] = {nullptr, tile<H, 1>, tile<H, 2>, tile<H, 3>};
  for (int l = 0; l < L; ++l) {
    int r = 0;
    for (; r + 4 <= model.phases(); r += 4) tile<H, 4>(scales, width, work, l, r, gradient);
    if (r < model.phases()) rest[model.phases() - r](scales, width, work, l, r, gradient);
  }
  return hn::Mul(sum_of_losses<H>(scales, L, width, work.p, work.dw, work.Z), constant(1.0 / model.queries()));
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

template <int... H>
constexpr std::array<decltype(&run<1>), sizeof...(H)> runs(std::integer_sequence<int, H...>) {
  return {run<H + 1>...};
}

double BatchLoss(const CentredScales& scales, const TokenLines& exponentials, const Contexts& contexts, std::size_t first,
                 std::size_t last, TokenLines* gradient) {
  constexpr auto by_heads = runs(std::make_integer_sequence<int, TokenLines::most_heads>());
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
