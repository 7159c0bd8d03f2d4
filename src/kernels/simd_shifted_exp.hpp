// shifted_exp of loss/shifted_exp.hpp in SIMD of the processor's width (Highway, chosen at run time).
#pragma once

#include "loss/shifted_exp.hpp"

namespace phaselock {

/// As shifted_exp, to a unit in the last place.
ShiftedSum simd_shifted_exp(std::span<double> logits);

}  // namespace phaselock
