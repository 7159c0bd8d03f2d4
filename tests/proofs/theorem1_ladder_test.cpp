// The ladder of decisions for Theorem 1 (theory.md section 4): which ground decides, and what the search may say.
#include "proofs/theorem1_ladder.hpp"

#include <doctest/doctest.h>

#include "model/errors.hpp"

using namespace phaselock;

TEST_SUITE("fast") {
  TEST_CASE("the first ground that decides, at the vocabularies next to the bounds of the theory note") {
    using enum Theorem1Ground;
    const struct {
      SingleBlock model;
      Theorem1Ground ground;
    } cases[] = {
        {{4, 3, 1, 50, 1.0, 10.0}, below_n_star}, {{4, 3, 1, 191, 1.0, 10.0}, below_n_star}, {{4, 3, 1, 192, 1.0, 10.0}, boxes},
        {{4, 3, 1, 512, 1.0, 10.0}, boxes},       {{4, 3, 1, 513, 1.0, 10.0}, above_n2},     {{4, 3, 1, 606, 1.0, 10.0}, above_n2},
        {{4, 3, 1, 607, 1.0, 10.0}, above_n0},    {{4, 4, 3, 7000, 1.0, 8.0}, above_n1},
    };
    for (const auto& c : cases) {
      CAPTURE(c.model.vocabulary);
      const Theorem1Decision decision = decide_theorem1(c.model, {.boxes = 20000, .starts = 1});
      CHECK(decision.ground == c.ground);
      CHECK(decision.refuted() == (c.ground == below_n_star));
      CHECK(decision.proved() == (c.ground != below_n_star));
      CHECK(decision.bounded.has_value() == (c.ground == boxes));
      CHECK_FALSE(decision.optimum.has_value());
    }
  }

  TEST_CASE("a budget of one box leaves the question to the search, which proves nothing") {
    const Theorem1Decision decision = decide_theorem1({4, 3, 1, 192, 1.0, 10.0}, {.boxes = 1, .starts = 8});
    CHECK(decision.ground == Theorem1Ground::selection);
    CHECK_FALSE(decision.proved());
    CHECK_FALSE(decision.refuted());
    REQUIRE(decision.bounded.has_value());
    CHECK_FALSE(decision.bounded->selects);
    REQUIRE(decision.optimum.has_value());
    CHECK(decision.optimum->found.starts == 8);
    CHECK(decision.optimum->loss.high >= enclose_distinct_loss({4, 3, 1, 192, 1.0, 10.0}).low);
  }

  TEST_CASE("below N* the search finds what the margin promises, above it nothing lower") {
    for (const int N : {50, 190, 192}) {
      const SingleBlock model{4, 3, 1, N, 1.0, 10.0};
      const Theorem1Optimum optimum = search_optimum(model, 4);
      const bool selection = optimum.found.is_selection && optimum.found.distinct;
      CHECK(judge_optimum(optimum.loss, enclose_distinct_loss(model), selection) ==
            (N < 192 ? Theorem1Ground::lower_optimum : Theorem1Ground::selection));
    }
  }

  TEST_CASE("a lower optimum is one whose enclosure is wholly below that of loss*") {
    using enum Theorem1Ground;
    const Enclosure star{1.0, 1.1};
    for (const bool selects : {false, true}) {
      const Theorem1Ground otherwise = selects ? selection : none;
      CHECK(judge_optimum({0.8, 0.9}, star, selects) == lower_optimum);
      CHECK(judge_optimum({0.8, 1.0}, star, selects) == otherwise);
      CHECK(judge_optimum({0.8, 1.05}, star, selects) == otherwise);
      CHECK(judge_optimum({1.2, 1.3}, star, selects) == otherwise);
    }
  }

  TEST_CASE("proved and refuted exclude each other; what the search says is neither, but for a lower optimum") {
    using enum Theorem1Ground;
    for (const auto ground : {above_n0, above_n1, above_n2, boxes}) CHECK((Theorem1Decision{ground, {}, {}}.proved()));
    for (const auto ground : {above_n0, above_n1, above_n2, boxes}) CHECK_FALSE((Theorem1Decision{ground, {}, {}}.refuted()));
    for (const auto ground : {below_n_star, lower_optimum}) CHECK((Theorem1Decision{ground, {}, {}}.refuted()));
    for (const auto ground : {below_n_star, lower_optimum}) CHECK_FALSE((Theorem1Decision{ground, {}, {}}.proved()));
    for (const auto ground : {selection, none}) {
      CHECK_FALSE((Theorem1Decision{ground, {}, {}}.proved()));
      CHECK_FALSE((Theorem1Decision{ground, {}, {}}.refuted()));
    }
  }
}
