// How the kernel across blocks is laid out. A vector holds the same number of several blocks of one context, one a lane. What a
// block has to do with itself is the same as in the kernel across contexts (kernel-inl.hpp). What it has to do with the others goes
// through two sets of moments, for which all blocks have to wait for each other:
//   read     gates of each block, and the moments of its slots: sum_j f_j dv_j^alpha
//   query    each query evaluates the polynomial of these in its beta do, takes off its own block's part, and adds w's own. That
//   gives Z, the
//            gradients of keys, and the moments of the queries: sum_q c_q (beta do_q)^alpha with c = g / Z
//   answer   each slot evaluates the polynomial of these in its dv: dLoss/dv_h = f (oc G + dG/ddv_h / beta), and gradients go back.
// Moments are summed for each chunk of blocks, and over chunks in order.
#include "long_loss.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loss/long_loss.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

/// Calls body(chunk) for each chunk, in threads if there are several.
template <class Body>
void for_each_chunk(int chunks, const Body& body) {
  if (chunks == 1) return body(0);
  tbb::parallel_for(0, chunks, body);
}

/// sums_alpha += sum_u weight_u x_u^alpha for all monomials and `points` points x [points][H]; powers is scratch,
/// [monomials][points].
template <int points>
HWY_NOINLINE void add_moments(const Monomials& monomials, const double* x, const V (&weight)[points], double* powers,
                              double* sums) {
  const int count = monomials.size(), H = monomials.variables;
  const int* const parent = monomials.parent.data();
  const int* const variable = monomials.variable.data();
  V total = at(sums, 0);
  for (int u = 0; u < points; ++u) {
    put(powers, u, weight[u]);
    total = hn::Add(total, weight[u]);
  }
  put(sums, 0, total);
  for (int i = 1; i < count; ++i) {
    total = at(sums, i);
    for (int u = 0; u < points; ++u) {
      const V power = hn::Mul(at(powers, parent[i] * points + u), at(x, u * H + variable[i]));
      put(powers, i * points + u, power);
      total = hn::Add(total, power);
    }
    put(sums, i, total);
  }
}

/// The polynomial with `coefficients` [count][H + 1] at points x [points][H], and its derivatives: out[u] = F, dF/dx_1, .. dF/dx_H.
template <int H, int points>
HWY_NOINLINE void evaluate(const Monomials& monomials, int count, const double* coefficients, const double* x, double* powers,
                           V (*out)[H + 1]) {
  V total[points][H + 1];
  for (int u = 0; u < points; ++u) {
    put(powers, u, constant(1.0));
    for (int h = 0; h <= H; ++h) total[u][h] = constant(coefficients[h]);
  }
  const int* const parent = monomials.parent.data();
  const int* const variable = monomials.variable.data();
  for (int i = 1; i < count; ++i) {
    V power[points];
    for (int u = 0; u < points; ++u) {
      power[u] = hn::Mul(at(powers, parent[i] * points + u), at(x, u * H + variable[i]));
      put(powers, i * points + u, power[u]);
    }
    for (int h = 0; h <= H; ++h) {
      const V c = constant(coefficients[i * (H + 1) + h]);
      for (int u = 0; u < points; ++u) total[u][h] = hn::MulAdd(power[u], c, total[u][h]);
    }
  }
  for (int u = 0; u < points; ++u)
    for (int h = 0; h <= H; ++h) out[u][h] = total[u][h];
}

/// The same for any number of points.
template <int H>
HWY_INLINE void evaluate_all(const Monomials& monomials, int count, const double* coefficients, const double* x, int points,
                             double* powers, V (*out)[H + 1]) {
  const std::size_t lanes = hn::Lanes(d);
  int u = 0;
  for (; u + 2 <= points; u += 2) evaluate<H, 2>(monomials, count, coefficients, x + u * H * lanes, powers, out + u);
  if (u < points) evaluate<H, 1>(monomials, count, coefficients, x + u * H * lanes, powers, out + u);
}

/// Coefficients [monomials up to `degree`][H + 1] of the polynomial and its derivatives from moments summed in vectors, a set
/// [monomials] for each chunk: S_alpha / alpha!, S_(alpha + e_h) / alpha!.
void coefficients(const Monomials& monomials, int degree, const std::vector<const double*>& sets, std::vector<double>& out) {
  const std::size_t lanes = hn::Lanes(d);
  std::vector<double> moments(monomials.size(), 0.0);
  for (const double* set : sets)
    for (int i = 0; i < monomials.size(); ++i)
      for (std::size_t k = 0; k < lanes; ++k) moments[i] += set[i * lanes + k];
  const int H = monomials.variables, count = monomials.up_to(degree);
  out.resize(std::size_t(count) * (H + 1));
  for (int i = 0; i < count; ++i) {
    out[i * (H + 1)] = monomials.inverse_factorial[i] * moments[i];
    for (int h = 0; h < H; ++h) out[i * (H + 1) + 1 + h] = monomials.inverse_factorial[i] * moments[monomials.raised[i * H + h]];
  }
}

/// One context: what all blocks keep between the three passes, and what they exchange.
template <int H>
class LongContext {
 public:
  LongContext(const CentredScales& scales, const MomentPlan& plan, int width, int chunks)
      : scales_(scales),
        degree_(plan.degree),
        monomials_(H, plan.degree + 1),
        width_(width),
        chunks_(chunks),
        groups_((scales.model.blocks + int(hn::Lanes(d)) - 1) / int(hn::Lanes(d))),
        slots_(std::size_t(groups_) * scales.model.positions),
        places_(slots_ * hn::MaxLanes(d)),
        gates_(vectors(slots_ * (2 * width + H + 1))),
        losses_(chunks) {
    const std::size_t S = scales.model.positions, count = monomials_.size();
    for (int chunk = 0; chunk < chunks; ++chunk) scratch_.push_back(vectors(6 * count + S * (2 * H + 12)));  // see Scratch
  }

  double loss(const TokenLines& exponentials, std::span<const Token> context, TokenLines* gradient) {
    for_each_chunk(chunks_, [&](int chunk) { read(chunk, exponentials, context); });
    coefficients(monomials_, degree_, sets(&Scratch::slot_moments), slot_polynomial_);
    for_each_chunk(chunks_, [&](int chunk) { query(chunk, gradient != nullptr); });
    double total = 0.0;
    for (const double part : losses_) total += part;
    if (gradient) {
      coefficients(monomials_, degree_, sets(&Scratch::query_moments), query_polynomial_);
      for_each_chunk(chunks_, [&](int chunk) { answer(chunk, *gradient); });
    }
    return total / scales_.model.queries();
  }

 private:
  /// Numbers of the group of blocks at hand, and a chunk's moments, in vectors.
  struct Scratch {
    Scratch(double* at_, std::size_t S, std::size_t monomials) {
      const std::size_t lanes = hn::Lanes(d), Q = S - 1;
      const auto claim = [&](std::size_t count) {
        double* const place = at_;
        at_ += count * lanes;
        return place;
      };
      slot_moments = claim(monomials), query_moments = claim(monomials), powers = claim(4 * monomials);
      dw = claim(Q * H), d_o = claim(Q * H), g = claim(Q), own_g = claim(Q), Z = claim(Q);
      own_f = claim(S), P = claim(4 * S), own_P = claim(4 * S);
    }

    double *slot_moments, *query_moments, *powers;
    double *dw, *d_o, *g, *own_g, *Z, *own_f, *P, *own_P;
  };

  static hwy::AlignedFreeUniquePtr<double[]> vectors(std::size_t count) {
    auto memory = hwy::AllocateAligned<double>(count * hn::Lanes(d));
    std::fill_n(memory.get(), count * hn::Lanes(d), 0.0);
    return memory;
  }

  Scratch scratch(int chunk) const { return Scratch(scratch_[chunk].get(), scales_.model.positions, monomials_.size()); }

  std::vector<const double*> sets(double* Scratch::*which) const {
    std::vector<const double*> result;
    for (int chunk = 0; chunk < chunks_; ++chunk) result.push_back(scratch(chunk).*which);
    return result;
  }

  int first_group(int chunk) const { return int(std::int64_t(groups_) * chunk / chunks_); }
  /// Numbers of a group's slots: gates and their gradients [S][width], dv [S][H] and their factors f [S].
  double* part(std::size_t offset, std::size_t each, int group) const {
    const std::size_t S = scales_.model.positions;
    return gates_.get() + (offset * slots_ + group * S * each) * hn::Lanes(d);
  }
  double* p(int group) const { return part(0, width_, group); }
  double* dp(int group) const { return part(width_, width_, group); }
  double* dv(int group) const { return part(2 * width_, H, group); }
  double* f(int group) const { return part(2 * width_ + H, 1, group); }
  double* v(int group) const { return p(group) + H * hn::Lanes(d); }  ///< values, width vectors from slot to slot

  /// 1 in the lanes that hold a block of the context, 0 beyond its last one.
  V present(int group) const {
    const double left = scales_.model.blocks - group * double(hn::Lanes(d));
    return hn::IfThenElseZero(hn::Lt(hn::Iota(d, 0), constant(left)), constant(1.0));
  }

  /// Places of the lines of a group's slot at offset r, one for each lane.
  std::size_t* places(int group, int r) { return &places_[(std::size_t(group) * scales_.model.positions + r) * hn::MaxLanes(d)]; }

  /// Finds the lines of a group and asks for them ahead of time: they lie anywhere in memory. Lanes beyond the last block repeat
  /// it.
  void locate(int group, const TokenLines& exponentials, std::span<const Token> context) {
    const Model& model = scales_.model;
    const int lanes = int(hn::Lanes(d));
    for (int r = 0; r < model.positions; ++r)
      for (int k = 0; k < lanes; ++k) {
        const int l = std::min(group * lanes + k, model.blocks - 1);
        const std::size_t place = (std::size_t(r) * model.vocabulary + context[l * model.positions + r]) * width_;
        places(group, r)[k] = place;
        hwy::Prefetch(exponentials.numbers.get() + place);
      }
  }

  HWY_NOINLINE void read(int chunk, const TokenLines& exponentials, std::span<const Token> context) {
    const Model& model = scales_.model;
    const int S = model.positions, lanes = int(hn::Lanes(d));
    const Scratch own = scratch(chunk);
    std::fill_n(own.slot_moments, monomials_.size() * lanes, 0.0);
    const int last = first_group(chunk + 1);
    locate(first_group(chunk), exponentials, context);
    for (int group = first_group(chunk); group < last; ++group) {
      if (group + 1 < last) locate(group + 1, exponentials, context);
      for (int r = 0; r < S; ++r)
        gather(exponentials.numbers.get(), places(group, r), width_, p(group) + std::size_t(r) * width_ * lanes);
      normalize(1, S, 2 * H, width_, p(group));
      for (int r = 0; r < S; ++r)
        for (int h = 0; h < H; ++h) put(dv(group), r * H + h, hn::Sub(at(p(group), r * width_ + H + h), constant(0.5)));
      slot_factors<H>(scales_.off_slot, model.beta * scales_.o_mid, v(group), width_, S, f(group));
      int r = 0;
      for (; r + 4 <= S; r += 4) slot_moments<4>(own, group, r);
      for (; r < S; ++r) slot_moments<1>(own, group, r);
    }
  }

  template <int slots>
  HWY_INLINE void slot_moments(const Scratch& own, int group, int r) {
    V weight[slots];
    for (int k = 0; k < slots; ++k) weight[k] = hn::Mul(present(group), at(f(group), r + k));
    add_moments<slots>(monomials_, dv(group) + std::size_t(r) * H * hn::Lanes(d), weight, own.powers, own.slot_moments);
  }

  HWY_NOINLINE void query(int chunk, bool gradient) {
    const Model& model = scales_.model;
    const int S = model.positions, Q = model.phases();
    const Scratch own = scratch(chunk);
    std::fill_n(own.query_moments, monomials_.size() * hn::Lanes(d), 0.0);
    V loss = constant(0.0);
    for (int group = first_group(chunk); group < first_group(chunk + 1); ++group) {
      clear(width_, S, dp(group));
      slot_factors<H>(scales_.own_slot, model.beta * scales_.w_mid, v(group), width_, S, own.own_f);
      attend<H>(scales_, 1, width_, p(group), own.dw, own.d_o, own.own_g, own.g);
      int r = 0;
      for (; r + 4 <= Q; r += 4) tile<4>(own, group, r, gradient);
      if (Q - r == 3) tile<3>(own, group, std::exchange(r, Q), gradient);
      for (; r < Q; ++r) tile<1>(own, group, r, gradient);
      loss = hn::MulAdd(present(group), sum_of_losses<H>(scales_, 1, width_, p(group), own.dw, own.Z), loss);
    }
    losses_[chunk] = hn::GetLane(hn::SumOfLanes(d, loss));
  }

  /// Q queries of each block of a group from position r on.
  template <int Q>
  HWY_NOINLINE void tile(const Scratch& own, int group, int r, bool gradient) {
    const int S = scales_.model.positions;
    const std::size_t lanes = hn::Lanes(d);
    const auto from = [lanes](double* numbers, std::size_t each, std::size_t k) { return numbers + k * each * lanes; };
    const double* const d_o = from(own.d_o, H, r);
    V off[Q][H + 1], mine[Q][H + 1], self[Q][H + 1], off_scale[Q], off_c[Q][H], own_c[Q][H];
    for (int q = 0; q < Q; ++q)
      for (int h = 0; h <= H; ++h) mine[q][h] = self[q][h] = constant(0.0);
    sum_over_slots<H, Q>(scales_.off_pair, d_o, f(group), v(group), width_, S, own.P, mine);
    sum_over_slots<H, Q>(scales_.own_pair, from(own.dw, H, r), own.own_f, v(group), width_, S, own.own_P, self);
    evaluate_all<H>(monomials_, monomials_.up_to(degree_), slot_polynomial_.data(), d_o, Q, own.powers, off);
    for (int q = 0; q < Q; ++q) {  // all slots, sum P f and sum P f (1/2 + dv), less the block's own
      for (int h = 1; h <= H; ++h) off[q][h] = hn::Sub(hn::MulAdd(constant(0.5), off[q][0], off[q][h]), mine[q][h]);
      off[q][0] = hn::Sub(off[q][0], mine[q][0]);
    }
    query_gradients<H, Q>(scales_, width_, from(p(group), width_, r), from(own.dw, H, r), d_o, from(own.g, 1, r),
                          from(own.own_g, 1, r), off, self, from(own.Z, 1, r), from(dp(group), width_, r), off_scale, off_c, own_c);
    if (!gradient) return;
    double* const dvalues = from(dp(group), 1, H);
    accumulate<H, Q>(own.own_P, own_c, width_, S, dvalues);
    for (int q = 0; q < Q; ++q) {
      off_scale[q] = hn::Mul(present(group), off_scale[q]);
      for (int h = 0; h < H; ++h) off_c[q][h] = hn::Neg(off_c[q][h]);
    }
    add_moments<Q>(monomials_, d_o, off_scale, own.powers, own.query_moments);
    accumulate<H, Q>(own.P, off_c, width_, S, dvalues);
  }

  HWY_NOINLINE void answer(int chunk, TokenLines& gradient) {
    const Model& model = scales_.model;
    const int S = model.positions;
    const std::size_t lanes = hn::Lanes(d);
    const Scratch own = scratch(chunk);
    const int last = first_group(chunk + 1);
    for (int group = first_group(chunk); group < last; ++group) {
      for (int s = 0; s < S && group + 1 < last; ++s)
        for (std::size_t k = 0; k < lanes; ++k) hwy::Prefetch(gradient.numbers.get() + places(group + 1, s)[k]);
      for (int s = 0; s < S; s += 2) {
        V G[2][H + 1];
        const int some = std::min(2, S - s);
        evaluate_all<H>(monomials_, monomials_.up_to(degree_), query_polynomial_.data(), dv(group) + s * H * lanes, some,
                        own.powers, G);
        for (int k = 0; k < some; ++k) {
          const V factor = at(f(group), s + k);
          for (int h = 0; h < H; ++h) {
            const int value = (s + k) * width_ + H + h;
            const V sum = hn::MulAdd(constant(scales_.o_mid), G[k][0], hn::Mul(constant(1.0 / model.beta), G[k][1 + h]));
            put(dp(group), value, hn::MulAdd(factor, sum, at(dp(group), value)));
          }
        }
      }
      pull_back(1, S, 2 * H, width_, p(group), dp(group));
      const std::size_t used = std::min<std::size_t>(lanes, model.blocks - group * lanes);
      for (int s = 0; s < S; ++s)  // a context's tokens are distinct: no two threads add to one line
        scatter(dp(group) + s * width_ * lanes, width_, gradient.numbers.get(), places(group, s), used);
    }
  }

  const CentredScales& scales_;
  int degree_;
  Monomials monomials_;
  int width_, chunks_, groups_;
  std::size_t slots_;                ///< vectors of slots
  std::vector<std::size_t> places_;  ///< lines of each slot's lanes
  hwy::AlignedFreeUniquePtr<double[]> gates_;
  std::vector<hwy::AlignedFreeUniquePtr<double[]>> scratch_;
  std::vector<double> slot_polynomial_, query_polynomial_, losses_;
};

template <int H>
double run(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
           std::size_t first, std::size_t last, int chunks, TokenLines* gradient) {
  LongContext<H> context(scales, plan, exponentials.width, chunks);
  double loss = 0.0;
  for (std::size_t m = first; m < last; ++m) loss += context.loss(exponentials, contexts[m], gradient);
  return loss;
}

template <int... H>
constexpr std::array<decltype(&run<1>), sizeof...(H)> runs(std::integer_sequence<int, H...>) {
  return {run<H + 1>...};
}

double LongLoss(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
                std::size_t first, std::size_t last, int chunks, TokenLines* gradient) {
  constexpr auto by_heads = runs(std::make_integer_sequence<int, TokenLines::most_heads>());
  return by_heads[scales.model.heads - 1](scales, plan, exponentials, contexts, first, last, chunks, gradient);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(LongLoss);

double long_loss(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
                 std::size_t first, std::size_t last, int chunks, TokenLines* gradient) {
  return HWY_DYNAMIC_DISPATCH(LongLoss)(scales, plan, exponentials, contexts, first, last, chunks, gradient);
}

}  // namespace phaselock
#endif  // HWY_ONCE
