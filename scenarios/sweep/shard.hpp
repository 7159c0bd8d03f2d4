// A part of a sweep that one process computes.
#pragma once

namespace phaselock {

/// Of `count` shards, number `index`, from 0: it computes the chunks of number index, index + count, ... of all cells in order.
struct Shard {
  int index = 0, count = 1;
  bool operator==(const Shard&) const = default;
};

}  // namespace phaselock
