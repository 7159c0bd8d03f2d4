// A number of a scenario that something runs over, from one value to another.
#pragma once

#include "schema/schema.hpp"

namespace phaselock {

/// Names its number by the scenario's key, as the axes of a sweep do; put_number puts a value of it into a scenario.
struct NumberAxis {
  const Key* key = nullptr;
  double low = 0.0, high = 0.0;

  bool is_whole() const { return key->is_whole(); }  ///< values are rounded
  bool is_logarithmic() const;                       ///< a key cut by factors, over more than a factor of ten
  double at(double share) const;                     ///< the value at a share of the axis's length
};

}  // namespace phaselock
