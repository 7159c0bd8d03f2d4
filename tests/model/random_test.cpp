// Counter-based streams: the generator's known answers, and the laws of the numbers at level 1e-3 with fixed seeds.
#include "model/random.hpp"

#include <doctest/doctest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "statistics/intervals.hpp"

using namespace phaselock;

TEST_SUITE("fast") {
  TEST_CASE("a stream is Philox4x32-10: the published answer for counter 0 and key 0") {
    Stream stream(0, Purpose(0), 0);
    CHECK(stream.bits32() == 0x6627e8d5u);
    CHECK(stream.bits32() == 0xe169c58du);
    CHECK(stream.bits32() == 0xbc57ac4cu);
    CHECK(stream.bits32() == 0x9b00dbd8u);
  }

  TEST_CASE("key and counter hold seed, index, purpose and block") {
    const r123::Philox4x32::ctr_type counter{{0x85a308d3u, 0x243f6a88u, std::uint32_t(Purpose::choice), 1}};
    const r123::Philox4x32::key_type key{{0x299f31d0u, 0xa4093822u}};
    const auto expected = r123::Philox4x32{}(counter, key);
    Stream stream(0xa4093822299f31d0u, Purpose::choice, 0x243f6a8885a308d3u);
    for (int k = 0; k < 4; ++k) stream.bits32();
    for (int k = 0; k < 4; ++k) CHECK(stream.bits32() == expected[k]);
  }

  TEST_CASE("streams of other seeds, purposes and indices differ, a copy goes on alike") {
    std::set<std::uint64_t> first;
    for (const std::uint64_t seed : {1ull, 2ull, 1ull << 32})
      for (const Purpose purpose : {Purpose::initial, Purpose::choice})
        for (const std::uint64_t index : {0ull, 1ull, 1ull << 32}) first.insert(Stream(seed, purpose, index).bits64());
    CHECK(first.size() == 18);
    Stream a(5, Purpose::initial);
    a.bits32();
    Stream b = a;
    for (int k = 0; k < 9; ++k) CHECK(a.bits32() == b.bits32());
  }

  TEST_CASE("uniform numbers are uniform in (0, 1)") {
    Stream stream(11, Purpose::choice);
    std::vector<std::int64_t> counts(100, 0), pairs(64, 0);
    for (int k = 0; k < 100000; ++k) {
      const double x = stream.uniform(), y = stream.uniform();
      CHECK_MESSAGE((x > 0.0 && x < 1.0), x);
      ++counts[std::size_t(100 * x)];
      ++pairs[8 * std::size_t(8 * x) + std::size_t(8 * y)];
    }
    CHECK(chi_square_test(counts, std::vector<double>(100, 0.01)).p_value > 1e-3);
    CHECK(chi_square_test(pairs, std::vector<double>(64, 1.0 / 64)).p_value > 1e-3);
  }

  TEST_CASE("normal numbers follow the normal law") {
    Stream stream(12, Purpose::choice);
    const boost::math::normal law;
    std::vector<std::int64_t> counts(50, 0);
    double squares = 0.0;
    constexpr int count = 100000;
    for (int k = 0; k < count; ++k) {
      const double x = stream.normal();
      ++counts[std::size_t(50 * boost::math::cdf(law, x))];
      squares += x * x;
    }
    CHECK(chi_square_test(counts, std::vector<double>(50, 0.02)).p_value > 1e-3);
    CHECK(std::abs(squares / count - 1.0) < 4.0 * std::sqrt(2.0 / count));
  }

  TEST_CASE("integers below a bound are uniform, also where the remainder alone would not be") {
    Stream stream(13, Purpose::choice);
    std::vector<std::int64_t> counts(7, 0), thirds(3, 0);
    for (int k = 0; k < 70000; ++k) ++counts[stream.below(7)];
    CHECK(chi_square_test(counts, std::vector<double>(7, 1.0 / 7)).p_value > 1e-3);
    // 2^32 = 3 * 2^30 + 2^30: the remainder alone would fall in the first third half of the time.
    for (int k = 0; k < 30000; ++k) ++thirds[stream.below(3u << 30) >> 30];
    CHECK(chi_square_test(thirds, std::vector<double>(3, 1.0 / 3)).p_value > 1e-3);
    for (int k = 0; k < 10; ++k) CHECK(stream.below(1) == 0);
  }
}
