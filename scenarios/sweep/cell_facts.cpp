#include "sweep/cell_facts.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace phaselock {

namespace {

constexpr Estimate unknown{NAN, {NAN, NAN}};

std::int64_t count_of(const SeedCounts& counts, const std::string& what, const std::string& key) {
  const auto quantity = counts.find(what);
  if (quantity == counts.end()) return 0;
  const auto found = quantity->second.find(key);
  return found == quantity->second.end() ? 0 : found->second;
}

/// Mean of a quality over seeds of so many of each shape.
double mean(const std::vector<ShapeQuality>& qualities, const std::vector<std::int64_t>& counts, double ShapeQuality::*quality) {
  double sum = 0.0, seeds = 0.0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    sum += double(counts[k]) * qualities[k].*quality;
    seeds += double(counts[k]);
  }
  return sum / seeds;
}

ShapeQuality mean_quality(const std::vector<ShapeQuality>& qualities, const std::vector<std::int64_t>& counts) {
  const auto of = [&](double ShapeQuality::*quality) { return mean(qualities, counts, quality); };
  return {of(&ShapeQuality::mean_loss),         of(&ShapeQuality::worst_loss),    of(&ShapeQuality::mean_probability),
          of(&ShapeQuality::worst_probability), of(&ShapeQuality::mean_accuracy), of(&ShapeQuality::worst_accuracy)};
}

HeadSums head_sums(const Model& model, const SeedCounts& counts, std::int64_t selected) {
  HeadSums sums(model.heads, model.phases());
  sums.seeds = selected;
  for (int r = 0; r < model.phases(); ++r) {
    sums.at[r] = count_of(counts, "position", std::to_string(r));
    for (int s = r; s < model.phases(); ++s)
      sums.products[sums.pair_index(r, s)] = count_of(counts, "pair", std::to_string(r) + "," + std::to_string(s));
  }
  return sums;
}

/// Shares of selected seeds; NaN without any.
std::vector<Estimate> shares(const std::vector<std::int64_t>& counts, std::int64_t selected) {
  const std::vector<Interval> intervals = simultaneous_intervals(counts);
  std::vector<Estimate> estimates;
  for (std::size_t k = 0; k < counts.size(); ++k) estimates.push_back({double(counts[k]) / double(selected), intervals[k]});
  return estimates;
}

/// A test of no seeds says nothing.
GoodnessOfFit of_seeds(GoodnessOfFit test, std::int64_t seeds) {
  if (seeds == 0) test.p_value = NAN;
  return test;
}

EscapeHistogram histogram(const SeedCounts& counts) {
  EscapeHistogram bins;
  if (const auto found = counts.find("escape"); found != counts.end())
    for (const auto& [bin, n] : found->second) bins[std::stoi(bin)] = n;
  return bins;
}

}  // namespace

Share::Share(std::int64_t n, std::int64_t all) : count(n), of(all) {
  if (of > 0) estimate = {double(n) / double(all), clopper_pearson(n, all)};
}

CellFacts cell_facts(const Model& model, const SeedCounts& counts, std::int64_t seeds) {
  const int H = model.heads, n = model.phases();
  std::vector<std::int64_t> outcomes;
  for (int k = 0; k <= int(FlowOutcome::not_finite); ++k)
    outcomes.push_back(count_of(counts, "outcome", std::string(name(FlowOutcome(k)))));
  std::vector<Shape> shapes = occupancy_shapes(H, n);
  std::vector<std::int64_t> of_shape;
  std::vector<ShapeQuality> qualities;
  for (const Shape& shape : shapes) {
    of_shape.push_back(count_of(counts, "shape", shape_name(shape)));
    qualities.push_back(shape_quality(require_single_block(model), shape));
  }
  const std::vector<std::int64_t> distinct = distinct_of_shapes(H, n, std::span<const std::int64_t>(of_shape));
  const std::int64_t selected = std::accumulate(of_shape.begin(), of_shape.end(), std::int64_t(0));
  const std::int64_t apart = int(distinct.size()) == H ? distinct.back() : 0;
  const std::int64_t agreeing = count_of(counts, "agrees", "yes");
  const HeadSums sums = head_sums(model, counts, selected);
  const EscapeHistogram escapes = histogram(counts);
  const std::int64_t escaped = std::accumulate(escapes.begin(), escapes.end(), std::int64_t(0),
                                               [](std::int64_t sum, const auto& bin) { return sum + bin.second; });
  const std::vector<double> law = shape_law(H, n), distinct_law = occupancy_law(H, n);
  LawFit occupancy_fit = goodness_of_fit(of_shape, law);
  occupancy_fit.test = of_seeds(occupancy_fit.test, selected);
  const bool has_pairs = H >= 2 && n >= 2;
  return {model,
          seeds,
          outcomes,
          shapes,
          of_shape,
          distinct,
          shares(of_shape, selected),
          shares(distinct, selected),
          law,
          distinct_law,
          sums,
          escapes,
          escaped,
          Share(selected, seeds),
          Share(selected - apart, selected),
          Share(apart, selected),
          Share(count_of(counts, "certified", "yes"), seeds),
          Share(agreeing, agreeing + count_of(counts, "agrees", "no")),
          occupancy_fit,
          of_seeds(position_uniformity(sums), selected),
          of_seeds(pair_independence(sums), selected),
          qualities,
          mean_quality(qualities, of_shape),
          has_pairs ? pair_correlation(H, n, of_shape) : PairCorrelation{unknown, unknown},
          escaped > 0 ? escape_quantile(escapes, 0.5, seeds - escaped) : unknown};
}

}  // namespace phaselock
