// Search over selection patterns: every gate on one offset, pK = e_r and pV = e_(r+1) (theory.md sections 1 and 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loss/geometry.hpp"
#include "model/contexts.hpp"

namespace phaselock {

/// A selection pattern and its loss in one context.
struct PatternOptimum {
  std::vector<int> pattern;  ///< key offsets 0 .. S-2, [H][L]
  double loss;               ///< nats, averaged over the context's queries
  bool exhaustive;           ///< whether every pattern was covered: then the loss is the least of all patterns
};

/// Whether the heads of every block select different offsets; never if H >= S.
bool is_distinct(const Model& model, std::span<const int> pattern);

/// The best selection pattern of one context. If there are at most 2048 patterns, each is evaluated; at exact geometry only one of
/// each class of equal loss is, blocks and the offsets of each block being exchangeable (theory.md section 2). Otherwise exchange
/// moves from eight starts: the cyclic pattern r = h mod (S-1), distinct for H < S, and seven random ones of streams (seed, start).
/// Runs in parallel; the result does not depend on the number of threads. Polls the interrupt flag.
PatternOptimum search_patterns(const Model& model, const Geometry& geometry, std::span<const Token> context, std::uint64_t seed);

/// A local optimum of exchange moves from `pattern`: no change of one head's offset in one block, and none of two that share a
/// block or a head, lowers the loss by more than 1e-12 relative. In models with very many gates a budget of evaluations may end the
/// walk before that. At exact geometry with H < S a local optimum is a distinct pattern.
PatternOptimum improve_pattern(const Model& model, const Geometry& geometry, std::span<const Token> context,
                               std::vector<int> pattern);

}  // namespace phaselock
