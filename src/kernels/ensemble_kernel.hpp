// What an ensemble of static flows computes on all lanes of a SIMD vector at once; chosen at run time for the CPU.
#pragma once

#include <boost/align/aligned_allocator.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/single_block.hpp"

namespace phaselock {

using LaneNumbers = std::vector<double, boost::alignment::aligned_allocator<double, 64>>;

/// Where to write, [lanes] each: the largest 1 - p over the gates of each flow, p the weight at a gate's peak, and the largest
/// weight of its key gates.
struct Peaks {
  double *residual, *key;
};

/// Arithmetic of `lanes` static flows side by side: numbers of the flows are interleaved, [..][lanes]. Arrays are aligned as
/// LaneNumbers are.
class EnsembleKernel {
 public:
  virtual ~EnsembleKernel() = default;

  /// Flows in one vector.
  virtual int lanes() const = 0;

  /// Writes step * db/ds at log time s + part * step, that is -step e^(s + part step) c dLoss/db at the biases b; b and out
  /// [2][H][S][lanes], s and step [lanes]. If `peaks` is not null, also writes there what the weights of each flow show.
  virtual void velocity(const double* b, const double* s, const double* step, double part, double* out, const Peaks* peaks) = 0;

  /// out = sum_k factors[k] terms[k], each [2][H][S][lanes].
  virtual void combine(double* out, std::span<const double> factors, std::span<const double* const> terms) const = 0;

  /// Root of the mean over a flow's biases of (error / (atol + rtol max(|b|, |next|)))^2, [lanes]. NaN or infinite if any is.
  virtual void scaled_error(const double* error, const double* b, const double* next, double rtol, double atol,
                            double* out) const = 0;
};

/// Kernel of the best instruction set the CPU has. c = kappa + 1/N, Loss with the repulsion of static_loss; `model` must outlive
/// it.
std::unique_ptr<EnsembleKernel> ensemble_kernel(const SingleBlock& model, double c, double repulsion = 0.0);

/// Name of that instruction set, for example "AVX2".
std::string ensemble_target();

/// Highway's numbers of the instruction sets that kernels are compiled for and this CPU has, best first; tests choose among them
/// with hwy::SetSupportedTargetsForTest.
std::vector<std::int64_t> ensemble_targets();

}  // namespace phaselock
