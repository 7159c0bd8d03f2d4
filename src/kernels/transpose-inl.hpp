// Small squares of numbers, transposed in registers: how numbers pass between lines of gates and vectors across tokens. Compiled
// once for each instruction set: included from files that hwy/foreach_target.h compiles again and again.
#include "kernels/token_lines.hpp"

#if defined(PHASELOCK_TRANSPOSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef PHASELOCK_TRANSPOSE_INL_HPP
#undef PHASELOCK_TRANSPOSE_INL_HPP
#else
#define PHASELOCK_TRANSPOSE_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D4 = hn::CappedTag<double, TokenLines::grain>;
constexpr D4 d4{};
constexpr int W = int(hn::MaxLanes(d4));  ///< rows and columns of a square; grain is a multiple of it

/// Transposes a square of W vectors.
template <class Vec>
HWY_INLINE void transpose([[maybe_unused]] Vec* v) {
#if HWY_TARGET != HWY_SCALAR  // which has one lane, and not even the names of these operations
  if constexpr (W == 2) {
    const Vec a = v[0];
    v[0] = hn::InterleaveLower(d4, a, v[1]);
    v[1] = hn::InterleaveUpper(d4, a, v[1]);
  }
  if constexpr (W == 4) {
    const Vec a = hn::InterleaveLower(d4, v[0], v[1]), b = hn::InterleaveUpper(d4, v[0], v[1]);
    const Vec c = hn::InterleaveLower(d4, v[2], v[3]), e = hn::InterleaveUpper(d4, v[2], v[3]);
    v[0] = hn::ConcatLowerLower(d4, c, a);
    v[1] = hn::ConcatLowerLower(d4, e, b);
    v[2] = hn::ConcatUpperUpper(d4, c, a);
    v[3] = hn::ConcatUpperUpper(d4, e, b);
  }
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#endif
