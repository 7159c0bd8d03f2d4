// The least loss f* over the oracle class, enclosed by branch and bound over key weights (theory.md section 4.8).
#pragma once

#include <cstdint>
#include <limits>

#include <vector>

#include "model/gates.hpp"
#include "proofs/bounds.hpp"

namespace phaselock {

struct BranchAndBoundOptions {
  std::int64_t boxes = 20000;  ///< budget of boxes to bound
  double tolerance = 0.0;      ///< stop when f* is known to this width, nats
  double upper =
      std::numeric_limits<double>::infinity();  ///< a proved upper bound of f*, from enclose_loss for instance; loss* is always one
};

/// A neighbourhood of the selection of h by each head h: for the keys with u_h(h) >= 1-eta in both blocks it is proved that f2 >
/// loss* but for that selection (theory.md section 4.8, steps 3 to 5).
struct SelectionNeighbourhood {
  double eta = 0.0;            ///< 0: none is proved
  double tau = 0.0;            ///< values with less than 1-tau on a target are excluded by step 3, the others by steps 4 and 5
  std::vector<double> values;  ///< [2][H][S], where step 3 takes the tangent
};

/// A box of keys in the tree of cuts, and how it ends.
struct BoxNode {
  enum class End {
    open,       ///< it does not: the budget was too small
    cut,        ///< in two at one key weight
    bounded,    ///< f2 is above the upper bound of f* there
    symmetry,   ///< equivalent keys are elsewhere, or none are in it
    selection,  ///< in the neighbourhood of the selection
  } end = End::open;
  int key = 0;                 ///< cut: index of the weight in [2][H][n]
  double at = 0.0;             ///< cut: at this value
  std::size_t lower = 0;       ///< cut: number of the lower part in the tree; the upper part follows it
  std::vector<double> values;  ///< bounded: [2][H][S], where the tangent is taken
};

/// What is proved. Without `selects` and with low < high the question is open within the budget.
struct BranchAndBound {
  Enclosure least_loss;  ///< f* per query, nats
  bool selects;          ///< every global minimizer selects; then f* = loss*
  std::int64_t boxes;    ///< bounded, at most the budget
  SelectionNeighbourhood neighbourhood;
  std::vector<BoxNode> tree;  ///< from all keys on, number 0; if `selects` no box is open, and this is the proof
};

/// Every bound is evaluated in balls. The work grows steeply with H (S-1), the number of key weights of a block. Throws DomainError
/// unless S >= 3 and H < S.
BranchAndBound branch_and_bound(const SingleBlock& model, const BranchAndBoundOptions& options = {});

/// The neighbourhood with the largest eta, of those tried; none also if `boxes`, the bounds taken, reaches the budget.
SelectionNeighbourhood selection_neighbourhood(const SingleBlock& model, std::int64_t budget, std::int64_t& boxes);

/// Whether it is proved that with keys u_h(h) >= 1-eta and values V_h(h+1) >= 1-tau in both blocks f2 falls strictly as a key
/// gate's weight moves to its target h (step 4).
bool keys_descend(const SingleBlock& model, double eta, double tau);

/// Encloses the loss of one context (theory.md section 2), per query, at the weights given, each gate divided by its exact sum. Any
/// H. The upper end bounds f* from above. DomainError unless every weight is >= 0 and every sum positive.
Enclosure enclose_loss(const Model& model, const ContextGates& gates);

}  // namespace phaselock
