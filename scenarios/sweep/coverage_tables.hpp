// The tables of a coverage run, as CSV.
#pragma once

#include <vector>

#include "output/report.hpp"
#include "sweep/coverage_cells.hpp"

namespace phaselock {

/// Of `scenario`'s cells: cells, coverage, positions, shapes, pairs, escape and escape_law.
std::vector<CsvTable> coverage_tables(const Scenario& scenario, const std::vector<Cell>& cells);

/// Removes tables without a row.
void leave_out_empty(std::vector<CsvTable>& tables);

}  // namespace phaselock
