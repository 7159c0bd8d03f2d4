// What the claims about coverage share: static flows over seeds, and what their results begin with.
#pragma once

#include "claims/checks.hpp"
#include "kernels/coverage.hpp"

namespace phaselock {

/// Static flows of seeds 1..seeds with the tolerances of the suite.
CoverageResult coverage_of_seeds(const Model& model, double kappa, int seeds);

/// The assumptions and counts that the coverage claims share; no verdict yet.
ClaimResult begin_coverage(const char* id, const Model& model, const CoverageResult& coverage);

}  // namespace phaselock
