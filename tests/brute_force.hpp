// The definition of the loss from explicit embeddings, as theory.md section 1 words it: no closed form, no Gram matrix.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <span>
#include <vector>

#include "model/contexts.hpp"
#include "model/gates.hpp"

namespace phaselock::test {

/// x_i = (e_i, sqrt(kappa)), rows = tokens: K = kappa 11^T + I.
inline Eigen::MatrixXd exact_embeddings(const Model& model, double kappa) {
  Eigen::MatrixXd X = Eigen::MatrixXd::Zero(model.vocabulary, model.vocabulary + 1);
  X.leftCols(model.vocabulary).setIdentity();
  X.rightCols(1).setConstant(std::sqrt(kappa));
  return X;
}

/// Loss of one context with the embeddings X [N][d], in nats: compresses, attends, reads out, for every query.
inline double brute_force_loss(const Model& model, const Eigen::MatrixXd& X, std::span<const Token> context,
                               const ContextGates& gates) {
  const int L = model.blocks, S = model.positions;
  const auto compressed = [&](const std::vector<double>& p, int h, int l) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(X.cols());
    for (int r = 0; r < S; ++r) sum += p[gate_index(model, h, l, r)] * X.row(context[l * S + r]).transpose();
    return sum;
  };
  double total = 0.0;
  for (int block = 0; block < L; ++block)
    for (int phase = 0; phase + 1 < S; ++phase) {
      const Eigen::VectorXd query = X.row(context[block * S + phase]).transpose();
      Eigen::VectorXd readout = Eigen::VectorXd::Zero(X.cols());
      for (int h = 0; h < model.heads; ++h) {
        Eigen::VectorXd attention(L);
        for (int l = 0; l < L; ++l) attention(l) = std::exp(model.gamma * query.dot(compressed(gates.key, h, l)));
        attention /= attention.sum();
        for (int l = 0; l < L; ++l) readout += attention(l) * compressed(gates.value, h, l);
      }
      const Eigen::VectorXd logits = model.beta * (X * readout);
      const double top = logits.maxCoeff();
      total += top + std::log((logits.array() - top).exp().sum()) - logits(context[block * S + phase + 1]);
    }
  return total / model.queries();
}

}  // namespace phaselock::test
