// Errors of the mathematics. Files, arguments and their exit codes belong to scenarios/.
#pragma once

#include <stdexcept>
#include <string>

namespace phaselock {

/// A value outside the domain of a formula: a bad model, a wrong shape, a geometry that is no Gram matrix.
class DomainError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The user asked to stop (see interrupt.hpp).
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace phaselock
