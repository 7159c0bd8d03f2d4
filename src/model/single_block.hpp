// The models that closed forms, fast kernels, bounds, boxes and certificates speak of (theory.md sections 2 to 5).
#pragma once

#include <optional>

#include "model/layout.hpp"
#include "model/model.hpp"

namespace phaselock {

/// A model in which every token sits in a single entry of each head, its block's, and is queried unless it ends the block. What is
/// derived for that layout alone takes this type: it cannot be asked about another one. Sizes and scales may be any, see validate.
class SingleBlock : public Model {
 public:
  SingleBlock() = default;
  /// L blocks of S tokens, H heads, N tokens in the vocabulary, scales gamma of scores and beta of logits.
  SingleBlock(int L, int S, int H, int N, double of_scores = 1.0, double of_logits = 1.0)
      : Model{L, S, H, N, of_scores, of_logits} {}

 private:
  explicit SingleBlock(const Model& model) : Model(model) {}
  friend std::optional<SingleBlock> single_block(const Model& model, const Layout& layout);
};

/// The model if its layout is that one, else nothing.
std::optional<SingleBlock> single_block(const Model& model, const Layout& layout);
inline std::optional<SingleBlock> single_block(const Model& model) { return single_block(model, Layout::of(model)); }

/// The same; DomainError, naming the layout that is asked for, instead of nothing.
SingleBlock require_single_block(const Model& model, const Layout& layout);
inline SingleBlock require_single_block(const Model& model) { return require_single_block(model, Layout::of(model)); }

}  // namespace phaselock
