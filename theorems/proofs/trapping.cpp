#include "proofs/trapping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/gates.hpp"
#include "proofs/ball.hpp"

namespace phaselock {

double largest_eta(const SingleBlock& model, std::span<const int> selection) {
  if (model.blocks < 4 || model.positions < 3) return 0.0;
  const auto passes = [&](double eta) { return trapping_margin(model, selection, eta) > 0.0; };
  double low = 1e-9, high = 0.5;
  if (!passes(low)) return 0.0;
  while (high / low > 1.0 + 1e-9) {
    const double middle = std::sqrt(low * high);
    (passes(middle) ? low : high) = middle;
  }
  return low;
}

double box_gap(const SingleBlock& model, double eta) { return std::log((model.positions - 1) * (1.0 - eta) / eta); }

double logit_gap(const SingleBlock& model, std::span<const double> rows, int tokens, std::span<const int> selection) {
  double gap = std::numeric_limits<double>::infinity();
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < model.heads; ++h) {
      const auto row = [&](int s) { return rows.subspan(row_index(model, branch, h, s) * tokens, tokens); };
      const int target = selection[h] + branch;
      const auto targets = row(target);
      const double least = *std::min_element(targets.begin(), targets.end());
      for (int s = 0; s < model.positions; ++s) {
        if (s == target) continue;
        const auto others = row(s);
        gap = std::min(gap, least - *std::max_element(others.begin(), others.end()));
      }
    }
  return gap;
}

std::optional<TrappingProof> prove_trapping(const SingleBlock& model, std::span<const int> selection, double eta) {
  if (!(eta > 0.0 && eta < 0.5) || model.blocks < 4 || model.positions < 3) return std::nullopt;
  std::optional<TrappingProof> proof;
  const slong before = Ball::precision();
  for (int bits = 64; bits <= 1024 && !proof; bits *= 2) {
    Ball::precision() = bits;
    const Ball margin = trapping_margin(model, selection, Ball(eta)) * Ball(model.beta) / Ball(double(model.queries()));
    if (margin > Ball(0.0)) proof = TrappingProof{eta, margin.lower(), bits};
    if (margin < Ball(0.0)) break;
  }
  Ball::precision() = before;
  if (proof && !(proof->margin > 0.0)) proof.reset();  // below the smallest double
  return proof;
}

bool surely_inside(const SingleBlock& model, double gap, double eta) {
  const Ball e(eta);
  return Ball(gap) > log(Ball(double(model.positions - 1)) * (Ball(1.0) - e) / e);
}

double Trap::eta(std::span<const int> selection) {
  if (!std::equal(selection.begin(), selection.end(), selection_.begin(), selection_.end())) {
    selection_.assign(selection.begin(), selection.end());
    eta_ = largest_eta(model_, selection) * (1.0 - 1e-6);  // a margin that balls can see
  }
  return eta_;
}

bool Trap::holds(std::span<const double> rows, int tokens, std::span<const int> selection) {
  if (std::find(selection.begin(), selection.end(), -1) != selection.end()) return false;
  return eta(selection) > 0.0 && logit_gap(model_, rows, tokens, selection) >= box_gap(model_, eta_) * (1.0 + 1e-12);
}

std::optional<TrappingProof> Trap::operator()(std::span<const double> rows, int tokens, std::span<const int> selection) {
  if (!holds(rows, tokens, selection)) return std::nullopt;
  const auto proof = prove_trapping(model_, selection, eta_);
  return proof && surely_inside(model_, logit_gap(model_, rows, tokens, selection), eta_) ? proof : std::nullopt;
}

}  // namespace phaselock
