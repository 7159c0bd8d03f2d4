#include "certificates/certificate.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "model/errors.hpp"

namespace phaselock {

namespace {

using Json = nlohmann::json;

std::string statement(std::string_view claim) {
  if (claim == "trapping")
    return "From the given state, under the population gradient flow of this model (exact geometry), in every context of the "
           "vocabulary every key gate "
           "of head h converges to position selection[h] and every value gate to selection[h] + 1.";
  if (claim == "theorem1_holds")
    return "Every global minimizer of the loss of this model over the oracle class (exact geometry) selects: pK = e_r and pV = "
           "e_(r+1) in every context, "
           "block and head.";
  if (claim == "theorem1_fails")
    return "No selection pattern is a global minimizer of the loss of this model over the oracle class (exact geometry): the "
           "distinct patterns, best among "
           "selections, have a negative KKT margin.";
  throw DomainError(fmt::format("no such claim for a certificate: {}", claim));
}

/// FNV-1a, 64 bits.
std::string hash(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3ULL;
  return fmt::format("fnv1a64:{:016x}", h);
}

/// numbers as nested arrays of the given shape.
Json nested(std::span<const double> numbers, std::span<const std::size_t> shape) {
  if (shape.empty()) return numbers.front();
  Json list = Json::array();
  const std::size_t part = numbers.size() / shape.front();
  for (std::size_t k = 0; k < shape.front(); ++k) list.push_back(nested(numbers.subspan(k * part, part), shape.subspan(1)));
  return list;
}

/// The tree's boxes in the order of the file: a box, then, if it is cut, all of its lower part, then all of its upper part.
Json boxes_in_order(const SingleBlock& m, const std::vector<BoxNode>& tree, std::span<const std::size_t> values_shape) {
  Json list = Json::array();
  std::vector<std::size_t> ahead{0};
  while (!ahead.empty()) {
    const BoxNode& node = tree[ahead.back()];
    ahead.pop_back();
    switch (node.end) {
      case BoxNode::End::cut: {
        const int gate = node.key / m.phases();
        list.push_back({{"key", {gate / m.heads, gate % m.heads, node.key % m.phases()}}, {"at", node.at}});
        ahead.push_back(node.lower + 1);
        ahead.push_back(node.lower);
        break;
      }
      case BoxNode::End::bounded:
        list.push_back(nested(node.values, values_shape));
        break;
      case BoxNode::End::symmetry:
        list.push_back("symmetry");
        break;
      case BoxNode::End::selection:
        list.push_back("selection");
        break;
      case BoxNode::End::open:
        throw DomainError("a tree with open boxes proves nothing");
    }
  }
  return list;
}

}  // namespace

Json make_certificate(std::string_view claim, const SingleBlock& m, int precision_bits, Json data) {
  Json certificate = {{"schema", "phaselock-certificate"},
                      {"version", 1},
                      {"claim", claim},
                      {"statement", statement(claim)},
                      {"model",
                       {{"blocks", m.blocks},
                        {"positions", m.positions},
                        {"heads", m.heads},
                        {"vocabulary", m.vocabulary},
                        {"gamma", m.gamma},
                        {"beta", m.beta}}},
                      {"precision_bits", precision_bits},
                      {"data", std::move(data)}};
  certificate["hash"] = hash(certificate.dump());
  return certificate;
}

std::optional<Json> trapping_certificate(const SingleBlock& model, double kappa, bool static_gates, const FlowResult& flow) {
  if (!flow.trap) return std::nullopt;
  std::vector<std::size_t> shape{2, std::size_t(model.heads), std::size_t(model.positions)};
  if (!static_gates) shape.push_back(model.vocabulary);
  return make_certificate("trapping", model, flow.trap->precision,
                          {{"kappa", kappa},
                           {"selection", flow.gates.selection},
                           {"eta", flow.trap->eta},
                           {"margin", flow.trap->margin},
                           {"class", static_gates ? "static" : "linear"},
                           {"state", nested(flow.state, shape)}});
}

std::optional<Json> branch_and_bound_certificate(const SingleBlock& model, const BranchAndBound& found) {
  if (!found.selects) return std::nullopt;
  const std::size_t shape[] = {2, std::size_t(model.heads), std::size_t(model.positions)};
  return make_certificate("theorem1_holds", model, 128,
                          {{"bound", "branch_and_bound"},
                           {"eta", found.neighbourhood.eta},
                           {"tau", found.neighbourhood.tau},
                           {"values", nested(found.neighbourhood.values, shape)},
                           {"tree", boxes_in_order(model, found.tree, shape)}});
}

}  // namespace phaselock
