#include "loss/observe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "loss/context_loss.hpp"
#include "loss/dense_loss.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/layout.hpp"

namespace phaselock {

namespace {

/// A head selects where both averages hold most of their weight at adjacent offsets; interior equilibria stay below this.
constexpr double selecting_weight = 0.9;

int peak(const double* weights, int count) { return int(std::max_element(weights, weights + count) - weights); }

/// Sums over contexts and blocks of one gate row's weights, entropies and extremes.
struct GateSums {
  std::vector<double> weights, offsets, least;  ///< [2][H][S], [2][H], [2][H][S] smallest weight met
};

GateObservation summarize(const Model& model, GateSums sums) {
  const int S = model.positions;
  GateObservation result{std::move(sums.weights), {}, std::move(sums.offsets), {}, 0.0};
  for (std::size_t row = 0; row < result.weights.size(); row += S) {
    const std::span<const double> p(result.weights.data() + row, S);
    result.static_offsets.push_back(effective_offsets(p));
    result.residual = std::max(result.residual, 1.0 - sums.least[row + peak(p.data(), S)]);
  }
  for (int h = 0; h < model.heads; ++h) {
    const double* key = result.weights.data() + row_index(model, key_branch, h, 0);
    const double* value = result.weights.data() + row_index(model, value_branch, h, 0);
    const int k = peak(key, S), v = peak(value, S);
    const bool selects = v == k + 1 && key[k] > selecting_weight && value[v] > selecting_weight;
    result.selection.push_back(selects ? k : -1);
  }
  return result;
}

/// Accumulates the credit of one query: probabilities of all tokens as (value, how many tokens have it) pairs.
struct Credit {
  double answer, top;
  double ties = 0;

  void count(double probability, double tokens = 1.0) {
    if (probability >= top * (1.0 - 1e-12)) ties += tokens;
  }
  double accuracy() const { return answer >= top * (1.0 - 1e-12) ? 1.0 / ties : 0.0; }
};

struct PhaseSums {
  std::vector<double> loss, probability, accuracy;
  explicit PhaseSums(const Model& model) : loss(model.phases()), probability(model.phases()), accuracy(model.phases()) {}

  void add(int phase, double query_loss, double answer, double credit) {
    loss[phase] += query_loss;
    probability[phase] += answer;
    accuracy[phase] += credit;
  }

  /// Means over the queries of each phase; divided only here, so that a phase that is always answered has accuracy 1 exactly.
  PhaseCurve curve(double queries_of_a_phase) && {
    for (auto* all : {&loss, &probability, &accuracy})
      for (double& sum : *all) sum /= queries_of_a_phase;
    PhaseCurve result{std::move(loss), std::move(probability), std::move(accuracy), 0.0, 0.0, 0.0};
    const auto [low, high] = std::minmax_element(result.accuracy.begin(), result.accuracy.end());
    for (const double a : result.accuracy) result.mean += a;
    result.mean /= double(result.accuracy.size());
    result.worst = *low;
    result.gap = *high - *low;
    return result;
  }
};

void add_query(const Model& model, const Query& query, PhaseSums& sums) {
  const double answer = query.share[query.answer];
  const int outside = model.outside();
  Credit credit{answer, *std::max_element(query.share.begin(), query.share.end())};
  if (outside > 0) credit.top = std::max(credit.top, query.outside_share);
  for (const double share : query.share) credit.count(share);
  if (outside > 0) credit.count(query.outside_share, outside);
  sums.add(query.phase, query.loss, answer, credit.accuracy());
}

}  // namespace

double effective_offsets(std::span<const double> weights) {
  double entropy = 0.0;
  for (const double p : weights)
    if (p > 0.0) entropy -= p * std::log(p);
  return std::exp(entropy);
}

GateObservation observe_weights(const Model& model, std::vector<double> weights) {
  GateSums sums{std::move(weights), {}, {}};
  sums.least = sums.weights;
  for (std::size_t row = 0; row < sums.weights.size(); row += model.positions)
    sums.offsets.push_back(effective_offsets({sums.weights.data() + row, std::size_t(model.positions)}));
  return summarize(model, std::move(sums));
}

GateObservation observe_static(const Model& model, std::span<const double> bias) {
  return observe_weights(model, static_weights(model, bias));
}

GateObservation observe_tables(const Model& model, std::span<const double> tables, const Contexts& contexts) {
  const int S = model.positions;
  const std::size_t rows = 2 * model.branch_rows();
  GateSums sums{std::vector<double>(rows, 0.0), std::vector<double>(2 * model.heads, 0.0), std::vector<double>(rows, 1.0)};
  const double weight = 1.0 / (double(contexts.size()) * model.blocks);
  ContextGates gates(model);
  for (std::size_t m = 0; m < contexts.size(); ++m) {
    gates_from_tables(model, tables, contexts[m], gates);
    for (int branch = 0; branch < 2; ++branch)
      for (int h = 0; h < model.heads; ++h)
        for (int l = 0; l < model.blocks; ++l) {
          const double* p = (branch == key_branch ? gates.key : gates.value).data() + gate_index(model, h, l, 0);
          const std::size_t row = row_index(model, branch, h, 0);
          for (int s = 0; s < S; ++s) {
            sums.weights[row + s] += weight * p[s];
            sums.least[row + s] = std::min(sums.least[row + s], p[s]);
          }
          sums.offsets[row / S] += weight * effective_offsets({p, std::size_t(S)});
        }
  }
  return summarize(model, std::move(sums));
}

bool selects(const GateObservation& gates, double residual) {
  return gates.residual < residual && std::find(gates.selection.begin(), gates.selection.end(), -1) == gates.selection.end();
}

double residual_bound(const Model& model, std::span<const double> tables, int tokens, const GateObservation& gates) {
  const int S = model.positions;
  double bound = 0.0;
  for (std::size_t row = 0; row < 2 * model.branch_rows(); row += S) {
    const int target = peak(gates.weights.data() + row, S);
    const auto extreme = [&](int s) {
      return std::minmax_element(&tables[(row + s) * tokens], &tables[(row + s) * tokens] + tokens);
    };
    const double least = *extreme(target).first;
    double others = 0.0;  // sum over s != target of e^(greatest G_s - least G_target)
    for (int s = 0; s < S; ++s)
      if (s != target) others += std::exp(*extreme(s).second - least);
    bound = std::max(bound, std::isinf(others) ? 1.0 : others / (1.0 + others));
  }
  return bound;
}

int coverage(std::span<const int> selection) {
  std::set<int> distinct(selection.begin(), selection.end());
  distinct.erase(-1);
  return int(distinct.size());
}

PhaseCurve phase_curve_weights(const Model& model, std::span<const double> weights) {
  PhaseSums sums(model);
  const ContextGates gates = equal_blocks(model, weights);
  for (int r = 0; r < model.phases(); ++r) add_query(model, query_at(model, gates, 0, r), sums);  // all blocks are alike
  return std::move(sums).curve(1.0);
}

PhaseCurve phase_curve_static(const Model& model, std::span<const double> bias) {
  return phase_curve_weights(model, static_weights(model, bias));
}

PhaseCurve phase_curve_tables(const Model& model, const Geometry& geometry, std::span<const double> tables,
                              const Contexts& contexts, ShiftedExp exponentials) {
  constexpr int most_blocks = 256;  // a query's cost grows with the blocks too
  const int blocks = geometry.is_exact() ? std::min(model.blocks, most_blocks) : model.blocks;
  const Layout layout = Layout::of(model);
  const std::vector<int> queries = layout.queries();
  PhaseSums sums(model);
  ContextGates gates(model);
  for (std::size_t m = 0; m < contexts.size(); ++m) {
    gates_from_tables(model, tables, contexts[m], gates);
    if (geometry.is_exact()) {
      for (int k = 0; k < blocks; ++k)
        for (int r = 0; r < model.phases(); ++r)
          add_query(model, query_at(model, gates, int(std::int64_t(k) * model.blocks / blocks), r), sums);
      continue;
    }
    const Eigen::MatrixXd probability = dense_answer_probabilities(model, geometry, contexts[m], gates, exponentials);
    for (int q = 0; q < int(queries.size()); ++q) {
      const double answer = probability(contexts[m][layout.answer(queries[q])], q);
      Credit credit{answer, probability.col(q).maxCoeff()};
      for (int z = 0; z < model.vocabulary; ++z) credit.count(probability(z, q));
      sums.add(layout.phase(queries[q]), -std::log(answer), answer, credit.accuracy());
    }
  }
  return std::move(sums).curve(double(contexts.size()) * blocks);
}

PhaseCurve phase_curve_of_shape(const SingleBlock& model, std::span<const int> shape) {
  const bool positive = std::all_of(shape.begin(), shape.end(), [](int heads) { return heads >= 1; });
  if (!positive || std::accumulate(shape.begin(), shape.end(), 0) != model.heads || int(shape.size()) > model.phases())
    throw DomainError(
        fmt::format("{} heads on {} positions cannot have the shape ({})", model.heads, model.phases(), fmt::join(shape, ", ")));
  std::vector<double> weights(2 * model.branch_rows(), 0.0);
  int h = 0;
  for (int r = 0; r < int(shape.size()); ++r)
    for (int k = 0; k < shape[r]; ++k, ++h)
      weights[row_index(model, key_branch, h, r)] = weights[row_index(model, value_branch, h, r + 1)] = 1.0;
  return phase_curve_weights(model, weights);
}

ShapeQuality shape_quality(const SingleBlock& model, std::span<const int> shape) {
  const PhaseCurve curve = phase_curve_of_shape(model, shape);
  const auto mean = [](const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0) / double(of.size()); };
  const auto least = [](const std::vector<double>& of) { return *std::min_element(of.begin(), of.end()); };
  return {mean(curve.loss),
          *std::max_element(curve.loss.begin(), curve.loss.end()),
          mean(curve.probability),
          least(curve.probability),
          curve.mean,
          curve.worst};
}

}  // namespace phaselock
