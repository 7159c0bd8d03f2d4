// Loss and gradient of one context in a general geometry, K any Gram matrix (theory.md section 8).
#pragma once

#include <functional>
#include <span>

#include "loss/geometry.hpp"
#include "loss/shifted_exp.hpp"
#include "model/gates.hpp"

namespace phaselock {

/// Probabilities [N][queries] that each token is given as the answer of each query of the context, queries in order of
/// (block, phase).
Eigen::MatrixXd dense_answer_probabilities(const Model& model, const Geometry& geometry, std::span<const Token> context,
                                           const ContextGates& gates, ShiftedExp exponentials = shifted_exp);

/// Loss of one context averaged over its queries, nats; gradient with respect to all weights if not null. Reduces to
/// context_loss at epsilon = 0. One product of K's context columns with the readout of all queries: O(N L S Q), Q = L (S - 1).
double dense_context_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                          ContextGates* gradient = nullptr, ShiftedExp exponentials = shifted_exp);

}  // namespace phaselock
