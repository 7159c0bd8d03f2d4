// Loss and gradient of gate tables in long contexts, exact geometry, at a cost that grows like L: sums over the slots of other
// blocks are taken through moments (theory.md section 2; moments.hpp). context_loss is its definition and judge.
#pragma once

#include <cstddef>

#include "kernels/large_pages.hpp"
#include "kernels/moments.hpp"
#include "kernels/token_lines.hpp"
#include "model/contexts.hpp"

namespace phaselock {

/// As batch_loss, one context after the other, SIMD across blocks. `chunks`: in how many parts threads may share each context; the
/// result depends on it, not on the threads. `memory` is for its use. At most 8 heads, plan.degree > 0.
double long_loss(const CentredScales& scales, const MomentPlan& plan, const TokenLines& exponentials, const Contexts& contexts,
                 std::size_t first, std::size_t last, int chunks, KeptMemory& memory, TokenLines* gradient);

}  // namespace phaselock
