// The checks behind the claims, one function a claim and model. Each returns a complete ClaimResult.
#pragma once

#include <cstdint>
#include <vector>

#include "claims/claims.hpp"
#include "flow/flow.hpp"
#include "loss/geometry.hpp"
#include "model/contexts.hpp"

namespace phaselock {

/// What the statements ask of the sizes, and whether it holds.
std::vector<Assumption> size_assumptions(const Model& model);

/// SUPPORTED, REFUTED or UNDECIDED by the 95% Clopper-Pearson interval of a share that must be at least 0.95; adds counts and
/// interval to `evidence`.
Verdict judge_share(std::int64_t successes, std::int64_t trials, nlohmann::ordered_json& evidence);

ClaimResult check_theorem1(const SingleBlock& model);
ClaimResult check_distinctness(const SingleBlock& model);
/// Theorem 1 on `contexts` sampled contexts of a vocabulary with a dense Gram matrix.
ClaimResult check_theorem1_perturbed(const SingleBlock& model, const Geometry& geometry, const char* vocabulary, int contexts,
                                     int starts);

/// One row of the plan of theorem2: flows of seeds 1..seeds from a ball of radius rho; linear gates on the smallest balanced
/// sample, or static gates.
struct FlowPlan {
  SingleBlock model;
  double rho;
  int seeds;
  GateClass gate_class = GateClass::linear;
};

/// theorem2 and static_agreement over the same flows; each flow ends PROVED (with a certificate), interior, or undecided with its
/// reason.
std::vector<ClaimResult> check_theorem2(const std::vector<FlowPlan>& plan, double kappa, const Progress& progress);
ClaimResult check_theorem2_control(const SingleBlock& model, double kappa, GateClass gate_class, int seeds);
ClaimResult check_sample_independence(const SingleBlock& model, double kappa, double rho, int seeds);
ClaimResult check_late_time(const SingleBlock& model, double kappa, int seeds);

ClaimResult check_toy_rates(const Model& model);
ClaimResult check_toy_endpoints(const Model& model, int starts);

ClaimResult check_coverage_symmetry(const SingleBlock& model, double kappa, int seeds);
ClaimResult check_coverage_occupancy(const SingleBlock& model, double kappa, int seeds);
ClaimResult check_coverage_repulsion(const SingleBlock& model, double kappa, int seeds);

}  // namespace phaselock
