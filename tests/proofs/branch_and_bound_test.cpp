// Branch and bound for f*, the least loss of the oracle class (theory.md section 4.8): each inequality it rests on, and its
// results.
#include "proofs/branch_and_bound.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "loss/context_loss.hpp"
#include "model/errors.hpp"
#include "model/random.hpp"
#include "proofs/pair_bound.hpp"
#include "search/search.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

/// A probability vector of exponential variables to the given power: the higher, the closer to a vertex.
std::vector<double> random_simplex(Stream& stream, int size, double power = 1.0) {
  std::vector<double> p(size);
  double sum = 0.0;
  for (double& x : p) sum += x = std::pow(-std::log(stream.uniform()), power);
  for (double& x : p) x /= sum;
  return p;
}

std::vector<double> random_values(const SingleBlock& model, Stream& stream, double power = 1.0) {
  std::vector<double> V;
  for (int gate = 0; gate < 2 * model.heads; ++gate) {
    const auto p = random_simplex(stream, model.positions, power);
    V.insert(V.end(), p.begin(), p.end());
  }
  return V;
}

/// Keys of two blocks [2][H][n], each gate a point of { u >= 0, sum <= 1 }.
std::vector<double> random_keys(const SingleBlock& model, Stream& stream, double power = 1.0) {
  std::vector<double> keys;
  for (int gate = 0; gate < 2 * model.heads; ++gate) {
    const auto p = random_simplex(stream, model.positions, power);
    keys.insert(keys.end(), p.begin(), p.end() - 1);
  }
  return keys;
}

double pair_loss(const SingleBlock& model, const std::vector<double>& keys, const std::vector<double>& V) {
  std::vector<double> gradient(V.size());
  return PairBound<double>(model, {keys, keys})(V.data(), gradient.data());
}

/// A box around the keys, and a point of it.
KeyBox random_box(const std::vector<double>& keys, Stream& stream) {
  KeyBox box{keys, keys};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    box.low[k] = std::max(0.0, keys[k] - 0.3 * stream.uniform());
    box.high[k] = std::min(1.0, keys[k] + 0.3 * stream.uniform());
  }
  return box;
}

/// Keys and values of blocks x, y of a context, [2][H][n] and [2][H][S].
std::pair<std::vector<double>, std::vector<double>> pair_of(const SingleBlock& model, const ContextGates& gates, int x, int y) {
  std::vector<double> keys, values;
  for (const int l : {x, y})
    for (int h = 0; h < model.heads; ++h)
      for (int s = 0; s < model.positions; ++s) {
        if (s + 1 < model.positions) keys.push_back(gates.key[gate_index(model, h, l, s)]);
        values.push_back(gates.value[gate_index(model, h, l, s)]);
      }
  return {keys, values};
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("step 1: the loss is at least the mean loss of the pairs of blocks, and equal to it when all blocks are alike") {
    Stream stream(31, Purpose::choice);
    for (int k = 0; k < 100; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      ContextGates gates = test::random_gates(model, 3100 + k, 2.0);
      const auto mean_of_pairs = [&] {
        double sum = 0.0;
        for (int x = 0; x < model.blocks; ++x)
          for (int y = 0; y < x; ++y) {
            const auto [keys, values] = pair_of(model, gates, x, y);
            sum += pair_loss(model, keys, values);
          }
        return sum / (model.blocks * (model.blocks - 1) / 2.0);
      };
      CHECK(context_loss(model, gates) > mean_of_pairs());
      for (int h = 0; h < model.heads; ++h)
        for (int l = 1; l < model.blocks; ++l)
          for (int s = 0; s < model.positions; ++s)
            for (auto* branch : {&gates.key, &gates.value})
              (*branch)[gate_index(model, h, l, s)] = (*branch)[gate_index(model, h, 0, s)];
      CHECK(context_loss(model, gates) == doctest::Approx(mean_of_pairs()).epsilon(1e-13));
    }
  }

  TEST_CASE("step 2: Phi is below f2 throughout its box, and convex; gradient and curvature are its derivatives") {
    Stream stream(32, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      const auto keys = random_keys(model, stream, 2.0);
      PairBound<double> phi(model, random_box(keys, stream));
      const auto V = random_values(model, stream), W = random_values(model, stream, 3.0);
      std::vector<double> gradient(V.size()), ignored(V.size()), middle(V.size());
      CHECK(phi(V.data(), ignored.data()) <= pair_loss(model, keys, V) + 1e-13);
      const double there = phi(W.data(), ignored.data());
      for (std::size_t i = 0; i < V.size(); ++i) middle[i] = (V[i] + W[i]) / 2;
      const double halfway = phi(middle.data(), ignored.data()), here = phi(V.data(), gradient.data());
      CHECK(halfway <= (here + there) / 2 + 1e-13);
      double tangent = here;
      for (std::size_t i = 0; i < V.size(); ++i) tangent += gradient[i] * (W[i] - V[i]);
      CHECK(tangent <= there + 1e-12);
      if (k >= 20) continue;
      const auto value = [&](const std::vector<double>& at) { return phi(at.data(), ignored.data()); };
      CHECK(test::relative_error(gradient, test::finite_differences(value, V)) < 1e-8);
      const int gate = int(stream.below(2 * model.heads)), to = 1 + int(stream.below(model.positions - 1)), from = to - 1;
      const auto along = [&](double step) {
        auto moved = V;
        moved[gate * model.positions + from] -= step;
        moved[gate * model.positions + to] += step;
        return value(moved);
      };
      const double h = 1e-3, second = (along(h) - 2 * along(0) + along(-h)) / (h * h);
      phi(V.data(), ignored.data());
      CHECK(phi.curvature(gate / model.heads, gate % model.heads, from, to) == doctest::Approx(second).epsilon(1e-4));
    }
  }

  TEST_CASE("step 2: with one free key weight Phi is attained at the end that step 2 names") {
    Stream stream(39, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      const int n = model.phases(), S = model.positions, H = model.heads, r = int(stream.below(n)), h = int(stream.below(H));
      const auto keys = random_keys(model, stream);
      KeyBox box{keys, keys};
      box.low[h * n + r] = 0.0;
      box.high[h * n + r] = 1.0;
      auto V = random_values(model, stream);
      for (int s = 0; s < S; ++s) V[h * S + s] = s == r + 1;  // all on the answer: the upper end is best, and exact
      std::vector<double> gradient(V.size());
      PairBound<double> phi(model, box);
      CHECK(phi(V.data(), gradient.data()) == doctest::Approx(pair_loss(model, box.high, V)).epsilon(1e-13));
      for (int s = 0; s < S; ++s)
        V[h * S + s] = s == 0;  // none on the answer: the lower end serves the block's tokens, the upper one the copies'
      const double bound = phi(V.data(), gradient.data());
      CHECK(bound < pair_loss(model, box.low, V));
      CHECK(bound < pair_loss(model, box.high, V));
    }
  }

  TEST_CASE("symmetries: f2 keeps its value when a block's phases are permuted, the heads, or the blocks exchanged") {
    Stream stream(33, Purpose::choice);
    for (int k = 0; k < 50; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      const int n = model.phases(), S = model.positions, H = model.heads;
      const auto keys = random_keys(model, stream), V = random_values(model, stream);
      auto permuted_keys = keys, permuted = V;
      for (int h = 0; h < H; ++h) {
        std::rotate(&permuted_keys[h * n], &permuted_keys[h * n + 1], &permuted_keys[h * n] + n);
        std::rotate(&permuted[h * S + 1], &permuted[h * S + 2], &permuted[h * S] + S);
      }
      const double value = pair_loss(model, keys, V);
      CHECK(pair_loss(model, permuted_keys, permuted) == doctest::Approx(value).epsilon(1e-13));
      permuted_keys = keys, permuted = V;
      for (int x = 0; x < 2; ++x) {
        std::rotate(&permuted_keys[x * H * n], &permuted_keys[x * H * n] + n, &permuted_keys[x * H * n] + H * n);
        std::rotate(&permuted[x * H * S], &permuted[x * H * S] + S, &permuted[x * H * S] + H * S);
      }
      CHECK(pair_loss(model, permuted_keys, permuted) == doctest::Approx(value).epsilon(1e-13));
      auto exchanged_keys = keys, exchanged = V;
      std::rotate(exchanged_keys.begin(), exchanged_keys.begin() + H * n, exchanged_keys.end());
      std::rotate(exchanged.begin(), exchanged.begin() + H * S, exchanged.end());
      CHECK(pair_loss(model, exchanged_keys, exchanged) == doctest::Approx(value).epsilon(1e-13));
    }
  }

  TEST_CASE("step 4: where keys_descend says so, f2 falls as a key gate's weight moves to its target") {
    Stream stream(34, Purpose::choice);
    int descend = 0, rise_elsewhere = 0;
    for (int k = 0; k < 2000; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      const double eta = 0.5 * stream.uniform(), tau = stream.uniform();
      const bool proved = keys_descend(model, eta, tau);
      const int n = model.phases(), S = model.positions;
      auto keys = random_keys(model, stream, 3.0), V = random_values(model, stream, 3.0);
      for (int gate = 0; gate < 2 * model.heads; ++gate) {
        const int h = gate % model.heads;
        for (int r = 0; r < n; ++r) keys[gate * n + r] = eta * keys[gate * n + r] + (r == h ? 1 - eta : 0.0);
        for (int s = 0; s < S; ++s) V[gate * S + s] = tau * V[gate * S + s] + (s == h + 1 ? 1 - tau : 0.0);
      }
      const int gate = int(stream.below(2 * model.heads)), h = gate % model.heads;
      auto moved = keys;
      for (int r = 0; r < n; ++r) moved[gate * n + r] = 0.9 * moved[gate * n + r] + (r == h ? 0.1 : 0.0);
      const bool falls = pair_loss(model, moved, V) < pair_loss(model, keys, V);
      if (proved) CHECK(falls);
      descend += proved;
      rise_elsewhere += !falls;
    }
    CHECK(descend > 200);
    CHECK(rise_elsewhere > 20);  // the condition is not empty
  }

  TEST_CASE("steps 3 to 5: in the neighbourhood f2 is above loss*") {
    Stream stream(35, Purpose::choice);
    int tried = 0;
    for (int k = 0; k < 200; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      std::int64_t boxes = 0;
      const double eta = selection_neighbourhood(model, 1000, boxes).eta;
      if (eta == 0.0) continue;
      CHECK(model.vocabulary > necessary_n_star(model));
      const int n = model.phases();
      for (int trial = 0; trial < 20; ++trial) {
        auto keys = random_keys(model, stream, 2.0), V = random_values(model, stream, 2.0);
        const double mix = stream.uniform();
        for (int gate = 0; gate < 2 * model.heads; ++gate) {
          const int h = gate % model.heads;
          for (int r = 0; r < n; ++r) keys[gate * n + r] = eta * keys[gate * n + r] + (r == h ? 1 - eta : 0.0);
          for (int s = 0; s < model.positions; ++s) {
            double& v = V[gate * model.positions + s];
            v = mix * v + (s == h + 1 ? 1 - mix : 0.0);
          }
        }
        CHECK(pair_loss(model, keys, V) > distinct_loss(model));
      }
      ++tried;
    }
    CHECK(tried > 100);
  }

  TEST_CASE("the lower bound is below the loss of any gates, at any budget") {
    Stream stream(36, Purpose::choice);
    for (int k = 0; k < 100; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      const BranchAndBound found = branch_and_bound(model, {.boxes = 1 + std::int64_t(stream.below(40))});
      CHECK(found.least_loss.low <= found.least_loss.high);
      CHECK(found.least_loss.high <= enclose_distinct_loss(model).high);
      for (int trial = 0; trial < 10; ++trial)
        CHECK(context_loss(model, test::random_gates(model, 3600 + 10 * k + trial, 4.0 * stream.uniform())) >
              found.least_loss.low - 1e-13);
    }
  }

  TEST_CASE("(4,3,1,1,10): every global minimizer selects at N = 192, 200, 400; not below N*; undecided when the budget ends") {
    for (const int N : {192, 193, 200, 400, 606}) {
      const BranchAndBound found = branch_and_bound({4, 3, 1, N, 1.0, 10.0}, {.boxes = 100});
      CHECK(found.selects);
      CHECK(found.boxes < 30);
      CHECK(found.least_loss.low == enclose_distinct_loss({4, 3, 1, N, 1.0, 10.0}).low);
    }
    for (const int N : {12, 50, 190, 191}) CHECK_FALSE(branch_and_bound({4, 3, 1, N, 1.0, 10.0}, {.boxes = 400}).selects);
    const BranchAndBound ended = branch_and_bound({4, 3, 1, 192, 1.0, 10.0}, {.boxes = 4});
    CHECK_FALSE(ended.selects);
    CHECK(ended.boxes <= 4);
    CHECK(ended.least_loss.low < ended.least_loss.high);
  }

  TEST_CASE("several heads: decided far below N0 and N1") {
    for (const SingleBlock model : {SingleBlock{4, 3, 2, 12, 1.0, 1.0}, SingleBlock{4, 4, 3, 16, 1.0, 8.0},
                                    SingleBlock{4, 4, 3, 64, 1.0, 2.0}, SingleBlock{5, 4, 2, 100, 0.5, 4.0}}) {
      CHECK(model.vocabulary < sufficient_n0(model));
      CHECK(model.vocabulary < sufficient_n1(model));
      CHECK(branch_and_bound(model, {.boxes = 2000}).selects);
    }
  }

  TEST_CASE("an upper bound below loss*, from the search, excludes selections and narrows the enclosure") {
    const SingleBlock model{4, 3, 1, 50, 1.0, 10.0};
    std::vector<Token> context(model.slots());
    for (int j = 0; j < model.slots(); ++j) context[j] = j;
    const SearchResult best = search_oracle(model, Geometry::exact(1.0, model.vocabulary), context, {.starts = 8, .seed = 1});
    const Enclosure loss = enclose_loss(model, best.best_weights);
    CHECK(loss.low <= best.best_loss + 1e-12);
    CHECK(loss.high >= best.best_loss - 1e-12);
    CHECK(loss.high - loss.low < 1e-14);
    CHECK(loss.high < enclose_distinct_loss(model).low);
    const BranchAndBound found = branch_and_bound(model, {.boxes = 2000, .upper = loss.high});
    CHECK_FALSE(found.selects);
    CHECK(found.least_loss.high == loss.high);
    CHECK(found.least_loss.low <= loss.low);
    const BranchAndBound coarse = branch_and_bound(model, {.boxes = 2000, .tolerance = 0.3, .upper = loss.high});
    CHECK(coarse.boxes < found.boxes);
    CHECK(coarse.least_loss.high - coarse.least_loss.low <= 0.3);
  }

  TEST_CASE("the enclosed loss is the loss, and bad input is refused") {
    for (const SingleBlock& model : test::test_models()) {
      ContextGates gates = test::random_gates(model, 37);
      const Enclosure loss = enclose_loss(model, gates);
      CHECK(loss.high - loss.low < 1e-14);
      CHECK((loss.high + loss.low) / 2 == doctest::Approx(context_loss(model, gates)).epsilon(1e-13));
      gates.value[0] = -0.1;
      CHECK_THROWS_AS(enclose_loss(model, gates), DomainError);
    }
    CHECK_THROWS_AS(branch_and_bound({4, 2, 1, 12, 1.0, 1.0}), DomainError);
    CHECK_THROWS_AS(branch_and_bound({4, 3, 3, 12, 1.0, 1.0}), DomainError);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("(4,3,1,1,10): the window between N* = 191.7 and N0 = 606.3 is closed, vocabulary by vocabulary") {
    for (int N = 192; N <= 606; ++N) {
      CAPTURE(N);
      CHECK(branch_and_bound({4, 3, 1, N, 1.0, 10.0}, {.boxes = 200}).selects);
    }
  }

  TEST_CASE("random models: it never contradicts N*, and the search finds nothing below the lower bound") {
    Stream stream(38, Purpose::choice);
    int selecting = 0, stable = 0;
    for (int k = 0; k < 60; ++k) {
      const SingleBlock model = test::random_contested_model(stream);
      CAPTURE(fmt::format("L{} S{} H{} N{} gamma {} beta {}", model.blocks, model.positions, model.heads, model.vocabulary,
                          model.gamma, model.beta));
      const BranchAndBound found = branch_and_bound(model, {.boxes = 1000});
      if (model.vocabulary < necessary_n_star(model)) CHECK_FALSE(found.selects);
      stable += model.vocabulary > necessary_n_star(model);
      selecting += found.selects;
      if (k >= 20) continue;
      std::vector<Token> context(model.slots());
      for (int j = 0; j < model.slots(); ++j) context[j] = j;
      CHECK(search_oracle(model, Geometry::exact(1.0, model.vocabulary), context, {.starts = 4, .seed = 1}).better() >
            found.least_loss.low - 1e-12);
    }
    MESSAGE(selecting << " of " << stable << " models above N* proved with 1000 boxes");
    CHECK(selecting > 0.8 * stable);
  }
}
