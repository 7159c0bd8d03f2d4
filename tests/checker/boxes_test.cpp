// What phaselock-check takes as proved of a box of keys (theory.md section 4.8): each inequality on random points, and against the
// program's own bounds, which share no code with it.
#include "checker/boxes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "checker/formulas.hpp"
#include "model/random.hpp"
#include "proofs/bounds.hpp"
#include "proofs/branch_and_bound.hpp"
#include "proofs/pair_bound.hpp"
#include "support.hpp"

using namespace phaselock;

namespace {

phaselock_check::Model for_checker(const SingleBlock& m) { return {m.blocks, m.positions, m.heads, m.vocabulary, m.gamma, m.beta}; }

/// Gates of two blocks with `size` numbers each: the first entries of points of the simplex with S entries; the higher the power,
/// the closer to a vertex.
std::vector<double> random_gates(const SingleBlock& m, Stream& stream, int size, double power) {
  std::vector<double> gates, p(m.positions);
  for (int gate = 0; gate < 2 * m.heads; ++gate) {
    double sum = 0.0;
    for (double& x : p) sum += x = std::pow(-std::log(stream.uniform()), power);
    for (int s = 0; s < size; ++s) gates.push_back(p[s] / sum);
  }
  return gates;
}

std::vector<double> random_keys(const SingleBlock& m, Stream& stream, double power) {
  return random_gates(m, stream, m.phases(), power);
}
std::vector<double> random_values(const SingleBlock& m, Stream& stream, double power) {
  return random_gates(m, stream, m.positions, power);
}

double pair_loss(const SingleBlock& model, const std::vector<double>& keys, const std::vector<double>& V) {
  std::vector<double> gradient(V.size());
  return PairBound<double>(model, {keys, keys})(V.data(), gradient.data());
}

phaselock_check::KeyBox box_around(const std::vector<double>& keys, double width, Stream& stream) {
  phaselock_check::KeyBox box{keys, keys};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    box.low[k] = std::max(0.0, keys[k] - width * stream.uniform());
    box.high[k] = std::min(1.0, keys[k] + width * stream.uniform());
  }
  return box;
}

/// Exchanges the values of two phases in all heads of a block's keys, or two heads in both blocks, or the blocks.
void swap_phases(const SingleBlock& m, std::vector<double>& keys, int block, int r, int t) {
  for (int h = 0; h < m.heads; ++h) {
    double* gate = &keys[(block * m.heads + h) * m.phases()];
    std::swap(gate[r], gate[t]);
  }
}
void swap_heads(const SingleBlock& m, std::vector<double>& keys, int h, int g) {
  for (int block = 0; block < 2; ++block)
    for (int r = 0; r < m.phases(); ++r)
      std::swap(keys[(block * m.heads + h) * m.phases() + r], keys[(block * m.heads + g) * m.phases() + r]);
}

/// The equivalent keys in the order that step 1 asks for, found one largest weight after the other.
std::vector<double> in_order(const SingleBlock& m, std::vector<double> keys) {
  const int n = m.phases(), H = m.heads;
  if (std::max_element(keys.begin(), keys.end()) - keys.begin() >= H * n)
    std::swap_ranges(keys.begin(), keys.begin() + H * n, keys.begin() + H * n);
  for (int h = 0; h < H; ++h) {
    int head = h, phase = h;
    for (int g = h; g < H; ++g)
      for (int r = h; r < n; ++r)
        if (keys[g * n + r] > keys[head * n + phase]) head = g, phase = r;
    swap_heads(m, keys, h, head);
    swap_phases(m, keys, 0, h, phase);
  }
  for (int h = 0; h < H; ++h) {
    const double* gate = &keys[(H + h) * n];
    swap_phases(m, keys, 1, h, int(std::max_element(gate + h, gate + n) - gate));
  }
  return keys;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("loss*, the margin of distinct patterns and the inequality of N2 are the program's") {
    Stream stream(70, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock m = test::random_contested_model(stream);
      const phaselock_check::Interval loss = phaselock_check::distinct_loss(for_checker(m));
      const Enclosure enclosed = enclose_distinct_loss(m);
      CHECK(loss.lower() <= enclosed.high);
      CHECK(loss.upper() >= enclosed.low);
      CHECK(loss.upper() - loss.lower() <= 1e-14);
      CHECK(phaselock_check::above_n2(for_checker(m)).positive() == (above_n2(m) == Decision::yes));
      if (m.heads == m.phases()) continue;
      CHECK(phaselock_check::distinct_margin(for_checker(m)).positive() == (below_n_star(m) == Decision::no));
    }
  }

  TEST_CASE("the lower bound of a box is below the pair's loss at random points, and is the program's") {
    Stream stream(71, Purpose::choice);
    for (int k = 0; k < 200; ++k) {
      const SingleBlock m = test::random_contested_model(stream);
      const auto keys = random_keys(m, stream, 2.0), V = random_values(m, stream, 2.0);
      const auto box = box_around(keys, k % 2 == 0 ? 0.3 : 1e-3, stream);
      const double cap = k % 4 < 2 ? 1.0 : stream.uniform();
      const phaselock_check::Interval bound = phaselock_check::pair_bound(for_checker(m), box, V, cap);
      CHECK(bound.upper() - bound.lower() <= 1e-14 * std::max(1.0, std::abs(bound.lower())));

      std::vector<double> gradient(V.size());
      PairBound<double> phi(m, {box.low, box.high});
      double expected = phi(V.data(), gradient.data());
      for (int gate = 0; gate < 2 * m.heads; ++gate) {
        const double* d = &gradient[gate * m.positions];
        double rest = d[0], all = d[0];
        for (int s = 0; s < m.positions; ++s) {
          expected -= d[s] * V[gate * m.positions + s];
          all = std::min(all, d[s]);
          if (s != 1) rest = std::min(rest, d[s]);
        }
        expected += gate == 0 && d[1] < rest ? cap * d[1] + (1 - cap) * rest : all;
      }
      CHECK(bound.lower() == doctest::Approx(expected).epsilon(1e-11));

      for (int trial = 0; trial < 5; ++trial) {
        std::vector<double> inside(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i)
          inside[i] = trial == 0 ? keys[i] : std::lerp(box.low[i], box.high[i], stream.uniform());
        auto W = random_values(m, stream, 1.0 + trial);
        const double excess = std::max(0.0, W[1] - cap);  // onto offset 0
        W[1] -= excess;
        W[0] += excess;
        CHECK(bound.upper() <= pair_loss(m, inside, W) + 1e-12);
      }
    }
  }

  TEST_CASE("keys in the order of step 1 are never dropped; a box without them is") {
    Stream stream(72, Purpose::choice);
    int dropped = 0;
    for (int k = 0; k < 500; ++k) {
      const SingleBlock m = test::random_contested_model(stream);
      const auto keys = random_keys(m, stream, 1.0 + k % 3), ordered = in_order(m, keys);
      const auto V = random_values(m, stream, 1.0);
      for (const double width : {1.0, 0.2, 0.0}) {
        auto box = box_around(ordered, width, stream);
        REQUIRE(phaselock_check::drop_equivalent_keys(for_checker(m), box));
        for (std::size_t i = 0; i < ordered.size(); ++i) {
          CHECK(box.low[i] <= ordered[i]);
          CHECK(box.high[i] >= ordered[i]);
        }
      }
      auto point = box_around(keys, 0.0, stream);
      const bool kept = phaselock_check::drop_equivalent_keys(for_checker(m), point);
      CHECK((kept || keys != ordered));
      dropped += !kept;
    }
    CHECK(dropped > 400);
    const SingleBlock m{4, 4, 2, 100, 1.0, 1.0};
    auto full = phaselock_check::all_keys(for_checker(m));
    full.low[0] = full.low[1] = 0.51;  // more than 1 in one gate
    CHECK_FALSE(phaselock_check::drop_equivalent_keys(for_checker(m), full));
  }

  TEST_CASE("where the descent of keys is taken as proved, the pair's loss falls; it is taken so wherever the program does") {
    Stream stream(73, Purpose::choice);
    int proved = 0, by_program = 0, rise_elsewhere = 0;
    for (int k = 0; k < 2000; ++k) {
      const SingleBlock m = test::random_contested_model(stream);
      const double eta = 0.5 * stream.uniform(), tau = stream.uniform();
      const bool descends = phaselock_check::keys_descent(for_checker(m), eta, tau).positive();
      const bool program = keys_descend(m, eta, tau);
      CHECK((descends || !program));
      const int n = m.phases(), S = m.positions;
      auto keys = random_keys(m, stream, 3.0), V = random_values(m, stream, 3.0);
      for (int gate = 0; gate < 2 * m.heads; ++gate) {
        const int h = gate % m.heads;
        for (int r = 0; r < n; ++r) keys[gate * n + r] = eta * keys[gate * n + r] + (r == h ? 1 - eta : 0.0);
        for (int s = 0; s < S; ++s) V[gate * S + s] = tau * V[gate * S + s] + (s == h + 1 ? 1 - tau : 0.0);
      }
      const int gate = int(stream.below(2 * m.heads));
      auto moved = keys;
      for (int r = 0; r < n; ++r) moved[gate * n + r] = 0.9 * moved[gate * n + r] + (r == gate % m.heads ? 0.1 : 0.0);
      const bool falls = pair_loss(m, moved, V) < pair_loss(m, keys, V);
      if (descends) CHECK(falls);
      proved += descends;
      by_program += program;
      rise_elsewhere += !falls;
    }
    CHECK(by_program > 200);
    CHECK(proved < 1.5 * by_program);
    CHECK(rise_elsewhere > 20);  // the condition is not empty
  }

  TEST_CASE("the descent of keys bounds the derivatives of the pair's loss at corners of the neighbourhood") {
    Stream stream(74, Purpose::choice);
    double nearest = INFINITY;
    for (int k = 0; k < 500; ++k) {
      SingleBlock m = test::random_contested_model(stream);
      if (k % 2 == 0) m.vocabulary = m.slots();
      if (k % 4 == 0) m.beta = stream.uniform();  // the bound is sharp for small vocabularies, betas and etas
      const double eta = (k % 3 == 0 ? 1e-3 : 0.3) * stream.uniform(), tau = 0.6 * stream.uniform();
      const double least = phaselock_check::keys_descent(for_checker(m), eta, tau).lower();
      const int n = m.phases(), S = m.positions;
      for (int trial = 0; trial < 10; ++trial) {
        std::vector<double> keys(2 * m.heads * n, 0.0), V(2 * m.heads * S, 0.0);
        const auto away = [&] { return stream.uniform() < 0.5; };
        for (int gate = 0; gate < 2 * m.heads; ++gate) {
          const int t = gate % m.heads, stray = int(stream.below(n - 1));
          const double key = away() ? eta : 0.0, value = away() ? tau : 0.0;
          keys[gate * n + t] = 1 - key;
          keys[gate * n + (stray < t ? stray : stray + 1)] = key;
          V[gate * S + t + 1] = 1 - value;
          V[gate * S + (t + 2 + int(stream.below(S - 1))) % S] = value;
        }
        const int gate = int(stream.below(2 * m.heads));
        const auto derivative = [&](int r) {  // 2n/beta dloss/du, the unit of the bound
          constexpr double h = 1e-5;
          auto up = keys, down = keys;
          up[gate * n + r] += h;
          down[gate * n + r] -= h;
          return (pair_loss(m, up, V) - pair_loss(m, down, V)) / (2 * h) * 2 * n / m.beta;
        };
        const double own = derivative(gate % m.heads);
        for (int r = 0; r < n; ++r) {
          const double descent = r == gate % m.heads ? -own : derivative(r) - own;
          CHECK(descent >= least - 1e-7);
          nearest = std::min(nearest, descent - least);
        }
      }
    }
    CHECK(nearest < 0.01);
  }

  TEST_CASE("the neighbourhood of the selection is the set it is said to be") {
    const SingleBlock m{4, 4, 2, 100, 1.0, 1.0};
    for (const double eta : {0.25, 0.1, 1e-3}) {  // 1 - eta is not always a double
      auto box = phaselock_check::keys_near_selection(for_checker(m), eta);
      for (int gate = 0; gate < 4; ++gate)
        for (int r = 0; r < 3; ++r) {
          CHECK(box.low[gate * 3 + r] == doctest::Approx(r == gate % 2 ? 1 - eta : 0.0));
          CHECK(box.high[gate * 3 + r] == (r == gate % 2 ? 1.0 : eta));
          CHECK(box.low[gate * 3 + r] <= (r == gate % 2 ? 1 - eta : 0.0));
        }
      for (double& low : box.low) low = std::min(1.0, low + 1e-15);
      CHECK(phaselock_check::is_near_selection(for_checker(m), box, eta));
      box.low[3 * 3 + 1] = 1 - eta - 1e-15;
      CHECK_FALSE(phaselock_check::is_near_selection(for_checker(m), box, eta));
    }
  }
}
