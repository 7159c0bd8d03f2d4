#include "statistics/planning.hpp"

#include <fmt/format.h>

#include "model/errors.hpp"
#include "statistics/intervals.hpp"

namespace phaselock {

double interval_width(double seeds, double probability, double level, int cells) {
  if (!(probability >= 0.0 && probability <= 1.0)) throw DomainError(fmt::format("probability {} must be in [0, 1]", probability));
  if (!(seeds >= 0.0)) throw DomainError(fmt::format("number of seeds {} must be >= 0", seeds));
  const Interval interval = clopper_pearson_continued(seeds * probability, seeds, level_of_each(level, cells));
  return interval.high - interval.low;
}

std::int64_t seeds_for_width(double width, double probability, double level, int cells) {
  if (!(width >= 1e-5)) throw DomainError(fmt::format("width {} of an interval must be at least 1e-5", width));
  const auto suffices = [&](std::int64_t seeds) { return interval_width(double(seeds), probability, level, cells) <= width; };
  if (suffices(0)) return 0;
  std::int64_t fails = 0, enough = 1;
  while (!suffices(enough)) {
    fails = enough;
    enough *= 2;
  }
  while (enough - fails > 1) {
    const std::int64_t middle = fails + (enough - fails) / 2;
    (suffices(middle) ? enough : fails) = middle;
  }
  return enough;
}

}  // namespace phaselock
