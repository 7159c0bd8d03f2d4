// The list of kinds. Written out, not registered by themselves: what nothing names vanishes from a static library.
#include "kinds/kind.hpp"

namespace phaselock {

extern const Kind flow_kind, search_kind, coverage_kind, toy_kind, stability_kind, diagram_kind;

std::span<const Kind* const> all_kinds() {
  static constexpr const Kind* kinds[] = {&flow_kind, &search_kind, &coverage_kind, &toy_kind, &stability_kind, &diagram_kind};
  return kinds;
}

}  // namespace phaselock
