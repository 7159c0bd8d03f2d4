// Tables and lines are exchanged in stretches of tokens whose numbers stay in the nearest cache on their way. Where tables are
// larger than the caches, their time is that of memory: each is then gone through once, and what is written goes past the caches.
#include "kernels/token_lines.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/large_pages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/token_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>

#include "kernels/transpose-inl.hpp"

#ifndef PHASELOCK_STRETCH
#define PHASELOCK_STRETCH
namespace phaselock {
namespace {

constexpr std::size_t most_width = TokenLines::width_of(TokenLines::most_heads), stretch = 256;

/// Tokens first .. first + count - 1 <= first + stretch of one offset, as they stand in tables and in lines.
struct Stretch {
  std::size_t row, next_row, line;  ///< place of the first token's number of gate 0, how far it is to gate 1, place of its line
  std::size_t count, gates, width;
  bool past_caches;
};

/// Least and greatest of some numbers; infinite if any is not finite.
struct Extremes {
  double low, high;
};

}  // namespace
}  // namespace phaselock
#endif

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {
namespace {

/// out = e^(row - shift); returns the extremes of row.
Extremes exponentials(const double* row, std::size_t count, double shift, double* HWY_RESTRICT out) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto low = hn::Set(d, infinity), high = hn::Set(d, -infinity), zero = hn::Zero(d);  // x - x is 0, or else NaN
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, row + i);
    low = hn::Min(low, x);
    high = hn::Max(high, x);
    zero = hn::Add(zero, hn::Sub(x, x));
    hn::StoreU(hn::Exp(d, hn::Sub(x, hn::Set(d, shift))), d, out + i);
  }
  Extremes extremes{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  double rest = hn::GetLane(hn::SumOfLanes(d, zero));
  for (; i < count; ++i) {
    extremes = {std::min(extremes.low, row[i]), std::max(extremes.high, row[i])};
    rest += row[i] - row[i];
    out[i] = std::exp(row[i] - shift);
  }
  return rest == 0.0 ? extremes : Extremes{-infinity, infinity};
}

/// Lines <- e^(tables - shift of the gate); extremes [gates] of the stretch's numbers.
void ToLines(const double* tables, const double* shift, const Stretch& s, double* lines, Extremes* extremes) {
  HWY_ALIGN double numbers[most_width][stretch];
  for (std::size_t gate = 0; gate < s.width; ++gate) {
    if (gate < s.gates) extremes[gate] = exponentials(tables + s.row + gate * s.next_row, s.count, shift[gate], numbers[gate]);
    std::fill(numbers[gate] + (gate < s.gates ? s.count : 0), numbers[gate] + (s.count + W - 1) / W * W, 0.0);
  }
  for (std::size_t i = 0; i < s.count; i += W)
    for (std::size_t gate = 0; gate < s.width; gate += W) {
      hn::Vec<D4> v[W];
      for (int k = 0; k < W; ++k) v[k] = hn::Load(d4, numbers[gate + k] + i);
      transpose(v);
      for (std::size_t k = 0; k < std::min<std::size_t>(W, s.count - i); ++k) {
        double* const line = lines + s.line + (i + k) * s.width + gate;
        s.past_caches ? hn::Stream(v[k], d4, line) : hn::Store(v[k], d4, line);
      }
    }
  hwy::FlushStream();
}

/// Tables <- factor times lines.
void ToTables(const double* lines, double factor, const Stretch& s, double* tables) {
  HWY_ALIGN double numbers[most_width][stretch];
  for (std::size_t i = 0; i < s.count; i += W)
    for (std::size_t gate = 0; gate < s.width; gate += W) {
      hn::Vec<D4> v[W];
      for (std::size_t k = 0; k < W; ++k)
        v[k] = hn::Mul(hn::Set(d4, factor), hn::Load(d4, lines + s.line + std::min(i + k, s.count - 1) * s.width + gate));
      transpose(v);
      for (int k = 0; k < W; ++k) hn::Store(v[k], d4, numbers[gate + k] + i);
    }
  for (std::size_t gate = 0; gate < s.gates; ++gate) {
    double* const row = tables + s.row + gate * s.next_row;
    const double* const from = numbers[gate];
    std::size_t i = 0;
    if (s.past_caches) {
      for (; i < s.count && reinterpret_cast<std::uintptr_t>(row + i) % (W * sizeof(double)) != 0; ++i) row[i] = from[i];
      for (; i + W <= s.count; i += W) hn::Stream(hn::LoadU(d4, from + i), d4, row + i);
    }
    std::copy(from + i, from + s.count, row + i);
  }
  hwy::FlushStream();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(ToLines);
HWY_EXPORT(ToTables);

TokenLines::TokenLines(const SingleBlock& model)
    : width(width_of(model.heads)),
      size(std::size_t(model.positions) * model.vocabulary * width),
      numbers(hwy::AllocateAligned<double>(size)) {
  prefer_large_pages(numbers.get(), size);
  std::fill_n(numbers.get(), size, 0.0);
}

namespace {

std::size_t stretches(const SingleBlock& model) { return model.positions * ((model.vocabulary + stretch - 1) / stretch); }

/// Calls body(k, stretch) for all stretches, in threads.
template <class Body>
void for_each_stretch(const SingleBlock& model, const TokenLines& lines, Body body) {
  constexpr std::size_t cached = std::size_t(2) << 20;  // numbers
  const std::size_t N = model.vocabulary, S = model.positions, of_offset = stretches(model) / S;
  tbb::parallel_for(std::size_t(0), stretches(model), [&](std::size_t k) {
    const std::size_t first = k % of_offset * stretch, row = k / of_offset * N + first;
    body(k, Stretch{row, S * N, row * lines.width, std::min(stretch, N - first), std::size_t(2 * model.heads),
                    std::size_t(lines.width), lines.size > cached});
  });
}

}  // namespace

bool exponentiate(const SingleBlock& model, std::span<const double> tables, TokenLines& lines) {
  constexpr double far = 300.0, most_spread = 2.0 * far;  // e^far neither overflows nor vanishes in products with a few others
  const std::size_t gates = 2 * model.heads;
  std::vector<Extremes> of_stretches(stretches(model) * gates), range(gates);
  std::vector<double> shift(gates, 0.0);
  const auto exponentiate_less_shift = [&] {
    for_each_stretch(model, lines, [&](std::size_t k, const Stretch& s) {
      HWY_DYNAMIC_DISPATCH(ToLines)(tables.data(), shift.data(), s, lines.numbers.get(), &of_stretches[k * gates]);
    });
  };
  exponentiate_less_shift();
  for (std::size_t gate = 0; gate < gates; ++gate) {
    Extremes& r = range[gate] = of_stretches[gate];
    for (std::size_t i = gate; i < of_stretches.size(); i += gates)
      r = {std::min(r.low, of_stretches[i].low), std::max(r.high, of_stretches[i].high)};
    shift[gate] = r.high;
  }
  if (std::all_of(range.begin(), range.end(), [](const Extremes& r) { return -far <= r.low && r.high <= far; })) return true;
  if (!std::all_of(range.begin(), range.end(), [](const Extremes& r) { return r.high - r.low <= most_spread; })) return false;
  exponentiate_less_shift();
  return true;
}

void lines_to_tables(const SingleBlock& model, const TokenLines& lines, double factor, std::span<double> tables) {
  for_each_stretch(model, lines, [&](std::size_t, const Stretch& s) {
    HWY_DYNAMIC_DISPATCH(ToTables)(lines.numbers.get(), factor, s, tables.data());
  });
}

}  // namespace phaselock
#endif  // HWY_ONCE
