// An Ensemble (flow/ensemble.hpp) in the lanes of SIMD vectors.
#pragma once

#include "flow/ensemble.hpp"

namespace phaselock {

/// Integrates flows 0 .. count - 1 from start(k) with Odeint's Runge-Kutta-Fehlberg 7(8) pair in log time
/// s = log(1 + t) and hands each to finish(k, flow), in the order in which they end; a lane that ends goes on with the next flow.
/// A flow's result depends on its own start, the options and the CPU's instruction set only: lanes do not see each other, so that
/// any flow can be redone alone, bit for bit. Runs on the calling thread. Throws Interrupted when asked to stop.
void static_ensemble(const SingleBlock& model, double kappa, std::int64_t count,
                     const std::function<EnsembleStart(std::int64_t)>& start, const EnsembleOptions& options,
                     const std::function<void(std::int64_t, EnsembleFlow&&)>& finish);

}  // namespace phaselock
