// What a run would take, known before anything is allocated.
#pragma once

#include <string>

#include "schema/scenario.hpp"

namespace phaselock {

/// Upper estimates; doubles, so that no product of sizes overflows.
struct Cost {
  double bytes;        ///< memory
  double evaluations;  ///< losses with gradient of one context (static flows: of one model), a rough number
};

/// `tables`: whether there is a run folder: every step is kept for its tables. Without one, a sweep keeps its rows in memory. Reads
/// the header of geometry.file.
Cost estimate(const Scenario& scenario, bool tables);

/// Memory a run may take: three quarters of the machine's.
double memory_limit();

/// Throws Failure (bad_scenario) that names the memory needed, if it is above the limit.
void refuse_if_too_large(const Scenario& scenario, const Cost& cost);

/// "12.3 GiB".
std::string bytes_text(double bytes);

}  // namespace phaselock
