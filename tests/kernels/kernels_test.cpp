// The fast kernels of the loss against its definition, on every instruction set that this processor has; and what they rest on:
// short exponentials, moments and their remainders.
#include <doctest/doctest.h>
#include <hwy/targets.h>
#include <tbb/global_control.h>

#include <cmath>
#include <limits>
#include <string>

#include "kernels/batch_loss.hpp"
#include "kernels/long_loss.hpp"
#include "kernels/table_loss.hpp"
#include "loss/context_loss.hpp"
#include "support.hpp"

using namespace phaselock;
using test::normals;
using test::relative_error;

namespace {

/// Calls body for the kernels of each instruction set that they are compiled for and this processor has.
template <class Body>
void on_every_target(Body body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    const std::string name = hwy::TargetName(target);
    CAPTURE(name);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

struct Sum {
  double loss;
  std::vector<double> gradient;
};

Sum by_definition(const SingleBlock& model, const Contexts& contexts, const std::vector<double>& tables) {
  Sum sum{0.0, std::vector<double>(tables.size(), 0.0)};
  ContextGates gates(model), dgates(model);
  for (std::size_t m = 0; m < contexts.size(); ++m) {
    gates_from_tables(model, tables, contexts[m], gates);
    sum.loss += context_loss(model, gates, &dgates);
    pull_back_to_tables(model, gates, dgates, contexts[m], 1.0, sum.gradient);
  }
  return sum;
}

/// kernel(exponentials, gradient lines) as a Sum.
template <class Kernel>
Sum by_kernel(const SingleBlock& model, const std::vector<double>& tables, Kernel kernel) {
  TokenLines exponentials(model), lines(model);
  REQUIRE(exponentiate(model, tables, exponentials));
  Sum sum{kernel(exponentials, &lines), std::vector<double>(tables.size())};
  lines_to_tables(model, lines, 1.0, sum.gradient);
  CHECK(kernel(exponentials, nullptr) == sum.loss);
  return sum;
}

/// Losses that are much less than 1 are the small difference of log Z and beta m, so that they are compared with 1.
void check_equal(const Sum& sum, const Sum& expected) {
  CHECK(std::abs(sum.loss - expected.loss) < 1e-13 * std::max(1.0, expected.loss));
  CHECK(relative_error(sum.gradient, expected.gradient) < 1e-12);
}

/// A random model with L, S, H as given, beta log-uniform in [0.1, 60], and tables with logits of scale log-uniform in [1e-3, 50].
struct Case {
  Case(int L, int S, int H, std::uint64_t seed) : model{L, S, H, 0, 1.0, 1.0} {
    Stream stream(seed, Purpose::choice);
    model.vocabulary = model.slots() + int(stream.below(40));
    model.gamma = 0.1 + 0.9 * stream.uniform();
    model.beta = 0.1 * std::pow(600.0, stream.uniform());
    tables = normals(model.table_size(), 1e-3 * std::pow(5e4, stream.uniform()), seed);
  }

  SingleBlock model;
  std::vector<double> tables;
};

double value_of(const Polynomial& p, double y) {
  double value = 0.0;
  for (int k = p.degree; k >= 0; --k) value = std::fma(value, y, p.coefficient[k]);
  return value;
}

std::vector<double> powers_of(const Monomials& monomials, const double* x) {
  std::vector<double> powers(monomials.size(), NAN);
  powers[0] = 1.0;
  std::copy_n(x, monomials.variables, powers.begin() + 1);
  for (const auto* const products : {&monomials.shared, &monomials.plain})
    for (const auto& [to, left, right, share] : *products) powers[to] = powers[left] * powers[right] * share;
  return powers;
}

/// x^alpha / alpha! for all alpha of a table.
std::vector<double> all_powers(const MomentTable& table, const std::vector<double>& x) {
  const std::vector<double> left = powers_of(table.left, x.data()), right = powers_of(table.right, x.data() + table.left.variables);
  std::vector<double> all;
  for (int a = 0; a < table.left.size(); ++a)
    for (int b = 0; b < table.columns[a]; ++b) all.push_back(left[a] * right[b]);
  return all;
}

/// sum_h x_h y_h
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double total = 0.0;
  for (std::size_t h = 0; h < x.size(); ++h) total += x[h] * y[h];
  return total;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("short exponentials: relative error below 1e-14 up to the reach they are made for, at a cost that grows with it") {
    int before = 0;
    for (const double reach : {1e-6, 1e-3, 0.05, 0.3, 1.0, 2.0, 5.0, 8.0}) {
      const ShortExp e(reach);
      REQUIRE(!e.general);
      CHECK(e.operations() >= before);
      before = e.operations();
      double worst = 0.0;
      for (int k = -1000; k <= 1000; ++k) {
        const double y = reach * k / 1000.0;
        double p = value_of(e.p, y);
        for (int s = 0; s < e.squarings; ++s) p *= p;
        worst = std::max(worst, std::abs(p / std::exp(y) - 1.0));
      }
      CAPTURE(reach);
      CHECK(worst < ShortExp::tolerance + std::ldexp(4e-16, e.squarings));
    }
    CHECK(ShortExp(40.0).general);
  }

  TEST_CASE(
      "attention by a polynomial: w to 1e-15 of its middle and rounding, for all gamma and L, with no more terms than it needs") {
    for (const int L : {2, 3, 4, 16, 1000, 16384})
      for (const double gamma : {0.01, 0.3, 0.7, 1.0}) {
        const SingleBlock model{L, 4, 2, 4 * L, gamma, 1.0};
        const CentredScales scales(model);
        CHECK(scales.centred_w.degree < Polynomial::most);
        double worst = 0.0;
        for (int k = 0; k <= 1000; ++k) {
          const double w = scales.w_mid + value_of(scales.centred_w, k / 1000.0 - 0.5);
          worst = std::max(worst, std::abs(w / attention(model, k / 1000.0).w - 1.0));
        }
        CAPTURE(L);
        CAPTURE(gamma);
        CHECK(worst < 3e-15);
      }
  }

  TEST_CASE(
      "kernel across contexts equals the definition: L = 2 .. 9, every number of heads, ragged batches, all scales, every target") {
    on_every_target([] {
      int cases = 0;
      for (int L = 2; L <= 9; ++L)
        for (int k = 0; k < 40; ++k) {
          const Case c(L, 2 + k % 7, 1 + k % TokenLines::most_heads, 900 + 40 * L + k);
          if (c.model.beta * c.model.heads > 700.0) continue;
          const Contexts contexts = sample_independent(c.model, 1 + (L + k) % 11, 7);
          const CentredScales scales(c.model);
          check_equal(by_kernel(c.model, c.tables,
                                [&](const TokenLines& e, TokenLines* gradient) {
                                  return batch_loss(scales, e, contexts, 0, contexts.size(), gradient);
                                }),
                      by_definition(c.model, contexts, c.tables));
          ++cases;
        }
      CHECK(cases >= 300);
    });
  }

  TEST_CASE("kernel by moments equals the definition: L = 4 .. 63, any number of chunks, every target") {
    on_every_target([] {
      int cases = 0;
      KeptMemory memory;
      for (int L = 4; L < 64; ++L)
        for (int k = 0; k < 3; ++k) {
          const Case c(L, 2 + (L + k) % 5, 1 + (L + 3 * k) % TokenLines::most_heads, 3000 + 3 * L + k);
          const CentredScales scales(c.model);
          const MomentPlan plan(scales);
          if (plan.degree < 0) continue;
          const Contexts contexts = sample_independent(c.model, 2, 8);
          check_equal(by_kernel(c.model, c.tables,
                                [&](const TokenLines& e, TokenLines* gradient) {
                                  return long_loss(scales, plan, e, contexts, 0, 2, 1 + L % 3, memory, gradient);
                                }),
                      by_definition(c.model, contexts, c.tables));
          ++cases;
        }
      CHECK(cases >= 100);
    });
  }

  TEST_CASE("moments: values and derivatives keep the stated remainder, also at the corners where exponents are largest") {
    Stream stream(5, Purpose::choice);
    for (const SingleBlock& model : {SingleBlock{16, 8, 3, 256, 1.0, 1.0}, SingleBlock{64, 4, 3, 1024, 1.0, 8.0},
                                     SingleBlock{24, 3, 2, 100, 0.5, 2.0}, SingleBlock{1024, 8, 4, 8192, 1.0, 1.0}}) {
      const CentredScales scales(model);
      const MomentPlan plan(scales);
      REQUIRE(plan.degree > 0);
      const std::span series(plan.series);
      const MomentTable values(model.heads, series), derivatives(model.heads, series.subspan(1));
      const double reach = 2.0 * scales.off_reach / model.heads;  // of beta do_h, as |dv_h| <= 1/2
      const double matters = std::max(0.5 / (model.blocks - 1), reach / model.beta / scales.o_mid);
      double worst = 0.0;
      for (int k = 0; k < 200; ++k) {
        std::vector<double> x, y;
        for (int h = 0; h < model.heads; ++h) {
          const double u = k < 20 ? double(stream.below(2)) : stream.uniform(),
                       v = k < 20 ? double(stream.below(2)) : stream.uniform();
          x.push_back(reach * (2.0 * u - 1.0));
          y.push_back(v - 0.5);
        }
        if (k == 0) x.assign(model.heads, reach), y.assign(model.heads, -0.5);
        const auto error = [&](const MomentTable& table) {
          double sum = 0.0;
          const std::vector<double> X = all_powers(table, x), Y = all_powers(table, y);
          for (int i = 0; i < table.size(); ++i) sum += X[i] * Y[i] * table.weight[i];
          return std::abs(sum / std::exp(dot(x, y)) - 1.0);
        };
        worst = std::max({worst, error(values), matters * error(derivatives)});
      }
      CAPTURE(worst);
      CHECK(worst < plan.remainder + 2e-15);
      CHECK(plan.remainder <= 4e-13);
    }
    CHECK(MomentPlan(CentredScales({4, 4, 3, 64, 1.0, 40.0})).degree == -1);
  }

  TEST_CASE("moment tables: as many as C(H + k, k), products of the halves' divided powers, each raised one a power higher") {
    const std::vector<double> series{1.0, 0.5, 2.0, 4.0, 3.0};
    const MomentTable table(3, series);
    CHECK(table.size() == 35);
    CHECK(MomentTable(1, series).size() == 5);
    CHECK(table.left.size() == 15);
    CHECK(table.left.up_to(2) == 6);
    const std::vector<double> x{2.0, 3.0, 5.0};
    double sum = 0.0, by_order = 0.0;  // of all divided powers: sum_k (x_1 + x_2 + x_3)^k / k!
    for (const double power : all_powers(table, x)) sum += power;
    for (const double term : {1.0, 10.0, 100.0 / 2, 1000.0 / 6, 10000.0 / 24}) by_order += term;
    CHECK(sum == doctest::Approx(by_order).epsilon(1e-14));
    const std::vector<double> left = powers_of(table.left, x.data());
    for (int h = 0; h < 2; ++h) {
      REQUIRE(int(table.left.raised[h].size()) == table.left.raisable());
      for (int i = 0; i < table.left.raisable(); ++i) {
        const int raised = table.left.raised[h][i];
        CHECK(left[raised] * table.left.factorial[raised] ==
              doctest::Approx(left[i] * table.left.factorial[i] * x[h]).epsilon(1e-14));
      }
    }
    for (int b = 0; b < table.right.size(); ++b)
      for (int a = 0; a < table.left.size(); ++a) CHECK((a < table.rows[b]) == (b < table.columns[a]));
  }

  TEST_CASE("a gamma so small that attention is flat in double precision: the kernels agree with the definition") {
    for (const int L : {4, 40}) {
      const SingleBlock model{L, 4, 2, 4 * L, 1e-17, 1.0};
      const Contexts contexts = sample_independent(model, 3, 5);
      const std::vector<double> tables = normals(model.table_size(), 1.0, 4);
      const Sum expected = by_definition(model, contexts, tables);
      CHECK(table_loss(model, Geometry::exact(1.0, model.vocabulary), contexts, tables) ==
            doctest::Approx(expected.loss / 3).epsilon(1e-13));
    }
  }

  TEST_CASE("where the kernels do not serve, the definition does: nine heads, gates that spread over e^600, NaN") {
    const SingleBlock nine{2, 3, 9, 12, 1.0, 1.0};
    CHECK(loss_method(nine, Geometry::exact(1.0, 12)).name == "definition");
    const SingleBlock model{4, 3, 2, 20, 1.0, 1.0};
    const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
    CHECK(loss_method(model, geometry).name == "pairs");
    const Contexts contexts = sample_independent(model, 9, 3);
    TableLoss loss(model, geometry, contexts);
    const std::vector<double> usual = normals(model.table_size(), 1.0, 2);
    std::vector<double> tables = usual, gradient(tables.size());
    const double first = loss(tables, gradient);
    const std::vector<double> first_gradient = gradient;
    TokenLines lines(model);
    CHECK(exponentiate(model, tables, lines));
    tables[5] = 700.0;
    CHECK_FALSE(exponentiate(model, tables, lines));
    const Sum expected = by_definition(model, contexts, tables);
    CHECK(loss(tables, gradient) == doctest::Approx(expected.loss / 9).epsilon(1e-13));
    for (double& g : gradient) g *= 9;
    CHECK(relative_error(gradient, expected.gradient) < 1e-12);
    for (const double odd : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      tables[5] = odd;
      CHECK_FALSE(exponentiate(model, tables, lines));
    }
    tables[5] = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(loss(tables)));
    CHECK(loss(usual, gradient) == first);  // nothing is left over from call to call
    CHECK(gradient == first_gradient);
  }

  TEST_CASE(
      "what sums over slots are taken by: pairs in short contexts, moments in long ones, with the bound of what they leave out") {
    const LossMethod longest = loss_method({16384, 8, 3, 131072, 1.0, 1.0}, Geometry::exact(1.0, 131072));
    CHECK(longest.name == "moments");
    CHECK(longest.degree == 1);
    CHECK(longest.remainder < 1e-13);
    CHECK(loss_method({4, 4, 3, 64, 1.0, 1.0}, Geometry::exact(1.0, 64)).name == "pairs");
    CHECK(loss_method({64, 8, 3, 1024, 1.0, 1.0}, Geometry::exact(1.0, 1024)).name == "moments");
    CHECK(loss_method({4, 4, 3, 30, 1.0, 1.0}, Geometry::perturbed(1.0, 0.01, 1, 30)).name == "definition");
  }
}

TEST_SUITE("slow") {
  TEST_CASE("long contexts: 512 blocks equal the definition; 16384 blocks do on the gradients of sampled blocks' keys") {
    {
      const SingleBlock model{512, 4, 3, 2200, 1.0, 1.0};
      const std::vector<double> tables = normals(model.table_size(), 1.0, 4);
      const Contexts contexts = sample_independent(model, 1, 5);
      std::vector<double> gradient(tables.size());
      const double loss = table_loss(model, Geometry::exact(1.0, model.vocabulary), contexts, tables, gradient);
      check_equal({loss, gradient}, by_definition(model, contexts, tables));
    }
    const SingleBlock model{16384, 8, 4, 131072, 1.0, 1.0};
    const std::vector<double> tables = normals(model.table_size(), 1.0, 6);
    const Contexts contexts = sample_independent(model, 1, 7);
    std::vector<double> gradient(tables.size());
    const double loss = table_loss(model, Geometry::exact(1.0, model.vocabulary), contexts, tables, gradient);
    CHECK(std::isfinite(loss));
    ContextGates gates(model);
    gates_from_tables(model, tables, contexts[0], gates);
    const int S = model.positions;
    for (const int l : {0, 5000, 16383}) {  // keys of a block meet that block's queries alone: dLoss/du = beta/Q (w' dw + o' do)
      std::vector<double> got, expected;
      std::vector<std::vector<double>> d(model.heads, std::vector<double>(S, 0.0));
      for (int r = 0; r < model.phases(); ++r) {
        const Query query = query_at(model, gates, l, r);
        for (int h = 0; h < model.heads; ++h) {
          double dw = -gates.value[gate_index(model, h, l, r + 1)], d_o = 0.0;
          for (int k = 0; k < model.blocks; ++k)
            for (int s = 0; s < S; ++s) (k == l ? dw : d_o) += query.share[k * S + s] * gates.value[gate_index(model, h, k, s)];
          d[h][r] = model.beta / model.queries() * (w_slope(model, query.w[h]) * dw + o_slope(model, query.w[h]) * d_o);
        }
      }
      for (int h = 0; h < model.heads; ++h) {
        std::vector<double> dlogits(S);
        softmax_pullback(&gates.key[gate_index(model, h, l, 0)], d[h].data(), S, dlogits.data());
        for (int r = 0; r < S; ++r) {
          expected.push_back(dlogits[r]);
          got.push_back(gradient[(row_index(model, key_branch, h, r)) * model.vocabulary + contexts[0][l * S + r]]);
        }
      }
      CHECK(relative_error(got, expected) < 1e-12);
    }
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("the kernels give the same bits with one and with two threads") {
    for (const SingleBlock& model :
         {SingleBlock{4, 4, 3, 64, 1.0, 1.0}, SingleBlock{20, 4, 3, 128, 1.0, 1.0}, SingleBlock{600, 4, 2, 2400, 1.0, 1.0}}) {
      const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
      const Contexts contexts = sample_balanced(model, model.blocks > 100 ? 4 : 500, 3);
      const std::vector<double> tables = normals(model.table_size(), 1.0, 9);
      std::vector<double> one(tables.size()), two(tables.size());
      double losses[2];
      {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
        losses[0] = table_loss(model, geometry, contexts, tables, one);
      }
      {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 2);
        losses[1] = table_loss(model, geometry, contexts, tables, two);
      }
      CHECK(losses[0] == losses[1]);
      CHECK(one == two);
    }
  }
}
