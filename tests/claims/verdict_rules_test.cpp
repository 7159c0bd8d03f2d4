// The rules from counts and numbers to verdicts, and from results to exit codes, each from a table across its boundaries.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "claims/checks.hpp"
#include "claims/claim_result.hpp"
#include "claims/flow_tally.hpp"
#include "claims/judge_share.hpp"

using namespace phaselock;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

ClaimResult result_of(Verdict verdict, bool assumptions_hold = true, std::optional<std::string> expected = {}) {
  return {.id = "any",
          .model = {},
          .assumptions = {{"holds", true}, {"may hold", assumptions_hold}},
          .evidence = {},
          .verdict = verdict,
          .expected = std::move(expected)};
}

const Verdict every_verdict[] = {Verdict::proved, Verdict::supported, Verdict::refuted, Verdict::undecided};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the exit code of one result, for every verdict, with assumptions that hold and not, of claims and controls") {
    const int by_verdict[] = {0, 0, 1, 2};
    for (int v = 0; v < 4; ++v) {
      const Verdict verdict = every_verdict[v];
      CAPTURE(name(verdict));
      CHECK(exit_code(result_of(verdict)) == by_verdict[v]);
      CHECK(exit_code(result_of(verdict, false)) == 2);
      CHECK(result_of(verdict).outcome() == name(verdict));
      CHECK(result_of(verdict, false).outcome() == "ASSUMPTION");
      for (const Verdict expected : every_verdict) {
        CHECK(exit_code(result_of(verdict, true, std::string(name(expected)))) == (verdict == expected ? 0 : 1));
        CHECK(exit_code(result_of(verdict, false, std::string(name(expected)))) == 1);
      }
      CHECK(exit_code(result_of(verdict, false, "ASSUMPTION")) == 0);
      CHECK(exit_code(result_of(verdict, true, "ASSUMPTION")) == 1);
    }
  }

  TEST_CASE("the exit code and the verdict of many results") {
    using enum Verdict;
    const ClaimResult proof = result_of(proved), support = result_of(supported), refutation = result_of(refuted),
                      open = result_of(undecided), out_of_scope = result_of(proved, false),
                      good_control = result_of(refuted, true, "REFUTED"), bad_control = result_of(supported, true, "REFUTED");
    const struct {
      std::vector<ClaimResult> results;
      int code;
      Verdict overall;
    } cases[] = {
        {{}, 0, proved},
        {{proof}, 0, proved},
        {{proof, proof}, 0, proved},
        {{proof, support}, 0, supported},
        {{proof, good_control}, 0, proved},  // a control says nothing about the claims
        {{support, good_control}, 0, supported},
        {{proof, open}, 2, undecided},
        {{proof, out_of_scope}, 2, undecided},
        {{refutation, open}, 1, refuted},  // REFUTED is worse than UNDECIDED, wherever it stands
        {{open, refutation}, 1, refuted},
        {{out_of_scope, proof, refutation}, 1, refuted},
        {{proof, bad_control}, 1, refuted},
        {{open, bad_control}, 1, refuted},
    };
    for (const auto& c : cases) {
      CAPTURE(&c - cases);
      CHECK(worst_exit_code(c.results) == c.code);
      CHECK(overall_verdict(c.results) == c.overall);
    }
  }

  TEST_CASE("the size assumptions are L >= 4, S >= 3, H < S, each for itself") {
    const struct {
      SingleBlock model;
      bool blocks, positions, heads;
    } cases[] = {
        {{4, 3, 2, 64, 1.0, 1.0}, true, true, true},  {{3, 3, 2, 64, 1.0, 1.0}, false, true, true},
        {{4, 2, 1, 64, 1.0, 1.0}, true, false, true}, {{4, 3, 3, 64, 1.0, 1.0}, true, true, false},
        {{4, 3, 4, 64, 1.0, 1.0}, true, true, false}, {{3, 2, 2, 64, 1.0, 1.0}, false, false, false},
        {{5, 6, 5, 64, 1.0, 1.0}, true, true, true},
    };
    for (const auto& c : cases) {
      const ClaimResult begun = begin_result("theorem1", c.model);
      REQUIRE(begun.assumptions.size() == 3);
      CHECK(begun.assumptions[0].holds == c.blocks);
      CHECK(begun.assumptions[1].holds == c.positions);
      CHECK(begun.assumptions[2].holds == c.heads);
      CHECK(begun.evidence.contains("summary") == !(c.blocks && c.positions && c.heads));
      CHECK(begun.verdict == Verdict::undecided);
    }
  }

  TEST_CASE("shares: the least counts that support, and the largest that refute") {
    // Of n flows all select: the lower bound is (1/40)^(1/n), at least 0.95 from n = 72 on. None does: 1 - (1/40)^(1/n) is below
    // 0.95 from n = 2 on. The others: tails of the binomial law, summed in fractions.
    const struct {
      std::int64_t successes, trials;
      Verdict verdict;
    } cases[] = {
        {0, 0, Verdict::undecided},      {71, 71, Verdict::undecided},    {72, 72, Verdict::supported},
        {0, 1, Verdict::undecided},      {0, 2, Verdict::refuted},        {99, 100, Verdict::undecided},
        {100, 100, Verdict::supported},  {95, 100, Verdict::undecided},   {90, 100, Verdict::undecided},
        {89, 100, Verdict::refuted},     {963, 1000, Verdict::undecided}, {964, 1000, Verdict::supported},
        {936, 1000, Verdict::undecided}, {935, 1000, Verdict::refuted},
    };
    for (const auto& c : cases) {
      CAPTURE(c.successes);
      CAPTURE(c.trials);
      CHECK(judge_share(c.successes, c.trials) == c.verdict);
    }
    nlohmann::ordered_json evidence;
    tell_share(100, 100, evidence);
    CHECK(evidence["successes"] == 100);
    CHECK(evidence["trials"] == 100);
    CHECK(evidence["interval"][0].get<double>() == doctest::Approx(std::pow(0.025, 0.01)).epsilon(1e-9));
    CHECK(evidence["interval"][1].get<double>() == 1.0);
  }

  TEST_CASE("flows that ran out of time refute nothing that they might have supported") {
    const struct {
      std::int64_t selecting, running, flows;
      Verdict verdict;
    } cases[] = {
        {100, 0, 100, Verdict::supported}, {95, 5, 100, Verdict::undecided}, {89, 0, 100, Verdict::refuted},
        {89, 1, 100, Verdict::undecided},  {80, 9, 100, Verdict::refuted},   {80, 10, 100, Verdict::undecided},
        {0, 100, 100, Verdict::undecided},  // even if all that ran would be enough to support
        {0, 0, 100, Verdict::refuted},
    };
    for (const auto& c : cases) {
      CAPTURE(c.selecting);
      CAPTURE(c.running);
      CHECK(judge_flows(c.selecting, c.running, c.flows) == c.verdict);
    }
  }

  TEST_CASE("the late-time law: every ratio within 1%, from both sides") {
    CHECK(judge_late_time({}) == Verdict::undecided);
    CHECK(judge_late_time({1.0}) == Verdict::supported);
    CHECK(judge_late_time({0.9901, 1.0, 1.0099}) == Verdict::supported);
    CHECK(judge_late_time({0.9899, 1.0}) == Verdict::refuted);
    CHECK(judge_late_time({1.0, 1.0101}) == Verdict::refuted);
    CHECK(judge_late_time({0.5, 1.5}) == Verdict::refuted);
    CHECK(judge_late_time({1.0, not_a_number}) == Verdict::refuted);
  }

  TEST_CASE("distinctness: what deviates refutes, what doubles cannot tell is undecided, only a complete enumeration proves") {
    const PatternCounts good{.enumerated = true, .distinct = 16, .predicted = 16.0, .deviating = 0, .unresolved = 0};
    CHECK(judge_patterns(good) == Verdict::proved);
    const auto changed = [&](auto change) {
      PatternCounts counts = good;
      change(counts);
      return judge_patterns(counts);
    };
    CHECK(changed([](PatternCounts& c) { c.enumerated = false; }) == Verdict::supported);
    CHECK(changed([](PatternCounts& c) { c.distinct = 15; }) == Verdict::supported);
    CHECK(changed([](PatternCounts& c) { c.distinct = 17; }) == Verdict::supported);
    CHECK(changed([](PatternCounts& c) { c.unresolved = 1; }) == Verdict::undecided);
    CHECK(changed([](PatternCounts& c) { c.deviating = 1; }) == Verdict::refuted);
    CHECK(changed([](PatternCounts& c) { c.deviating = c.unresolved = 1; }) == Verdict::refuted);
  }

  TEST_CASE("Theorem 1 at epsilon > 0: all of at least twenty contexts select, and nothing beats a selection") {
    CHECK(judge_contexts(20, 20, 0) == Verdict::supported);
    CHECK(judge_contexts(19, 19, 0) == Verdict::undecided);
    CHECK(judge_contexts(20, 19, 0) == Verdict::undecided);
    CHECK(judge_contexts(20, 20, 1) == Verdict::refuted);
    CHECK(judge_contexts(5, 0, 1) == Verdict::refuted);
  }

  TEST_CASE("toy rates: both within 1e-4, from both sides, and the difference grows faster") {
    const GrowthRates predicted{2.0, 1.0};
    CHECK(judge_toy_rates({2.0, 1.0}, predicted) == Verdict::supported);
    for (const double sign : {-1.0, 1.0}) {
      CHECK(judge_toy_rates({2.0 * (1 + sign * 0.9e-4), 1.0}, predicted) == Verdict::supported);
      CHECK(judge_toy_rates({2.0 * (1 + sign * 1.1e-4), 1.0}, predicted) == Verdict::refuted);
      CHECK(judge_toy_rates({2.0, 1.0 + sign * 0.9e-4}, predicted) == Verdict::supported);
      CHECK(judge_toy_rates({2.0, 1.0 + sign * 1.1e-4}, predicted) == Verdict::refuted);
    }
    CHECK(judge_toy_rates({1.0, 2.0}, {1.0, 2.0}) == Verdict::refuted);
    CHECK(judge_toy_rates({1.0, 1.0}, {1.0, 1.0}) == Verdict::refuted);
    CHECK(judge_toy_rates({not_a_number, 1.0}, predicted) == Verdict::refuted);
  }

  TEST_CASE("toy endpoints: the losses refute, the share supports, too few sharp starts do neither") {
    CHECK(judge_toy_endpoints(72, 72, 1.0, 2.0) == Verdict::supported);
    CHECK(judge_toy_endpoints(71, 71, 1.0, 2.0) == Verdict::undecided);
    CHECK(judge_toy_endpoints(0, 100, 1.0, 2.0) == Verdict::undecided);
    CHECK(judge_toy_endpoints(72, 72, 2.0, 2.0) == Verdict::refuted);
    CHECK(judge_toy_endpoints(72, 72, 2.0, 1.0) == Verdict::refuted);
  }

  TEST_CASE("laws of counts stand until a test rejects them at its level; without seeds nothing is said") {
    CHECK(judge_fit(0, 1.0, 0.01) == Verdict::undecided);
    CHECK(judge_fit(1, 0.01, 0.01) == Verdict::supported);
    CHECK(judge_fit(1, 0.0099, 0.01) == Verdict::refuted);
    CHECK(judge_fit(100, 0.005, 0.001) == Verdict::supported);
    CHECK(judge_fit(100, 0.0, 0.001) == Verdict::refuted);
  }

  TEST_CASE("a tally counts flows by how they end and keeps both extremes") {
    FlowRecord proved, stopped, mixed;
    proved.selects = proved.agrees = proved.collides = true;
    proved.certificate = nlohmann::json::object();
    proved.outcome = FlowOutcome::selected;
    proved.static_offsets = 1.01, proved.avg_offsets = 1.02, proved.residual_all = 0.003, proved.rate_ratio = 0.8;
    stopped.outcome = FlowOutcome::step_limit;
    stopped.energy = 1e-9, stopped.drift = 2e-9, stopped.collides = true;
    mixed.outcome = FlowOutcome::interior;
    mixed.static_offsets = 2.0, mixed.avg_offsets = 3.0, mixed.residual_all = 0.5;
    FlowRecord faster = proved, late = stopped;
    faster.agrees = faster.collides = false, faster.certificate.reset(), faster.rate_ratio = 1.2;
    late.outcome = FlowOutcome::undecided;
    FlowTally tally;
    for (const FlowRecord& record : {proved, stopped, mixed, faster, late}) tally.add(record);
    CHECK(tally.flows == 5);
    CHECK(tally.selecting == 2);
    CHECK(tally.agreeing == 1);
    CHECK(tally.colliding == 1);
    CHECK(tally.running == 2);
    CHECK(tally.proved == 1);
    CHECK(tally.interior == 1);
    CHECK(tally.undecided == 3);
    CHECK(tally.outcomes == std::map<std::string, int>{{"selected", 2}, {"step_limit", 1}, {"interior", 1}, {"undecided", 1}});
    CHECK(tally.static_offsets == 2.0);
    CHECK(tally.avg_offsets == 3.0);
    CHECK(tally.residual_all == 0.5);
    CHECK(tally.energy == 1e-9);
    CHECK(tally.drift == 2e-9);
    CHECK(tally.low_ratio == 0.8);
    CHECK(tally.high_ratio == 1.2);
  }

  TEST_CASE("a flow selects by its outcome, its residual, its selection and both effective offsets") {
    FlowResult good{};
    good.outcome = FlowOutcome::selected;
    good.residual_all = 0.0099;
    good.gates.selection = {0, 1};
    good.gates.static_offsets = good.gates.avg_offsets = {1.0, 1.049};
    CHECK(selects(good));
    const auto changed = [&](auto change) {
      FlowResult flow = good;
      change(flow);
      return selects(flow);
    };
    CHECK(changed([](FlowResult& f) { f.outcome = FlowOutcome::undecided; }));
    CHECK_FALSE(changed([](FlowResult& f) { f.outcome = FlowOutcome::not_finite; }));
    CHECK_FALSE(changed([](FlowResult& f) { f.residual_all = 0.01; }));
    CHECK_FALSE(changed([](FlowResult& f) { f.residual_all = not_a_number; }));
    CHECK_FALSE(changed([](FlowResult& f) { f.gates.selection[1] = -1; }));
    CHECK_FALSE(changed([](FlowResult& f) { f.gates.static_offsets[0] = 1.05; }));
    CHECK_FALSE(changed([](FlowResult& f) { f.gates.avg_offsets[1] = 1.05; }));
  }
}
