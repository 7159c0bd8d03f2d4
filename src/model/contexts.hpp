// Contexts: L blocks of S distinct tokens of the vocabulary, and how they are sampled (theory.md section 1).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace phaselock {

using Token = std::int32_t;

/// A list of contexts of one shape; token ids [count][L][S], row-major.
class Contexts {
 public:
  Contexts(int blocks, int positions) : slots_(blocks * positions), positions_(positions) {}

  /// Throws DomainError unless every context holds L S distinct tokens of 0 .. N-1.
  static Contexts from_tokens(const Model& model, std::vector<Token> tokens);

  std::size_t size() const { return tokens_.size() / slots_; }
  int positions() const { return positions_; }
  std::span<const Token> operator[](std::size_t m) const { return {tokens_.data() + m * slots_, std::size_t(slots_)}; }
  void append(std::span<const Token> context) { tokens_.insert(tokens_.end(), context.begin(), context.end()); }
  const std::vector<Token>& tokens() const { return tokens_; }

 private:
  int slots_, positions_;
  std::vector<Token> tokens_;
};

/// `count` contexts, each uniform over ordered choices of L S distinct tokens and independent of the others.
/// Context m depends on (seed, m) alone.
Contexts sample_independent(const Model& model, std::size_t count, std::uint64_t seed);

/// Contexts in which each token occurs equally often at each offset, pooled over blocks. Each context alone is uniform as
/// above; contexts of one group of N / gcd(N, L) are dependent. `count` is rounded up to a multiple of that group.
Contexts sample_balanced(const Model& model, std::size_t count, std::uint64_t seed);

/// The least size of a balanced sample, N / gcd(N, L); balanced counts are its multiples.
std::size_t balanced_group(const Model& model);

/// `count` rounded up to a multiple of balanced_group.
std::size_t balanced_count(const Model& model, std::size_t count);

/// Calls visit for every ordered choice of L S distinct tokens: N! / (N - L S)! contexts, for tiny vocabularies.
/// Throws DomainError if there are more than 10^7 of them.
void for_each_context(const Model& model, const std::function<void(std::span<const Token>)>& visit);

}  // namespace phaselock
