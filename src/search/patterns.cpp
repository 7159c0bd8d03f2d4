#include "search/patterns.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

#include "kernels/simd_shifted_exp.hpp"
#include "loss/loss.hpp"
#include "model/gates.hpp"
#include "model/interrupt.hpp"
#include "model/random.hpp"

namespace phaselock {

namespace {

constexpr std::size_t most_patterns = 2048;  // evaluated one by one: a fraction of a second at N = 512
constexpr int exchange_starts = 8;

using PatternColumn = std::vector<int>;  // offsets of the heads in one block, [H]

double pattern_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, std::span<const int> pattern) {
  return oracle_loss(model, geometry, context, selection_gates(model, pattern), nullptr, simd_shifted_exp);
}

/// The columns that a block may take, empty if there are more than most_patterns. With `exchangeable` offsets one of each class:
/// the offsets are numbered in the order in which the heads first use them, which gives each partition of the heads once.
std::vector<PatternColumn> block_columns(const Model& model, bool exchangeable) {
  std::vector<PatternColumn> columns{{}};
  for (int h = 0; h < model.heads; ++h) {
    std::vector<PatternColumn> longer;
    for (const PatternColumn& column : columns) {
      const int used = column.empty() ? 0 : *std::max_element(column.begin(), column.end()) + 1;
      const int choices = exchangeable ? std::min(used + 1, model.phases()) : model.phases();
      for (int r = 0; r < choices; ++r) {
        longer.push_back(column);
        longer.back().push_back(r);
      }
      if (longer.size() > most_patterns) return {};
    }
    columns = std::move(longer);
  }
  return columns;
}

/// All patterns, up to the symmetries of the exact geometry if `exchangeable`; empty if there are more than most_patterns.
std::vector<std::vector<int>> all_patterns(const Model& model, bool exchangeable) {
  const std::vector<PatternColumn> columns = block_columns(model, exchangeable);
  if (columns.empty()) return {};
  std::vector<std::vector<std::size_t>> choices{{}};  // indices of columns, [L]; not decreasing if blocks are exchangeable
  for (int l = 0; l < model.blocks; ++l) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& choice : choices) {
      for (std::size_t c = exchangeable && l > 0 ? choice.back() : 0; c < columns.size(); ++c) {
        longer.push_back(choice);
        longer.back().push_back(c);
      }
      if (longer.size() > most_patterns) return {};
    }
    choices = std::move(longer);
  }
  std::vector<std::vector<int>> patterns;
  for (const auto& choice : choices) {
    std::vector<int> pattern(std::size_t(model.heads) * model.blocks);
    for (int h = 0; h < model.heads; ++h)
      for (int l = 0; l < model.blocks; ++l) pattern[h * model.blocks + l] = columns[choice[l]][h];
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

/// One walk of exchange moves downhill. Each accepted move lowers the loss of a finite set of patterns, so it ends.
class Exchange {
 public:
  Exchange(const Model& model, const Geometry& geometry, std::span<const Token> context, std::vector<int> pattern)
      : model_(model), geometry_(geometry), context_(context), pattern_(std::move(pattern)) {
    loss_ = pattern_loss(model_, geometry_, context_, pattern_);
  }

  PatternOptimum run() {
    do {
      while (any_single_move()) {
      }
    } while (any_pair_move());
    return {pattern_, loss_, false};
  }

 private:
  /// Keeps the pattern as it stands if that lowers the loss.
  bool accept() {
    if (evaluations_ >= most_evaluations()) return false;
    ++evaluations_;
    check_interrupt();
    const double loss = pattern_loss(model_, geometry_, context_, pattern_);
    if (!(loss < loss_ - 1e-12 * std::abs(loss_))) return false;
    loss_ = loss;
    return true;
  }

  /// Bounds a walk in models with many gates to about 10^9 operations, counted and so the same everywhere.
  std::int64_t most_evaluations() const {
    const double tokens = geometry_.is_exact() ? model_.slots() : model_.vocabulary;
    return std::int64_t(1e9 / (double(model_.queries()) * tokens * (model_.heads + 8.0))) + 1;
  }

  bool any_single_move() {
    if (evaluations_ >= most_evaluations()) return false;
    bool moved = false;
    for (int& offset : pattern_)
      for (int r = 0; r < model_.phases(); ++r) {
        const int before = offset;
        offset = r;
        if (r == before) continue;
        if (accept())
          moved = true;
        else
          offset = before;
      }
    return moved;
  }

  bool any_pair_move() {
    if (evaluations_ >= most_evaluations()) return false;
    const int L = model_.blocks, n = model_.phases(), gates = int(pattern_.size());
    for (int a = 0; a < gates; ++a)
      for (int b = a + 1; b < gates; ++b) {
        if (a / L != b / L && a % L != b % L) continue;  // neither the same head nor the same block
        const int before_a = pattern_[a], before_b = pattern_[b];
        for (int moves = 0; moves < n * n; ++moves) {
          pattern_[a] = moves / n;
          pattern_[b] = moves % n;
          if (pattern_[a] != before_a && pattern_[b] != before_b && accept()) return true;
        }
        pattern_[a] = before_a;
        pattern_[b] = before_b;
      }
    return false;
  }

  const Model& model_;
  const Geometry& geometry_;
  std::span<const Token> context_;
  std::vector<int> pattern_;
  double loss_;
  std::int64_t evaluations_ = 0;
};

std::vector<int> start_pattern(const Model& model, std::uint64_t seed, int start) {
  std::vector<int> pattern(std::size_t(model.heads) * model.blocks);
  Stream stream(seed, Purpose::pattern_start, start);
  for (std::size_t gate = 0; gate < pattern.size(); ++gate)
    pattern[gate] = start == 0 ? int(gate) / model.blocks % model.phases() : int(stream.below(model.phases()));
  return pattern;
}

}  // namespace

bool is_distinct(const Model& model, std::span<const int> pattern) {
  for (int l = 0; l < model.blocks; ++l) {
    std::vector<bool> taken(model.phases(), false);
    for (int h = 0; h < model.heads; ++h) {
      const int r = pattern[h * model.blocks + l];
      if (taken[r]) return false;
      taken[r] = true;
    }
  }
  return true;
}

PatternOptimum improve_pattern(const Model& model, const Geometry& geometry, std::span<const Token> context,
                               std::vector<int> pattern) {
  return Exchange(model, geometry, context, std::move(pattern)).run();
}

PatternOptimum search_patterns(const Model& model, const Geometry& geometry, std::span<const Token> context, std::uint64_t seed) {
  const std::vector<std::vector<int>> patterns = all_patterns(model, geometry.is_exact());
  const bool exhaustive = !patterns.empty();
  std::vector<PatternOptimum> found(exhaustive ? patterns.size() : exchange_starts);
  tbb::parallel_for(std::size_t(0), found.size(), [&](std::size_t k) {
    check_interrupt();
    found[k] = exhaustive ? PatternOptimum{patterns[k], pattern_loss(model, geometry, context, patterns[k]), true}
                          : improve_pattern(model, geometry, context, start_pattern(model, seed, int(k)));
  });
  return *std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
}

}  // namespace phaselock
