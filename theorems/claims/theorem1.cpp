#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "certificates/certificate.hpp"
#include "claims/checks.hpp"
#include "loss/context_loss.hpp"
#include "model/random.hpp"
#include "proofs/bounds.hpp"
#include "proofs/branch_and_bound.hpp"
#include "proofs/stability.hpp"
#include "search/search.hpp"

namespace phaselock {

namespace {

constexpr double loss_tolerance = 1e-8;

std::vector<Token> any_context(const SingleBlock& model) {
  std::vector<Token> context(model.slots());
  for (int j = 0; j < model.slots(); ++j) context[j] = j;
  return context;  // at exact geometry all contexts are equivalent (theory.md section 3)
}

/// Boxes of branch and bound: 20000, fewer where each costs more, so that it ends within seconds.
std::int64_t box_budget(const SingleBlock& m) {
  const std::int64_t terms = std::int64_t(m.heads) * m.positions * m.phases() * m.phases();
  return std::clamp<std::int64_t>(4'000'000 / terms, 200, 20'000);
}

nlohmann::ordered_json show_optimum(const SearchResult& found, double loss_star) {
  const auto peak = [](const std::vector<double>& weights, int S) {
    double smallest = 1.0;
    for (std::size_t g = 0; g < weights.size(); g += S)
      smallest = std::min(smallest, *std::max_element(&weights[g], &weights[g] + S));
    return smallest;
  };
  const int S = int(found.best_weights.key.size() / found.best_pattern.size());
  return {{"loss", found.best_loss},
          {"below_loss_star_by", loss_star - found.best_loss},
          {"smallest_largest_weight", std::min(peak(found.best_weights.key, S), peak(found.best_weights.value, S))},
          {"key", found.best_weights.key},
          {"value", found.best_weights.value},
          {"kkt_residual", found.kkt_residual}};
}

}  // namespace

ClaimResult check_theorem1(const SingleBlock& model) {
  ClaimResult result{.id = "theorem1", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  auto& evidence = result.evidence;
  if (!result.assumptions_hold()) {
    evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
  const Enclosure n0 = enclose_n0(model), n1 = enclose_n1(model), n2 = enclose_n2(model), n_star = enclose_n_star(model);
  const Enclosure loss_star = enclose_distinct_loss(model);
  const int N = model.vocabulary;
  const auto show = [](Enclosure e) {
    return nlohmann::ordered_json{e.low, std::isfinite(e.high) ? nlohmann::ordered_json(e.high) : nullptr};
  };
  evidence = {{"summary", ""},
              {"decided_by", nullptr},
              {"N0", show(n0)},
              {"N1", show(n1)},
              {"N2", show(n2)},
              {"N_star_distinct", show(n_star)},
              {"loss_star", show(loss_star)}};
  const auto decide = [&](Verdict verdict, std::string_view by, std::string summary) {
    result.verdict = verdict;
    if (by == "N0" || by == "N1" || by == "N2")
      result.certificates.push_back(make_certificate("theorem1_holds", model, 128, {{"bound", by}}));
    if (by == "N_star_distinct")
      result.certificates.push_back(
          make_certificate("theorem1_fails", model, 128, {{"margin", enclose_distinct_stability(model).high}}));
    evidence["decided_by"] = by;
    evidence["summary"] = std::move(summary);
    return result;
  };
  const bool unstable = below_n_star(model) == Decision::yes;
  if (!unstable) {
    if (above_n0(model) == Decision::yes)
      return decide(Verdict::proved, "N0", fmt::format("N = {} is above N0 = {:.6g}", N, n0.high));
    if (above_n1(model) == Decision::yes)
      return decide(Verdict::proved, "N1", fmt::format("N = {} is above N1 = {:.6g}", N, n1.high));
    if (above_n2(model) == Decision::yes)
      return decide(Verdict::proved, "N2", fmt::format("N = {} is above N2 = {:.6g}", N, n2.high));
    const BranchAndBound bounded = branch_and_bound(model, {.boxes = box_budget(model)});
    evidence["branch_and_bound"] = {{"least_loss", show(bounded.least_loss)}, {"boxes", bounded.boxes}};
    if (bounded.selects) {
      result.certificates.push_back(*branch_and_bound_certificate(model, bounded));
      return decide(Verdict::proved, "branch_and_bound",
                    fmt::format("branch and bound: {} boxes; N* = {:.6g}", bounded.boxes, n_star.high));
    }
  }
  const std::vector<double> margins = pattern_margins(model, distinct_pattern(model));
  const double margin = *std::min_element(margins.begin(), margins.end());
  evidence["distinct_margin"] = margin;
  const SearchResult found =
      search_oracle(model, Geometry::exact(1.0, model.vocabulary), any_context(model), {.starts = 32, .seed = 1});
  evidence["search"] = {{"best_loss", found.best_loss},
                        {"best_selection_loss", found.best_selection_loss},
                        {"is_selection", found.is_selection},
                        {"distinct", found.distinct},
                        {"starts", found.starts},
                        {"starts_at_best", found.starts_at_best}};
  const Enclosure best = enclose_loss(model, found.best_weights);
  if (unstable || best.high < loss_star.low) {
    evidence["better_optimum"] = show_optimum(found, distinct_loss(model));
    evidence["least_loss"] =
        show(branch_and_bound(model, {.boxes = box_budget(model) / 10, .tolerance = 1e-6, .upper = best.high}).least_loss);
    const std::string below = fmt::format("better optimum {:.3g} below loss*", loss_star.low - best.high);
    if (unstable)
      return decide(Verdict::refuted, "N_star_distinct",
                    fmt::format("N < N* = {:.6g}, margin {:.2g}; {}", n_star.low, margin, below));
    return decide(Verdict::refuted, "better_optimum", below);
  }
  if (found.is_selection && found.distinct) {
    result.verdict = Verdict::supported;
    evidence["summary"] =
        fmt::format("N > N* = {:.6g}; {} starts, none below loss*, best is a distinct selection", n_star.high, found.starts);
  } else {
    evidence["summary"] = fmt::format("N > N* = {:.6g}; the search did not reach loss* with a distinct selection", n_star.high);
  }
  return result;
}

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

}  // namespace

ClaimResult check_distinctness(const SingleBlock& model) {
  constexpr double most = 20000;
  ClaimResult result{.id = "distinctness", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  if (!result.assumptions_hold()) {
    result.evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
  const double all = std::pow(model.phases(), model.heads * model.blocks);
  const bool enumerated = all <= most;
  const std::int64_t tried =
      enumerated ? std::int64_t(all) : std::int64_t(std::min(most, 2e7 / (double(model.slots()) * model.queries())) + 2);
  const double loss_star = distinct_loss(model), rounding = 1e-12 * std::max(1.0, std::abs(loss_star));
  std::int64_t distinct_patterns = 0, deviating = 0, unresolved = 0;
  double farthest_distinct = 0.0, nearest_other = INFINITY;
  for (std::int64_t k = 0; k < tried; ++k) {
    const std::vector<int> pattern = enumerated ? pattern_of_number(model, k) : random_pattern(model, std::uint64_t(k));
    const bool distinct = distinct_in_every_block(model, pattern);
    const double above = context_loss(model, selection_gates(model, pattern)) - loss_star;
    distinct_patterns += distinct;
    deviating += distinct ? std::abs(above) > rounding : above < -rounding;
    unresolved += !distinct && std::abs(above) < 1e3 * rounding;  // at huge N the patterns differ by less than doubles resolve
    if (distinct) farthest_distinct = std::max(farthest_distinct, std::abs(above));
    if (!distinct) nearest_other = std::min(nearest_other, above);
  }
  double expected = 1.0;  // [n!/(n-H)!]^L
  for (int h = 0; h < model.heads; ++h) expected *= model.phases() - h;
  expected = std::pow(expected, model.blocks);
  const bool complete = enumerated && double(distinct_patterns) == expected;
  result.verdict = deviating > 0    ? Verdict::refuted
                   : unresolved > 0 ? Verdict::undecided
                   : complete       ? Verdict::proved
                                    : Verdict::supported;
  result.evidence = {
      {"summary", fmt::format("{} {} patterns: the {} distinct ones within {:.1g} of loss*, {}", enumerated ? "all" : "random",
                              tried, distinct_patterns, farthest_distinct,
                              std::isfinite(nearest_other) ? fmt::format("all others at least {:.3g} above", nearest_other)
                                                           : "and no others")},
      {"patterns", tried},
      {"enumerated", enumerated},
      {"distinct", distinct_patterns},
      {"distinct_predicted", expected},
      {"loss_star", loss_star},
      {"largest_deviation_of_distinct", farthest_distinct},
      {"smallest_excess_of_others",
       std::isfinite(nearest_other) ? nlohmann::ordered_json(nearest_other) : nlohmann::ordered_json()}};
  return result;
}

ClaimResult check_theorem1_perturbed(const SingleBlock& model, const Geometry& geometry, const char* vocabulary, int count,
                                     int starts) {
  ClaimResult result{
      .id = "theorem1_perturbed", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  if (!result.assumptions_hold()) {
    result.evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
  const Contexts contexts = sample_independent(model, count, 1);
  std::vector<SearchResult> found(count, SearchResult{0, ContextGates(model), 0, {}, false, false, 0, 0, 0, {}});
  tbb::parallel_for(0, count, [&](int m) {
    found[m] = search_oracle(model, geometry, contexts[m], {.starts = starts, .seed = std::uint64_t(m + 1)});
  });
  int selections = 0, distinct = 0, beaten = 0;
  nlohmann::ordered_json each = nlohmann::ordered_json::array();
  for (const SearchResult& search : found) {
    selections += search.is_selection;
    distinct += search.distinct;
    beaten += search.best_loss < search.best_selection_loss - loss_tolerance;
    each.push_back(
        {{"best_loss", search.best_loss}, {"best_selection_loss", search.best_selection_loss}, {"pattern", search.best_pattern}});
  }
  result.verdict = beaten > 0 ? Verdict::refuted : selections == count && count >= 20 ? Verdict::supported : Verdict::undecided;
  result.evidence = {{"summary", fmt::format("{} (eps {:.3g}): {} of {} contexts select, {} with distinct positions", vocabulary,
                                             geometry.epsilon(), selections, count, distinct)},
                     {"vocabulary", vocabulary},
                     {"kappa", geometry.kappa()},
                     {"epsilon", geometry.epsilon()},
                     {"contexts", count},
                     {"selections", selections},
                     {"distinct", distinct},
                     {"starts_per_context", starts},
                     {"each", each}};
  return result;
}

}  // namespace phaselock
