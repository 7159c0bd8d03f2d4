// The centred form of the pair exponentials e^(beta m) that the fast kernels share (theory.md section 2).
//
// With o = oc + do and v = 1/2 + dv the logit of a slot of another block is
//     beta sum_h o_h v_h = beta sum_h do_h dv_h + beta oc sum_h dv_h + (beta / 2) sum_h o_h,
// a term of the pair (query, slot), one of the slot and one of the query. do is small, hence the pair's exponential P is a
// polynomial of low degree; the slot's exponential f and the query's g are shared by many pairs. The few slots of the query's
// own block are taken as they are: beta sum_h w_h v_h is within `shift` of `shift`. So with Z held as Z e^-shift
//     Z = outside + g sum_j f_j P_j + sum_r e^(beta sum_h w_h v_h - shift).
// The kernels have this form of the definition's Z for its speed and are tested against the definition (kernels_test).
#pragma once

#include <cmath>

#include "kernels/short_exp.hpp"
#include "model/single_block.hpp"

namespace phaselock {

struct CentredScales {
  explicit CentredScales(const SingleBlock& m)
      : model(m),
        o_mid(0.5 * (attention(m, 0.0).o + attention(m, 1.0).o)),
        w_mid(0.5 * (attention(m, 0.0).w + attention(m, 1.0).w)),
        off_reach(0.5 * m.beta * m.heads * (attention(m, 0.0).o - o_mid)),
        shift(0.5 * m.beta * m.heads * attention(m, 1.0).w),
        outside(m.outside() * std::exp(-shift)),
        g_mid(std::exp(0.5 * m.beta * m.heads * o_mid - shift)),
        products_fit(shift < 100.0),
        off_pair(off_reach),
        own_pair(shift),
        off_slot(0.5 * m.beta * m.heads * o_mid),
        centred_w(centred_attention(m, w_mid)) {}

  SingleBlock model;
  double o_mid, w_mid;  ///< centres of o and w
  double off_reach;     ///< largest |beta sum_h do_h dv_h|
  double shift;         ///< Z is held as Z e^-shift, so that it neither overflows nor vanishes
  double outside;       ///< the tokens outside the context in that
  double g_mid;         ///< a query's factor at the centre
  bool products_fit;    ///< a product of four Z stays in range
  ShortExp off_pair, own_pair, off_slot;
  Polynomial centred_w;  ///< w(1/2 + t) - w_mid for |t| <= 1/2, to 1e-15 w_mid; and o - o_mid is -1 / (L - 1) times that

 private:
  /// w has its nearest poles at u = (log(L - 1) +- i pi) / gamma, so that the error falls twelvefold or faster from degree to
  /// degree. It is measured halfway between the points of interpolation, where it is largest.
  static Polynomial centred_attention(const SingleBlock& m, double middle) {
    constexpr double tolerance = 1e-15;
    const auto w = [&m, middle](long double t) { return attention(m, 0.5L + t).w - middle; };
    for (int degree = 8;; ++degree) {
      const Polynomial p = interpolate(w, 0.5, degree);
      double error = 0.0;
      for (int k = 0; k <= degree + 1; ++k) {
        const long double t = 0.5L * std::cos(std::numbers::pi_v<long double> * k / (degree + 1));
        long double value = 0.0L;
        for (int i = degree; i >= 0; --i) value = value * t + p.coefficient[i];
        error = std::max(error, double(std::abs(value - w(t))));
      }
      if (error <= tolerance * middle || degree == Polynomial::most) return p;
    }
  }
};

}  // namespace phaselock
