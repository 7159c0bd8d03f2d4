#include "proofs/stability.hpp"

#include <fmt/format.h>
#include <boost/math/tools/toms748_solve.hpp>

#include <algorithm>
#include <limits>

#include "loss/context_loss.hpp"
#include "model/errors.hpp"
#include "proofs/ball.hpp"

namespace phaselock {

namespace {

constexpr double enclosure = 1e-11;   // relative distance of `low` and `high` from N*
constexpr double scan_factor = 1.05;  // of N, from far above down to L S
constexpr slong precisions[] = {128, 256, 512};
constexpr int most_heads_partitioned = 20;  // 627 partitions

double least(const std::vector<double>& margins) { return *std::min_element(margins.begin(), margins.end()); }
bool all_positive(const std::vector<Ball>& margins) {
  return std::all_of(margins.begin(), margins.end(), [](const Ball& margin) { return margin > Ball(0.0); });
}
bool some_negative(const std::vector<Ball>& margins) {
  return std::any_of(margins.begin(), margins.end(), [](const Ball& margin) { return margin < Ball(0.0); });
}

/// The last change of sign of the least margin, by doubles; L S if there is none.
double search_threshold(const SingleBlock& model, const SelectionMargins<double>& margins) {
  const double bottom = model.slots();
  const auto margin = [&](double N) { return least(margins.at(1.0 / N)); };
  // Costs in a margin are at most L S e^(beta H w1) / N in all; far above they are small beside D.
  const Attention<double> a = attention(model, 1.0);
  const double D = (1.0 - 1.0 / model.blocks) * a.o * std::expm1(model.gamma);
  double above = 4.0 * bottom * std::exp(model.beta * model.heads * a.w) / D;
  if (!(above < 1e300)) return std::numeric_limits<double>::infinity();
  for (double N = above;; above = N, N = std::max(bottom, N / scan_factor)) {
    if (margin(N) <= 0.0) {
      std::uintmax_t iterations = 200;
      return boost::math::tools::toms748_solve(margin, N, above, boost::math::tools::eps_tolerance<double>(52), iterations).second;
    }
    if (N == bottom) return bottom;
  }
}

/// Whether all margins are positive at every N >= high: boxes of x = 1/N from [0, 1/high] down, halved until each is decided.
bool positive_from(const SelectionMargins<Ball>& margins, double high, std::int64_t most_steps, std::int64_t& steps) {
  struct Box {
    Ball low, high;
  };
  std::vector<Box> open = {{Ball(0.0), Ball(1.0) / Ball(high)}};
  for (steps = 0; !open.empty(); ++steps) {
    if (steps == most_steps) return false;
    const Box box = std::move(open.back());
    open.pop_back();
    if (all_positive(margins.at(Ball::hull(box.low, box.high)))) continue;
    if (some_negative(margins.at(box.high))) return false;
    const Ball middle = (box.low + box.high) * 0.5;
    open.push_back({box.low, middle});
    open.push_back({middle, box.high});
  }
  return true;
}

}  // namespace

std::vector<double> pattern_margins(const SingleBlock& model, std::span<const int> pattern) {
  ContextGates gradient(model);
  context_loss(model, selection_gates(model, pattern), &gradient);
  std::vector<double> margins;
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < model.heads; ++h)
      for (int l = 0; l < model.blocks; ++l) {
        const double* d = (branch == key_branch ? gradient.key : gradient.value).data() + gate_index(model, h, l, 0);
        const int target = pattern[h * model.blocks + l] + branch;
        double margin = std::numeric_limits<double>::infinity();
        for (int s = 0; s < model.positions; ++s)
          if (s != target) margin = std::min(margin, d[s] - d[target]);
        margins.push_back(margin);
      }
  return margins;
}

std::vector<int> distinct_pattern(const SingleBlock& model) {
  std::vector<int> pattern;
  for (int h = 0; h < model.heads; ++h) pattern.insert(pattern.end(), model.blocks, h);
  return pattern;
}

Threshold pattern_threshold(const SingleBlock& model, std::span<const int> selection, std::int64_t most_steps) {
  validate(model);
  if (int(selection.size()) != model.heads)
    throw DomainError(fmt::format("pattern of {} heads: model.heads = {}", selection.size(), model.heads));
  for (const int r : selection)
    if (r < 0 || r >= model.phases())
      throw DomainError(fmt::format("pattern offset {} must be from 0 to {}", r, model.phases() - 1));
  const double bottom = model.slots(), n_star = search_threshold(model, {model, selection});
  Threshold result{n_star, bottom, bottom, false, 0};
  if (!std::isfinite(n_star)) {
    result.high = n_star;
    return result;
  }
  if (n_star > bottom) {
    result.low = std::max(bottom, n_star * (1.0 - enclosure));
    result.high = n_star * (1.0 + enclosure);
  }
  for (const slong bits : precisions) {
    const ScopedPrecision scope(bits);
    const SelectionMargins<Ball> margins(model, selection);
    const bool below = result.low == bottom || some_negative(margins.at(Ball(1.0) / Ball(result.low)));
    result.proved = below && positive_from(margins, result.high, most_steps, result.steps);
    if (result.proved) break;
  }
  return result;
}

std::vector<int> collision_pattern(const SingleBlock& model, int k) {
  std::vector<int> selection(model.heads, 0);
  for (int h = k; h < model.heads && model.phases() > 1; ++h) selection[h] = 1 + (h - k) % (model.phases() - 1);
  return selection;
}

std::optional<CollisionThreshold> first_collision(const SingleBlock& model) {
  if (model.heads >= model.positions || model.heads > most_heads_partitioned) return std::nullopt;
  std::optional<CollisionThreshold> first;
  std::vector<int> selection;
  // Heads on offsets 0, 1, ... in falling numbers: every partition of H into at most S - 1 parts.
  const auto place = [&](const auto& self, int offset, int most) -> void {
    const int left = model.heads - int(selection.size());
    if (left == 0) {
      const bool collides = model.heads > 1 && selection[1] == 0;
      if (!collides) return;
      const Threshold threshold = pattern_threshold(model, selection);
      if (!first || threshold.n_star < first->threshold.n_star) first = {selection, threshold};
      return;
    }
    if (offset == model.phases()) return;
    for (int k = std::min(left, most); k >= 1; --k) {
      selection.insert(selection.end(), k, offset);
      self(self, offset + 1, k);
      selection.resize(selection.size() - k);
    }
  };
  place(place, 0, model.heads);
  return first;
}

}  // namespace phaselock
