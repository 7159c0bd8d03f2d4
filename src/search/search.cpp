#include "search/search.hpp"

#include <ceres/first_order_function.h>
#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>
#include <fmt/format.h>
#include <glog/logging.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd_shifted_exp.hpp"
#include "loss/loss.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "model/random.hpp"
#include "search/patterns.hpp"

namespace phaselock {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double gradient_tolerance = 1e-9;  // max-norm of dLoss/du at |u| = 1; the loss is then off by about its square
constexpr int iterations_a_round = 500;
constexpr int most_rounds = 4;
constexpr double softening = 0.1;  // weight that start 0 moves from the best pattern to random weights

/// Calls visit(branch, index of the gate's first weight in its branch) for every gate of a context.
template <class Visit>
void for_each_gate(const Model& model, Visit visit) {
  for (int branch = 0; branch < 2; ++branch)
    for (int gate = 0; gate < model.gate_weights(); gate += model.positions) visit(branch, std::size_t(gate));
}

/// p = u^2 / |u|^2 in every gate.
ContextGates squared_weights(const Model& model, std::span<const double> u) {
  ContextGates weights(model);
  for_each_gate(model, [&](int branch, std::size_t gate) {
    const double* v = u.data() + std::size_t(branch) * model.gate_weights() + gate;
    double* p = (branch == key_branch ? weights.key : weights.value).data() + gate;
    double norm = 0.0;
    for (int s = 0; s < model.positions; ++s) norm += v[s] * v[s];
    for (int s = 0; s < model.positions; ++s) p[s] = v[s] * v[s] / norm;
  });
  return weights;
}

/// The nonnegative u with |u| = 1 in every gate and these weights.
std::vector<double> roots(const ContextGates& weights) {
  std::vector<double> u = weights.key;
  u.insert(u.end(), weights.value.begin(), weights.value.end());
  for (double& x : u) x = std::sqrt(x);
  return u;
}

/// The objective as Ceres wants it: false when anything is not finite (Ceres 2.1 would call that convergence), or to stop.
class Objective final : public ceres::FirstOrderFunction {
 public:
  Objective(const Model& model, const Geometry& geometry, std::span<const Token> context)
      : model_(model), geometry_(geometry), context_(context) {}

  int NumParameters() const override { return 2 * model_.gate_weights(); }

  bool Evaluate(const double* u, double* cost, double* gradient) const override {
    if (interrupt_flag().load(std::memory_order_relaxed)) return false;
    const std::size_t count = NumParameters();
    *cost = squared_weights_loss(model_, geometry_, context_, {u, count}, {gradient, gradient ? count : 0});
    if (!std::isfinite(*cost)) return false;
    return !gradient || std::all_of(gradient, gradient + count, [](double x) { return std::isfinite(x); });
  }

 private:
  const Model& model_;
  const Geometry& geometry_;
  std::span<const Token> context_;
};

struct Descent {
  double loss = infinity;
  std::vector<double> u;
};

/// Descends from u until the gradient, evaluated anew, is small: what Ceres reports as convergence is not taken on trust. A
/// round starts L-BFGS afresh at |u| = 1; the last one may end at the floor of rounding instead.
Descent descend(const Model& model, const Geometry& geometry, std::span<const Token> context, std::vector<double> u) {
  const ceres::GradientProblem problem(new Objective(model, geometry, context));  // owned by the problem
  ceres::GradientProblemSolver::Options options;
  options.line_search_direction_type = ceres::LBFGS;
  options.line_search_type = ceres::WOLFE;
  options.use_approximate_eigenvalue_bfgs_scaling = true;  // four to five times fewer evaluations
  options.max_lbfgs_rank = 40;
  options.max_num_iterations = iterations_a_round;
  options.gradient_tolerance = gradient_tolerance;
  options.function_tolerance = 1e-15;
  options.parameter_tolerance = 1e-14;
  options.logging_type = ceres::SILENT;
  std::vector<double> gradient(u.size());
  Descent best;
  for (int round = 0; round < most_rounds; ++round) {
    ceres::GradientProblemSolver::Summary summary;
    ceres::Solve(options, problem, u.data(), &summary);
    check_interrupt();
    u = roots(squared_weights(model, u));
    double loss;
    if (!problem.Evaluate(u.data(), &loss, gradient.data()) || !(loss < best.loss)) break;
    best = {loss, u};
    if (std::all_of(gradient.begin(), gradient.end(), [](double x) { return std::abs(x) <= gradient_tolerance; })) break;
  }
  return best;
}

/// Random weights: every gate uniform in direction of |u|, which is the Dirichlet law of parameter 1/2. Start 0 mixes them into
/// the best pattern.
std::vector<double> start_point(const Model& model, std::span<const int> pattern, std::uint64_t seed, int start) {
  Stream stream(seed, Purpose::search_start, start);
  std::vector<double> u(2 * model.gate_weights());
  for (double& x : u) x = stream.normal();
  ContextGates weights = squared_weights(model, u);
  if (start == 0) {
    const ContextGates selection = selection_gates(model, pattern);
    for (int k = 0; k < model.gate_weights(); ++k) {
      weights.key[k] = (1.0 - softening) * selection.key[k] + softening * weights.key[k];
      weights.value[k] = (1.0 - softening) * selection.value[k] + softening * weights.value[k];
    }
  }
  return roots(weights);
}

/// The selection closest to weights: in each gate the r of the largest pK(r) pV(r+1).
std::vector<int> round_to_pattern(const Model& model, const ContextGates& weights) {
  std::vector<int> pattern;
  for (int gate = 0; gate < model.gate_weights(); gate += model.positions) {
    const auto overlap = [&](int r) { return weights.key[gate + r] * weights.value[gate + r + 1]; };
    int best = 0;
    for (int r = 1; r < model.phases(); ++r)
      if (overlap(r) > overlap(best)) best = r;
    pattern.push_back(best);
  }
  return pattern;
}

double kkt_residual_at(const Model& model, const Geometry& geometry, std::span<const Token> context, const ContextGates& weights) {
  ContextGates gradient(model);
  oracle_loss(model, geometry, context, weights, &gradient, simd_shifted_exp);
  return kkt_residual(model, weights, gradient);
}

}  // namespace

double squared_weights_loss(const Model& model, const Geometry& geometry, std::span<const Token> context, std::span<const double> u,
                            std::span<double> gradient) {
  const ContextGates weights = squared_weights(model, u);
  if (gradient.empty()) return oracle_loss(model, geometry, context, weights, nullptr, simd_shifted_exp);
  ContextGates dweights(model);
  const double loss = oracle_loss(model, geometry, context, weights, &dweights, simd_shifted_exp);
  for_each_gate(model, [&](int branch, std::size_t gate) {
    const std::size_t place = std::size_t(branch) * model.gate_weights() + gate;
    const double* p = (branch == key_branch ? weights.key : weights.value).data() + gate;
    const double* d = (branch == key_branch ? dweights.key : dweights.value).data() + gate;
    double mean = 0.0, norm = 0.0;
    for (int s = 0; s < model.positions; ++s) {
      mean += p[s] * d[s];
      norm += u[place + s] * u[place + s];
    }
    for (int s = 0; s < model.positions; ++s) gradient[place + s] = 2.0 * u[place + s] / norm * (d[s] - mean);
  });
  return loss;
}

double kkt_residual(const Model& model, const ContextGates& weights, const ContextGates& gradient) {
  double worst = 0.0;
  for_each_gate(model, [&](int branch, std::size_t gate) {
    const double* p = (branch == key_branch ? weights.key : weights.value).data() + gate;
    const double* d = (branch == key_branch ? gradient.key : gradient.value).data() + gate;
    const double least = *std::min_element(d, d + model.positions);
    double residual = 0.0;
    for (int s = 0; s < model.positions; ++s) residual += p[s] * (d[s] - least);
    worst = std::max(worst, residual);
  });
  return worst;
}

SearchResult search_oracle(const Model& model, const Geometry& geometry, std::span<const Token> context,
                           const SearchOptions& options) {
  validate(model);
  if (options.starts < 1) throw DomainError(fmt::format("search.starts = {} must be at least 1", options.starts));
  // Ceres reports through its return values here, not in a log. Set once: searches may run in parallel.
  [[maybe_unused]] static const bool silent = (FLAGS_minloglevel = google::GLOG_FATAL, true);
  PatternOptimum selection = search_patterns(model, geometry, context, options.seed);

  std::vector<Descent> ends(options.starts);
  tbb::parallel_for(0, options.starts, [&](int start) {
    check_interrupt();
    ends[start] = descend(model, geometry, context, start_point(model, selection.pattern, options.seed, start));
  });
  SearchResult result{infinity, ContextGates(model), 0.0, {}, false, false, 0.0, options.starts, 0, {}};
  for (const Descent& end : ends) {
    result.start_losses.push_back(end.loss);
    if (end.loss >= result.best_loss) continue;
    result.best_loss = end.loss;
    result.best_weights = squared_weights(model, end.u);
  }
  if (!std::isfinite(result.best_loss)) throw DomainError("the loss is not finite at any start of the oracle search");
  result.starts_at_best = int(std::count_if(result.start_losses.begin(), result.start_losses.end(),
                                            [&](double loss) { return loss <= result.best_loss + 1e-8; }));

  // The continuous search may have found a pattern that the exchange moves did not.
  if (!selection.exhaustive) {
    PatternOptimum rounded = improve_pattern(model, geometry, context, round_to_pattern(model, result.best_weights));
    if (rounded.loss < selection.loss) selection = std::move(rounded);
  }
  result.best_selection_loss = selection.loss;
  const double selection_residual = kkt_residual_at(model, geometry, context, selection_gates(model, selection.pattern));
  const double tie = 1e-9 * std::abs(selection.loss);
  result.is_selection =
      selection.loss <= result.best_loss || (selection.loss <= result.best_loss + tie && selection_residual <= 1e-9);
  result.distinct = result.is_selection && is_distinct(model, selection.pattern);
  result.kkt_residual = result.is_selection ? selection_residual : kkt_residual_at(model, geometry, context, result.best_weights);
  result.best_pattern = std::move(selection.pattern);
  return result;
}

}  // namespace phaselock
