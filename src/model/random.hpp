// Counter-based random streams: (seed, purpose, index) -> numbers, the same on every machine and thread count.
#pragma once

#ifdef __EMSCRIPTEN__
#define __arm__  // Random123 refuses WebAssembly by name; of the processor, Philox4x32 asks only for products of 32-bit numbers
#endif
#include <Random123/philox.h>
#ifdef __EMSCRIPTEN__
#undef __arm__
#endif

#include <cmath>
#include <cstdint>
#include <numbers>

namespace phaselock {

/// What a stream is for; two purposes never share numbers.
enum class Purpose : std::uint32_t {
  initial = 1,
  independent_contexts = 2,
  balanced_contexts = 3,
  search_start = 4,
  perturbation = 5,
  pattern_start = 6,
  choice = 7,
  toy_start = 8,
  reference_counts = 9,
};

/// The stream of numbers number `index` of a seed and purpose: Philox4x32-10 with key = seed and
/// counter = (index, purpose, block). A value type: copying it copies the place in the stream.
class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index = 0)
      : key_{{std::uint32_t(seed), std::uint32_t(seed >> 32)}},
        counter_{{std::uint32_t(index), std::uint32_t(index >> 32), std::uint32_t(purpose), 0}} {}

  std::uint32_t bits32() {
    if (used_ == 4) {
      words_ = philox_(counter_, key_);
      ++counter_[3];
      used_ = 0;
    }
    return words_[used_++];
  }

  std::uint64_t bits64() {
    const std::uint64_t high = bits32();
    return high << 32 | bits32();
  }

  /// Uniform in (0, 1), never 0 or 1; 53 bits.
  double uniform() { return (double(bits64() >> 11) + 0.5) * 0x1p-53; }

  /// Standard normal by Box and Muller's polar-free form; two uniforms a value.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  /// Uniform in 0 .. bound - 1 without bias (rejection), bound >= 1.
  std::uint32_t below(std::uint32_t bound) {
    const std::uint32_t reject_from = std::uint32_t(-1) - std::uint32_t(-1) % bound;
    std::uint32_t x = bits32();
    while (x >= reject_from) x = bits32();
    return x % bound;
  }

 private:
  r123::Philox4x32 philox_;
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type words_{};
  int used_ = 4;
};

}  // namespace phaselock
