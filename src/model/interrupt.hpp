// One flag that a signal handler may set and long computations poll.
#pragma once

#include <atomic>

#include "model/errors.hpp"

namespace phaselock {

inline std::atomic<bool>& interrupt_flag() {
  static std::atomic<bool> flag{false};
  return flag;
}

/// Throws Interrupted once the flag is set. Called between steps, starts, seeds and contexts, never inside a formula.
inline void check_interrupt() {
  if (interrupt_flag().load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace phaselock
