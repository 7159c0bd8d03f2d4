// How the kernel across contexts is laid out. A vector holds the same number of several contexts, one a lane; everything below is
// the closed form of theory.md section 2 for one context in its centred form (centred_scales.hpp), written in vectors.
//   lines    exponentials e^(G - shift) come in lines, one for each (offset, token), with the numbers of all 2 H gates. Four
//            lines are transposed in registers into vectors across contexts, and gradients go back the same way.
//   gates    softmax needs no exponential: p = e / sum e over a block, from the lines.
//   pairs    the work is in the pairs (query, slot). Queries of one block go in tiles of four, three or one, so that a slot's
//            numbers are loaded once for all of them: for two slots at a time exponents and their exponentials P in registers, then
//            sums over slots of P and P v, which give Z and dLoss/d(w, o), and last the sums over queries that give dLoss/dv.
// H and the tile's size are compile-time numbers. L, S and the degrees of the exponentials are not.
#include "kernels/batch_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/batch_loss.cpp"
#include <hwy/foreach_target.h>

#include "kernels/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

/// Numbers of one batch of contexts, all in vectors.
struct Workspace {
  Workspace(const Model& model, int width) {
    const std::size_t H = model.heads, slots = model.slots(), queries = model.queries();
    const std::size_t sizes[] = {slots * width, slots * width, slots,   queries * H, queries * H,
                                 queries,       queries,       queries, slots * 4};
    double** const places[] = {&p, &dp, &f, &w, &d_o, &start, &g, &Z, &P};
    std::size_t total = 0;
    for (const std::size_t size : sizes) total += size + 5;
    memory = hwy::AllocateAligned<double>(total * hn::Lanes(d));
    double* next = memory.get();
    for (std::size_t k = 0; k < std::size(sizes); ++k) {
      *places[k] = next;
      next += (sizes[k] + 5) * hn::Lanes(d);
    }
  }

  double *p, *dp;     ///< gates and dLoss/dgates, [slots][width]: keys, then values
  double* f;          ///< factor of a slot as seen from other blocks, [slots]
  double *w, *d_o;    ///< beta times attention on the own block, and on others less its centre, [queries][H]
  double *start, *g;  ///< where exponents of other blocks start, the query's factor there, [queries]
  double* Z;          ///< [queries]
  double* P;          ///< pair exponentials of a tile, [slots][queries of the tile]
  hwy::AlignedFreeUniquePtr<double[]> memory;
};

/// Q queries of block l from phase r0 on: their Z, and their part of the gradient if wanted.
template <int H, int Q>
HWY_NOINLINE void tile(const CentredScales& scales, int width, const Workspace& work, int l, int r0, bool gradient) {
  const Model& model = scales.model;
  const int S = model.positions, first = l * S;
  const std::size_t lanes = hn::Lanes(d), query = std::size_t(l) * model.phases() + r0;
  const auto from = [lanes](double* numbers, std::size_t each, std::size_t k) { return numbers + k * each * lanes; };
  double *const v = from(work.p, 1, H), *const dv = from(work.dp, 1, H);  // values of the first slot
  const SlotRange others[] = {{0, first}, {first + S, model.slots()}}, itself[] = {{first, first + S}};
  V own[Q][H + 1], off[Q][H + 1], off_scale[Q], own_c[Q][H], off_c[Q][H];
  HWY_ALIGN double own_start[4 * most_lanes];
  HWY_UNROLL(16)
  for (int q = 0; q < Q; ++q) put(own_start, q, constant(-scales.shift));
  const double* const w = from(work.w, H, query);
  sum_over_slots<H, Q>(scales.off_pair, from(work.d_o, H, query), from(work.start, 1, query), work.f, v, width, others, 2, work.P,
                       off);
  sum_over_slots<H, Q>(scales.own_pair, w, own_start, nullptr, v, width, itself, 1, work.P, own);
  query_gradients<H, Q>(scales, width, from(work.p, width, first + r0), w, from(work.g, 1, query), off, own, from(work.Z, 1, query),
                        from(work.dp, width, first + r0), off_scale, off_c, own_c);
  if (!gradient) return;
  accumulate<H, Q>(work.P, off_c, width, others, 2, dv);
  accumulate<H, Q>(work.P, own_c, width, itself, 1, dv);
}

/// Losses of Lanes(d) contexts from their gates, and dLoss/dgates if wanted.
template <int H>
HWY_NOINLINE V contexts_loss(const CentredScales& scales, int width, const Workspace& work, bool gradient) {
  const Model& model = scales.model;
  const int L = model.blocks, slots = model.slots();
  clear<H>(width, slots, work.dp);
  slot_factors<H>(scales, work.p + H * hn::Lanes(d), width, slots, work.f);
  attend<H>(scales, L, width, work.p, work.w, work.d_o, work.start, work.g);
  for (int l = 0; l < L; ++l) {
    int r = 0;
    for (; r + 4 <= model.phases(); r += 4) tile<H, 4>(scales, width, work, l, r, gradient);
    if (r + 3 == model.phases()) tile<H, 3>(scales, width, work, l, std::exchange(r, r + 3), gradient);
    for (; r < model.phases(); ++r) tile<H, 1>(scales, width, work, l, r, gradient);
  }
  return hn::Mul(sum_of_losses<H>(scales, L, width, work.p, work.w, work.Z), constant(1.0 / model.queries()));
}

template <int H>
double run(const CentredScales& scales, const TokenLines& exponentials_of, const Contexts& contexts, std::size_t first,
           std::size_t last, TokenLines* gradient) {
  const std::size_t lanes = hn::Lanes(d), N = scales.model.vocabulary;
  const int width = exponentials_of.width, L = scales.model.blocks, S = scales.model.positions, slots = scales.model.slots();
  const Workspace work(scales.model, width);
  std::vector<std::size_t> rows(slots), places(slots * most_lanes);  // lines of each slot's token 0, and of each lane's token there
  for (int j = 0; j < slots; ++j) rows[j] = j % S * N * width;
  HWY_ALIGN double losses[most_lanes];
  double loss = 0.0;
  for (std::size_t m = first; m < last; m += lanes) {
    const std::size_t used = std::min(lanes, last - m);
    for (std::size_t k = 0; k < lanes; ++k) {  // lanes beyond the last context repeat it
      const Token* const tokens = contexts[m + std::min(k, used - 1)].data();
      for (int j = 0; j < slots; ++j) places[j * most_lanes + k] = rows[j] + std::size_t(tokens[j]) * width;
    }
    const auto block = [&](double* gates, int l) { return gates + std::size_t(l) * S * width * lanes; };
    for (int l = 0; l < L; ++l)
      read_gates<H>(exponentials_of.numbers.get(), &places[l * S * most_lanes], S, width, block(work.p, l));
    put(losses, 0, contexts_loss<H>(scales, width, work, gradient != nullptr));
    for (std::size_t k = 0; k < used; ++k) loss += losses[k];
    for (int l = 0; gradient && l < L; ++l)
      add_gradients<H>(block(work.p, l), block(work.dp, l), S, width, &places[l * S * most_lanes], int(used),
                       gradient->numbers.get());
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
