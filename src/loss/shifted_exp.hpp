// The exponentials of one query's logits over the whole vocabulary: where dense geometry spends its time beside matrix products.
#pragma once

#include <span>

namespace phaselock {

struct ShiftedExp {
  double top;  ///< largest logit
  double sum;  ///< of e^(logit - top); NaN if a logit is not finite
};

/// logits <- e^(logits - top), in SIMD of the processor's width (Highway, chosen at run time). Not empty.
ShiftedExp shifted_exp(std::span<double> logits);

}  // namespace phaselock
