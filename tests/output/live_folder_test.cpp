// Folders of runs that can be killed at any moment: what is taken for a new run, for one to resume, for something else.
#include "output/live_folder.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <optional>

#include "paths.hpp"
#include "program/program.hpp"
#include "program/small_disk.hpp"

namespace phaselock::test {
namespace {

using nlohmann::json;

const std::string scenario = "kind = \"flow\"  # what\n\n[model]\nheads = 2    # H\nbeta = 1.0  # scale\n";
const std::string scenario_file = "scenario.toml", lock = "run.lock";

/// What happens to a process that opens the folder: nothing, or the message and exit code of its failure.
std::string opened(const fs::path& folder, bool resume, Exit code = Exit::cannot_write, const std::string& text = scenario) {
  try {
    const LiveFolder live(folder, text, resume);
  } catch (const Failure& failure) {
    CHECK(failure.exit() == code);
    return failure.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

using Names = std::set<std::string>;

const std::string search_run =
    "kind = \"search\"\n[model]\nblocks = 4\npositions = 3\nheads = 1\nvocabulary = 16\ngamma = 1.0\nbeta = 2.0\n"
    "[search]\nstarts = 2\n";

/// A search that would take hours.
std::string endless_search() {
  std::string text = search_run;
  return text.replace(text.find("starts = 2"), 10, "starts = 1000000");
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a new folder holds its scenario from the start, and nothing else once the lock is given up") {
    const TempFolder folder;
    {
      const LiveFolder live(folder / "a/b/", scenario, false);
      CHECK(!live.resumes());
      CHECK(!live.finished());
      CHECK(live.path() == fs::canonical(folder / "a/b"));
      CHECK(folder.listing() == Names{"a", "a/b", "a/b/scenario.toml", "a/b/run.lock"});
      live.write("tables/x.csv", "1");
      live.write("tables/x.csv", "2");
      live.write("result.json", "{}");
      CHECK(live.finished());
    }
    CHECK(folder.listing() == Names{"a", "a/b", "a/b/scenario.toml", "a/b/result.json", "a/b/tables", "a/b/tables/x.csv"});
    CHECK(slurp(folder / "a/b/tables/x.csv") == "2");
    CHECK(slurp(folder / "a/b/scenario.toml") == scenario);
  }

  TEST_CASE("a run that saved nothing leaves nothing, unless it was interrupted") {
    const TempFolder folder;
    CHECK(opened(folder / "a/b", false).empty());
    CHECK(folder.listing().empty());
    {
      LiveFolder interrupted(folder / "kept", scenario, false);
      interrupted.keep();
    }
    CHECK(folder.listing() == Names{"kept", "kept/scenario.toml"});
    fs::remove_all(folder / "kept");
    fs::create_directory(folder / "mine");
    CHECK(opened(folder / "mine", true).empty());
    CHECK(folder.listing() == Names{"mine"});
  }

  TEST_CASE("what a kill leaves behind before the scenario is written counts as empty") {
    for (const Names& left : {Names{}, Names{".partial"}, Names{"run.lock"}, Names{"run.lock", ".partial"}})
      for (const bool resume : {false, true}) {
        const TempFolder folder;
        for (const std::string& name : left) folder.write(name, "");
        // A partial file comes after the lock, so alone it is not of this protocol; it is replaced all the same.
        const LiveFolder live(folder.path(), scenario, resume);
        CHECK(!live.resumes());
        CHECK(folder.listing() == Names{lock, scenario_file});
      }
  }

  TEST_CASE("a killed run is resumed, and refused without --resume; its partial file goes") {
    const TempFolder folder;
    folder.write(scenario_file, scenario);
    folder.write(lock, "");
    folder.write("checkpoint.bin", "x");
    folder.write(".partial", "half");
    CHECK(has(opened(folder.path(), false), "is not empty; it must be new or empty, or --resume"));
    CHECK(!fs::exists(folder / lock));
    const LiveFolder live(folder.path(), scenario, true);
    CHECK(live.resumes());
    CHECK(live.holds("checkpoint.bin"));
    CHECK(folder.listing() == Names{lock, scenario_file, "checkpoint.bin"});
  }

  TEST_CASE("a folder in use is refused, by any process, with and without --resume") {
    const TempFolder folder;
    std::optional<LiveFolder> first(std::in_place, folder / "run", scenario, false);
    for (const bool resume : {false, true}) CHECK(has(opened(folder / "run", resume), "in use by another phaselock process"));
    CHECK(folder.listing() == Names{"run", "run/scenario.toml", "run/run.lock"});
    first->write("x", "");
    first.reset();
    CHECK(opened(folder / "run", true).empty());
    CHECK(folder.listing() == Names{"run", "run/scenario.toml", "run/x"});
  }

  TEST_CASE("folders of something else are left as they are") {
    const TempFolder folder;
    folder.write("other/a.txt", "x");
    CHECK(has(opened(folder / "other", false), "is not empty"));
    CHECK(has(opened(folder / "other", true), "no scenario.toml"));
    CHECK(has(opened(folder / "other/a.txt", true), "is no folder"));
    CHECK(has(opened("", true, Exit::bad_scenario), "no name"));
    folder.write("locked/a.txt", "x");
    folder.write("locked/run.lock", "");
    CHECK(has(opened(folder / "locked", true), "no scenario.toml"));
    CHECK(folder.listing() == Names{"other", "other/a.txt", "locked", "locked/a.txt"});
    CHECK(has(opened(folder / "other/a.txt/run", false), "Not a directory"));
  }

  TEST_CASE("another scenario is refused by its first key that differs; comments do not count") {
    const TempFolder folder;
    folder.write(scenario_file, scenario);
    const std::string other = "kind = \"flow\"  # what\n\n[model]\nheads = 2  # H\nbeta = 4.0  # scale\n[flow]\nuntil = 1.0\n";
    const std::string message = opened(folder.path(), true, Exit::bad_scenario, other);
    CHECK(has(message, scenario_file));
    CHECK(has(message, "it has model.beta = 1.0, this run model.beta = 4.0"));
    CHECK(first_difference(scenario, scenario + "\n# more\n").empty());
    CHECK(first_difference("kind = \"flow\"   # what\n[model]\nheads = 2\nbeta = 1.0", scenario).empty());
    CHECK(has(first_difference(scenario, scenario + "[flow]\nuntil = 1.0\n"), "it has nothing more, this run flow.until = 1.0"));
    CHECK(has(first_difference(scenario, ""), "it has kind = \"flow\", this run nothing more"));
    folder.write("result.json", "{}");
    CHECK(has(opened(folder.path(), true, Exit::bad_scenario, other), "model.beta"));
  }

  TEST_CASE("a finished folder is not locked") {
    const TempFolder folder;
    folder.write(scenario_file, scenario);
    folder.write("result.json", "{}");
    const LiveFolder live(folder.path(), scenario, true), again(folder.path(), scenario, true);
    CHECK(again.finished());
    folder.write(lock, "");  // of a process that was killed when all was written
    folder.write(".partial", "");
    {
      const LiveFolder cleaning(folder.path(), scenario, true), reading(folder.path(), scenario, true);
      CHECK(reading.finished());
    }
    CHECK(folder.listing() == Names{scenario_file, "result.json"});
    CHECK(has(opened(folder.path(), false), "is not empty"));
  }

  TEST_CASE("a file that does not fit leaves the older one and no half") {
    const TempFolder folder;
    const LiveFolder live(folder / "run", scenario, false);
    live.write("data", "old");
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {1 << 16, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_THROWS_WITH_AS(live.write("data", std::string(1 << 20, 'x')), doctest::Contains("data: File too large"), Failure);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(slurp(folder / "run/data") == "old");
    CHECK(folder.listing() == Names{"run", "run/scenario.toml", "run/run.lock", "run/data"});
  }

  TEST_CASE("a full disk: 73, nothing half-written, nothing of a run that could not begin") {
    const TempFolder folder;
    const SmallDisk disk(folder / "disk");
    if (!disk.mounted()) {
      MESSAGE("no tmpfs may be mounted here: a full disk is tested by a limit on file sizes only");
      return;
    }
    const LiveFolder live(folder / "disk/run", scenario, false);
    live.write("data", "old");
    CHECK_THROWS_WITH_AS(live.write("data", std::string(1 << 20, 'x')), doctest::Contains("No space left"), Failure);
    CHECK(slurp(folder / "disk/run/data") == "old");
    CHECK(folder.listing() == Names{"disk", "disk/run", "disk/run/scenario.toml", "disk/run/run.lock", "disk/run/data"});
    folder.write("disk/rest", std::string(1 << 20, 'x'));  // as much of it as there is room for
    folder.write("x.toml", small_flow());
    const Outcome outcome = phaselock_program({"run", "x.toml", "--out", "disk/second"}, folder.path());
    CHECK(outcome.code == 73);
    CHECK(has(outcome.err, "No space left"));
    CHECK(!fs::exists(folder / "disk/second"));
  }

  TEST_CASE("of processes that begin at the same moment one runs and the others say why not") {
    const TempFolder folder;
    folder.write("x.toml", small_flow("[contexts]\ncount = 6\n[flow]\nuntil = 10.0\n"));
    const Outcome outcome =
        run({"sh", "-c", "for k in 1 2 3 4 5 6; do (" + test::paths::program + " run x.toml --out OUT; echo code $?) & done; wait"},
            folder.path());
    std::size_t done = 0, refused = 0;
    for (std::size_t at = 0; (at = outcome.out.find("code ", at)) != std::string::npos; ++at) {
      done += outcome.out.compare(at, 6, "code 0") == 0;
      refused += outcome.out.compare(at, 7, "code 73") == 0;
    }
    CAPTURE(outcome.err);
    CHECK(done == 1);
    CHECK(refused == 5);
    CHECK(fs::exists(folder / "OUT/result.json"));
    CHECK(!fs::exists(folder / "OUT/run.lock"));
  }

  TEST_CASE("--resume of a kind that cannot go on midway: begins again, and prints the result of a complete run") {
    const TempFolder folder;
    folder.write("x.toml", search_run);
    folder.write("endless.toml", endless_search());
    CHECK(phaselock_program({"run", "x.toml", "--resume"}, folder.path()).code == 64);
    const auto started = [&] { return fs::exists(folder / "OUT/scenario.toml"); };
    const Outcome cut = phaselock_program({"run", "endless.toml", "--out", "OUT", "--resume"}, folder.path(), started);
    CHECK(cut.code == 130);
    CHECK(has(cut.err, "interrupted; OUT is kept: --resume starts again from the beginning"));
    CHECK(folder.listing() == Names{"x.toml", "endless.toml", "OUT", "OUT/scenario.toml", "OUT/state.json"});
    const Outcome other = phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path());
    CHECK(other.code == 64);
    CHECK(has(other.err, "it has search.starts = 1000000, this run search.starts = 2"));

    fs::remove(folder / "OUT/scenario.toml");
    const Outcome foreign = phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path());
    CHECK(foreign.code == 73);
    const Outcome effective = phaselock_program({"run", "x.toml", "--dry-run", "--json"}, folder.path());
    folder.write("OUT/scenario.toml", json::parse(effective.out)["scenario"].get<std::string>());
    const Outcome again = phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path());
    CHECK(again.code == 0);
    CHECK(has(again.err, "starts again from the beginning"));
    CHECK(!fs::exists(folder / "OUT/state.json"));
    const std::string result = slurp(folder / "OUT/result.json");
    const Outcome complete = phaselock_program({"run", "x.toml", "--out", "OUT", "--resume", "--json"}, folder.path());
    CHECK(complete.code == 0);
    CHECK(complete.out == result);
    CHECK(slurp(folder / "OUT/result.json") == result);
    CHECK(has(phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path()).out, "the run is complete"));
    CHECK(has(phaselock_program({"run", "x.toml", "--out", "OUT"}, folder.path()).err, "or --resume"));
  }
}

}  // namespace phaselock::test
