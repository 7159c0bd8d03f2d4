// The exponentials of one query's logits over the whole vocabulary: where dense geometry spends its time beside matrix products.
#pragma once

#include <span>

namespace phaselock {

struct ShiftedSum {
  double top;  ///< largest logit
  double sum;  ///< of e^(logit - top); NaN if a logit is not finite
};

/// logits <- e^(logits - top). Not empty.
using ShiftedExp = ShiftedSum (*)(std::span<double> logits);

/// By the standard library's exp, number after number.
ShiftedSum shifted_exp(std::span<double> logits);

}  // namespace phaselock
