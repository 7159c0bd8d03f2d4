// Flows and velocities of gate tables under the kernels' loss of sampled contexts, in one call.
#pragma once

#include <utility>
#include <vector>

#include "flow/flow.hpp"
#include "kernels/table_loss.hpp"
#include "proofs/trapping.hpp"

namespace phaselock::test {

inline FlowResult table_flow(const Model& model, const Geometry& geometry, const Contexts& contexts, GateClass gates,
                             std::vector<double> tables, const FlowOptions& options) {
  TableLoss loss(model, geometry, contexts);
  return phaselock::table_flow(loss, gates, std::move(tables), options);
}

inline TableVelocity table_velocity(const Model& model, const Geometry& geometry, const Contexts& contexts,
                                    const std::vector<double>& tables) {
  TableLoss loss(model, geometry, contexts);
  return phaselock::table_velocity(loss, tables);
}

}  // namespace phaselock::test
