// Theorem 1 at epsilon > 0 (theory.md section 8): contexts of a vocabulary with a dense Gram matrix.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "claims/checks.hpp"
#include "loss/geometry.hpp"
#include "model/contexts.hpp"
#include "search/search.hpp"

namespace phaselock {

namespace {

/// By how much, in nats, a continuous optimum must be below every selection found to count against the claim.
constexpr double loss_tolerance = 1e-8;

/// The optimum of each sampled context.
std::vector<SearchResult> search_contexts(const SingleBlock& model, const Geometry& geometry, int count, int starts) {
  const Contexts contexts = sample_independent(model, count, 1);
  std::vector<SearchResult> found(count, SearchResult{0, ContextGates(model), 0, {}, false, false, 0, 0, 0, {}});
  tbb::parallel_for(0, count, [&](int m) {
    found[m] = search_oracle(model, geometry, contexts[m], {.starts = starts, .seed = std::uint64_t(m + 1)});
  });
  return found;
}

ClaimResult check(const SingleBlock& model, const Geometry& geometry, const char* vocabulary, int count, int starts) {
  ClaimResult result = begin_result("theorem1_perturbed", model);
  if (!result.assumptions_hold()) return result;
  int selections = 0, distinct = 0, beaten = 0;
  nlohmann::ordered_json each = nlohmann::ordered_json::array();
  for (const SearchResult& search : search_contexts(model, geometry, count, starts)) {
    selections += search.is_selection;
    distinct += search.distinct;
    beaten += search.best_loss < search.best_selection_loss - loss_tolerance;
    each.push_back(
        {{"best_loss", search.best_loss}, {"best_selection_loss", search.best_selection_loss}, {"pattern", search.best_pattern}});
  }
  result.verdict = judge_contexts(count, selections, beaten);
  result.evidence = {{"summary", fmt::format("{} (eps {:.3g}): {} of {} contexts select, {} with distinct positions", vocabulary,
                                             geometry.epsilon(), selections, count, distinct)},
                     {"vocabulary", vocabulary},
                     {"kappa", geometry.kappa()},
                     {"epsilon", geometry.epsilon()},
                     {"contexts", count},
                     {"selections", selections},
                     {"distinct", distinct},
                     {"starts_per_context", starts},
                     {"each", each}};
  return result;
}

Checks checks(const VerifyOptions& options) {
  if (options.model) return {};
  Checks checks = {check_one("theorem1 in a perturbed vocabulary", [] {
    return check({4, 3, 2, 64, 1.0, 1.0}, Geometry::perturbed(1.0, 0.02, 1, 64), "perturbed", 20, 8);
  })};
  if (options.word_vectors.size() > 0)
    checks.push_back(check_one("theorem1 on word vectors", [words = options.word_vectors] {
      const Geometry geometry = Geometry::embeddings(words, true);
      return check({4, 3, 2, geometry.vocabulary(), 1.0, 1.0}, geometry, "word vectors", 20, 4);
    }));
  return checks;
}

}  // namespace

Verdict judge_contexts(int contexts, int selections, int beaten) {
  if (beaten > 0) return Verdict::refuted;
  return selections == contexts && contexts >= 20 ? Verdict::supported : Verdict::undecided;
}

extern const Claim theorem1_perturbed_claim;
constinit const Claim theorem1_perturbed_claim = {
    .id = "theorem1_perturbed",
    .title = "Theorem 1 at epsilon > 0",
    .statement =
        "In a vocabulary whose Gram matrix is within epsilon of the exact geometry the optimum of each "
        "context is still a selection in every block and head (not necessarily with distinct positions).",
    .assumptions = "epsilon small enough; no explicit epsilon0 is known, so this assumption is not checked",
    .acceptance = "SUPPORTED if in each of at least 20 sampled contexts the best optimum found is a selection.",
    .rejection =
        "REFUTED if in some context a continuous optimum is better than every selection pattern found, by "
        "more than 1e-8.",
    .source = "paper, Theorem 1 (informal); observation: this project, theory.md section 8",
    .group = ClaimGroup::theorem1,
    .checks = checks,
};

}  // namespace phaselock
