#include "model/single_block.hpp"

#include "model/errors.hpp"

namespace phaselock {

std::optional<SingleBlock> single_block(const Model& model, const Layout& layout) {
  if (!layout.is_single_block()) return std::nullopt;
  return SingleBlock(model);
}

SingleBlock require_single_block(const Model& model, const Layout& layout) {
  if (const auto block = single_block(model, layout)) return *block;
  throw DomainError(
      "known only for blocks that are windows of their own: width = positions, no shifts, no exact entries, queries inside blocks");
}

}  // namespace phaselock
