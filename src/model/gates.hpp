// Gate weights of the compression and where they come from: gate tables, static biases (theory.md section 3).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "model/contexts.hpp"
#include "model/model.hpp"

namespace phaselock {

/// The weights of every gate in one context, numbers of type T: pK and pV, each [H][L][S] row-major.
template <class T>
struct GatesOf {
  std::vector<T> key, value;

  explicit GatesOf(const Model& model, const T& fill = T(0.0))
      : key(model.gate_weights(), fill), value(model.gate_weights(), fill) {}
};

using ContextGates = GatesOf<double>;

/// Place of weight (h, l, r) in a branch of ContextGates.
inline std::size_t gate_index(const Model& model, int head, int block, int offset) {
  return (std::size_t(head) * model.blocks + block) * model.positions + offset;
}

/// Branches of a gate in tables and biases: [2][H][S][N] and [2][H][S], row-major.
enum Branch : int { key_branch = 0, value_branch = 1 };

/// Place of row (branch, head, offset) in biases; times N, the start of that row in tables.
inline std::size_t row_index(const Model& model, int branch, int head, int offset) {
  return std::size_t(branch) * model.branch_rows() + std::size_t(head) * model.positions + offset;
}

/// Gate weights of one context from tables G [2][H][S][N]: p_hl(r) = softmax_r G_r(x_lr).
void gates_from_tables(const Model& model, std::span<const double> tables, std::span<const Token> context, ContextGates& gates);

/// Adds the pullback of dLoss/dgates of one context to dLoss/dtables.
void pull_back_to_tables(const Model& model, const ContextGates& gates, const ContextGates& dgates, std::span<const Token> context,
                         double weight, std::span<double> dtables);

/// Tables whose rows are constant: G_r(i) = b_r.
std::vector<double> tables_from_bias(const Model& model, std::span<const double> bias);

/// The token means b_r = (1/N) sum_i G_r(i) of tables: the static part of a linear gate, [2][H][S].
std::vector<double> static_part(const Model& model, std::span<const double> tables);

/// Weights p [2][H][S] of static gates from their biases.
std::vector<double> static_weights(const Model& model, std::span<const double> bias);

/// The same weights in every block: p [2][H][S] spread over ContextGates.
ContextGates equal_blocks(const Model& model, std::span<const double> weights);

/// Weights of a selection pattern, pK = e_r and pV = e_(r+1) for
/// r = pattern[h * L + l], 0-based key offsets in 0 .. S-2 (theory.md section 1).
ContextGates selection_gates(const Model& model, std::span<const int> pattern);

/// Initial biases of static gates: independent normals of standard deviation bias_scale(model, kappa, rho).
std::vector<double> initial_bias(const Model& model, double kappa, double rho, std::uint64_t seed);

}  // namespace phaselock
