// The built program from outside: commands, exit codes, what goes to standard output, standard error and disk.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "program/program.hpp"
#include "support.hpp"

namespace phaselock::test {
namespace {

using nlohmann::json;

std::size_t lines(const std::string& text) { return std::size_t(std::count(text.begin(), text.end(), '\n')); }

json without_provenance(const std::string& text) {
  json document = json::parse(text);
  document.erase("provenance");
  return document;
}

const std::string quick = small_flow("[contexts]\ncount = 6\n[flow]\nuntil = 10.0\n");

/// A flow that would take hours.
const std::string endless =
    small_flow() + "[contexts]\ncount = 3000\n[flow]\nuntil = 1e15\nstop = \"time\"\nrtol = 1e-14\natol = 1e-300\n";

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("run prints a summary of at most 20 lines and writes nothing without --out") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    const Outcome outcome = phaselock_program({"run", "x.toml"}, folder.path());
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("undecided") != std::string::npos);
    CHECK(lines(outcome.out) <= 20);
    CHECK(outcome.err.empty());
    CHECK(folder.listing() == std::set<std::string>{"x.toml"});
  }

  TEST_CASE("run --json prints one object of the contract's shape") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    const Outcome outcome = phaselock_program({"run", "x.toml", "--json", "--quiet"}, folder.path());
    REQUIRE(outcome.code == 0);
    CHECK(outcome.err.empty());
    const json document = json::parse(outcome.out);
    CHECK(document.size() == 5);
    CHECK(document["kind"] == "flow");
    CHECK(document["verdict"].is_null());
    CHECK(document["model"] ==
          json::parse(R"({"blocks": 4, "positions": 3, "heads": 1, "vocabulary": 12, "gamma": 1.0, "beta": 1.0})"));
    CHECK(document["results"]["contexts"]["count"] == 6);
    const json& provenance = document["provenance"];
    for (const char* key : {"version", "git_commit", "compiler", "flags", "simd_target", "simd_at_run_time"})
      CHECK(provenance[key].is_string());
    for (const char* library : {"Eigen", "Boost", "Ceres", "oneTBB", "fmt", "nlohmann_json", "toml++", "CLI11"})
      CHECK(provenance["libraries"][library].is_string());
    CHECK(provenance["threads"].get<int>() >= 1);
    CHECK(provenance["seeds"]["initial.seed"] == 1);
    CHECK(provenance["wall_time_seconds"].get<double>() >= 0.0);
  }

  TEST_CASE("the same scenario gives the same JSON at any number of threads") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    const Outcome one = phaselock_program({"run", "x.toml", "--json", "--threads", "1"}, folder.path());
    const Outcome three = phaselock_program({"run", "x.toml", "--json", "--threads", "3"}, folder.path());
    REQUIRE(one.code == 0);
    CHECK(without_provenance(one.out) == without_provenance(three.out));
    CHECK(json::parse(one.out)["provenance"]["threads"] == 1);
  }

  TEST_CASE("--out holds scenario, result and tables, and its scenario gives the same result again") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    const Outcome outcome = phaselock_program({"run", "x.toml", "--set", "model.beta=2", "--out", "a/b", "--json"}, folder.path());
    REQUIRE(outcome.code == 0);
    CHECK(folder.listing() == std::set<std::string>{"x.toml", "a", "a/b", "a/b/scenario.toml", "a/b/result.json", "a/b/tables.json",
                                                    "a/b/trajectory.csv", "a/b/gates.csv", "a/b/offsets.csv", "a/b/phases.csv"});
    CHECK(slurp(folder / "a/b/result.json") == outcome.out);
    const Outcome again = phaselock_program({"run", "a/b/scenario.toml", "--json"}, folder.path());
    CHECK(without_provenance(again.out) == without_provenance(outcome.out));
    const Outcome refused = phaselock_program({"run", "x.toml", "--out", "a/b"}, folder.path());
    CHECK(refused.code == 73);
  }

  TEST_CASE("--dry-run prints the effective scenario with memory and cost, and computes nothing") {
    const TempFolder folder;
    folder.write("x.toml", endless);
    const Outcome outcome = phaselock_program({"run", "x.toml", "--dry-run", "--out", "OUT"}, folder.path());
    CHECK(outcome.code == 0);
    for (const char* part : {"kind = \"flow\"", "until = 1e+15", "memory: at most about", "MiB", "losses with gradient"})
      CHECK(outcome.out.find(part) != std::string::npos);
    CHECK(folder.listing() == std::set<std::string>{"x.toml"});
    const Outcome as_json = phaselock_program({"run", "x.toml", "--dry-run", "--json"}, folder.path());
    const json document = json::parse(as_json.out);
    CHECK(document["dry_run"] == true);
    CHECK(document["memory_bytes"].get<double>() > 1e5);
    CHECK(document["evaluations"].get<double>() > 1e6);
  }

  TEST_CASE("Ctrl-C: 130, a folder to go on from, no result, nothing on standard output") {
    const TempFolder folder;
    folder.write("x.toml", endless);
    // The run folder appears when the handler is in place.
    const auto started = [&] { return folder.listing().size() > 1; };
    const Outcome outcome = phaselock_program({"run", "x.toml", "--out", "OUT", "--json"}, folder.path(), started);
    CHECK(outcome.code == 130);
    CHECK(outcome.out.empty());
    const bool checkpoint = fs::exists(folder / "OUT/checkpoint.bin");  // not if the flow had not begun
    CHECK(outcome.err.find(std::string("interrupted; OUT is kept: --resume ") +
                           (checkpoint ? "goes on from the last checkpoint" : "starts again from the beginning")) !=
          std::string::npos);
    CHECK(fs::exists(folder / "OUT/scenario.toml"));
    CHECK(!fs::exists(folder / "OUT/result.json"));
    const auto resumed = [&] { return fs::exists(folder / "OUT/run.lock"); };
    CHECK(phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path(), resumed).code == 130);
  }

  TEST_CASE("a model that the theorems do not speak of runs with a warning") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    const Outcome outcome = phaselock_program({"run", "x.toml", "--set", "model.heads=3", "--json"}, folder.path());
    CHECK(outcome.code == 0);
    CHECK(outcome.err.find("warning: the theorems do not speak of this model: they assume H < S") != std::string::npos);
    CHECK(json::parse(outcome.out)["model"]["heads"] == 3);
  }

  TEST_CASE("standard output that cannot be written is an error") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    const Outcome outcome = run({"sh", "-c", test::paths::program + " run x.toml > /dev/full"}, folder.path());
    CHECK(outcome.code == 73);
    CHECK(outcome.err.find("standard output") != std::string::npos);
  }

  TEST_CASE("evaluate prints the reference loss, gradient and velocity") {
    const TempFolder folder;
    for (const json& reference : read_json("loss_cases.json")) {
      folder.write("case.json", reference.dump());
      const Outcome outcome = phaselock_program({"evaluate", "case.json"}, folder.path());
      REQUIRE(outcome.code == 0);
      const json result = json::parse(outcome.out);
      CHECK(result.size() == 3);
      CHECK(result["loss"].get<double>() == doctest::Approx(reference["loss"].get<double>()).epsilon(1e-13));
      CHECK(relative_error(flatten(result["gradient"]), flatten(reference["gradient"])) < 1e-12);
      CHECK(relative_error(flatten(result["velocity"]), flatten(reference["velocity"])) < 1e-12);
    }
  }

  TEST_CASE("list, explain, doctor, help and version") {
    const Outcome list = phaselock_program({"list"});
    CHECK(list.code == 0);
    std::size_t shipped = 0;
    for (const auto& entry : fs::directory_iterator(test::paths::scenario_folder)) shipped += entry.path().extension() == ".toml";
    CHECK(lines(list.out) == shipped);
    const Outcome unknown = phaselock_program({"explain", "?"});
    const std::size_t first = unknown.err.find("one of ") + 7;
    const Outcome explain =
        phaselock_program({"explain", unknown.err.substr(first, unknown.err.find_first_of(",\n", first) - first)});
    CHECK(explain.code == 0);
    for (const char* part : {"statement:", "assumptions:", "accepted if:", "rejected if:", "source:"})
      CHECK(explain.out.find(part) != std::string::npos);
    const Outcome doctor = phaselock_program({"doctor"});
    CHECK(doctor.code == 0);
    for (const char* part : {"Ceres", "SIMD", "threads", "self-check", "good"}) CHECK(doctor.out.find(part) != std::string::npos);
    CHECK(phaselock_program({"--help"}).code == 0);
    CHECK(phaselock_program({"run", "--help"}).out.find("--dry-run") != std::string::npos);
    CHECK(phaselock_program({"--version"}).out.find("phaselock ") == 0);
  }

  TEST_CASE("verify of one model: JSON of the contract's shape, exit code by verdict") {
    const Outcome outcome = phaselock_program({"verify", "toy", "--json"});
    CHECK(outcome.code == 0);
    const json document = json::parse(outcome.out);
    CHECK(document["kind"] == "verify");
    REQUIRE(!document["results"]["claims"].empty());
    for (const json& claim : document["results"]["claims"])
      for (const char* key : {"id", "model", "assumptions", "evidence", "verdict", "expected"}) CHECK(claim.contains(key));
    const std::vector<std::string> refuted = {"verify", "theorem1",      "--set", "model.positions=3",  "--set", "model.heads=1",
                                              "--set",  "model.beta=10", "--set", "model.vocabulary=50"};
    CHECK(phaselock_program(refuted).code == 1);
    const Outcome unmet = phaselock_program({"verify", "theorem1", "--set", "model.heads=4"});
    CHECK(unmet.code == 2);
    CHECK(unmet.out.find("not met") != std::string::npos);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("plot draws the figures of a run folder and passes on the exit code") {
    const TempFolder folder;
    folder.write("x.toml", quick);
    REQUIRE(phaselock_program({"run", "x.toml", "--out", "OUT"}, folder.path()).code == 0);
    const Outcome outcome = phaselock_program({"plot", "OUT"}, folder.path());
    CAPTURE(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(slurp(folder / "OUT/figures/gates.png").starts_with("\x89PNG\r\n"));
    const std::string drawn = slurp(folder / "OUT/figures/gates.svg");
    CHECK(drawn.find("</svg>") != std::string::npos);
    // The figure is of its table: other weights make another one, the same weights the same one.
    const std::string table = slurp(folder / "OUT/gates.csv");
    const std::size_t last_weight = table.rfind(',') + 1;
    folder.write("OUT/gates.csv", table.substr(0, last_weight) + "0.999\n");
    REQUIRE(phaselock_program({"plot", "OUT"}, folder.path()).code == 0);
    CHECK(slurp(folder / "OUT/figures/gates.svg") != drawn);
    folder.write("OUT/gates.csv", table);
    REQUIRE(phaselock_program({"plot", "OUT"}, folder.path()).code == 0);
    CHECK(slurp(folder / "OUT/figures/gates.svg") == drawn);
    fs::create_directory(folder / "empty");
    CHECK(phaselock_program({"plot", "empty"}, folder.path()).code == 65);
  }

  TEST_CASE("plot draws the figures of a sweep, and refuses its tables if they are malformed") {
    const TempFolder folder;
    folder.write("x.toml",
                 "kind = \"coverage\"\n[model]\nblocks = 4\npositions = 4\nheads = 2\nvocabulary = 24\ngamma = 1.0\nbeta = 1.0\n"
                 "[sweep]\nseeds = 40\n[sweep.over]\n\"model.beta\" = [1.0, 4.0]\n\"model.vocabulary\" = [20, 2000]\n");
    REQUIRE(phaselock_program({"run", "x.toml", "--out", "OUT"}, folder.path()).code == 0);
    CHECK(phaselock_program({"plot", "OUT"}, folder.path()).code == 0);
    for (const char* figure : {"sweep_coverage", "collision_map", "correlation", "escape"})
      CHECK(fs::exists(folder / "OUT/figures" / (std::string(figure) + ".png")));
    std::string cells = slurp(folder / "OUT/cells.csv");
    cells.replace(cells.rfind("static"), 6, "gifted");
    cells.replace(cells.find("\n0,") + 1, 1, "x");
    folder.write("OUT/cells.csv", cells);
    CHECK(phaselock_program({"plot", "OUT"}, folder.path()).code == 65);
  }
}

}  // namespace phaselock::test
