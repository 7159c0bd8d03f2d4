#include "statistics/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/errors.hpp"

namespace phaselock {

namespace {

constexpr std::size_t most_shapes = 100000;

void check_sizes(int choices, int values) {
  if (choices < 1 || values < 1) throw DomainError(fmt::format("occupancy of {} choices among {} values", choices, values));
}

double probability(const Shape& shape, int values) {
  // Every partial product of the first loop is the probability of some numbers of fewer choices at given values: at most 1.
  double p = 1.0;
  int choice = 0;
  for (const int part : shape)
    for (int j = 1; j <= part; ++j) p *= double(++choice) / (double(j) * values);
  int alike = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    alike = k > 0 && shape[k] == shape[k - 1] ? alike + 1 : 1;
    p *= double(values - int(k)) / alike;
  }
  return p;
}

template <class T>
std::vector<T> distinct(int choices, int values, std::span<const T> weights) {
  const std::vector<Shape> shapes = occupancy_shapes(choices, values);
  if (weights.size() != shapes.size())
    throw DomainError(
        fmt::format("{} numbers for the {} shapes of {} choices among {} values", weights.size(), shapes.size(), choices, values));
  std::vector<T> sums(std::size_t(std::min(choices, values)), T(0));
  for (std::size_t k = 0; k < shapes.size(); ++k) sums[shapes[k].size() - 1] += weights[k];
  return sums;
}

}  // namespace

Shape shape_of(std::span<const int> selection) {
  std::vector<int> sorted(selection.begin(), selection.end());
  std::sort(sorted.begin(), sorted.end());
  Shape shape;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    if (sorted[k] < 0) throw DomainError(fmt::format("{} is no position", sorted[k]));
    if (k > 0 && sorted[k] == sorted[k - 1])
      ++shape.back();
    else
      shape.push_back(1);
  }
  std::sort(shape.begin(), shape.end(), std::greater<>());
  return shape;
}

std::string shape_name(const Shape& shape) { return fmt::to_string(fmt::join(shape, "+")); }

std::vector<Shape> occupancy_shapes(int choices, int values) {
  check_sizes(choices, values);
  std::vector<Shape> shapes;
  Shape shape;
  const auto extend = [&](const auto& self, int left, int largest) -> void {
    if (left == 0) {
      if (shapes.size() == most_shapes)
        throw DomainError(fmt::format("{} choices among {} values have more than {} shapes", choices, values, most_shapes));
      shapes.push_back(shape);
      return;
    }
    const int parts = values - int(shape.size());  // that may still come
    if (parts == 0) return;
    for (int part = std::min(left, largest); std::int64_t(part) * parts >= left; --part) {
      shape.push_back(part);
      self(self, left - part, part);
      shape.pop_back();
    }
  };
  extend(extend, choices, choices);
  return shapes;
}

std::vector<double> shape_law(int choices, int values) {
  std::vector<double> law;
  for (const Shape& shape : occupancy_shapes(choices, values)) law.push_back(probability(shape, values));
  return law;
}

std::vector<double> occupancy_law(int choices, int values) {
  check_sizes(choices, values);
  // One more choice repeats one of the k values seen with probability k / n, else it is new. All terms are positive, so
  // no figure is lost where the formula in Stirling's numbers would overflow.
  std::vector<double> law(std::min(choices, values), 0.0);
  law[0] = 1.0;
  for (int choice = 2; choice <= choices; ++choice)
    for (int k = int(law.size()); k >= 1; --k) {
      const double fresh = k == 1 ? 0.0 : law[k - 2] * double(values - k + 1) / values;
      law[k - 1] = law[k - 1] * double(k) / values + fresh;
    }
  return law;
}

std::vector<std::int64_t> distinct_of_shapes(int choices, int values, std::span<const std::int64_t> counts) {
  return distinct(choices, values, counts);
}

std::vector<double> distinct_of_shapes(int choices, int values, std::span<const double> probabilities) {
  return distinct(choices, values, probabilities);
}

}  // namespace phaselock
