// Escape times from the symmetric saddle over seeds: a histogram's quantiles, and their dependence on the size of the
// start (theory.md section 5, Rates). Bins of log10 T are 0.01 wide: a time is known to a factor 10^0.01 = 1.023, a bin's middle
// to 1.2%.
#pragma once

#include <cstdint>
#include <limits>
#include <map>

#include "statistics/intervals.hpp"

namespace phaselock {

/// Seeds in each bin: bin k holds 10^(k/100) <= T < 10^((k+1)/100), and escaped_at_start those with T = 0.
using EscapeHistogram = std::map<int, std::int64_t>;
constexpr int escaped_at_start = std::numeric_limits<int>::min();

/// floor(100 log10 T). DomainError unless 0 <= T < infinity.
int escape_bin(double time);

/// The time below which a share q of all seeds escapes, `not_escaped` of which did so at no observed time (taken as later than
/// all). Value: the middle, in log T, of the bin of order statistic ceil(q n). Interval: from the lower edge of one order
/// statistic's bin to the upper edge of another's, with their ranks from the binomial law (each tail at most (1 - level) / 2), so
/// that it covers the quantile of the law of T with probability >= level whatever this law is, and the bins' width with it; an end
/// is 0 or infinity where there are too few seeds. No seeds: NaN in [0, infinity]. DomainError unless 0 < q < 1, 0 < level < 1 and
/// no count is negative.
Estimate escape_quantile(const EscapeHistogram& histogram, double q, std::int64_t not_escaped = 0, double level = 0.95);

/// lambda T + mu log T, which grows by log(rho / rho') when the same start is made smaller, from rho to rho': the integral of
/// dT / dlog(1/sigma_b) = 1 / (lambda + mu / T) (sigma_b is proportional to rho). lambda and mu are saddle_rate and
/// escape_correction of flow/rates.hpp.
double escape_clock(double lambda, double mu, double time);

/// The time at which a start `shrink` = rho / rho' times smaller escapes, if it escaped at `time`. The law keeps the order of
/// seeds: it carries each quantile, the median too, to the quantile at rho'; means only nearly. DomainError unless lambda > 0,
/// shrink > 0, time > 0 and lambda + mu / T > 0 at both times (the law holds late).
double escape_time_at(double lambda, double mu, double time, double shrink);

/// The measured change of escape_clock over the predicted one, log(shrink), from seeds at rho and rho' = rho / shrink.
struct EscapeSlope {
  Estimate ratio;  ///< 1 if the law holds; normal interval
  double p_value;  ///< two-sided, of ratio = 1
};
/// Means over the seeds of both histograms, bins at their middles; asymptotic in the number of seeds. Sets of seeds are taken as
/// independent; the same seeds at both rho, whose times go together, make interval and test conservative. DomainError unless shrink
/// > 0, not 1, lambda > 0, and both have at least 2 seeds, all with T > 0.
EscapeSlope escape_slope(const EscapeHistogram& at_rho, const EscapeHistogram& at_smaller, double shrink, double lambda, double mu,
                         double level = 0.95);

}  // namespace phaselock
