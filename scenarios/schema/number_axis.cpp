#include "schema/number_axis.hpp"

#include <cmath>

namespace phaselock {

bool NumberAxis::is_logarithmic() const { return key->in_factors && high > 10.0 * low; }

double NumberAxis::at(double share) const {
  return is_logarithmic() ? low * std::pow(high / low, share) : std::lerp(low, high, share);
}

}  // namespace phaselock
