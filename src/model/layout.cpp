#include "model/layout.hpp"

#include <algorithm>

namespace phaselock {

namespace {

/// Queries stand inside blocks: the token after the last of a block is not in it.
std::vector<double> inside_blocks(int stride) {
  std::vector<double> weights(stride, 1.0);
  weights.back() = 0.0;
  return weights;
}

}  // namespace

Layout Layout::of(const Model& model) {
  const int S = model.positions;
  return {model.blocks, S, S, std::vector<int>(model.heads, 0), {}, inside_blocks(S)};
}

std::vector<int> Layout::queries() const {
  std::vector<int> queries;
  queries.reserve(slots());
  for (int slot = 0; slot < slots(); ++slot)
    if (query_weights[phase(slot)] > 0.0) queries.push_back(slot);
  return queries;
}

bool Layout::is_single_block() const {
  const bool shifted = std::any_of(shifts.begin(), shifts.end(), [](int shift) { return shift != 0; });
  return window == stride && !shifted && exact_phases.empty() && query_weights == inside_blocks(stride);
}

}  // namespace phaselock
