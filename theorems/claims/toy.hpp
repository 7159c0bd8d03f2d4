// What the claims about the toy example share (theory.md section 6).
#pragma once

#include "claims/claim.hpp"
#include "flow/integrate.hpp"
#include "flow/toy.hpp"

namespace phaselock {

/// dtheta/dt of the state theta [2].
VectorField toy_field(const Toy& toy);

std::vector<Assumption> toy_assumptions(const SingleBlock& model);

/// The model given, or that of the suite: L = 4, gamma = 1, beta = 4.
SingleBlock toy_model(const VerifyOptions& options);

}  // namespace phaselock
