// Counts as rows of a store: their keys by hand, and back.
#include "sweep/count_rows.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "seed_records.hpp"

using namespace phaselock;
using test::ended;
using test::selected;

namespace {

const SingleBlock model{4, 4, 3, 100, 1.0, 1.0};

SeedCounts some_counts() {
  return count_seeds(model, std::vector{selected({0, 2, 0}, 1000.0, true, true), selected({2, 1, 0}, 0.5, true, false),
                                        ended(FlowOutcome::step_limit, 3, 0.0), ended(FlowOutcome::interior, 3)});
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a row for each number but 0, in the order of the table's key") {
    const std::vector<CountRow> expected = {
        {"agrees", "no", 1},          {"agrees", "yes", 1}, {"certified", "yes", 2},    {"escape", "-2147483648", 1},
        {"escape", "-31", 1},         {"escape", "300", 1}, {"outcome", "interior", 1}, {"outcome", "selected", 2},
        {"outcome", "step_limit", 1}, {"pair", "0,0", 5},   {"pair", "0,1", 1},         {"pair", "0,2", 3},
        {"pair", "1,1", 1},           {"pair", "1,2", 1},   {"pair", "2,2", 2},         {"position", "0", 3},
        {"position", "1", 1},         {"position", "2", 2}, {"shape", "1+1+1", 1},      {"shape", "2+1", 1}};
    CHECK(count_rows(some_counts()) == expected);
    CHECK(count_rows(SeedCounts(model)).empty());
  }

  TEST_CASE("rows give back their counts, in any order") {
    std::vector<CountRow> rows = count_rows(some_counts());
    CHECK(read_counts(model, rows) == some_counts());
    CHECK(read_counts(model, std::vector<CountRow>(rows.rbegin(), rows.rend())) == some_counts());
    CHECK(read_counts(model, {}) == SeedCounts(model));
  }

  TEST_CASE("rows of other keys count nothing, a bin that is no number is refused") {
    std::vector<CountRow> rows = count_rows(some_counts());
    for (const CountRow& stray : std::vector<CountRow>{{"outcome", "foo", 1},
                                                       {"position", "3", 1},
                                                       {"pair", "1,0", 1},
                                                       {"shape", "9+9", 1},
                                                       {"foo", "1", 1},
                                                       {"certified", "no", 1}})
      rows.push_back(stray);
    CHECK(read_counts(model, rows) == some_counts());
    rows.push_back({"escape", "zz300", 1});
    CHECK_THROWS_AS(read_counts(model, rows), std::logic_error);
  }
}
