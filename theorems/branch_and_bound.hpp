// The least loss f* over the oracle class, enclosed by branch and bound over key weights (theory.md section 4.8).
#pragma once

#include <cstdint>
#include <limits>

#include "bounds.hpp"
#include "gates.hpp"

namespace phaselock {

struct BranchAndBoundOptions {
  std::int64_t boxes = 20000;  ///< budget of boxes to bound
  double tolerance = 0.0;      ///< stop when f* is known to this width, nats
  double upper =
      std::numeric_limits<double>::infinity();  ///< a proved upper bound of f*, from enclose_loss for instance; loss* is always one
};

/// What is proved. Without `selects` and with low < high the question is open within the budget.
struct BranchAndBound {
  Enclosure least_loss;  ///< f* per query, nats
  bool selects;          ///< every global minimizer selects; then f* = loss*
  std::int64_t boxes;    ///< bounded, at most the budget
};

/// Every bound is evaluated in balls. The work grows steeply with H (S-1), the number of key weights of a block. Throws DomainError
/// unless S >= 3 and H < S.
BranchAndBound branch_and_bound(const Model& model, const BranchAndBoundOptions& options = {});

/// An eta, of those tried the largest, for which it is proved that f2 > loss* throughout the keys with u_h(h) >= 1-eta in both
/// blocks, but for the selection of h by each head h; 0 if none, or if `boxes`, the bounds taken, reaches the budget (theory.md
/// section 4.8, steps 3 to 5).
double selection_neighbourhood(const Model& model, std::int64_t budget, std::int64_t& boxes);

/// Whether it is proved that with keys u_h(h) >= 1-eta and values V_h(h+1) >= 1-tau in both blocks f2 falls strictly as a key
/// gate's weight moves to its target h (step 4).
bool keys_descend(const Model& model, double eta, double tau);

/// Encloses the loss of one context (theory.md section 2), per query, at the weights given, each gate divided by its exact sum. Any
/// H. The upper end bounds f* from above. DomainError unless every weight is >= 0 and every sum positive.
Enclosure enclose_loss(const Model& model, const ContextGates& gates);

}  // namespace phaselock
