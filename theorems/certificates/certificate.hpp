// Certificates: claims about one model with everything needed to check them again (docs/certificate.md has the schema).
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <span>

#include "flow/flow.hpp"
#include "model/single_block.hpp"
#include "proofs/branch_and_bound.hpp"

namespace phaselock {

/// The certificate of a claim from its `data`, with schema, statement and hash. claim: "trapping", "theorem1_holds" or
/// "theorem1_fails".
nlohmann::json make_certificate(std::string_view claim, const SingleBlock& model, int precision_bits, nlohmann::json data);

/// The claim that the population flow from the end of `flow` converges to its selection; nothing unless the flow was trapped.
/// static_gates: the state is [2][H][S] biases rather than [2][H][S][N] tables.
std::optional<nlohmann::json> trapping_certificate(const SingleBlock& model, double kappa, bool static_gates,
                                                   const FlowResult& flow);

/// The claim that every global minimizer selects, with the boxes that prove it; nothing unless `found.selects`.
std::optional<nlohmann::json> branch_and_bound_certificate(const SingleBlock& model, const BranchAndBound& found);

}  // namespace phaselock
