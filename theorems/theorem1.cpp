#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bounds.hpp"
#include "checks.hpp"
#include "loss/context_loss.hpp"
#include "search.hpp"
#include "stability.hpp"

namespace phaselock {

namespace {

constexpr double loss_tolerance = 1e-8;

std::vector<Token> any_context(const Model& model) {
  std::vector<Token> context(model.slots());
  for (int j = 0; j < model.slots(); ++j) context[j] = j;
  return context;  // at exact geometry all contexts are equivalent (theory.md section 3)
}

nlohmann::ordered_json show_optimum(const SearchResult& found, double loss_star) {
  const auto peak = [](const std::vector<double>& weights, int S) {
    double smallest = 1.0;
    for (std::size_t g = 0; g < weights.size(); g += S) smallest = std::min(smallest, *std::max_element(&weights[g], &weights[g] + S));
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

ClaimResult check_theorem1(const Model& model) {
  ClaimResult result{.id = "theorem1", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  auto& evidence = result.evidence;
  if (!result.assumptions_hold()) {
    evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
  const double n0 = sufficient_n0(model), n1 = sufficient_n1(model), n_star = necessary_n_star(model);
  const double loss_star = distinct_loss(model), N = model.vocabulary;
  evidence = {{"summary", ""}, {"N0", n0}, {"N1", nullptr}, {"N_star_distinct", n_star}, {"loss_star", loss_star}};
  if (std::isfinite(n1)) evidence["N1"] = n1;
  if (N > n0 || N >= n1) {
    result.verdict = Verdict::proved;
    evidence["summary"] = fmt::format("N = {} is above {} = {:.6g}", N, n0 < n1 ? "N0" : "N1", std::min(n0, n1));
    return result;
  }
  const std::vector<double> margins = pattern_margins(model, distinct_pattern(model));
  const double margin = *std::min_element(margins.begin(), margins.end());
  evidence["distinct_margin"] = margin;
  const SearchResult found = search_oracle(model, Geometry::exact(1.0, model.vocabulary), any_context(model), {.starts = 32, .seed = 1});
  evidence["search"] = {{"best_loss", found.best_loss}, {"best_selection_loss", found.best_selection_loss}, {"is_selection", found.is_selection},
                        {"distinct", found.distinct}, {"starts", found.starts}, {"starts_at_best", found.starts_at_best}};
  const bool unstable = margin < -1e-12, beaten = found.better() < loss_star - loss_tolerance;
  if (unstable || beaten) {
    result.verdict = Verdict::refuted;
    evidence["better_optimum"] = show_optimum(found, loss_star);
    evidence["summary"] = fmt::format("{}better optimum {:.3g} below loss*",
                                      unstable ? fmt::format("N < N* = {:.6g}, margin {:.2g}; ", n_star, margin) : std::string(),
                                      loss_star - found.better());
  } else if (found.is_selection && found.distinct) {
    result.verdict = Verdict::supported;
    evidence["summary"] = fmt::format("N* = {:.6g} < N < {:.6g}; {} starts, none below loss*, best is a distinct selection", n_star,
                                      std::min(n0, n1), found.starts);
  } else {
    evidence["summary"] = fmt::format("N* = {:.6g} < N < {:.6g}; the search did not reach loss* with a distinct selection", n_star, std::min(n0, n1));
  }
  return result;
}

ClaimResult check_distinctness(const Model& model) {
  ClaimResult result{.id = "distinctness", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  const int n = model.phases(), gates = model.heads * model.blocks;
  const double count = std::pow(n, gates);
  result.assumptions.push_back({fmt::format("(S-1)^(H L) = {:.6g} <= 20000", count), count <= 20000});
  if (!result.assumptions_hold()) {
    result.evidence["summary"] = "not examined";
    return result;
  }
  const double loss_star = distinct_loss(model);
  std::int64_t distinct_patterns = 0, deviating = 0;
  double farthest_distinct = 0.0, nearest_other = INFINITY;
  std::vector<int> pattern(gates, 0);
  for (std::int64_t k = 0; k < std::int64_t(count); ++k) {
    std::int64_t rest = k;
    for (int& r : pattern) {
      r = int(rest % n);
      rest /= n;
    }
    bool distinct = true;
    for (int l = 0; l < model.blocks; ++l) {
      std::set<int> positions;
      for (int h = 0; h < model.heads; ++h) distinct = positions.insert(pattern[h * model.blocks + l]).second && distinct;
    }
    const double above = context_loss(model, selection_gates(model, pattern)) - loss_star;
    distinct_patterns += distinct;
    deviating += distinct ? std::abs(above) > 1e-12 : above < 1e-9;
    if (distinct) farthest_distinct = std::max(farthest_distinct, std::abs(above));
    if (!distinct) nearest_other = std::min(nearest_other, above);
  }
  double expected = 1.0;
  for (int h = 0; h < model.heads; ++h) expected *= n - h;
  expected = std::pow(expected, model.blocks);
  result.verdict = deviating == 0 && double(distinct_patterns) == expected ? Verdict::proved : Verdict::refuted;
  result.evidence = {{"summary", fmt::format("{:.0f} patterns: the {} distinct ones within {:.1g} of loss*, all others at least {:.3g} above", count,
                                             distinct_patterns, farthest_distinct, nearest_other)},
                     {"patterns", std::int64_t(count)},
                     {"distinct", distinct_patterns},
                     {"distinct_predicted", expected},
                     {"loss_star", loss_star},
                     {"largest_deviation_of_distinct", farthest_distinct},
                     {"smallest_excess_of_others", std::isfinite(nearest_other) ? nlohmann::ordered_json(nearest_other) : nlohmann::ordered_json()}};
  return result;
}

ClaimResult check_theorem1_perturbed(const Model& model, const Geometry& geometry, const char* vocabulary, int count, int starts) {
  ClaimResult result{.id = "theorem1_perturbed", .model = model, .assumptions = size_assumptions(model), .evidence = {}, .expected = {}};
  if (!result.assumptions_hold()) {
    result.evidence["summary"] = "not examined: the statement does not speak of this model";
    return result;
  }
  const Contexts contexts = sample_independent(model, count, 1);
  std::vector<SearchResult> found(count, SearchResult{0, ContextGates(model), 0, {}, false, false, 0, 0, 0, {}});
  tbb::parallel_for(0, count, [&](int m) { found[m] = search_oracle(model, geometry, contexts[m], {.starts = starts, .seed = std::uint64_t(m + 1)}); });
  int selections = 0, distinct = 0, beaten = 0;
  nlohmann::ordered_json each = nlohmann::ordered_json::array();
  for (const SearchResult& search : found) {
    selections += search.is_selection;
    distinct += search.distinct;
    beaten += search.best_loss < search.best_selection_loss - loss_tolerance;
    each.push_back({{"best_loss", search.best_loss}, {"best_selection_loss", search.best_selection_loss}, {"pattern", search.best_pattern}});
  }
  result.verdict = beaten > 0 ? Verdict::refuted : selections == count && count >= 20 ? Verdict::supported : Verdict::undecided;
  result.evidence = {{"summary", fmt::format("{} (eps {:.3g}): {} of {} contexts select, {} with distinct positions", vocabulary, geometry.epsilon(),
                                             selections, count, distinct)},
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
