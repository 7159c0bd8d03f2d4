// What a flow is told about trapping boxes (theory.md section 5): the proof itself is made elsewhere and handed in.
#pragma once

#include <functional>
#include <optional>
#include <span>

namespace phaselock {

/// A trapping box proved in balls: a flow inside it never leaves it, and converges to the selection it belongs to.
struct TrappingProof {
  double eta;     ///< every gate holds at least 1 - eta at its target
  double margin;  ///< a lower bound, > 0, of the trapping margin in units of dLoss/dp
  int precision;  ///< bits that decided
};

/// Proves that a state, rows [2][H][S] of `tokens` numbers (1 for static biases), lies inside a trapping box of a selection [H];
/// nothing if it does not, or if some head has no selection (-1).
using TrapProver =
    std::function<std::optional<TrappingProof>(std::span<const double> rows, int tokens, std::span<const int> selection)>;

}  // namespace phaselock
