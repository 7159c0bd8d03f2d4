#include "schema/kind_description.hpp"

namespace phaselock {

void check_model(const Scenario& s) {
  try {
    validate(s.model);
  } catch (const DomainError& error) {
    throw s.failure(error);
  }
}

void check_trained_gates(const Scenario& s) {
  if (s.gates.gates == GateWord::oracle)
    throw s.failure("gates.class",
                    "gates.class = \"oracle\" belongs to kind = \"search\"; here it must be one of linear, static, tied, uniform");
}

void check_static_geometry(const Scenario& s) {
  if (is_static(s) && !s.is_exact())
    throw s.failure(s.is_given("geometry.kind") ? "geometry.kind" : "gates.class",
                    "geometry.kind must be \"exact\" for static gates: they are not invariant at any other geometry");
}

}  // namespace phaselock
