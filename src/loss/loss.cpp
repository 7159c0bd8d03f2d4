#include "loss/loss.hpp"

#include <algorithm>

#include "loss/context_loss.hpp"
#include "model/gates.hpp"
#include "model/interrupt.hpp"

namespace phaselock {

double oracle_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                   ContextGates* gradient, ShiftedExp exponentials) {
  return geometry.is_exact() ? context_loss(model, gates, gradient)
                             : dense_context_loss(model, geometry, context, gates, gradient, exponentials);
}

double sum_by_definition(const Loss& loss, std::size_t first, std::size_t last, std::span<const double> tables,
                         std::span<double> gradient, ShiftedExp exponentials) {
  const Model& model = loss.model();
  const Contexts& contexts = loss.contexts();
  ContextGates gates(model), dgates(model);
  double sum = 0.0;
  for (std::size_t m = first; m < last; ++m) {
    check_interrupt();
    gates_from_tables(model, tables, contexts[m], gates);
    sum += oracle_loss(model, loss.geometry(), contexts[m], gates, gradient.empty() ? nullptr : &dgates, exponentials);
    if (!gradient.empty()) pull_back_to_tables(model, gates, dgates, contexts[m], 1.0, gradient);
  }
  return sum;
}

double DefinitionLoss::operator()(std::span<const double> tables, std::span<double> gradient) {
  const double weight = 1.0 / double(contexts().size());
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double sum = sum_by_definition(*this, 0, contexts().size(), tables, gradient);
  for (double& g : gradient) g *= weight;
  return weight * sum;
}

PhaseCurve DefinitionLoss::phases(std::span<const double> tables) const {
  return phase_curve_tables(model(), geometry(), tables, contexts());
}

}  // namespace phaselock
