#include "kinds/run_output.hpp"

#include "kinds/provenance.hpp"

namespace phaselock {

Json result_document(const Scenario& scenario, const Report& report, std::chrono::steady_clock::time_point started) {
  return {{"kind", scenario.kind->name},
          {"verdict", report.verdict()},
          {"model", scenario_model_json(scenario)},
          {"results", report.results},
          {"provenance", provenance_json(seeds_json(scenario), started)}};
}

void write_run(const LiveFolder& folder, const std::string& document, const Report& report) {
  for (const CsvTable& table : report.tables) folder.write(table.name(), table.text);
  folder.write(tables_file, dump(report.tables_document()));
  if (!report.certificate.is_null()) folder.write("certificate.json", dump(report.certificate));
  folder.write("result.json", document);
}

}  // namespace phaselock
