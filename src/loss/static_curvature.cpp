#include "static_curvature.hpp"

#include <boost/math/differentiation/autodiff.hpp>

#include <vector>

#include "static_loss.hpp"

namespace phaselock {

namespace {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;

/// Column j of the Hessian is the derivative of the gradient along coordinate j.
template <class Loss>
Eigen::MatrixXd hessian(std::span<const double> at, Loss loss) {
  const std::size_t n = at.size();
  Eigen::MatrixXd H(n, n);
  std::vector<Dual> x(at.begin(), at.end()), gradient(n);
  for (std::size_t j = 0; j < n; ++j) {
    x[j] = boost::math::differentiation::make_fvar<double, 1>(at[j]);
    loss(x.data(), gradient.data());
    for (std::size_t i = 0; i < n; ++i) H(i, j) = gradient[i].derivative(1);
    x[j] = Dual(at[j]);
  }
  return H;
}

}  // namespace

Eigen::MatrixXd weight_hessian(const Model& model, std::span<const double> weights) {
  return hessian(weights, [&](const Dual* x, Dual* gradient) { static_loss(model, x, gradient); });
}

Eigen::MatrixXd bias_hessian(const Model& model, std::span<const double> bias) {
  return hessian(bias, [&](const Dual* x, Dual* gradient) { static_bias_loss(model, x, gradient); });
}

}  // namespace phaselock
