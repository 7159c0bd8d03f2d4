// Boxes of the key weights of two blocks, and what is proved of the pair's loss there (theory.md section 4.8).
#pragma once

#include <vector>

#include "certificate.hpp"
#include "interval.hpp"

namespace phaselock_check {

/// low <= u <= high for the key weights u of two blocks at queried phases, [2][H][S-1].
struct KeyBox {
  std::vector<double> low, high;
};

/// All keys, 0 <= u <= 1. Needs sizes as box_margin does.
KeyBox all_keys(const Model& model);

/// The keys with u_h(h) >= 1 - eta in both blocks, or a little more.
KeyBox keys_near_selection(const Model& model, double eta);

/// Whether u_h(h) >= 1 - eta throughout the box, in both blocks.
bool is_near_selection(const Model& model, const KeyBox& box, double eta);

/// Shrinks the box by keys that need not be looked at (step 1): those of gates whose weights add up to more than 1, and, of keys
/// that differ only in the order of heads, blocks or offsets in a block, all but one. False if nothing is left. Needs H < S.
bool drop_equivalent_keys(const Model& model, KeyBox& box);

/// Its low end bounds the pair's loss per query from below, for keys in the box and any values whose first gate has at most `cap`
/// on offset 1: the tangent, at the value weights V [2][H][S], of a convex function that is nowhere above that loss (step 2).
Interval pair_bound(const Model& model, const KeyBox& box, const std::vector<double>& V, const Interval& cap);

/// Positive only if the pair's loss falls as key weight moves to a head's target, throughout the keys with u_h(h) >= 1 - eta and
/// the values with V_h(h+1) >= 1 - tau (step 4).
Interval keys_descent(const Model& model, double eta, double tau);

}  // namespace phaselock_check
