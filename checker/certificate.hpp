// What a certificate file says (docs/certificate.md), read strictly.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace phaselock_check {

/// The file is not a certificate of the schema: nothing can be said about its claim.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Model {
  std::int64_t blocks, positions, heads, vocabulary;  ///< L, S, H, N
  double gamma, beta;
};

struct Trapping {
  double kappa;
  std::vector<std::int64_t> selection;  ///< [H], key offsets from 0
  double eta, margin;
  std::vector<std::vector<double>> state;  ///< [2 H S] rows (branch, head, offset) of N entries, or of one
};

struct Theorem1Holds {
  int form;  ///< by N0, N1 or N2
};

/// A box in the tree of cuts of the keys, and how it ends.
struct KeyNode {
  enum End { cut, bounded, symmetry, selection } end;
  std::int64_t block, head, phase;  ///< of the key weight that is cut
  double at;                        ///< where it is cut
  std::vector<double> values;       ///< [2 H S], if bounded: where the tangent is taken
};

/// Theorem 1 by branch and bound.
struct Theorem1Boxes {
  double eta, tau;             ///< of the neighbourhood of the selection
  std::vector<double> values;  ///< [2 H S]: where the tangent is taken for values off the selection
  std::vector<KeyNode> tree;   ///< a box, then, if it is cut, all of its lower part, then all of its upper part
};

struct Theorem1Fails {
  double margin;
};

struct Certificate {
  std::string statement;
  Model model;
  std::int64_t precision_bits;
  std::variant<Trapping, Theorem1Holds, Theorem1Boxes, Theorem1Fails> claim;
  std::string hash, content_hash;  ///< as the file states it, and of what the file holds
};

/// Reads a certificate. Throws Unreadable if the file cannot be read, is no JSON, or does not follow the schema: keys missing,
/// unknown or twice in one object, another type, a number that is no finite double, another shape. Does not judge the values.
Certificate read_certificate(const std::string& file);

}  // namespace phaselock_check
