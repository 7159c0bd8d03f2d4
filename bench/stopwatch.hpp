// Repeated timing of one call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

struct Times {
  double least, median;  ///< seconds times `scale`
  std::size_t repetitions;
};

/// Calls `work` until `seconds` have passed. The first call warms up and is not counted, unless it alone takes that long.
template <class Work>
Times repeat(double seconds, Work work, double scale = 1.0) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto since = [](Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::vector<double> times;
  double warm_up = 0.0;
  do {
    const auto begin = Clock::now();
    work();
    (warm_up == 0.0 ? warm_up : times.emplace_back()) = since(begin);
  } while (since(start) < seconds);
  if (times.empty()) times.push_back(warm_up);
  std::sort(times.begin(), times.end());
  return {scale * times.front(), scale * times[times.size() / 2], times.size()};
}

}  // namespace bench
