// Numbers of all gates by (offset, token), the arrangement in which the fast kernels read tables and add gradients.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <span>

#include "model/single_block.hpp"

namespace phaselock {

/// A line for each (offset r, token i) with one number for each gate (branch, head), branch-major, padded to a whole number of
/// `grain`: a token of a context costs one stretch of memory instead of 2 H distant ones.
struct TokenLines {
  static constexpr int grain = 4;
  static constexpr int most_heads = PHASELOCK_KERNEL_HEADS;  ///< the kernels are compiled for 1 .. most_heads heads

  /// 2 H rounded up to a multiple of grain.
  static constexpr int width_of(int heads) { return (2 * heads + grain - 1) / grain * grain; }

  explicit TokenLines(const SingleBlock& model);  ///< all zero

  int width;                                    ///< width_of(H)
  std::size_t size;                             ///< S N width
  hwy::AlignedFreeUniquePtr<double[]> numbers;  ///< [S][N][width]
};

/// lines = e^(G - shift) of tables [2][H][S][N], shift a number for each gate: a gate's softmax is then a quotient of sums. False
/// where that would not serve: a number is not finite, or a gate spreads over more than 600 and its quotients would be lost; the
/// lines are then of no use.
bool exponentiate(const SingleBlock& model, std::span<const double> tables, TokenLines& lines);

/// tables = factor * lines, in the arrangement [2][H][S][N].
void lines_to_tables(const SingleBlock& model, const TokenLines& lines, double factor, std::span<double> tables);

}  // namespace phaselock
