#include "proofs/branch_and_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "loss/context_loss.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "proofs/ball.hpp"
#include "proofs/pair_bound.hpp"

namespace phaselock {

namespace {

/// Value weights [2][H][S] of the pair; `cap` limits the weight of offset 1 in the first gate.
struct ValueSet {
  int gates, S;
  double cap = 1.0;

  double limit(int gate, int s) const { return gate == 0 && s == 1 ? cap : 1.0; }

  /// min over the set of <g, V>: each gate puts all it may on its least entry.
  template <class T>
  T least(const T* g) const {
    using std::min;
    T total(0.0);
    for (int gate = 0; gate < gates; ++gate) {
      const T* d = g + gate * S;
      T rest = d[0];
      for (int s = 2; s < S; ++s) rest = min(rest, d[s]);
      const T limited(limit(gate, 1));
      total += min(rest, T(limited * d[1] + (T(1.0) - limited) * rest));
    }
    return total;
  }

  /// phi(V) + min over W of <gradient, W - V>: a lower bound of the convex phi over the set, whatever V.
  template <class T>
  T tangent_bound(const T& phi, const T* V, const T* gradient) const {
    T bound = phi + least(gradient);
    for (int k = 0; k < gates * S; ++k) bound -= gradient[k] * V[k];
    return bound;
  }
};

/// A weight that moves within a gate.
struct Move {
  int gate, from, to;
  double slope, room;
};

/// The move that promises most: steep, with room to go. Slope 0 if none descends.
Move steepest(const ValueSet& set, const std::vector<double>& V, const std::vector<double>& gradient) {
  Move best{0, 0, 0, 0.0, 0.0};
  double most = 0.0;
  for (int gate = 0; gate < set.gates; ++gate)
    for (int s = 0; s < set.S; ++s)
      for (int t = 0; t < set.S; ++t) {
        const int from = gate * set.S + s, to = gate * set.S + t;
        const double room = std::min(V[from], set.limit(gate, t) - V[to]), slope = gradient[to] - gradient[from];
        if (room <= 0.0 || -slope * std::sqrt(room) <= most) continue;
        most = -slope * std::sqrt(room);
        best = {gate, s, t, slope, room};
      }
  return best;
}

/// Descends phi over the set from V, weight by weight, until the tangent bound exceeds `goal` or is within 10% of the way that phi
/// is below it. Only the quality of a bound, not its validity, depends on this.
void minimize(const SingleBlock& model, PairBound<double>& phi, const ValueSet& set, double goal, std::vector<double>& V) {
  std::vector<double> gradient(V.size()), trial(V.size()), trial_gradient(V.size());
  double value = phi(V.data(), gradient.data());
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double bound = set.tangent_bound(value, V.data(), gradient.data());
    if (!(bound <= goal) || value - bound <= 0.1 * (goal - value) + 1e-13) return;
    const Move move = steepest(set, V, gradient);
    if (move.slope >= 0.0) return;
    const int from = move.gate * set.S + move.from, to = move.gate * set.S + move.to;
    double step = std::min(
        move.room,
        -move.slope / std::max(phi.curvature(move.gate / model.heads, move.gate % model.heads, move.from, move.to), 1e-300));
    double there = 0.0;
    for (int halving = 0; halving < 40; ++halving, step /= 2) {
      trial = V;
      trial[from] = std::max(V[from] - step, 0.0);
      trial[to] += step;
      there = phi(trial.data(), trial_gradient.data());
      if (there <= value) break;
    }
    if (!(there <= value)) return;
    value = there;
    std::swap(V, trial);
    std::swap(gradient, trial_gradient);
  }
}

/// A proved lower bound of f2 over the keys of the box and the values of the set; improves V. -infinity if numbers overflow.
double lower_bound(const SingleBlock& model, const KeyBox& box, const ValueSet& set, double goal, std::vector<double>& V,
                   PairBound<double>& phi) {
  minimize(model, phi, set, goal, V);
  PairBound<Ball> exact(model, box);
  const std::vector<Ball> W(V.begin(), V.end());
  std::vector<Ball> gradient(V.size());
  const Ball value = exact(W.data(), gradient.data());
  const double bound = set.tangent_bound(value, W.data(), gradient.data()).lower();
  return std::isfinite(bound) ? bound : -std::numeric_limits<double>::infinity();
}

}  // namespace

// All heads are alike: head 0 stands for them.
bool keys_descend(const SingleBlock& model, double eta, double tau) {
  const int S = model.positions, H = model.heads;
  const Ball one(1.0), most = one - Ball(tau), target = Ball::hull(most, one), rest = Ball::hull(Ball(0.0), Ball(tau));
  const Attention<Ball> near_one = attention(model, Ball::hull(one - Ball(eta), one)),
                        near_zero = attention(model, Ball::hull(Ball(0.0), Ball(eta)));
  Ball own(0.0);  // derivative of f2 by u_0(0), from above
  for (int r = 0; r < model.phases(); ++r) {
    // The definition's terms over a box of weights, a context of copies; kept apart because a share takes its own term out of Z.
    std::vector<Ball> term, copy;  // e^(beta m) of the block's and of a copy's tokens
    Ball context(0.0);
    for (int s = 0; s < S; ++s) {
      Ball m(0.0), m_copy(0.0);
      for (int h = 0; h < H; ++h) {
        const Attention<Ball>& a = h == r ? near_one : near_zero;
        m += a.w * (s == h + 1 ? target : rest);
        m_copy += a.o * (s == h + 1 ? target : rest);
      }
      term.push_back(exp(model.beta * m));
      copy.push_back(exp(model.beta * m_copy));
      context += Ball(model.blocks - 1.0) * copy[s];
    }
    context += Ball(double(model.outside()));
    const auto share = [&](int s) {
      Ball other = context;
      for (int t = 0; t < S; ++t)
        if (t != s) other += term[t];
      return one / (one + other / term[s]);
    };
    Ball Z = context, stray_share(0.0), copy_share(0.0);
    for (int s = 0; s < S; ++s) Z += term[s];
    for (int s = 0; s < S; ++s) {
      if (s != 1) stray_share = max(stray_share, share(s));
      copy_share = max(copy_share, copy[s] / Z);
    }
    if (r == 0) {
      own = w_slope(model, near_one.w) * (stray_share * Ball(tau) - most * (one - share(1)) - most * copy[1] / Z);
      if (!(own < Ball(0.0))) return false;
    } else {
      const Ball other = w_slope(model, near_zero.w) * (most * share(1) - Ball(tau) - copy_share);
      if (!(Ball(other.lower()) > Ball(own.upper()))) return false;
    }
  }
  return true;
}

SelectionNeighbourhood selection_neighbourhood(const SingleBlock& model, std::int64_t budget, std::int64_t& boxes) {
  if (!(enclose_distinct_stability(model).low > 0.0)) return {};
  const double goal = enclose_distinct_loss(model).high;
  const int n = model.phases(), S = model.positions, gates = 2 * model.heads;
  for (int k = 256; k > 0; k = k * 5 / 8)  // eta and tau are short binary fractions: 1-eta and 1-tau are exact
    for (double tau = 0.375; tau > 1e-3; tau /= 2) {
      const double eta = k / 1024.0;
      if (!keys_descend(model, eta, tau)) continue;
      if (boxes >= budget) return {};
      KeyBox box{std::vector<double>(gates * n, 0.0), std::vector<double>(gates * n, eta)};
      std::vector<double> V(gates * S, 0.0);
      for (int gate = 0; gate < gates; ++gate) {
        const int h = gate % model.heads;
        box.low[gate * n + h] = 1.0 - eta;
        box.high[gate * n + h] = 1.0;
        V[gate * S + h + 1] = 1.0;
      }
      V[1] = 1.0 - tau;
      V[2] = tau;
      PairBound<double> phi(model, box);
      ++boxes;
      if (lower_bound(model, box, {gates, S, 1.0 - tau}, goal, V, phi) > goal) return {eta, tau, V};
      break;  // a smaller tau asks more of the values
    }
  return {};
}

namespace {

struct Node {
  KeyBox box;
  std::vector<double> values;  ///< where the convex problem was last solved, [2][H][S]
  double bound;                ///< proved, of f2 over the box
  int cut;                     ///< key weight to cut next
  std::size_t number;          ///< in the tree

  bool operator<(const Node& other) const { return bound > other.bound; }  // best first
};

/// Shrinks the box to what symmetry and sum_r u(r) <= 1 leave; false if nothing (theory.md section 4.8). By exchanging the blocks
/// and permuting heads and the phases of x: u_xh(h) is the largest of all u_xh'(r) with h' >= h and r >= h, and u_x0(0) the largest
/// of all. By permuting the phases of y: u_yh(h) is the largest of u_yh(r), r >= h.
bool shrink(const SingleBlock& model, KeyBox& box) {
  const int n = model.phases(), H = model.heads;
  const auto order = [&](int greater, int less) {
    box.high[less] = std::min(box.high[less], box.high[greater]);
    box.low[greater] = std::max(box.low[greater], box.low[less]);
  };
  for (int k = H * n; k < 2 * H * n; ++k) order(0, k);
  for (int h = 0; h < H; ++h)
    for (int gate = h; gate < H; ++gate)
      for (int r = h; r < n; ++r) order(h * n + h, gate * n + r);
  for (int gate = 0; gate < 2 * H; ++gate) {
    const int h = gate % H;
    if (gate >= H)
      for (int r = h + 1; r < n; ++r) order(gate * n + h, gate * n + r);
    double sum = 0.0;
    for (int r = 0; r < n; ++r) sum += box.low[gate * n + r];
    for (int r = 0; r < n; ++r) {
      double& high = box.high[gate * n + r];
      high = std::min(high, 1.0 - (sum - box.low[gate * n + r]) + 1e-12);  // 1e-12 covers the rounding of the sums
    }
  }
  for (std::size_t k = 0; k < box.low.size(); ++k)
    if (box.low[k] > box.high[k]) return false;
  return true;
}

}  // namespace

BranchAndBound branch_and_bound(const SingleBlock& model, const BranchAndBoundOptions& options) {
  validate(model);
  if (model.positions < 3 || model.heads >= model.positions) throw DomainError("branch and bound needs S >= 3 and H < S");
  const int n = model.phases(), S = model.positions, H = model.heads, gates = 2 * H;
  const Enclosure loss_star = enclose_distinct_loss(model);
  const double high = std::min(loss_star.high, options.upper);
  BranchAndBound result{{0.0, high}, false, 0, {}, std::vector<BoxNode>(1)};
  if (options.upper >= loss_star.high) result.neighbourhood = selection_neighbourhood(model, options.boxes - 1, result.boxes);
  const double eta = result.neighbourhood.eta;
  const auto selecting = [&](const KeyBox& box) {
    for (int gate = 0; gate < gates; ++gate)
      if (box.low[gate * n + gate % H] < 1.0 - eta) return false;
    return eta > 0.0;
  };

  std::priority_queue<Node> open;
  const auto end = [&](const Node& node, BoxNode::End how) { result.tree[node.number].end = how; };
  const auto add = [&](Node node) {
    if (!shrink(model, node.box)) return end(node, BoxNode::End::symmetry);
    if (selecting(node.box)) return end(node, BoxNode::End::selection);
    PairBound<double> phi(model, node.box);
    node.bound = std::max(node.bound, lower_bound(model, node.box, {gates, S}, high, node.values, phi));
    ++result.boxes;
    if (node.bound > high) {
      end(node, BoxNode::End::bounded);
      result.tree[node.number].values = std::move(node.values);
      return;
    }
    double most = -1.0;
    for (int k = 0; k < gates * n; ++k) {
      const int gate = k / n;
      const double gain = phi.slack(gate / H, gate % H, k % n, node.values.data()) + 1e-6 * (node.box.high[k] - node.box.low[k]);
      if (gain > most) most = gain, node.cut = k;
    }
    open.push(std::move(node));
  };
  add({{std::vector<double>(gates * n, 0.0), std::vector<double>(gates * n, 1.0)},
       std::vector<double>(gates * S, 1.0 / S),
       0.0,
       0,
       0});
  while (!open.empty() && result.boxes + 2 <= options.boxes && high - open.top().bound > options.tolerance) {
    check_interrupt();
    const Node node = open.top();
    open.pop();
    const double middle = node.box.low[node.cut] + (node.box.high[node.cut] - node.box.low[node.cut]) / 2;
    Node left = node, right = node;
    left.number = result.tree.size();
    right.number = left.number + 1;
    result.tree[node.number] = {BoxNode::End::cut, node.cut, middle, left.number, {}};
    result.tree.resize(right.number + 1);
    left.box.high[node.cut] = right.box.low[node.cut] = middle;
    add(std::move(left));
    add(std::move(right));
  }
  // All that is closed is above `high`, or, near the selection, at loss* or above.
  result.selects = open.empty() && eta > 0.0;
  result.least_loss.low = result.selects ? loss_star.low : open.empty() ? high : open.top().bound;
  return result;
}

Enclosure enclose_loss(const Model& model, const ContextGates& gates) {
  GatesOf<Ball> exact(model);
  const auto normalize = [&](const std::vector<double>& weights, std::vector<Ball>& p) {
    const int S = model.positions;
    p.assign(weights.begin(), weights.end());
    for (std::size_t gate = 0; gate < p.size(); gate += S) {
      Ball sum(0.0);
      for (int s = 0; s < S; ++s) {
        if (!(weights[gate + s] >= 0.0)) throw DomainError("weights must not be negative");
        sum += p[gate + s];
      }
      if (!(sum > Ball(0.0))) throw DomainError("a gate has no weight");
      for (int s = 0; s < S; ++s) p[gate + s] /= sum;
    }
  };
  normalize(gates.key, exact.key);
  normalize(gates.value, exact.value);
  const Ball loss = context_loss(model, exact);
  return {loss.lower(), loss.upper()};
}

}  // namespace phaselock
