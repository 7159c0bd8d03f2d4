// The tables of a coverage run, as CSV.
#pragma once

#include <vector>

#include "coverage_cells.hpp"
#include "report.hpp"

namespace phaselock {

/// Of `scenario`'s cells: cells, coverage, positions, shapes, pairs, escape, escape_law. Tables
/// without a row are left out.
std::vector<CsvTable> coverage_tables(const Scenario& scenario, const std::vector<Cell>& cells);

}  // namespace phaselock
