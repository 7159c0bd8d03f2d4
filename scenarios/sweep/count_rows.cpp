#include "sweep/count_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace phaselock {

namespace {

/// Calls visit(quantity, key, number) for each number of `counts` whose keys the model's sizes tell: all but shapes and escapes.
template <class Counts, class Visit>
void for_each_number(Counts& counts, const Visit& visit) {
  for (int k = 0; k < flow_outcomes; ++k) visit("outcome", std::string(name(FlowOutcome(k))), counts.outcomes[std::size_t(k)]);
  auto& heads = counts.heads;
  for (int r = 0; r < heads.phases; ++r) {
    visit("position", std::to_string(r), heads.at[std::size_t(r)]);
    for (int s = r; s < heads.phases; ++s) visit("pair", fmt::format("{},{}", r, s), heads.products[heads.pair_index(r, s)]);
  }
  visit("certified", "yes", counts.certified);
  visit("agrees", "yes", counts.agreeing);
  visit("agrees", "no", counts.disagreeing);
}

}  // namespace

std::vector<CountRow> count_rows(const SeedCounts& counts) {
  std::vector<CountRow> rows;
  const auto put = [&](const char* what, std::string key, std::int64_t n) {
    if (n != 0) rows.push_back({what, std::move(key), n});
  };
  for_each_number(counts, put);
  for (const auto& [shape, n] : counts.shapes) put("shape", shape_name(shape), n);
  for (const auto& [bin, n] : counts.escapes) put("escape", std::to_string(bin), n);
  std::sort(rows.begin(), rows.end());
  return rows;
}

SeedCounts read_counts(const Model& model, std::span<const CountRow> rows) {
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> numbers;
  for (const CountRow& row : rows) numbers[{row.what, row.key}] += row.n;
  const auto number = [&](const char* what, const std::string& key) {
    const auto found = numbers.find({what, key});
    return found == numbers.end() ? std::int64_t(0) : found->second;
  };
  SeedCounts counts(model);
  for_each_number(counts, [&](const char* what, const std::string& key, std::int64_t& n) { n = number(what, key); });
  for (Shape& shape : occupancy_shapes(model.heads, model.phases()))
    if (const std::int64_t n = number("shape", shape_name(shape)); n != 0) {
      counts.heads.seeds += n;
      counts.shapes[std::move(shape)] = n;
    }
  for (const CountRow& row : rows)
    if (row.what == "escape") counts.escapes[std::stoi(row.key)] += row.n;
  return counts;
}

}  // namespace phaselock
