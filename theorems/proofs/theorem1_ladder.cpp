#include "proofs/theorem1_ladder.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "loss/geometry.hpp"

namespace phaselock {

bool Theorem1Decision::proved() const {
  return ground == Theorem1Ground::above_n0 || ground == Theorem1Ground::above_n1 || ground == Theorem1Ground::above_n2 ||
         ground == Theorem1Ground::boxes;
}

bool Theorem1Decision::refuted() const { return ground == Theorem1Ground::below_n_star || ground == Theorem1Ground::lower_optimum; }

Theorem1Decision decide_theorem1(const SingleBlock& model, const Theorem1Budget& budget) {
  if (below_n_star(model) == Decision::yes) return {Theorem1Ground::below_n_star, {}, {}};
  if (above_n0(model) == Decision::yes) return {Theorem1Ground::above_n0, {}, {}};
  if (above_n1(model) == Decision::yes) return {Theorem1Ground::above_n1, {}, {}};
  if (above_n2(model) == Decision::yes) return {Theorem1Ground::above_n2, {}, {}};
  BranchAndBound bounded = branch_and_bound(model, {.boxes = budget.boxes});
  if (bounded.selects) return {Theorem1Ground::boxes, std::move(bounded), {}};
  Theorem1Optimum optimum = search_optimum(model, budget.starts);
  const bool is_distinct_selection = optimum.found.is_selection && optimum.found.distinct;
  const Theorem1Ground ground = judge_optimum(optimum.loss, enclose_distinct_loss(model), is_distinct_selection);
  return {ground, std::move(bounded), std::move(optimum)};
}

Theorem1Ground judge_optimum(Enclosure loss, Enclosure loss_star, bool is_distinct_selection) {
  if (loss.high < loss_star.low) return Theorem1Ground::lower_optimum;
  return is_distinct_selection ? Theorem1Ground::selection : Theorem1Ground::none;
}

Theorem1Optimum search_optimum(const SingleBlock& model, int starts) {
  std::vector<Token> context(model.slots());
  std::iota(context.begin(), context.end(), 0);
  SearchResult found = search_oracle(model, Geometry::exact(1.0, model.vocabulary), context, {.starts = starts, .seed = 1});
  const Enclosure loss = enclose_loss(model, found.best_weights);
  return {std::move(found), loss};
}

}  // namespace phaselock
