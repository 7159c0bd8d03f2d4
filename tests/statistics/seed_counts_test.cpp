// Counts over seeds: by hand, and their sums over parts.
#include "statistics/seed_counts.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "model/errors.hpp"
#include "seed_records.hpp"

using namespace phaselock;
using test::ended;
using test::selected;

namespace {

const SingleBlock model{4, 4, 3, 100, 1.0, 1.0};

/// Three seeds that select, one of each shape, and two that do not.
const std::vector<SeedRecord> seeds = {selected({0, 2, 0}, 1000.0, true, true), selected({2, 1, 0}, 1020.0, false, false),
                                       selected({1, 1, 1}, 0.0, true), ended(FlowOutcome::interior, 3, 2000.0),
                                       ended(FlowOutcome::not_finite, 3)};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("each seed counts once in every quantity that it has") {
    const SeedCounts counts = count_seeds(model, seeds);
    CHECK(counts.outcomes == std::array<std::int64_t, 5>{3, 1, 0, 0, 1});
    CHECK(counts.of(FlowOutcome::interior) == 1);
    CHECK(counts.of(FlowOutcome::undecided) == 0);
    CHECK(counts.seeds() == 5);
    CHECK(counts.selected() == 3);
    CHECK(counts.collided() == 2);
    CHECK(counts.shapes == std::map<Shape, std::int64_t>{{{2, 1}, 1}, {{1, 1, 1}, 1}, {{3}, 1}});
    CHECK(counts.heads.at == std::vector<std::int64_t>{3, 4, 2});
    // Heads at offsets 0, 1, 2: (2, 0, 1), (1, 1, 1), (0, 3, 0); products at (0,0) (0,1) (0,2) (1,1) (1,2) (2,2).
    CHECK(counts.heads.products == std::vector<std::int64_t>{5, 1, 3, 10, 1, 2});
    CHECK(counts.escapes == EscapeHistogram{{escaped_at_start, 1}, {300, 2}, {330, 1}});
    CHECK(counts.certified == 2);
    CHECK(counts.agreeing == 1);
    CHECK(counts.disagreeing == 1);
  }

  TEST_CASE("counts of any parts add up to those of the whole") {
    const SeedCounts whole = count_seeds(model, seeds);
    for (std::size_t cut = 0; cut <= seeds.size(); ++cut) {
      const std::span all(seeds);
      SeedCounts sum = count_seeds(model, all.first(cut));
      const SeedCounts rest = count_seeds(model, all.subspan(cut));
      CHECK((sum == whole) == (cut == seeds.size()));
      sum += rest;
      CHECK(sum == whole);
    }
    SeedCounts counts(model);
    CHECK(counts.seeds() == 0);
    CHECK_THROWS_AS(counts += SeedCounts(Model{4, 4, 2, 100, 1.0, 1.0}), DomainError);
    CHECK_THROWS_AS(counts += SeedCounts(Model{4, 5, 3, 100, 1.0, 1.0}), DomainError);
  }

  TEST_CASE("a seed that selects without an offset for each head is refused and leaves no trace") {
    SeedCounts counts(model);
    for (const std::vector<int>& offsets : {std::vector<int>{0, 1}, {0, 1, 3}, {0, 1, -1}})
      CHECK_THROWS_AS(counts.add(selected(offsets, 1000.0, true, true)), DomainError);
    CHECK(counts == SeedCounts(model));
  }

  TEST_CASE("with fewer offsets than heads all seeds collide") {
    const SingleBlock crowded{4, 3, 3, 100, 1.0, 1.0};
    CHECK(count_seeds(crowded, std::vector{selected({0, 1, 1}), selected({1, 1, 1})}).collided() == 2);
  }
}
