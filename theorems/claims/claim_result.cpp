#include "claims/claim_result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace phaselock {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved:
      return "PROVED";
    case Verdict::supported:
      return "SUPPORTED";
    case Verdict::refuted:
      return "REFUTED";
    case Verdict::undecided:
      return "UNDECIDED";
  }
  return "";
}

std::vector<Assumption> size_assumptions(const Model& m) {
  return {{fmt::format("L = {} >= 4", m.blocks), m.blocks >= 4},
          {fmt::format("S = {} >= 3", m.positions), m.positions >= 3},
          {fmt::format("H = {} < S = {}", m.heads, m.positions), m.heads < m.positions}};
}

bool ClaimResult::assumptions_hold() const {
  return std::all_of(assumptions.begin(), assumptions.end(), [](const Assumption& a) { return a.holds; });
}

std::string ClaimResult::outcome() const { return assumptions_hold() ? std::string(name(verdict)) : "ASSUMPTION"; }

ClaimResult begin_result(std::string_view id, const SingleBlock& model) {
  ClaimResult result{.id = std::string(id), .model = model, .assumptions = size_assumptions(model), .evidence = {}};
  if (!result.assumptions_hold()) result.evidence["summary"] = "not examined: the statement does not speak of this model";
  return result;
}

int exit_code(const ClaimResult& result) {
  if (result.expected) return result.outcome() == *result.expected ? 0 : 1;
  if (!result.assumptions_hold() || result.verdict == Verdict::undecided) return 2;
  return result.verdict == Verdict::refuted ? 1 : 0;
}

int worst_exit_code(std::span<const ClaimResult> results) {
  const auto any = [&](int code) {
    return std::any_of(results.begin(), results.end(), [&](const ClaimResult& r) { return exit_code(r) == code; });
  };
  return any(1) ? 1 : any(2) ? 2 : 0;
}

Verdict overall_verdict(std::span<const ClaimResult> results) {
  const int worst = worst_exit_code(results);
  if (worst != 0) return worst == 1 ? Verdict::refuted : Verdict::undecided;
  const bool proved =
      std::all_of(results.begin(), results.end(), [](const ClaimResult& r) { return r.expected || r.verdict == Verdict::proved; });
  return proved ? Verdict::proved : Verdict::supported;
}

}  // namespace phaselock
