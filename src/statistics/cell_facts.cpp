#include "statistics/cell_facts.hpp"

#include <span>

namespace phaselock {

namespace {

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
  return {.mean_loss = of(&ShapeQuality::mean_loss),
          .worst_loss = of(&ShapeQuality::worst_loss),
          .mean_probability = of(&ShapeQuality::mean_probability),
          .worst_probability = of(&ShapeQuality::worst_probability),
          .mean_accuracy = of(&ShapeQuality::mean_accuracy),
          .worst_accuracy = of(&ShapeQuality::worst_accuracy)};
}

/// The counts of these shapes, in their order.
std::vector<std::int64_t> counts_of(const std::vector<Shape>& shapes, const SeedCounts& counts) {
  std::vector<std::int64_t> ordered;
  for (const Shape& shape : shapes) {
    const auto found = counts.shapes.find(shape);
    ordered.push_back(found == counts.shapes.end() ? 0 : found->second);
  }
  return ordered;
}

std::vector<ShapeQuality> qualities_of(const SingleBlock& model, const std::vector<Shape>& shapes) {
  std::vector<ShapeQuality> qualities;
  for (const Shape& shape : shapes) qualities.push_back(shape_quality(model, shape));
  return qualities;
}

std::vector<Estimate> shares(const std::vector<std::int64_t>& counts, std::int64_t all) {
  const std::vector<Interval> intervals = simultaneous_intervals(counts);
  std::vector<Estimate> estimates;
  for (std::size_t k = 0; k < counts.size(); ++k) estimates.push_back({double(counts[k]) / double(all), intervals[k]});
  return estimates;
}

/// A test of no seeds says nothing.
GoodnessOfFit of_seeds(GoodnessOfFit test, std::int64_t seeds) {
  if (seeds == 0) test.p_value = unknown_estimate.value;
  return test;
}

LawFit fit(const std::vector<std::int64_t>& counts, const std::vector<double>& law, std::int64_t seeds) {
  LawFit found = goodness_of_fit(counts, law);
  found.test = of_seeds(found.test, seeds);
  return found;
}

std::int64_t sum(const EscapeHistogram& escapes) {
  std::int64_t seeds = 0;
  for (const auto& [bin, n] : escapes) seeds += n;
  return seeds;
}

}  // namespace

Share::Share(std::int64_t n, std::int64_t all) : count(n), of(all) {
  if (of > 0) estimate = {double(n) / double(all), clopper_pearson(n, all)};
}

CellFacts cell_facts(const SingleBlock& model, const SeedCounts& counts) {
  const int H = model.heads, n = model.phases();
  const std::int64_t seeds = counts.seeds(), selected = counts.selected(), collided = counts.collided();
  const std::int64_t escaped = sum(counts.escapes);
  const std::vector<Shape> shapes = occupancy_shapes(H, n);
  const std::vector<std::int64_t> shape_counts = counts_of(shapes, counts);
  const std::vector<std::int64_t> distinct = distinct_of_shapes(H, n, std::span<const std::int64_t>(shape_counts));
  const std::vector<ShapeQuality> qualities = qualities_of(model, shapes);
  const std::vector<double> law = shape_law(H, n);
  const bool has_pairs = H >= 2 && n >= 2;
  return {.model = model,
          .seeds = seeds,
          .outcomes = counts.outcomes,
          .selected = Share(selected, seeds),
          .certified = Share(counts.certified, seeds),
          .agrees = Share(counts.agreeing, counts.agreeing + counts.disagreeing),
          .shapes = shapes,
          .shape_counts = shape_counts,
          .shape_shares = shares(shape_counts, selected),
          .shape_law = law,
          .qualities = qualities,
          .quality = mean_quality(qualities, shape_counts),
          .shape_fit = fit(shape_counts, law, selected),
          .distinct = distinct,
          .distinct_shares = shares(distinct, selected),
          .occupancy_law = occupancy_law(H, n),
          .all_distinct = Share(selected - collided, selected),
          .collided = Share(collided, selected),
          .sums = counts.heads,
          .phase_fit = of_seeds(phase_uniformity(counts.heads), selected),
          .pair_fit = of_seeds(pair_independence(counts.heads), selected),
          .pairs = has_pairs ? pair_correlation(H, n, shape_counts) : PairCorrelation{unknown_estimate, unknown_estimate},
          .escapes = counts.escapes,
          .escaped = escaped,
          .escape_median = escaped > 0 ? escape_quantile(counts.escapes, 0.5, seeds - escaped) : unknown_estimate};
}

}  // namespace phaselock
