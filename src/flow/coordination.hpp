// What heads may be given to spread evenly over the phases (theory.md section 5, head coverage): a repulsion in the loss, a
// start that keeps them apart, a time of annealing. None of it is part of the paper's model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

struct Coordination {
  double repulsion =
      0.0;  ///< weight >= 0, nats, of the heads' mean key overlap (key_overlap), added to the loss that the flow descends
  bool orthogonal = false;    ///< heads start apart, see spread_heads
  double anneal_until = 0.0;  ///< until this time the flow is that of annealed(model); 0: never
  double anneal_beta = 0.0;   ///< beta meanwhile; 0: the model's
  int anneal_vocabulary = 0;  ///< N meanwhile, also in the flow's speed c = kappa + 1/N; 0: the model's
};

/// The model with the annealing's beta and N.
SingleBlock annealed(const SingleBlock& model, const Coordination& coordination);

/// Throws DomainError unless repulsion >= 0, anneal_until >= 0, annealed(model) is valid and, for an orthogonal start, H <= S - 1.
void validate(const SingleBlock& model, const Coordination& coordination);

/// Biases [2][H][S] whose heads start apart. What grows from the saddle is, for each head, a mixture of its key biases at offsets
/// 1 .. n and its value biases at 2 .. n + 1 (n = S - 1, offset r and r + 1 correspond), less their means. Each head's two vectors
/// are turned, keeping their lengths, into the direction of one unit vector e_h: e_1 .. e_H are mutually orthogonal if H < n, and
/// if H = n, where n - 1 dimensions have no room for that, the corners of a regular simplex (products -1/(n - 1)). They are the
/// nearest such frame to the sums of the heads' two drawn vectors, so that no head and no phase is preferred. Everything else
/// stays as drawn: the means, the key bias at offset S, the value bias at 1. Throws DomainError if H > n.
std::vector<double> spread_heads(const SingleBlock& model, std::span<const double> bias);

/// Initial biases of a seed: initial_bias, spread if the coordination asks for it.
std::vector<double> coordinated_bias(const SingleBlock& model, double kappa, double rho, std::uint64_t seed,
                                     const Coordination& coordination);

}  // namespace phaselock
