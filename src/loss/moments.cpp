#include "moments.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace phaselock {

Monomials::Monomials(int variables_, int degree)
    : variables(variables_), parent{0}, variable{0}, first{0, 1}, inverse_factorial{1.0} {
  std::vector<std::vector<int>> exponents{std::vector<int>(variables, 0)};
  std::map<std::vector<int>, int> place{{exponents[0], 0}};
  for (int k = 1; k <= degree; ++k) {
    for (int i = first[k - 1]; i < first[k]; ++i)
      for (int h = variable[i]; h < variables; ++h) {  // variables in rising order, so that each alpha comes once
        std::vector<int> alpha = exponents[i];
        ++alpha[h];
        place[alpha] = int(exponents.size());
        parent.push_back(i);
        variable.push_back(h);
        inverse_factorial.push_back(inverse_factorial[i] / alpha[h]);
        exponents.push_back(std::move(alpha));
      }
    first.push_back(int(exponents.size()));
  }
  for (int i = 0; i < first[degree]; ++i)
    for (int h = 0; h < variables; ++h) {
      std::vector<int> alpha = exponents[i];
      ++alpha[h];
      raised.push_back(place.at(alpha));
    }
}

MomentPlan::MomentPlan(const CentredScales& scales) : degree(-1), remainder(0.0) {
  constexpr int most = 6;
  constexpr double tolerance = 1e-13;
  const double a = scales.off_reach;
  double bound = std::exp(2.0 * a);
  for (int k = 0; k <= most; ++k) {
    bound *= a / (k + 1);
    if (k > 0 && bound <= tolerance) {
      degree = k;
      remainder = bound;
      return;
    }
  }
}

namespace {

/// C(n + k, k), the number of monomials of n variables up to degree k.
double monomials(int n, int k) {
  double count = 1.0;
  for (int i = 1; i <= k; ++i) count *= double(n + i) / i;
  return count;
}

int general_or(int degree) { return degree > 0 ? degree : 25; }  // what a general exponential costs

}  // namespace

double pair_operations(const CentredScales& scales) {
  const Model& model = scales.model;
  const double H = model.heads, S = model.positions, L = model.blocks;
  const double own = S * (3 * H + 1 + general_or(scales.own_pair.degree));
  return model.queries() * (own + (L - 1) * S * (3 * H + 1 + general_or(scales.off_pair.degree)));
}

double moment_operations(const CentredScales& scales, const MomentPlan& plan) {
  const Model& model = scales.model;
  const double H = model.heads, S = model.positions;
  const double own = S * (6 * H + 2 + general_or(scales.own_pair.degree) + general_or(scales.off_pair.degree));
  const double build = 2 * monomials(model.heads, plan.degree + 1), evaluate = (H + 2) * monomials(model.heads, plan.degree);
  return model.queries() * own + (model.queries() + model.slots()) * (build + evaluate);
}

}  // namespace phaselock
