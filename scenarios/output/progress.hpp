// Progress of long work on standard error: a bar with rate and time left on a terminal, plain lines elsewhere.
// Own code: Debian 12 has no C++ library of progress bars.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace phaselock {

class ProgressBar {
 public:
  /// A quiet one says nothing.
  explicit ProgressBar(bool quiet, std::FILE* stream = stderr);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// What the next updates speak of.
  void begin(std::string what, std::string unit);

  /// `done` of `total` in units of time left; `count` in the unit of the rate shown.
  void update(double done, double total, double count);
  void update(double done, double total) { update(done, total, done); }

  /// Removes the bar from the terminal, before other messages.
  void clear();

 private:
  using WallClock = std::chrono::steady_clock;
  std::string line(double fraction, double count, double elapsed) const;

  bool quiet_, terminal_;
  std::FILE* stream_;
  std::string what_, unit_;
  WallClock::time_point started_, shown_;
  bool bar_ = false;
};

}  // namespace phaselock
