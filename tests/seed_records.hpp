// Seeds of known ends, for tests of what is counted of them.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "statistics/seed_counts.hpp"

namespace phaselock::test {

/// A seed that selects these offsets after it escaped at a time (NaN: at none).
inline SeedRecord selected(std::vector<int> offsets, double escape = NAN, bool certified = false, std::optional<bool> agrees = {}) {
  return {{FlowOutcome::selected, 1e4, escape, 1e-3, std::move(offsets)}, certified, agrees};
}

/// A seed whose heads do not all select.
inline SeedRecord ended(FlowOutcome outcome, int heads, double escape = NAN) {
  return {{outcome, 1e4, escape, 0.5, std::vector<int>(std::size_t(heads), -1)}, false, {}};
}

}  // namespace phaselock::test
