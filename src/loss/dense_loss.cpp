#include "loss/dense_loss.hpp"

#include <cmath>
#include <vector>

#include "model/layout.hpp"

namespace phaselock {

namespace {

/// The forward pass over all queries of one context.
struct Readout {
  Eigen::MatrixXd columns;                 ///< K[z, x_j] for all tokens z and context slots j, [N][L S]
  Eigen::MatrixXd overlap;                 ///< K[x_j, q] for context slots j and queries q, [L S][queries]
  std::vector<Eigen::MatrixXd> attention;  ///< a_hl of each query, per head [L][queries]
  Eigen::MatrixXd m;                       ///< sum_h a_hl pV_hl(r), [L S][queries]
  Eigen::MatrixXd weight;                  ///< e^(logit - largest logit of the query) of all tokens, [N][queries]
  Eigen::VectorXd Z;                       ///< sum of the weights, [queries]
  double loss;                             ///< averaged over queries
};

Eigen::MatrixXd context_columns(const Geometry& geometry, std::span<const Token> context) {
  const int N = geometry.vocabulary();
  if (!geometry.is_exact()) {
    Eigen::MatrixXd columns(N, context.size());
    for (std::size_t j = 0; j < context.size(); ++j) columns.col(j) = geometry.gram().col(context[j]);
    return columns;
  }
  Eigen::MatrixXd columns = Eigen::MatrixXd::Constant(N, context.size(), geometry.kappa());
  for (std::size_t j = 0; j < context.size(); ++j) columns(context[j], j) += 1.0;
  return columns;
}

Readout read_out(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                 ShiftedExp exponentials) {
  const int L = model.blocks, S = model.positions, Q = model.queries();
  const Layout layout = Layout::of(model);
  const std::vector<int> queries = layout.queries();
  Readout out{context_columns(geometry, context),
              Eigen::MatrixXd(model.slots(), Q),
              {},
              Eigen::MatrixXd::Zero(model.slots(), Q),
              {},
              Eigen::VectorXd(Q),
              0.0};
  for (int q = 0; q < Q; ++q)
    for (int j = 0; j < model.slots(); ++j) out.overlap(j, q) = out.columns(context[j], queries[q]);
  for (int h = 0; h < model.heads; ++h) {
    Eigen::MatrixXd a(L, Q);
    for (int q = 0; q < Q; ++q) {
      const double* overlap = out.overlap.col(q).data();
      for (int l = 0; l < L; ++l) {  // scores gamma sum_r pK(r) K[q, x_lr]
        const double* p = &gates.key[gate_index(model, h, l, 0)];
        const Window window = layout.tokens(l, h);
        double score = 0.0;
        for (int r = 0; r < S; ++r) score += p[r] * overlap[window[r]];
        a(l, q) = model.gamma * score;
      }
      softmax(a.col(q).data(), L, a.col(q).data());
      double* m = out.m.col(q).data();
      for (int l = 0; l < L; ++l) {
        const double* p = &gates.value[gate_index(model, h, l, 0)];
        const Window window = layout.tokens(l, h);
        for (int r = 0; r < S; ++r) m[window[r]] += a(l, q) * p[r];
      }
    }
    out.attention.push_back(std::move(a));
  }
  out.weight.noalias() = model.beta * out.columns * out.m;  // the logits
  for (int q = 0; q < Q; ++q) {
    const double answer = out.weight(context[layout.answer(queries[q])], q);
    const auto [top, sum] = exponentials({out.weight.col(q).data(), std::size_t(model.vocabulary)});
    out.Z(q) = sum;
    out.loss += (std::log(sum) + top - answer) / Q;
  }
  return out;
}

}  // namespace

Eigen::MatrixXd dense_answer_probabilities(const Model& model, const Geometry& geometry, std::span<const Token> context,
                                           const ContextGates& gates, ShiftedExp exponentials) {
  const Readout out = read_out(model, geometry, context, gates, exponentials);
  return out.weight * out.Z.cwiseInverse().asDiagonal();
}

double dense_context_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                          ContextGates* gradient, ShiftedExp exponentials) {
  const int L = model.blocks, S = model.positions, Q = model.queries();
  const Layout layout = Layout::of(model);
  const std::vector<int> queries = layout.queries();
  Readout out = read_out(model, geometry, context, gates, exponentials);
  if (!gradient) return out.loss;
  *gradient = ContextGates(model);
  // dLoss/dlogits = (weight / Z - 1{answer}) / Q, pulled back through the product to m.
  for (int q = 0; q < Q; ++q) out.weight(context[layout.answer(queries[q])], q) -= out.Z(q);
  Eigen::MatrixXd dm(model.slots(), Q);
  dm.noalias() = out.columns.transpose() * out.weight;
  dm *= (model.beta / Q * out.Z.cwiseInverse()).asDiagonal();
  std::vector<double> da(L), dscore(L);
  for (int h = 0; h < model.heads; ++h)
    for (int q = 0; q < Q; ++q) {
      const double* a = out.attention[h].col(q).data();
      const double *d = dm.col(q).data(), *overlap = out.overlap.col(q).data();
      for (int l = 0; l < L; ++l) {
        const double* p = &gates.value[gate_index(model, h, l, 0)];
        double* dp = &gradient->value[gate_index(model, h, l, 0)];
        const Window window = layout.tokens(l, h);
        da[l] = 0.0;
        for (int r = 0; r < S; ++r) {
          dp[r] += a[l] * d[window[r]];
          da[l] += d[window[r]] * p[r];
        }
      }
      softmax_pullback(a, da.data(), L, dscore.data());
      for (int l = 0; l < L; ++l) {
        double* dp = &gradient->key[gate_index(model, h, l, 0)];
        const Window window = layout.tokens(l, h);
        for (int r = 0; r < S; ++r) dp[r] += model.gamma * dscore[l] * overlap[window[r]];
      }
    }
  return out.loss;
}

}  // namespace phaselock
