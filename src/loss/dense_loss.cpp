#include "dense_loss.hpp"

#include <cmath>
#include <vector>

namespace phaselock {

namespace {

/// The forward pass over all queries of one context.
struct Readout {
  Eigen::MatrixXd columns;                 ///< K[z, x_j] for all tokens z and context slots j, [N][L S]
  std::vector<Eigen::MatrixXd> attention;  ///< a_hl of each query, per head [L][queries]
  Eigen::MatrixXd m;                       ///< sum_h a_hl pV_hl(r), [L S][queries]
  Eigen::MatrixXd probability;             ///< softmax of the logits over all tokens, [N][queries]
  Eigen::VectorXd log_Z;                   ///< log of the sum of e^logit, [queries]
  Eigen::VectorXd answer_logit;            ///< [queries]
};

int query_slot(const Model& model, int query) { return query / model.phases() * model.positions + query % model.phases(); }

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

Readout read_out(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates) {
  const int L = model.blocks, S = model.positions, Q = model.queries();
  Readout out{context_columns(geometry, context), {}, Eigen::MatrixXd::Zero(model.slots(), Q), {}, {}, Eigen::VectorXd(Q)};
  for (int h = 0; h < model.heads; ++h) {
    Eigen::MatrixXd a(L, Q);
    for (int q = 0; q < Q; ++q) {
      const Token query = context[query_slot(model, q)];
      for (int l = 0; l < L; ++l) {  // scores gamma sum_r pK(r) K[q, x_lr]
        double score = 0.0;
        for (int r = 0; r < S; ++r) score += gates.key[gate_index(model, h, l, r)] * out.columns(query, l * S + r);
        a(l, q) = model.gamma * score;
      }
      softmax(a.col(q).data(), L, a.col(q).data());
      for (int l = 0; l < L; ++l)
        for (int r = 0; r < S; ++r) out.m(l * S + r, q) += a(l, q) * gates.value[gate_index(model, h, l, r)];
    }
    out.attention.push_back(std::move(a));
  }
  Eigen::MatrixXd logits = model.beta * out.columns * out.m;
  const Eigen::RowVectorXd top = logits.colwise().maxCoeff();
  for (int q = 0; q < Q; ++q) out.answer_logit(q) = logits(context[query_slot(model, q) + 1], q);
  logits.rowwise() -= top;
  out.probability = logits.array().exp();
  const Eigen::RowVectorXd Z = out.probability.colwise().sum();
  for (int q = 0; q < Q; ++q) out.probability.col(q) /= Z(q);
  out.log_Z = (Z.array().log() + top.array()).transpose();
  return out;
}

}  // namespace

Eigen::MatrixXd dense_answer_probabilities(const Model& model, const Geometry& geometry, std::span<const Token> context,
                                           const ContextGates& gates) {
  return read_out(model, geometry, context, gates).probability;
}

double dense_context_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                          ContextGates* gradient) {
  const int L = model.blocks, S = model.positions, Q = model.queries();
  Readout out = read_out(model, geometry, context, gates);
  const double loss = (out.log_Z - out.answer_logit).mean();
  if (!gradient) return loss;
  *gradient = ContextGates(model);
  // dLoss/dlogits = (probability - 1{answer}) / Q, pulled back through the product to m.
  for (int q = 0; q < Q; ++q) out.probability(context[query_slot(model, q) + 1], q) -= 1.0;
  const Eigen::MatrixXd dm = model.beta / Q * out.columns.transpose() * out.probability;
  std::vector<double> da(L), dscore(L);
  for (int h = 0; h < model.heads; ++h)
    for (int q = 0; q < Q; ++q) {
      const double* a = out.attention[h].col(q).data();
      for (int l = 0; l < L; ++l) {
        da[l] = 0.0;
        for (int r = 0; r < S; ++r) {
          gradient->value[gate_index(model, h, l, r)] += a[l] * dm(l * S + r, q);
          da[l] += dm(l * S + r, q) * gates.value[gate_index(model, h, l, r)];
        }
      }
      softmax_pullback(a, da.data(), L, dscore.data());
      const Token query = context[query_slot(model, q)];
      for (int l = 0; l < L; ++l)
        for (int r = 0; r < S; ++r)
          gradient->key[gate_index(model, h, l, r)] += model.gamma * dscore[l] * out.columns(query, l * S + r);
    }
  return loss;
}

}  // namespace phaselock
