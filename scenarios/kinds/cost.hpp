// What a run would take, known before anything is allocated.
#pragma once

#include <string>

#include "schema/scenario.hpp"

namespace phaselock {

/// Upper estimates; doubles, so that no product of sizes overflows.
struct Cost {
  double bytes = 0.0;          ///< memory
  double evaluations = 0.0;    ///< losses with gradient of one `unit`, a rough number
  const char* unit = "model";  ///< "context" where a loss is a sum over contexts, one of which is meant
};

/// Costs of what kinds are made of, for the scenario's model, geometry and contexts.
Cost flow_cost(const Scenario& scenario, bool tables);    ///< one flow, by the scenario's class of gates
Cost search_cost(const Scenario& scenario, int starts);   ///< searches of all contexts
Cost seeds_cost(const Scenario& scenario, double seeds);  ///< flows of so many seeds, in chunks, with their counts
double flow_evaluations(const FlowKeys& flow);            ///< losses with gradient that one flow takes
double usable_threads();                                  ///< of this machine, at least 1
constexpr double number_bytes = sizeof(double);

/// Memory a run may take: three quarters of the machine's.
double memory_limit();

/// Throws Failure (bad_scenario) that names the memory needed, if it is above the limit.
void refuse_if_too_large(const Scenario& scenario, const Cost& cost);

/// "12.3 GiB".
std::string bytes_text(double bytes);

}  // namespace phaselock
