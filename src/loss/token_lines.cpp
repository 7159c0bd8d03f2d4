#include "token_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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
  std::fill_n(numbers.get(), size, 0.0);
}

std::optional<TokenLines> exponential_lines(const Model& model, std::span<const double> tables) {
  constexpr double most_spread = 600.0;
  if (model.heads > TokenLines::most_heads) return std::nullopt;
  const std::size_t N = model.vocabulary, S = model.positions, gates = 2 * model.heads;
  std::vector<Range> range;
  for (std::size_t gate = 0; gate < gates; ++gate) {
    range.push_back(HWY_DYNAMIC_DISPATCH(Extremes)(tables.data() + gate * S * N, S * N));
    if (!(range.back().high - range.back().low <= most_spread)) return std::nullopt;
  }
  TokenLines lines(model);
  std::vector<double> row(N);
  for (std::size_t r = 0; r < S; ++r)
    for (std::size_t gate = 0; gate < gates; ++gate) {
      HWY_DYNAMIC_DISPATCH(Exponentials)(tables.data() + (gate * S + r) * N, N, range[gate].high, row.data());
      double* const out = lines.numbers.get() + r * N * lines.width + gate;
      for (std::size_t i = 0; i < N; ++i) out[i * lines.width] = row[i];
    }
  return lines;
}

void lines_to_tables(const Model& model, const TokenLines& lines, double factor, std::span<double> tables) {
  const std::size_t N = model.vocabulary, S = model.positions, gates = 2 * model.heads, width = lines.width;
  for (std::size_t r = 0; r < S; ++r)
    for (std::size_t gate = 0; gate < gates; ++gate) {
      const double* const in = lines.numbers.get() + r * N * width + gate;
      double* const row = tables.data() + (gate * S + r) * N;
      for (std::size_t i = 0; i < N; ++i) row[i] = factor * in[i * width];
    }
}

}  // namespace phaselock
#endif  // HWY_ONCE
