#include "token_lines.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "large_pages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loss/token_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#ifndef PHASELOCK_RANGE
#define PHASELOCK_RANGE
namespace phaselock {
struct Range {
  double low, high;
};
}  // namespace phaselock
#endif

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// out = e^(row - shift).
void Exponentials(const double* row, std::size_t count, double shift, double* out) {
  const hn::ScalableTag<double> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::Exp(d, hn::Sub(hn::LoadU(d, row + i), hn::Set(d, shift))), d, out + i);
  for (; i < count; ++i) out[i] = std::exp(row[i] - shift);
}

/// Least and greatest of the numbers; infinite if any is not finite.
Range Extremes(const double* numbers, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto low = hn::Set(d, numbers[0]), high = low, zero = hn::Zero(d);  // x - x is 0, or else NaN
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, numbers + i);
    low = hn::Min(low, x);
    high = hn::Max(high, x);
    zero = hn::Add(zero, hn::Sub(x, x));
  }
  Range range{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  double rest = hn::GetLane(hn::SumOfLanes(d, zero));
  for (; i < count; ++i) {
    range = {std::min(range.low, numbers[i]), std::max(range.high, numbers[i])};
    rest += numbers[i] - numbers[i];
  }
  if (rest == 0.0) return range;
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(Exponentials);
HWY_EXPORT(Extremes);

TokenLines::TokenLines(const Model& model)
    : width((2 * model.heads + grain - 1) / grain * grain),
      size(std::size_t(model.positions) * model.vocabulary * width),
      numbers(hwy::AllocateAligned<double>(size)) {
  prefer_large_pages(numbers.get(), size);
  std::fill_n(numbers.get(), size, 0.0);
}

namespace {

constexpr std::size_t stretch = 256;  // tokens at a time: their lines stay in the nearest cache

/// Calls body(r, first token, last token) for stretches of tokens of each offset, in threads.
template <class Body>
void for_each_stretch(const Model& model, Body body) {
  const std::size_t N = model.vocabulary, stretches = (N + stretch - 1) / stretch;
  tbb::parallel_for(std::size_t(0), model.positions * stretches, [&](std::size_t k) {
    const std::size_t first = k % stretches * stretch;
    body(k / stretches, first, std::min(first + stretch, N));
  });
}

}  // namespace

bool exponentiate(const Model& model, std::span<const double> tables, TokenLines& lines) {
  constexpr double most_spread = 600.0;
  const std::size_t N = model.vocabulary, S = model.positions, gates = 2 * model.heads, width = lines.width;
  std::vector<Range> range(gates);
  tbb::parallel_for(std::size_t(0), gates,
                    [&](std::size_t gate) { range[gate] = HWY_DYNAMIC_DISPATCH(Extremes)(tables.data() + gate * S * N, S * N); });
  if (!std::all_of(range.begin(), range.end(), [](const Range& r) { return r.high - r.low <= most_spread; })) return false;
  for_each_stretch(model, [&](std::size_t r, std::size_t first, std::size_t last) {
    double numbers[2 * TokenLines::most_heads][stretch];
    for (std::size_t gate = 0; gate < gates; ++gate)
      HWY_DYNAMIC_DISPATCH(Exponentials)(tables.data() + (gate * S + r) * N + first, last - first, range[gate].high, numbers[gate]);
    double* line = lines.numbers.get() + (r * N + first) * width;
    for (std::size_t i = 0; i < last - first; ++i, line += width)
      for (std::size_t gate = 0; gate < gates; ++gate) line[gate] = numbers[gate][i];
  });
  return true;
}

void lines_to_tables(const Model& model, const TokenLines& lines, double factor, std::span<double> tables) {
  const std::size_t N = model.vocabulary, S = model.positions, gates = 2 * model.heads, width = lines.width;
  for_each_stretch(model, [&](std::size_t r, std::size_t first, std::size_t last) {
    for (std::size_t gate = 0; gate < gates; ++gate) {
      const double* const numbers = lines.numbers.get() + r * N * width + gate;
      double* const row = tables.data() + (gate * S + r) * N;
      for (std::size_t i = first; i < last; ++i) row[i] = factor * numbers[i * width];
    }
  });
}

}  // namespace phaselock
#endif  // HWY_ONCE
