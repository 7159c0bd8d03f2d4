// Sums of exponentials e^(x . y) over many points by their moments: sum_j f_j e^(x . y_j) = sum_alpha x^alpha / alpha! sum_j f_j
// y_j^alpha.
#pragma once

#include <vector>

#include "centred_scales.hpp"

namespace phaselock {

/// The divided powers x^alpha / alpha! of some variables with |alpha| <= degree, by rising degree. Each is an earlier one, its
/// parent, times a variable over that variable's exponent.
struct Monomials {
  Monomials(int variables, int degree);

  int size() const { return int(parent.size()); }
  int raisable() const { return first[first.size() - 2]; }  ///< number of monomials of less than the full degree
  int up_to(int k) const { return first[k + 1]; }           ///< number of monomials of degree <= k

  int variables;
  std::vector<int> parent, variable, order;  ///< of the first, alpha = 0, all 0; order = |alpha|
  std::vector<double> share, factorial;      ///< 1 over the exponent of the variable; alpha!
  std::vector<int> first;                    ///< number of monomials of degree < k, k = 0 .. degree + 1
  std::vector<std::vector<int>> raised;      ///< of each variable h: place of alpha + e_h for all |alpha| < degree
};

/// The moments of alpha = (a, b), a and b monomials of the left and of the right half of the variables, |a| + |b| <= degree.
/// Moments are then sums of products of two factors, and polynomials are matrix products with one half and then the other. Row a
/// holds all b that fit; they come first in `right`.
struct MomentTable {
  MomentTable(int variables, int degree);

  int size() const { return int(factorial.size()); }

  int degree;
  Monomials left, right;
  std::vector<int> row, columns;  ///< where row a starts, and how many b it has
  std::vector<int> rows;          ///< how many a there are for b
  std::vector<double> factorial;  ///< alpha!
};

/// How far the moments are taken for a model. With a the largest exponent of a pair and r_k = a^(k + 1) / (k + 1)! e^(2 a),
/// polynomials of degree k + 1 leave out at most r_(k + 1) of a query's sum over slots, and r_k of that in its derivatives. The
/// latter matter less:
/// - the derivative with respect to a query's w has -1 / (L - 1) of the sum over other blocks of share times v = 1/2 + dv, of which
///   only dv comes from derivatives: r_k / (2 (L - 1)), where its other terms are of the order of 1;
/// - the derivative with respect to a slot's v is the sum over queries of o = oc + do, of which only do comes from derivatives:
///   relatively r_k max |do| / oc.
struct MomentPlan {
  /// The least degree whose remainder is at most 2e-13; degree -1 if there is none up to 6.
  explicit MomentPlan(const CentredScales& scales);

  int degree;        ///< k, of derivatives; moments and values go one higher
  double remainder;  ///< the largest of these three
};

/// Vector operations for one context's loss and gradient, by pairs and by moments; what decides between the two kernels.
double pair_operations(const CentredScales& scales);
double moment_operations(const CentredScales& scales, const MomentPlan& plan);

}  // namespace phaselock
