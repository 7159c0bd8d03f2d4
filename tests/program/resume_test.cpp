// Flows that are interrupted, killed, stopped by a full disk, and resumed to the same bits.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "output/failure.hpp"
#include "output/flow_checkpoint.hpp"
#include "paths.hpp"
#include "program/program.hpp"
#include "program/small_disk.hpp"

namespace phaselock::test {
namespace {

using nlohmann::json;

/// A linear-gate flow of some hundred steps that ends with a certificate.
const std::string long_flow =
    "kind = \"flow\"\n[model]\nblocks = 4\npositions = 4\nheads = 2\nvocabulary = 64\ngamma = 1.0\nbeta = 1.0\n"
    "[initial]\nseed = 2\n[contexts]\ncount = 192\n"
    "[flow]\nsave_at = [10.0, 1000.0]\nrtol = 1e-13\natol = 1e-15\n";

/// A flow that would take hours.
const std::string endless =
    small_flow() + "[contexts]\ncount = 300\n[flow]\nuntil = 1e15\nstop = \"time\"\nrtol = 1e-14\natol = 1e-300\n";

/// Every file of a run folder by name; of result.json all but the provenance.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files[entry.path().filename().string()] = slurp(entry.path());
  json result = json::parse(files.at("result.json"));
  result.erase("provenance");
  files["result.json"] = result.dump();
  return files;
}

void check_same_folders(const fs::path& a, const fs::path& b) {
  const auto left = contents(a), right = contents(b);
  for (const auto& [name, text] : left) {
    CAPTURE(name);
    REQUIRE(right.count(name) == 1);
    CHECK((right.at(name) == text));
  }
  CHECK(left.size() == right.size());
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

FlowCheckpoint odd_numbers() {
  constexpr double infinity = std::numeric_limits<double>::infinity(), denormal = std::numeric_limits<double>::denorm_min();
  FlowCheckpoint checkpoint;
  checkpoint.initial_loss = 0.1;
  checkpoint.y = {-0.0, denormal, 1.0 / 3.0, -1e308};
  checkpoint.point = {.t = 1e9,
                      .s = std::log1p(1e9),
                      .proposal = 1e-3,
                      .steps = (std::int64_t(1) << 53) + 1,
                      .short_steps = 7,
                      .visited = true,
                      .growth = 2.0,
                      .last_step = 3.0,
                      .error = 4.0};
  checkpoint.stiff = true;
  checkpoint.next_look = 5.0;
  checkpoint.last_s = 6.0;
  checkpoint.last_weights = {0.25, 0.75};
  checkpoint.saved = {{1.0, 2.0, {3.0}}, {4.0, infinity, {}}};
  checkpoint.samples = {{0.0, std::nan(""), 0.5, {1.0, 0.0}, {1.5}, {2.5}}};
  return checkpoint;
}

/// A folder whose run was interrupted at its first steps.
void interrupt(const TempFolder& folder, const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {test::paths::program, "run", "x.toml", "--out", out, "--checkpoint-every", "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Program program(arguments, folder.path());
  program.signal_when(SIGTERM, [&] { return fs::exists(folder / out / flow_checkpoint_file); });
  const Outcome outcome = program.wait();
  REQUIRE(outcome.code == 130);
  REQUIRE(fs::exists(folder / out / flow_checkpoint_file));
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a checkpoint's file gives every number back, bit for bit") {
    const std::string bytes = write_flow_checkpoint(odd_numbers());
    const FlowCheckpoint back = read_flow_checkpoint(bytes, "file");
    CHECK(std::signbit(back.y[0]));
    CHECK(back.point.steps == (std::int64_t(1) << 53) + 1);
    CHECK(back.saved.size() == 2);
    CHECK(std::isnan(back.samples.at(0).loss));
    CHECK((write_flow_checkpoint(back) == bytes));
  }

  TEST_CASE("a checkpoint with any byte changed, missing or too many is refused") {
    const std::string bytes = write_flow_checkpoint(odd_numbers());
    const auto refused = [](const std::string& text) {
      try {
        read_flow_checkpoint(text, "file");
      } catch (const Failure& failure) {
        return failure.exit() == Exit::bad_data && std::strncmp(failure.what(), "file: ", 6) == 0;
      }
      return false;
    };
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      CAPTURE(k);
      std::string changed = bytes;
      changed[k] ^= 0x10;
      CHECK(refused(changed));
      CHECK(refused(bytes.substr(0, k)));
    }
    CHECK(refused(bytes + "x"));
    std::string later = bytes;
    later.replace(later.find('\n') - 1, 1, "2");
    CHECK_THROWS_WITH_AS(read_flow_checkpoint(later, "file"), doctest::Contains("another version"), Failure);
  }

  TEST_CASE("an interrupted flow leaves scenario and checkpoint, goes on from there, and is refused a bad checkpoint") {
    const TempFolder folder;
    folder.write("x.toml", long_flow);
    interrupt(folder, "OUT");
    CHECK(folder.listing() == std::set<std::string>{"x.toml", "OUT", "OUT/scenario.toml", "OUT/checkpoint.bin"});
    const std::string good = slurp(folder / "OUT/checkpoint.bin");
    const std::vector<std::string> resume = {"run", "x.toml", "--out", "OUT", "--resume"};
    std::string changed = good;
    changed[good.size() / 2] ^= 1;
    for (const std::string& bad : {changed, good.substr(0, good.size() - 1), std::string()}) {
      folder.write("OUT/checkpoint.bin", bad);
      const Outcome refused = phaselock_program(resume, folder.path());
      CHECK(refused.code == 65);
      CHECK(has(refused.err, "OUT/checkpoint.bin: damaged"));
      CHECK((slurp(folder / "OUT/checkpoint.bin") == bad));
    }
    interrupt(folder, "other", {"--set", "initial.seed=3"});
    folder.write("OUT/checkpoint.bin", slurp(folder / "other/checkpoint.bin"));
    const Outcome foreign = phaselock_program(resume, folder.path());
    CHECK(foreign.code == 65);
    CHECK(has(foreign.err, "of another flow"));
    CHECK(phaselock_program({"run", "x.toml", "--out", "other", "--resume"}, folder.path()).code == 64);

    folder.write("OUT/checkpoint.bin", good);
    const Outcome done = phaselock_program(resume, folder.path());
    CHECK(done.code == 0);
    CHECK(has(done.err, "goes on from the last checkpoint"));
    REQUIRE(phaselock_program({"run", "x.toml", "--out", "whole"}, folder.path()).code == 0);
    check_same_folders(folder / "whole", folder / "OUT");
  }

  TEST_CASE("a second process on the folder of a running flow is refused and disturbs nothing") {
    const TempFolder folder;
    folder.write("x.toml", endless);
    const Program first({test::paths::program, "run", "x.toml", "--out", "OUT", "--checkpoint-every", "0"}, folder.path());
    std::vector<Outcome> others;
    first.signal_when(SIGINT, [&] {
      if (!fs::exists(folder / "OUT/checkpoint.bin")) return false;
      others.push_back(phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path()));
      others.push_back(phaselock_program({"run", "x.toml", "--out", "OUT"}, folder.path()));
      return true;
    });
    CHECK(first.wait().code == 130);
    REQUIRE(others.size() == 2);
    for (const Outcome& other : others) {
      CHECK(other.code == 73);
      CHECK(has(other.err, "OUT: in use by another phaselock process"));
      CHECK(other.out.empty());
    }
    CHECK(folder.listing() == std::set<std::string>{"x.toml", "OUT", "OUT/scenario.toml", "OUT/checkpoint.bin"});
  }
}

TEST_SUITE("slow") {
  TEST_CASE("a linear-gate flow killed and interrupted at random moments ends with the files of an uninterrupted one") {
    constexpr std::size_t least = 20;
    const TempFolder folder;
    folder.write("x.toml", long_flow);
    const auto begun = std::chrono::steady_clock::now();
    REQUIRE(phaselock_program({"run", "x.toml", "--out", "whole"}, folder.path()).code == 0);
    const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();

    std::mt19937 random(20);  // the moments are random for the program; its numbers must not be
    const std::vector<int> signals = {SIGKILL, SIGTERM, SIGINT};
    std::map<int, std::size_t> cuts;  // by how a process ended
    std::size_t processes = 0, complete = 0;
    for (std::size_t cut = 0; cut < least; ++complete) {
      fs::remove_all(folder / "OUT");
      for (bool done = false; !done;) {
        REQUIRE(++processes < 400);
        const Program program({test::paths::program, "run", "x.toml", "--out", "OUT", "--resume", "--checkpoint-every",
                               random() % 2 ? "0" : "0.01", "--threads", random() % 2 ? "1" : "2"},
                              folder.path());
        // Mostly on the way; now and then before there is a folder.
        const double share = double(random()) / double(std::mt19937::max());
        std::this_thread::sleep_for(std::chrono::duration<double>(random() % 5 == 0 ? 0.02 * share : (0.1 + 0.4 * share) * whole));
        program.signal_when(signals[processes % signals.size()], [] { return true; });
        const Outcome outcome = program.wait();
        CAPTURE(outcome.err);
        done = outcome.code == 0;
        if (done) continue;
        const bool known = outcome.code == -SIGKILL || outcome.code == 130 || outcome.code == -SIGTERM || outcome.code == -SIGINT;
        REQUIRE(known);
        ++cut, ++cuts[outcome.code];
      }
      check_same_folders(folder / "whole", folder / "OUT");
    }
    CHECK(cuts[-SIGKILL] >= 3);
    CHECK(cuts[130] >= 3);
    MESSAGE(processes, " processes, ", complete, " complete runs, killed ", cuts[-SIGKILL], ", interrupted ", cuts[130],
            ", ended by a signal before the handler was in place ", cuts[-SIGTERM] + cuts[-SIGINT]);
  }

  TEST_CASE("a flow whose disk is full or whose files may not grow stops with 73 and goes on when there is room") {
    const TempFolder folder;
    folder.write("x.toml", long_flow);
    REQUIRE(phaselock_program({"run", "x.toml", "--out", "whole"}, folder.path()).code == 0);
    const std::vector<std::string> resume = {"run", "x.toml", "--out", "disk/OUT", "--resume", "--checkpoint-every", "0"};
    const SmallDisk disk(folder / "disk");
    if (disk.mounted()) {
      const Outcome full = phaselock_program(resume, folder.path());
      CHECK(full.code == 73);
      CHECK(has(full.err, "disk/OUT/checkpoint.bin: No space left"));
      CHECK(fs::exists(folder / "disk/OUT/checkpoint.bin"));
      CHECK(!fs::exists(folder / "disk/OUT/.partial"));
      disk.grow();
      const Outcome done = phaselock_program(resume, folder.path());
      CHECK(done.code == 0);
      CHECK(has(done.err, "goes on from the last checkpoint"));
      check_same_folders(folder / "whole", folder / "disk/OUT");
    } else {
      MESSAGE("no tmpfs may be mounted here: a full disk is tested by a limit on file sizes only");
    }
    // ulimit counts in blocks of 512 bytes.
    const Outcome limited =
        run({"sh", "-c", "ulimit -f 56; exec " + test::paths::program + " run x.toml --out OUT --resume --checkpoint-every 0"},
            folder.path());
    CHECK(limited.code == 73);
    CHECK(has(limited.err, "OUT/checkpoint.bin: File too large"));
    CHECK(folder.listing().count("OUT/checkpoint.bin") == 1);
    CHECK(folder.listing().count("OUT/.partial") == 0);
    CHECK(phaselock_program({"run", "x.toml", "--out", "OUT", "--resume"}, folder.path()).code == 0);
    check_same_folders(folder / "whole", folder / "OUT");
  }
}

}  // namespace phaselock::test
