// result.json and the files beside it.
#pragma once

#include <chrono>

#include "kinds/kind.hpp"
#include "output/live_folder.hpp"

namespace phaselock {

/// {"kind", "verdict", "model", "results", "provenance"}.
Json result_document(const Scenario& scenario, const Report& report, std::chrono::steady_clock::time_point started);

/// Tables, what describes them, certificate and, last, result.json: with it the run is complete.
void write_run(const LiveFolder& folder, const std::string& document, const Report& report);

}  // namespace phaselock
