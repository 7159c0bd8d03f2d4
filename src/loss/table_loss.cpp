#include "table_loss.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "../interrupt.hpp"
#include "context_loss.hpp"
#include "dense_loss.hpp"

namespace phaselock {

double oracle_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                   ContextGates* gradient) {
  return geometry.is_exact() ? context_loss(model, gates, gradient) : dense_context_loss(model, geometry, context, gates, gradient);
}

double table_loss(const Model& model, const Geometry& geometry, const Contexts& contexts, std::span<const double> tables,
                  std::span<double> gradient) {
  constexpr std::size_t contexts_per_chunk = 64, most_chunks = 16;
  const std::size_t count = contexts.size();
  const std::size_t chunks = std::clamp<std::size_t>(count / contexts_per_chunk, 1, most_chunks);
  const double weight = 1.0 / double(count);
  std::vector<double> losses(chunks, 0.0);
  std::vector<std::vector<double>> gradients(gradient.empty() ? 0 : chunks, std::vector<double>(tables.size(), 0.0));
  tbb::parallel_for(std::size_t(0), chunks, [&](std::size_t chunk) {
    ContextGates gates(model), dgates(model);
    for (std::size_t m = count * chunk / chunks; m < count * (chunk + 1) / chunks; ++m) {
      check_interrupt();
      gates_from_tables(model, tables, contexts[m], gates);
      losses[chunk] += weight * oracle_loss(model, geometry, contexts[m], gates, gradient.empty() ? nullptr : &dgates);
      if (!gradient.empty()) pull_back_to_tables(model, gates, dgates, contexts[m], weight, gradients[chunk]);
    }
  });
  double loss = 0.0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    loss += losses[chunk];
    if (!gradient.empty())
      for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += gradients[chunk][k];
  }
  return loss;
}

}  // namespace phaselock
