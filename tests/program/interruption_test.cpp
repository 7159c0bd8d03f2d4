// Sweeps that are interrupted for real, at random moments: nothing finished is lost, nothing is counted twice, and the export is
// the same byte for byte as without interruption.
#include <doctest/doctest.h>
#include <sys/mount.h>

#include <map>
#include <random>

#include "paths.hpp"
#include "program/program.hpp"
#include "sweep/sqlite.hpp"

namespace phaselock::test {
namespace {

/// 12 000 static flows in two cells, half a second of work in chunks of milliseconds.
const std::string sweep =
    "kind = \"coverage\"\n[model]\nblocks = 4\npositions = 4\nheads = 3\nvocabulary = 1000\ngamma = 1.0\nbeta = 1.0\n"
    "[flow]\nrtol = 1e-8\natol = 1e-10\n[sweep]\nseeds = 6000\nchunk = 48\nkeep = \"seeds\"\n[sweep.over]\n\"model.beta\" = [1.0, "
    "2.0]\n";

/// A program running in the background.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments, const fs::path& folder) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      const int sink = open("/dev/null", O_WRONLY);
      dup2(sink, 1);
      dup2(sink, 2);
      if (chdir(folder.c_str()) == 0) execvp(pointers[0], pointers.data());
      _exit(127);
    }
  }

  void send(int signal) const { kill(process_, signal); }

  /// Exit code, or -signal.
  int wait() const {
    int status = 0;
    waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t process_;
};

std::vector<std::string> resume(const std::string& out) {
  return {test::paths::program, "run", "s.toml", "--out", out, "--resume", "--quiet"};
}

/// The exported files by name.
std::map<std::string, std::string> exported(const fs::path& run) {
  REQUIRE(phaselock_program({"export", run.string()}).code == 0);
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(run / "export")) files[entry.path().filename().string()] = slurp(entry.path());
  return files;
}

std::int64_t single(const fs::path& file, const std::string& sql) {
  const Database database(file);
  Statement statement(database, sql);
  return statement.step() ? statement.whole(0) : -1;
}

/// Seeds of the chunks that are stored, after checking that chunks, counts and rows of seeds speak of the same ones.
std::int64_t stored_seeds(const fs::path& run) {
  const fs::path file = run / "sweep.sqlite";
  if (!fs::exists(file)) return 0;
  const std::int64_t seeds = single(file, "SELECT coalesce(sum(seeds), 0) FROM chunk");
  CHECK(single(file, "SELECT coalesce(sum(n), 0) FROM count WHERE what = 'outcome'") == seeds);
  CHECK(single(file, "SELECT count(*) FROM seed") == seeds);
  CHECK(single(file,
               "SELECT count(*) FROM (SELECT cell, chunk, sum(n) AS n FROM count WHERE what = 'outcome' GROUP BY cell, chunk) "
               "JOIN chunk USING (cell, chunk) WHERE n <> seeds") == 0);
  return seeds;
}

}  // namespace

TEST_SUITE("slow") {
  TEST_CASE("sweeps killed and interrupted at sixty random moments lose nothing and count nothing twice") {
    constexpr int enough = 60;
    const TempFolder folder;
    folder.write("s.toml", sweep);
    REQUIRE(phaselock_program({"run", "s.toml", "--out", "whole", "--quiet"}, folder.path()).code == 0);
    const auto expected = exported(folder / "whole");
    CHECK(expected.size() >= 12);
    std::mt19937 random(1);
    int interruptions = 0, rounds = 0;
    while (interruptions < enough) {
      const std::string out = "cut" + std::to_string(++rounds);
      std::int64_t before = 0;
      for (int code = -1; code != 0;) {
        const int signal = std::array{SIGKILL, SIGTERM, SIGINT}[random() % 3];
        const Child child(resume(out), folder.path());
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 90000));
        child.send(signal);
        code = child.wait();
        if (code == 0) break;
        CHECK((code == -signal || code == 130));  // before its handler is in place, any signal ends the program
        ++interruptions;
        const std::int64_t seeds = stored_seeds(folder / out);
        CHECK(seeds >= before);
        before = seeds;
        if (interruptions >= enough) code = Child(resume(out), folder.path()).wait();
      }
      CHECK(stored_seeds(folder / out) == 12000);
      CHECK(exported(folder / out) == expected);
      CHECK(slurp(folder / out / "cells.csv") == slurp(folder / "whole/cells.csv"));
    }
    MESSAGE(interruptions, " interruptions in ", rounds, " sweeps");
  }

  TEST_CASE("a second process on the same sweep is refused and changes nothing") {
    const TempFolder folder;
    folder.write("s.toml", sweep);
    const Child first(resume("both"), folder.path());
    while (!fs::exists(folder / "both/sweep.sqlite")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Outcome second = phaselock_program({"run", "s.toml", "--out", "both", "--resume", "--quiet"}, folder.path());
    CHECK(second.code == 73);
    CHECK(second.err.find("in use by another phaselock process") != std::string::npos);
    CHECK(first.wait() == 0);
    CHECK(stored_seeds(folder / "both") == 12000);
  }

  TEST_CASE("a sweep on a full disk stops with a message and goes on when there is room") {
    const TempFolder folder;
    folder.write("s.toml", sweep);
    REQUIRE(phaselock_program({"run", "s.toml", "--out", "whole", "--quiet"}, folder.path()).code == 0);
    const auto expected = exported(folder / "whole");
    SUBCASE("a limit on the size of files") {
      const Outcome limited =
          run({"sh", "-c", "trap '' XFSZ; ulimit -f 300; exec \"$0\" run s.toml --out out --quiet", test::paths::program},
              folder.path());
      CHECK(limited.code == 73);
      CHECK(limited.err.find("sweep.sqlite") != std::string::npos);
      CHECK(!fs::exists(folder / "out/result.json"));
      const std::int64_t before = stored_seeds(folder / "out");
      CHECK(before > 0);
      CHECK(before < 12000);
      CHECK(Child(resume("out"), folder.path()).wait() == 0);
      CHECK(exported(folder / "out") == expected);
    }
    SUBCASE("a file system of 500 KiB") {
      fs::create_directory(folder / "disk");
      if (mount("none", (folder / "disk").c_str(), "tmpfs", 0, "size=500k") != 0) {
        MESSAGE("no file system may be mounted here: not tested");
        return;
      }
      const Outcome full = phaselock_program({"run", "s.toml", "--out", "disk/out", "--quiet"}, folder.path());
      CHECK(full.code == 73);
      const std::int64_t before = stored_seeds(folder / "disk/out");
      CHECK(before > 0);
      CHECK(before < 12000);
      CHECK(mount("none", (folder / "disk").c_str(), "tmpfs", MS_REMOUNT, "size=64m") == 0);
      CHECK(Child(resume("disk/out"), folder.path()).wait() == 0);
      CHECK(exported(folder / "disk/out") == expected);
      umount2((folder / "disk").c_str(), MNT_DETACH);
    }
  }
}

}  // namespace phaselock::test
