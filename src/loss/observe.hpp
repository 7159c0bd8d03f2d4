// What trained gates look like and what they do to retrieval (theory.md section 7).
#pragma once

#include <span>
#include <vector>

#include "loss/geometry.hpp"
#include "loss/shifted_exp.hpp"
#include "model/contexts.hpp"
#include "model/single_block.hpp"

namespace phaselock {

/// Gates of a set of contexts (all heads and blocks pooled over blocks and contexts).
struct GateObservation {
  std::vector<double> weights;         ///< E[p_h(r)], [2][H][S]
  std::vector<double> static_offsets;  ///< exp Ent(E[p]), [2][H]
  std::vector<double> avg_offsets;     ///< E[exp Ent(p)], [2][H]
  std::vector<int> selection;          ///< key offset of each head if key and value averages peak at adjacent offsets, else -1; [H]
  double residual;                     ///< largest 1 - p over all gates, p the weight at the offset the head selects (or, without
                                       ///< selection, at each branch's own peak: then at least one head is -1)
};

/// Of the weights [2][H][S] of static gates, of their biases, of tables.
GateObservation observe_weights(const Model& model, std::vector<double> weights);
GateObservation observe_static(const Model& model, std::span<const double> bias);
GateObservation observe_tables(const Model& model, std::span<const double> tables, const Contexts& contexts);

/// Every head selects, and every gate is within `residual` of its offset.
bool selects(const GateObservation& gates, double residual);

/// Bound of 1 - p over every context of the vocabulary, from the tables' extremes: the residual with G_target at its least token
/// and every other row at its greatest. For static biases the exact value.
double residual_bound(const Model& model, std::span<const double> tables, int tokens, const GateObservation& gates);

/// Number of distinct phases in a selection; heads without one (-1) do not count.
int coverage(std::span<const int> selection);

/// exp of the entropy (nats) of a probability vector: 1 = one-hot, its length = uniform.
double effective_offsets(std::span<const double> weights);

/// Retrieval by phase of the query, theory.md section 7. Each vector has S - 1 entries.
struct PhaseCurve {
  std::vector<double> loss;         ///< nats
  std::vector<double> probability;  ///< of the answer
  std::vector<double> accuracy;     ///< argmax over all N tokens, ties credited 1/k
  double mean, worst, gap;          ///< of the accuracy; gap = best - worst
};

/// Of the weights [2][H][S] of static gates, of their biases.
PhaseCurve phase_curve_weights(const Model& model, std::span<const double> weights);
PhaseCurve phase_curve_static(const Model& model, std::span<const double> bias);
/// Of all queries; of contexts of more than 256 blocks at exact geometry, the queries of 256 evenly spaced blocks.
PhaseCurve phase_curve_tables(const Model& model, const Geometry& geometry, std::span<const double> tables,
                              const Contexts& contexts, ShiftedExp exponentials = shifted_exp);

/// What a selection is worth at exact geometry depends on its occupancy shape alone (occupancy.hpp). Phases in the order of the
/// shape, then those without heads. Throws DomainError unless the shape's numbers are at least 1, add up to H and are at most S - 1
/// many.
PhaseCurve phase_curve_of_shape(const SingleBlock& model, std::span<const int> shape);

/// Means and worst values over the phases of such a curve.
struct ShapeQuality {
  double mean_loss, worst_loss;  ///< nats
  double mean_probability, worst_probability;
  double mean_accuracy, worst_accuracy;
};
ShapeQuality shape_quality(const SingleBlock& model, std::span<const int> shape);

}  // namespace phaselock
