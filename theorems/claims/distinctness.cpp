// Heads of one block select distinct phases (theory.md section 4.3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "claims/checks.hpp"
#include "loss/context_loss.hpp"
#include "model/random.hpp"
#include "proofs/bounds.hpp"
#include "proofs/stability.hpp"

namespace phaselock {

namespace {

bool distinct_in_every_block(const SingleBlock& model, const std::vector<int>& pattern) {
  for (int l = 0; l < model.blocks; ++l) {
    std::set<int> positions;
    for (int h = 0; h < model.heads; ++h)
      if (!positions.insert(pattern[h * model.blocks + l]).second) return false;
  }
  return true;
}

/// Pattern number k of all (S-1)^(H L), written in base S - 1.
std::vector<int> pattern_of_number(const SingleBlock& model, std::int64_t k) {
  std::vector<int> pattern(std::size_t(model.heads) * model.blocks);
  for (int& r : pattern) {
    r = int(k % model.phases());
    k /= model.phases();
  }
  return pattern;
}

/// Random pattern number k: every other one distinct in every block, the rest of independent offsets.
std::vector<int> random_pattern(const SingleBlock& model, std::uint64_t k) {
  Stream stream(1, Purpose::choice, k);
  std::vector<int> pattern(std::size_t(model.heads) * model.blocks), offsets(model.phases());
  for (int l = 0; l < model.blocks; ++l) {
    std::iota(offsets.begin(), offsets.end(), 0);
    for (int h = 0; h < model.heads; ++h) {
      std::swap(offsets[h], offsets[h + stream.below(std::uint32_t(model.phases() - h))]);
      pattern[h * model.blocks + l] = k % 2 == 0 ? offsets[h] : int(stream.below(std::uint32_t(model.phases())));
    }
  }
  return pattern;
}

/// Patterns compared with loss*, nats per query.
struct Comparison {
  std::int64_t tried;
  PatternCounts counts;
  double farthest_distinct = 0.0, nearest_other = INFINITY;
};

Comparison compare_patterns(const SingleBlock& model, double loss_star) {
  constexpr double most = 20000;
  const double all = std::pow(model.phases(), model.heads * model.blocks);
  const bool enumerated = all <= most;
  const double affordable = std::min(most, 2e7 / (double(model.slots()) * model.queries())) + 2;
  double predicted = 1.0;  // [n!/(n-H)!]^L
  for (int h = 0; h < model.heads; ++h) predicted *= model.phases() - h;
  predicted = std::pow(predicted, model.blocks);
  Comparison result{std::int64_t(enumerated ? all : affordable), {enumerated, 0, predicted, 0, 0}};
  PatternCounts& counts = result.counts;
  const double rounding = 1e-12 * std::max(1.0, std::abs(loss_star));
  for (std::int64_t k = 0; k < result.tried; ++k) {
    const std::vector<int> pattern = enumerated ? pattern_of_number(model, k) : random_pattern(model, std::uint64_t(k));
    const bool distinct = distinct_in_every_block(model, pattern);
    const double above = context_loss(model, selection_gates(model, pattern)) - loss_star;
    counts.distinct += distinct;
    counts.deviating += distinct ? std::abs(above) > rounding : above < -rounding;
    counts.unresolved += !distinct && std::abs(above) < 1e3 * rounding;
    if (distinct) result.farthest_distinct = std::max(result.farthest_distinct, std::abs(above));
    if (!distinct) result.nearest_other = std::min(result.nearest_other, above);
  }
  return result;
}

}  // namespace

Verdict judge_patterns(const PatternCounts& counts) {
  if (counts.deviating > 0) return Verdict::refuted;
  if (counts.unresolved > 0) return Verdict::undecided;  // at huge N the patterns differ by less than doubles resolve
  return counts.enumerated && double(counts.distinct) == counts.predicted ? Verdict::proved : Verdict::supported;
}

ClaimResult check_distinctness(const SingleBlock& model) {
  ClaimResult result = begin_result("distinctness", model);
  if (!result.assumptions_hold()) return result;
  const double loss_star = distinct_loss(model);
  const Comparison found = compare_patterns(model, loss_star);
  const PatternCounts& counts = found.counts;
  const bool others = std::isfinite(found.nearest_other);
  result.verdict = judge_patterns(counts);
  result.evidence = {
      {"summary", fmt::format("{} {} patterns: the {} distinct ones within {:.1g} of loss*, {}",
                              counts.enumerated ? "all" : "random", found.tried, counts.distinct, found.farthest_distinct,
                              others ? fmt::format("all others at least {:.3g} above", found.nearest_other) : "and no others")},
      {"patterns", found.tried},
      {"enumerated", counts.enumerated},
      {"distinct", counts.distinct},
      {"distinct_predicted", counts.predicted},
      {"loss_star", loss_star},
      {"largest_deviation_of_distinct", found.farthest_distinct},
      {"smallest_excess_of_others", others ? nlohmann::ordered_json(found.nearest_other) : nlohmann::ordered_json()}};
  return result;
}

namespace {

Checks checks(const VerifyOptions& options) {
  const auto check = [](const SingleBlock& model) {
    return check_one("distinctness", [model] { return check_distinctness(model); });
  };
  if (options.model) return {check(*options.model)};
  return {check({4, 3, 2, 12, 1.0, 4.0}), check({4, 4, 2, 100, 1.0, 2.0})};
}

}  // namespace

extern const Claim distinctness_claim;
constinit const Claim distinctness_claim = {
    .id = "distinctness",
    .title = "Theorem 1: heads of one block select distinct positions",
    .statement =
        "Among selection patterns the minimizers are exactly those with distinct positions in every block, "
        "[n!/(n-H)!]^L of them, all with loss*.",
    .assumptions = "exact geometry; L >= 4, S >= 3, H < S",
    .acceptance =
        "PROVED for the model if all patterns were enumerated ((S-1)^(H L) <= 20000), exactly the distinct "
        "ones are within 1e-12 relative of loss*, and every other is above it by a thousand times that. "
        "SUPPORTED if so many random patterns, half of them distinct, agree.",
    .rejection =
        "REFUTED if a pattern that is not distinct is below loss*, or a distinct one does not have it. "
        "UNDECIDED if, at huge N, patterns differ by less than double precision resolves.",
    .source = "statement: paper, Theorem 1; loss* and proof for every N >= L S: this project, theory.md section 4",
    .group = ClaimGroup::theorem1,
    .checks = checks,
};

}  // namespace phaselock
