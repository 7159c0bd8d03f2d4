// kind = "coverage": which positions the heads take, over seeds, in every cell of a sweep.
#include "kinds/kind.hpp"
#include "output/live_folder.hpp"
#include "sweep/coverage_report.hpp"
#include "sweep/coverage_tables.hpp"
#include "sweep/seed_rows.hpp"
#include "sweep/sweep.hpp"

namespace phaselock {

Report run_coverage(const Scenario& scenario, RunContext& context) {
  SweepStore store = open_store(scenario, context.folder, context.shard);
  context.progress.begin("coverage", "seeds");
  run_chunks(scenario, store, [&](std::int64_t done, std::int64_t all) { context.progress.update(double(done), double(all)); });
  Report report = coverage_report(scenario, store);
  leave_out_empty(report.tables);
  if (context.folder) report.written = put_seed_rows(scenario, store, *context.folder);
  return report;
}

}  // namespace phaselock
