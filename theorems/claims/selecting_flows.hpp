// Flows as the claims about Theorem 2 run and judge them (theory.md section 5).
#pragma once

#include "claims/checks.hpp"
#include "flow/flow.hpp"
#include "model/contexts.hpp"

namespace phaselock {

/// Tolerances of the suite, and trapping boxes of the model.
FlowOptions quick_flow(const SingleBlock& model);

/// The flow of gate tables at exact geometry from seed `seed` in a ball of radius rho.
FlowResult flow_of_seed(const SingleBlock& model, double kappa, double rho, int seed, const Contexts& contexts,
                        GateClass gate_class, const FlowOptions& options);

/// The acceptance rule of theorem2 for one flow.
bool selects(const FlowResult& flow);

/// What one flow of a plan leaves behind.
struct FlowRecord {
  bool selects = false, agrees = false, collides = false;  ///< agrees: selects as its static part does
  std::optional<nlohmann::json> certificate;               ///< if it is PROVED
  FlowOutcome outcome{};
  double static_offsets = 0, avg_offsets = 0;  ///< largest effective offsets of a gate
  double residual_all = 0, energy = 0, drift = 0;
  double rate_ratio = 0;  ///< residual times time over the late-time constant; 0 unless it selects
};

/// Flow number `seed` of a row of a plan.
FlowRecord run_flow(const FlowPlan& row, double kappa, int seed);

}  // namespace phaselock
