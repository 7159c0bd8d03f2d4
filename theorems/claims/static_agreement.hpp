// The claim static_agreement, judged on the flows of theorem2.
#pragma once

#include "claims/flow_tally.hpp"

namespace phaselock {

/// Its result, begun by begin_result, from the tally of all flows and a row of each part of the plan.
ClaimResult judge_agreement(const SingleBlock& model, const FlowTally& all, nlohmann::ordered_json rows);

}  // namespace phaselock
