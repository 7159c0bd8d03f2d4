// What the claims about coverage share: static flows over seeds, and what their results begin with.
#pragma once

#include <vector>

#include "claims/checks.hpp"
#include "statistics/cell_facts.hpp"

namespace phaselock {

/// How the static flows of some seeds end, and what their counts say.
struct CoverageOfSeeds {
  std::vector<SeedRecord> seeds;
  CellFacts facts;
};

/// Static flows of seeds 1..seeds with the tolerances of the suite.
CoverageOfSeeds coverage_of_seeds(const SingleBlock& model, double kappa, int seeds);

/// The assumptions and counts that the coverage claims share; no verdict yet.
ClaimResult begin_coverage(const char* id, const CellFacts& facts);

}  // namespace phaselock
