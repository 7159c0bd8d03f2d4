// The oracle search: its gradients, both of its halves, and the optima it must reach (theory.md section 4).
#include "search/search.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>

#include "kernels/table_loss.hpp"
#include "loss/context_loss.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "model/random.hpp"
#include "paths.hpp"
#include "search/patterns.hpp"

using namespace phaselock;

namespace {

/// theory.md section 4: the loss of distinct selection patterns at exact geometry.
double distinct_loss(const SingleBlock& model) {
  const double L = model.blocks, H = model.heads, N = model.vocabulary, n = model.phases();
  const double w0 = attention(model, 0.0).w, w1 = attention(model, 1.0).w, o1 = attention(model, 1.0).o;
  const auto E = [&](double x) { return std::expm1(model.beta * x); };
  const double z1 = E(w1) + L * (H - 1) * E(w0) + (L - 1) * E(o1), z0 = L * H * E(w0);
  return std::log(N) - model.beta * H * w1 / n + (H * std::log1p(z1 / N) + (n - H) * std::log1p(z0 / N)) / n;
}

SearchResult search_exact(const SingleBlock& model, int starts) {
  const Contexts contexts = sample_independent(model, 1, 1);
  return search_oracle(model, Geometry::exact(1.0, model.vocabulary), contexts[0], {starts, 1});
}

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  Stream stream(seed, Purpose::choice);
  std::vector<double> x(count);
  for (double& value : x) value = stream.normal();
  return x;
}

/// Largest difference between a gradient and central differences of f at x.
double difference_error(const std::function<double(const std::vector<double>&)>& f, std::vector<double> x,
                        const std::vector<double>& gradient) {
  const double h = 1e-5;
  double worst = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double center = x[k];
    x[k] = center + h;
    const double above = f(x);
    x[k] = center - h;
    const double below = f(x);
    x[k] = center;
    worst = std::max(worst, std::abs((above - below) / (2 * h) - gradient[k]));
  }
  return worst;
}

double pattern_loss(const SingleBlock& model, const Geometry& geometry, std::span<const Token> context,
                    std::span<const int> pattern) {
  return oracle_loss(model, geometry, context, selection_gates(model, pattern));
}

/// Least loss over all (S-1)^(HL) patterns, counted up as a number in base S - 1.
double least_pattern_loss(const SingleBlock& model, const Geometry& geometry, std::span<const Token> context) {
  std::vector<int> pattern(std::size_t(model.heads) * model.blocks, 0);
  double least = pattern_loss(model, geometry, context, pattern);
  while (true) {
    std::size_t digit = 0;
    while (digit < pattern.size() && ++pattern[digit] == model.phases()) pattern[digit++] = 0;
    if (digit == pattern.size()) return least;
    least = std::min(least, pattern_loss(model, geometry, context, pattern));
  }
}

const SingleBlock small{4, 3, 2, 40, 0.8, 3.0};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("gradient in u of squared weights, exact and dense geometry, against central differences") {
    const Contexts contexts = sample_independent(small, 1, 3);
    for (const Geometry& geometry : {Geometry::exact(1.0, 40), Geometry::perturbed(1.0, 0.05, 2, 40)}) {
      const std::vector<double> u = normals(2 * small.gate_weights(), 5);
      std::vector<double> gradient(u.size());
      const double loss = squared_weights_loss(small, geometry, contexts[0], u, gradient);
      CHECK(loss == squared_weights_loss(small, geometry, contexts[0], u, {}));
      const auto f = [&](const std::vector<double>& x) { return squared_weights_loss(small, geometry, contexts[0], x, {}); };
      CHECK(difference_error(f, u, gradient) < 1e-9);
    }
  }

  TEST_CASE("gradient in the oracle weights, exact and dense geometry, against central differences") {
    const Contexts contexts = sample_independent(small, 1, 4);
    for (const Geometry& geometry : {Geometry::exact(1.0, 40), Geometry::perturbed(1.0, 0.05, 2, 40)}) {
      ContextGates gates(small), gradient(small);
      std::vector<double> weights = normals(2 * small.gate_weights(), 6);
      for (double& p : weights) p = std::abs(p) / 3.0;
      const auto f = [&](const std::vector<double>& x) {
        std::copy_n(x.begin(), gates.key.size(), gates.key.begin());
        std::copy_n(x.begin() + gates.key.size(), gates.value.size(), gates.value.begin());
        return oracle_loss(small, geometry, contexts[0], gates);
      };
      f(weights);
      oracle_loss(small, geometry, contexts[0], gates, &gradient);
      std::vector<double> flat = gradient.key;
      flat.insert(flat.end(), gradient.value.begin(), gradient.value.end());
      CHECK(difference_error(f, weights, flat) < 1e-9);
    }
  }

  TEST_CASE("KKT residual: the largest over the gates, whichever it is, of the weighted excess over the least derivative") {
    const int S = small.positions;
    for (std::size_t worst = 0; worst < 2 * small.gate_weights() / std::size_t(S); ++worst) {
      std::vector<double> weights, derivatives;
      for (std::size_t gate = 0; gate < 2 * small.gate_weights() / std::size_t(S); ++gate) {
        weights.insert(weights.end(), {0.5, 0.2, 0.3});
        derivatives.insert(derivatives.end(), {-1.0, gate == worst ? 4.0 : 0.0, -2.0});
      }
      ContextGates gates(small), gradient(small);
      std::copy_n(weights.begin(), gates.key.size(), gates.key.begin());
      std::copy_n(weights.begin() + gates.key.size(), gates.value.size(), gates.value.begin());
      std::copy_n(derivatives.begin(), gates.key.size(), gradient.key.begin());
      std::copy_n(derivatives.begin() + gates.key.size(), gates.value.size(), gradient.value.begin());
      CHECK(kkt_residual(small, gates, gradient) == doctest::Approx(0.5 * 1.0 + 0.2 * 6.0).epsilon(1e-14));
    }
  }

  TEST_CASE("reference cases: optimum within 1e-8 and its kind") {
    std::ifstream file(test::paths::data_folder + "/oracle_cases.json");
    const auto cases = nlohmann::json::parse(file);
    REQUIRE(cases.size() == 7);
    for (const auto& c : cases) {
      const SingleBlock model{c["L"], c["S"], c["H"], c["N"], c["gamma"], c["beta"]};
      CAPTURE(c.dump());
      const SearchResult result = search_exact(model, 16);
      const double reference = std::min(c["best_loss"].get<double>(), c["best_selection_loss"].get<double>());
      CHECK(std::abs(result.better() - reference) < 1e-8);
      CHECK(std::abs(result.best_selection_loss - c["best_selection_loss"].get<double>()) < 1e-8);
      CHECK(result.is_selection == c["is_selection"].get<bool>());
      CHECK(result.distinct == c["is_selection"].get<bool>());
      CHECK(result.kkt_residual < 1e-7);
      // It is the residual of what is reported as the optimum.
      const ContextGates optimum = result.is_selection ? selection_gates(model, result.best_pattern) : result.best_weights;
      ContextGates gradient(model);
      context_loss(model, optimum, &gradient);
      CHECK(std::abs(result.kkt_residual - kkt_residual(model, optimum, gradient)) <= 1e-6 * result.kkt_residual + 1e-15);
      CHECK(result.starts_at_best == std::count_if(result.start_losses.begin(), result.start_losses.end(),
                                                   [&](double loss) { return loss <= result.best_loss + 1e-8; }));
      CHECK(result.starts_at_best >= 1);
      CHECK(result.start_losses.size() == 16);
    }
  }

  TEST_CASE("stability threshold N* = 191.74 of (4, 3, 1, 1, 10): interior optimum below, selection above") {
    for (const int N : {190, 191}) {
      const SearchResult below = search_exact({4, 3, 1, N, 1.0, 10.0}, 8);
      CHECK_FALSE(below.is_selection);
      CHECK_FALSE(below.distinct);
      CHECK(below.best_loss < below.best_selection_loss - 1e-6);
      CHECK(below.kkt_residual < 1e-7);
      // Start 0, which begins at the best pattern, leaves it.
      CHECK(below.start_losses[0] < below.best_selection_loss - 1e-6);
    }
    for (const int N : {192, 193}) {
      const SearchResult above = search_exact({4, 3, 1, N, 1.0, 10.0}, 8);
      CHECK(above.is_selection);
      CHECK(above.distinct);
      CHECK(above.kkt_residual == doctest::Approx(0.0));
    }
  }

  TEST_CASE("first-order residual: zero at a stable pattern, the missing margin at an unstable one, positive inside") {
    for (const int N : {191, 192}) {
      const SingleBlock model{4, 3, 1, N, 1.0, 10.0};
      const Contexts contexts = sample_independent(model, 1, 1);
      ContextGates gradient(model);
      const ContextGates gates = selection_gates(model, std::vector<int>(4, 0));
      oracle_loss(model, Geometry::exact(1.0, N), contexts[0], gates, &gradient);
      CHECK((kkt_residual(model, gates, gradient) > 1e-6) == (N == 191));
    }
    const SingleBlock model{2, 2, 1, 4, 1.0, 1.0};
    ContextGates weights(model, 0.5), gradient(model);
    weights.value[2] = 0.25, weights.value[3] = 0.75;
    gradient.key[0] = 1.0, gradient.key[1] = 3.0;       // 0.5 * 2
    gradient.value[2] = -4.0, gradient.value[3] = 4.0;  // 0.75 * 8, the largest
    CHECK(kkt_residual(model, weights, gradient) == doctest::Approx(6.0));
  }

  TEST_CASE("where plain multi-start is stuck 0.014 above, the joined search reaches the distinct patterns' loss") {
    const SingleBlock model{4, 4, 3, 64, 1.0, 2.0};
    const SearchResult result = search_exact(model, 16);
    CHECK(std::abs(result.better() - distinct_loss(model)) < 1e-10);
    CHECK(result.is_selection);
    CHECK(result.distinct);
    int stuck = 0;
    for (const double loss : result.start_losses) stuck += loss > distinct_loss(model) + 1e-3;
    CHECK(stuck >= 8);
  }

  TEST_CASE("patterns at exact geometry: enumeration up to symmetry finds the least of all, a distinct one") {
    for (const SingleBlock& model : {small, SingleBlock{2, 4, 3, 20, 1.0, 6.0}, SingleBlock{3, 3, 3, 30, 1.0, 4.0}}) {
      const Contexts contexts = sample_independent(model, 1, 2);
      const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
      const PatternOptimum found = search_patterns(model, geometry, contexts[0], 1);
      CHECK(found.exhaustive);
      CHECK(std::abs(found.loss - least_pattern_loss(model, geometry, contexts[0])) < 1e-13);
      CHECK(found.loss == pattern_loss(model, geometry, contexts[0], found.pattern));
      CHECK(is_distinct(model, found.pattern) == (model.heads < model.positions));
      if (model.heads < model.positions) CHECK(std::abs(found.loss - distinct_loss(model)) < 1e-13);
    }
  }

  TEST_CASE("exchange moves at exact geometry split every collision, at any N >= L S") {
    for (const int N : {16, 64, 1000}) {
      const SingleBlock model{4, 4, 3, N, 1.0, 8.0};
      const Contexts contexts = sample_independent(model, 1, 2);
      const PatternOptimum found = improve_pattern(model, Geometry::exact(1.0, N), contexts[0], std::vector<int>(12, 1));
      CHECK(is_distinct(model, found.pattern));
      CHECK(std::abs(found.loss - distinct_loss(model)) < 1e-13);
      CHECK_FALSE(found.exhaustive);
    }
    const SingleBlock large{5, 6, 4, 60, 0.7, 5.0};  // too many patterns to enumerate, even up to symmetry
    const Contexts contexts = sample_independent(large, 1, 2);
    const PatternOptimum found = search_patterns(large, Geometry::exact(1.0, 60), contexts[0], 1);
    CHECK_FALSE(found.exhaustive);
    CHECK(std::abs(found.loss - distinct_loss(large)) < 1e-13);
  }

  TEST_CASE("dense geometry with epsilon = 0 has the optimum of the exact one") {
    for (const double beta : {1.0, 10.0}) {
      const SingleBlock model{4, 3, 1, 40, 1.0, beta};
      const Contexts contexts = sample_independent(model, 1, 1);
      const Eigen::MatrixXd K = Eigen::MatrixXd::Constant(40, 40, 1.0) + Eigen::MatrixXd::Identity(40, 40);
      const SearchResult exact = search_oracle(model, Geometry::exact(1.0, 40), contexts[0], {6, 1});
      const SearchResult dense = search_oracle(model, Geometry::dense(K), contexts[0], {6, 1});
      CHECK(std::abs(dense.better() - exact.better()) < 1e-10);
      CHECK(dense.is_selection == exact.is_selection);
      CHECK(exact.is_selection == (beta == 1.0));
    }
  }

  TEST_CASE("perturbed geometry: the optimum depends on the context and beats every pattern") {
    const Geometry geometry = Geometry::perturbed(1.0, 0.05, 7, 40);
    const Contexts contexts = sample_independent(small, 2, 9);
    std::set<double> losses;
    for (std::size_t m = 0; m < contexts.size(); ++m) {
      const SearchResult result = search_oracle(small, geometry, contexts[m], {6, 1});
      CHECK(std::abs(result.best_selection_loss - least_pattern_loss(small, geometry, contexts[m])) < 1e-13);
      CHECK(result.better() <= result.best_selection_loss);
      CHECK(std::abs(result.best_loss - oracle_loss(small, geometry, contexts[m], result.best_weights)) < 1e-13);
      CHECK(result.kkt_residual < 1e-7);
      losses.insert(result.better());
    }
    CHECK(losses.size() == 2);
  }

  TEST_CASE("more heads than positions: searched, but never distinct") {
    const SingleBlock model{4, 3, 3, 60, 1.0, 1.0};
    const SearchResult result = search_exact(model, 4);
    CHECK(std::isfinite(result.better()));
    CHECK_FALSE(result.distinct);
  }

  TEST_CASE("refused: no starts, a model out of its domain, a loss that is finite nowhere; interruption ends the search") {
    const SingleBlock model{4, 3, 1, 20, 1.0, 1.0};
    CHECK_THROWS_AS(search_exact(model, 0), DomainError);
    const Contexts contexts = sample_independent(model, 1, 1);
    SingleBlock bad = model;
    bad.gamma = 2.0;
    CHECK_THROWS_AS(search_oracle(bad, Geometry::exact(1.0, 20), contexts[0], {4, 1}), DomainError);
    const Geometry huge = Geometry::dense(1e307 * Eigen::MatrixXd::Identity(20, 20));
    SingleBlock sharp = model;
    sharp.beta = 500.0;
    CHECK_THROWS_WITH_AS(search_oracle(sharp, huge, contexts[0], {4, 1}),
                         "the loss is not finite at any start of the oracle search", DomainError);
    interrupt_flag() = true;
    CHECK_THROWS_AS(search_exact(model, 4), Interrupted);
    interrupt_flag() = false;
  }
}

TEST_SUITE("slow") {
  TEST_CASE("exchange moves at dense geometry find the least of 6561 patterns") {
    const SingleBlock model{4, 4, 2, 40, 1.0, 3.0};
    const Geometry geometry = Geometry::perturbed(1.0, 0.08, 3, 40);
    const Contexts contexts = sample_independent(model, 6, 4);
    for (std::size_t m = 0; m < contexts.size(); ++m) {
      const PatternOptimum found = search_patterns(model, geometry, contexts[m], 1);
      CHECK_FALSE(found.exhaustive);
      CHECK(std::abs(found.loss - least_pattern_loss(model, geometry, contexts[m])) < 1e-13);
    }
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("the search has the same bits with one thread and with two") {
    const auto outcome = [](std::size_t threads, const Geometry& geometry) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      const SingleBlock model{4, 4, 2, 40, 1.0, 6.0};
      const Contexts contexts = sample_independent(model, 1, 1);
      return search_oracle(model, geometry, contexts[0], {6, 5});
    };
    for (const Geometry& geometry : {Geometry::exact(1.0, 40), Geometry::perturbed(1.0, 0.05, 2, 40)}) {
      const SearchResult one = outcome(1, geometry), two = outcome(2, geometry);
      CHECK(one.start_losses == two.start_losses);
      CHECK(one.best_weights.key == two.best_weights.key);
      CHECK(one.best_weights.value == two.best_weights.value);
      CHECK(one.best_pattern == two.best_pattern);
      CHECK(one.best_selection_loss == two.best_selection_loss);
      CHECK(one.kkt_residual == two.kkt_residual);
      CHECK(one.starts_at_best == two.starts_at_best);
    }
  }
}
