#include "loss/shifted_exp.hpp"

#include <cmath>
#include <limits>

namespace phaselock {

ShiftedSum shifted_exp(std::span<double> logits) {
  ShiftedSum result{-std::numeric_limits<double>::infinity(), 0.0};
  bool finite = true;
  for (const double logit : logits) {
    finite = finite && std::isfinite(logit);
    if (logit > result.top) result.top = logit;
  }
  for (double& logit : logits) result.sum += logit = std::exp(logit - result.top);
  if (!finite) result.sum = std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace phaselock
