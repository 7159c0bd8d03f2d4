#include "model/gates.hpp"

#include <algorithm>

#include "model/layout.hpp"
#include "model/random.hpp"

namespace phaselock {

namespace {

/// Calls visit(branch, row index, gate index, window) for every gate (branch, head, block) of a context.
template <class Visit>
void for_each_gate(const Model& model, Visit visit) {
  const Layout layout = Layout::of(model);
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < model.heads; ++h)
      for (int l = 0; l < model.blocks; ++l)
        visit(branch, row_index(model, branch, h, 0), gate_index(model, h, l, 0), layout.tokens(l, h));
}

}  // namespace

void gates_from_tables(const Model& model, std::span<const double> tables, std::span<const Token> context, ContextGates& gates) {
  const int S = model.positions;
  const std::size_t N = model.vocabulary;
  std::vector<double> logits(S);
  for_each_gate(model, [&](int branch, std::size_t row, std::size_t gate, Window window) {
    for (int r = 0; r < S; ++r) logits[r] = tables[(row + r) * N + context[window[r]]];
    softmax(logits.data(), S, (branch == key_branch ? gates.key : gates.value).data() + gate);
  });
}

void pull_back_to_tables(const Model& model, const ContextGates& gates, const ContextGates& dgates, std::span<const Token> context,
                         double weight, std::span<double> dtables) {
  const int S = model.positions;
  const std::size_t N = model.vocabulary;
  std::vector<double> dlogits(S);
  for_each_gate(model, [&](int branch, std::size_t row, std::size_t gate, Window window) {
    const auto& p = branch == key_branch ? gates.key : gates.value;
    const auto& d = branch == key_branch ? dgates.key : dgates.value;
    softmax_pullback(p.data() + gate, d.data() + gate, S, dlogits.data());
    for (int r = 0; r < S; ++r) dtables[(row + r) * N + context[window[r]]] += weight * dlogits[r];
  });
}

std::vector<double> tables_from_bias(const Model& model, std::span<const double> bias) {
  std::vector<double> tables(model.table_size());
  const std::size_t N = model.vocabulary;
  for (std::size_t row = 0; row < bias.size(); ++row) std::fill_n(tables.begin() + row * N, N, bias[row]);
  return tables;
}

std::vector<double> static_part(const Model& model, std::span<const double> tables) {
  const std::size_t N = model.vocabulary;
  std::vector<double> bias(tables.size() / N, 0.0);
  for (std::size_t row = 0; row < bias.size(); ++row) {
    for (std::size_t i = 0; i < N; ++i) bias[row] += tables[row * N + i];
    bias[row] /= double(N);
  }
  return bias;
}

std::vector<double> static_weights(const Model& model, std::span<const double> bias) {
  std::vector<double> weights(bias.size());
  for (std::size_t row = 0; row < bias.size(); row += model.positions)
    softmax(bias.data() + row, model.positions, weights.data() + row);
  return weights;
}

ContextGates equal_blocks(const Model& model, std::span<const double> weights) {
  ContextGates gates(model);
  for_each_gate(model, [&](int branch, std::size_t row, std::size_t gate, Window) {
    auto& p = branch == key_branch ? gates.key : gates.value;
    std::copy_n(weights.begin() + row, model.positions, p.begin() + gate);
  });
  return gates;
}

ContextGates selection_gates(const Model& model, std::span<const int> pattern) {
  ContextGates gates(model);
  for (int h = 0; h < model.heads; ++h)
    for (int l = 0; l < model.blocks; ++l) {
      const int r = pattern[h * model.blocks + l];
      gates.key[gate_index(model, h, l, r)] = 1.0;
      gates.value[gate_index(model, h, l, r + 1)] = 1.0;
    }
  return gates;
}

std::vector<double> initial_bias(const Model& model, double kappa, double rho, std::uint64_t seed) {
  Stream stream(seed, Purpose::initial);
  const double sigma = bias_scale(model, kappa, rho);
  std::vector<double> bias(2 * model.branch_rows());
  for (double& b : bias) b = sigma * stream.normal();
  return bias;
}

}  // namespace phaselock
