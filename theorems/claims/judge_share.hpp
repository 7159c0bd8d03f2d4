// The rule of claims about a share of flows, starts or samples.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>

#include "claims/verdict.hpp"

namespace phaselock {

/// Of a share that must be at least 0.95, by its 95% Clopper-Pearson interval: SUPPORTED if all of the interval is at least 0.95,
/// REFUTED if all of it is below, else UNDECIDED; so without trials. DomainError unless 0 <= successes <= trials.
Verdict judge_share(std::int64_t successes, std::int64_t trials);

/// Adds what judge_share goes by to `evidence`: "successes", "trials" and "interval" [low, high].
void tell_share(std::int64_t successes, std::int64_t trials, nlohmann::ordered_json& evidence);

}  // namespace phaselock
