// Which seeds of a run end inside a trapping box that is proved (theory.md section 5, Trapping certificate).
#pragma once

#include <map>
#include <span>
#include <string>

#include "model/single_block.hpp"

namespace phaselock {

/// The proved trapping boxes of a model's selections, found once for each occupancy shape.
class ShapeTraps {
 public:
  explicit ShapeTraps(const SingleBlock& model) : model_(model) {}

  /// Whether static gates within `residual` of the selection are inside a box that is proved (trapping.hpp).
  bool holds(std::span<const int> selection, double residual);

 private:
  SingleBlock model_;
  std::map<std::string, double> eta_;
};

}  // namespace phaselock
