#include "proofs/shape_traps.hpp"

#include "proofs/trapping.hpp"
#include "statistics/occupancy.hpp"

namespace phaselock {

bool ShapeTraps::holds(std::span<const int> selection, double residual) {
  const auto [found, is_new] = eta_.try_emplace(shape_name(shape_of(selection)), 0.0);
  if (is_new) {
    const double eta = largest_eta(model_, selection) * (1.0 - 1e-6);
    if (prove_trapping(model_, selection, eta)) found->second = eta;
  }
  return residual * (1.0 + 1e-9) < found->second;
}

}  // namespace phaselock
