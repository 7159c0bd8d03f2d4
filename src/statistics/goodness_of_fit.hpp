// Whether counts follow a law, also when some of its cells are rare.
#pragma once

#include <cstdint>
#include <span>

#include "statistics/intervals.hpp"

namespace phaselock {

enum class FitMethod {
  chi_square,         ///< every cell expects at least 5
  monte_carlo,        ///< some do not, and there are at most 500 draws: Pearson's statistic among tables drawn from the law
  pooled_chi_square,  ///< some do not, and there are more: rare cells counted as one
};

struct LawFit {
  GoodnessOfFit test;  ///< with monte_carlo, `degrees` is only the number of cells less 1
  FitMethod method;
  int cells;  ///< of positive probability that were compared, a pool being one
};

/// Test of counts against a law's probabilities (which sum to 1), the method chosen by what the law expects, never by the counts.
/// Pooling joins the least likely cells until each of what is left, the pool too, expects at least 5; if one cell is left, p = 1.
/// Monte Carlo: p = (1 + tables no less extreme) / (1 + tables), 1999 tables from a fixed stream, the same for all counts: P(p <=
/// a) is a under the law but for ties and the error of those tables, of a standard deviation sqrt(a (1 - a) / 1999); p >= 1/2000.
/// Draws in a cell of probability 0 have p = 0. DomainError as chi_square_test.
LawFit goodness_of_fit(std::span<const std::int64_t> counts, std::span<const double> probabilities);

}  // namespace phaselock
