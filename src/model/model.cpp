#include "model/model.hpp"

#include <fmt/format.h>

#include "model/errors.hpp"

namespace phaselock {

void validate(const Model& m) {
  const auto at_least = [](const char* name, int value, int low) {
    if (value < low) throw DomainError(fmt::format("model.{} = {} must be at least {}", name, value, low));
  };
  at_least("blocks", m.blocks, 2);
  at_least("positions", m.positions, 2);
  at_least("heads", m.heads, 1);
  const long long slots = 1LL * m.blocks * m.positions;
  if (slots > m.vocabulary)
    throw DomainError(
        fmt::format("model.vocabulary = {} must be at least blocks * positions = {}: the tokens of a context are distinct",
                    m.vocabulary, slots));
  if (!(m.gamma > 0.0 && m.gamma <= 1.0)) throw DomainError(fmt::format("model.gamma = {} must be in (0, 1]", m.gamma));
  if (!(m.beta > 0.0 && m.beta * m.heads <= 700.0))
    throw DomainError(fmt::format("model.beta = {} must be > 0 with beta * heads <= 700 (exp would overflow beyond)", m.beta));
}

std::vector<std::string> unmet_assumptions(const Model& m) {
  std::vector<std::string> unmet;
  if (m.blocks < 4) unmet.push_back(fmt::format("L >= 4 (L = {})", m.blocks));
  if (m.positions < 3) unmet.push_back(fmt::format("S >= 3 (S = {})", m.positions));
  if (m.heads >= m.positions) unmet.push_back(fmt::format("H < S (H = {}, S = {})", m.heads, m.positions));
  return unmet;
}

double bias_scale(const Model& m, double kappa, double rho) {
  const double dimension = 2.0 * m.heads * m.positions * (m.vocabulary + 1.0);
  return rho * std::sqrt(static_speed(m, kappa) / (dimension + 2.0));
}

}  // namespace phaselock
