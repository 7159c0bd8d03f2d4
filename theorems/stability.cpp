#include "stability.hpp"

#include <algorithm>
#include <limits>

#include "loss/context_loss.hpp"

namespace phaselock {

std::vector<double> pattern_margins(const Model& model, std::span<const int> pattern) {
  ContextGates gradient(model);
  context_loss(model, selection_gates(model, pattern), &gradient);
  std::vector<double> margins;
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < model.heads; ++h)
      for (int l = 0; l < model.blocks; ++l) {
        const double* d = (branch == key_branch ? gradient.key : gradient.value).data() + gate_index(model, h, l, 0);
        const int target = pattern[h * model.blocks + l] + branch;
        double margin = std::numeric_limits<double>::infinity();
        for (int s = 0; s < model.positions; ++s)
          if (s != target) margin = std::min(margin, d[s] - d[target]);
        margins.push_back(margin);
      }
  return margins;
}

std::vector<int> distinct_pattern(const Model& model) {
  std::vector<int> pattern;
  for (int h = 0; h < model.heads; ++h) pattern.insert(pattern.end(), model.blocks, h);
  return pattern;
}

}  // namespace phaselock
