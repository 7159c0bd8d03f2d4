#include "flow/equilibrium.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <limits>
#include <utility>

#include "flow/integrate.hpp"
#include "flow/static_field.hpp"
#include "loss/spectrum.hpp"
#include "loss/static_curvature.hpp"
#include "loss/static_loss.hpp"
#include "model/gates.hpp"

namespace phaselock {

namespace {

constexpr double least_support = 1e-6;

/// Orthonormal basis, [2 H S][dimension], of the directions that move weight within the supports.
Eigen::MatrixXd support_tangent(const SingleBlock& model, const std::vector<double>& weights, double support) {
  std::vector<Eigen::VectorXd> directions;
  for (std::size_t row = 0; row < weights.size(); row += model.positions) {
    std::vector<std::size_t> members;
    for (int s = 0; s < model.positions; ++s)
      if (weights[row + s] > support) members.push_back(row + s);
    // Helmert's contrasts: the k-th member against the mean of those before it.
    for (std::size_t k = 1; k < members.size(); ++k) {
      Eigen::VectorXd direction = Eigen::VectorXd::Zero(weights.size());
      for (std::size_t j = 0; j < k; ++j) direction(members[j]) = -1.0 / k;
      direction(members[k]) = 1.0;
      directions.push_back(direction.normalized());
    }
  }
  Eigen::MatrixXd basis(weights.size(), directions.size());
  for (std::size_t k = 0; k < directions.size(); ++k) basis.col(k) = directions[k];
  return basis;
}

Eigen::MatrixXd reduced_hessian(const SingleBlock& model, const std::vector<double>& weights, const Eigen::MatrixXd& basis,
                                double repulsion) {
  return basis.transpose() * weight_hessian(model, weights, basis, repulsion);
}

/// Moves weights by `step`, or as far along it as none is negative; weights that come to nothing leave their support.
void move_within_simplex(std::vector<double>& weights, const Eigen::VectorXd& step) {
  double part = 1.0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (weights[k] + step(k) < 0.0) part = std::min(part, -weights[k] / step(k));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] += part * step(k);
    if (weights[k] < 1e-12) weights[k] = 0.0;
  }
}

/// Heads whose keys are one-hot on the same offset.
struct Sharers {
  std::vector<int> heads;
  std::vector<double> total;  ///< of their value weights, [S]

  int offsets() const {
    return int(std::count_if(total.begin(), total.end(), [](double v) { return v > 0.0; }));
  }
};

std::vector<Sharers> key_sharers(const SingleBlock& model, const std::vector<double>& weights) {
  const int S = model.positions;
  std::vector<Sharers> of_offset(S, Sharers{{}, std::vector<double>(S, 0.0)});
  for (int h = 0; h < model.heads; ++h)
    for (int r = 0; r < S; ++r) {
      if (weights[row_index(model, key_branch, h, r)] < 1.0 - least_support) continue;
      of_offset[r].heads.push_back(h);
      for (int s = 0; s < S; ++s) of_offset[r].total[s] += weights[row_index(model, value_branch, h, s)];
    }
  std::erase_if(of_offset, [](const Sharers& group) { return group.heads.size() < 2 || group.offsets() < 2; });
  return of_offset;
}

/// Whether an interior minimum stays one however heads that share a key divide their value weight, and has no other flat direction.
/// All these weights have the same logits and the same dLoss/dpV, and the margins of a key gate are linear in its head's own value
/// weight: the extremes of each head decide. Says no to families with more than two offsets to trade.
bool holds_however_traded(const SingleBlock& model, const std::vector<double>& weights, double repulsion) {
  std::vector<double> even = weights;
  int trades = 0;
  const std::vector<Sharers> groups = key_sharers(model, weights);
  for (const Sharers& group : groups) {
    if (group.offsets() > 2) return false;
    trades += int(group.heads.size()) - 1;
    for (const int h : group.heads)
      for (int s = 0; s < model.positions; ++s)
        even[row_index(model, value_branch, h, s)] = group.total[s] / double(group.heads.size());
  }
  const double flat = 1e-6 * std::min(1.0, model.gamma * model.beta);
  const Eigen::VectorXd curvatures = eigenvalues(reduced_hessian(model, even, support_tangent(model, even, 0.0), repulsion));
  if ((curvatures.array() < flat).count() != trades || !examine(model, even, repulsion).is_interior()) return false;
  for (const Sharers& group : groups) {
    const auto one = std::find_if(group.total.begin(), group.total.end(), [](double v) { return v > least_support; });
    const int first = int(one - group.total.begin());
    const double total = *one, others = double(group.heads.size()) - 1.0;
    for (const int h : group.heads)
      for (const double share : {std::max(0.0, total - others), std::min(1.0, total)}) {
        std::vector<double> extreme = even;
        for (const int g : group.heads) {
          const double part = g == h ? share : (total - share) / others;
          for (int s = 0; s < model.positions; ++s)
            if (group.total[s] > least_support) extreme[row_index(model, value_branch, g, s)] = s == first ? part : 1.0 - part;
        }
        if (!examine(model, std::move(extreme), repulsion).is_interior()) return false;
      }
  }
  return true;
}

}  // namespace

double support_curvature(const SingleBlock& model, const std::vector<double>& weights, double support, double repulsion) {
  const Eigen::MatrixXd basis = support_tangent(model, weights, support);
  if (basis.cols() == 0) return 1.0;
  return eigenvalues(reduced_hessian(model, weights, basis, repulsion)).minCoeff();
}

double Equilibrium::distance(const std::vector<double>& from) const {
  double largest = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) largest = std::max(largest, std::abs(weights[k] - from[k]));
  return largest;
}

Equilibrium examine(const SingleBlock& model, std::vector<double> weights, double repulsion) {
  std::vector<double> d(weights.size());
  static_loss(model, weights.data(), d.data(), repulsion);
  Equilibrium result{{},
                     0,
                     0.0,
                     std::numeric_limits<double>::infinity(),
                     std::min(1.0, model.gamma * model.beta),
                     support_curvature(model, weights, least_support, repulsion)};
  for (std::size_t row = 0; row < weights.size(); row += model.positions) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    int members = 0;
    for (int s = 0; s < model.positions; ++s)
      if (weights[row + s] > least_support) {
        ++members;
        low = std::min(low, d[row + s]);
        high = std::max(high, d[row + s]);
      }
    result.mixed_gates += members > 1;
    result.stationarity = std::max(result.stationarity, high - low);
    for (int s = 0; s < model.positions; ++s)
      if (weights[row + s] <= least_support) result.margin = std::min(result.margin, d[row + s] - high);
  }
  result.weights = std::move(weights);
  return result;
}

std::optional<Equilibrium> interior_nearby(const SingleBlock& model, const std::vector<double>& weights, double repulsion) {
  constexpr double support = 0.02, near = 0.05, saddle = -1e-4;
  constexpr int most_steps = 30;
  const double flat = 1e-9 * std::min(1.0, model.gamma * model.beta);  // heads that share a key trade value weight at no cost
  const std::size_t S = model.positions;
  std::vector<double> p = weights, d(p.size());
  for (std::size_t row = 0; row < p.size(); row += S) {
    double kept = 0.0;
    for (std::size_t s = row; s < row + S; ++s) kept += p[s] = p[s] > support ? p[s] : 0.0;
    for (std::size_t s = row; s < row + S; ++s) p[s] /= kept;
  }
  for (int k = 0; k < most_steps; ++k) {
    const Eigen::MatrixXd basis = support_tangent(model, p, 0.0);
    if (basis.cols() == 0) return std::nullopt;
    static_loss(model, p.data(), d.data(), repulsion);
    const Eigen::VectorXd slope = basis.transpose() * Eigen::Map<const Eigen::VectorXd>(d.data(), Eigen::Index(d.size()));
    if (!slope.allFinite()) return std::nullopt;
    if (slope.cwiseAbs().maxCoeff() < 1e-4 * flat) break;
    const Spectrum curvatures = spectrum(reduced_hessian(model, p, basis, repulsion));
    if (curvatures.values.minCoeff() < saddle) return std::nullopt;
    Eigen::VectorXd along = curvatures.vectors.transpose() * slope;
    for (Eigen::Index j = 0; j < along.size(); ++j) along(j) = curvatures.values(j) > flat ? -along(j) / curvatures.values(j) : 0.0;
    move_within_simplex(p, basis * (curvatures.vectors * along));
  }
  Equilibrium found = examine(model, std::move(p), repulsion);
  if (!found.is_interior() || found.distance(weights) > near) return std::nullopt;
  const auto loss = [&](const std::vector<double>& at) { return static_loss<double>(model, at.data(), nullptr, repulsion); };
  if (loss(found.weights) > loss(weights)) return std::nullopt;
  if (!holds_however_traded(model, found.weights, repulsion)) return std::nullopt;
  return found;
}

std::vector<int> one_hot_heads(const SingleBlock& model, const std::vector<double>& weights) {
  std::vector<int> selection(model.heads, -1);
  for (int h = 0; h < model.heads; ++h)
    for (int r = 0; r < model.phases(); ++r)
      if (weights[row_index(model, key_branch, h, r)] > 1.0 - least_support &&
          weights[row_index(model, value_branch, h, r + 1)] > 1.0 - least_support)
        selection[h] = r;
  for (const Sharers& group : key_sharers(model, weights))
    for (const int h : group.heads) selection[h] = -1;
  return selection;
}

Equilibrium static_limit(const SingleBlock& model, double kappa, std::vector<double> bias, double repulsion) {
  IntegrateOptions options;
  options.until = 1e12;
  options.rtol = 1e-6;  // the end is examined on its own, so the way there need not be more accurate
  options.atol = 1e-8;
  const StaticField field{model, static_speed(model, kappa), repulsion};
  State y = field.start(std::move(bias));
  integrate_stiff(field.velocity(), field.jacobian(), y, options, [](double, const State&, std::int64_t) { return false; });
  y.pop_back();
  return examine(model, static_weights(model, y), repulsion);
}

std::optional<Equilibrium> interior_limit(const SingleBlock& model, double kappa, std::vector<double> bias,
                                          const std::vector<double>& weights, double repulsion) {
  constexpr double near = 0.2;
  Equilibrium limit = static_limit(model, kappa, std::move(bias), repulsion);
  if (!limit.is_interior() || limit.distance(weights) > near) return std::nullopt;
  return limit;
}

}  // namespace phaselock
