// Many static flows side by side, each with its own step (theory.md section 3): what whoever runs them takes and gives.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

struct EnsembleOptions {
  double until = 1e6;                ///< end time, > 0
  double rtol = 1e-8, atol = 1e-10;  ///< root mean square error of a step relative to atol + rtol |b|
  double residual = 0.0;             ///< a flow also ends once every gate's largest weight exceeds 1 - residual
  std::int64_t max_steps = 1000;     ///< attempted steps of a flow
  std::int64_t stiff_after = 25;     ///< consecutive steps shorter than 0.02 in s after which a flow counts as stiff; 0: never
  double repulsion = 0.0;            ///< between heads, see static_loss
};

enum class EnsembleEnding {
  until,    ///< reached the end time
  peaked,   ///< every gate's largest weight exceeds 1 - residual
  given_up  ///< needs a closer look: stiff, max_steps attempted, or not finite; the state is the last accepted one
};

/// Where a flow starts.
struct EnsembleStart {
  std::vector<double> bias;  ///< [2][H][S]
  double t;

  EnsembleStart(std::vector<double> biases, double time = 0.0) : bias(std::move(biases)), t(time) {}
};

struct EnsembleFlow {
  EnsembleEnding ending;
  double t;                  ///< time reached; the biases belong to it
  double escape;             ///< from the saddle, see escape.hpp; the start's time if that is past it already; NaN: not yet
  std::int64_t steps;        ///< attempted
  std::vector<double> bias;  ///< [2][H][S]
};

/// Integrates flows 0 .. count - 1 from start(k) in log time s = log(1 + t) and hands each to finish(k, flow), in the order in
/// which they end. A flow's result depends on its own start and the options only, so that any flow can be redone alone, bit for
/// bit. Runs on the calling thread. Throws Interrupted when asked to stop.
using Ensemble = std::function<void(const SingleBlock& model, double kappa, std::int64_t count,
                                    const std::function<EnsembleStart(std::int64_t)>& start, const EnsembleOptions& options,
                                    const std::function<void(std::int64_t, EnsembleFlow&&)>& finish)>;

}  // namespace phaselock
