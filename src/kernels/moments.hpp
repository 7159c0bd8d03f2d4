// Sums of exponentials e^(x . y) over many points by their moments: with p(t) = sum_k series_k t^k / k! in place of e^t,
// sum_j f_j p(x . y_j) = sum_alpha series_|alpha| x^alpha / alpha! sum_j f_j y_j^alpha.
#pragma once

#include <span>
#include <vector>

#include "kernels/centred_scales.hpp"

namespace phaselock {

/// The divided powers x^alpha / alpha! of some variables with |alpha| <= degree, by rising degree: 1, the variables, and products
/// of two earlier ones.
struct Monomials {
  Monomials(int variables, int degree);

  int size() const { return int(order.size()); }
  int raisable() const { return first[first.size() - 2]; }  ///< number of monomials of less than the full degree
  int up_to(int k) const { return first[k + 1]; }           ///< number of monomials of degree <= k

  /// Divided power `to` is share times the product of two others. Only the powers of one variable need a share, 1 over its
  /// exponent.
  struct Product {
    int to, left, right;
    double share;
  };

  int variables;
  std::vector<Product> shared, plain;    ///< those that need a share, and after them those that do not
  std::vector<int> order;                ///< |alpha|
  std::vector<double> factorial;         ///< alpha!
  std::vector<int> first;                ///< number of monomials of degree < k, k = 0 .. degree + 1
  std::vector<std::vector<int>> raised;  ///< of each variable h: place of alpha + e_h for all |alpha| < degree
};

/// The moments of alpha = (a, b), a and b monomials of the left and of the right half of the variables, |a| + |b| <= degree.
/// Moments are then sums of products of two factors, and polynomials are matrix products with one half and then the other. Row a
/// holds all b that fit; they come first in `right`.
struct MomentTable {
  MomentTable(int variables, std::span<const double> series);  ///< series_0 .. series_degree

  int size() const { return int(weight.size()); }

  int degree;
  Monomials left, right;
  std::vector<int> row, columns;  ///< where row a starts, and how many b it has
  std::vector<int> rows;          ///< how many a there are for b
  std::vector<double> weight;     ///< alpha! series_|alpha|: of divided powers of x times those of y in p(x . y)
};

/// How far the moments are taken for a model, and with which polynomial. With a the largest exponent of a pair, the polynomial q of
/// degree k interpolates e^t in Chebyshev points of [-a, a] and leaves out at most r = 2 (a / 2)^(k + 1) / (k + 1)! e^(2 a) of it.
/// Sums go by p = 1 + integral of q, which leaves out a r at most, so that their derivatives go by q. The latter matter less:
/// - the derivative with respect to a query's w has -1 / (L - 1) of the sum over other blocks of share times v = 1/2 + dv, of which
///   only dv comes from derivatives: r / (2 (L - 1)), where its other terms are of the order of 1;
/// - the derivative with respect to a slot's v is the sum over queries of o = oc + do, of which only do comes from derivatives:
///   relatively r max |do| / oc.
struct MomentPlan {
  /// The least degree whose remainder is at most 4e-13; degree -1 if there is none up to 6.
  explicit MomentPlan(const CentredScales& scales);

  int degree;                  ///< k, of derivatives; moments and values go one higher
  double remainder;            ///< the largest of these three
  std::vector<double> series;  ///< of p, k! times its coefficient of t^k, k = 0 .. degree + 1
};

/// Vector operations for one context's loss and gradient, by pairs and by moments; what decides between the two kernels.
double pair_operations(const CentredScales& scales);
double moment_operations(const CentredScales& scales, const MomentPlan& plan);

}  // namespace phaselock
