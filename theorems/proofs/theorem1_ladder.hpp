// Theorem 1 for one model: what decides it, from the cheapest and strongest ground to the search (theory.md section 4).
#pragma once

#include <cstdint>
#include <optional>

#include "proofs/bounds.hpp"
#include "proofs/branch_and_bound.hpp"
#include "search/search.hpp"

namespace phaselock {

/// The grounds in the order in which they are tried. The first six are decided in balls.
enum class Theorem1Ground {
  below_n_star,   ///< refuted: N < N*(distinct), no selection is a local minimum (section 4.4)
  above_n0,       ///< proved: N > N0 (section 4.1)
  above_n1,       ///< proved: N > N1 (section 4.2)
  above_n2,       ///< proved: N > N2 (section 4.7)
  boxes,          ///< proved: branch and bound leaves selections only (section 4.8)
  lower_optimum,  ///< refuted: the search found gates with a loss below loss*
  selection,      ///< neither: the search found nothing below loss*, and its optimum is a distinct selection
  none,           ///< neither: the search did not reach loss* with a distinct selection
};

struct Theorem1Budget {
  std::int64_t boxes;  ///< of branch and bound, >= 1
  int starts;          ///< of the continuous search, of seed 1, >= 1
};

/// What a search found, and the loss of its weights in balls, nats.
struct Theorem1Optimum {
  SearchResult found;
  Enclosure loss;
};

struct Theorem1Decision {
  Theorem1Ground ground;
  std::optional<BranchAndBound> bounded;   ///< if it was tried
  std::optional<Theorem1Optimum> optimum;  ///< if it was searched

  bool proved() const;
  bool refuted() const;
};

/// Goes down the grounds until one decides. Throws DomainError unless S >= 3 and H < S, Interrupted.
Theorem1Decision decide_theorem1(const SingleBlock& model, const Theorem1Budget& budget);

/// What a search says: a lower optimum only if its loss is certainly below loss*, both as enclosed.
Theorem1Ground judge_optimum(Enclosure loss, Enclosure loss_star, bool is_distinct_selection);

/// The search of the ladder's last grounds, by itself: at exact geometry, where all contexts are equivalent (section 3).
Theorem1Optimum search_optimum(const SingleBlock& model, int starts);

}  // namespace phaselock
