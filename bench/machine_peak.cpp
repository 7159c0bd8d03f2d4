// What one core of this machine can do at most: machine_peak [seconds]
// Prints one JSON line: nanoseconds for one FMA and for one exp of a double, with the widest vectors the compiler was told of
// (this file alone is compiled with -march=native). The best of several short runs each.
//
// exp: argument reduction by a power of two, x = k log 2 + r, and a polynomial in r of degree 10 on |r| <= log(2)/2; or, where
// a shuffle looks up four doubles (AVX2), x = k log(2)/4 + r, degree 7 and a table of 2^(j/4).
// Both within a few ulp, three vectors interleaved so that latency hides.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "stopwatch.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int width = 64;
#elif defined(__AVX__)
constexpr int width = 32;
#else
constexpr int width = 16;
#endif
typedef double Vec __attribute__((vector_size(width)));
typedef std::int64_t Int __attribute__((vector_size(width)));
constexpr int lanes = width / int(sizeof(double));

Vec broadcast(double x) { return Vec{} + x; }
Vec from_bits(Int x) { return (Vec)x; }
Int to_bits(Vec x) { return (Int)x; }

/// Chebyshev interpolants of exp, relative error 3e-16 on |r| <= log(2)/2 and 7e-16 on |r| <= log(2)/8.
constexpr double whole[] = {1.0,
                            1.0000000000000067,
                            0.5000000000000006,
                            0.16666666666554406,
                            0.04166666666657314,
                            0.008333333385667782,
                            0.0013888888932488599,
                            0.00019841170270440067,
                            2.4801504346997686e-05,
                            2.764018079620985e-06,
                            2.7626357241447223e-07};
constexpr double quarter[] = {0.9999999999999993,  0.9999999999999999,   0.5000000000026237,    0.16666666666695817,
                              0.04166666491924952, 0.008333333139181174, 0.0013892613065177694, 0.00019845407728635004};

constexpr int chains = 3;  // vectors worked on in step, so that latency hides
struct Block {
  Vec at[chains];
};

/// Applies `step` to each vector of a block.
template <class Step>
inline void each(Step step) {
#pragma GCC unroll 3
  for (int j = 0; j < chains; ++j) step(j);
}

/// Horner's rule: the fewest operations.
template <int terms>
inline Block polynomial(const double (&c)[terms], const Block& r) {
  Block sum;
  each([&](int j) { sum.at[j] = r.at[j] * c[terms - 1] + c[terms - 2]; });
#pragma GCC unroll 12
  for (int n = terms - 3; n >= 0; --n) each([&](int j) { sum.at[j] = sum.at[j] * r.at[j] + c[n]; });
  return sum;
}

constexpr double magic = 0x1.8p52;  // x + magic - magic rounds to an integer; the low bits of x + magic are that integer

/// r = x - k log(2) / parts, and k in the low bits of `shifted`.
template <int parts>
inline Block reduce(const Block& x, Block& shifted) {
  Block k, r;
  each([&](int j) { shifted.at[j] = x.at[j] * (parts * 1.4426950408889634) + magic; });
  each([&](int j) { k.at[j] = shifted.at[j] - magic; });
  each([&](int j) { r.at[j] = x.at[j] - k.at[j] * (0x1.62e42fefa38p-1 / parts); });
  each([&](int j) { r.at[j] = r.at[j] - k.at[j] * (0x1.ef35793c7673p-45 / parts); });
  return r;
}

inline Block exp_by_polynomial(const Block& x) {
  Block shifted;
  Block p = polynomial(whole, reduce<1>(x, shifted));
  each([&](int j) { p.at[j] = from_bits(to_bits(p.at[j]) + (to_bits(shifted.at[j]) << 52)); });
  return p;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
inline Block exp_by_table(const Block& x) {
  Block shifted;
  Block p = polynomial(quarter, reduce<4>(x, shifted));
  // 2^(j/4) for j = k mod 4: vpermilpd looks up two by bit 1, a blend takes one of them by bit 0; then the exponent k div 4 is
  // added.
  const __m256d even = _mm256_setr_pd(1.0, 0x1.6a09e667f3bcdp0, 1.0, 0x1.6a09e667f3bcdp0);
  const __m256d odd = _mm256_setr_pd(0x1.306fe0a31b715p0, 0x1.ae89f995ad3adp0, 0x1.306fe0a31b715p0, 0x1.ae89f995ad3adp0);
  each([&](int j) {
    const Int bits = to_bits(shifted.at[j]);
    const Vec scale = _mm256_blendv_pd(_mm256_permutevar_pd(even, (__m256i)bits), _mm256_permutevar_pd(odd, (__m256i)bits),
                                       (__m256d)(bits << 63));
    p.at[j] = from_bits(to_bits(p.at[j] * scale) + ((bits >> 2) << 52));
  });
  return p;
}
#else
inline Block exp_by_table(const Block& x) { return exp_by_polynomial(x); }
#endif

constexpr int size = 1536;  // doubles; fits the first-level cache
alignas(64) double arguments[size], results[size];

template <class Exp>
double nanoseconds_an_exp(double seconds, Exp function) {
  const auto sweep = [&] {
    for (int i = 0; i < size; i += chains * lanes) {
      Block x;
      each([&](int j) { x.at[j] = *reinterpret_cast<const Vec*>(arguments + i + j * lanes); });
      x = function(x);
      each([&](int j) { *reinterpret_cast<Vec*>(results + i + j * lanes) = x.at[j]; });
    }
    asm volatile("" ::: "memory");
  };
  const double time = bench::repeat(
                          seconds,
                          [&] {
                            for (int n = 0; n < 50; ++n) sweep();
                          },
                          1e9 / (50.0 * size))
                          .least;
  double worst = 0.0;
  for (int i = 0; i < size; ++i) worst = std::max(worst, std::abs(results[i] / std::exp(arguments[i]) - 1.0));
  if (worst > 1e-14) std::fprintf(stderr, "exp is wrong by %g\n", worst), std::exit(70);
  return time;
}

double nanoseconds_an_fma(double seconds) {
  constexpr int sums = 12, length = 4096;  // 12 hide the latency of two FMA a cycle
  const Vec factor = broadcast(0.999999), summand = broadcast(1e-6);
  const auto run = [&] {
    Vec sum[sums];
#pragma GCC unroll 12
    for (int j = 0; j < sums; ++j) sum[j] = broadcast(1.0 + j);
    for (int n = 0; n < length; ++n) {
#pragma GCC unroll 12
      for (int j = 0; j < sums; ++j) sum[j] = sum[j] * factor + summand;
    }
    Vec total{};
#pragma GCC unroll 12
    for (int j = 0; j < sums; ++j) total += sum[j];
    *reinterpret_cast<Vec*>(results) = total;
    asm volatile("" ::: "memory");
  };
  return bench::repeat(seconds, run, 1e9 / (double(sums) * length * lanes)).least;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  for (int i = 0; i < size; ++i) arguments[i] = -1.0 + 5.0 * i / size;
  const double fma = nanoseconds_an_fma(seconds);
  const double polynomial = nanoseconds_an_exp(seconds, [](const Block&x) { return exp_by_polynomial(x); }),
               table = nanoseconds_an_exp(seconds, [](const Block&x) { return exp_by_table(x); });
  std::printf(
      "{\"fma_ns\": %.5g, \"exp_ns\": %.5g, \"exp_by_polynomial_ns\": %.5g, \"exp_by_table_ns\": %.5g, \"vector_bits\": %d}\n", fma,
      std::min(polynomial, table), polynomial, table, 8 * width);
}
