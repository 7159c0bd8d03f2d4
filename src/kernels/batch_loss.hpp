// Loss and gradient of gate tables over many contexts at once, exact geometry: SIMD across contexts (theory.md section 2).
// context_loss is its definition and judge.
#pragma once

#include <cstddef>

#include "kernels/centred_scales.hpp"
#include "kernels/token_lines.hpp"
#include "model/contexts.hpp"

namespace phaselock {

/// Sum over contexts [first, last) of the loss, nats, each averaged over its queries. The gradient of that sum with respect to
/// the tables is added to `gradient` if that is not null. Agrees with context_loss to 1e-12 (max-norm). At most 8 heads.
double batch_loss(const CentredScales& scales, const TokenLines& exponentials, const Contexts& contexts, std::size_t first,
                  std::size_t last, TokenLines* gradient);

}  // namespace phaselock
