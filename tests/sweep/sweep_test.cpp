// Sweeps: axes, the store, chunks, shards, export.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>
#include <utility>

#include "kinds/kind.hpp"
#include "model/interrupt.hpp"
#include "output/descriptor.hpp"
#include "output/files.hpp"
#include "output/json.hpp"
#include "output/npz.hpp"
#include "paths.hpp"
#include "program/program.hpp"
#include "schema/scenario.hpp"
#include "schema/sweep_axes.hpp"
#include "seed_records.hpp"
#include "sweep/coverage_report.hpp"
#include "sweep/seed_rows.hpp"
#include "sweep/sweep.hpp"
#include "sweep/sweep_store.hpp"

namespace phaselock::test {
namespace {

const std::string base =
    "kind = \"coverage\"\n[model]\nblocks = 4\npositions = 4\nheads = 3\nvocabulary = 100\ngamma = 1.0\nbeta = 1.0\n"
    "[sweep]\nseeds = 50\nchunk = 16\n";

Scenario parse(const std::string& text, std::vector<std::string> overrides = {}) {
  return parse_scenario(text, "x.toml", "/tmp", overrides, kind_list());
}

std::string error_of(const std::string& text, std::vector<std::string> overrides = {}) {
  try {
    parse(text, std::move(overrides));
  } catch (const Failure& failure) {
    CHECK(failure.exit() == Exit::bad_scenario);
    return failure.what();
  }
  return "no error";
}

SweepStore new_store(const Scenario& scenario, const fs::path& file = {}, Shard shard = {}) {
  return SweepStore::create(file, write_scenario(scenario), shard, cell_rows(scenario, sweep_cells(scenario)));
}

void run_all(const Scenario& scenario, SweepStore& store) {
  run_chunks(scenario, store, [](std::int64_t, std::int64_t) {});
}

std::vector<SeedCounts> all_totals(const Scenario& scenario, const SweepStore& store) {
  std::vector<SeedCounts> totals;
  const std::vector<Scenario> cells = sweep_cells(scenario);
  for (std::size_t c = 0; c < cells.size(); ++c) totals.push_back(store.totals(int(c), cells[c].model));
  return totals;
}

std::string seed_rows(const Scenario& scenario, const SweepStore& store) {
  std::string text;
  write_seed_rows(scenario, store, stored_chunks(scenario, store), [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("axes: the product varies the last axis fastest, the zip all together") {
    const std::string axes = "[sweep.over]\n\"model.beta\" = [1.0, 4.0]\nmodel.vocabulary = [20, 100, 1000]\n";
    const std::vector<Scenario> product = sweep_cells(parse(base + axes));
    REQUIRE(product.size() == 6);
    CHECK(product[1].model.beta == 1.0);
    CHECK(product[1].model.vocabulary == 100);
    CHECK(product[3].model.beta == 4.0);
    CHECK(product[3].model.vocabulary == 20);
    const std::string zip = "combine = \"zip\"\n[sweep.over]\n\"model.beta\" = [1.0, 4]\n\"model.vocabulary\" = [20, 100]\n";
    const std::vector<Scenario> zipped = sweep_cells(parse(base + zip));
    REQUIRE(zipped.size() == 2);
    CHECK(zipped[1].model.beta == 4.0);
    CHECK(zipped[1].model.vocabulary == 100);
    CHECK(sweep_cells(parse(base)).size() == 1);
  }

  TEST_CASE("axes: ranges reach both ends and stay whole where whole numbers are asked for") {
    const auto cells =
        sweep_cells(parse(base + "[sweep.over]\nmodel.vocabulary = { from = 20, to = 2000, count = 3, scale = \"log\" }\n"));
    REQUIRE(cells.size() == 3);
    CHECK(cells[0].model.vocabulary == 20);
    CHECK(cells[1].model.vocabulary == 200);
    CHECK(cells[2].model.vocabulary == 2000);
    const auto betas = sweep_cells(parse(base + "[sweep.over]\n\"model.beta\" = { from = 1.0, to = 2.0, count = 5 }\n"));
    REQUIRE(betas.size() == 5);
    CHECK(betas[1].model.beta == 1.25);
    CHECK(betas[4].model.beta == 2.0);
  }

  TEST_CASE("axes: the effective scenario parses back to the same cells; one value on the command line replaces an axis") {
    const std::string axes =
        "[sweep.over]\n\"model.beta\" = { from = 1.0, to = 3.0, count = 4 }\n\"gates.class\" = [\"static\", \"linear\"]\n";
    const Scenario scenario = parse(base + axes);
    const std::string text = write_scenario(scenario);
    CHECK(write_scenario(parse(text)) == text);
    const auto cells = sweep_cells(scenario), again = sweep_cells(parse(text));
    REQUIRE(cells.size() == 8);
    REQUIRE(again.size() == 8);
    for (std::size_t c = 0; c < 8; ++c) CHECK(write_scenario(cells[c]) == write_scenario(again[c]));
    const auto one = sweep_cells(parse(base + axes, {"model.beta=2.5", "gates.class=static"}));
    REQUIRE(one.size() == 1);
    CHECK(one[0].model.beta == 2.5);
  }

  TEST_CASE("axes: what is wrong is named with its place") {
    const auto over = [](const std::string& line) { return error_of(base + "[sweep.over]\n" + line + "\n"); };
    CHECK(over("\"model.beta\" = [1.0, -4.0]").find("x.toml:13:22: model.beta = -4.0 must be > 0") == 0);
    CHECK(over("\"model.betta\" = [1.0]").find("x.toml:13:1: unknown key model.betta") == 0);
    CHECK(over("\"\" = [1.0]").starts_with("x.toml:13:1: unknown key \"\". Allowed are kind and the sections model, geometry"));
    CHECK(over("\"sweep.seeds\" = [1, 2]").find("x.toml:13:1: sweep.seeds cannot be swept") == 0);
    CHECK(over("\"geometry.file\" = [\"a\"]").find("cannot be swept") != std::string::npos);
    CHECK(over("\"model.beta\" = [1.0]\nmodel.beta = [2.0]").find("was given at x.toml:13:1 already") != std::string::npos);
    CHECK(over("kind = [\"flow\"]").find("cannot be swept") != std::string::npos);
    CHECK(over("\"model.beta\" = []").find("list of 1 to") != std::string::npos);
    CHECK(over("\"model.beta\" = 3.0").find("list of 1 to") != std::string::npos);
    CHECK(over("\"model.beta\" = { from = 0.0, to = 2.0, count = 3, scale = \"log\" }").find("must be > 0") != std::string::npos);
    CHECK(over("\"model.beta\" = { from = 1.0, to = 2.0 }").find("count must be") != std::string::npos);
    CHECK(over("\"model.beta\" = { from = 1.0, to = 2.0, count = 2, step = 1 }").find("unknown key \"step\"") != std::string::npos);
    const std::string close = "\"model.beta\" = { from = 1.0, to = 1.0000000000000002, count = 3 }";
    CHECK(over(close).find("x.toml:13:1: model.beta of sweep.over: from and to are too close") == 0);
    const std::string wide = "\"flow.until\" = { from = 1e-320, to = 1e14, count = 3, scale = \"log\" }";
    CHECK(over(wide) == "no error");
    CHECK(over("\"model.beta\" = { from = 1.0, to = inf, count = 3 }").find("finite numbers") != std::string::npos);
    CHECK(over("\"model.vocabulary\" = { from = 20.0, to = 30.0, count = 2 }").find("vocabulary = 20.0 must be a whole") !=
          std::string::npos);
    for (const std::string key : {"contexts.seed", "geometry.epsilon"})
      CHECK(over("\"" + key + "\" = [0, 1]") == "x.toml:13:1: " + key + " of sweep.over has no effect on any cell");
    CHECK(over("\"contexts.seed\" = [0, 1]\n\"gates.class\" = [\"static\", \"linear\"]") == "no error");
    CHECK(error_of(base, {"sweep.over={\"model.beta\" = [1.0]}"}).find("sweep.over takes keys, as in") != std::string::npos);
    CHECK(sweep_cells(parse(base, {"sweep.over.\"model.beta\"=[1.0, 2.0]"})).size() == 2);
    CHECK(over("\"model.vocabulary\" = [20, 8]").find("model.vocabulary") != std::string::npos);  // below L S
    CHECK(over("\"model.beta\" = [1.0, 2.0]\n\"model.gamma\" = [0.5]") == "no error");
    CHECK(error_of(base + "combine = \"zip\"\n[sweep.over]\n\"model.beta\" = [1.0, 2.0]\n\"model.gamma\" = [0.5]\n")
              .find("all axes must be of one length") != std::string::npos);
    CHECK(error_of("kind = \"flow\"\n[model]\nblocks = 4\npositions = 4\nheads = 3\nvocabulary = 100\ngamma = 1.0\nbeta = 1.0\n"
                   "[sweep.over]\n\"model.beta\" = [1.0]\n")
              .find("applies only to kind = \"coverage\"") != std::string::npos);
  }

  TEST_CASE("axes: values that repeat are refused at the second one, under zip where they repeat together") {
    const auto over = [](const std::string& lines) { return error_of(base + lines); };
    CHECK(over("[sweep.over]\n\"model.beta\" = [2.0, 1.0, 1]\n") ==
          "x.toml:13:27: model.beta = 1 of sweep.over was given at x.toml:13:22 already: its cells would be computed twice");
    CHECK(over("[sweep.over]\n\"model.gamma\" = [0.5, 1.0]\n\"gates.class\" = [\"static\",\n  \"static\"]\n")
              .starts_with("x.toml:15:3: gates.class = static of sweep.over was given at x.toml:14:18"));
    CHECK(over("[sweep.over]\n\"model.beta\" = { from = 2.0, to = 2.0, count = 2 }\n")
              .starts_with("x.toml:13:1: model.beta of sweep.over: from"));
    CHECK(
        error_of(base, {"sweep.over.model.beta=[1.0, 1.0]"}).starts_with("--set sweep.over.model.beta=[1.0, 1.0]: model.beta = 1"));
    const std::string zip = "combine = \"zip\"\n[sweep.over]\n\"model.beta\" = [1.0, 1.0, 1.0]\n\"model.vocabulary\" = ";
    CHECK(over(zip + "[20, 100, 1000]\n") == "no error");
    CHECK(over(zip + "[20, 100, 20]\n")
              .starts_with("x.toml:14:27: model.beta = 1, model.vocabulary = 20 of sweep.over was given at x.toml:14:17"));
  }

  TEST_CASE("axes: a cell that does not fit is the fault of the axis with another value that would do") {
    const auto over = [](const std::string& lines) { return error_of(base + "[sweep.over]\n" + lines); };
    const std::string small = "x.toml:6:1: model.vocabulary = 100 must be at least blocks * positions = 120";
    for (const auto& [values, column] : {std::pair("[4, 30]", "25"), std::pair("[30, 4]", "22")})
      CHECK(over(std::string("\"model.beta\" = [1.0, 2.0]\n\"model.positions\" = ") + values + "\n")
                .starts_with(std::string("x.toml:14:") + column + ": model.positions = 30 of sweep.over: " + small));
    CHECK(over("\"model.positions\" = [30, 31]\n").starts_with(small));  // no value of the axis would do
    CHECK(over("\"model.vocabulary\" = [100, 8]\n").starts_with("x.toml:13:28: model.vocabulary = 8 must be at least"));
  }

  TEST_CASE("many cells: an interruption is noticed while they are made") {
    const Scenario scenario = parse(base + "[sweep.over]\n\"model.beta\" = [1.0, 2.0]\n");
    interrupt_flag() = true;
    CHECK_THROWS_AS(sweep_cells(scenario), Interrupted);
    interrupt_flag() = false;
    CHECK(sweep_cells(scenario).size() == 2);
  }

  TEST_CASE("counts add up, whatever the chunks") {
    const Scenario scenario = parse(base + "[sweep.over]\n\"model.beta\" = [1.0, 8.0]\n");
    SweepStore store = new_store(scenario);
    run_all(scenario, store);
    const auto totals = all_totals(scenario, store);
    const Scenario other = parse(base + "[sweep.over]\n\"model.beta\" = [1.0, 8.0]\n", {"sweep.chunk=7"});
    SweepStore cut_otherwise = new_store(other);
    run_all(other, cut_otherwise);
    CHECK(all_totals(other, cut_otherwise) == totals);
    for (const SeedCounts& counts : totals) {
      std::int64_t squares = 0;
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) squares += counts.heads.product(r, s);
      CHECK(counts.seeds() == 50);
      CHECK(counts.selected() == counts.of(FlowOutcome::selected));
      CHECK(counts.heads.at[0] + counts.heads.at[1] + counts.heads.at[2] == 3 * counts.selected());
      CHECK(squares == 9 * counts.selected());  // (sum_r n_r)^2
    }
  }

  TEST_CASE("a seed alone is the same to the bit as among others") {
    for (const std::string gates : {"static", "linear"}) {
      const Scenario scenario =
          parse(base, {"gates.class=" + gates, "contexts.count=64", "model.vocabulary=20", "sweep.seeds=12", "flow.rtol=1e-8"});
      const Scenario cell = sweep_cells(scenario).front();
      const std::vector<SeedRecord> together = run_seeds(cell, 1, 12);
      for (const std::uint64_t seed : {1U, 5U, 12U}) {
        const SeedRecord alone = run_seeds(cell, seed, 1).front();
        const SeedRecord& among = together[seed - 1];
        CHECK(alone.end.outcome == among.end.outcome);
        CHECK(alone.end.t == among.end.t);
        CHECK(alone.end.residual == among.end.residual);
        CHECK(alone.end.selection == among.end.selection);
        CHECK(alone.certified == among.certified);
      }
    }
  }

  TEST_CASE("the store: a chunk is there once or not at all, and other files are refused") {
    const TempFolder folder;
    const Scenario scenario = parse(base);
    const fs::path file = folder / "sweep.sqlite";
    const Chunk chunk{0, 0, 1, 16};
    const SeedCounts counts = count_seeds(scenario.model, std::vector(16, selected({0, 1, 1})));
    {
      SweepStore store = new_store(scenario, file, {1, 3});
      store.add(chunk, counts, {});
      CHECK_THROWS_AS(store.add(chunk, counts, {}), Failure);
      CHECK(store.totals(0, scenario.model) == counts);
      CHECK(store.finished_seeds(0) == 16);
    }
    const SweepStore again = SweepStore::open(file);
    CHECK(again.shard() == Shard{1, 3});
    CHECK(again.scenario() == write_scenario(scenario));
    CHECK(again.chunks(0) == std::vector<Chunk>{chunk});
    CHECK_THROWS_AS(SweepStore::open(folder / "none"), Failure);
    folder.write("text", std::string(5000, 'x'));
    CHECK_THROWS_AS(SweepStore::open(folder / "text"), Failure);
    { Database(folder / "other").run("CREATE TABLE t (x)"); }
    CHECK_THROWS_WITH_AS(SweepStore::open(folder / "other"), doctest::Contains("is no store of a sweep"), Failure);
    { Database(file).run("PRAGMA user_version = 99"); }
    CHECK_THROWS_WITH_AS(SweepStore::open(file), doctest::Contains("schema version 99"), Failure);
  }

  TEST_CASE("shards merge into the whole, again and again, and a chunk that differs is refused") {
    const TempFolder folder;
    const Scenario scenario = parse(base, {"sweep.keep=seeds"});
    SweepStore whole = new_store(scenario);
    run_all(scenario, whole);
    SweepStore merged = new_store(scenario, folder / "merged");
    for (int i = 0; i < 3; ++i) {
      SweepStore shard = new_store(scenario, folder / std::to_string(i), {i, 3});
      run_all(scenario, shard);
      CHECK(shard.finished_seeds(0) == (i == 0 ? 18 : 16));  // chunks of 16, 16, 16, 2
    }
    for (const int i : {2, 0, 1, 0, 2}) merged.merge(folder / std::to_string(i));
    CHECK(all_totals(scenario, merged) == all_totals(scenario, whole));
    CHECK(merged.finished_seeds(0) == 50);
    const std::string rows = seed_rows(scenario, merged);
    CHECK(std::count(rows.begin(), rows.end(), '\n') == 2 + 50);
    CHECK(rows == seed_rows(scenario, whole));
    { Database(folder / "1").run("UPDATE count SET n = n + 1 WHERE what = 'outcome'"); }
    CHECK_THROWS_WITH_AS(merged.merge(folder / "1"), doctest::Contains("do not add up"), Failure);
    {
      Database(folder / "1")
          .run("UPDATE count SET n = n - 1 WHERE what = 'outcome'; UPDATE count SET n = n + 1 WHERE what = 'pair'");
    }
    CHECK_THROWS_WITH_AS(merged.merge(folder / "1"), doctest::Contains("differs"), Failure);
    CHECK(all_totals(scenario, merged) == all_totals(scenario, whole));
    for (const char* damage :
         {"UPDATE count SET n = n + 7 WHERE what = 'position' AND key = '0'", "DELETE FROM cell",
          "UPDATE count SET key = '9+9', n = n + 1 WHERE what = 'shape' AND key = '1+1+1'",
          "UPDATE count SET n = -5 WHERE what = 'escape'", "UPDATE count SET n = n + 51 WHERE what = 'escape'",
          "UPDATE count SET n = n + 51 WHERE what = 'certified'", "UPDATE count SET n = 'abc' WHERE what = 'shape'",
          "UPDATE count SET what = 'foo' WHERE what = 'escape'", "DELETE FROM seed WHERE seed = 3", "DELETE FROM seed",
          "UPDATE seed SET seed = 100000 WHERE seed = 3", "UPDATE seed SET outcome = 'interior' WHERE seed = 3",
          "UPDATE count SET key = 'maybe' WHERE what = 'certified'"}) {
      CAPTURE(damage);
      fs::copy_file(folder / "0", folder / "damaged", fs::copy_options::overwrite_existing);
      Database(folder / "damaged").run(damage);
      CHECK_THROWS_WITH_AS(SweepStore::open(folder / "damaged").check(merged.scenario()), doctest::Contains("do not add up"),
                           Failure);
    }
    new_store(parse(base, {"model.beta=2"}), folder / "beta");
    CHECK_THROWS_WITH_AS(merged.merge(folder / "beta"), doctest::Contains("another scenario"), Failure);
  }

  TEST_CASE("the printed command redoes one seed to the bit, also what the command line changed; export leaves other files alone") {
    const TempFolder folder;
    const std::string file = "it's mine.toml";
    folder.write(file, base + "keep = \"seeds\"\n[sweep.over]\n\"model.beta\" = [1.5, 2.5]\n");
    const Outcome whole = phaselock_program({"run", file, "--set", "geometry.kappa=0.7", "--out", "OUT", "--quiet"}, folder.path());
    REQUIRE(whole.code == 0);
    const Json cells = Json::parse(slurp(folder / "OUT/result.json"))["results"]["cells"];
    CHECK(whole.out.find(cells[0]["one_seed"].get<std::string>()) != std::string::npos);
    std::string command = cells[1]["one_seed"];
    command.replace(command.find("SEED"), 4, "17");
    command.replace(0, 9, "'" + test::paths::program + "'");
    REQUIRE(run({"sh", "-c", command + " --out ALONE --quiet"}, folder.path()).code == 0);
    CHECK(Json::parse(slurp(folder / "ALONE/result.json"))["results"]["seeds"] == 1);
    const auto row = [](const std::string& table, const std::string& start) {
      const std::size_t line = table.find("\n" + start);
      return line == std::string::npos ? "" : table.substr(line, table.find('\n', line + 1) - line);
    };
    const std::string redone = row(slurp(folder / "ALONE/seeds.csv"), "0,17,");
    CHECK(!redone.empty());
    CHECK(redone.substr(2) == row(slurp(folder / "OUT/seeds.csv"), "1,17,").substr(2));
    folder.write("OUT/export/notes.txt", "mine");
    CHECK(phaselock_program({"export", "OUT"}, folder.path()).code == 0);
    CHECK(slurp(folder / "OUT/export/notes.txt") == "mine");
    CHECK(slurp(folder / "OUT/export/seeds.csv") == slurp(folder / "OUT/seeds.csv"));
    CHECK(
        phaselock_program({"run", file, "--set", "geometry.kappa=0.7", "--out", "OUT", "--resume", "--shard", "0/2"}, folder.path())
            .code == 64);
  }

  TEST_CASE("the printed command keeps what compares flows; an axis of the command line is named once") {
    const std::string one_cell = base + "[gates]\nclass = \"linear\"\n";
    const Scenario compared = parse(one_cell, {"sweep.compare_static=true", "sweep.seeds=2"});
    CHECK(
        redo_command(compared, compared, "5") ==
        "phaselock run x.toml --set sweep.seeds=1 --set sweep.first_seed=5 --set sweep.keep=seeds --set sweep.compare_static=true");
    const Scenario swept = parse(base, {"sweep.over.model.beta=[1.0, 2.0]"});
    CHECK(redo_command(swept, sweep_cells(swept)[1], "5") ==
          "phaselock run x.toml --set sweep.seeds=1 --set sweep.first_seed=5 --set sweep.keep=seeds --set model.beta=2");
  }

  TEST_CASE("the printed command names a shipped scenario as every folder does") {
    const fs::path file = find_scenario("escape-times");
    const Scenario scenario = load_scenario(file, {}, kind_list());
    CHECK(redo_command(scenario, sweep_cells(scenario).front(), "1").starts_with("phaselock run 22-escape-times --set"));
    CHECK(find_scenario(shipped_name(file)) == file);
  }

  TEST_CASE("seeds none of which selects: no test speaks, nothing is estimated of them") {
    const Scenario scenario = parse(base, {"flow.until=1", "sweep.seeds=4"});
    SweepStore store = new_store(scenario);
    run_all(scenario, store);
    const Report report = coverage_report(scenario, store);
    CHECK(report.results["selected"] == 0);
    for (const std::string test : {"occupancy", "position_uniformity", "pair_independence"})
      CHECK(report.results[test]["p_value"].is_null());
    for (const std::string& line : report.summary) CHECK(line.find("nan") == std::string::npos);
  }

  TEST_CASE("a store with other chunks, counts that are none, or rows that are none is damaged") {
    const TempFolder folder;
    const Scenario scenario = parse(base, {"sweep.keep=seeds"});
    {
      SweepStore store = new_store(scenario, folder / "a");
      run_all(scenario, store);
    }
    const auto damaged_by = [&](const char* damage) {
      fs::copy_file(folder / "a", folder / "b", fs::copy_options::overwrite_existing);
      { Database(folder / "b").run(damage); }
      const SweepStore store = SweepStore::open(folder / "b");
      try {
        coverage_report(scenario, store);
        seed_rows(scenario, store);
      } catch (const Failure& failure) {
        CHECK(failure.exit() == Exit::bad_data);
        return std::string(failure.what());
      }
      return std::string("no error");
    };
    CHECK(damaged_by("SELECT 1") == "no error");
    for (const char* damage :
         {"UPDATE chunk SET chunk = 9 WHERE chunk = 2; UPDATE count SET chunk = 9 WHERE chunk = 2; UPDATE seed SET chunk = 9 "
          "WHERE chunk = 2",
          "UPDATE count SET key = 'zz' || key WHERE what = 'escape' AND chunk = 0",
          "UPDATE count SET n = n + 20 WHERE what = 'escape' AND chunk = 0", "UPDATE count SET n = n + 1 WHERE what = 'pair'",
          "UPDATE count SET key = '9' WHERE what = 'position' AND key = '0'",
          "UPDATE count SET key = 'foo' WHERE what = 'outcome'; UPDATE seed SET outcome = 'foo'",
          "UPDATE seed SET selection = '1 2 3 4' WHERE seed = 3", "UPDATE seed SET selection = 'x,y' WHERE seed = 3"}) {
      CAPTURE(damage);
      CHECK(damaged_by(damage).starts_with((folder / "b").string() + ": damaged: "));
    }
  }

  TEST_CASE("one export at a time; of all tables, the empty too") {
    const TempFolder folder;
    folder.write("s.toml", base);
    REQUIRE(phaselock_program({"run", "s.toml", "--out", "OUT", "--quiet"}, folder.path()).code == 0);
    {
      fs::create_directory(folder / "OUT/export");
      const Descriptor exports(folder / "OUT/export", O_RDONLY | O_DIRECTORY);
      CHECK(take_lock(exports).empty());
      const Outcome second = phaselock_program({"export", "OUT"}, folder.path());
      CHECK(second.code == 73);
      CHECK(second.err.find("OUT/export: in use by another phaselock process") != std::string::npos);
    }
    CHECK(phaselock_program({"export", "OUT"}, folder.path()).code == 0);
    CHECK(slurp(folder / "OUT/export/escape_law.csv").find("\ncell,smaller_cell,") != std::string::npos);
    CHECK(!fs::exists(folder / "OUT/escape_law.csv"));
  }

  TEST_CASE("a program that cannot speak goes on") {
    const TempFolder folder;
    const std::string program = "'" + test::paths::program + "'";
    CHECK(run({"sh", "-c", program + " export none 2>/dev/full"}, folder.path()).code == 74);
    CHECK(run({"sh", "-c", program + " export none 2>&-"}, folder.path()).code == 74);
  }

  TEST_CASE("a store whose scenario is damaged is named") {
    const TempFolder folder;
    new_store(parse(base), folder / "run.sqlite");
    { Database(folder / "run.sqlite").run("UPDATE sweep SET scenario = 'kind = 3'"); }
    CHECK_THROWS_WITH_AS(stored_scenario(SweepStore::open(folder / "run.sqlite"), folder.path(), kind_list()),
                         doctest::Contains("run.sqlite: damaged: its scenario: "), Failure);
  }

  TEST_CASE("starts past the escape have T = 0: earlier than all, and without a law of their change with rho") {
    const Scenario scenario = parse(base + "[sweep.over]\n\"initial.radius\" = [100.0, 1.0, 0.5]\n", {"sweep.seeds=60"});
    SweepStore store = new_store(scenario);
    run_all(scenario, store);
    const Report report = coverage_report(scenario, store);
    CHECK(report.results["cells"][0]["escape_time_median"]["estimate"] == 0.0);
    CHECK(report.results["cells"][1]["escape_time_median"]["estimate"] > 100.0);
    const auto law =
        std::find_if(report.tables.begin(), report.tables.end(), [](const auto& t) { return t.name() == "escape_law.csv"; });
    REQUIRE(law != report.tables.end());
    CHECK(law->text.find("\n1,2,1,0.5,") != std::string::npos);
    CHECK(law->text.find("\n0,") == std::string::npos);
  }

  TEST_CASE("a report beside a writer is of one moment") {
    const TempFolder folder;
    const Scenario scenario = parse(base);
    SweepStore writer = new_store(scenario, folder / "a");
    const SweepStore reader = SweepStore::open(folder / "a");
    std::thread writing;
    {
      const Snapshot snapshot = reader.snapshot();
      CHECK(reader.finished_seeds(0) == 0);
      writing = std::thread([&] { run_all(scenario, writer); });
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      CHECK(reader.totals(0, scenario.model) == SeedCounts(scenario.model));
      CHECK(reader.finished_seeds(0) == 0);
    }
    writing.join();
    CHECK(reader.finished_seeds(0) == 50);
  }

  TEST_CASE("a writer waits for one who reads; asked to stop, it does") {
    const TempFolder folder;
    const Scenario scenario = parse(base);
    SweepStore writer = new_store(scenario, folder / "a");
    const SweepStore reader = SweepStore::open(folder / "a");
    const SeedCounts counts = count_seeds(scenario.model, std::vector(16, selected({0, 1, 1})));
    const Snapshot snapshot = reader.snapshot();
    CHECK(reader.finished_seeds(0) == 0);
    interrupt_flag() = true;
    CHECK_THROWS_AS(writer.add({0, 0, 1, 16}, counts, {}), Interrupted);
    interrupt_flag() = false;
    CHECK(writer.finished_seeds(0) == 0);
  }

  TEST_CASE("rows of seeds: cells of fewer heads leave the others empty; what comes while they are written is left out") {
    const Scenario scenario = parse(base + "keep = \"seeds\"\n[sweep.over]\n\"model.heads\" = [1, 3]\n");
    SweepStore store = new_store(scenario);
    const std::vector<Scenario> cells = sweep_cells(scenario);
    const auto add = [&](int cell, std::int64_t number) {
      const Chunk chunk = chunk_of(cell_rows(scenario, cells)[std::size_t(cell)], cells[std::size_t(cell)], cell, number);
      const std::vector<SeedRecord> seeds = run_seeds(cells[std::size_t(cell)], chunk.first, chunk.seeds);
      store.add(chunk, count_seeds(cells[std::size_t(cell)].model, seeds), seeds);
    };
    add(0, 3), add(1, 3);
    std::vector<std::string> pieces;
    write_seed_rows(scenario, store, stored_chunks(scenario, store), [&](std::string_view piece) {
      pieces.emplace_back(piece);
      if (pieces.size() == 1) add(1, 0);
    });
    REQUIRE(pieces.size() == 2);  // one for each chunk of two seeds
    CHECK(pieces[0].find("cell,seed,outcome,t,escape,residual,certified,head0,head1,head2\n0,49,selected,") != std::string::npos);
    CHECK(pieces[0].ends_with(",,\n"));
    CHECK(pieces[1].starts_with("1,49,selected,"));
    CHECK(std::count(pieces[1].begin(), pieces[1].end(), ',') == 2 * 9);
  }

  TEST_CASE("NumPy reads an archive of a table; the same table gives the same bytes") {
    CsvTable csv({"a.csv", "", {{"x", ColumnType::number}, {"y", ColumnType::integer}, {"z", ColumnType::text}}});
    csv.row(0.1, 3, "selected");
    csv.row(NAN, -4, "interior");
    const TempFolder folder;
    std::istringstream text(csv.text);
    put_npz(folder / "a.npz", folder / ".partial", text);
    CHECK(folder.listing() == std::set<std::string>{"a.npz"});
    const std::string archive = slurp(folder / "a.npz");
    put_npz(folder / "a.npz", folder / ".partial", text);
    CHECK(slurp(folder / "a.npz") == archive);
    const Outcome outcome = run({test::paths::python, "-c",
                                 "import numpy as np; a = np.load('a.npz'); print(a['x'].tolist(), a['y'].tolist(), "
                                 "a['z'].tolist(), a['y'].dtype, len(a.files))"},
                                folder.path());
    CHECK(outcome.out == "[0.1, nan] [3, -4] ['selected', 'interior'] int64 3\n");
  }

  TEST_CASE("columns of an archive are those of the table, also where rows are many or wide") {
    std::string csv = "# \nshort,wide\n";
    for (int k = 0; k < 3000; ++k) csv += std::to_string(k) + "," + std::string(k == 2000 ? 500 : 1, 'a') + "\n";
    const TempFolder folder;
    std::istringstream text(csv);
    put_npz(folder / "a.npz", folder / ".partial", text);
    const Outcome outcome = run({test::paths::python, "-c",
                                 "import numpy as np; a = np.load('a.npz'); n = np.arange(3000); print((a['short'] == n).all(), "
                                 "(np.char.str_len(a['wide']) == np.where(n == 2000, 500, 1)).all())"},
                                folder.path());
    CHECK(outcome.out == "True True\n");
  }

  TEST_CASE("no archive, nor what it was to be, is left of a damaged table, nor after an interrupt") {
    const TempFolder folder;
    std::istringstream text("x,y\n1,2\n3\n");
    CHECK_THROWS_AS(put_npz(folder / "a.npz", folder / ".partial", text), Failure);
    CHECK_THROWS_AS(put_npz(folder / "none/a.npz", folder / "none/.partial", text = std::istringstream("x\n1\n")), Failure);
    CHECK(folder.listing().empty());
    struct InterruptedAtSecondRead : std::stringbuf {
      using std::stringbuf::stringbuf;
      pos_type seekpos(pos_type place, std::ios_base::openmode which) override {
        if (++reads == 2) interrupt_flag() = true;
        return std::stringbuf::seekpos(place, which);
      }
      int reads = 0;
    } buffer("x\n1\n");
    std::istream interrupted(&buffer);
    CHECK_THROWS_AS(put_npz(folder / "a.npz", folder / ".partial", interrupted), Interrupted);
    interrupt_flag() = false;
    CHECK(folder.listing().empty());
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("a sweep has the same counts and rows on one thread and on several") {
    const Scenario scenario =
        parse(base + "keep = \"seeds\"\n[sweep.over]\n\"model.beta\" = [1.0, 2.0]\n", {"sweep.chunk=4", "flow.rtol=1e-8"});
    std::vector<std::vector<SeedCounts>> totals;
    std::vector<std::string> rows;
    for (const std::size_t threads : {1U, 4U}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      SweepStore store = new_store(scenario);
      run_all(scenario, store);
      totals.push_back(all_totals(scenario, store));
      rows.push_back(seed_rows(scenario, store));
    }
    CHECK(totals[0] == totals[1]);
    CHECK(rows[0] == rows[1]);
  }
}

TEST_SUITE("slow") {
  TEST_CASE("a report where most seeds have not escaped predicts nothing from their median") {
    const Scenario scenario = parse(base + "[sweep.over]\n\"initial.radius\" = [1.0, 0.9]\n", {"sweep.seeds=30", "flow.until=400"});
    SweepStore store = new_store(scenario);
    run_all(scenario, store);
    const Report report = coverage_report(scenario, store);
    CHECK(report.results["cells"][0]["escape_time_median"]["estimate"].is_null());
  }

  TEST_CASE("two MPI ranks export what one process exports" * doctest::skip(paths::mpi_program.empty())) {
    const TempFolder folder;
    folder.write("s.toml", base + "keep = \"seeds\"\n");
    const Outcome ranks =
        run({"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", test::paths::mpi_program, "s.toml", "--out", "two"},
            folder.path());
    CAPTURE(ranks.err);
    REQUIRE(ranks.code == 0);
    CHECK(phaselock_program({"run", "s.toml", "--out", "one", "--quiet"}, folder.path()).code == 0);
    for (const std::string out : {"one", "two"}) CHECK(phaselock_program({"export", out}, folder.path()).code == 0);
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder / "one/export")) {
      CHECK(slurp(entry.path()) == slurp(folder / "two/export" / entry.path().filename()));
      ++files;
    }
    CHECK(files >= 12);
  }
}

}  // namespace phaselock::test
