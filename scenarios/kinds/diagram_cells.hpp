// Diagrams: an outcome over two numbers of a scenario, refined where neighbours differ (theory.md sections 4 and 5).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "schema/number_axis.hpp"
#include "schema/scenario.hpp"

namespace phaselock {

enum class DiagramQuestion { theorem1, theorem2, n_star };

std::string_view name(DiagramQuestion question);  ///< "theorem1", "theorem2", "n_star"

struct DiagramOptions {
  Scenario scenario;  ///< the model, geometry.kappa, initial.radius and, for theorem2, the flow; axes put their numbers into it
  NumberAxis x, y;    ///< of any of the model's sizes but L, its two scales, kappa and rho
  DiagramQuestion what = DiagramQuestion::theorem1;
  int cells = 24;  ///< at first, on each axis; fewer on an axis with fewer whole numbers, which then has one for each
  int refine = 2;  ///< times that cells at a boundary are halved on both axes
  int starts = 4;  ///< theorem1: of the continuous search
  int seeds = 20;  ///< theorem2: static flows of seeds 1, 2, ...
};

enum class CellOutcome {
  assumption,     ///< the statement does not speak of this model (or N < L S): not examined
  proved,         ///< theorem1: by one of the bounds N0, N1, N2 or by branch and bound every minimizer selects
  selection,      ///< theorem1: not proved, and N* allows it; the search finds nothing below loss*
  interior,       ///< theorem1: refuted, a distinct selection is unstable or something lower was found; theorem2: most flows end so
  distinct,       ///< theorem2: most flows select distinct phases
  colliding,      ///< theorem2: most flows select, with heads on one phase
  unfinished,     ///< theorem2: most flows neither select nor end in an interior minimum
  always_stable,  ///< n_star: distinct patterns are stable from N = L S on
  threshold,      ///< n_star: they are stable from some N* > L S on
};

std::string_view name(CellOutcome outcome);

struct DiagramCell {
  double x, y;                          ///< where it was computed
  double x_low, x_high, y_low, y_high;  ///< its edges
  int level;                            ///< times it was halved
  CellOutcome outcome;
  double selected, colliding, interior;  ///< theorem2: shares of the seeds, colliding ones among the selected; else NaN
  double log10_n_star;                   ///< n_star: log10 N*(distinct); else NaN
};

/// Cells that cover the diagram, in rows of y, then x, of their lower edges. Cells are computed in parallel; the result does not
/// depend on the number of threads. `progress` is told the cells done, of those known so far (from any thread, one call at a time).
/// Throws Interrupted when asked to stop, DomainError unless the axes differ, 0 < low < high and cells >= 1.
std::vector<DiagramCell> compute_diagram(const DiagramOptions& options,
                                         const std::function<void(int done, int total)>& progress = {});

/// Theory's curves where N (model.vocabulary) is on an axis: over the other one, the least N >= L S from which on a bound proves
/// theorem 1, min(N0, N1, N2), N*(distinct), and N* of two heads on one offset (the others on offsets of their own; NaN for H = 1).
/// Values that the theorems do not speak of are left out.
struct CurvePoint {
  double at, n_sufficient, n_star, n_star_pair;
};
std::vector<CurvePoint> diagram_curves(const DiagramOptions& options, int points = 200);

}  // namespace phaselock
