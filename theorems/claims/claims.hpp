// The list of claims phaselock checks, and their suites.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "claims/claim.hpp"

namespace phaselock {

std::span<const Claim* const> all_claims();
const Claim* find_claim(std::string_view id);  ///< null if there is none

/// What `verify` takes: "toy", "theorem1", "theorem2", "coverage", "all".
std::span<const std::string_view> suite_names();

/// A fixed suite of models and seeds, in the order in which it runs: group by group, in each the checks of its claims as listed,
/// then their controls. Throws DomainError for a name that is none of suite_names, or a model that is not valid.
Checks suite(std::string_view name, const VerifyOptions& options);

/// Runs it and returns the results in that order. Throws Interrupted besides.
std::vector<ClaimResult> verify(std::string_view name, const VerifyOptions& options);

}  // namespace phaselock
