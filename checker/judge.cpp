#include "judge.hpp"

#include <algorithm>
#include <cstdio>

#include "boxes.hpp"
#include "formulas.hpp"

namespace phaselock_check {

namespace {

using Reasons = std::vector<std::string>;

const char* const trapping_statement =
    "From the given state, under the population gradient flow of this model (exact geometry), in every context of the vocabulary "
    "every "
    "key gate of head h converges to position selection[h] and every value gate to selection[h] + 1.";
const char* const holds_statement =
    "Every global minimizer of the loss of this model over the oracle class (exact geometry) selects: pK = e_r and pV = e_(r+1) in "
    "every "
    "context, block and head.";
const char* const fails_statement =
    "No selection pattern is a global minimizer of the loss of this model over the oracle class (exact geometry): the distinct "
    "patterns, "
    "best among selections, have a negative KKT margin.";

void require(Reasons& reasons, bool condition, const std::string& otherwise) {
  if (!condition) reasons.push_back(otherwise);
}

std::string shown(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

/// Adds a reason unless value() > 0 is proved. Precision grows to 1024 bits while that still changes the bounds.
template <class Value>
void require_positive(Reasons& reasons, const std::string& name, const Value& value) {
  std::string bounds;
  for (Interval::precision() = 128; Interval::precision() <= 1024; Interval::precision() *= 2) {
    const Interval x = value();
    if (x.positive()) return;
    const std::string sharper = "[" + shown(x.lower()) + ", " + shown(x.upper()) + "]";
    if (x.negative()) return reasons.push_back(name + " is not positive: it is in " + sharper);
    if (sharper == bounds) break;
    bounds = sharper;
  }
  reasons.push_back(name + " is not proved to be positive: all that is known is " + bounds);
}

void check_model(Reasons& reasons, const Model& m) {
  require(reasons, m.blocks >= 2, "model: blocks < 2");
  require(reasons, m.positions >= 2, "model: positions < 2");
  require(reasons, m.heads >= 1, "model: heads < 1");
  if (m.blocks >= 2 && m.positions >= 2)
    require(reasons, m.blocks <= m.vocabulary / m.positions, "model: vocabulary < blocks * positions");
  require(reasons, m.gamma > 0 && m.gamma <= 1, "model: gamma is not in (0, 1]");
  require(reasons, m.beta > 0, "model: beta <= 0");
}

void check_theorem1_sizes(Reasons& reasons, const Model& m, bool unused_phase) {
  require(reasons, m.blocks >= 4, "model: the theorem needs L >= 4");
  require(reasons, m.positions >= 3, "model: the theorem needs S >= 3");
  if (unused_phase)
    require(reasons, m.heads < m.positions - 1, "model: distinct patterns of H >= S - 1 heads leave no unused position");
  else
    require(reasons, m.heads < m.positions, "model: the theorem needs H < S");
}

// One check for each claim: its words, the domain of its data, then, if all that is right, its inequalities.

void check(Reasons& reasons, const Certificate& c, const Trapping& data) {
  require(reasons, c.statement == trapping_statement, "statement: not the words of a trapping claim");
  require(reasons, data.kappa >= 0, "data: kappa < 0");
  require(reasons, data.eta > 0 && data.eta < 0.5, "data: eta is not in (0, 1/2)");
  require(reasons, data.margin > 0, "data: margin <= 0");
  const auto selectable = [&](std::int64_t r) { return r >= 0 && r <= c.model.positions - 2; };
  require(reasons, std::all_of(data.selection.begin(), data.selection.end(), selectable), "data: a selection is not in 0 .. S-2");
  if (!reasons.empty()) return;
  require_positive(reasons, "state: its depth in the box", [&] { return state_depth(c.model, data); });
  require_positive(reasons, "box: its margin less the stated one", [&] { return box_margin(c.model, data) - data.margin; });
}

void check(Reasons& reasons, const Certificate& c, const Theorem1Holds& data) {
  require(reasons, c.statement == holds_statement, "statement: not the words of a theorem1_holds claim");
  check_theorem1_sizes(reasons, c.model, false);
  if (!reasons.empty()) return;
  if (data.form == 0) require_positive(reasons, "bound: N - N0", [&] { return above_n0(c.model); });
  if (data.form == 1) require_positive(reasons, "bound: what N1's inequality at N leaves over", [&] { return above_n1(c.model); });
  if (data.form == 2) require_positive(reasons, "bound: what N2's inequality at N leaves over", [&] { return above_n2(c.model); });
}

/// Follows the tree of cuts from all keys on; every box must end, none may be left over.
void check_tree(Reasons& reasons, const Model& m, const Theorem1Boxes& data) {
  std::vector<KeyBox> open{all_keys(m)};
  for (std::size_t k = 0; k < data.tree.size() && reasons.empty(); ++k) {
    const KeyNode& node = data.tree[k];
    const std::string name = "tree[" + std::to_string(k) + "]: ";
    if (open.empty()) return reasons.push_back(name + "all boxes have ended before");
    KeyBox box = std::move(open.back());
    open.pop_back();
    const bool needed = drop_equivalent_keys(m, box);
    switch (node.end) {
      case KeyNode::cut: {
        const bool exists = node.block >= 0 && node.block < 2 && node.head >= 0 && node.head < m.heads && node.phase >= 0 &&
                            node.phase < m.positions - 1;
        if (!exists) return reasons.push_back(name + "no such key weight");
        const std::size_t weight = (node.block * m.heads + node.head) * (m.positions - 1) + node.phase;
        KeyBox lower = box;
        lower.high[weight] = std::min(lower.high[weight], node.at);
        box.low[weight] = std::max(box.low[weight], node.at);
        open.push_back(std::move(box));
        open.push_back(std::move(lower));
        break;
      }
      case KeyNode::symmetry:
        require(reasons, !needed, name + "keys are left that symmetry does not exclude");
        break;
      case KeyNode::selection:
        require(reasons, is_near_selection(m, box, data.eta), name + "the box is not near the selection");
        break;
      case KeyNode::bounded:
        require_positive(reasons, name + "the box's lower bound less loss*",
                         [&] { return pair_bound(m, box, node.values, 1) - distinct_loss(m); });
        break;
    }
  }
  if (reasons.empty()) require(reasons, open.empty(), "tree: " + std::to_string(open.size()) + " boxes do not end");
}

void check(Reasons& reasons, const Certificate& c, const Theorem1Boxes& data) {
  require(reasons, c.statement == holds_statement, "statement: not the words of a theorem1_holds claim");
  check_theorem1_sizes(reasons, c.model, false);
  require(reasons, data.eta > 0 && data.eta < 1, "data: eta is not in (0, 1)");
  require(reasons, data.tau > 0 && data.tau < 1, "data: tau is not in (0, 1)");
  if (!reasons.empty()) return;
  if (c.model.heads < c.model.positions - 1)
    require_positive(reasons, "selection: the margin of distinct patterns", [&] { return distinct_margin(c.model); });
  require_positive(reasons, "selection: the descent of keys", [&] { return keys_descent(c.model, data.eta, data.tau); });
  require_positive(reasons, "selection: the lower bound for values off it less loss*", [&] {
    const KeyBox near = keys_near_selection(c.model, data.eta);
    return pair_bound(c.model, near, data.values, 1 - Interval(data.tau)) - distinct_loss(c.model);
  });
  if (reasons.empty()) check_tree(reasons, c.model, data);
}

void check(Reasons& reasons, const Certificate& c, const Theorem1Fails& data) {
  require(reasons, c.statement == fails_statement, "statement: not the words of a theorem1_fails claim");
  check_theorem1_sizes(reasons, c.model, true);
  require(reasons, data.margin < 0, "data: margin >= 0");
  if (!reasons.empty()) return;
  require_positive(reasons, "margin: the stated one less the model's", [&] { return data.margin - distinct_margin(c.model); });
}

}  // namespace

std::vector<std::string> reasons_to_reject(const Certificate& c) {
  Reasons reasons;
  require(reasons, c.hash == c.content_hash, "hash: the content's is " + c.content_hash);
  require(reasons, c.precision_bits >= 64 && c.precision_bits <= 4096, "precision_bits is not in 64 .. 4096");
  check_model(reasons, c.model);
  std::visit([&](const auto& data) { check(reasons, c, data); }, c.claim);
  return reasons;
}

}  // namespace phaselock_check
