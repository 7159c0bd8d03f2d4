#include "kernels/table_loss.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/batch_loss.hpp"
#include "kernels/long_loss.hpp"
#include "kernels/simd_shifted_exp.hpp"
#include "model/interrupt.hpp"

namespace phaselock {

namespace {

/// In how many parts threads may share `count` contexts: by their number alone, so that the result does not depend on the threads.
std::size_t chunks_of(std::size_t count) {
  constexpr std::size_t contexts_per_chunk = 64, most_chunks = 16;
  return std::clamp<std::size_t>(count / contexts_per_chunk, 1, most_chunks);
}

/// Calls body(chunk, first, last) for each part of `count` contexts, in threads.
template <class Body>
void for_each_chunk(std::size_t count, std::size_t chunks, Body body) {
  tbb::parallel_for(std::size_t(0), chunks, [&](std::size_t chunk) {
    check_interrupt();
    body(chunk, count * chunk / chunks, count * (chunk + 1) / chunks);
  });
}

/// sums[0] += sums[1] + sums[2] + ..., in this order.
void add_in_order(std::span<double* const> sums, std::size_t size) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size, 4096), [&](const tbb::blocked_range<std::size_t>& range) {
    for (std::size_t chunk = 1; chunk < sums.size(); ++chunk)
      for (std::size_t k = range.begin(); k < range.end(); ++k) sums[0][k] += sums[chunk][k];
  });
}

bool moments_win(const CentredScales& scales, const MomentPlan& plan) {
  return plan.degree > 0 && moment_operations(scales, plan) < pair_operations(scales);
}

}  // namespace

LossMethod loss_method(const Model& model, const Geometry& geometry) {
  const std::optional<SingleBlock> block = single_block(model);
  if (!block || !geometry.is_exact() || model.heads > TokenLines::most_heads) return {"definition"};
  const CentredScales scales(*block);
  const MomentPlan plan(scales);
  return moments_win(scales, plan) ? LossMethod{"moments", plan.degree, plan.remainder} : LossMethod{"pairs"};
}

TableLoss::TableLoss(const Model& model, const Geometry& geometry, const Contexts& contexts)
    : Loss(model, geometry, contexts), method_(loss_method(model, geometry)) {
  if (method_.name == "definition") return;
  block_ = single_block(model);
  exponentials_.emplace(*block_);
  scales_.emplace(*block_);
}

double TableLoss::operator()(std::span<const double> tables, std::span<double> gradient) {
  const double weight = 1.0 / double(contexts().size());
  if (exponentials_ && exponentiate(*block_, tables, *exponentials_)) {
    const double loss = sum_by_kernels(!gradient.empty());
    if (!gradient.empty()) lines_to_tables(*block_, gradients_[0], weight, gradient);
    return weight * loss;
  }
  const double loss = sum_by_chunks(tables, gradient);
  for (double& g : gradient) g *= weight;
  return weight * loss;
}

/// Sum of the losses by the readable definition, of any geometry; gradients likewise.
double TableLoss::sum_by_chunks(std::span<const double> tables, std::span<double> gradient) const {
  const std::size_t chunks = chunks_of(contexts().size());
  std::vector<double> losses(chunks, 0.0);
  std::vector<std::vector<double>> gradients(gradient.empty() ? 0 : chunks, std::vector<double>(tables.size(), 0.0));
  for_each_chunk(contexts().size(), chunks, [&](std::size_t chunk, std::size_t first, std::size_t last) {
    const std::span<double> part = gradient.empty() ? std::span<double>() : gradients[chunk];
    losses[chunk] = sum_by_definition(*this, first, last, tables, part, simd_shifted_exp);
  });
  if (!gradient.empty()) {
    std::vector<double*> sums;
    for (std::vector<double>& part : gradients) sums.push_back(part.data());
    add_in_order(sums, tables.size());
    std::copy(gradients[0].begin(), gradients[0].end(), gradient.begin());
  }
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

/// The same by the kernels, from the exponentials; the gradient is left in the lines of the first chunk.
double TableLoss::sum_by_kernels(bool gradient) {
  constexpr int long_blocks = 512, long_chunks = 16;
  const MomentPlan plan(*scales_);
  const bool by_moments = method_.name == "moments";
  const bool within = by_moments && model().blocks >= long_blocks;  // threads share each context rather than the list of contexts
  const std::size_t count = contexts().size(), chunks = within ? 1 : chunks_of(count);
  while (gradient && gradients_.size() < chunks) gradients_.emplace_back(*block_);
  if (by_moments) memory_.resize(chunks);
  std::vector<double> losses(chunks, 0.0);
  for_each_chunk(count, chunks, [&](std::size_t chunk, std::size_t first, std::size_t last) {
    TokenLines* const lines = gradient ? &gradients_[chunk] : nullptr;
    if (lines) std::fill_n(lines->numbers.get(), lines->size, 0.0);
    losses[chunk] = by_moments ? long_loss(*scales_, plan, *exponentials_, contexts(), first, last, within ? long_chunks : 1,
                                           memory_[chunk], lines)
                               : batch_loss(*scales_, *exponentials_, contexts(), first, last, lines);
  });
  if (gradient) {
    std::vector<double*> sums;
    for (const TokenLines& part : gradients_) sums.push_back(part.numbers.get());
    add_in_order(sums, exponentials_->size);
  }
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

PhaseCurve TableLoss::phases(std::span<const double> tables) const {
  return phase_curve_tables(model(), geometry(), tables, contexts(), simd_shifted_exp);
}

double table_loss(const Model& model, const Geometry& geometry, const Contexts& contexts, std::span<const double> tables,
                  std::span<double> gradient) {
  return TableLoss(model, geometry, contexts)(tables, gradient);
}

}  // namespace phaselock
