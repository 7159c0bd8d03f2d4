// Checks and rules of single claims, for callers with models and counts of their own: tests. The suites' are in the claims' files.
#pragma once

#include <cstdint>
#include <vector>

#include "claims/claim.hpp"
#include "flow/flow.hpp"

namespace phaselock {

// theorem1
ClaimResult check_theorem1(const SingleBlock& model);

// distinctness
struct PatternCounts {
  bool enumerated;          ///< all patterns were compared, not a sample
  std::int64_t distinct;    ///< patterns with distinct phases in every block
  double predicted;         ///< [n!/(n-H)!]^L, how many there are
  std::int64_t deviating;   ///< distinct ones off loss*, others below it
  std::int64_t unresolved;  ///< others nearer to loss* than doubles resolve
};
Verdict judge_patterns(const PatternCounts& counts);
ClaimResult check_distinctness(const SingleBlock& model);

// theorem1_perturbed: of `contexts` sampled contexts, those where a selection is best and those where something beats all of them
Verdict judge_contexts(int contexts, int selections, int beaten);

// theorem2
/// One row of a plan: flows of seeds 1..seeds from a ball of radius rho; linear gates on the smallest balanced sample, or static
/// gates.
struct FlowPlan {
  SingleBlock model;
  double rho;
  int seeds;
  GateClass gate_class = GateClass::linear;
};
/// Of `flows`, those that select and those that ran out of time or steps: these are no counterexamples, so that the verdict is
/// REFUTED only if it were so even if all of them selected.
Verdict judge_flows(std::int64_t selecting, std::int64_t running, std::int64_t flows);
/// theorem2 and static_agreement over the same flows; each flow ends PROVED (with a certificate), interior, or undecided with its
/// reason.
std::vector<ClaimResult> check_theorem2(const std::vector<FlowPlan>& plan, double kappa, const Progress& progress);
ClaimResult check_theorem2_control(const SingleBlock& model, double kappa, GateClass gate_class, int seeds);

// sample_independence
ClaimResult check_sample_independence(const SingleBlock& model, double kappa, double rho, int seeds);

// late_time: measured / predicted constant of each flow that selects
Verdict judge_late_time(const std::vector<double>& ratios);
ClaimResult check_late_time(const SingleBlock& model, double kappa, int seeds);

// toy_rates
struct GrowthRates {
  double difference, sum;
};
Verdict judge_toy_rates(GrowthRates measured, GrowthRates predicted);
ClaimResult check_toy_rates(const SingleBlock& model);

// toy_endpoints
Verdict judge_toy_endpoints(std::int64_t sharpened, std::int64_t starts, double complementary_loss, double equal_loss);
ClaimResult check_toy_endpoints(const SingleBlock& model, int starts);

// coverage
/// Of `selected` seeds a test at `level` rejected a law, if its p-value is below that; UNDECIDED without seeds.
Verdict judge_fit(std::int64_t selected, double p_value, double level);
ClaimResult check_coverage_symmetry(const SingleBlock& model, double kappa, int seeds);
ClaimResult check_coverage_occupancy(const SingleBlock& model, double kappa, int seeds);
ClaimResult check_coverage_repulsion(const SingleBlock& model, double kappa, int seeds);

}  // namespace phaselock
