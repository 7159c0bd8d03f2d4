// kind = "coverage": which phases the heads take, over seeds, in every cell of a sweep.
#include <fmt/format.h>

#include <algorithm>

#include "kinds/kind.hpp"
#include "output/live_folder.hpp"
#include "schema/sweep_axes.hpp"
#include "statistics/occupancy.hpp"
#include "sweep/coverage_report.hpp"
#include "sweep/coverage_tables.hpp"
#include "sweep/seed_rows.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

namespace {

Report run_coverage(const Scenario& scenario, RunContext& context) {
  SweepStore store = open_store(scenario, context.folder, context.shard);
  context.progress.begin("coverage", "seeds");
  run_chunks(scenario, store, [&](std::int64_t done, std::int64_t all) { context.progress.update(double(done), double(all)); });
  Report report = coverage_report(scenario, store);
  leave_out_empty(report.tables);
  if (context.folder) report.written = put_seed_rows(scenario, store, *context.folder);
  return report;
}

void set_defaults(Scenario& scenario) { scenario.gates.gates = GateWord::static_; }

void check_gates(const Scenario& s) {
  check_trained_gates(s);
  if (!is_static(s) && s.gates.gates != GateWord::linear)
    throw s.failure("gates.class", "gates.class must be \"static\" or \"linear\" for kind = \"coverage\"");
  const Coordination& c = s.coordination;
  if (!is_static(s) && (c.repulsion != 0.0 || c.orthogonal || c.anneal_until != 0.0))
    throw s.failure("gates.class", "gates.class must be \"static\" with [coordination]");
  check_static_geometry(s);
}

/// What annealing would replace, without a time until which: left out that time is 0, never.
void check_annealing(const Scenario& s) {
  for (const std::string key : {"coordination.anneal_beta", "coordination.anneal_vocabulary"})
    if (s.is_given(key) && !s.is_given("coordination.anneal_until"))
      throw s.failure(key, key + " has no effect without coordination.anneal_until, the time until which it holds");
}

void check_coordination(const Scenario& s) {
  try {
    validate(require_single_block(s.model), s.coordination);
  } catch (const DomainError& error) {
    throw s.failure(error);
  }
}

/// A coverage run counts shapes of occupancy.
void check_shapes(const Scenario& s) {
  try {
    occupancy_shapes(s.model.heads, s.model.phases());
  } catch (const DomainError& error) {
    throw s.failure("model.heads", fmt::format("model.heads = {}: {}", s.model.heads, error.what()));
  }
}

void check(Scenario& scenario) {
  check_gates(scenario);
  check_annealing(scenario);
  check_model(scenario);
  check_coordination(scenario);
  check_shapes(scenario);
}

/// All cells: the largest memory of one, the rows of all seeds if they are kept in memory, and the sum of the work.
Cost sweep_cost(const Scenario& scenario, bool in_folder) {
  Cost cost;
  double rows = 0;
  for (const Scenario& cell : sweep_cells(scenario)) {
    const double seeds = double(cell.sweep.seeds);
    const Cost of_cell = seeds_cost(cell, seeds);
    cost = {std::max(cost.bytes, of_cell.bytes), cost.evaluations + of_cell.evaluations};
    if (!in_folder && cell.sweep.keep == Keep::seeds) rows += seeds * (60 + 3 * cell.model.heads);
  }
  return {cost.bytes + rows, cost.evaluations};
}

constexpr std::string_view takes[] = {"model",          "geometry",  "gates",         "initial.radius", "contexts",
                                      "flow.until",     "flow.stop", "flow.residual", "flow.rtol",      "flow.atol",
                                      "flow.max_steps", "sweep",     "coordination"};

}  // namespace

extern const Kind coverage_kind;
constinit const Kind coverage_kind = {
    .description = {.name = "coverage", .takes = takes, .sweeps = true, .set_defaults = set_defaults, .check = check},
    .estimate = sweep_cost,
    .run = run_coverage};

}  // namespace phaselock
