// The definition: loss and gradient of one context at exact geometry, one line a formula (theory.md section 2).
// Every faster path is tested against this one.
#pragma once

#include <functional>
#include <vector>

#include "model/gates.hpp"
#include "model/model.hpp"

namespace phaselock {

/// What one query sees, theory.md section 2.
struct Query {
  int block, position;        ///< (l*, r*)
  std::vector<double> w, o;   ///< attention of each head on the right block and on each other block, [H]
  std::vector<double> m;      ///< m(l, r), the weight that reaches each context token, [L][S]
  std::vector<double> share;  ///< e^(beta m(l, r)) / Z, the probability of each context token, [L][S]
  double outside_share;       ///< 1 / Z, the probability of each token outside the context
  double loss;                ///< -beta m(l*, r*+1) + log Z, nats

  int answer(const Model& model) const { return block * model.positions + position + 1; }
};

/// The query at (block, position), position 0 .. S - 2.
Query query_at(const Model& model, const ContextGates& gates, int block, int position);

/// Calls visit for each of the L (S - 1) queries of a context, in order of (block, position).
void for_each_query(const Model& model, const ContextGates& gates, const std::function<void(const Query&)>& visit);

/// Loss of one context, averaged over its queries, in nats. If `gradient` is given it receives dLoss/dpK and
/// dLoss/dpV, treating all weights as free (theory.md section 5 calls them d_s).
double context_loss(const Model& model, const ContextGates& gates, ContextGates* gradient = nullptr);

}  // namespace phaselock
