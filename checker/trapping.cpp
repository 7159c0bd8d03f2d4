#include <algorithm>
#include <vector>

#include "attention.hpp"
#include "formulas.hpp"
#include "share.hpp"

namespace phaselock_check {

namespace {

/// The box: a target weight is in [1-eta, 1], any other in [0, eta], in every block, all independent of each other.
struct Box {
  const Model& model;
  const Trapping& data;
  Interval high_weight = hull(1 - Interval(data.eta), 1), low_weight = hull(Interval(0), data.eta);

  Interval key(std::size_t head, std::int64_t r) const { return r == data.selection[head] ? high_weight : low_weight; }
  Interval value(std::size_t head, std::int64_t r) const { return r == data.selection[head] + 1 ? high_weight : low_weight; }
};

/// share(a) - share(b) of two tokens, (a - b) / (a + b + rest), which rises with a and falls with b.
Interval share_difference(const Interval& a, const Interval& b, const Interval& Z) {
  const Interval rest = without(without(Z, a), b);
  const auto at = [&](const Interval& x, const Interval& y) { return (x - y) / (x + y + rest); };
  return hull(at(a.low(), b.high()), at(a.high(), b.low()));
}

/// A query of one phase, seen from its own block; by symmetry the block does not matter, and all other blocks look alike.
struct Query {
  std::vector<Interval> w, o, slope;  ///< attention of each head and its derivative w'
  std::vector<Interval> own, other;   ///< a token's share minus 1 for the answer, in its own block; its share in another block, [S]
  std::vector<Interval> own_difference;  ///< of two tokens r, v of its own block, [S][S], and of another block
  std::vector<Interval> other_difference;

  Query(const Box& box, std::int64_t phase) {
    const Model& m = box.model;
    const std::int64_t S = m.positions, answer = phase + 1;
    std::vector<Interval> own_m(S), other_m(S);  // m(l, r), theory.md section 2
    for (std::size_t h = 0; h < box.data.selection.size(); ++h) {
      const Interval u = box.key(h, phase);
      w.push_back(attention_right(m, u));
      o.push_back(attention_other(m, u));
      slope.push_back(attention_slope(m, u));
      for (std::int64_t r = 0; r < S; ++r) {
        own_m[r] = own_m[r] + w[h] * box.value(h, r);
        other_m[r] = other_m[r] + o[h] * box.value(h, r);
      }
    }
    std::vector<Interval> a, b;  // exponentials of the logits in its own block and in another one
    Interval Z = Interval(m.vocabulary) - m.blocks * S;
    for (std::int64_t r = 0; r < S; ++r) {
      a.push_back(exp(m.beta * own_m[r]));
      b.push_back(exp(m.beta * other_m[r]));
      Z = Z + a[r] + (m.blocks - 1) * b[r];
    }
    own_difference.resize(S * S);
    other_difference.resize(S * S);
    for (std::int64_t r = 0; r < S; ++r) {
      own.push_back(share(a[r], Z) - (r == answer));
      other.push_back(share(b[r], Z));
      for (std::int64_t v = 0; v < r; ++v) {
        own_difference[r * S + v] = share_difference(a[r], a[v], Z) - (r == answer) + (v == answer);
        own_difference[v * S + r] = -own_difference[r * S + v];
        other_difference[r * S + v] = share_difference(b[r], b[v], Z);
        other_difference[v * S + r] = -other_difference[r * S + v];
      }
    }
  }
};

/// sum_r p_r x_r for weights of a gate in the box: linear in 1 - p_t, which is between 0 and eta.
Interval mean(const Box& box, const std::vector<Interval>& x, std::int64_t target) {
  Interval range = x[target];
  for (const Interval& other : x) range = hull(range, (1 - Interval(box.data.eta)) * x[target] + box.data.eta * other);
  return range;
}

/// (1-eta) min (d_s - d_t) - eta max |d_u - d_s| of one gate with target t, from its differences d_r - d_v.
template <class Difference>
Interval gate_margin(const Box& box, std::int64_t target, const Difference& difference) {
  Interval gap = difference(target == 0 ? 1 : 0, target), spread;
  for (std::int64_t s = 0; s < box.model.positions; ++s) {
    if (s == target) continue;
    gap = min(gap, difference(s, target));
    for (std::int64_t u = 0; u < s; ++u) {
      if (u == target) continue;
      const Interval d = difference(s, u);
      spread = hull(hull(spread, d), -d);
    }
  }
  return (1 - Interval(box.data.eta)) * gap - box.data.eta * spread;
}

/// In units of beta/Q: d_s = w'(u_s) [ sum_r (share(r) - 1{r = s+1}) pV(r) - sum_r share(r in another block) pV(r there) ] for a
/// key, from the query at s alone (o' = -w'/(L-1), summed over L-1 other blocks); nothing is asked at S-1, so d_(S-1) = 0.
Interval key_margin(const Box& box, const std::vector<Query>& queries, std::size_t head) {
  const std::int64_t target = box.data.selection[head];
  std::vector<Interval> d;
  for (const Query& q : queries) d.push_back(q.slope[head] * (mean(box, q.own, target + 1) - mean(box, q.other, target + 1)));
  d.push_back(0);
  return gate_margin(box, target, [&](std::int64_t s, std::int64_t v) { return d[s] - d[v]; });
}

/// In units of beta/Q: d_r = sum over queries q of the block of w(u_q) (share_q(r) - 1{r = q+1}) + sum over queries of the L-1
/// other blocks of o(u_q) share_q(r), for a value.
Interval value_margin(const Box& box, const std::vector<Query>& queries, std::size_t head) {
  return gate_margin(box, box.data.selection[head] + 1, [&](std::int64_t r, std::int64_t v) {
    const std::int64_t pair = r * box.model.positions + v;
    Interval difference;
    for (const Query& q : queries)
      difference = difference + q.w[head] * q.own_difference[pair] + (box.model.blocks - 1) * q.o[head] * q.other_difference[pair];
    return difference;
  });
}

}  // namespace

Interval box_margin(const Model& model, const Trapping& data) {
  const Box box{model, data};
  std::vector<Query> queries;
  for (std::int64_t s = 0; s + 1 < model.positions; ++s) queries.emplace_back(box, s);
  Interval least = key_margin(box, queries, 0);
  for (std::size_t h = 0; h < data.selection.size(); ++h)
    least = min(least, min(key_margin(box, queries, h), value_margin(box, queries, h)));
  return Interval(model.beta) / (Interval(model.blocks) * (model.positions - 1)) * least;
}

Interval state_depth(const Model& model, const Trapping& data) {
  const std::int64_t S = model.positions;
  const auto gap = [&](std::int64_t gate) {
    const std::int64_t target = data.selection[gate % model.heads] + gate / model.heads;
    const auto row = [&](std::int64_t s) -> const std::vector<double>& { return data.state[gate * S + s]; };
    const double lowest = *std::min_element(row(target).begin(), row(target).end());
    double highest = row(target == 0 ? 1 : 0)[0];
    for (std::int64_t s = 0; s < S; ++s)
      if (s != target) highest = std::max(highest, *std::max_element(row(s).begin(), row(s).end()));
    return Interval(lowest) - highest;
  };
  Interval least = gap(0);
  for (std::int64_t gate = 1; gate < 2 * model.heads; ++gate) least = min(least, gap(gate));
  return least - log((S - 1) * (1 - Interval(data.eta)) / data.eta);
}

}  // namespace phaselock_check
