// What a sweep's counts say: the report of its cells.
#pragma once

#include "output/report.hpp"
#include "schema/scenario.hpp"
#include "sweep/sweep_store.hpp"

namespace phaselock {

/// Results, tables (coverage_tables.hpp) and summary of the chunks in the store, of `scenario`, the store's own. Every number comes
/// from whole counts, so the order in which chunks were computed does not matter. Throws Failure (bad_data) if the store is
/// damaged.
Report coverage_report(const Scenario& scenario, const SweepStore& store);

}  // namespace phaselock
