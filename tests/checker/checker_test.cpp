// phaselock-check: accepts true certificates and nothing else. The certificates are made here, from docs/certificate.md, but for
// the tree of boxes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "certificates/certificate.hpp"
#include "loss/context_loss.hpp"
#include "model/random.hpp"
#include "paths.hpp"
#include "program/program.hpp"
#include "proofs/branch_and_bound.hpp"
#include "support.hpp"

using namespace phaselock;
using Json = nlohmann::json;

namespace {

const std::string trapping_words =
    "From the given state, under the population gradient flow of this model (exact geometry), in every context of the vocabulary "
    "every "
    "key gate of head h converges to position selection[h] and every value gate to selection[h] + 1.";
const std::string holds_words =
    "Every global minimizer of the loss of this model over the oracle class (exact geometry) selects: pK = e_r and pV = e_(r+1) in "
    "every "
    "context, block and head.";
const std::string fails_words =
    "No selection pattern is a global minimizer of the loss of this model over the oracle class (exact geometry): the distinct "
    "patterns, "
    "best among selections, have a negative KKT margin.";

Json with_hash(Json certificate) {
  certificate.erase("hash");
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : certificate.dump()) hash = (hash ^ std::uint8_t(c)) * 1099511628211u;
  char text[32];
  std::snprintf(text, sizeof text, "fnv1a64:%016llx", static_cast<unsigned long long>(hash));
  certificate["hash"] = text;
  return certificate;
}

Json certificate(const SingleBlock& m, const std::string& claim, const std::string& words, const Json& data) {
  return with_hash({{"schema", "phaselock-certificate"},
                    {"version", 1},
                    {"claim", claim},
                    {"statement", words},
                    {"model",
                     {{"blocks", m.blocks},
                      {"positions", m.positions},
                      {"heads", m.heads},
                      {"vocabulary", m.vocabulary},
                      {"gamma", m.gamma},
                      {"beta", m.beta}}},
                    {"precision_bits", 128},
                    {"data", data}});
}

/// A state whose target logits are `depth` and all others 0, for every token alike or each a little less than that.
Json trapping(const SingleBlock& m, const std::vector<int>& selection, double eta, double margin, bool tables, double depth = 9.5) {
  Json state = Json::array();
  for (int branch = 0; branch < 2; ++branch) {
    Json heads = Json::array();
    for (int h = 0; h < m.heads; ++h) {
      Json rows = Json::array();
      for (int s = 0; s < m.positions; ++s) {
        const double logit = s == selection[h] + branch ? depth : 0.0;
        Json row = Json::array();
        for (int i = 0; i < m.vocabulary && tables; ++i) row.push_back(logit - 0.125 * (i % 3));
        rows.push_back(tables ? row : Json(logit));
      }
      heads.push_back(rows);
    }
    state.push_back(heads);
  }
  return certificate(m, "trapping", trapping_words,
                     {{"kappa", 1.0},
                      {"selection", selection},
                      {"eta", eta},
                      {"margin", margin},
                      {"class", tables ? "linear" : "static"},
                      {"state", state}});
}

const SingleBlock three_heads{4, 4, 3, 1000, 1.0, 1.0};
const std::vector<int> pattern{1, 1, 2};

Json static_claim() { return trapping(three_heads, pattern, 0.26, 2e-5, false); }
Json linear_claim() { return trapping({4, 3, 1, 12, 1.0, 0.5}, {1}, 0.1, 0.007, true); }
Json n0_claim(int N = 607) { return certificate({4, 3, 1, N, 1.0, 10.0}, "theorem1_holds", holds_words, {{"bound", "N0"}}); }
Json n1_claim(int N = 6537) { return certificate({4, 4, 3, N, 1.0, 8.0}, "theorem1_holds", holds_words, {{"bound", "N1"}}); }
Json n2_claim(int N = 513) { return certificate({4, 3, 1, N, 1.0, 10.0}, "theorem1_holds", holds_words, {{"bound", "N2"}}); }
Json fails_claim(int N = 191, double margin = -5.6e-4) {
  return certificate({4, 3, 1, N, 1.0, 10.0}, "theorem1_fails", fails_words, {{"margin", margin}});
}

/// (4,3,1,1,10) at N = 192, just above N*. Its tree: 0 cut, 1 bounded, 2 cut, 3 bounded, 4 cut, 5 bounded, 6 cut, 7 bounded, 8
/// cut, 9 bounded, 10 selection.
Json boxes_claim() {
  const SingleBlock model{4, 3, 1, 192, 1.0, 10.0};
  return *branch_and_bound_certificate(model, branch_and_bound(model));
}

test::Outcome check_text(const std::string& text) {
  const test::TempFolder folder;
  return test::run({test::paths::checker, folder.write("certificate.json", text).string()});
}

test::Outcome check(const Json& json) { return check_text(json.dump(1)); }

bool accepted(const Json& json) { return check(json).code == 0; }

/// A way to spoil a certificate, applied before the hash is computed again.
struct Corruption {
  std::string name;
  int code;
  std::string reason;  ///< part of what the checker says
  std::function<void(Json&)> spoil;
};

void run_corruptions(const Json& good, const std::vector<Corruption>& corruptions) {
  REQUIRE(accepted(good));
  for (const Corruption& corruption : corruptions) {
    Json bad = good;
    corruption.spoil(bad);
    const test::Outcome outcome = check(with_hash(bad));
    CAPTURE(corruption.name);
    CAPTURE(outcome.out + outcome.err);
    CHECK(outcome.code == corruption.code);
    CHECK((corruption.code == 1 ? outcome.out : outcome.err).find(corruption.reason) != std::string::npos);
    CHECK((corruption.code == 1 ? outcome.out : outcome.err).rfind(corruption.code == 1 ? "rejected: " : "unreadable: ", 0) == 0);
  }
}

/// The largest margin that the checker accepts for a box, to 1e-3 relative.
double largest_margin(const SingleBlock& m, const std::vector<int>& selection, double eta) {
  double low = 1e-9, high = 10.0;
  if (!accepted(trapping(m, selection, eta, low, false))) return 0.0;
  while (high > 1.001 * low) {
    const double middle = std::sqrt(low * high);
    (accepted(trapping(m, selection, eta, middle, false)) ? low : high) = middle;
  }
  return low;
}

/// (1-eta) min (d_s - d_t) - eta max |d_u - d_s|, the least over all gates of one context.
double margin_at(const SingleBlock& m, const std::vector<int>& selection, double eta, const ContextGates& gates) {
  ContextGates d(m);
  context_loss(m, gates, &d);
  double least = INFINITY;
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < m.heads; ++h)
      for (int l = 0; l < m.blocks; ++l) {
        const double* x = (branch == 0 ? d.key : d.value).data() + gate_index(m, h, l, 0);
        const int t = selection[h] + branch;
        double low = INFINITY, high = -INFINITY;
        for (int s = 0; s < m.positions; ++s)
          if (s != t) low = std::min(low, x[s]), high = std::max(high, x[s]);
        least = std::min(least, (1 - eta) * (low - x[t]) - eta * (high - low));
      }
  return least;
}

/// Gates of the box: each has weight 1 - eta or 1 at its target and the rest on one other offset, or anything between.
ContextGates gates_of_box(const SingleBlock& m, const std::vector<int>& selection, double eta, Stream& stream) {
  ContextGates gates(m);
  for (int branch = 0; branch < 2; ++branch)
    for (int h = 0; h < m.heads; ++h)
      for (int l = 0; l < m.blocks; ++l) {
        double* p = (branch == 0 ? gates.key : gates.value).data() + gate_index(m, h, l, 0);
        const int t = selection[h] + branch;
        const double u = stream.uniform(), away = u < 0.4 ? 0.0 : u < 0.8 ? eta : eta * stream.uniform();
        p[t] = 1.0;
        p[(t + 1 + int(stream.below(m.positions - 1))) % m.positions] += away;
        p[t] -= away;
      }
  return gates;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("true certificates of each claim are accepted, and the statement is said") {
    for (const Json& good : {static_claim(), linear_claim(), n0_claim(), n1_claim(), n2_claim(), boxes_claim(), fails_claim()}) {
      const test::Outcome outcome = check(good);
      CAPTURE(outcome.out + outcome.err);
      CHECK(outcome.code == 0);
      CHECK(outcome.out == "accepted: " + good["statement"].get<std::string>() + "\n");
    }
  }

  TEST_CASE("the largest boxes are those of the theory note") {
    CHECK(accepted(trapping(three_heads, pattern, 0.26, 1e-12, false)));
    CHECK(!accepted(trapping(three_heads, pattern, 0.261, 1e-12, false)));
    const SingleBlock near_threshold{4, 4, 1, 118, 1.0, 8.0};
    CHECK(accepted(trapping(near_threshold, {0}, 0.0066, 1e-12, false)));
    CHECK(!accepted(trapping(near_threshold, {0}, 0.0070, 1e-12, false)));
    const SingleBlock below_threshold{4, 4, 3, 1000, 1.0, 8.0};
    for (const double eta : {1e-7, 1e-3, 0.1}) CHECK(!accepted(trapping(below_threshold, {0, 0, 2}, eta, 1e-12, false, 40.0)));
    CHECK(accepted(trapping(below_threshold, {0, 1, 2}, 0.19, 1e-12, false)));
  }

  TEST_CASE("the bounds of Theorem 1 decide at neighbouring vocabularies") {
    for (const auto& [json, code] : std::vector<std::pair<Json, int>>{{n0_claim(607), 0},
                                                                      {n0_claim(606), 1},
                                                                      {n1_claim(6537), 0},
                                                                      {n1_claim(6536), 1},
                                                                      {n2_claim(513), 0},
                                                                      {n2_claim(512), 1},
                                                                      {fails_claim(191, -1e-9), 0},
                                                                      {fails_claim(192, -1e-9), 1}})
      CHECK(check(json).code == code);
  }

  TEST_CASE("every number and word of a certificate is guarded by its hash") {
    for (const Json& good : {static_claim(), n0_claim(), boxes_claim(), fails_claim()}) {
      const Json leaves = good.flatten();
      for (const auto& [place, value] : leaves.items()) {
        Json bad = good;
        Json& leaf = bad[Json::json_pointer(place)];
        if (value.is_number_float()) leaf = std::nextafter(value.get<double>(), 1e9);
        if (value.is_number_integer()) leaf = value.get<int>() + 1;
        if (value.is_string()) leaf.get_ref<std::string&>().back() ^= 1;
        CAPTURE(place);
        const int code = check(bad).code;
        CHECK((code == 1 || code == 65));
        if (value.is_number_float()) CHECK(code == 1);
      }
    }
  }

  TEST_CASE("a corrupted trapping certificate is rejected even with a matching hash") {
    run_corruptions(
        static_claim(),
        {{"eta enlarged", 1, "box: its margin", [](Json& c) { c["data"]["eta"] = 0.2604; }},
         {"eta one half", 1, "eta is not in", [](Json& c) { c["data"]["eta"] = 0.5; }},
         {"eta zero", 1, "eta is not in", [](Json& c) { c["data"]["eta"] = 0.0; }},
         {"eta reduced, the state no longer inside", 1, "state: its depth", [](Json& c) { c["data"]["eta"] = 1e-4; }},
         {"margin raised", 1, "box: its margin", [](Json& c) { c["data"]["margin"] = 2.1e-5; }},
         {"margin zero", 1, "margin <= 0", [](Json& c) { c["data"]["margin"] = 0.0; }},
         {"margin negative", 1, "margin <= 0", [](Json& c) { c["data"]["margin"] = -1.0; }},
         {"another pattern", 1, "state: its depth",
          [](Json& c) {
            c["data"]["selection"] = {1, 2, 2};
          }},
         {"pattern swapped", 1, "state: its depth",
          [](Json& c) {
            c["data"]["selection"] = {2, 1, 1};
          }},
         {"selection of the last position", 1, "not in 0 .. S-2",
          [](Json& c) {
            c["data"]["selection"] = {1, 1, 3};
          }},
         {"negative selection", 1, "not in 0 .. S-2",
          [](Json& c) {
            c["data"]["selection"] = {1, -1, 2};
          }},
         {"negative kappa", 1, "kappa < 0", [](Json& c) { c["data"]["kappa"] = -1e-9; }},
         {"N lowered", 1, "box: its margin", [](Json& c) { c["model"]["vocabulary"] = 990; }},
         {"N below L S", 1, "vocabulary < blocks * positions", [](Json& c) { c["model"]["vocabulary"] = 15; }},
         {"fewer blocks", 1, "blocks < 2", [](Json& c) { c["model"]["blocks"] = 1; }},
         {"more blocks", 1, "box: its margin", [](Json& c) { c["model"]["blocks"] = 100; }},
         {"blocks whose product overflows", 1, "vocabulary < blocks", [](Json& c) { c["model"]["blocks"] = 4611686018427387904; }},
         {"beta raised", 1, "box: its margin", [](Json& c) { c["model"]["beta"] = 1.2; }},
         {"beta beyond any exponent", 1, "box: its margin", [](Json& c) { c["model"]["beta"] = 1e300; }},
         {"beta zero", 1, "beta <= 0", [](Json& c) { c["model"]["beta"] = 0.0; }},
         {"gamma lowered", 1, "box: its margin", [](Json& c) { c["model"]["gamma"] = 0.9; }},
         {"gamma above 1", 1, "gamma is not in", [](Json& c) { c["model"]["gamma"] = 1.0000000001; }},
         {"a key out of the box", 1, "state: its depth", [](Json& c) { c["data"]["state"][0][0][1] = 2.0; }},
         {"a value out of the box", 1, "state: its depth", [](Json& c) { c["data"]["state"][1][2][0] = 9.0; }},
         {"branches swapped", 1, "state: its depth", [](Json& c) { std::swap(c["data"]["state"][0], c["data"]["state"][1]); }},
         {"statement without its condition", 1, "statement: not the words",
          [](Json& c) { c["statement"] = trapping_words.substr(trapping_words.find("in every")); }},
         {"statement of another claim", 1, "statement: not the words", [](Json& c) { c["statement"] = holds_words; }},
         {"precision too low", 1, "precision_bits is not in", [](Json& c) { c["precision_bits"] = 53; }},
         {"precision too high", 1, "precision_bits is not in", [](Json& c) { c["precision_bits"] = 8192; }}});
  }

  TEST_CASE("a corrupted state of tables is rejected even if one token alone leaves the box") {
    run_corruptions(linear_claim(),
                    {{"one target entry low", 1, "state: its depth", [](Json& c) { c["data"]["state"][0][0][1][7] = 2.0; }},
                     {"one other entry high", 1, "state: its depth", [](Json& c) { c["data"]["state"][1][0][0][11] = 8.0; }},
                     {"a token less in one row", 65, "has 11 entries", [](Json& c) { c["data"]["state"][1][0][0].erase(11); }},
                     {"N lowered", 65, "has 12 entries, not 11", [](Json& c) { c["model"]["vocabulary"] = 11; }},
                     {"said to be static", 65, "is no number", [](Json& c) { c["data"]["class"] = "static"; }}});
  }

  TEST_CASE("what does not follow the schema is unreadable") {
    run_corruptions(
        static_claim(),
        {{"a key missing", 65, "lacks precision_bits", [](Json& c) { c.erase("precision_bits"); }},
         {"a key of data missing", 65, "data lacks kappa", [](Json& c) { c["data"].erase("kappa"); }},
         {"a key of the model missing", 65, "model lacks gamma", [](Json& c) { c["model"].erase("gamma"); }},
         {"an unknown key", 65, "unknown key \"note\"", [](Json& c) { c["note"] = "x"; }},
         {"an unknown key of data", 65, "unknown key", [](Json& c) { c["data"]["rho"] = 0.1; }},
         {"another version", 65, "version is not 1", [](Json& c) { c["version"] = 2; }},
         {"another schema", 65, "schema is not", [](Json& c) { c["schema"] = "phaselock-run"; }},
         {"an unknown claim", 65, "claim is none of", [](Json& c) { c["claim"] = "theorem2"; }},
         {"a stronger claim", 65, "data lacks bound", [](Json& c) { c["claim"] = "theorem1_holds", c["statement"] = holds_words; }},
         {"an unknown class", 65, "data.class", [](Json& c) { c["data"]["class"] = "oracle"; }},
         {"a head's selection missing", 65, "data.selection has 2 entries", [](Json& c) { c["data"]["selection"].erase(2); }},
         {"a head missing", 65, "has 2 entries", [](Json& c) { c["data"]["state"][1].erase(0); }},
         {"a branch missing", 65, "data.state has 1 entries", [](Json& c) { c["data"]["state"].erase(1); }},
         {"a position missing", 65, "has 3 entries", [](Json& c) { c["data"]["state"][0][1].erase(3); }},
         {"one head more", 65, "has 3 entries, not 4", [](Json& c) { c["model"]["heads"] = 4; }},
         {"a text as number", 65, "model.beta is no number", [](Json& c) { c["model"]["beta"] = "1.0"; }},
         {"a fraction as size", 65, "model.blocks is no integer", [](Json& c) { c["model"]["blocks"] = 4.0; }},
         {"a size beyond 64 bits", 65, "beyond 64 bits", [](Json& c) { c["model"]["vocabulary"] = 18446744073709551615u; }},
         {"not a number", 65, "is no number", [](Json& c) { c["data"]["state"][0][0][0] = NAN; }},
         {"an integer that is no double", 65, "from 2^53 on", [](Json& c) { c["data"]["state"][0][0][1] = 9007199254740993; }},
         {"data no object", 65, "data is no object", [](Json& c) { c["data"] = 1; }}});
  }

  TEST_CASE("a corrupted certificate of Theorem 1 is rejected") {
    run_corruptions(n1_claim(), {{"N lowered", 1, "bound: ", [](Json& c) { c["model"]["vocabulary"] = 6536; }},
                                 {"the other bound", 1, "bound: N - N0", [](Json& c) { c["data"]["bound"] = "N0"; }},
                                 {"an unknown bound", 65, "data.bound", [](Json& c) { c["data"]["bound"] = "N3"; }},
                                 {"too few blocks", 1, "L >= 4", [](Json& c) { c["model"]["blocks"] = 3; }},
                                 {"too many heads", 1, "H < S", [](Json& c) { c["model"]["heads"] = 4; }},
                                 {"no head", 1, "heads < 1", [](Json& c) { c["model"]["heads"] = 0; }},
                                 {"two positions", 1, "S >= 3", [](Json& c) { c["model"]["positions"] = 2; }},
                                 {"beta raised", 1, "bound: ", [](Json& c) { c["model"]["beta"] = 8.001; }},
                                 {"the opposite statement", 1, "statement: ", [](Json& c) { c["statement"] = fails_words; }}});
    run_corruptions(n2_claim(), {{"N lowered", 1, "bound: ", [](Json& c) { c["model"]["vocabulary"] = 512; }},
                                 {"bound N0", 1, "bound: N - N0", [](Json& c) { c["data"]["bound"] = "N0"; }},
                                 {"bound N1", 1, "bound: what N1's", [](Json& c) { c["data"]["bound"] = "N1"; }},
                                 {"beta nudged up", 1, "bound: ", [](Json& c) { c["model"]["beta"] = 10.0005; }},
                                 {"a head more", 1, "bound: ", [](Json& c) { c["model"]["heads"] = 2; }},
                                 {"a position more", 1, "bound: ", [](Json& c) { c["model"]["positions"] = 4; }},
                                 {"too few blocks", 1, "L >= 4", [](Json& c) { c["model"]["blocks"] = 3; }},
                                 {"data of another claim", 65, "data lacks margin", [](Json& c) { c["claim"] = "theorem1_fails"; }},
                                 {"the opposite statement", 1, "statement: ", [](Json& c) { c["statement"] = fails_words; }}});
    run_corruptions(fails_claim(),
                    {{"margin lowered", 1, "margin: the stated one", [](Json& c) { c["data"]["margin"] = -5.7e-4; }},
                     {"margin positive", 1, "margin >= 0", [](Json& c) { c["data"]["margin"] = 1e-3; }},
                     {"margin zero", 1, "margin >= 0", [](Json& c) { c["data"]["margin"] = 0; }},
                     {"N raised", 1, "margin: the stated one", [](Json& c) { c["model"]["vocabulary"] = 192; }},
                     {"no unused position", 1, "no unused position", [](Json& c) { c["model"]["heads"] = 2; }},
                     {"the opposite claim", 65, "data lacks bound", [](Json& c) { c["claim"] = "theorem1_holds"; }}});
  }

  TEST_CASE("a corrupted tree of boxes is rejected") {
    const Json good = boxes_claim();
    REQUIRE(good["data"]["tree"].size() == 11);
    REQUIRE(good["data"]["tree"][10] == "selection");
    const auto leaf = [](Json& c, int k) -> Json& { return c["data"]["tree"][k]; };
    const std::string bound = "the box's lower bound less loss*";
    run_corruptions(
        good,
        {{"N lowered", 1, "selection: the margin", [](Json& c) { c["model"]["vocabulary"] = 191; }},
         {"beta nudged up", 1, "selection: the margin", [](Json& c) { c["model"]["beta"] = 10.004; }},
         {"gamma lowered", 1, "selection: the margin", [](Json& c) { c["model"]["gamma"] = 0.05; }},
         {"eta enlarged", 1, "selection: the lower bound", [](Json& c) { c["data"]["eta"] = 0.25; }},
         {"eta reduced", 1, "tree[10]: the box is not near the selection", [](Json& c) { c["data"]["eta"] = 0.12499; }},
         {"eta zero", 1, "eta is not in", [](Json& c) { c["data"]["eta"] = 0.0; }},
         {"eta one", 1, "eta is not in", [](Json& c) { c["data"]["eta"] = 1.0; }},
         {"tau enlarged", 1, "selection: the descent of keys", [](Json& c) { c["data"]["tau"] = 0.45; }},
         {"tau reduced", 1, "selection: the lower bound", [](Json& c) { c["data"]["tau"] = 0.05; }},
         {"tau zero", 1, "tau is not in", [](Json& c) { c["data"]["tau"] = 0.0; }},
         {"tau negative", 1, "tau is not in", [](Json& c) { c["data"]["tau"] = -0.1; }},
         {"values off the selection moved", 1, "selection: the lower bound",
          [](Json& c) {
            c["data"]["values"][0][0] = {0.0, 0.2, 0.8};
          }},
         {"values of a box moved", 1, "tree[5]: " + bound,
          [&](Json& c) {
            leaf(c, 5)[0][0] = {0.0, 0.2, 0.8};
          }},
         {"values of a box beyond any exponent", 1, "tree[1]: " + bound, [&](Json& c) { leaf(c, 1)[0][0][1] = 1e300; }},
         {"values of two boxes swapped", 1, "tree[9]: " + bound, [&](Json& c) { std::swap(leaf(c, 1), leaf(c, 9)); }},
         {"a box said to be symmetric", 1, "tree[7]: keys are left", [&](Json& c) { leaf(c, 7) = "symmetry"; }},
         {"the selection said to be symmetric", 1, "tree[10]: keys are left", [&](Json& c) { leaf(c, 10) = "symmetry"; }},
         {"a box said to be near the selection", 1, "tree[9]: the box is not near", [&](Json& c) { leaf(c, 9) = "selection"; }},
         {"the selection said to be bounded", 1, "tree[10]: " + bound, [&](Json& c) { leaf(c, 10) = leaf(c, 9); }},
         {"all keys said to be near the selection", 1, "tree[0]: the box is not near",
          [](Json& c) { c["data"]["tree"] = {"selection"}; }},
         {"a cut moved down", 1, "tree[3]: " + bound, [&](Json& c) { leaf(c, 2)["at"] = 0.9; }},
         {"a cut moved up", 1, "tree[1]: " + bound, [&](Json& c) { leaf(c, 0)["at"] = 0.99; }},
         {"the last cut below the neighbourhood", 1, "tree[10]: the box is not near", [&](Json& c) { leaf(c, 8)["at"] = 0.84; }},
         {"a cut of the other block", 1, "rejected: tree[",
          [&](Json& c) {
            leaf(c, 2)["key"] = {0, 0, 0};
          }},
         {"a cut of no block", 1, "tree[0]: no such key weight", [&](Json& c) { leaf(c, 0)["key"][0] = 2; }},
         {"a cut of no head", 1, "tree[0]: no such key weight", [&](Json& c) { leaf(c, 0)["key"][1] = 1; }},
         {"a cut at the last position", 1, "tree[0]: no such key weight", [&](Json& c) { leaf(c, 0)["key"][2] = 2; }},
         {"a cut at a negative position", 1, "tree[0]: no such key weight", [&](Json& c) { leaf(c, 0)["key"][2] = -1; }},
         {"the last box missing", 1, "tree: 1 boxes do not end", [](Json& c) { c["data"]["tree"].erase(10); }},
         {"the upper half of all keys missing", 1, "tree: 1 boxes do not end",
          [](Json& c) {
            c["data"]["tree"] = {c["data"]["tree"][0], c["data"]["tree"][1]};
          }},
         {"no box at all", 1, "tree: 1 boxes do not end", [](Json& c) { c["data"]["tree"] = Json::array(); }},
         {"a box too many", 1, "tree[11]: all boxes have ended", [](Json& c) { c["data"]["tree"].push_back("symmetry"); }},
         {"too few blocks", 1, "L >= 4", [](Json& c) { c["model"]["blocks"] = 3; }},
         {"the opposite statement", 1, "statement: ", [](Json& c) { c["statement"] = fails_words; }},
         {"a head more", 65, "has 1 entries, not 2", [](Json& c) { c["model"]["heads"] = 2; }},
         {"a position more", 65, "has 3 entries, not 4", [](Json& c) { c["model"]["positions"] = 4; }},
         {"by a bound", 65, "unknown key", [](Json& c) { c["data"]["bound"] = "N2"; }},
         {"by another bound", 65, "unknown key", [](Json& c) { c["data"]["bound"] = "branch"; }},
         {"the opposite claim", 65, "data lacks margin", [](Json& c) { c["claim"] = "theorem1_fails"; }},
         {"another way to end", 65, "a cut of data.tree is no object", [&](Json& c) { leaf(c, 10) = "near"; }},
         {"a cut without a place", 65, "lacks at", [&](Json& c) { leaf(c, 0).erase("at"); }},
         {"a key of two numbers", 65, "has 2 entries", [&](Json& c) { leaf(c, 0)["key"].erase(2); }},
         {"a block's values missing", 65, "has 1 entries", [&](Json& c) { leaf(c, 1).erase(1); }},
         {"a value that is no number", 65, "is no number", [&](Json& c) { leaf(c, 1)[0][0][0] = "0"; }},
         {"tree no array", 65, "data.tree is no array", [](Json& c) { c["data"]["tree"] = 1; }}});
  }

  TEST_CASE("files that hold no certificate are unreadable, and a wrong call is refused") {
    const std::string good = static_claim().dump();
    const auto code = [](const std::string& text) { return check_text(text).code; };
    REQUIRE(code(good) == 0);
    CHECK(code("") == 65);
    CHECK(code("[]") == 65);
    CHECK(code(good + "x") == 65);
    CHECK(code(good + good) == 65);
    for (std::size_t length = 1; length < good.size(); length += good.size() / 10) CHECK(code(good.substr(0, length)) == 65);
    CHECK(code(std::string(1000000, '[')) == 65);
    CHECK(code("{\"schema\":" + std::string(200000, '[') + std::string(200000, ']') + "}") == 65);

    const auto replaced = [&](const std::string& from, const std::string& to) {
      std::string text = good;
      const std::size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      return text.replace(at, from.size(), to);
    };
    const test::Outcome twice = check_text(replaced("\"eta\":0.26", "\"eta\":0.4,\"eta\":0.26"));
    CHECK(twice.code == 65);
    CHECK(twice.err.find("twice") != std::string::npos);
    CHECK(code(replaced("9.5", "1e999")) == 65);
    CHECK(code(replaced("9.5", "NaN")) == 65);
    CHECK(code(replaced("trapping", "trap\xff")) == 65);
    CHECK(code(replaced("fnv1a64:", "FNV1A64:")) == 1);

    const test::TempFolder folder;
    CHECK(test::run({test::paths::checker, (folder / "missing.json").string()}).code == 65);
    CHECK(test::run({test::paths::checker, folder.path().string()}).code == 65);
    CHECK(test::run({test::paths::checker}).code == 64);
    CHECK(test::run({test::paths::checker, "a", "b"}).code == 64);
    CHECK(test::run({test::paths::checker, "--quiet"}).code == 64);
    CHECK(test::run({test::paths::checker, "--help"}).code == 0);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("the margin that is accepted bounds the margin at random points of the box, and not by far") {
    Stream stream(5, Purpose::choice);
    struct Case {
      SingleBlock model;
      std::vector<int> selection;
      double eta;
    };
    for (const Case& c : std::vector<Case>{{three_heads, pattern, 0.1},
                                           {{4, 4, 1, 118, 1.0, 8.0}, {0}, 0.003},
                                           {{5, 3, 2, 60, 0.7, 3.0}, {1, 0}, 0.1},
                                           {{4, 3, 1, 12, 1.0, 0.5}, {1}, 0.2},
                                           {{2, 2, 1, 4, 1.0, 1.0}, {0}, 0.2},
                                           {{4, 5, 2, 400, 0.5, 4.0}, {2, 3}, 0.1}}) {
      const double proved = largest_margin(c.model, c.selection, c.eta);
      double least = INFINITY;
      for (int k = 0; k < 20000; ++k)
        least = std::min(least, margin_at(c.model, c.selection, c.eta, gates_of_box(c.model, c.selection, c.eta, stream)));
      CAPTURE(c.model.positions);
      CAPTURE(least);
      CAPTURE(proved);
      CHECK(proved > 0.0);
      CHECK(proved <= least);
      CHECK(proved > 0.2 * least);
    }
  }
}
