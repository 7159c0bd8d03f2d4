// Layouts against contexts written out token by token: which entry holds which, what is asked, what follows (theory.md section 1).
#include "model/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/single_block.hpp"

using namespace phaselock;

// A model is no SingleBlock until its layout has been looked at: the compiler refuses what is known for blocks alone.
static_assert(!std::is_convertible_v<Model, SingleBlock> && !std::is_constructible_v<SingleBlock, const Model&>);

namespace {

/// Slots of one head's window j, found by walking along the circle: start at slot 0, take j strides and then the shift, one slot at
/// a time, and collect `width` slots.
std::vector<int> walked(int slots, int stride, int shift, int width, int j) {
  int at = 0;
  const auto step = [&] { at = at == slots - 1 ? 0 : at + 1; };
  for (int k = 0; k < j; ++k)
    for (int i = 0; i < stride; ++i) step();
  for (int i = 0; i < shift; ++i) step();
  std::vector<int> found;
  for (int i = 0; i < width; ++i, step()) found.push_back(at);
  return found;
}

std::vector<int> listed(const Window& window) {
  std::vector<int> slots;
  for (int i = 0; i < window.width; ++i) slots.push_back(window[i]);
  return slots;
}

const Layout overlapping{4, 3, 5, {0, 2}, {2}, {1.0, 0.0, 0.5}};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a model's layout deals the tokens into blocks: each slot is in one entry of each head") {
    for (const Model& model : {Model{4, 4, 3, 64}, Model{2, 2, 1, 4}, Model{5, 3, 2, 15}}) {
      const Layout layout = Layout::of(model);
      CHECK(layout.slots() == model.slots());
      CHECK(layout.entries() == model.blocks);
      for (int h = 0; h < model.heads; ++h) {
        std::vector<int> dealt;
        for (int l = 0; l < layout.entries(); ++l) {
          const Window block = layout.tokens(l, h);
          CHECK(block.width == model.positions);
          for (int r = 0; r < block.width; ++r) {
            CHECK(block[r] == int(dealt.size()));  // in the order of the context, without a gap
            CHECK(layout.block(block[r]) == l);
            CHECK(layout.phase(block[r]) == r);
            CHECK(layout.slot(l, r) == block[r]);
            dealt.push_back(block[r]);
          }
        }
        CHECK(int(dealt.size()) == model.slots());
      }
    }
  }

  TEST_CASE("a model's queries are the tokens that have a next one in their block, and that is the answer") {
    for (const Model& model : {Model{4, 4, 3, 64}, Model{2, 2, 1, 4}, Model{5, 3, 2, 15}}) {
      const Layout layout = Layout::of(model);
      std::vector<int> queries, answers;
      for (int l = 0; l < model.blocks; ++l) {
        const std::vector<int> block = walked(model.slots(), model.positions, 0, model.positions, l);
        for (std::size_t r = 0; r + 1 < block.size(); ++r) {
          queries.push_back(block[r]);
          answers.push_back(block[r + 1]);
        }
      }
      CHECK(layout.queries() == queries);
      CHECK(int(queries.size()) == model.queries());
      for (std::size_t q = 0; q < queries.size(); ++q) CHECK(layout.answer(queries[q]) == answers[q]);
      CHECK(layout.answer(model.slots() - 1) == 0);  // the context is circular
    }
  }

  TEST_CASE("windows that overlap, shifted by head, around the end of the context") {
    for (int h = 0; h < 2; ++h) {
      std::vector<int> times(12, 0);
      for (int j = 0; j < 4; ++j) {
        const std::vector<int> slots = listed(overlapping.tokens(j, h));
        CHECK(slots == walked(12, 3, h == 0 ? 0 : 2, 5, j));
        for (const int slot : slots) ++times[slot];
      }
      // Five tokens an entry over strides of three: two phases are in two windows of a head, the third in one.
      CHECK(std::count(times.begin(), times.end(), 2) == 8);
      CHECK(std::count(times.begin(), times.end(), 1) == 4);
      CHECK(times[h == 0 ? 2 : 1] == 1);
    }
    CHECK(listed(overlapping.tokens(3, 1)) == std::vector<int>{11, 0, 1, 2, 3});
  }

  TEST_CASE("exact entries follow the windows, one for each token of their phases") {
    CHECK(overlapping.entries() == 8);
    for (int k = 0; k < 4; ++k) CHECK(listed(overlapping.tokens(4 + k, 1)) == std::vector<int>{2 + 3 * k});
    Layout two = overlapping;
    two.exact_phases = {0, 2};
    std::vector<int> kept;
    for (int e = two.blocks; e < two.entries(); ++e) kept.push_back(two.tokens(e, 0)[0]);
    CHECK(kept == std::vector<int>{0, 2, 3, 5, 6, 8, 9, 11});
  }

  TEST_CASE("queries without weight are not asked") { CHECK(overlapping.queries() == std::vector<int>{0, 2, 3, 5, 6, 8, 9, 11}); }

  TEST_CASE("what is known for blocks alone is refused to any other layout") {
    const Model model{4, 3, 2, 40, 0.7, 3.0};
    const auto block = single_block(model);
    REQUIRE(block);
    CHECK(block->blocks == 4);
    CHECK(block->positions == 3);
    CHECK(block->heads == 2);
    CHECK(block->vocabulary == 40);
    CHECK(block->gamma == 0.7);
    CHECK(block->beta == 3.0);
    const Layout blocks = Layout::of(model);
    CHECK(single_block(model, blocks));
    const auto refused = [&](auto change) {
      Layout other = blocks;
      change(other);
      CHECK(other != blocks);
      CHECK_FALSE(single_block(model, other));
      CHECK_THROWS_AS(require_single_block(model, other), DomainError);
    };
    refused([](Layout& other) { other.window = 4; });
    refused([](Layout& other) { other.shifts[1] = 1; });
    refused([](Layout& other) { other.exact_phases = {2}; });
    refused([](Layout& other) { other.query_weights[2] = 1.0; });
    refused([](Layout& other) { other.query_weights[0] = 0.5; });
  }

  TEST_CASE("gates of tables read the tokens of their windows") {
    const Model model{3, 2, 2, 9};
    const std::vector<Token> context = {4, 7, 0, 8, 2, 5};
    std::vector<double> tables(model.table_size());
    for (std::size_t k = 0; k < tables.size(); ++k) tables[k] = 0.01 * double(k * k % 97);
    ContextGates gates(model);
    gates_from_tables(model, tables, context, gates);
    // Head 1, block 1 holds tokens 0 and 8: two scores, written out.
    const double first = tables[(2 + 0) * 9 + 0], second = tables[(2 + 1) * 9 + 8];
    CHECK(gates.key[(1 * 3 + 1) * 2] == doctest::Approx(1.0 / (1.0 + std::exp(second - first))).epsilon(1e-15));
  }
}
