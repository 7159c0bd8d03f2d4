// Scenarios as a library: the table of keys, parsing, overrides, data files, runners, run folder.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/commands.hpp"
#include "kinds/cost.hpp"
#include "kinds/kind.hpp"
#include "model/contexts.hpp"
#include "output/files.hpp"
#include "output/npy.hpp"
#include "output/run_folder.hpp"
#include "program/program.hpp"
#include "schema/inputs.hpp"
#include "schema/scenario.hpp"
#include "schema/schema.hpp"
#include "schema/toml.hpp"

namespace phaselock::test {
namespace {

Scenario parse(const std::string& text, std::vector<std::string> overrides = {}) {
  return parse_scenario(text, "x.toml", "/tmp", overrides, kind_list());
}

/// The contract's example of every key, by kind.
const char* const whole_flow = R"(kind = "flow"
[model]
blocks = 4
positions = 4
heads = 3
vocabulary = 64
gamma = 1.0
beta = 1.0
[geometry]
kind = "perturbed"
kappa = 1.5
epsilon = 0.025
seed = 7
[gates]
class = "linear"
[initial]
radius = 1e-3
seed = 5
[contexts]
sampling = "independent"
count = 100
seed = 9223372036854775807
[flow]
until = 1e5
stop = "time"
residual = 1e-4
save_at = [1e2, 1e4]
rtol = 1e-9
atol = 1e-11
max_steps = 5000
)";
const std::string model = "[model]\nblocks = 4\npositions = 4\nheads = 3\nvocabulary = 64\ngamma = 1\nbeta = 1\n";

Report run_quietly(const Scenario& scenario, bool tables) {
  ProgressBar progress(true);
  RunContext context{progress, tables};
  return run_scenario(scenario, context);
}

/// Rows of a CSV text behind comment and header.
std::vector<std::string> rows(const CsvTable& table) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  for (std::size_t end; (end = table.text.find('\n', start)) != std::string::npos; start = end + 1)
    lines.push_back(table.text.substr(start, end - start));
  REQUIRE(lines.size() >= 2);
  CHECK(lines[0].rfind("# ", 0) == 0);
  return {lines.begin() + 2, lines.end()};
}

const CsvTable& table(const Report& report, const std::string& name) {
  for (const CsvTable& csv : report.tables)
    if (csv.name() == name) return csv;
  throw std::runtime_error("no table " + name);
}

bool said(const Report& report, const std::string& words) {
  return std::any_of(report.summary.begin(), report.summary.end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("every key of a kind has a unique path, a place of its own and help; every shared key has a kind") {
    std::set<std::string_view> taken;
    for (const KindDescription* kind : kind_list()) {
      CAPTURE(kind->name);
      std::set<std::string_view> paths;
      std::set<const void*> places;
      Scenario scenario;
      for (const Key* entry : keys_of(*kind)) {
        const Key& key = *entry;
        CAPTURE(key.path);
        CHECK(paths.insert(key.path).second);
        CHECK(!key.help.empty());
        CHECK(find_key(*kind, key.path) == &key);
        const ValuePlace place = key.place(scenario);
        const void* where = std::visit(
            [](auto p) -> const void* {
              if constexpr (std::is_same_v<decltype(p), WordPlace>)
                return p.place;
              else
                return p;
            },
            place);
        CHECK(places.insert(where).second);
        CHECK(std::holds_alternative<WordPlace>(place) == !key.words.empty());
      }
      taken.insert(paths.begin(), paths.end());
    }
    for (const Key& key : shared_keys()) CHECK(taken.contains(key.path));
    CHECK(find_key(kind_list(), "model.beta") == &shared_key("model.beta"));
    CHECK(find_key(kind_list(), "model") == nullptr);
    CHECK(find_key(kind_named("toy").description, "flow.stop") == nullptr);
  }

  TEST_CASE("each key of a flow lands in its field") {
    const Scenario s = parse(whole_flow);
    CHECK(s.kind->name == "flow");
    CHECK(s.model.heads == 3);
    CHECK(s.geometry.kind == GeometryKind::perturbed);
    CHECK(s.geometry.kappa == 1.5);
    CHECK(s.geometry.epsilon == 0.025);
    CHECK(s.geometry.seed == 7);
    CHECK(s.gates.gates == GateWord::linear);
    CHECK(s.initial.radius == 1e-3);
    CHECK(s.initial.seed == 5);
    CHECK(s.contexts.sampling == Sampling::independent);
    CHECK(s.contexts.count == 100);
    CHECK(s.contexts.seed == 9223372036854775807ULL);
    CHECK(s.flow.until == 1e5);
    CHECK(s.flow.stop == StopRule::time);
    CHECK(s.flow.residual == 1e-4);
    CHECK(s.flow.save_at == std::vector<double>{1e2, 1e4});
    CHECK(s.flow.rtol == 1e-9);
    CHECK(s.flow.atol == 1e-11);
    CHECK(s.flow.max_steps == 5000);
    CHECK(s.places.at("flow.atol") == "x.toml:29:1");
  }

  TEST_CASE("defaults fit the kind") {
    const Scenario flow = parse("kind = \"flow\"\n" + model);
    CHECK(flow.gates.gates == GateWord::linear);
    CHECK(flow.contexts.sampling == Sampling::balanced);
    CHECK(flow.contexts.count == 4096);
    CHECK(flow.flow.stop == StopRule::certified);
    const Scenario search = parse("kind = \"search\"\n" + model);
    CHECK(search.gates.gates == GateWord::oracle);
    CHECK(search.contexts.sampling == Sampling::independent);
    CHECK(search.contexts.count == 1);
    CHECK(write_scenario(search).find("starts = 64 ") != std::string::npos);
    CHECK(parse("kind = \"coverage\"\n" + model).gates.gates == GateWord::static_);
    const Scenario toy = parse("kind = \"toy\"\n[model]\nblocks = 4\ngamma = 1\nbeta = 2\n");
    CHECK(toy.model.positions == 2);
    CHECK(write_scenario(toy).find("theta = [0.001, -0.002]") != std::string::npos);
    CHECK(parse("kind = \"toy\"\n" + model).model.heads == 2);  // the toy has sizes of its own
  }

  TEST_CASE("numbers on a diagram's axes need no value of their own") {
    const std::string axes = "[diagram]\nx = \"N\"\nx_range = [12, 1e6]\ny = \"beta\"\ny_range = [1, 20]\n";
    const Scenario s = parse("kind = \"diagram\"\n[model]\nblocks = 4\npositions = 3\nheads = 1\ngamma = 1\n" + axes);
    CHECK(s.model.vocabulary == 1000000);
    CHECK(s.model.beta == 1.0);
    const Json numbers = scenario_model_json(s);
    CHECK(numbers.contains("heads"));
    CHECK_FALSE(numbers.contains("vocabulary"));
    CHECK_FALSE(numbers.contains("beta"));
    CHECK(write_scenario(s).find("vocabulary") == std::string::npos);
  }

  TEST_CASE("overrides replace and add keys, words without quotes") {
    const std::string text = "kind = \"flow\"\n" + model;
    const Scenario s =
        parse(text, {"model.beta=4", "gates.class=static", "flow.save_at=[1, 10.5]", "model.beta=8", "initial.seed=3"});
    CHECK(s.model.beta == 8.0);
    CHECK(s.gates.gates == GateWord::static_);
    CHECK(s.flow.save_at == std::vector<double>{1.0, 10.5});
    CHECK(s.places.at("model.beta") == "--set model.beta=8");
    CHECK(parse(text, {"kind=search"}).kind->name == "search");
  }

  TEST_CASE("the effective scenario parses back to the same scenario") {
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
        {whole_flow, {}},
        {"kind = \"flow\"\n" + model, {"gates.class=static"}},
        {"kind = \"flow\"\n" + model, {"gates.class=tied", "initial.file=a \"b\"\\c.json"}},
        {"kind = \"flow\"\n" + model, {"geometry.kind=embeddings", "geometry.file=w.npy", "geometry.normalize=false"}},
        {"kind = \"search\"\n" + model, {"search.starts=3"}},
        {"kind = \"coverage\"\n" + model, {"sweep.seeds=12", "flow.stop=time", "model.beta=0.1"}},
        {"kind = \"stability\"\n" + model, {"stability.pattern=[0, 2, 2]", "stability.betas=5"}},
        {"kind = \"diagram\"\n" + model,
         {"diagram.what=theorem2", "diagram.x=rho", "diagram.x_range=[1e-3, 1]", "diagram.y_range=[1, 2]"}},
        {"kind = \"toy\"\n" + model, {"toy.A=1e-300", "toy.theta=[0.1, -3]"}}};
    for (const auto& [text, overrides] : cases) {
      CAPTURE(text);
      const std::string effective = write_scenario(parse(text, overrides));
      CAPTURE(effective);
      const Scenario again = parse_scenario(effective, "y.toml", "/elsewhere", {}, kind_list());
      CHECK(write_scenario(again) == effective);
      CHECK(effective.find("[model]") != std::string::npos);
    }
  }

  TEST_CASE("paths are relative to the scenario's folder, those of overrides to the current one") {
    const Scenario s =
        parse_scenario("kind = \"flow\"\n" + model + "[initial]\nfile = \"../b.json\"\n", "x.toml", "/data/runs", {}, kind_list());
    CHECK(s.initial.file == "/data/b.json");
    const std::vector<std::string> override = {"initial.file=b.json"};
    const Scenario t = parse_scenario("kind = \"flow\"\n" + model, "x.toml", "/data/runs", override, kind_list());
    CHECK(t.initial.file == (fs::current_path() / "b.json").string());
  }

  TEST_CASE("shipped scenarios parse, say what they ask, and have the data they name") {
    const auto files = shipped_scenarios();
    CHECK(files.size() >= 10);
    for (const fs::path& file : files) {
      CAPTURE(file);
      const Scenario s = load_scenario(file, {}, kind_list());
      CHECK_NOTHROW(check_inputs(s));
      CHECK(estimate(s, true).bytes < 2.0 * (1 << 30));
      CHECK(slurp(file).rfind("# ", 0) == 0);
      const std::string name = file.stem().string();
      CHECK(fs::equivalent(find_scenario(name.substr(name.find('-') + 1)), file));
    }
    for (const Example& example : verify_examples()) CHECK_NOTHROW(find_scenario(std::string(example.scenario)));
  }

  TEST_CASE("places in TOML text count lines and columns from 1") {
    const TomlTable table = parse_toml("a = 1\n  [b]\n  c = [1.5, 'x']\n", "t");
    REQUIRE(table.size() == 2);
    CHECK(table[0].line == 1);
    const auto& inner = std::get<TomlTable>(table[1].value.data);
    CHECK(inner[0].line == 3);
    CHECK(inner[0].column == 3);
    CHECK(to_text(inner[0].value) == "[1.5, \"x\"]");
    CHECK(toml_quoted("a\"\\\n") == "\"a\\\"\\\\\\u000A\"");
  }

  TEST_CASE(".npy files of both orders, both types and all versions give the same matrix") {
    const TempFolder folder;
    const Eigen::MatrixXd want = read_npy(folder.write("a.npy", npy("(4, 3)", 12)));
    CHECK(want.rows() == 4);
    CHECK(want.cols() == 3);
    CHECK(want(0, 1) == doctest::Approx(2.51));
    for (const int version : {1, 2, 3}) CHECK(read_npy(folder.write("b.npy", npy("(4, 3)", 12, "<f8", "False", version))) == want);
    CHECK((read_npy(folder.write("c.npy", npy("(4, 3)", 12, "<f4"))) - want).cwiseAbs().maxCoeff() < 1e-6);
    CHECK(read_npy(folder.write("d.npy", npy("(3, 4)", 12, "<f8", "True"))).transpose() == want);
  }

  TEST_CASE("embeddings of a scenario become a geometry of as many tokens") {
    const TempFolder folder;
    folder.write("w.npy", npy("(16, 5)", 80));
    const Scenario s = parse_scenario(
        "kind = \"search\"\n" + model, "x.toml", folder.path(),
        std::vector<std::string>{"geometry.kind=embeddings", "geometry.file=" + (folder / "w.npy").string(), "model.vocabulary=16"},
        kind_list());
    const Geometry geometry = make_geometry(s);
    CHECK(geometry.vocabulary() == 16);
    CHECK(!geometry.is_exact());
  }

  TEST_CASE("balanced counts are rounded up, and a search at exact geometry has one context") {
    const Scenario flow = parse("kind = \"flow\"\n" + model, {"contexts.count=17"});
    CHECK(context_count(flow) == 32);
    CHECK(make_contexts(flow).size() == 32);
    CHECK(context_count(parse("kind = \"search\"\n" + model, {"contexts.count=17"})) == 1);
    CHECK(context_count(parse("kind = \"search\"\n" + model, {"contexts.count=17", "geometry.kind=perturbed"})) == 17);
  }

  TEST_CASE("memory estimates grow with every size and count what a flow allocates") {
    const std::string text = "kind = \"flow\"\n" + model;
    const double base = estimate(parse(text), false).bytes;
    const double tables = 2.0 * 3 * 4 * 64 * 8;
    CHECK(base > 18 * tables);
    CHECK(estimate(parse(text, {"model.vocabulary=6400"}), false).bytes > 50 * 18 * tables);
    CHECK(estimate(parse(text, {"contexts.count=1000000"}), false).bytes > base + 1e6 * 16 * 4 - 1e6);
    CHECK(estimate(parse(text, {"geometry.kind=perturbed", "model.vocabulary=1000"}), false).bytes > 4e6 * 8);
    CHECK(estimate(parse(text), true).bytes > base);
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(bytes_text(12) == "12 bytes");
  }

  TEST_CASE("a flow's report has the contract's fields and its tables") {
    const std::string text =
        "kind = \"flow\"\n[model]\nblocks = 4\npositions = 3\nheads = 1\nvocabulary = 100\ngamma = 1\nbeta = 4\n";
    const Scenario s = parse(text, {"gates.class=static", "flow.save_at=[1, 100]", "flow.until=1e6", "flow.stop=residual"});
    const Report report = run_quietly(s, true);
    const Json& r = report.results;
    CHECK(r["outcome"] == "selected");
    REQUIRE(r["selection"].size() == 1);
    CHECK(r["selection"][0].get<int>() >= 0);
    CHECK(r["residual"].get<double>() < 1e-3);
    CHECK(r["residual_all"].get<double>() == doctest::Approx(r["residual"].get<double>()));
    CHECK(r["coverage"] == 1);
    CHECK(r["static_offsets"].size() == 2);
    CHECK(r["avg_offsets"][1].size() == 1);
    for (const char* key : {"loss", "probability", "accuracy"}) CHECK(r["phases"][key].size() == 2);
    for (const char* key : {"mean", "worst", "gap"}) CHECK(r["phases"][key].is_number());
    CHECK(r["conserved_drift"].get<double>() < 1e-8);
    CHECK(r["energy_residual"].get<double>() < 1e-8);
    REQUIRE(r["states"].size() == 2);
    CHECK(r["states"][1]["t"] == 100.0);
    CHECK(r["states"][0]["pK"][0].size() == 3);
    CHECK(r["states"][0]["pV"][0].size() == 3);
    CHECK(r["states"][1]["loss"].get<double>() < r["states"][0]["loss"].get<double>());
    CHECK(r["certificate"]["claim"] == "trapping");
    CHECK(report.verdict() == "PROVED");
    const auto trajectory = rows(table(report, "trajectory.csv"));
    CHECK(trajectory.size() > 20);
    CHECK(trajectory.front().back() == ',');  // no law at t = 0
    CHECK(trajectory.back().back() != ',');
    CHECK(rows(table(report, "gates.csv")).size() == 6 * trajectory.size());
    CHECK(rows(table(report, "offsets.csv")).size() == 2 * trajectory.size());
    CHECK(rows(table(report, "phases.csv")).size() == 4);
    CHECK(report.summary.size() <= 19);
    // The law meets the measured residual at the end.
    const auto& last = trajectory.back();
    const std::size_t second = last.find(',', last.find(',') + 1), third = last.rfind(',');
    CHECK(std::stod(last.substr(second + 1)) == doctest::Approx(std::stod(last.substr(third + 1))).epsilon(0.2));
  }

  TEST_CASE("linear gates: the contexts used after rounding are recorded") {
    const Scenario s = parse(small_flow("[contexts]\ncount = 4\n[flow]\nuntil = 5.0\n"));
    const Report report = run_quietly(s, false);
    CHECK(report.results["contexts"]["count"] == 6);
    CHECK(report.results["geometry"]["epsilon"] == 0.0);
    CHECK(report.results["outcome"] == "undecided");
    CHECK(report.results["states"].empty());
    CHECK(report.tables[0].name() == "trajectory.csv");
    CHECK(rows(report.tables[0]).empty());
  }

  TEST_CASE("a run may start from biases or tables of a file") {
    const TempFolder folder;
    folder.write("bias.json", R"({"t": 3.0, "bias": [[[0.5, 0, 0]], [[0, 0.25, 0]]]})");
    const std::string start = "initial.file=" + (folder / "bias.json").string();
    const std::vector<std::string> static_ = {start, "gates.class=static"}, linear = {start};
    const Scenario s = parse_scenario(small_flow(), "x.toml", folder.path(), static_, kind_list());
    CHECK(initial_biases(s) == std::vector<double>{0.5, 0, 0, 0, 0.25, 0});
    const Scenario t = parse_scenario(small_flow(), "x.toml", folder.path(), linear, kind_list());
    const std::vector<double> tables = initial_tables(t, make_geometry(t));
    REQUIRE(tables.size() == 72);
    CHECK(tables[11] == 0.5);
    CHECK(tables[12] == 0.0);
    CHECK(tables[36 + 12] == 0.25);
  }

  TEST_CASE("a stability report: threshold, margins, map, and where only distinct patterns are stable") {
    const Scenario s = parse("kind = \"stability\"\n" + model,
                             {"model.beta=8", "model.vocabulary=1000", "stability.pattern=[0, 0, 2]", "stability.betas=3"});
    const Report report = run_quietly(s, true);
    const Json& r = report.results;
    CHECK(r["N_star"].get<double>() == doctest::Approx(2940.3827815209993).epsilon(1e-9));
    CHECK(r["N_star_interval"]["low"].get<double>() < r["N_star"].get<double>());
    CHECK(r["N_star_interval"]["high"].get<double>() > r["N_star"].get<double>());
    CHECK(r["N_star_interval"]["proved"] == true);
    CHECK(r["stable"] == false);
    REQUIRE(r["margins"].size() == 2);
    CHECK(r["margins"][1].size() == 3);
    CHECK(r["margins"][1][0].get<double>() < 0.0);
    CHECK(r["margins"][1][2].get<double>() > 0.0);
    CHECK(r["distinct_and_no_collision"]["low"] == 16.0);
    CHECK(r["distinct_and_no_collision"]["high"].get<double>() == doctest::Approx(2940.3827815209993).epsilon(1e-9));
    CHECK(rows(table(report, "stability_map.csv")).size() == 9);
    CHECK(r["distinct_and_no_collision"]["empty"] == false);
    CHECK(said(report, "only distinct patterns are stable for N from 16 to 2940.38"));
    // At small beta the first collision is stable from N = L S on, like every distinct pattern: no N tells them apart.
    const Report gentle =
        run_quietly(parse("kind = \"stability\"\n" + model, {"stability.pattern=[0, 0, 2]", "stability.betas=2"}), false);
    CHECK(gentle.results["distinct_and_no_collision"]["low"] == gentle.results["distinct_and_no_collision"]["high"]);
    CHECK(gentle.results["distinct_and_no_collision"]["empty"] == true);
    CHECK(said(gentle, "at no N are distinct patterns the only stable ones"));
    CHECK(run_quietly(parse("kind = \"stability\"\n" + model, {"model.heads=1", "stability.pattern=[2]"}), false)
              .results["distinct_and_no_collision"]
              .is_null());
  }

  TEST_CASE("a diagram's report: cells, outcomes and curves") {
    const Scenario s = parse("kind = \"diagram\"\n" + model, {"model.positions=3", "model.heads=1", "diagram.x_range=[12, 1e4]",
                                                              "diagram.y_range=[1, 20]", "diagram.cells=4", "diagram.refine=1"});
    const Report report = run_quietly(s, true);
    int cells = 0;
    for (const auto& [outcome, count] : report.results["outcomes"].items()) cells += count.get<int>();
    CHECK(report.results["cells"] == cells);
    CHECK(report.results["outcomes"].contains("proved"));
    CHECK(report.results["x"]["number"] == "N");
    CHECK(report.results["x"]["logarithmic"] == true);
    CHECK(int(rows(table(report, "diagram.csv")).size()) == cells);
    CHECK(rows(table(report, "curves.csv")).size() == 200);
  }

  TEST_CASE("a search's report") {
    const Scenario s = parse(
        "kind = \"search\"\n[model]\nblocks = 4\npositions = 3\nheads = 1\nvocabulary = 1000\ngamma = 1\nbeta = "
        "10\n[search]\nstarts = 4\n");
    const Report report = run_quietly(s, true);
    const Json& r = report.results;
    CHECK(r["is_selection"] == true);
    CHECK(r["distinct"] == true);
    CHECK(r["best_loss"].get<double>() >= r["best_selection_loss"].get<double>() - 1e-8);
    CHECK(r["weights"]["pK"][0].size() == 4);
    CHECK(r["weights"]["pV"][0][0].size() == 3);
    CHECK(r["kkt_residual"].get<double>() < 1e-6);
    CHECK(r["starts"] == 4);
    CHECK(r["starts_at_best"].get<int>() <= 4);
    CHECK(r["contexts"].size() == 1);
    CHECK(rows(table(report, "oracle_weights.csv")).size() == 12);
    CHECK(rows(table(report, "starts.csv")).size() == 4);
  }

  TEST_CASE("a coverage report") {
    const Scenario s = parse(
        "kind = \"coverage\"\n[model]\nblocks = 4\npositions = 3\nheads = 2\nvocabulary = 100\ngamma = 1\nbeta = 4\n[sweep]\nseeds "
        "= 8\nfirst_seed = 5\n");
    const Report report = run_quietly(s, true);
    const Json& r = report.results;
    CHECK(r["seeds"] == 8);
    CHECK(r["selected"].get<int>() + r["not_selected"].get<int>() == 8);
    CHECK(r["distinct"]["1"].get<int>() + r["distinct"]["2"].get<int>() == r["selected"].get<int>());
    CHECK(r["positions"].size() == 2);
    CHECK(r["collision_probability"]["low"].get<double>() <= r["collision_probability"]["high"].get<double>());
    CHECK(r["occupancy"]["law"]["1"].get<double>() == doctest::Approx(0.5));
    CHECK(rows(table(report, "coverage.csv")).size() == 2);
    CHECK(rows(table(report, "positions.csv")).size() == 2);
  }

  TEST_CASE("a toy report: heads split to the complementary endpoint") {
    const Scenario s = parse("kind = \"toy\"\n[model]\nblocks = 4\ngamma = 1\nbeta = 4\n[toy]\ntheta = [0.01, -0.02]\n");
    const Report report = run_quietly(s, true);
    const Json& r = report.results;
    CHECK(r["endpoint"] == "complementary");
    CHECK(r["endpoint_losses"]["complementary"].get<double>() < r["endpoint_losses"]["equal"].get<double>());
    CHECK(r["loss"].get<double>() == doctest::Approx(r["endpoint_losses"]["complementary"].get<double>()).epsilon(1e-3));
    CHECK(r["growth_rates"]["difference"].get<double>() > r["growth_rates"]["sum"].get<double>());
    CHECK(rows(table(report, "toy_field.csv")).size() == 441);
    CHECK(rows(table(report, "toy.csv")).size() > 40);
  }

  TEST_CASE("a run folder appears whole or not at all") {
    const TempFolder folder;
    {
      const RunFolder abandoned(folder / "a/b/c");
      abandoned.write("x/y.txt", "1");
      CHECK(!fs::exists(folder / "a/b/c"));
    }
    CHECK(folder.listing().empty());
    RunFolder kept(folder / "a/b/c/");
    kept.write("x/y.txt", "1");
    kept.commit();
    CHECK(slurp(folder / "a/b/c/x/y.txt") == "1");
    CHECK(folder.listing() == std::set<std::string>{"a", "a/b", "a/b/c", "a/b/c/x", "a/b/c/x/y.txt"});
    fs::create_directory(folder / "empty");
    RunFolder replacing(folder / "empty");
    replacing.write("z", "2");
    replacing.commit();
    CHECK(slurp(folder / "empty/z") == "2");
    RunFolder late(folder / "late");
    fs::create_directories(folder / "late/full");
    late.write("z", "3");
    CHECK_THROWS_AS(late.commit(), Failure);
    CHECK(fs::is_empty(folder / "late/full"));
  }
}

TEST_SUITE("slow") {
  TEST_CASE("every shipped scenario runs to an end of its own and fills its tables") {
    for (const fs::path& file : shipped_scenarios()) {
      CAPTURE(file);
      Scenario scenario = load_scenario(file, {}, kind_list());
      if (scenario.model.blocks > 1000)  // minutes: the same at a sixteenth of the length
        scenario = load_scenario(file, std::vector<std::string>{"model.blocks=2048", "model.vocabulary=8192"}, kind_list());
      if (scenario.kind->sweeps)  // minutes: the same with fewer seeds
        scenario = load_scenario(
            file, std::vector<std::string>{scenario.gates.gates == GateWord::linear ? "sweep.seeds=2" : "sweep.seeds=500"},
            kind_list());
      const Report report = run_quietly(scenario, true);
      CHECK(report.summary.size() <= 19);
      CHECK(!report.tables.empty());
      for (const CsvTable& csv : report.tables) CHECK(!rows(csv).empty());
      if (report.results.contains("outcome")) {
        CHECK(report.results["outcome"] != "step_limit");
        CHECK(report.results["outcome"] != "not_finite");
      }
    }
  }
}

}  // namespace phaselock::test
