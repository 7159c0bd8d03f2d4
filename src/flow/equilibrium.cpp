#include "equilibrium.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <limits>
#include <utility>

#include "../loss/static_curvature.hpp"
#include "../loss/static_loss.hpp"
#include "../spectrum.hpp"
#include "integrate.hpp"
#include "static_field.hpp"

namespace phaselock {

namespace {

/// Orthonormal basis, [2 H S][dimension], of the directions that move weight within the supports.
Eigen::MatrixXd support_tangent(const Model& model, const std::vector<double>& weights, double support) {
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

}  // namespace

double support_curvature(const Model& model, const std::vector<double>& weights, double support) {
  const Eigen::MatrixXd basis = support_tangent(model, weights, support);
  if (basis.cols() == 0) return 1.0;
  const Eigen::MatrixXd reduced = basis.transpose() * weight_hessian(model, weights) * basis;
  return eigenvalues(reduced).minCoeff();
}

Equilibrium examine(const Model& model, std::vector<double> weights) {
  constexpr double support = 1e-6;
  std::vector<double> d(weights.size());
  static_loss(model, weights.data(), d.data());
  Equilibrium result{{},
                     0,
                     0.0,
                     std::numeric_limits<double>::infinity(),
                     std::min(1.0, model.gamma * model.beta),
                     support_curvature(model, weights, support)};
  for (std::size_t row = 0; row < weights.size(); row += model.positions) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    int members = 0;
    for (int s = 0; s < model.positions; ++s)
      if (weights[row + s] > support) {
        ++members;
        low = std::min(low, d[row + s]);
        high = std::max(high, d[row + s]);
      }
    result.mixed_gates += members > 1;
    result.stationarity = std::max(result.stationarity, high - low);
    for (int s = 0; s < model.positions; ++s)
      if (weights[row + s] <= support) result.margin = std::min(result.margin, d[row + s] - high);
  }
  result.weights = std::move(weights);
  return result;
}

Equilibrium static_limit(const Model& model, double kappa, std::vector<double> bias) {
  IntegrateOptions options;
  options.until = 1e12;
  options.rtol = 1e-6;  // the end is examined on its own, so the way there need not be more accurate
  options.atol = 1e-8;
  const StaticField field{model, static_speed(model, kappa)};
  State y = field.start(std::move(bias));
  integrate_stiff(field.velocity(), field.jacobian(), y, options, [](double, const State&, std::int64_t) { return false; });
  y.pop_back();
  return examine(model, static_weights(model, y));
}

}  // namespace phaselock
