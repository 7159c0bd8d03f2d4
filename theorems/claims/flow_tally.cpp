#include "claims/flow_tally.hpp"

#include <algorithm>

namespace phaselock {

void FlowTally::add(const FlowRecord& flow) {
  ++flows;
  ++outcomes[std::string(name(flow.outcome))];
  ++(flow.certificate ? proved : flow.outcome == FlowOutcome::interior ? interior : undecided);
  selecting += flow.selects;
  agreeing += flow.agrees;
  colliding += flow.selects && flow.collides;
  running += !flow.selects && (flow.outcome == FlowOutcome::undecided || flow.outcome == FlowOutcome::step_limit);
  static_offsets = std::max(static_offsets, flow.static_offsets);
  avg_offsets = std::max(avg_offsets, flow.avg_offsets);
  residual_all = std::max(residual_all, flow.residual_all);
  energy = std::max(energy, flow.energy);
  drift = std::max(drift, flow.drift);
  if (!flow.selects) return;
  low_ratio = std::min(low_ratio, flow.rate_ratio);
  high_ratio = std::max(high_ratio, flow.rate_ratio);
}

}  // namespace phaselock
