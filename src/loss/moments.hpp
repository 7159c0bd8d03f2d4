// Sums of exponentials e^(x . y) over many points by their moments: sum_j f_j e^(x . y_j) = sum_alpha x^alpha / alpha! sum_j f_j
// y_j^alpha.
#pragma once

#include <vector>

#include "centred_scales.hpp"

namespace phaselock {

/// The monomials x^alpha of H variables with |alpha| <= degree, by rising degree; each is an earlier one times one variable.
struct Monomials {
  Monomials(int variables, int degree);

  int size() const { return int(parent.size()); }
  int up_to(int k) const { return first[k + 1]; }  ///< number of monomials of degree <= k

  int variables;
  std::vector<int> parent, variable;      ///< alpha = alpha(parent) + e_variable; the first, alpha = 0, has none
  std::vector<int> first;                 ///< number of monomials of degree < k, k = 0 .. degree + 1
  std::vector<double> inverse_factorial;  ///< 1 / alpha!
  std::vector<int> raised;                ///< place of alpha + e_h, [monomials of degree < `degree`][variables]
};

/// How far the moments are taken for a model.
struct MomentPlan {
  /// The least degree whose remainder is at most 1e-13; degree -1 if there is none up to 6.
  explicit MomentPlan(const CentredScales& scales);

  int degree;        ///< of the polynomials in a query's or a slot's coordinates; moments go one higher, for their gradients
  double remainder;  ///< bound of the relative error of a query's sum over slots and its gradients, a^(degree + 1) / (degree + 1)!
                     ///< e^(2 a) with a the largest exponent of a pair
};

/// Arithmetic operations for one context's loss and gradient, by pairs and by moments; what decides between the two kernels.
double pair_operations(const CentredScales& scales);
double moment_operations(const CentredScales& scales, const MomentPlan& plan);

}  // namespace phaselock
