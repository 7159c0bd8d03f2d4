#include "claims/coverage_of_seeds.hpp"

#include <utility>

#include "kernels/seed_threads.hpp"
#include "proofs/trapping.hpp"

namespace phaselock {

CoverageOfSeeds coverage_of_seeds(const SingleBlock& model, double kappa, int seeds) {
  SeedOptions options;
  options.flow.trap = Trap(model);
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  std::vector<SeedRecord> records = static_seeds_in_threads(model, kappa, options, 1, seeds);
  CellFacts facts = cell_facts(model, count_seeds(model, records));
  return {std::move(records), std::move(facts)};
}

ClaimResult begin_coverage(const char* id, const CellFacts& facts) {
  return {.id = id,
          .model = facts.model,
          .assumptions = size_assumptions(facts.model),
          .evidence = {{"summary", ""},
                       {"seeds", facts.seeds},
                       {"selected", facts.selected.count},
                       {"not_selected", facts.seeds - facts.selected.count}}};
}

Verdict judge_fit(std::int64_t selected, double p_value, double level) {
  if (selected == 0) return Verdict::undecided;
  return p_value >= level ? Verdict::supported : Verdict::refuted;
}

}  // namespace phaselock
