#include "loss/context_loss.hpp"

#include <algorithm>
#include <cmath>

namespace phaselock {

namespace {

Query empty_query(const Model& model) {
  const std::vector<double> heads(model.heads), slots(model.slots());
  return {0, 0, heads, heads, slots, slots, 0.0, 0.0};
}

void attend(const Model& model, const ContextGates& gates, Query& query) {
  for (int h = 0; h < model.heads; ++h) {
    const auto [w, o] = attention(model, gates.key[gate_index(model, h, query.block, query.position)]);
    query.w[h] = w;
    query.o[h] = o;
  }
}

void read_out(const Model& model, const ContextGates& gates, Query& query) {
  // m(l, r) = sum_h (l == l* ? w_h : o_h) pV_hl(r)
  std::fill(query.m.begin(), query.m.end(), 0.0);
  for (int h = 0; h < model.heads; ++h)
    for (int l = 0; l < model.blocks; ++l) {
      const double a = l == query.block ? query.w[h] : query.o[h];
      for (int r = 0; r < model.positions; ++r) query.m[l * model.positions + r] += a * gates.value[gate_index(model, h, l, r)];
    }
  // Z = N - L S + sum e^(beta m), scaled by e^(-beta max m) so that it cannot overflow.
  const double top = model.beta * *std::max_element(query.m.begin(), query.m.end());
  const double outside = std::exp(-top);
  double Z = (model.vocabulary - model.slots()) * outside;
  for (std::size_t j = 0; j < query.m.size(); ++j) Z += query.share[j] = std::exp(model.beta * query.m[j] - top);
  for (double& share : query.share) share /= Z;
  query.outside_share = outside / Z;
  query.loss = -model.beta * query.m[query.answer(model)] + top + std::log(Z);
}

}  // namespace

Query query_at(const Model& model, const ContextGates& gates, int block, int position) {
  Query query = empty_query(model);
  query.block = block;
  query.position = position;
  attend(model, gates, query);
  read_out(model, gates, query);
  return query;
}

void for_each_query(const Model& model, const ContextGates& gates, const std::function<void(const Query&)>& visit) {
  Query query = empty_query(model);
  for (query.block = 0; query.block < model.blocks; ++query.block)
    for (query.position = 0; query.position < model.phases(); ++query.position) {
      attend(model, gates, query);
      read_out(model, gates, query);
      visit(query);
    }
}

double context_loss(const Model& model, const ContextGates& gates, ContextGates* gradient) {
  if (gradient) *gradient = ContextGates(model);
  const int L = model.blocks, S = model.positions;
  const double per_query = 1.0 / model.queries();
  double loss = 0.0;
  std::vector<double> dm(model.slots());
  for_each_query(model, gates, [&](const Query& query) {
    loss += per_query * query.loss;
    if (!gradient) return;
    // dLoss/dm(l, r) = beta (share(l, r) - 1{(l, r) is the answer})
    for (std::size_t j = 0; j < dm.size(); ++j) dm[j] = per_query * model.beta * query.share[j];
    dm[query.answer(model)] -= per_query * model.beta;
    for (int h = 0; h < model.heads; ++h) {
      double dw = 0.0, d_o = 0.0;
      for (int l = 0; l < L; ++l) {
        const double a = l == query.block ? query.w[h] : query.o[h];
        double& da = l == query.block ? dw : d_o;
        for (int r = 0; r < S; ++r) {
          gradient->value[gate_index(model, h, l, r)] += a * dm[l * S + r];
          da += dm[l * S + r] * gates.value[gate_index(model, h, l, r)];
        }
      }
      gradient->key[gate_index(model, h, query.block, query.position)] +=
          w_slope(model, query.w[h]) * dw + o_slope(model, query.w[h]) * d_o;
    }
  });
  return loss;
}

}  // namespace phaselock
