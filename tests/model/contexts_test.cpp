// Samplers: every test of a law is chi-square at level 1e-3 with fixed seeds (theory.md sections 1 and 3).
#include "model/contexts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "model/errors.hpp"
#include "statistics/intervals.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

constexpr double level = 1e-3;

bool distinct_tokens(const Model& model, std::span<const Token> context) {
  std::vector<Token> tokens(context.begin(), context.end());
  std::sort(tokens.begin(), tokens.end());
  return std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end() && tokens.front() >= 0 &&
         tokens.back() < model.vocabulary;
}

/// Independent contexts of the balanced sampler: number `place` of each group of a long sample.
Contexts one_of_each_group(const Model& model, std::size_t groups, std::size_t place, std::uint64_t seed) {
  const std::size_t group = balanced_group(model);
  const Contexts all = sample_balanced(model, groups * group, seed);
  Contexts chosen(model.blocks, model.positions);
  for (std::size_t g = 0; g < groups; ++g) chosen.append(all[g * group + place]);
  return chosen;
}

/// Each slot's token is uniform over the vocabulary; at `level` for all slots together (Bonferroni).
void check_slots_uniform(const Model& model, const Contexts& contexts) {
  const std::vector<double> uniform(model.vocabulary, 1.0 / model.vocabulary);
  for (int slot = 0; slot < model.slots(); ++slot) {
    std::vector<std::int64_t> counts(model.vocabulary, 0);
    for (std::size_t m = 0; m < contexts.size(); ++m) ++counts[contexts[m][slot]];
    CHECK_MESSAGE(chi_square_test(counts, uniform).p_value > level / model.slots(), "slot " << slot);
  }
}

/// All N! / (N - L S)! contexts are equally likely.
void check_contexts_uniform(const Model& model, const Contexts& contexts) {
  std::map<std::vector<Token>, std::int64_t> counts;
  for_each_context(model, [&](std::span<const Token> context) { counts[{context.begin(), context.end()}] = 0; });
  for (std::size_t m = 0; m < contexts.size(); ++m) ++counts.at({contexts[m].begin(), contexts[m].end()});
  std::vector<std::int64_t> cells;
  for (const auto& [context, count] : counts) cells.push_back(count);
  CHECK(chi_square_test(cells, std::vector<double>(cells.size(), 1.0 / double(cells.size()))).p_value > level);
}

const std::vector<Model> shapes = {{4, 3, 1, 12}, {4, 3, 1, 13}, {4, 4, 3, 18}, {6, 3, 1, 27}, {2, 2, 1, 5}};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("independent contexts: distinct tokens, each slot uniform") {
    for (const Model& model : shapes) {
      const Contexts contexts = sample_independent(model, 5000, 21);
      REQUIRE(contexts.size() == 5000);
      for (std::size_t m = 0; m < contexts.size(); ++m) REQUIRE(distinct_tokens(model, contexts[m]));
      check_slots_uniform(model, contexts);
    }
  }

  TEST_CASE("balanced contexts: distinct tokens, each slot of each place in a group uniform") {
    for (const Model& model : shapes) {
      const std::size_t group = balanced_group(model);
      const Contexts contexts = sample_balanced(model, 10 * group, 22);
      for (std::size_t m = 0; m < contexts.size(); ++m) REQUIRE(distinct_tokens(model, contexts[m]));
      for (const std::size_t place : {std::size_t(0), group - 1})
        check_slots_uniform(model, one_of_each_group(model, 2000, place, 23));
    }
  }

  TEST_CASE("the whole law of a context is uniform, both samplers") {
    const Model even{2, 2, 1, 6}, odd{2, 2, 1, 5};
    for (const Model& model : {even, odd}) {
      check_contexts_uniform(model, sample_independent(model, 20000, 24));
      for (std::size_t place = 0; place < balanced_group(model); ++place)
        check_contexts_uniform(model, one_of_each_group(model, 10000, place, 25));
    }
  }

  TEST_CASE("balanced contexts: each token equally often at each offset, in every group") {
    for (const Model& model : shapes) {
      const std::size_t group = balanced_group(model);
      const Contexts contexts = sample_balanced(model, 3 * group, 26);
      for (std::size_t first = 0; first < contexts.size(); first += group) {
        std::vector<int> counts(std::size_t(model.positions) * model.vocabulary, 0);
        for (std::size_t m = first; m < first + group; ++m)
          for (int slot = 0; slot < model.slots(); ++slot)
            ++counts[std::size_t(slot % model.positions) * model.vocabulary + contexts[m][slot]];
        const int each = model.blocks / std::gcd(model.vocabulary, model.blocks);
        CHECK(std::all_of(counts.begin(), counts.end(), [&](int count) { return count == each; }));
      }
    }
  }

  TEST_CASE("balanced counts are the multiples of N / gcd(N, L)") {
    const Model model{4, 3, 1, 18};
    CHECK(balanced_group(model) == 9);
    CHECK(balanced_count(model, 1) == 9);
    CHECK(balanced_count(model, 9) == 9);
    CHECK(balanced_count(model, 10) == 18);
    CHECK(sample_balanced(model, 10, 1).size() == 18);
    CHECK(balanced_group({4, 3, 1, 13}) == 13);
    CHECK(balanced_group({4, 3, 1, 12}) == 3);
  }

  TEST_CASE("context m of an independent sample depends on seed and m alone") {
    const Model model{4, 3, 1, 15};
    const Contexts few = sample_independent(model, 7, 27), many = sample_independent(model, 100, 27);
    for (std::size_t m = 0; m < few.size(); ++m) CHECK(std::equal(few[m].begin(), few[m].end(), many[m].begin(), many[m].end()));
    CHECK(sample_independent(model, 7, 28).tokens() != few.tokens());
    const Contexts group = sample_balanced(model, 15, 27), groups = sample_balanced(model, 30, 27);
    CHECK(std::equal(group.tokens().begin(), group.tokens().end(), groups.tokens().begin()));
    CHECK(sample_balanced(model, 15, 28).tokens() != group.tokens());
  }

  TEST_CASE("enumeration visits each ordered choice once and refuses to be endless") {
    const Model model{2, 2, 1, 6};
    std::map<std::vector<Token>, int> seen;
    for_each_context(model, [&](std::span<const Token> context) {
      REQUIRE(distinct_tokens(model, context));
      ++seen[{context.begin(), context.end()}];
    });
    CHECK(seen.size() == 6 * 5 * 4 * 3);
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& entry) { return entry.second == 1; }));
    CHECK_THROWS_AS(for_each_context({4, 3, 1, 12}, [](std::span<const Token>) {}), DomainError);
  }

  TEST_CASE("given contexts are checked") {
    const Model model{2, 2, 1, 5};
    const Contexts good = Contexts::from_tokens(model, {0, 1, 2, 3, 4, 3, 2, 1});
    CHECK(good.size() == 2);
    CHECK(good[1][0] == 4);
    const auto refused = [&](std::vector<Token> tokens, const std::string& message) {
      CHECK_THROWS_WITH_AS(Contexts::from_tokens(model, std::move(tokens)), doctest::Contains(message.c_str()), DomainError);
    };
    refused({}, "not a positive multiple of blocks * positions = 4");
    refused({0, 1, 2}, "hold 3 tokens");
    refused({0, 1, 2, 3, 0, 1, 2, 5}, "context 1 holds token 5, outside 0..4");
    refused({0, 1, 2, -1}, "context 0 holds token -1");
    refused({0, 1, 2, 3, 4, 1, 2, 4}, "context 1 holds token 4 twice");
  }
}
