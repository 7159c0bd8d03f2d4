// Checks of the claims on models of their own: what they find, controls, and Theorem 1 on random models.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "claims/checks.hpp"
#include "model/random.hpp"
#include "proofs/bounds.hpp"
#include "search/search.hpp"

using namespace phaselock;

namespace {

SingleBlock random_small_model(Stream& stream) {
  SingleBlock model;
  model.blocks = 4 + int(stream.below(2));
  model.positions = 3 + int(stream.below(2));
  model.heads = 1 + int(stream.below(model.positions - 1));
  model.gamma = 0.5 + 0.5 * stream.uniform();
  model.beta = 0.5 + 11.0 * stream.uniform();
  model.vocabulary = model.slots() + int(std::exp(9.0 * stream.uniform()));
  return model;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("Theorem 1 at the three models around the threshold, and above N0") {
    CHECK(check_theorem1({4, 3, 1, 50, 1.0, 10.0}).outcome() == "REFUTED");
    const ClaimResult below = check_theorem1({4, 3, 1, 190, 1.0, 10.0});
    CHECK(below.outcome() == "REFUTED");
    CHECK(below.evidence["better_optimum"]["below_loss_star_by"].get<double>() > 1e-7);
    CHECK(below.evidence["better_optimum"]["smallest_largest_weight"].get<double>() < 0.9999);
    CHECK(below.evidence["decided_by"] == "N_star_distinct");
    const auto decided_by = [](int N) {
      const ClaimResult result = check_theorem1({4, 3, 1, N, 1.0, 10.0});
      CHECK(result.outcome() == "PROVED");
      return result.evidence["decided_by"].get<std::string>();
    };
    CHECK(decided_by(192) == "branch_and_bound");
    CHECK(decided_by(512) == "branch_and_bound");
    CHECK(decided_by(513) == "N2");
    CHECK(decided_by(606) == "N2");
    CHECK(decided_by(607) == "N0");
  }

  TEST_CASE("assumptions not met are no pass") {
    for (const SingleBlock model :
         {SingleBlock{4, 3, 3, 64, 1.0, 1.0}, SingleBlock{3, 3, 1, 64, 1.0, 1.0}, SingleBlock{4, 2, 1, 64, 1.0, 1.0}}) {
      CHECK(check_theorem1(model).outcome() == "ASSUMPTION");
      CHECK(check_distinctness(model).outcome() == "ASSUMPTION");
      CHECK(check_sample_independence(model, 1.0, 1e-2, 1).outcome() == "ASSUMPTION");
      CHECK(check_late_time(model, 1.0, 1).outcome() == "ASSUMPTION");
    }
  }

  TEST_CASE("distinctness enumerates all patterns of a small model") {
    const ClaimResult result = check_distinctness({4, 3, 2, 12, 1.0, 4.0});
    CHECK(result.outcome() == "PROVED");
    CHECK(result.evidence["patterns"] == 256);
    CHECK(result.evidence["distinct"] == 16);                                     // [n!/(n-H)!]^L = 2^4
    CHECK(check_distinctness({4, 6, 3, 64, 1.0, 1.0}).outcome() == "SUPPORTED");  // too many to enumerate
  }

  TEST_CASE("toy claims hold and their rates are measured, not copied") {
    const ClaimResult rates = check_toy_rates({4, 2, 2, 8, 1.0, 4.0});
    CHECK(rates.outcome() == "SUPPORTED");
    CHECK(rates.evidence["difference_measured"] != rates.evidence["difference_predicted"]);
    CHECK(check_toy_endpoints({4, 2, 2, 8, 1.0, 4.0}, 100).outcome() == "SUPPORTED");
  }

  TEST_CASE("controls: uniform and tied gates do not select") {
    const SingleBlock model{4, 3, 1, 16, 1.0, 1.0};
    CHECK(check_theorem2_control(model, 1.0, GateClass::uniform, 3).outcome() == "REFUTED");
    CHECK(check_theorem2_control(model, 1.0, GateClass::tied, 3).outcome() == "REFUTED");
  }

  TEST_CASE("where no flow selects, agreement is not claimed; interior flows are no success") {
    const auto results =
        check_theorem2({{{4, 4, 1, 32, 1.0, 8.0}, 1e-2, 12, GateClass::static_}}, 1.0, [](std::string_view, int, int) {});
    CHECK(results[0].evidence["interior"] == 12);
    CHECK(results[0].outcome() == "REFUTED");
    CHECK(results[1].outcome() == "UNDECIDED");
  }

  TEST_CASE("the toy example's claims assume L >= 4, and slowness refutes nothing") {
    CHECK(check_toy_endpoints({2, 2, 2, 8, 1.0, 4.0}, 20).outcome() == "ASSUMPTION");
    CHECK(check_toy_endpoints({4, 2, 2, 8, 1e-6, 4.0}, 20).outcome() == "UNDECIDED");
  }

  TEST_CASE("distinctness at a vocabulary where doubles cannot tell patterns apart is undecided") {
    CHECK(check_distinctness({4, 3, 2, 2000000000, 1.0, 0.01}).outcome() == "UNDECIDED");
  }

  TEST_CASE("repulsion: an interval that holds the occupancy law's share decides nothing") {
    const ClaimResult result = check_coverage_repulsion({4, 4, 3, 1000000, 1.0, 1.0}, 1.0, 40);
    const double independent = result.evidence["occupancy_collision_probability"];
    CHECK(independent == doctest::Approx(7.0 / 9).epsilon(1e-14));
    REQUIRE(result.evidence["interval"][0].get<double>() < independent);
    REQUIRE(result.evidence["interval"][1].get<double>() > independent);
    CHECK(result.outcome() == "UNDECIDED");
  }

  TEST_CASE("repulsion: supported where few heads meet, refuted where they meet more often than by chance") {
    CHECK(check_coverage_repulsion({4, 4, 3, 100, 1.0, 8.0}, 1.0, 20).outcome() == "SUPPORTED");
  }
}

TEST_SUITE("slow") {
  TEST_CASE("Theorem 1 on 60 random models: a verdict for each, consistent with the bounds") {
    Stream stream(21, Purpose::choice);
    int proved = 0, refuted = 0, bounded = 0;
    for (int k = 0; k < 60; ++k) {
      const SingleBlock model = random_small_model(stream);
      const ClaimResult result = check_theorem1(model);
      CAPTURE(fmt::format("L{} S{} H{} N{} gamma {} beta {}", model.blocks, model.positions, model.heads, model.vocabulary,
                          model.gamma, model.beta));
      REQUIRE(result.assumptions_hold());
      const double N = model.vocabulary;
      if (N > sufficient_n0(model) || N >= sufficient_n1(model)) CHECK(result.verdict == Verdict::proved);
      CHECK((result.verdict == Verdict::refuted) == (N < necessary_n_star(model)));
      CHECK(result.verdict != Verdict::undecided);
      proved += result.verdict == Verdict::proved;
      refuted += result.verdict == Verdict::refuted;
      bounded += result.evidence["decided_by"] == "branch_and_bound";
    }
    CHECK(proved + refuted >= 55);
    CHECK(refuted > 5);
    CHECK(bounded > 5);
  }

  TEST_CASE("where Theorem 1 is PROVED the search finds nothing below loss*") {
    Stream stream(22, Purpose::choice);
    int tried = 0;
    while (tried < 15) {
      const SingleBlock model = random_small_model(stream);
      if (model.vocabulary <= sufficient_n0(model) && model.vocabulary < sufficient_n1(model)) continue;
      std::vector<Token> context(model.slots());
      for (int j = 0; j < model.slots(); ++j) context[j] = j;
      const SearchResult found = search_oracle(model, Geometry::exact(1.0, model.vocabulary), context, {.starts = 16, .seed = 3});
      CHECK(found.better() > distinct_loss(model) - 1e-10);
      CHECK(found.is_selection);
      CHECK(found.distinct);
      ++tried;
    }
  }

  TEST_CASE("Theorem 2 and the agreement with the static part on a small plan") {
    const auto results = check_theorem2({{{4, 4, 3, 32, 1.0, 1.0}, 1e-2, 80}}, 1.0, [](std::string_view, int, int) {});
    REQUIRE(results.size() == 2);
    CHECK(results[0].outcome() == "SUPPORTED");
    CHECK(results[1].evidence["successes"].get<int>() >= 76);
  }

  TEST_CASE("late-time law and coverage claims") {
    CHECK(check_late_time({4, 4, 3, 1000, 1.0, 1.0}, 1.0, 5).outcome() == "SUPPORTED");
    CHECK(check_coverage_symmetry({4, 4, 3, 100, 1.0, 1.0}, 1.0, 300).outcome() == "SUPPORTED");
    CHECK(check_coverage_occupancy({4, 4, 3, 1000000, 1.0, 1.0}, 1.0, 300).outcome() == "SUPPORTED");
    CHECK(check_coverage_occupancy({4, 4, 3, 100, 1.0, 8.0}, 1.0, 300).outcome() == "REFUTED");  // heads repel there
    CHECK(check_coverage_repulsion({4, 4, 3, 100, 1.0, 8.0}, 1.0, 100).outcome() == "SUPPORTED");
  }
}
