#include "statistics/seed_counts.hpp"

#include <cmath>
#include <numeric>

namespace phaselock {

namespace {

template <class Key>
void add_to(std::map<Key, std::int64_t>& sums, const std::map<Key, std::int64_t>& counts) {
  for (const auto& [key, n] : counts) sums[key] += n;
}

}  // namespace

std::int64_t SeedCounts::seeds() const { return std::accumulate(outcomes.begin(), outcomes.end(), std::int64_t(0)); }

std::int64_t SeedCounts::collided() const {
  std::int64_t sum = 0;
  for (const auto& [shape, n] : shapes)
    if (int(shape.size()) < heads.heads) sum += n;
  return sum;
}

void SeedCounts::add(const SeedRecord& seed) {
  const SeedEnd& end = seed.end;
  if (end.outcome == FlowOutcome::selected) {
    heads.add(end.selection);
    ++shapes[shape_of(end.selection)];
    if (seed.agrees) ++(*seed.agrees ? agreeing : disagreeing);
  }
  ++outcomes[std::size_t(end.outcome)];
  certified += seed.certified;
  if (std::isfinite(end.escape)) ++escapes[escape_bin(end.escape)];
}

SeedCounts& SeedCounts::operator+=(const SeedCounts& other) {
  heads += other.heads;
  for (std::size_t k = 0; k < outcomes.size(); ++k) outcomes[k] += other.outcomes[k];
  add_to(shapes, other.shapes);
  add_to(escapes, other.escapes);
  certified += other.certified;
  agreeing += other.agreeing;
  disagreeing += other.disagreeing;
  return *this;
}

SeedCounts count_seeds(const Model& model, std::span<const SeedRecord> seeds) {
  SeedCounts counts(model);
  for (const SeedRecord& seed : seeds) counts.add(seed);
  return counts;
}

}  // namespace phaselock
