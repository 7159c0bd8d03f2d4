// Mean loss of gate tables over sampled contexts, and its gradient; exact and dense geometry (theory.md sections 2, 3, 8).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/centred_scales.hpp"
#include "kernels/large_pages.hpp"
#include "kernels/token_lines.hpp"
#include "loss/loss.hpp"

namespace phaselock {

/// How TableLoss takes the sums over a query's slots.
struct LossMethod {
  std::string_view name;  ///< "pairs", each slot by itself; "moments", other blocks through moments; "definition", the readable one
  int degree = 0;         ///< of the moments' polynomials
  double remainder = 0.0;  ///< what the sums leave out, as far as it matters to the loss or its gradient (MomentPlan)
};

/// The method with the fewest operations that serves this model and geometry. (Tables that hold a number that is not finite, or a
/// gate that spreads over more than e^600, are left to the definition whatever this says.)
LossMethod loss_method(const Model& model, const Geometry& geometry);

/// Loss of gate tables [2][H][S][N], averaged over contexts and queries, nats, as a function of the tables; keeps its working
/// memory from call to call. Threads share the contexts in a fixed number of chunks that are added in order: the result has the
/// same bits at any thread count.
class TableLoss final : public Loss {
 public:
  /// All three must outlive this.
  TableLoss(const Model& model, const Geometry& geometry, const Contexts& contexts);

  using Loss::operator();
  double operator()(std::span<const double> tables, std::span<double> gradient) override;
  PhaseCurve phases(std::span<const double> tables) const override;

 private:
  double sum_by_chunks(std::span<const double> tables, std::span<double> gradient) const;
  double sum_by_kernels(bool gradient);

  LossMethod method_;
  std::optional<SingleBlock> block_;        ///< the model, if the method is a kernel's
  std::optional<TokenLines> exponentials_;  ///< likewise
  std::optional<CentredScales> scales_;     ///< likewise
  std::vector<TokenLines> gradients_;       ///< of each chunk, once gradients have been asked for
  std::vector<KeptMemory> memory_;          ///< of each chunk, if the method is the moments'
};

/// The same for one call.
double table_loss(const Model& model, const Geometry& geometry, const Contexts& contexts, std::span<const double> tables,
                  std::span<double> gradient = {});

}  // namespace phaselock
