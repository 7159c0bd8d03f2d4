// Escape of a static flow from the symmetric saddle (theory.md section 5, Rates): the first time at which the largest key weight
// over all heads and offsets reaches (1 + 1/n)/2, n = S - 1.
#pragma once

#include "model/single_block.hpp"

namespace phaselock {

/// (1 + 1/n)/2, half way from uniform over the n offsets that queries can have to one-hot.
inline double escape_weight(const SingleBlock& model) { return 0.5 * (1.0 + 1.0 / model.phases()); }

/// Largest weight over the key biases [H][S].
double largest_key_weight(const SingleBlock& model, const double* key_bias);

/// One end of a step in log time s = log(1 + t).
struct StepEnd {
  double s;
  const double* bias;      ///< of the keys, [H][S]
  const double* velocity;  ///< their derivative in the step's own parameter, which goes from 0 to 1: (to.s - from.s) db/ds
};

/// The time t at which the largest key weight reaches escape_weight within a step that starts below it and ends at or above it, by
/// Hermite's cubic through both ends. Error O(step^4); for steps of the flows' default tolerances below 1e-3 of t.
double escape_in_step(const SingleBlock& model, const StepEnd& from, const StepEnd& to);

}  // namespace phaselock
