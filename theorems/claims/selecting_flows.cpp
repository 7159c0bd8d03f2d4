#include "claims/selecting_flows.hpp"

#include <algorithm>

#include "certificates/certificate.hpp"
#include "flow/rates.hpp"
#include "kernels/table_loss.hpp"
#include "loss/geometry.hpp"
#include "model/gates.hpp"
#include "proofs/trapping.hpp"

namespace phaselock {

FlowOptions quick_flow(const SingleBlock& model) {
  FlowOptions options;
  options.trap = Trap(model);
  options.integration.rtol = 1e-8;
  options.integration.atol = 1e-10;
  return options;
}

FlowResult flow_of_seed(const SingleBlock& model, double kappa, double rho, int seed, const Contexts& contexts,
                        GateClass gate_class, const FlowOptions& options) {
  const Geometry geometry = Geometry::exact(kappa, model.vocabulary);
  TableLoss loss(model, geometry, contexts);
  return table_flow(loss, gate_class, geometry.initial_tables(model, rho, seed), options);
}

bool selects(const FlowResult& flow) {
  const auto concentrated = [](double offsets) { return offsets < 1.05; };
  return flow.outcome != FlowOutcome::not_finite && flow.residual_all < 1e-2 &&
         std::find(flow.gates.selection.begin(), flow.gates.selection.end(), -1) == flow.gates.selection.end() &&
         std::all_of(flow.gates.static_offsets.begin(), flow.gates.static_offsets.end(), concentrated) &&
         std::all_of(flow.gates.avg_offsets.begin(), flow.gates.avg_offsets.end(), concentrated);
}

namespace {

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

}  // namespace

FlowRecord run_flow(const FlowPlan& plan, double kappa, int seed) {
  const bool linear = plan.gate_class == GateClass::linear;
  const FlowResult flow =
      linear ? flow_of_seed(plan.model, kappa, plan.rho, seed, sample_balanced(plan.model, balanced_group(plan.model), seed),
                            GateClass::linear, quick_flow(plan.model))
             : static_flow(plan.model, kappa, initial_bias(plan.model, kappa, plan.rho, seed), quick_flow(plan.model));
  const FlowResult static_ =
      linear ? static_flow(plan.model, kappa, static_part(plan.model, flow.initial), quick_flow(plan.model)) : flow;
  FlowRecord record;
  record.certificate = trapping_certificate(plan.model, kappa, !linear, flow);
  record.outcome = flow.outcome;
  record.selects = selects(flow);
  record.agrees = record.selects && static_.gates.selection == flow.gates.selection;
  record.collides = coverage(flow.gates.selection) < plan.model.heads;
  record.static_offsets = largest(flow.gates.static_offsets);
  record.avg_offsets = largest(flow.gates.avg_offsets);
  record.residual_all = flow.residual_all;
  record.energy = flow.energy_residual;
  record.drift = *flow.conserved_drift;
  if (record.selects)
    record.rate_ratio = flow.gates.residual * flow.t / late_time_constant(plan.model, kappa, flow.gates.selection);
  return record;
}

}  // namespace phaselock
