// The loss of one context in which the only head selects the first offset of each block.
#include <cstdio>

#include "loss/context_loss.hpp"
#include "model/gates.hpp"

int main() {
  const phaselock::Model model{.blocks = 4, .positions = 3, .heads = 1, .vocabulary = 20};
  std::printf("%.17g\n", phaselock::context_loss(model, phaselock::selection_gates(model, std::vector<int>{0, 0, 0, 0})));
}
