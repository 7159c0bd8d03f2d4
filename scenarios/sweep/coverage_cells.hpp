// The cells of a coverage run with all that their rows say.
#pragma once

#include <string>
#include <vector>

#include "schema/scenario.hpp"
#include "statistics/cell_facts.hpp"
#include "sweep/sweep_store.hpp"

namespace phaselock {

/// N* of the patterns that a cell's coverage is about (theory.md section 4): distinct, two heads together, all together.
struct Thresholds {
  double distinct, pair, all;
};

/// One cell with everything that its row says.
struct Cell {
  int index;
  Scenario scenario;
  std::string parameters;  ///< "beta = 4, N = 100"
  CellFacts facts;
  Thresholds thresholds;
};

/// The cells of `scenario`, the store's own, in order. Throws Failure (bad_data) if their counts are of no heads at phases.
std::vector<Cell> read_cells(const Scenario& scenario, const SweepStore& store);

}  // namespace phaselock
