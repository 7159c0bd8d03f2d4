#include "loss/static_curvature.hpp"

#include <boost/math/differentiation/autodiff.hpp>

#include <vector>

#include "loss/static_loss.hpp"

namespace phaselock {

namespace {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;

/// Column j of the Hessian times `directions` is the derivative of the gradient along direction j.
template <class Loss>
Eigen::MatrixXd hessian(std::span<const double> at, const Eigen::MatrixXd& directions, Loss loss) {
  const std::size_t n = at.size();
  const Dual epsilon = boost::math::differentiation::make_fvar<double, 1>(0.0);
  Eigen::MatrixXd H(n, directions.cols());
  std::vector<Dual> x(n), gradient(n);
  for (Eigen::Index j = 0; j < directions.cols(); ++j) {
    for (std::size_t i = 0; i < n; ++i) x[i] = at[i] + directions(i, j) * epsilon;
    loss(x.data(), gradient.data());
    for (std::size_t i = 0; i < n; ++i) H(i, j) = gradient[i].derivative(1);
  }
  return H;
}

}  // namespace

Eigen::MatrixXd weight_hessian(const SingleBlock& model, std::span<const double> weights, const Eigen::MatrixXd& directions,
                               double repulsion) {
  return hessian(weights, directions, [&](const Dual* x, Dual* gradient) { static_loss(model, x, gradient, repulsion); });
}

Eigen::MatrixXd weight_hessian(const SingleBlock& model, std::span<const double> weights, double repulsion) {
  return weight_hessian(model, weights, Eigen::MatrixXd::Identity(weights.size(), weights.size()), repulsion);
}

Eigen::MatrixXd bias_hessian(const SingleBlock& model, std::span<const double> bias, double repulsion) {
  return hessian(bias, Eigen::MatrixXd::Identity(bias.size(), bias.size()),
                 [&](const Dual* x, Dual* gradient) { static_bias_loss(model, x, gradient, repulsion); });
}

}  // namespace phaselock
