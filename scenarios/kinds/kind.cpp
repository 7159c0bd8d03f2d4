#include "kinds/kind.hpp"

#include <algorithm>
#include <stdexcept>

namespace phaselock {

std::vector<std::string> beyond_theorems(const Scenario& scenario) {
  std::vector<std::string> warnings;
  for (const std::string& assumption : unmet_assumptions(scenario.model))
    warnings.push_back("the theorems do not speak of this model: they assume " + assumption);
  return warnings;
}

KindList kind_list() {
  static const std::vector<const KindDescription*> descriptions = [] {
    std::vector<const KindDescription*> found;
    for (const Kind* kind : all_kinds()) found.push_back(&kind->description);
    return found;
  }();
  return descriptions;
}

const Kind& kind_of(const Scenario& scenario) { return kind_named(scenario.kind->name); }

const Kind& kind_named(std::string_view name) {
  const auto kinds = all_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind* kind) { return kind->description.name == name; });
  if (found == kinds.end()) throw std::logic_error("no kind " + std::string(name));
  return **found;
}

Cost estimate(const Scenario& scenario, bool tables) { return kind_of(scenario).estimate(scenario, tables); }

Report run_scenario(const Scenario& scenario, RunContext& context) {
  refuse_if_too_large(scenario, estimate(scenario, context.tables));
  return kind_of(scenario).run(scenario, context);
}

Json scenario_model_json(const Scenario& scenario) {
  Json model = model_json(scenario.model);
  const Kind& kind = kind_of(scenario);
  if (kind.unused_numbers)
    for (const std::string_view number : kind.unused_numbers(scenario)) model.erase(std::string(number));
  return model;
}

}  // namespace phaselock
