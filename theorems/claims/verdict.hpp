// How a check can come out.
#pragma once

#include <string_view>

namespace phaselock {

/// PROVED: decided rigorously. SUPPORTED: observed, with counts. REFUTED: contradicted for this model. UNDECIDED: neither.
enum class Verdict { proved, supported, refuted, undecided };

std::string_view name(Verdict verdict);  ///< "PROVED", "SUPPORTED", "REFUTED", "UNDECIDED"

}  // namespace phaselock
