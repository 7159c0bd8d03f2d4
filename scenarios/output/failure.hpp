// What ends a command early: an exit code of the contract and a message that names the place.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

namespace phaselock {

/// Exit codes of the program.
enum class Exit : int {
  done = 0,  ///< done, or PROVED / SUPPORTED
  refuted = 1,
  undecided = 2,      ///< or assumptions not met
  bad_scenario = 64,  ///< scenario or arguments
  bad_data = 65,      ///< .npy or .json file
  internal = 70,
  cannot_write = 73,
  cannot_read = 74,
  interrupted = 130,
};

/// The message reads `place: what is wrong, and what is allowed`, place = file:line:column, an option or a file.
class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

/// Text on standard error. That it cannot be written changes nothing.
inline void tell(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace phaselock
