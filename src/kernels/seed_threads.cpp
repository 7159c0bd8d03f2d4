#include "kernels/seed_threads.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <mutex>
#include <utility>

#include "kernels/ensemble.hpp"
#include "model/errors.hpp"

namespace phaselock {

std::vector<SeedRecord> static_seeds_in_threads(const SingleBlock& model, double kappa, SeedOptions options, std::uint64_t first,
                                                std::int64_t count, const std::function<void(std::int64_t)>& progress) {
  if (count < 1) throw DomainError(fmt::format("{} seeds: at least 1 is needed", count));
  options.ensemble = static_ensemble;
  std::vector<SeedRecord> records(std::size_t(count), SeedRecord{});
  std::mutex reporting;
  std::int64_t done = 0;
  constexpr std::int64_t at_once = 128;  // many more than SIMD lanes, so that few lanes are idle towards the end
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, count, at_once),
      [&](const tbb::blocked_range<std::int64_t>& part) {
        std::vector<SeedEnd> ends =
            static_seeds(model, kappa, options, first + std::uint64_t(part.begin()), std::int64_t(part.size()));
        // Each seed has a record of its own: the number of threads cannot matter.
        for (std::size_t k = 0; k < ends.size(); ++k) records[std::size_t(part.begin()) + k].end = std::move(ends[k]);
        const std::lock_guard<std::mutex> lock(reporting);
        for (std::size_t k = 0; k < ends.size(); ++k) {
          ++done;
          if (progress) progress(done);
        }
      },
      tbb::simple_partitioner());
  return records;
}

}  // namespace phaselock
