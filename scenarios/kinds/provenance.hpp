// How a result came about: version, build, libraries, machine, threads, seeds, wall time.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "output/json.hpp"
#include "schema/scenario.hpp"

namespace phaselock {

/// Names and versions of the libraries that this program is built with.
std::vector<std::pair<std::string, std::string>> library_versions();

/// Instruction sets the program was compiled for, the one its vector kernels chose at run time, and those this machine has.
std::string simd_target();
std::string simd_at_run_time();
std::string simd_of_machine();

/// Threads that parallel loops may use.
int thread_count();

/// Seeds of a scenario, by key; an empty object without one.
Json seeds_json(const Scenario& scenario);

/// Everything above as a JSON object; `started` is when the command began.
Json provenance_json(Json seeds, std::chrono::steady_clock::time_point started);

}  // namespace phaselock
