// The loss of static gates and its derivatives (theory.md sections 2 and 3), for double and dual numbers.
#pragma once

#include <cmath>
#include <vector>

#include "model/gates.hpp"
#include "model/single_block.hpp"

namespace phaselock {

namespace ordinary {
#include "loss/static_form-inl.hpp"
}

/// Loss of static gates at exact geometry, nats, and its total derivative with respect to the weights (all blocks move
/// together). weights and gradient are [2][H][S], the gradient may be null. With `repulsion`, that times key_overlap is added.
template <class T>
T static_loss(const SingleBlock& model, const T* weights, T* gradient, double repulsion = 0.0) {
  std::vector<T> work(StaticForm<T>::workspace(model));
  StaticForm<T> form(model, work.data());
  form.see(weights);
  T loss = form.loss();
  if (gradient) form.gradient(weights, gradient);
  if (repulsion != 0.0) loss += repulsion * key_overlap(model, weights, gradient, T(repulsion));
  return loss;
}

/// The same as a function of the biases [2][H][S], and its derivative dLoss/db if `gradient` is not null.
template <class T>
T static_bias_loss(const SingleBlock& model, const T* bias, T* gradient, double repulsion = 0.0) {
  const std::size_t count = 2 * model.branch_rows();
  std::vector<T> weights(count), d(gradient ? count : 0);
  for (std::size_t row = 0; row < count; row += model.positions) softmax(bias + row, model.positions, weights.data() + row);
  const T loss = static_loss(model, weights.data(), gradient ? d.data() : nullptr, repulsion);
  if (gradient)
    for (std::size_t row = 0; row < count; row += model.positions)
      softmax_pullback(weights.data() + row, d.data() + row, model.positions, gradient + row);
  return loss;
}

}  // namespace phaselock
