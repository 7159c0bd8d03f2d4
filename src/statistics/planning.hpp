// How many seeds an interval of a given width takes, before any is run.
#pragma once

#include <cstdint>

namespace phaselock {

/// Width of the Clopper-Pearson interval of a share `probability` of `seeds`, the formula continued to counts that are not whole;
/// with `cells`, of one of the simultaneous intervals of a multinomial law. It falls as `seeds` grows, and no outcome whose share
/// is as far from 1/2 or farther has a wider interval. `seeds` counts those the interval is of: selected ones, for a share of
/// selected seeds. DomainError unless seeds >= 0, 0 <= probability <= 1, 0 < level < 1 and cells >= 1.
double interval_width(double seeds, double probability = 0.5, double level = 0.95, int cells = 1);

/// The least number of seeds whose interval_width is at most `width`. From this number on, every outcome whose share is no closer
/// to 1/2 than `probability` has an interval at most as wide; with probability 1/2 (the worst case), every outcome at all. Between
/// it and the least number with this property there are at most 1 / min(probability, 1 - probability) seeds (whole counts can be
/// kind). What it does not promise: that the outcome will be as expected; for a share closer to 1/2 the interval is wider.
/// DomainError unless width >= 1e-5, and as above.
std::int64_t seeds_for_width(double width, double probability = 0.5, double level = 0.95, int cells = 1);

}  // namespace phaselock
