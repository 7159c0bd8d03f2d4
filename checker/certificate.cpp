#include "certificate.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace phaselock_check {

namespace {

using Json = nlohmann::json;  // its objects keep keys in alphabetical order

[[noreturn]] void fail(const std::string& why) { throw Unreadable(why); }

std::string slurp(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail("cannot open " + file);
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(stream), {});
  } catch (const std::exception&) {
    fail("cannot read " + file);
  }
  if (stream.bad()) fail("cannot read " + file);
  return text;
}

Json parse(const std::string& text) {
  std::vector<std::set<std::string>> open;  // keys of the objects around the current place
  const auto no_key_twice = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      fail("key " + parsed.dump() + " twice in one object");
    return true;
  };
  try {
    return Json::parse(text, no_key_twice);
  } catch (const Json::exception& error) {
    fail(std::string("no JSON: ") + error.what());
  }
}

void require_keys(const Json& object, const std::string& name, std::initializer_list<const char*> keys) {
  if (!object.is_object()) fail(name + " is no object");
  for (const char* key : keys)
    if (!object.contains(key)) fail(name + " lacks " + key);
  for (const auto& item : object.items())
    if (std::find(keys.begin(), keys.end(), item.key()) == keys.end())
      fail(name + " has an unknown key " + Json(item.key()).dump());
}

double number(const Json& value, const std::string& name) {
  if (!value.is_number()) fail(name + " is no number");
  const double x = value.get<double>();
  if (!std::isfinite(x)) fail(name + " is not finite");
  if (value.is_number_integer() && std::abs(x) >= 0x1p53) fail(name + " is an integer from 2^53 on, which need not be a double");
  return x;
}

std::int64_t integer(const Json& value, const std::string& name) {
  if (!value.is_number_integer()) fail(name + " is no integer");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    fail(name + " is beyond 64 bits");
  return value.get<std::int64_t>();
}

std::string text(const Json& value, const std::string& name) {
  if (!value.is_string()) fail(name + " is no string");
  return value.get<std::string>();
}

const Json& array(const Json& value, const std::string& name, std::int64_t length) {
  if (!value.is_array()) fail(name + " is no array");
  if (std::int64_t(value.size()) != length)
    fail(name + " has " + std::to_string(value.size()) + " entries, not " + std::to_string(length));
  return value;
}

Model read_model(const Json& value) {
  require_keys(value, "model", {"blocks", "positions", "heads", "vocabulary", "gamma", "beta"});
  const auto size = [&](const char* key) { return integer(value[key], std::string("model.") + key); };
  return {size("blocks"),
          size("positions"),
          size("heads"),
          size("vocabulary"),
          number(value["gamma"], "model.gamma"),
          number(value["beta"], "model.beta")};
}

/// The rows of nested arrays [2][H][S] or [2][H][S][N].
std::vector<std::vector<double>> read_state(const Json& value, const Model& m, bool tables) {
  std::vector<std::vector<double>> rows;
  for (const Json& branch : array(value, "data.state", 2))
    for (const Json& head : array(branch, "a branch of data.state", m.heads))
      for (const Json& entry : array(head, "a head of data.state", m.positions)) {
        std::vector<double>& row = rows.emplace_back();
        if (!tables) row.push_back(number(entry, "an entry of data.state"));
        if (tables)
          for (const Json& x : array(entry, "a row of data.state", m.vocabulary))
            row.push_back(number(x, "an entry of data.state"));
      }
  return rows;
}

Trapping read_trapping(const Json& data, const Model& m) {
  require_keys(data, "data", {"kappa", "selection", "eta", "margin", "class", "state"});
  const std::string gates = text(data["class"], "data.class");
  if (gates != "linear" && gates != "static") fail("data.class is neither linear nor static");
  Trapping result{
      number(data["kappa"], "data.kappa"), {}, number(data["eta"], "data.eta"), number(data["margin"], "data.margin"), {}};
  for (const Json& offset : array(data["selection"], "data.selection", m.heads))
    result.selection.push_back(integer(offset, "an entry of data.selection"));
  result.state = read_state(data["state"], m, gates == "linear");
  return result;
}

/// Value weights, nested arrays [2][H][S].
std::vector<double> read_values(const Json& value, const std::string& name, const Model& m) {
  std::vector<double> values;
  for (const Json& block : array(value, name, 2))
    for (const Json& head : array(block, "a block of " + name, m.heads))
      for (const Json& weight : array(head, "a head of " + name, m.positions))
        values.push_back(number(weight, "an entry of " + name));
  return values;
}

KeyNode read_node(const Json& value, const Model& m) {
  if (value == "symmetry") return {KeyNode::symmetry, 0, 0, 0, 0, {}};
  if (value == "selection") return {KeyNode::selection, 0, 0, 0, 0, {}};
  if (value.is_array()) return {KeyNode::bounded, 0, 0, 0, 0, read_values(value, "a box of data.tree", m)};
  require_keys(value, "a cut of data.tree", {"key", "at"});
  const Json& key = array(value["key"], "a key of data.tree", 3);
  const auto index = [&](int k) { return integer(key[k], "an index of data.tree"); };
  return {KeyNode::cut, index(0), index(1), index(2), number(value["at"], "a cut of data.tree"), {}};
}

bool is_by_boxes(const Json& data) { return data.is_object() && data.contains("bound") && data["bound"] == "branch_and_bound"; }

Theorem1Boxes read_boxes(const Json& data, const Model& m) {
  require_keys(data, "data", {"bound", "eta", "tau", "values", "tree"});
  Theorem1Boxes result{
      number(data["eta"], "data.eta"), number(data["tau"], "data.tau"), read_values(data["values"], "data.values", m), {}};
  if (!data["tree"].is_array()) fail("data.tree is no array");
  for (const Json& node : data["tree"]) result.tree.push_back(read_node(node, m));
  return result;
}

Theorem1Holds read_holds(const Json& data) {
  require_keys(data, "data", {"bound"});
  const std::string bound = text(data["bound"], "data.bound");
  if (bound != "N0" && bound != "N1" && bound != "N2") fail("data.bound is none of N0, N1, N2, branch_and_bound");
  return {bound[1] - '0'};
}

Theorem1Fails read_fails(const Json& data) {
  require_keys(data, "data", {"margin"});
  return {number(data["margin"], "data.margin")};
}

std::string fnv1a64(const std::string& bytes) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const unsigned char byte : bytes) state = (state ^ byte) * 0x100000001b3;
  std::string digits(16, '0');
  for (int k = 15; k >= 0; --k, state >>= 4) digits[k] = "0123456789abcdef"[state & 15];
  return "fnv1a64:" + digits;
}

}  // namespace

Certificate read_certificate(const std::string& file) {
  Json json = parse(slurp(file));
  require_keys(json, "the file", {"schema", "version", "claim", "statement", "model", "precision_bits", "data", "hash"});
  if (text(json["schema"], "schema") != "phaselock-certificate") fail("schema is not phaselock-certificate");
  if (integer(json["version"], "version") != 1) fail("version is not 1");

  Certificate result;
  result.statement = text(json["statement"], "statement");
  result.model = read_model(json["model"]);
  result.precision_bits = integer(json["precision_bits"], "precision_bits");
  const std::string claim = text(json["claim"], "claim");
  if (claim == "trapping")
    result.claim = read_trapping(json["data"], result.model);
  else if (claim == "theorem1_holds" && is_by_boxes(json["data"]))
    result.claim = read_boxes(json["data"], result.model);
  else if (claim == "theorem1_holds")
    result.claim = read_holds(json["data"]);
  else if (claim == "theorem1_fails")
    result.claim = read_fails(json["data"]);
  else
    fail("claim is none of trapping, theorem1_holds, theorem1_fails");

  result.hash = text(json["hash"], "hash");
  json.erase("hash");
  result.content_hash = fnv1a64(json.dump());
  return result;
}

}  // namespace phaselock_check
