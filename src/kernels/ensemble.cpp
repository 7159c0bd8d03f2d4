#include "kernels/ensemble.hpp"

#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "flow/escape.hpp"
#include "kernels/ensemble_kernel.hpp"
#include "model/interrupt.hpp"

namespace phaselock {

namespace odeint = boost::numeric::odeint;

namespace {

using LaneState = LaneNumbers;  ///< [2][H][S][lanes]

/// sum_k factor[k] x_k, as Odeint's steppers ask for it: the operation only holds the factors, LaneAlgebra does the work.
template <std::size_t terms>
struct LinearCombination {
  std::array<double, terms> factors;

  template <class... Factors>
  explicit LinearCombination(Factors... f) : factors{double(f)...} {}
};

struct LaneOperations {
  template <class...>
  using scale_sum1 = LinearCombination<1>;
  template <class...>
  using scale_sum2 = LinearCombination<2>;
  template <class...>
  using scale_sum3 = LinearCombination<3>;
  template <class...>
  using scale_sum4 = LinearCombination<4>;
  template <class...>
  using scale_sum5 = LinearCombination<5>;
  template <class...>
  using scale_sum6 = LinearCombination<6>;
  template <class...>
  using scale_sum7 = LinearCombination<7>;
  template <class...>
  using scale_sum8 = LinearCombination<8>;
  template <class...>
  using scale_sum9 = LinearCombination<9>;
  template <class...>
  using scale_sum10 = LinearCombination<10>;
  template <class...>
  using scale_sum11 = LinearCombination<11>;
  template <class...>
  using scale_sum12 = LinearCombination<12>;
  template <class...>
  using scale_sum13 = LinearCombination<13>;
  template <class...>
  using scale_sum14 = LinearCombination<14>;
};

/// Odeint's algebra on the kernel: for_eachN(out, x_1 .. x_(N-1), operation) is one pass over the numbers, leaving out the terms of
/// factor zero, of which Fehlberg's tableau has many.
class LaneAlgebra {
 public:
  explicit LaneAlgebra(const EnsembleKernel* kernel = nullptr) : kernel_(kernel) {}

  // clang-format off
  template <class... A> void for_each3(A&&... a) const { combine(a...); }
  template <class... A> void for_each4(A&&... a) const { combine(a...); }
  template <class... A> void for_each5(A&&... a) const { combine(a...); }
  template <class... A> void for_each6(A&&... a) const { combine(a...); }
  template <class... A> void for_each7(A&&... a) const { combine(a...); }
  template <class... A> void for_each8(A&&... a) const { combine(a...); }
  template <class... A> void for_each9(A&&... a) const { combine(a...); }
  template <class... A> void for_each10(A&&... a) const { combine(a...); }
  template <class... A> void for_each11(A&&... a) const { combine(a...); }
  template <class... A> void for_each12(A&&... a) const { combine(a...); }
  template <class... A> void for_each13(A&&... a) const { combine(a...); }
  template <class... A> void for_each14(A&&... a) const { combine(a...); }
  template <class... A> void for_each15(A&&... a) const { combine(a...); }
  // clang-format on

 private:
  template <class... A>
  void combine(LaneState& out, const A&... terms_then_operation) const {
    constexpr std::size_t terms = sizeof...(A) - 1;
    const auto all = std::tie(terms_then_operation...);
    const auto& operation = std::get<terms>(all);
    std::array<const double*, terms> x;
    std::array<double, terms> factors;
    std::size_t used = 0;
    const auto use = [&](std::size_t k, const LaneState& term) {
      if (operation.factors[k] == 0.0) return;
      x[used] = term.data();
      factors[used++] = operation.factors[k];
    };
    [&]<std::size_t... k>(std::index_sequence<k...>) { (use(k, std::get<k>(all)), ...); }
    (std::make_index_sequence<terms>());
    kernel_->combine(out.data(), {factors.data(), used}, {x.data(), used});
  }

  const EnsembleKernel* kernel_;
};

using LaneStepper = odeint::runge_kutta_fehlberg78<LaneState, double, LaneState, double, LaneAlgebra, LaneOperations>;

/// Where one lane's flow is, and the step it tries next.
struct Lane {
  std::int64_t flow = -1;  ///< -1: idle
  std::int64_t steps = 0, short_steps = 0;
  double escape = std::numeric_limits<double>::quiet_NaN();
  double last_step = 0.0, last_error = 0.0;  ///< of the last accepted step
  bool rejected = false;                     ///< the last attempt was
};

/// error^(-1/8), for steps of a method of order 8.
double order_8_factor(double error) { return 1.0 / std::sqrt(std::sqrt(std::sqrt(error))); }

class LaneEnsemble {
 public:
  LaneEnsemble(const SingleBlock& model, double kappa, const EnsembleOptions& options)
      : model_(model),
        options_(options),
        end_(std::log1p(options.until)),
        kernel_(ensemble_kernel(model, static_speed(model, kappa), options.repulsion)),
        size_(2 * model.branch_rows()),
        lanes_(kernel_->lanes()),
        s_(lanes_.size()),
        step_(lanes_.size()),
        error_(lanes_.size()),
        residual_(lanes_.size()),
        key_peak_(lanes_.size()),
        y_(size_ * lanes_.size()),
        velocity_(y_),
        last_velocity_(y_),
        next_(y_),
        difference_(y_),
        stepper_(LaneAlgebra(kernel_.get())) {}

  void run(std::int64_t count, const std::function<EnsembleStart(std::int64_t)>& start,
           const std::function<void(std::int64_t, EnsembleFlow&&)>& finish) {
    std::int64_t started = 0, ended = 0;
    while (ended < count) {
      check_interrupt();
      for (std::size_t lane = 0; lane < lanes_.size() && started < count; ++lane)
        if (lanes_[lane].flow < 0) {
          put(lane, started, start(started));
          ++started;
        }
      velocity_.swap(last_velocity_);
      const Peaks peaks{residual_.data(), key_peak_.data()};
      kernel_->velocity(y_.data(), s_.data(), step_.data(), 0.0, velocity_.data(), &peaks);
      bool freed = false;
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        EnsembleEnding ending;
        if (lanes_[lane].flow < 0) continue;
        if (std::isnan(lanes_[lane].escape) && key_peak_[lane] >= escape_weight(model_)) lanes_[lane].escape = escape(lane);
        if (!ends(lane, ending)) continue;
        const std::int64_t flow = lanes_[lane].flow;
        finish(flow, take(lane, ending));
        ++ended;
        freed = true;
      }
      if (!freed) advance();
    }
  }

 private:
  static constexpr double first_step = 0.1, short_step = 0.02;

  void put(std::size_t lane, std::int64_t flow, const EnsembleStart& start) {
    lanes_[lane] = Lane{.flow = flow};
    for (std::size_t k = 0; k < size_; ++k) y_[k * lanes_.size() + lane] = start.bias[k];
    s_[lane] = std::min(std::log1p(start.t), end_);
    step_[lane] = std::min(first_step, end_ - s_[lane]);
  }

  /// Of a lane just past it: within its last step, from `next_` and `last_velocity_` to `y_` and `velocity_`.
  double escape(std::size_t lane) const {
    const Lane& l = lanes_[lane];
    if (l.last_step == 0.0) return std::expm1(s_[lane]);
    const std::size_t width = lanes_.size(), keys = size_ / 2;
    std::vector<double> gathered(4 * keys);
    double *const before = gathered.data(), *const before_velocity = before + keys, *const after = before_velocity + keys,
                  *const after_velocity = after + keys;
    for (std::size_t k = 0; k < keys; ++k) {
      const std::size_t at = k * width + lane;
      before[k] = next_[at];
      before_velocity[k] = last_velocity_[at];
      after[k] = y_[at];
      after_velocity[k] = velocity_[at] * (l.last_step / step_[lane]);
    }
    return escape_in_step(model_, {s_[lane] - l.last_step, before, before_velocity}, {s_[lane], after, after_velocity});
  }

  /// The lane's flow, leaving the lane idle: at rest at the symmetric point.
  EnsembleFlow take(std::size_t lane, EnsembleEnding ending) {
    EnsembleFlow flow{ending, ending == EnsembleEnding::until ? options_.until : std::expm1(s_[lane]), lanes_[lane].escape,
                      lanes_[lane].steps, std::vector<double>(size_)};
    for (std::size_t k = 0; k < size_; ++k) flow.bias[k] = std::exchange(y_[k * lanes_.size() + lane], 0.0);
    lanes_[lane] = Lane{};
    step_[lane] = s_[lane] = 0.0;
    return flow;
  }

  bool crawls(const Lane& lane) const { return options_.stiff_after > 0 && lane.short_steps >= options_.stiff_after; }

  bool ends(std::size_t lane, EnsembleEnding& ending) const {
    const Lane& l = lanes_[lane];
    if (residual_[lane] < options_.residual) {
      ending = EnsembleEnding::peaked;
    } else if (s_[lane] == end_) {
      ending = EnsembleEnding::until;
    } else if (!std::isfinite(residual_[lane]) || l.steps >= options_.max_steps || crawls(l) ||
               step_[lane] < 1e-14 * std::max(1.0, s_[lane])) {
      ending = EnsembleEnding::given_up;
    } else {
      return false;
    }
    return true;
  }

  /// One attempt of every lane at a step of its own: Odeint steps a parameter from 0 to 1 along each lane's step.
  void advance() {
    const auto system = [this](const LaneState& y, LaneState& dydt, double part) {
      kernel_->velocity(y.data(), s_.data(), step_.data(), part, dydt.data(), nullptr);
    };
    stepper_.do_step(std::cref(system), y_, velocity_, 0.0, next_, 1.0, difference_);
    kernel_->scaled_error(difference_.data(), y_.data(), next_.data(), options_.rtol, options_.atol, error_.data());
    const std::size_t width = lanes_.size();
    for (std::size_t lane = 0; lane < width; ++lane) {
      if (lanes_[lane].flow < 0 || judge(lane)) continue;
      for (std::size_t k = lane; k < next_.size(); k += width) next_[k] = y_[k];
    }
    y_.swap(next_);
  }

  /// Whether the lane's attempt stands; chooses its next step. After an accepted step the step follows the trend of the errors
  /// (Gustafsson's predictive controller): towards and out of a saddle the steps in log time shrink steadily, and a controller
  /// that only looks at the last error has every fourth step rejected. The safety makes the error at the end that of DOP853.
  bool judge(std::size_t lane) {
    constexpr double safety = 0.85, least = 0.2, most = 10.0, least_error = 1e-8;
    Lane& l = lanes_[lane];
    double& step = step_[lane];
    const double error = std::isfinite(error_[lane]) ? std::max(error_[lane], least_error) : INFINITY;
    ++l.steps;
    double factor = safety * order_8_factor(error);
    if (!(error < 1.0)) {
      step *= std::max(factor, least);
      l.rejected = true;
      return false;
    }
    if (l.last_step > 0.0) factor = std::min(factor, factor * (step / l.last_step) * order_8_factor(error / l.last_error));
    if (l.rejected) factor = std::min(factor, 1.0);
    l.short_steps = step < short_step && s_[lane] > 1.0 ? l.short_steps + 1 : 0;
    l.last_step = step;
    l.last_error = error;
    l.rejected = false;
    const bool landed = s_[lane] + step >= end_ * (1.0 - 1e-15);
    s_[lane] = landed ? end_ : s_[lane] + step;
    step *= std::clamp(factor, least, most);  // at the end it stands for the units of the velocity
    if (!landed) step = shortened(lane, step);
    return true;
  }

  /// The step, made to land on the end if it comes close to it or passes it.
  double shortened(std::size_t lane, double step) const { return s_[lane] + step * (1.0 + 1e-3) >= end_ ? end_ - s_[lane] : step; }

  const SingleBlock& model_;
  EnsembleOptions options_;
  double end_;  ///< log time of the end
  std::unique_ptr<EnsembleKernel> kernel_;
  std::size_t size_;  ///< 2 H S
  std::vector<Lane> lanes_;
  LaneNumbers s_, step_, error_, residual_, key_peak_;  ///< [lanes]
  LaneState y_, velocity_;                              ///< where the lanes stand, and step db/ds there
  LaneState last_velocity_;
  LaneState next_;  ///< while a step is tried, its end; then where the lanes stood before it
  LaneState difference_;
  LaneStepper stepper_;
};

}  // namespace

void static_ensemble(const SingleBlock& model, double kappa, std::int64_t count,
                     const std::function<EnsembleStart(std::int64_t)>& start, const EnsembleOptions& options,
                     const std::function<void(std::int64_t, EnsembleFlow&&)>& finish) {
  LaneEnsemble(model, kappa, options).run(count, start, finish);
}

}  // namespace phaselock
