// The retrieval model's sizes and scales, and the attention of one query (theory.md sections 1 and 2).
#pragma once

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

  int slots() const { return blocks * positions; }                            ///< L S, tokens of a context
  int phases() const { return positions - 1; }                                ///< S - 1, positions that can be queried
  int queries() const { return blocks * phases(); }                           ///< L (S - 1)
  int gate_weights() const { return heads * blocks * positions; }             ///< weights of one branch in one context
  std::size_t branch_rows() const { return std::size_t(heads) * positions; }  ///< H S, gate rows of one branch
  std::size_t table_size() const { return 2 * branch_rows() * vocabulary; }   ///< 2 H S N, entries of all gate tables
};

/// Throws DomainError unless 2 <= L, 2 <= S, 1 <= H, L S <= N, 0 < gamma <= 1 and 0 < beta with beta H <= 700.
/// (The theorems ask for more, see unmet_assumptions; the formulas do not.)
void validate(const Model& model);

/// Which of the paper's assumptions on sizes do not hold: L >= 4, S >= 3, H < S. Empty if all hold.
std::vector<std::string> unmet_assumptions(const Model& model);

/// Attention of one query as a function of u = pK(query), theory.md section 2:
/// w(u) = e^(gamma u) / (e^(gamma u) + L - 1) on the right block, o(u) = 1 / (e^(gamma u) + L - 1) on each other one.
/// Generic in the number type of u, which needs exp and arithmetic with double.
template <class T>
struct Attention {
  T w, o;
};

template <class T>
Attention<T> attention(const Model& model, const T& u) {
  using std::exp;
  const T e = exp(model.gamma * u);
  const T total = e + double(model.blocks - 1);
  return {e / total, 1.0 / total};
}

/// w' = gamma w (1 - w), theory.md section 2.
template <class T>
T w_slope(const Model& model, const T& w) {
  return model.gamma * w * (1.0 - w);
}

/// o' = -w' / (L - 1), theory.md section 2.
template <class T>
T o_slope(const Model& model, const T& w) {
  return -w_slope(model, w) / double(model.blocks - 1);
}

/// w'' = gamma w' (1 - 2 w), theory.md section 2.
template <class T>
T w_curvature(const Model& model, const T& w) {
  return model.gamma * w_slope(model, w) * (1.0 - 2.0 * w);
}

/// Standard deviation of each token-mean bias for c uniform in a ball of radius rho (theory.md section 3):
/// sigma_b = rho sqrt(c / (2 H S (N + 1) + 2)), c = kappa + 1/N.
double bias_scale(const Model& model, double kappa, double rho);

/// c = kappa + 1/N, the speed of the static flow (theory.md section 3).
inline double static_speed(const Model& model, double kappa) { return kappa + 1.0 / model.vocabulary; }

}  // namespace phaselock
