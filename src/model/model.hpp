// The retrieval model's sizes and scales, and the attention of one query (theory.md sections 1 and 2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace phaselock {

/// Sizes and scales of the idealized model, theory.md section 1.
struct Model {
  int blocks = 4;       ///< L, compressed blocks of a context
  int positions = 4;    ///< S, tokens of a block
  int heads = 3;        ///< H
  int vocabulary = 64;  ///< N >= L S
  double gamma = 1.0;   ///< scale of the attention scores, in (0, 1]
  double beta = 1.0;    ///< scale of the logits, > 0

  int slots() const { return blocks * positions; }                 ///< L S, tokens of a context
  int outside() const { return vocabulary - slots(); }             ///< N - L S, tokens of the vocabulary that are not in a context
  int phases() const { return positions - 1; }                     ///< S - 1, offsets that queries can have
  int queries() const { return blocks * phases(); }                ///< L (S - 1)
  int gate_weights() const { return heads * blocks * positions; }  ///< weights of one branch in one context
  std::size_t branch_rows() const { return std::size_t(heads) * positions; }  ///< H S, gate rows of one branch
  std::size_t table_size() const { return 2 * branch_rows() * vocabulary; }   ///< 2 H S N, entries of all gate tables
};

/// Throws DomainError unless 2 <= L, 2 <= S, 1 <= H, L S <= N, 0 < gamma <= 1 and 0 < beta with beta H <= 700.
/// (The theorems ask for more, see unmet_assumptions; the formulas do not.)
void validate(const Model& model);

/// Which of the paper's assumptions on sizes do not hold: L >= 4, S >= 3, H < S. Empty if all hold.
std::vector<std::string> unmet_assumptions(const Model& model);

/// Standard deviation of each token-mean bias for c uniform in a ball of radius rho (theory.md section 3):
/// sigma_b = rho sqrt(c / (2 H S (N + 1) + 2)), c = kappa + 1/N.
double bias_scale(const Model& model, double kappa, double rho);

/// c = kappa + 1/N, the speed of the static flow (theory.md section 3).
inline double static_speed(const Model& model, double kappa) { return kappa + 1.0 / model.vocabulary; }

// In a namespace of its own, because argument-dependent lookup by Model must not find these for packs.
namespace ordinary {
#include "model/attention-inl.hpp"
}
using namespace ordinary;

}  // namespace phaselock
