// Stability of selection patterns and its thresholds (theory.md sections 4.4 and 4.6).
#include "proofs/stability.hpp"

#include <doctest/doctest.h>

#include <set>

#include "model/errors.hpp"
#include "proofs/ball.hpp"
#include "proofs/bounds.hpp"
#include "support.hpp"

namespace phaselock::test {
namespace {

double least(const std::vector<double>& margins) { return *std::min_element(margins.begin(), margins.end()); }

/// Margins [2][H] of a pattern alike in every block, from the loss's gradient.
std::vector<double> margins_by_gradient(const SingleBlock& model, const std::vector<int>& selection) {
  std::vector<int> pattern;
  for (const int r : selection) pattern.insert(pattern.end(), model.blocks, r);
  const std::vector<double> all = pattern_margins(model, pattern);
  std::vector<double> margins;
  for (std::size_t gate = 0; gate < all.size(); gate += model.blocks) margins.push_back(all[gate]);
  return margins;
}

std::vector<int> random_selection(const SingleBlock& model, std::uint64_t seed) {
  Stream stream(seed, Purpose::choice);
  std::vector<int> selection(model.heads);
  for (int& r : selection) r = int(std::abs(stream.normal()) * 1e6) % model.phases();
  return selection;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("closed margins equal those of the loss's gradient") {
    std::uint64_t seed = 0;
    for (SingleBlock model : test_models())
      for (const int N : {model.slots(), 3 * model.slots(), 10000})
        for (int repeat = 0; repeat < 4; ++repeat) {
          model.vocabulary = N;
          const std::vector<int> selection = random_selection(model, ++seed);
          CAPTURE(N);
          CAPTURE(selection);
          const std::vector<double> closed = SelectionMargins<double>(model, selection).at(1.0 / N);
          CHECK(relative_error(closed, margins_by_gradient(model, selection)) < 1e-12);
          const std::vector<Ball> balls = SelectionMargins<Ball>(model, selection).at(Ball(1.0) / Ball(double(N)));
          for (std::size_t k = 0; k < closed.size(); ++k) {
            CHECK(closed[k] == doctest::Approx(balls[k].mid()).epsilon(1e-11));
            CHECK(balls[k].upper() - balls[k].lower() <= 1e-15 * std::abs(balls[k].mid()));
          }
        }
  }

  TEST_CASE("a ball of vocabularies encloses the margins of each") {
    const SingleBlock model{4, 4, 3, 100, 0.8, 6.0};
    const std::vector<int> selection = {0, 0, 2};
    const SelectionMargins<Ball> margins(model, selection);
    const std::vector<Ball> over = margins.at(Ball::hull(Ball(1.0 / 300), Ball(1.0 / 200)));
    for (int N = 200; N <= 300; N += 10) {
      const std::vector<double> inside = SelectionMargins<double>(model, selection).at(1.0 / N);
      for (std::size_t k = 0; k < inside.size(); ++k) {
        CHECK(inside[k] > over[k].lower());
        CHECK(inside[k] < over[k].upper());
      }
    }
  }

  TEST_CASE("thresholds agree with independent ones to 1e-9 and are proved") {
    for (const auto& c : read_json("stability_thresholds.json")) {
      const SingleBlock model{c.at("L"), c.at("S"), c.at("H"), 1000, c.at("gamma"), c.at("beta")};
      const std::vector<int> selection = flatten<int>(c.at("selection"));
      const double expected = c.at("N_star");
      CAPTURE(expected);
      const Threshold found = pattern_threshold(model, selection);
      CHECK(std::abs(found.n_star / expected - 1.0) < 1e-9);
      CHECK(found.proved);
      CHECK(found.low <= found.n_star);
      CHECK(found.n_star <= found.high);
      CHECK(found.high - found.low <= 1e-9 * found.n_star);
      CHECK(found.steps < 1000);
    }
  }

  TEST_CASE("N* of the distinct pattern is the root of its own equation") {
    for (const SingleBlock& model :
         {SingleBlock{4, 3, 1, 50, 1.0, 10.0}, SingleBlock{4, 6, 2, 50, 0.7, 14.0}, SingleBlock{7, 5, 3, 50, 1.0, 20.0}}) {
      const Threshold found = pattern_threshold(model, collision_pattern(model, 1));
      CHECK(found.n_star == doctest::Approx(necessary_n_star(model)).epsilon(1e-12));
      CHECK(found.proved);
    }
  }

  TEST_CASE("the gradient's margins change sign at N*") {
    for (const int k : {2, 3}) {
      SingleBlock model{4, 4, 3, 100, 1.0, 6.0};
      const std::vector<int> selection = collision_pattern(model, k);
      const double n_star = pattern_threshold(model, selection).n_star;
      model.vocabulary = int(n_star);
      CHECK(least(margins_by_gradient(model, selection)) < 0.0);
      ++model.vocabulary;
      CHECK(least(margins_by_gradient(model, selection)) > 0.0);
    }
  }

  TEST_CASE("more heads than offsets: thresholds are proved too") {
    for (int seed = 1; seed <= 8; ++seed) {
      const SingleBlock model{4, 3, 5, 100, 1.0, 1.0 + seed};
      const std::vector<int> selection = random_selection(model, seed);
      CAPTURE(selection);
      const Threshold found = pattern_threshold(model, selection);
      CHECK(found.proved);
      for (const double factor : {1.0001, 1.1, 3.0, 100.0})
        CHECK(least(SelectionMargins<double>(model, selection).at(1.0 / (factor * found.n_star))) > 0.0);
      if (found.n_star > model.slots())
        CHECK(least(SelectionMargins<double>(model, selection).at(1.0 / (0.9999 * found.n_star))) < 0.0);
    }
  }

  TEST_CASE("extreme scales: thresholds far beyond int, and logits near the limit") {
    const Threshold far = pattern_threshold({4, 4, 3, 100, 1.0, 200.0}, std::vector<int>{0, 0, 0});
    CHECK(far.n_star > 1e100);
    CHECK(far.proved);
    const Threshold flat = pattern_threshold({4, 4, 1, 100, 1.0, 1e-6}, std::vector<int>{1});
    CHECK(flat.n_star == 16.0);
    CHECK(flat.proved);
    const Threshold beyond = pattern_threshold({4, 4, 1, 100, 1e-320, 8.0}, std::vector<int>{1});
    CHECK(std::isinf(beyond.n_star));
    CHECK_FALSE(beyond.proved);
    const Threshold weak = pattern_threshold({4, 4, 1, 100, 1e-12, 8.0}, std::vector<int>{1});
    CHECK(weak.n_star > 1e12);
    CHECK(weak.proved);
  }

  TEST_CASE("without steps nothing is proved, and nothing is claimed") {
    const Threshold found = pattern_threshold({4, 4, 3, 100, 1.0, 8.0}, std::vector<int>{0, 0, 1}, 1);
    CHECK_FALSE(found.proved);
    CHECK(found.n_star == doctest::Approx(2940.38278));
  }

  TEST_CASE("collision patterns, and the first of them") {
    const SingleBlock model{4, 4, 3, 100, 1.0, 8.0};
    CHECK(collision_pattern(model, 1) == std::vector<int>{0, 1, 2});
    CHECK(collision_pattern(model, 2) == std::vector<int>{0, 0, 1});
    CHECK(collision_pattern(model, 3) == std::vector<int>{0, 0, 0});
    CHECK(collision_pattern({4, 2, 2, 100, 1.0, 8.0}, 1) == std::vector<int>{0, 0});
    const auto first = first_collision(model);
    REQUIRE(first);
    CHECK(first->selection == std::vector<int>{0, 0, 1});
    CHECK(first->threshold.n_star == doctest::Approx(2940.38278));
    CHECK_FALSE(first_collision({4, 3, 1, 100, 1.0, 8.0}));
    CHECK_FALSE(first_collision({4, 3, 3, 100, 1.0, 8.0}));
    CHECK_FALSE(first_collision({4, 30, 21, 1000, 1.0, 8.0}));
    // Every pattern of four heads on four offsets: none that collides has a lower threshold.
    const SingleBlock four{4, 5, 4, 100, 1.0, 5.0};
    double lowest = INFINITY;
    for (int code = 0; code < 256; ++code) {
      const std::vector<int> selection = {code % 4, code / 4 % 4, code / 16 % 4, code / 64};
      if (std::set<int>(selection.begin(), selection.end()).size() == 4) continue;
      lowest = std::min(lowest, pattern_threshold(four, selection).n_star);
    }
    CHECK(first_collision(four)->threshold.n_star == doctest::Approx(lowest).epsilon(1e-12));
  }

  TEST_CASE("patterns that do not fit the model are refused") {
    const SingleBlock model{4, 4, 3, 100, 1.0, 8.0};
    CHECK_THROWS_AS(pattern_threshold(model, std::vector<int>{0, 1}), DomainError);
    CHECK_THROWS_AS(pattern_threshold(model, std::vector<int>{0, 1, 3}), DomainError);
    CHECK_THROWS_AS(pattern_threshold(model, std::vector<int>{0, 1, -1}), DomainError);
  }
}

}  // namespace phaselock::test
