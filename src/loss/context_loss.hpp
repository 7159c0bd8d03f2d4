// The definition: loss and gradient of one context at exact geometry, one line a formula (theory.md section 2). Written once for
// every number type: double, balls (proofs/ball.hpp), automatic derivatives. Every faster path is tested against this one.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/gates.hpp"
#include "model/layout.hpp"
#include "model/model.hpp"

namespace phaselock {

/// What one query sees, theory.md section 2. T needs arithmetic with double, exp, log and <.
template <class T>
struct QueryOf {
  int block, phase;      ///< (l*, r*)
  int answer;            ///< slot of its answer, (l*, r*+1)
  std::vector<T> w, o;   ///< attention of each head on the right block and on each other block, [H]
  std::vector<T> m;      ///< m(l, r), the weight that reaches each context token, [L][S]
  std::vector<T> share;  ///< e^(beta m(l, r)) / Z, the probability of each context token, [L][S]
  T outside_share;       ///< 1 / Z, the probability of each token outside the context
  T loss;                ///< -beta m(l*, r*+1) + log Z, nats
};
using Query = QueryOf<double>;

namespace definition {

template <class T>
QueryOf<T> empty_query(const Model& model) {
  const std::vector<T> heads(model.heads, T(0.0)), slots(model.slots(), T(0.0));
  return {0, 0, 0, heads, heads, slots, slots, T(0.0), T(0.0)};
}

/// Attention of the query at a slot.
template <class T>
void attend(const Model& model, const Layout& layout, const GatesOf<T>& gates, int slot, QueryOf<T>& query) {
  query.block = layout.block(slot);
  query.phase = layout.phase(slot);
  query.answer = layout.answer(slot);
  for (int h = 0; h < model.heads; ++h) {
    const Attention<T> a = attention(model, gates.key[gate_index(model, h, query.block, query.phase)]);
    query.w[h] = a.w;
    query.o[h] = a.o;
  }
}

/// m, Z, shares and loss of a query whose attention is known.
template <class T>
void read_out(const Model& model, const Layout& layout, const GatesOf<T>& gates, QueryOf<T>& query) {
  using std::exp;
  using std::log;
  // m(l, r) = sum_h (l == l* ? w_h : o_h) pV_hl(r)
  std::fill(query.m.begin(), query.m.end(), T(0.0));
  for (int h = 0; h < model.heads; ++h)
    for (int l = 0; l < model.blocks; ++l) {
      const T& a = l == query.block ? query.w[h] : query.o[h];
      const Window window = layout.tokens(l, h);
      for (int r = 0; r < model.positions; ++r) query.m[window[r]] += a * gates.value[gate_index(model, h, l, r)];
    }
  // Z = N - L S + sum e^(beta m), scaled by e^(-beta max m) so that it cannot overflow. (Any number near serves.)
  const T top = model.beta * *std::max_element(query.m.begin(), query.m.end());
  const T outside = exp(-top);
  T Z = double(model.outside()) * outside;
  for (std::size_t j = 0; j < query.m.size(); ++j) Z += query.share[j] = exp(model.beta * query.m[j] - top);
  for (T& share : query.share) share /= Z;
  query.outside_share = outside / Z;
  query.loss = -model.beta * query.m[query.answer] + top + log(Z);
}

}  // namespace definition

/// The query at (block, phase), phase 0 .. S - 2.
template <class T>
QueryOf<T> query_at(const Model& model, const GatesOf<T>& gates, int block, int phase) {
  const Layout layout = Layout::of(model);
  QueryOf<T> query = definition::empty_query<T>(model);
  definition::attend(model, layout, gates, layout.slot(block, phase), query);
  definition::read_out(model, layout, gates, query);
  return query;
}

/// Calls visit(query) for each of the L (S - 1) queries of a context, in order of (block, phase).
template <class T, class Visit>
void for_each_query(const Model& model, const GatesOf<T>& gates, Visit visit) {
  const Layout layout = Layout::of(model);
  QueryOf<T> query = definition::empty_query<T>(model);
  for (const int slot : layout.queries()) {
    definition::attend(model, layout, gates, slot, query);
    definition::read_out(model, layout, gates, query);
    visit(std::as_const(query));
  }
}

/// Loss of one context, averaged over its queries, in nats. If `gradient` is given it receives dLoss/dpK and
/// dLoss/dpV, treating all weights as free (theory.md section 5 calls them d_s).
template <class T>
T context_loss(const Model& model, const GatesOf<T>& gates, GatesOf<T>* gradient = nullptr) {
  if (gradient) *gradient = GatesOf<T>(model);
  const Layout layout = Layout::of(model);
  const double per_query = 1.0 / model.queries();
  T loss(0.0);
  std::vector<T> dm(model.slots(), T(0.0));
  for_each_query(model, gates, [&](const QueryOf<T>& query) {
    loss += per_query * query.loss;
    if (!gradient) return;
    // dLoss/dm(l, r) = beta (share(l, r) - 1{(l, r) is the answer})
    for (std::size_t j = 0; j < dm.size(); ++j) dm[j] = per_query * model.beta * query.share[j];
    dm[query.answer] -= per_query * model.beta;
    for (int h = 0; h < model.heads; ++h) {
      T dw(0.0), d_o(0.0);
      for (int l = 0; l < model.blocks; ++l) {
        const T& a = l == query.block ? query.w[h] : query.o[h];
        T& da = l == query.block ? dw : d_o;
        const Window window = layout.tokens(l, h);
        for (int r = 0; r < model.positions; ++r) {
          gradient->value[gate_index(model, h, l, r)] += a * dm[window[r]];
          da += dm[window[r]] * gates.value[gate_index(model, h, l, r)];
        }
      }
      gradient->key[gate_index(model, h, query.block, query.phase)] +=
          w_slope(model, query.w[h]) * dw + o_slope(model, query.w[h]) * d_o;
    }
  });
  return loss;
}

// In doubles it is compiled once, in context_loss.cpp.
extern template Query query_at(const Model&, const ContextGates&, int, int);
extern template double context_loss(const Model&, const ContextGates&, ContextGates*);

}  // namespace phaselock
