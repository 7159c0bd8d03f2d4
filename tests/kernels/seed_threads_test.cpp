// Static flows of many seeds on all threads: the ends of static_seeds, in order.
#include "kernels/seed_threads.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <vector>

#include "kernels/ensemble.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"

using namespace phaselock;

namespace {

const SingleBlock meeting{4, 4, 3, 1000, 1.0, 8.0};  // three seeds in ten end interior

SeedOptions options(double rho = 1e-2) {
  SeedOptions result;
  result.rho = rho;
  result.flow.integration.rtol = 1e-8;
  result.flow.integration.atol = 1e-10;
  return result;
}

bool same(const SeedRecord& a, const SeedEnd& b) {
  return a.end.outcome == b.outcome && a.end.t == b.t &&
         (a.end.escape == b.escape || (std::isnan(a.end.escape) && std::isnan(b.escape))) && a.end.residual == b.residual &&
         a.end.selection == b.selection && !a.certified && !a.agrees;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the ends are those of the seeds on one thread, in order; progress counts each of them once") {
    std::vector<std::int64_t> told;
    const std::vector<SeedRecord> records =
        static_seeds_in_threads(meeting, 1.0, options(), 11, 300, [&](std::int64_t done) { told.push_back(done); });
    SeedOptions in_lanes = options();
    in_lanes.ensemble = static_ensemble;
    const std::vector<SeedEnd> ends = static_seeds(meeting, 1.0, in_lanes, 11, 300);
    REQUIRE(records.size() == 300);
    REQUIRE(told.size() == 300);
    int interior = 0;
    for (std::size_t k = 0; k < 300; ++k) {
      CHECK(same(records[k], ends[k]));
      CHECK(told[k] == std::int64_t(k) + 1);
      interior += ends[k].outcome == FlowOutcome::interior;
    }
    CHECK(interior > 30);
  }

  TEST_CASE("bad options are refused, an interrupt is obeyed") {
    CHECK_THROWS_AS(static_seeds_in_threads(meeting, 1.0, options(), 1, 0), DomainError);
    CHECK_THROWS_AS(static_seeds_in_threads(meeting, 1.0, options(0.0), 1, 2), DomainError);
    interrupt_flag() = true;
    CHECK_THROWS_AS(static_seeds_in_threads(meeting, 1.0, options(), 1, 2), Interrupted);
    interrupt_flag() = false;
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("the ends do not depend on the number of threads") {
    const auto run = [&](int threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::size_t(threads));
      return static_seeds_in_threads(meeting, 1.0, options(), 1, 300);
    };
    const std::vector<SeedRecord> one = run(1);
    for (const int threads : {2, 8}) {
      const std::vector<SeedRecord> several = run(threads);
      REQUIRE(several.size() == one.size());
      for (std::size_t k = 0; k < one.size(); ++k) CHECK(same(several[k], one[k].end));
    }
  }
}
