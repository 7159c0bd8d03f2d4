// The list of claims. Written out, not registered by themselves: what nothing names vanishes from a static library.
#include "claims/claims.hpp"

namespace phaselock {

extern const Claim theorem1_claim, distinctness_claim, theorem1_perturbed_claim;
extern const Claim theorem2_claim, static_agreement_claim, sample_independence_claim, late_time_claim;
extern const Claim toy_rates_claim, toy_endpoints_claim;
extern const Claim coverage_symmetry_claim, coverage_occupancy_claim, coverage_repulsion_claim;

std::span<const Claim* const> all_claims() {
  static constexpr const Claim* list[] = {
      &theorem1_claim,         &distinctness_claim,        &theorem1_perturbed_claim, &theorem2_claim,
      &static_agreement_claim, &sample_independence_claim, &late_time_claim,          &toy_rates_claim,
      &toy_endpoints_claim,    &coverage_symmetry_claim,   &coverage_occupancy_claim, &coverage_repulsion_claim,
  };
  return list;
}

}  // namespace phaselock
