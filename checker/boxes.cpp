#include "boxes.hpp"

#include <algorithm>
#include <functional>

#include "attention.hpp"
#include "share.hpp"

namespace phaselock_check {

KeyBox all_keys(const Model& m) {
  const std::size_t count = 2 * m.heads * (m.positions - 1);
  return {std::vector<double>(count, 0.0), std::vector<double>(count, 1.0)};
}

KeyBox keys_near_selection(const Model& m, double eta) {
  KeyBox box = all_keys(m);
  const std::int64_t n = m.positions - 1;
  for (double& high : box.high) high = eta;
  for (std::int64_t gate = 0; gate < 2 * m.heads; ++gate) {
    box.low[gate * n + gate % m.heads] = (1 - Interval(eta)).lower();
    box.high[gate * n + gate % m.heads] = 1.0;
  }
  return box;
}

bool is_near_selection(const Model& m, const KeyBox& box, double eta) {
  for (std::int64_t gate = 0; gate < 2 * m.heads; ++gate)
    if (box.low[gate * (m.positions - 1) + gate % m.heads] < (1 - Interval(eta)).upper()) return false;
  return true;
}

bool drop_equivalent_keys(const Model& m, KeyBox& box) {
  const std::int64_t n = m.positions - 1, H = m.heads;
  const auto at = [&](std::int64_t block, std::int64_t h, std::int64_t r) { return (block * H + h) * n + r; };
  const auto order = [&](std::int64_t greater, std::int64_t less) {
    box.high[less] = std::min(box.high[less], box.high[greater]);
    box.low[greater] = std::max(box.low[greater], box.low[less]);
  };
  for (std::int64_t h = 0; h < H; ++h)
    for (std::int64_t r = 0; r < n; ++r) order(at(0, 0, 0), at(1, h, r));  // the first block holds the largest weight
  for (std::int64_t h = 0; h < H; ++h)
    for (std::int64_t r = h; r < n; ++r) {
      for (std::int64_t other = h; other < H; ++other) order(at(0, h, h), at(0, other, r));
      order(at(1, h, h), at(1, h, r));
    }
  for (std::int64_t gate = 0; gate < 2 * H; ++gate) {
    Interval sum;
    for (std::int64_t r = 0; r < n; ++r) sum = sum + box.low[gate * n + r];
    for (std::int64_t k = gate * n; k < (gate + 1) * n; ++k) box.high[k] = std::min(box.high[k], (1 - (sum - box.low[k])).upper());
  }
  return std::equal(box.low.begin(), box.low.end(), box.high.begin(), std::less_equal<>());
}

Interval pair_bound(const Model& m, const KeyBox& box, const std::vector<double>& V, const Interval& cap) {
  const std::int64_t S = m.positions, H = m.heads, n = S - 1;
  std::vector<Interval> slope(V.size());
  Interval bound;
  for (std::int64_t q = 0; q < 2 * n; ++q) {  // of the block at `own`, in company of L-1 copies of the block at `other`
    const std::int64_t own = q / n * H * S, other = H * S - own, answer = q % n + 1;
    std::vector<Interval> least, most, copied;  // logit per value weight: of the block's other tokens, the answer, the copies
    for (std::int64_t h = 0; h < H; ++h) {
      const std::int64_t k = (q / n * H + h) * n + q % n;
      least.push_back(m.beta * attention_right(m, box.low[k]));
      most.push_back(m.beta * attention_right(m, box.high[k]));
      copied.push_back(m.beta * attention_other(m, box.high[k]));
    }
    const auto term = [&](const std::vector<Interval>& scale, std::int64_t block, std::int64_t s) {
      Interval logit;
      for (std::int64_t h = 0; h < H; ++h) logit = logit + scale[h] * V[block + h * S + s];
      return exp(logit);
    };
    std::vector<Interval> a, b;
    Interval Z = Interval(m.vocabulary) - m.blocks * S;
    for (std::int64_t s = 0; s < S; ++s) {
      a.push_back(term(s == answer ? most : least, own, s));
      b.push_back((m.blocks - 1) * term(copied, other, s));
      Z = Z + a[s] + b[s];
    }
    bound = bound + log(Z / a[answer]);
    for (std::int64_t s = 0; s < S; ++s) {
      const Interval pull = s == answer ? a[s] / Z - 1 : a[s] / Z, pull_copy = b[s] / Z;
      for (std::int64_t h = 0; h < H; ++h) {
        Interval &d = slope[own + h * S + s], &d_copy = slope[other + h * S + s];
        d = d + (s == answer ? most : least)[h] * pull;
        d_copy = d_copy + copied[h] * pull_copy;
      }
    }
  }
  for (std::int64_t gate = 0; gate < 2 * H; ++gate) {  // the tangent is least where each gate is all on one offset, or capped
    const Interval* d = &slope[gate * S];
    Interval lowest = d[0];
    for (std::int64_t s = 2; s < S; ++s) lowest = min(lowest, d[s]);
    bound = bound + min(lowest, gate == 0 ? cap * d[1] + (1 - cap) * lowest : d[1]);
    for (std::int64_t s = 0; s < S; ++s) bound = bound - d[s] * V[gate * S + s];
  }
  return bound / (2 * n);
}

// For head 0 with target 1: all heads are alike in this set, so that one stands for all. In units of beta.
Interval keys_descent(const Model& m, double eta, double tau) {
  const Interval most = 1 - Interval(tau), target = hull(most, 1), rest = hull(Interval(0), tau);
  const Interval near_one = hull(1 - Interval(eta), 1), near_zero = hull(Interval(0), eta);
  Interval own, descent;
  for (std::int64_t r = 0; r + 1 < m.positions; ++r) {
    std::vector<Interval> a, b;  // terms of the block's tokens and of one copy's
    Interval Z = Interval(m.vocabulary) - m.blocks * m.positions;
    for (std::int64_t s = 0; s < m.positions; ++s) {
      Interval logit, copied;
      for (std::int64_t h = 0; h < m.heads; ++h) {
        const Interval &key = h == r ? near_one : near_zero, &value = s == h + 1 ? target : rest;
        logit = logit + attention_right(m, key) * value;
        copied = copied + attention_other(m, key) * value;
      }
      a.push_back(exp(m.beta * logit));
      b.push_back(exp(m.beta * copied));
      Z = Z + a[s] + (m.blocks - 1) * b[s];
    }
    Interval stray = share(a[0], Z), copy = share(b[0], Z);  // the largest, high ends matter
    for (std::int64_t s = 1; s < m.positions; ++s) {
      if (s != 1) stray = -min(-stray, -share(a[s], Z));
      copy = -min(-copy, -share(b[s], Z));
    }
    if (r == 0) {
      own = attention_slope(m, near_one) * (tau * stray - most * (1 - share(a[1], Z)) - most * share(b[1], Z));
      descent = -own;
    } else {
      descent = min(descent, attention_slope(m, near_zero) * (most * share(a[1], Z) - tau - copy) - own);
    }
  }
  return descent;
}

}  // namespace phaselock_check
