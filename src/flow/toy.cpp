#include "flow/toy.hpp"

#include <cmath>

namespace phaselock {

namespace {

/// l(m) = log(1 + A e^(-beta m)) and its derivatives, written with the probability s = A e^(-beta m) / (1 + A e^(-beta m)):
/// l' = -beta s, l'' = beta^2 s (1 - s) (theory.md section 6).
struct Margin {
  double l, slope, curvature;
};

Margin margin_loss(const Toy& toy, double m) {
  const double beta = toy.model.beta, wrong = toy.A * std::exp(-beta * m), s = wrong / (1.0 + wrong);
  return {std::log1p(wrong), -beta * s, beta * beta * s * (1.0 - s)};
}

double margin(const Toy& toy, const ToyPoint& p) { return attention(toy.model, p[0]).w + attention(toy.model, p[1]).w; }

ToyPoint other_phase(const ToyPoint& p) { return {1.0 - p[0], 1.0 - p[1]}; }

}  // namespace

ToyPoint toy_weights(const ToyPoint& theta) { return {1.0 / (1.0 + std::exp(-theta[0])), 1.0 / (1.0 + std::exp(-theta[1]))}; }

double toy_loss(const Toy& toy, const ToyPoint& p) {
  return 0.5 * (margin_loss(toy, margin(toy, p)).l + margin_loss(toy, margin(toy, other_phase(p))).l);
}

ToyPoint toy_velocity(const Toy& toy, const ToyPoint& p) {
  const ToyPoint rest = other_phase(p);
  const double first = margin_loss(toy, margin(toy, p)).slope, second = margin_loss(toy, margin(toy, rest)).slope;
  ToyPoint velocity;
  for (int h = 0; h < 2; ++h) {
    // dLoss/dp_h = (l'(m_1) w'(p_h) - l'(m_2) w'(1 - p_h)) / 2
    const double dp = 0.5 * (first * w_slope(toy.model, attention(toy.model, p[h]).w) -
                             second * w_slope(toy.model, attention(toy.model, rest[h]).w));
    velocity[h] = -p[h] * rest[h] * dp;
  }
  return velocity;
}

ToyRates toy_rates(const Toy& toy) {
  const double w = attention(toy.model, 0.5).w, w1 = w_slope(toy.model, w), w2 = w_curvature(toy.model, w);
  const Margin l = margin_loss(toy, 2.0 * w);
  return {-l.slope * w2 / 16.0, (-l.slope * w2 - 2.0 * l.curvature * w1 * w1) / 16.0};
}

}  // namespace phaselock
