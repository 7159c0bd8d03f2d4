#include "model/contexts.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "model/errors.hpp"
#include "model/layout.hpp"
#include "model/random.hpp"

namespace phaselock {

namespace {

/// Shuffles the first `chosen` places of `pool` into a uniform ordered choice without replacement (Fisher and Yates).
template <class Item>
void choose_front(std::vector<Item>& pool, std::size_t chosen, Stream& stream) {
  for (std::size_t j = 0; j < chosen; ++j) {
    const std::size_t other = j + stream.below(std::uint32_t(pool.size() - j));
    std::swap(pool[j], pool[other]);
  }
}

std::vector<Token> all_tokens(const Model& model) {
  std::vector<Token> tokens(model.vocabulary);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

}  // namespace

Contexts Contexts::from_tokens(const Model& model, std::vector<Token> tokens) {
  if (tokens.empty() || tokens.size() % model.slots() != 0)
    throw DomainError(
        fmt::format("contexts hold {} tokens, not a positive multiple of blocks * positions = {}", tokens.size(), model.slots()));
  std::vector<std::size_t> seen_in(model.vocabulary, 0);
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const std::size_t context = k / model.slots();
    if (tokens[k] < 0 || tokens[k] >= model.vocabulary)
      throw DomainError(fmt::format("context {} holds token {}, outside 0..{}", context, tokens[k], model.vocabulary - 1));
    if (std::exchange(seen_in[tokens[k]], context + 1) == context + 1)
      throw DomainError(fmt::format("context {} holds token {} twice", context, tokens[k]));
  }
  Contexts contexts(model.blocks, model.positions);
  contexts.tokens_ = std::move(tokens);
  return contexts;
}

Contexts sample_independent(const Model& model, std::size_t count, std::uint64_t seed) {
  Contexts contexts(model.blocks, model.positions);
  const std::size_t slots = model.slots();
  // The pool is restored after each context, so that a context does not depend on those before it.
  const std::vector<Token> fresh = all_tokens(model);
  std::vector<Token> pool = fresh;
  std::vector<Token> context(slots);
  for (std::size_t m = 0; m < count; ++m) {
    Stream stream(seed, Purpose::independent_contexts, m);
    choose_front(pool, slots, stream);
    context.assign(pool.begin(), pool.begin() + slots);
    contexts.append(context);
    for (const Token token : context) pool[token] = fresh[token];
    for (std::size_t j = 0; j < slots; ++j) pool[j] = fresh[j];
  }
  return contexts;
}

std::size_t balanced_group(const Model& model) { return model.vocabulary / std::gcd(model.vocabulary, model.blocks); }

std::size_t balanced_count(const Model& model, std::size_t count) {
  const std::size_t group = balanced_group(model);
  return (count + group - 1) / group * group;
}

Contexts sample_balanced(const Model& model, std::size_t count, std::uint64_t seed) {
  // A group shifts one template of L S distinct residues around a randomly labelled circle of N tokens, by L a context. With
  // g = gcd(N, L) the shifts reach each residue of a class mod g once, and the template holds at each offset L / g
  // residues of each class: so each token meets each offset L / g times.
  Contexts contexts(model.blocks, model.positions);
  const int N = model.vocabulary, L = model.blocks, S = model.positions;
  const Layout layout = Layout::of(model);
  const int g = std::gcd(N, L), per_class = L / g;
  const std::size_t group = balanced_group(model), groups = balanced_count(model, count) / group;
  std::vector<Token> context(model.slots());
  for (std::size_t unit = 0; unit < groups; ++unit) {
    Stream stream(seed, Purpose::balanced_contexts, unit);
    std::vector<Token> label = all_tokens(model);
    choose_front(label, label.size(), stream);
    std::vector<std::vector<int>> residues(g);  // residues[k]: the class k mod g, its first L/g * S in random order
    for (int k = 0; k < g; ++k) {
      for (int i = k; i < N; i += g) residues[k].push_back(i);
      choose_front(residues[k], std::size_t(per_class) * S, stream);
    }
    std::vector<int> residue(model.slots());  // the template, [L][S]
    std::vector<int> classes(L), taken(g, 0);
    for (int r = 0; r < S; ++r) {
      for (int l = 0; l < L; ++l) classes[l] = l % g;
      choose_front(classes, classes.size(), stream);
      for (int l = 0; l < L; ++l) residue[layout.slot(l, r)] = residues[classes[l]][taken[classes[l]]++];
    }
    for (std::size_t m = 0; m < group; ++m) {
      for (int j = 0; j < model.slots(); ++j) context[j] = label[(residue[j] + m * L) % N];
      contexts.append(context);
    }
  }
  return contexts;
}

void for_each_context(const Model& model, const std::function<void(std::span<const Token>)>& visit) {
  double count = 1;
  for (int j = 0; j < model.slots(); ++j) count *= model.vocabulary - j;
  if (count > 1e7) throw DomainError(fmt::format("enumeration of {:.3g} contexts refused: at most 10^7", count));
  std::vector<Token> context(model.slots());
  std::vector<bool> used(model.vocabulary, false);
  const std::function<void(int)> place = [&](int slot) {
    if (slot == model.slots()) return visit(context);
    for (Token token = 0; token < model.vocabulary; ++token) {
      if (used[token]) continue;
      used[token] = true;
      context[slot] = token;
      place(slot + 1);
      used[token] = false;
    }
  };
  place(0);
}

}  // namespace phaselock
