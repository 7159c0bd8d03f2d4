// The centred form of the pair exponentials e^(beta m) that the fast kernels share (theory.md section 2).
//
// With o = oc + do and v = 1/2 + dv the logit of a slot of another block is
//     beta sum_h o_h v_h = beta sum_h do_h dv_h + beta oc sum_h dv_h + (beta / 2) sum_h o_h,
// a term of the pair (query, slot), one of the slot and one of the query. do is small, hence the pair's exponential P is a
// polynomial of low degree; the slot's exponential f and the query's g are multiplied in where they cost nothing. The query's
// own block has w in place of o. So Z = N - L S + g sum_j f_j P_j + own_g sum_r own_f_r own_P_r.
#pragma once

#include <cmath>

#include "../model.hpp"
#include "short_exp.hpp"

namespace phaselock {

struct CentredScales {
  explicit CentredScales(const Model& m)
      : model(m),
        o_mid(0.5 * (attention(m, 0.0).o + attention(m, 1.0).o)),
        w_mid(0.5 * (attention(m, 0.0).w + attention(m, 1.0).w)),
        off_reach(0.5 * m.beta * m.heads * (attention(m, 0.0).o - o_mid)),
        shift(0.5 * m.beta * m.heads * attention(m, 1.0).w),
        outside((m.vocabulary - m.slots()) * std::exp(-shift)),
        score_mid(std::exp(0.5 * m.gamma)),
        own_g_mid(std::exp(0.5 * m.beta * m.heads * w_mid - shift)),
        off_g_mid(std::exp(0.5 * m.beta * m.heads * o_mid - shift)),
        products_fit(shift < 100.0),
        off_pair(off_reach),
        own_pair(0.5 * m.beta * m.heads * (attention(m, 1.0).w - w_mid)),
        off_slot(0.5 * m.beta * m.heads * o_mid),
        own_slot(0.5 * m.beta * m.heads * w_mid),
        score(0.5 * m.gamma) {}

  Model model;
  double o_mid, w_mid;                     ///< centres of o and w
  double off_reach;                        ///< largest |beta sum_h do_h dv_h|
  double shift;                            ///< Z is held as Z e^-shift, so that it neither overflows nor vanishes
  double outside;                          ///< the tokens outside the context in that
  double score_mid, own_g_mid, off_g_mid;  ///< e^(gamma / 2); a query's factors at the centres
  bool products_fit;                       ///< a product of four Z stays in range
  ShortExp off_pair, own_pair, off_slot, own_slot, score;
};

}  // namespace phaselock
