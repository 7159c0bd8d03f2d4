// Compiled once for each SIMD target: Highway includes this file again and again with another target in force.
#include "kernels/ensemble_kernel.hpp"

// Targets that add nothing for doubles over the one below them; vectors without a fixed size cannot be members of a Pack.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ensemble_kernel.cpp"
#include <hwy/foreach_target.h>

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace phaselock {
namespace HWY_NAMESPACE {

#include "model/attention-inl.hpp"

#include "loss/static_form-inl.hpp"

#include "kernels/pack-inl.hpp"

template <class GateShape>
class Kernel final : public EnsembleKernel {
 public:
  Kernel(const SingleBlock& model, double c, double repulsion)
      : model_(model),
        shape_(model),
        c_(c),
        repulsion_(repulsion),
        memory_(hwy::AllocateAligned<double>((4 * model.branch_rows() + StaticForm<Pack, GateShape>::workspace(model)) * width())),
        weights_(reinterpret_cast<Pack*>(memory_.get())),
        d_(weights_ + count()),
        form_(model, d_ + count()) {}

  int lanes() const override { return width(); }

  void velocity(const double* b, const double* s, const double* step, double part, double* out, const Peaks* peaks) override {
    const int H = shape_.heads, S = shape_.positions;
    Pack *const weights = weights_, *const d = d_;
    Pack rate = multiply_add(part, Pack::load(step), Pack::load(s));
    exponentials(&rate, 1);
    softmax(packs(b), 2 * H, S, weights);
    if (peaks) look(*peaks);
    form_.see(weights);
    const Pack speed = -c_ * Pack::load(step) * rate;
    form_.gradient(weights, d, speed);
    if (repulsion_ != 0.0) repel(speed);
    for (int row = 0; row < count(); row += S) softmax_pullback(weights + row, d + row, S, packs(out) + row);
  }

  void combine(double* out, std::span<const double> factors, std::span<const double* const> terms) const override {
    int k = 0;
    for (; k + 6 <= count(); k += 6) combine<6>(packs(out) + k, factors, terms, k);
    for (; k < count(); k += 2) combine<2>(packs(out) + k, factors, terms, k);
  }

  void scaled_error(const double* error, const double* b, const double* next, double rtol, double atol,
                    double* out) const override {
    Pack sum(0.0);
    for (int k = 0; k < count() * width(); k += width()) {
      const Pack larger = max(Pack(hn::Abs(Pack::load(b + k).v)), Pack(hn::Abs(Pack::load(next + k).v)));
      const Pack scaled = Pack::load(error + k) / multiply_add(rtol, larger, atol);
      sum = multiply_add(scaled, scaled, sum);
    }
    Pack(hn::Sqrt((sum / double(count())).v)).store(out);
  }

 private:
  int count() const { return 2 * shape_.heads * shape_.positions; }
  static Pack* packs(double* numbers) { return reinterpret_cast<Pack*>(numbers); }
  static const Pack* packs(const double* numbers) { return reinterpret_cast<const Pack*>(numbers); }

  /// Packs k to k + n of a linear combination.
  template <int n>
  static HWY_INLINE void combine(Pack* out, std::span<const double> factors, std::span<const double* const> terms, int k) {
    Pack sum[n];
    for (int i = 0; i < n; ++i) sum[i] = factors[0] * packs(terms[0])[k + i];
    for (std::size_t j = 1; j < terms.size(); ++j) {
      const Pack factor = factors[j];
      const Pack* term = packs(terms[j]) + k;
      for (int i = 0; i < n; ++i) sum[i] = multiply_add(factor, term[i], sum[i]);
    }
    for (int i = 0; i < n; ++i) out[i] = sum[i];
  }

  static constexpr int width() { return hn::MaxLanes(Pack::Tag()); }

  /// Out of line, to leave the loop without it as it is.
  HWY_NOINLINE void repel(const Pack& speed) { key_overlap(model_, weights_, d_, repulsion_ * speed); }

  /// Looks at the weights; NaN if any is.
  void look(const Peaks& peaks) const {
    const int S = shape_.positions;
    Pack least(1.0), largest_key(0.0), all(0.0);
    for (int row = 0; row < count(); row += S) {
      Pack peak = weights_[row];
      for (int s = 1; s < S; ++s) peak = max(weights_[row + s], peak);
      least = min(least, peak);
      if (2 * row < count()) largest_key = max(largest_key, peak);
      all += peak;
    }
    (1.0 - (least + 0.0 * all)).store(peaks.residual);
    (largest_key + 0.0 * all).store(peaks.key);
  }

  const SingleBlock& model_;
  GateShape shape_;
  double c_, repulsion_;
  hwy::AlignedFreeUniquePtr<double[]> memory_;
  Pack *weights_, *d_;  ///< [2][H][S]
  StaticForm<Pack, GateShape> form_;
};

EnsembleKernel* new_kernel(const SingleBlock& model, double c, double repulsion) {
  if (model.heads == 3 && model.positions == 4) return new Kernel<CompileTimeShape<3, 4>>(model, c, repulsion);
  return new Kernel<RunTimeShape>(model, c, repulsion);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace phaselock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace phaselock {

HWY_EXPORT(new_kernel);
HWY_EXPORT(target_name);

std::unique_ptr<EnsembleKernel> ensemble_kernel(const SingleBlock& model, double c, double repulsion) {
  return std::unique_ptr<EnsembleKernel>(HWY_DYNAMIC_DISPATCH(new_kernel)(model, c, repulsion));
}

std::vector<std::int64_t> ensemble_targets() { return hwy::SupportedAndGeneratedTargets(); }

std::string ensemble_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace phaselock
#endif
