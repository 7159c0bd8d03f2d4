// tables.json of every folder that has tables, against the files: no table or column more or less, and cells of the types given.
#include <doctest/doctest.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "kinds/kind.hpp"
#include "output/files.hpp"
#include "program.hpp"
#include "schema/scenario.hpp"

namespace phaselock::test {

namespace {

std::string scenario(const std::string& kind, const std::string& more = "") {
  return "kind = \"" + kind + "\"\n[model]\nblocks = 4\npositions = 3\nheads = 2\nvocabulary = 12\ngamma = 1.0\nbeta = 1.0\n" +
         more;
}

/// A quick scenario of each kind.
const std::map<std::string, std::string> scenarios = {
    {"flow", scenario("flow", "[flow]\nuntil = 10.0\n")},
    {"search", scenario("search")},
    {"coverage", scenario("coverage",
                          "[sweep]\nseeds = 40\nkeep = \"seeds\"\n[sweep.over]\n\"initial.radius\" = [0.001, 0.0001]\n"
                          "\"model.heads\" = [1, 2]\n\"gates.class\" = [\"static\"]\n")},
    {"toy", "kind = \"toy\"\n[model]\nblocks = 4\ngamma = 1.0\nbeta = 1.0\n"},
    {"stability", scenario("stability", "[stability]\npattern = [0, 1]\nbetas = 3\n")},
    {"diagram",
     scenario("diagram", "[diagram]\nwhat = \"n_star\"\nx = \"gamma\"\nx_range = [0.1, 1]\ny_range = [1, 8]\ncells = 2\n")},
};

/// Cells of a line; a comma between quotes parts none.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

template <class T>
bool is(const std::string& cell, T low, T high) {
  T value{};
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size() && low <= value && value <= high;
}

/// `may_lack`: whether an integer may be missing.
bool fits(const std::string& cell, const std::string& type, bool may_lack) {
  if (type == "text") return true;
  if (type == "integer") return (may_lack && cell.empty()) || is<long long>(cell, LLONG_MIN, LLONG_MAX);
  REQUIRE((type == "number" || type == "share"));
  const bool share = type == "share";
  return cell.empty() || is<double>(cell, share ? 0.0 : -HUGE_VAL, share ? 1.0 : HUGE_VAL);
}

/// The names of the tables of a folder, all of them checked.
std::set<std::string> check_tables(const fs::path& folder) {
  CAPTURE(folder);
  std::set<std::string> there, described;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv") there.insert(entry.path().filename().string());
  const auto document = nlohmann::json::parse(slurp(folder / "tables.json"));
  for (const auto& [file, table] : document.items()) {
    CAPTURE(file);
    described.insert(file);
    CHECK(!table.at("about").get<std::string>().empty());
    std::vector<std::string> names, types;
    for (const auto& column : table.at("columns")) {
      CHECK(column.size() == 4);
      for (const char* text : {"unit", "meaning"}) CHECK(column.at(text).is_string());
      names.push_back(column.at("name"));
      types.push_back(column.at("type"));
    }
    CHECK(std::set(names.begin(), names.end()).size() == names.size());
    std::istringstream lines(slurp(folder / file));
    std::string line;
    std::getline(lines, line);
    CHECK(line.starts_with("# "));
    std::getline(lines, line);
    CHECK(cells_of(line) == names);
    while (std::getline(lines, line)) {
      const std::vector<std::string> cells = cells_of(line);
      CAPTURE(line);
      REQUIRE(cells.size() == names.size());
      for (std::size_t k = 0; k < cells.size(); ++k) {
        CAPTURE(names[k]);
        CHECK(fits(cells[k], types[k], file == "seeds.csv" && names[k].starts_with("head")));
      }
    }
  }
  CHECK(described == there);
  return there;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("tables.json lists exactly the tables and columns of the folder, for every kind") {
    std::set<std::string_view> kinds, tried;
    for (const fs::path& file : shipped_scenarios()) kinds.insert(load_scenario(file, {}, kind_list()).kind->name);
    for (const auto& [kind, text] : scenarios) {
      tried.insert(kind);
      CAPTURE(kind);
      const TempFolder folder;
      folder.write("x.toml", text);
      const Outcome outcome = phaselock_program({"run", "x.toml", "--out", "OUT", "--quiet"}, folder.path());
      CAPTURE(outcome.err);
      REQUIRE(outcome.code == 0);
      const std::set<std::string> tables = check_tables(folder / "OUT");
      CHECK(!tables.empty());
      if (kind != "coverage") continue;
      CHECK(tables == std::set<std::string>{"cells.csv", "coverage.csv", "escape.csv", "escape_law.csv", "pairs.csv",
                                            "positions.csv", "seeds.csv", "shapes.csv"});
      REQUIRE(phaselock_program({"export", "OUT"}, folder.path()).code == 0);
      CHECK(check_tables(folder / "OUT/export") == tables);
      REQUIRE(phaselock_program({"merge", "MERGED", "OUT"}, folder.path()).code == 0);
      CHECK(check_tables(folder / "MERGED") == tables);
      CHECK(slurp(folder / "MERGED/tables.json") == slurp(folder / "OUT/tables.json"));
    }
    CHECK(tried == kinds);
  }

  TEST_CASE("tables.json of verify, and of its examples") {
    const TempFolder folder;
    REQUIRE(phaselock_program({"verify", "toy", "--out", "OUT", "--quiet"}, folder.path()).code == 0);
    CHECK(check_tables(folder / "OUT") == std::set<std::string>{"claims.csv"});
    CHECK(check_tables(folder / "OUT/examples/toy-example") == std::set<std::string>{"toy.csv", "toy_field.csv"});
  }
}

TEST_SUITE("slow") {
  TEST_CASE("plot reads what tables.json says, and refuses tables without it or of another header") {
    const TempFolder folder;
    folder.write("x.toml", scenarios.at("flow"));
    REQUIRE(phaselock_program({"run", "x.toml", "--out", "OUT", "--quiet"}, folder.path()).code == 0);
    const std::string described = slurp(folder / "OUT/tables.json"), gates = slurp(folder / "OUT/gates.csv");
    const auto refused = [&](const std::string& place) {
      const Outcome outcome = phaselock_program({"plot", "OUT"}, folder.path());
      CAPTURE(outcome.err);
      CHECK(outcome.code == 65);
      CHECK(outcome.err.find(place) != std::string::npos);
      CHECK(!fs::exists(folder / "OUT/figures"));
    };
    fs::remove(folder / "OUT/tables.json");
    refused("OUT/tables.json: missing");
    folder.write("OUT/tables.json", "[]");
    refused("OUT/tables.json:1: does not describe tables");
    folder.write("OUT/tables.json", described);
    std::string wrong = gates;
    folder.write("OUT/gates.csv", wrong.replace(wrong.find("weight\n"), 6, "height"));
    refused("OUT/gates.csv:2: the header");
    wrong = gates;
    folder.write("OUT/gates.csv", wrong.replace(wrong.rfind(','), 1, ",2"));
    refused("weight is 2");
    folder.write("OUT/gates.csv", gates);
    CHECK(phaselock_program({"plot", "OUT"}, folder.path()).code == 0);
  }
}

}  // namespace phaselock::test
