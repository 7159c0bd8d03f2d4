// Shares of tokens in a partition sum, without the blow-up of a token's term occurring twice.
#pragma once

#include "interval.hpp"

namespace phaselock_check {

/// The partition sum Z without some of its tokens. Ends are subtracted from like ends, since a token and its part in Z vary
/// together.
inline Interval without(const Interval& Z, const Interval& part) { return hull(Z.low() - part.low(), Z.high() - part.high()); }

/// Share of a token with the exponential a of its logit, a / (a + rest), in the partition sum Z, a included.
inline Interval share(const Interval& a, const Interval& Z) { return 1 / (1 + without(Z, a) / a); }

}  // namespace phaselock_check
