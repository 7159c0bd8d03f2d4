#include "kinds/kind.hpp"

#include "kinds/cost.hpp"

namespace phaselock {

Report run_scenario(const Scenario& scenario, RunContext& context) {
  refuse_if_too_large(scenario, estimate(scenario, context.tables));
  switch (scenario.kind) {
    case Kind::flow:
      return run_flow(scenario, context);
    case Kind::search:
      return run_search(scenario, context);
    case Kind::coverage:
      return run_coverage(scenario, context);
    case Kind::toy:
      return run_toy(scenario, context);
    case Kind::stability:
      return run_stability(scenario, context);
    case Kind::diagram:
      return run_diagram(scenario, context);
  }
  return {};
}

Json scenario_model_json(const Scenario& scenario) {
  Json model = model_json(scenario.model);
  if (scenario.kind == Kind::toy || scenario.is_on_axis(DiagramNumber::vocabulary)) model.erase("vocabulary");
  if (scenario.is_on_axis(DiagramNumber::positions)) model.erase("positions");
  if (scenario.is_on_axis(DiagramNumber::heads)) model.erase("heads");
  if (scenario.is_on_axis(DiagramNumber::gamma)) model.erase("gamma");
  if (scenario.is_on_axis(DiagramNumber::beta)) model.erase("beta");
  return model;
}

}  // namespace phaselock
