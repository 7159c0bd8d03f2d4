#include "kernels/moments.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace phaselock {

Monomials::Monomials(int variables_, int degree)
    : variables(variables_), order{0}, factorial{1.0}, first{0, 1}, raised(variables_) {
  std::vector<std::vector<int>> exponents{std::vector<int>(variables, 0)};
  std::map<std::vector<int>, int> place{{exponents[0], 0}};
  std::vector<int> last{0};  // the last variable of each
  for (int k = 1; k <= degree; ++k) {
    for (int i = first[k - 1]; i < first[k]; ++i)
      for (int h = last[i]; h < variables; ++h) {  // variables in rising order, so that each alpha comes once
        const int to = size();
        std::vector<int> alpha = exponents[i];
        ++alpha[h];
        place[alpha] = to;
        if (alpha[h] == k && k > 1) shared.push_back({to, i, 1 + h, 1.0 / k});
        if (alpha[h] < k) {
          std::vector<int> others = alpha, alone(variables, 0);
          others[h] = 0, alone[h] = alpha[h];
          plain.push_back({to, place.at(others), place.at(alone), 1.0});
        }
        order.push_back(k);
        factorial.push_back(factorial[i] * alpha[h]);
        last.push_back(h);
        exponents.push_back(std::move(alpha));
      }
    first.push_back(size());
  }
  for (int h = 0; h < variables; ++h)
    for (int i = 0; i < first[degree]; ++i) {
      std::vector<int> alpha = exponents[i];
      ++alpha[h];
      raised[h].push_back(place.at(alpha));
    }
}

MomentTable::MomentTable(int variables, std::span<const double> series)
    : degree(int(series.size()) - 1), left((variables + 1) / 2, degree), right(variables / 2, degree) {
  for (int a = 0; a < left.size(); ++a) {
    row.push_back(size());
    columns.push_back(right.up_to(degree - left.order[a]));
    for (int b = 0; b < columns[a]; ++b)
      weight.push_back(left.factorial[a] * right.factorial[b] * series[left.order[a] + right.order[b]]);
  }
  for (int b = 0; b < right.size(); ++b) rows.push_back(left.up_to(degree - right.order[b]));
}

MomentPlan::MomentPlan(const CentredScales& scales) : degree(-1), remainder(0.0) {
  constexpr int most = 6;
  constexpr double tolerance = 4e-13;
  const Model& model = scales.model;
  const double a = scales.off_reach;
  const double in_keys = 0.5 / (model.blocks - 1), in_values = attention(model, 0.0).o / scales.o_mid - 1.0;
  double bound = a * std::exp(2.0 * a);
  for (int k = 1; k <= most; ++k) {
    bound *= 0.5 * a / (k + 1);
    remainder = bound * std::max({a, in_keys, in_values});
    if (remainder > tolerance) continue;
    degree = k;
    const Polynomial q = interpolate([](long double t) { return std::exp(t); }, a, degree);
    series = {1.0};
    for (int m = 0; m <= degree; ++m) series.push_back(q.coefficient[m] * std::tgamma(m + 1));
    return;
  }
}

namespace {

/// C(n + k, k), the number of monomials of n variables up to degree k.
double monomials(int n, int k) {
  double count = 1.0;
  for (int i = 1; i <= k; ++i) count *= double(n + i) / i;
  return count;
}

}  // namespace

double pair_operations(const CentredScales& scales) {
  const Model& model = scales.model;
  const double H = model.heads, S = model.positions, L = model.blocks;
  const double own = S * (3 * H + 1 + scales.own_pair.operations());
  return model.queries() * (own + (L - 1) * S * (3 * H + 1 + scales.off_pair.operations()));
}

double moment_operations(const CentredScales& scales, const MomentPlan& plan) {
  const Model& model = scales.model;
  const int H = model.heads, S = model.positions, degree = plan.degree + 1;
  const double own = S * (3 * H + 1 + scales.own_pair.operations());
  const double halves = monomials((H + 1) / 2, degree) + monomials(H / 2, degree);
  const double point = 3 * monomials(H, degree) + (3 + H) * halves;
  return model.queries() * own + (model.queries() + model.slots()) * point;
}

}  // namespace phaselock
