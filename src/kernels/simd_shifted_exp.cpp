#include "kernels/simd_shifted_exp.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_shifted_exp.cpp"  // compiled once for each instruction set
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

ShiftedSum simd_shifted_exp(double* y, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d), whole = count / lanes * lanes;
  double top = -std::numeric_limits<double>::infinity();
  auto tops = hn::Set(d, top);
  for (std::size_t i = 0; i < whole; i += lanes) tops = hn::Max(tops, hn::LoadU(d, y + i));
  if (whole > 0) top = hn::GetLane(hn::MaxOfLanes(d, tops));
  for (std::size_t i = whole; i < count; ++i)
    if (top < y[i]) top = y[i];

  // Highway's Exp makes 0 of NaN: 0 * (y - top) carries what is not finite into the sum.
  const auto shift = hn::Set(d, top), zero = hn::Zero(d);
  auto total = zero;
  for (std::size_t i = 0; i < whole; i += lanes) {
    const auto x = hn::Sub(hn::LoadU(d, y + i), shift);
    const auto e = hn::Exp(d, x);
    total = hn::Add(total, hn::MulAdd(zero, x, e));
    hn::StoreU(e, d, y + i);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, total));
  if (whole < count) {
    HWY_ALIGN double rest[HWY_LANES(double)] = {};
    for (std::size_t i = whole; i < count; ++i) rest[i - whole] = y[i] - top;
    const auto x = hn::Load(d, rest);
    const auto e = hn::Exp(d, x);
    hn::Store(e, d, rest);
    for (std::size_t i = whole; i < count; ++i) {
      sum += rest[i - whole] + 0.0 * (y[i] - top);
      y[i] = rest[i - whole];
    }
  }
  return {top, sum};
}

}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(simd_shifted_exp);

ShiftedSum simd_shifted_exp(std::span<double> logits) {
  return HWY_DYNAMIC_DISPATCH(simd_shifted_exp)(logits.data(), logits.size());
}

}  // namespace phaselock
#endif
