// How H heads that choose among n = S - 1 phases share them: shapes of occupancy and their laws (theory.md section 5, head
// coverage).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace phaselock {

/// Numbers of heads at the occupied phases, the largest first; they sum to H. Two heads together and one apart: {2, 1}.
using Shape = std::vector<int>;

/// The shape of chosen phases, each >= 0.
Shape shape_of(std::span<const int> selection);

/// "2+1".
std::string shape_name(const Shape& shape);

/// All shapes: the partitions of `choices` into at most `values` parts, in decreasing lexicographic order, so from all together to
/// most spread. DomainError unless choices >= 1 and values >= 1, and if there are more than 100000.
std::vector<Shape> occupancy_shapes(int choices, int values);

/// Probability of each shape, in the order of occupancy_shapes, among `choices` independent uniform choices of n = `values`:
/// P(a_1 >= ... >= a_k) = H! / (a_1! ... a_k!) / n^H n! / (n - k)! / (m_1! m_2! ...), m_j the number of parts equal to j.
std::vector<double> shape_law(int choices, int values);

/// Occupancy law: probability of k distinct values, k = 1 .. min(H, n), among H independent uniform choices of n; entry k - 1.
/// P(k) = n! / (n - k)! S2(H, k) / n^H, S2 Stirling's numbers of the second kind.
std::vector<double> occupancy_law(int choices, int values);

/// Sums over the shapes with k parts, entry k - 1, of counts or probabilities in the order of occupancy_shapes. DomainError unless
/// there is one for each shape.
std::vector<std::int64_t> distinct_of_shapes(int choices, int values, std::span<const std::int64_t> counts);
std::vector<double> distinct_of_shapes(int choices, int values, std::span<const double> probabilities);

}  // namespace phaselock
