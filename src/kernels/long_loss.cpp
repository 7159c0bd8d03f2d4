// How the kernel across blocks is laid out. A vector holds the same number of several blocks of one context, one a lane; these
// blocks are a group. What a block has to do with itself is the same as in the kernel across contexts (kernel-inl.hpp). What it has
// to do with the others goes through two sets of moments (moments.hpp), for which all blocks have to wait for each other:
//   read     gates of each block, and the moments of its slots, sum_j f_j dv_j^alpha / alpha!
//   query    each query evaluates the polynomial of all slots' moments less its own block's in its beta do. With the pairs of its
//            own block that gives Z, the gradients of keys, and the moments of the queries, sum_q c_q (beta do_q)^alpha / alpha!
//            with c = g / Z
//   answer   each slot evaluates the polynomial of all queries' moments less its own block's in its dv, which gives G and its
//            derivatives; dLoss/dv_h = f (oc G + dG/ddv_h / beta), and gradients go back.
// Points, slots or queries, go in tiles of four or eight. A tile's monomials are products of one of the left and one of the right
// half of the variables, so that both moments and polynomials are small matrix products. Sums over blocks are taken for each chunk
// of groups, and over chunks in order.
#include "kernels/long_loss.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/long_loss.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "kernels/kernel-inl.hpp"

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

// Points go in tiles of T; the numbers of a tile are [..][T]. Pointers and sizes are copied before loops, because to the compiler a
// vector that is stored may be anything.

/// powers [monomials][T] <- x^alpha / alpha! of a tile's points, of which 1 and x stand there.
template <int T>
HWY_NOINLINE void divided_powers(const Monomials& monomials, double* powers) {
  const std::size_t lanes = hn::Lanes(d);
  for (const auto& [to, left, right, share] : monomials.shared) {
    const V share_i = constant(share);
    double *const product = powers + to * T * lanes, *const x = powers + left * T * lanes, *const y = powers + right * T * lanes;
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) put(product, u, hn::Mul(hn::Mul(share_i, at(x, u)), at(y, u)));
  }
  for (const auto& [to, left, right, one] : monomials.plain) {
    double *const product = powers + to * T * lanes, *const x = powers + left * T * lanes, *const y = powers + right * T * lanes;
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) put(product, u, hn::Mul(at(x, u), at(y, u)));
  }
}

/// moments_alpha += sum_u weight_u x_u^alpha / alpha!, of the first tile = instead of +=, and sums_alpha += the group's moments
/// after the last tile. left and right: powers of the halves.
template <int T>
HWY_NOINLINE void add_moments(const MomentTable& table, const double* left, const double* right, const double* weight,
                              double* moments, bool first, bool last, double* sums) {
  const int* const columns = table.columns.data();
  const int rows = table.left.size();
  for (int a = 0; a < rows; ++a, left += T * hn::Lanes(d)) {
    V weighted[T];
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) weighted[u] = hn::Mul(at(weight, u), at(left, u));
    const double* column = right;
    for (const double* const end = moments + columns[a] * hn::Lanes(d); moments != end;
         moments += hn::Lanes(d), sums += hn::Lanes(d), column += T * hn::Lanes(d)) {
      V total = hn::Mul(weighted[0], at(column, 0));
      HWY_UNROLL(16)
      for (int u = 1; u < T; ++u) total = hn::MulAdd(weighted[u], at(column, u), total);
      if (!first) total = hn::Add(total, at(moments, 0));
      put(moments, 0, total);
      if (last) put(sums, 0, hn::Add(total, at(sums, 0)));
    }
  }
}

/// out [n][T] <- derivatives in n variables of four of the tile's points; see below.
template <int T, int n>
HWY_INLINE void derivatives_of_four(const Monomials& monomials, int variable, const double* powers, const double* sums,
                                    double* out) {
  const std::size_t lanes = hn::Lanes(d);
  const int size = monomials.raisable();
  const int* raised[n];
  V total[n][4];
  for (int h = 0; h < n; ++h) {
    raised[h] = monomials.raised[variable + h].data();
    HWY_UNROLL(16)
    for (int u = 0; u < 4; ++u) total[h][u] = hn::Mul(at(powers, u), at(sums, raised[h][0] * T + u));
  }
  for (int i = 1; i < size; ++i) {
    const double* const power = powers + i * T * lanes;
    V p[4];
    HWY_UNROLL(16)
    for (int u = 0; u < 4; ++u) p[u] = at(power, u);
    HWY_UNROLL(16)
    for (int h = 0; h < n; ++h) {
      const double* const sum = sums + raised[h][i] * T * lanes;
      HWY_UNROLL(16)
      for (int u = 0; u < 4; ++u) total[h][u] = hn::MulAdd(p[u], at(sum, u), total[h][u]);
    }
  }
  HWY_UNROLL(16)
  for (int h = 0; h < n; ++h) {
    HWY_UNROLL(16)
    for (int u = 0; u < 4; ++u) put(out, h * T + u, total[h][u]);
  }
}

/// out [variables of the half][T] <- derivatives, from the powers of one half and sums over the other half.
template <int T>
HWY_INLINE void derivatives(const Monomials& monomials, const double* powers, const double* sums, double* out) {
  const std::size_t lanes = hn::Lanes(d);
  for (int u = 0; u < T; u += 4, powers += 4 * lanes, sums += 4 * lanes, out += 4 * lanes) {
    int h = 0;
    for (; h + 2 <= monomials.variables; h += 2) derivatives_of_four<T, 2>(monomials, h, powers, sums, out + h * T * lanes);
    if (h < monomials.variables) derivatives_of_four<T, 1>(monomials, h, powers, sums, out + h * T * lanes);
  }
}

/// out [1 + variables][T] <- F, dF/dx_1, .. of F = sum_alpha c_alpha x^alpha / alpha! at a tile's points. sums is scratch,
/// [monomials of a half][T].
template <int T>
HWY_NOINLINE void evaluate_tile(const MomentTable& table, const double* c, const double* left, const double* right, double* sums,
                                double* out) {
  const int rows = table.left.size(), right_size = table.right.size();
  const int *const columns = table.columns.data(), *const row = table.row.data(), *const rows_of = table.rows.data();
  const std::size_t lanes = hn::Lanes(d);
  V F[T];
  const double* c_ab = c;
  for (int a = 0; a < rows; ++a) {
    V total[T];
    const V first = at(c_ab, 0);
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) total[u] = hn::Mul(first, at(right, u));
    const double* column = right;
    c_ab += lanes;
    for (const double* const end = c_ab + (columns[a] - 1) * lanes; c_ab != end; c_ab += lanes) {
      column += T * lanes;
      const V coefficient = at(c_ab, 0);
      HWY_UNROLL(16)
      for (int u = 0; u < T; ++u) total[u] = hn::MulAdd(coefficient, at(column, u), total[u]);
    }
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) put(sums, a * T + u, total[u]);
  }
  HWY_UNROLL(16)
  for (int u = 0; u < T; ++u) F[u] = at(sums, u);  // the first power is 1
  for (int a = 1; a < rows; ++a) {
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) F[u] = hn::MulAdd(at(left, a * T + u), at(sums, a * T + u), F[u]);
  }
  HWY_UNROLL(16)
  for (int u = 0; u < T; ++u) put(out, u, F[u]);
  derivatives<T>(table.left, left, sums, out + T * lanes);
  if (table.right.variables == 0) return;
  for (int b = 0; b < right_size; ++b) {
    V total[T];
    const double* const c_b = c + b * lanes;
    const V first = at(c_b, 0);
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) total[u] = hn::Mul(first, at(left, u));
    for (int a = 1, end = rows_of[b]; a < end; ++a) {
      const V coefficient = at(c_b, row[a]);
      HWY_UNROLL(16)
      for (int u = 0; u < T; ++u) total[u] = hn::MulAdd(coefficient, at(left, a * T + u), total[u]);
    }
    HWY_UNROLL(16)
    for (int u = 0; u < T; ++u) put(sums, b * T + u, total[u]);
  }
  derivatives<T>(table.right, right, sums, out + (1 + table.left.variables) * T * lanes);
}

/// c = weight (all - own): the coefficients of the polynomial that leaves out a block's own moments. `all` is already weighted.
HWY_NOINLINE void coefficients_without(const MomentTable& table, const double* all, const double* own, double* c) {
  const double* const weight = table.weight.data();
  const int size = table.size();
  for (int i = 0; i < size; ++i) put(c, i, hn::NegMulAdd(constant(weight[i]), at(own, i), constant(all[i])));
}

/// One context: what all blocks keep between the three passes, and what they exchange.
template <int H>
class LongContext {
 public:
  LongContext(const CentredScales& scales, const MomentPlan& plan, int width, int chunks, KeptMemory& memory)
      : scales_(scales),
        table_(H, plan.series),
        width_(width),
        chunks_(chunks),
        groups_((scales.model.blocks + int(hn::Lanes(d)) - 1) / int(hn::Lanes(d))),
        T_(scales.model.positions > 4 ? 8 : 4),
        points_((scales.model.positions + T_ - 1) / T_ * T_),
        places_(std::size_t(groups_) * scales.model.positions * most_lanes),
        numbers_(memory.at_least(groups_ * group_size() * hn::Lanes(d))),
        all_(table_.size()),
        losses_(chunks) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      scratch_.push_back(hwy::AllocateAligned<double>(Scratch(*this, nullptr).size * hn::Lanes(d)));
      const Scratch own = scratch(chunk);
      for (int u = 0; u < points_; u += T_)
        for (int inside = 0; inside < T_; ++inside)
          put(left(own, u), inside, constant(1.0)), put(right(own, u), inside, constant(1.0));
    }
  }

  double loss(const TokenLines& exponentials, std::span<const Token> context, TokenLines* gradient) {
    for_each_chunk(chunks_, [&](int chunk) { read(chunk, exponentials, context); });
    add_up();
    for_each_chunk(chunks_, [&](int chunk) { query(chunk, gradient != nullptr); });
    double total = 0.0;
    for (const double part : losses_) total += part;
    if (gradient) {
      add_up();
      for_each_chunk(chunks_, [&](int chunk) { answer(chunk, *gradient); });
    }
    return total / scales_.model.queries();
  }

 private:
  /// Numbers of the group of blocks at hand, and its chunk's moments, in vectors.
  struct Scratch {
    Scratch(const LongContext& context, double* memory) {
      const std::size_t S = context.scales_.model.positions, points = context.points_, moments = context.table_.size();
      const std::size_t left = context.table_.left.size(), right = context.table_.right.size();
      const auto claim = [&](std::size_t count) {
        double* const place = memory ? memory + size * hn::Lanes(d) : nullptr;
        size += count;
        return place;
      };
      sums = claim(moments), c = claim(moments);
      powers = claim(points * (left + right)), half = claim(context.T_ * left);
      weight = claim(points), out = claim(points * (H + 1));
      d_o = claim(points * H), w = claim(points * H), start = claim(points), g = claim(points), Z = claim(points), P = claim(4 * S);
    }

    std::size_t size = 0;                 ///< of all, in vectors
    double *sums, *c;                     ///< [moments]: of the chunk's groups, and coefficients of the group's polynomial
    double *powers, *half;                ///< of all tiles, beginning with 1 and the points' coordinates; see evaluate_tile
    double *weight, *out;                 ///< weights and values of points, in tiles
    double *d_o, *w, *start, *g, *Z, *P;  ///< as in the kernel across contexts
  };

  Scratch scratch(int chunk) const { return Scratch(*this, scratch_[chunk].get()); }
  int first_group(int chunk) const { return int(std::int64_t(groups_) * chunk / chunks_); }

  /// What is kept of a group: gates and their gradients [S][width], slots' factors [S], and moments, first of its slots, then of
  /// its queries.
  std::size_t group_size() const { return scales_.model.positions * (2 * width_ + 1) + table_.size(); }
  double* p(int group) const { return numbers_ + group * group_size() * hn::Lanes(d); }
  double* dp(int group) const { return p(group) + scales_.model.positions * width_ * hn::Lanes(d); }
  double* f(int group) const { return dp(group) + scales_.model.positions * width_ * hn::Lanes(d); }
  double* moments(int group) const { return f(group) + scales_.model.positions * hn::Lanes(d); }
  double* v(int group) const { return p(group) + H * hn::Lanes(d); }    ///< values, width vectors from slot to slot
  double* dv(int group) const { return dp(group) + H * hn::Lanes(d); }  ///< their gradients

  /// 1 in the lanes that hold a block of the context, 0 beyond its last one.
  V present(int group) const {
    const double left = scales_.model.blocks - group * double(hn::Lanes(d));
    return hn::IfThenElseZero(hn::Lt(hn::Iota(d, 0), constant(left)), constant(1.0));
  }

  /// Places of the lines of a group's slots, [S][most_lanes].
  std::size_t* places(int group) { return &places_[std::size_t(group) * scales_.model.positions * most_lanes]; }

  /// Finds the lines of a group and asks for them ahead of time: they lie anywhere in memory. Lanes beyond the last block repeat
  /// it.
  void locate(int group, const TokenLines& exponentials, std::span<const Token> context) {
    const int S = scales_.model.positions, lanes = int(hn::Lanes(d));
    const std::size_t N = scales_.model.vocabulary;
    const double* const lines = exponentials.numbers.get();
    std::size_t* const to = places(group);
    for (int k = 0; k < lanes; ++k) {
      const Token* const tokens = context.data() + std::size_t(std::min(group * lanes + k, scales_.model.blocks - 1)) * S;
      for (int r = 0; r < S; ++r) {
        const std::size_t place = (r * N + tokens[r]) * width_;
        to[r * most_lanes + k] = place;
        hwy::Prefetch(lines + place);
      }
    }
  }

  double* left(const Scratch& own, int u) const {
    return own.powers + u * (table_.left.size() + table_.right.size()) * hn::Lanes(d);
  }
  double* right(const Scratch& own, int u) const { return left(own, u) + T_ * table_.left.size() * hn::Lanes(d); }
  /// Place of number i of point u among [tiles][count][T].
  int in_tiles(int u, int count, int i) const {
    const int inside = u & (T_ - 1);
    return (u - inside) * count + i * T_ + inside;
  }

  /// Powers of `count` points x, rounded up to tiles.
  void find_powers(const Scratch& own, int count) const {
    const auto find = T_ == 8 ? divided_powers<8> : divided_powers<4>;
    for (int u = 0; u < count; u += T_) {
      find(table_.left, left(own, u));
      find(table_.right, right(own, u));
    }
  }

  /// The group's moments from the weights of `count` points, which are also added to those of its chunk.
  void find_moments(const Scratch& own, int group, int count) const {
    const auto add = T_ == 8 ? add_moments<8> : add_moments<4>;
    for (int u = 0; u < count; u += T_)
      add(table_, left(own, u), right(own, u), own.weight + u * hn::Lanes(d), moments(group), u == 0, u + T_ >= count, own.sums);
  }

  /// Values and derivatives at `count` points of the polynomial of all groups' moments less the group's own.
  void evaluate_others(const Scratch& own, int group, int count) const {
    const auto evaluate = T_ == 8 ? evaluate_tile<8> : evaluate_tile<4>;
    coefficients_without(table_, all_.data(), moments(group), own.c);
    for (int u = 0; u < count; u += T_)
      evaluate(table_, own.c, left(own, u), right(own, u), own.half, own.out + u * (H + 1) * hn::Lanes(d));
  }

  /// x <- dv of a group's slots.
  void slots_as_points(const Scratch& own, int group) const {
    const double* const values = v(group);
    const int S = scales_.model.positions, width = width_;
    place_points(own, S, [=](int r, int h) HWY_ATTR { return hn::Sub(at(values, r * width + h), constant(0.5)); });
  }

  void queries_as_points(const Scratch& own) const {
    const double* const d_o = own.d_o;
    place_points(own, scales_.model.phases(), [=](int r, int h) HWY_ATTR { return at(d_o, r * H + h); });
  }

  /// Coordinate h of point u <- coordinate(u, h), for points first .. count - 1.
  template <class Coordinate>
  HWY_INLINE void place_points(const Scratch& own, int count, const Coordinate& coordinate, int first = 0) const {
    constexpr int left_half = (H + 1) / 2;
    const int T = T_;
    for (int u = first; u < count; ++u) {
      const int inside = u & (T - 1);
      double *const to_left = left(own, u - inside), *const to_right = right(own, u - inside);
      HWY_UNROLL(16)
      for (int h = 0; h < left_half; ++h) put(to_left, (1 + h) * T + inside, coordinate(u, h));
      HWY_UNROLL(16)
      for (int h = left_half; h < H; ++h) put(to_right, (1 + h - left_half) * T + inside, coordinate(u, h));
    }
  }

  /// Points beyond the first `count` weigh nothing, wherever they are.
  void clear_points(const Scratch& own, int count) const {
    for (int u = count; u < points_; ++u) put(own.weight, u, constant(0.0));
    place_points(
        own, points_, [](int, int) HWY_ATTR { return constant(0.0); }, count);
  }

  /// Moments of all chunks, weighted.
  void add_up() {
    for (int i = 0; i < table_.size(); ++i) {
      all_[i] = 0.0;
      for (int chunk = 0; chunk < chunks_; ++chunk)
        all_[i] += hn::GetLane(hn::SumOfLanes(d, at(scratch_[chunk].get(), i)));  // Scratch::sums come first
      all_[i] *= table_.weight[i];
    }
  }

  HWY_NOINLINE void read(int chunk, const TokenLines& exponentials, std::span<const Token> context) {
    const int S = scales_.model.positions, last = first_group(chunk + 1);
    const Scratch own = scratch(chunk);
    for (int i = 0; i < table_.size(); ++i) put(own.sums, i, constant(0.0));
    clear_points(own, S);
    locate(first_group(chunk), exponentials, context);
    for (int group = first_group(chunk); group < last; ++group) {
      if (group + 1 < last) locate(group + 1, exponentials, context);
      read_gates<H>(exponentials.numbers.get(), places(group), S, width_, p(group));
      slot_factors<H>(scales_, v(group), width_, S, f(group));
      slots_as_points(own, group);
      const V weight = present(group);
      const double* const factors = f(group);
      double* const weights = own.weight;
      for (int r = 0; r < S; ++r) put(weights, r, hn::Mul(weight, at(factors, r)));
      find_powers(own, S);
      find_moments(own, group, S);
    }
  }

  HWY_NOINLINE void query(int chunk, bool gradient) {
    const int S = scales_.model.positions, Q = scales_.model.phases();
    const Scratch own = scratch(chunk);
    for (int i = 0; i < table_.size(); ++i) put(own.sums, i, constant(0.0));
    clear_points(own, Q);
    V loss = constant(0.0);
    for (int group = first_group(chunk); group < first_group(chunk + 1); ++group) {
      clear<H>(width_, S, dp(group));
      attend<H>(scales_, 1, width_, p(group), own.w, own.d_o, own.start, own.g);
      queries_as_points(own);
      find_powers(own, Q);
      evaluate_others(own, group, Q);
      int r = 0;
      for (; r + 4 <= Q; r += 4) tile<4>(own, group, r, gradient);
      if (r + 3 == Q) tile<3>(own, group, std::exchange(r, Q), gradient);
      for (; r < Q; ++r) tile<1>(own, group, r, gradient);
      if (gradient) find_moments(own, group, Q);
      loss = hn::MulAdd(present(group), sum_of_losses<H>(scales_, 1, width_, p(group), own.w, own.Z), loss);
    }
    losses_[chunk] = hn::GetLane(hn::SumOfLanes(d, loss));
  }

  /// Q queries of each block of a group from phase r on: with the sums over other blocks at hand, those over their own.
  template <int Q>
  HWY_NOINLINE void tile(const Scratch& own, int group, int r, bool gradient) const {
    const int S = scales_.model.positions;
    const std::size_t lanes = hn::Lanes(d);
    const auto from = [lanes](double* numbers, std::size_t each, std::size_t k) { return numbers + k * each * lanes; };
    const SlotRange all{0, S};
    V off[Q][H + 1], self[Q][H + 1], off_scale[Q], off_c[Q][H], own_c[Q][H];
    HWY_ALIGN double start[4 * most_lanes];
    HWY_UNROLL(16)
    for (int q = 0; q < Q; ++q) {
      put(start, q, constant(-scales_.shift));
      off[q][0] = at(own.out, in_tiles(r + q, H + 1, 0));
      HWY_UNROLL(16)
      for (int h = 1; h <= H; ++h) off[q][h] = hn::MulAdd(constant(0.5), off[q][0], at(own.out, in_tiles(r + q, H + 1, h)));
    }
    sum_over_slots<H, Q>(scales_.own_pair, from(own.w, H, r), start, nullptr, v(group), width_, &all, 1, own.P, self);
    query_gradients<H, Q>(scales_, width_, from(p(group), width_, r), from(own.w, H, r), from(own.g, 1, r), off, self,
                          from(own.Z, 1, r), from(dp(group), width_, r), off_scale, off_c, own_c);
    if (!gradient) return;
    accumulate<H, Q>(own.P, own_c, width_, &all, 1, dv(group));
    const V weight = present(group);
    double* const weights = from(own.weight, 1, r);
    HWY_UNROLL(16)
    for (int q = 0; q < Q; ++q) put(weights, q, hn::Mul(weight, off_scale[q]));
  }

  HWY_NOINLINE void answer(int chunk, TokenLines& gradient) {
    const Model& model = scales_.model;
    const int S = model.positions, lanes = int(hn::Lanes(d)), last = first_group(chunk + 1), width = width_, T = T_;
    const V o_mid = constant(scales_.o_mid), per_beta = constant(1.0 / model.beta);
    const Scratch own = scratch(chunk);
    for (int group = first_group(chunk); group < last; ++group) {
      if (group + 1 < last) {
        const std::size_t* const next = places(group + 1);
        for (int r = 0; r < S; ++r)
          for (int k = 0; k < lanes; ++k) hwy::Prefetch(gradient.numbers.get() + next[r * most_lanes + k]);
      }
      slots_as_points(own, group);
      find_powers(own, S);
      evaluate_others(own, group, S);
      const double *const factors = f(group), *const out = own.out;
      double* const values = dv(group);
      for (int r = 0; r < S; ++r) {
        const double* const point = out + in_tiles(r, H + 1, 0) * lanes;
        const V factor = at(factors, r), middle = hn::Mul(o_mid, at(point, 0));
        HWY_UNROLL(16)
        for (int h = 0; h < H; ++h) {
          const V sum = hn::MulAdd(per_beta, at(point, (1 + h) * T), middle);
          put(values, r * width + h, hn::MulAdd(factor, sum, at(values, r * width + h)));
        }
      }
      // a context's tokens are distinct: no two threads add to one line
      add_gradients<H>(p(group), dp(group), S, width_, places(group), std::min(lanes, model.blocks - group * lanes),
                       gradient.numbers.get());
    }
  }

  const CentredScales& scales_;
  MomentTable table_;
  int width_, chunks_, groups_;
  int T_, points_;                   ///< points of a tile, and of all tiles of a group
  std::vector<std::size_t> places_;  ///< lines of each slot's lanes
  double* numbers_;                  ///< [groups][group_size]
  std::vector<hwy::AlignedFreeUniquePtr<double[]>> scratch_;
  std::vector<double> all_, losses_;  ///< moments of all blocks, of slots or of queries; losses of chunks
};

template <int H>
double run(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
           std::size_t first, std::size_t last, int chunks, KeptMemory& memory, TokenLines* gradient) {
  LongContext<H> context(scales, plan, exponentials.width, chunks, memory);
  double loss = 0.0;
  for (std::size_t m = first; m < last; ++m) loss += context.loss(exponentials, contexts[m], gradient);
  return loss;
}

template <int... H>
constexpr std::array<decltype(&run<1>), sizeof...(H)> runs(std::integer_sequence<int, H...>) {
  return {run<H + 1>...};
}

double LongLoss(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
                std::size_t first, std::size_t last, int chunks, KeptMemory& memory, TokenLines* gradient) {
  constexpr auto by_heads = runs(std::make_integer_sequence<int, TokenLines::most_heads>());
  return by_heads[scales.model.heads - 1](scales, plan, exponentials, contexts, first, last, chunks, memory, gradient);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(LongLoss);

double long_loss(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
                 std::size_t first, std::size_t last, int chunks, KeptMemory& memory, TokenLines* gradient) {
  return HWY_DYNAMIC_DISPATCH(LongLoss)(scales, plan, exponentials, contexts, first, last, chunks, memory, gradient);
}

}  // namespace phaselock
#endif  // HWY_ONCE
