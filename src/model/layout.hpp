// How the tokens of a context, the entries that compress them and the queries relate: the one description of it (theory.md section
// 1). Tokens of a context are numbered 0 .. L S - 1 as they stand in it; a number of that kind is called a slot.
#pragma once

#include <vector>

#include "model/model.hpp"

namespace phaselock {

/// Consecutive slots of a context, which is circular: slot L S - 1 is followed by slot 0.
struct Window {
  int first;  ///< 0 .. slots - 1
  int width;  ///< 1 .. slots
  int slots;  ///< of the context

  /// The slot at an offset, 0 .. width - 1.
  int operator[](int offset) const {
    const int slot = first + offset;
    return slot < slots ? slot : slot - slots;
  }
};

/// A value: two layouts are equal if their numbers are.
struct Layout {
  int blocks;                         ///< L >= 1, strides of a context
  int stride;                         ///< S >= 1, from one entry of a head to its next
  int window;                         ///< W, tokens of an entry; S <= W <= L S
  std::vector<int> shifts;            ///< where a head's first entry starts, 0 .. S - 1; [H]
  std::vector<int> exact_phases;      ///< phases whose tokens also have an entry of their own in every head, each 0 .. S - 1
  std::vector<double> query_weights;  ///< weight >= 0 of a token's query in the loss, by the token's phase; [S]

  /// Of a model: L blocks of S tokens. Every token sits in one entry of each head, its block's, and is queried unless it ends it.
  static Layout of(const Model& model);

  int slots() const { return blocks * stride; }        ///< L S, tokens of a context
  int phase(int slot) const { return slot % stride; }  ///< position modulo the stride
  int block(int slot) const { return slot / stride; }  ///< which stride a slot is in
  int slot(int block, int phase) const { return block * stride + phase; }
  int answer(int slot) const { return slot + 1 < slots() ? slot + 1 : 0; }  ///< of the query at a slot: the token after it

  /// Entries of a head: L windows, in the order of their first slots before shifts, then the exact ones, block by block.
  int entries() const { return blocks * (1 + int(exact_phases.size())); }

  /// The slots whose tokens an entry's key is made of, 0 <= entry < entries(). A window's value is made of the same; an exact
  /// entry has one slot, and the answer of that is its value.
  Window tokens(int entry, int head) const {
    if (entry < blocks) return {Window{entry * stride, window, slots()}[shifts[head]], window, slots()};
    const int exact = entry - blocks, kinds = int(exact_phases.size());
    return {slot(exact / kinds, exact_phases[exact % kinds]), 1, slots()};
  }

  /// The slots whose queries have a weight, in order.
  std::vector<int> queries() const;

  /// Whether this is the layout of the paper's model, Layout::of.
  bool is_single_block() const;

  bool operator==(const Layout&) const = default;
};

}  // namespace phaselock
