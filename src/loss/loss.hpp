// The mean loss of gate tables over sampled contexts as flows see it, and its readable form (theory.md sections 2, 3, 8).
#pragma once

#include <span>

#include "loss/dense_loss.hpp"
#include "loss/observe.hpp"
#include "model/contexts.hpp"

namespace phaselock {

/// Loss of gate tables [2][H][S][N], averaged over contexts and queries, nats, as a function of the tables.
class Loss {
 public:
  /// All three must outlive this.
  Loss(const Model& model, const Geometry& geometry, const Contexts& contexts)
      : model_(model), geometry_(geometry), contexts_(contexts) {}
  virtual ~Loss() = default;

  /// If `gradient` is not empty it receives dLoss/dtables, of the shape of `tables`.
  virtual double operator()(std::span<const double> tables, std::span<double> gradient) = 0;
  double operator()(std::span<const double> tables) { return (*this)(tables, {}); }

  /// Retrieval by phase.
  virtual PhaseCurve phases(std::span<const double> tables) const = 0;

  const Model& model() const { return model_; }
  const Geometry& geometry() const { return geometry_; }
  const Contexts& contexts() const { return contexts_; }

 protected:
  Loss(const Loss&) = default;
  Loss& operator=(const Loss&) = delete;

 private:
  const Model& model_;
  const Geometry& geometry_;
  const Contexts& contexts_;
};

/// By the definition, context after context on the calling thread.
class DefinitionLoss final : public Loss {
 public:
  using Loss::Loss;
  using Loss::operator();
  double operator()(std::span<const double> tables, std::span<double> gradient) override;
  PhaseCurve phases(std::span<const double> tables) const override;
};

/// Sum over contexts [first, last) of the loss by the definition; the gradient of that sum is added to `gradient` if that is not
/// empty. Throws Interrupted when asked to stop.
double sum_by_definition(const Loss& loss, std::size_t first, std::size_t last, std::span<const double> tables,
                         std::span<double> gradient, ShiftedExp exponentials = shifted_exp);

/// Loss of one context's oracle weights in any geometry; gradient as in context_loss (or null).
double oracle_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& gates,
                   ContextGates* gradient = nullptr, ShiftedExp exponentials = shifted_exp);

}  // namespace phaselock
