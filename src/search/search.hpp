// Oracle search: the best gate weights of one context, all free (theory.md sections 3 and 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "loss/geometry.hpp"
#include "model/contexts.hpp"
#include "model/gates.hpp"

namespace phaselock {

struct SearchOptions {
  int starts = 64;  ///< independent starts of the continuous search, >= 1
  std::uint64_t seed = 1;
};

/// The best of two searches: continuous over all weights, and over selection patterns.
struct SearchResult {
  double best_loss;                  ///< best of the continuous search, nats
  ContextGates best_weights;         ///< where
  double best_selection_loss;        ///< best selection pattern found, nats
  std::vector<int> best_pattern;     ///< its key offsets, [H][L]
  bool is_selection;                 ///< whether the better of the two is a selection (pK = e_r, pV = e_(r+1) in every gate)
  bool distinct;                     ///< whether it is one with distinct phases in every block
  double kkt_residual;               ///< of the selection if is_selection, else of best_weights
  int starts, starts_at_best;        ///< starts of the continuous search; those within 1e-8 of best_loss
  std::vector<double> start_losses;  ///< loss that each start reached, [starts]

  double better() const { return best_loss < best_selection_loss ? best_loss : best_selection_loss; }
};

/// Searches the optimum of one context's loss in any geometry: the selection patterns (patterns.hpp), joined with L-BFGS over all
/// weights. Continuous start 0 begins at the best pattern, softened, so that it
/// finds what lies below that pattern where it is unstable. The other starts
/// are random, start k of stream (seed, k). A tie within 1e-9 relative goes to the selection if its own KKT residual is at most
/// 1e-9. A start that meets a value that is not finite counts as infinite loss; DomainError if all do.
/// Starts run in parallel; the result does not depend on the number of threads. Polls the interrupt flag.
SearchResult search_oracle(const Model& model, const Geometry& geometry, std::span<const Token> context,
                           const SearchOptions& options);

/// What the continuous search descends: the loss with weights p_s = u_s^2 / |u|^2 in every gate, u [2][H][L][S] without a zero
/// gate, and dLoss/du_s = (2 u_s / |u|^2) (d_s - sum_r p_r d_r), d = dLoss/dp, if `gradient` is not empty.
double squared_weights_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, std::span<const double> u,
                            std::span<double> gradient);

/// How far weights are from a stationary point over probability vectors (the KKT conditions): the largest sum_s p_s (d_s - min_r
/// d_r) over all gates, d = dLoss/dp. At a selection 0 iff all KKT margins of theory.md section 4 are >= 0.
double kkt_residual(const Model& model, const ContextGates& weights, const ContextGates& gradient);

}  // namespace phaselock
