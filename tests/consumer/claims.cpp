// The least loss of one context, searched for, and the enclosure of what the theorem says that it is.
#include <cstdio>

#include "proofs/bounds.hpp"
#include "search/search.hpp"

int main() {
  const phaselock::SingleBlock model{4, 3, 1, 20};
  const phaselock::Contexts contexts = phaselock::sample_independent(model, 1, 1);
  const auto found = phaselock::search_oracle(model, phaselock::Geometry::exact(1.0, 20), contexts[0], {.starts = 4});
  const phaselock::Enclosure proved = phaselock::enclose_distinct_loss(model);
  std::printf("%.17g %.17g %.17g\n", found.better(), proved.low, proved.high);
}
