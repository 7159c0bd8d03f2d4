// Bad input: exit code, a message that names place and allowed range, nothing left on disk.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "program/program.hpp"

namespace phaselock::test {
namespace {

struct BadInput {
  const char* what;
  std::string scenario;                ///< text of x.toml; empty: none is written
  std::vector<std::string> arguments;  ///< behind `run x.toml`, or the whole command if `whole`
  int code;
  std::vector<std::string> message;  ///< parts of standard error
  std::function<void(const TempFolder&)> prepare = {};
  bool whole = false;
};

std::string changed(const std::string& from, const std::string& to) {
  std::string text = small_flow();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string dense(const std::string& file) { return small_flow("[geometry]\nkind = \"embeddings\"\nfile = \"" + file + "\"\n"); }

std::function<void(const TempFolder&)> file(const std::string& name, const std::string& text) {
  return [=](const TempFolder& folder) { folder.write(name, text); };
}

/// A .npy file whose last number is replaced.
std::string spoilt(double last) {
  std::string text = npy("(12, 3)", 36);
  std::memcpy(text.data() + text.size() - sizeof last, &last, sizeof last);
  return text;
}

/// Runs the case in a fresh folder, always asking for output in OUT.
void check(const BadInput& bad) {
  CAPTURE(bad.what);
  const TempFolder folder;
  if (!bad.scenario.empty()) folder.write("x.toml", bad.scenario);
  if (bad.prepare) bad.prepare(folder);
  const auto before = folder.listing();
  std::vector<std::string> arguments = bad.arguments;
  if (!bad.whole) {
    arguments.insert(arguments.begin(), {"run", "x.toml"});
    bool out = false;
    for (const std::string& argument : arguments) out |= argument == "--out";
    if (!out) arguments.insert(arguments.end(), {"--out", "OUT"});
  }
  const Outcome outcome = phaselock_program(arguments, folder.path());
  CAPTURE(outcome.err);
  CHECK(outcome.code == bad.code);
  for (const std::string& part : bad.message) {
    CAPTURE(part);
    CHECK(outcome.err.find(part) != std::string::npos);
  }
  CHECK(outcome.out.empty());
  CHECK(folder.listing() == before);
}

/// The small flow's model under another kind.
std::string of_kind(const std::string& kind, const std::string& more) {
  return "kind = \"" + kind + "\"\n" + small_flow(more).substr(small_flow().find("[model]"));
}

void check_all(const std::vector<BadInput>& cases) {
  for (const BadInput& bad : cases) check(bad);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("keys that no scenario has") {
    check_all({
        {"unknown key",
         changed("blocks", "blocs"),
         {},
         64,
         {"x.toml:4:1", "unknown key model.blocs", "did you mean model.blocks", "vocabulary"}},
        {"unknown section", small_flow("[flwo]\nuntil = 1.0\n"), {}, 64, {"x.toml:10:", "flwo", "sections", "geometry"}},
        {"unknown empty section", small_flow("[certificate]\n"), {}, 64, {"x.toml:10:", "unknown key certificate"}},
        {"unknown key at the top", "colour = 1\n" + small_flow(), {}, 64, {"x.toml:1:1", "unknown key colour"}},
        {"key of another kind",
         small_flow("[toy]\nA = 2.0\n"),
         {},
         64,
         {"x.toml:11:1", "toy.A does not apply to kind = \"flow\"", "\"toy\""}},
        {"key of another geometry",
         small_flow("[geometry]\nepsilon = 0.1\n"),
         {},
         64,
         {"x.toml:11:1", "geometry.epsilon applies only to geometry.kind = \"perturbed\""}},
        {"annealing without its time",
         of_kind("coverage", "[coordination]\nanneal_vocabulary = 100\n"),
         {},
         64,
         {"x.toml:10:1", "coordination.anneal_vocabulary has no effect without coordination.anneal_until"}},
        {"annealing without its time, in a sweep",
         of_kind("coverage", "[sweep.over]\n\"coordination.anneal_beta\" = [2.0, 4.0]\n"),
         {},
         64,
         {"x.toml:10:31", "coordination.anneal_beta has no effect without coordination.anneal_until"}},
        {"orthogonal start of too many heads",
         of_kind("coverage", "[coordination]\northogonal = true\n"),
         {"--set", "model.heads=3"},
         64,
         {"x.toml:10:1", "coordination.orthogonal: 3 heads do not fit 2 positions"}},
        {"key without a name", "\"\" = 1\n" + small_flow(), {}, 64, {"x.toml:1:1: unknown key \"\". Allowed are"}},
        {"too deep", small_flow("[sweep.over]\nx = [1.0]\n"), {}, 64, {"x.toml:11:", "sweep.over applies only to kind"}},
        {"kind of no run",
         changed("\"flow\"", "\"certificate\""),
         {},
         64,
         {"x.toml:2:1", "kind = \"certificate\"", "flow, search, coverage, toy, stability, diagram"}},
        {"pattern beyond the block",
         of_kind("stability", "[stability]\npattern = [2]\n"),
         {},
         64,
         {"x.toml:10:1", "stability.pattern must be a list of 1 whole numbers from 0 to 1"}},
        {"axis without effect",
         of_kind("diagram", "[diagram]\nx = \"kappa\"\nx_range = [1, 2]\ny_range = [1, 2]\n"),
         {},
         64,
         {"x.toml:10:1", "diagram.x = \"kappa\" has no effect on diagram.what = \"theorem1\""}},
        {"axis that falls",
         of_kind("diagram", "[diagram]\nx_range = [20, 12]\ny_range = [1, 2]\n"),
         {},
         64,
         {"x.toml:10:1", "diagram.x_range of N must increase"}},
        {"axes alike",
         of_kind("diagram", "[diagram]\nx = \"beta\"\nx_range = [1, 2]\ny_range = [1, 2]\n"),
         {},
         64,
         {"x.toml", "diagram.y must differ"}},
        {"kind missing", "[model]\nblocks = 4\n", {}, 64, {"x.toml:1:1", "kind is missing", "flow, search"}},
        {"model key missing", changed("beta = 1.0\n", ""), {}, 64, {"x.toml: model.beta is missing", "> 0"}},
        {"override of an unknown key",
         small_flow(),
         {"--set", "model.betta=1"},
         64,
         {"--set model.betta=1: unknown key", "did you mean model.beta"}},
        {"override without value", small_flow(), {"--set", "model.beta"}, 64, {"--set model.beta", "KEY=VALUE"}},
    });
  }

  TEST_CASE("values of the wrong type") {
    check_all({
        {"text for a whole number",
         changed("blocks = 4", "blocks = \"four\""),
         {},
         64,
         {"x.toml:4:1", "model.blocks = \"four\"", "a whole number from 2"}},
        {"fraction for a whole number",
         changed("heads = 1", "heads = 1.5"),
         {},
         64,
         {"x.toml:6:1", "model.heads = 1.5", "a whole number"}},
        {"text for a number", changed("beta = 1.0", "beta = \"1.0\""), {}, 64, {"x.toml:9:1", "model.beta", "finite number > 0"}},
        {"number for a word", small_flow("[gates]\nclass = 3\n"), {}, 64, {"x.toml:11:1", "gates.class = 3", "linear, static"}},
        {"section for a number", changed("beta = 1.0", "[model.beta]\nx = 1"), {}, 64, {"x.toml:9:", "model.beta", "> 0"}},
        {"number for a section", "model = 3\nkind = \"flow\"\n", {}, 64, {"x.toml:1:1", "model"}},
        {"list of sections", "[[model]]\nblocks = 4\n[a]\n", {}, 64, {"kind is missing"}},
        {"number for a list", small_flow("[flow]\nsave_at = 10.0\n"), {}, 64, {"x.toml:11:1", "flow.save_at", "a list of numbers"}},
        {"text in a list",
         small_flow("[flow]\nsave_at = [1.0, \"2\"]\n"),
         {},
         64,
         {"x.toml:11:1", "flow.save_at", "list of numbers"}},
        {"date for a number", changed("beta = 1.0", "beta = 1979-05-27"), {}, 64, {"x.toml:9:1", "a date", "> 0"}},
        {"list of the wrong length",
         "kind = \"toy\"\n[model]\nblocks = 4\ngamma = 1.0\nbeta = 1.0\n[toy]\ntheta = [0.1]\n",
         {},
         64,
         {"x.toml:7:1", "toy.theta", "a list of 2 numbers"}},
        {"override of the wrong type",
         small_flow(),
         {"--set", "model.heads=many"},
         64,
         {"--set model.heads=many: model.heads", "a whole number"}},
        {"override with a second line", small_flow(), {"--set", "model.beta=1\nmodel.gamma=1"}, 64, {"model.beta", "> 0"}},
    });
  }

  TEST_CASE("values out of range") {
    check_all({
        {"negative beta", changed("beta = 1.0", "beta = -1"), {}, 64, {"x.toml:9:1: model.beta = -1 must be > 0"}},
        {"negative beta by override",
         small_flow(),
         {"--set", "model.beta=-1"},
         64,
         {"--set model.beta=-1: model.beta = -1 must be > 0"}},
        {"gamma above 1", changed("gamma = 1.0", "gamma = 1.5"), {}, 64, {"x.toml:8:1: model.gamma = 1.5 must be in (0, 1]"}},
        {"one block", changed("blocks = 4", "blocks = 1"), {}, 64, {"x.toml:4:1", "from 2 to"}},
        {"no head", changed("heads = 1", "heads = 0"), {}, 64, {"x.toml:6:1", "from 1 to"}},
        {"L S > N", changed("vocabulary = 12", "vocabulary = 11"), {}, 64, {"x.toml:7:1", "model.vocabulary = 11", "12"}},
        {"L S > N by override", small_flow(), {"--set", "model.blocks=5"}, 64, {"x.toml:7:1", "model.vocabulary = 12", "15"}},
        {"beta H too large", changed("beta = 1.0", "beta = 701.0"), {}, 64, {"x.toml:9:1", "beta * heads <= 700"}},
        {"beyond 64 bits", changed("heads = 1", "heads = 99999999999999999999"), {}, 64, {"x.toml:6:"}},
        {"not a number", changed("beta = 1.0", "beta = nan"), {}, 64, {"x.toml:9:1", "finite number > 0"}},
        {"infinite time",
         small_flow("[flow]\nuntil = inf\n"),
         {},
         64,
         {"x.toml:11:1", "flow.until", "finite number in (0, 1e+15]"}},
        {"negative time", small_flow("[flow]\nuntil = -5.0\n"), {}, 64, {"x.toml:11:1", "flow.until = -5.0 must be in (0, 1e+15]"}},
        {"negative time to save at",
         small_flow("[flow]\nsave_at = [-1.0, 5.0]\n"),
         {},
         64,
         {"x.toml:11:1", "flow.save_at", "(0, 1e+15]"}},
        {"times out of order", small_flow("[flow]\nsave_at = [5.0, 1.0]\n"), {}, 64, {"x.toml:11:1", "must increase"}},
        {"time to save at beyond the end",
         small_flow("[flow]\nuntil = 10.0\nsave_at = [5.0, 11.0]\n"),
         {},
         64,
         {"x.toml:12:1", "flow.save_at = 11 must be <= flow.until = 10"}},
        {"negative seed",
         small_flow("[initial]\nseed = -1\n"),
         {},
         64,
         {"x.toml:11:1", "initial.seed = -1", "from 0 to 9223372036854775807"}},
        {"bottomless key",
         "a" +
             [] {
               std::string deep;
               for (int k = 0; k < 20000; ++k) deep += ".a";
               return deep;
             }() +
             " = 1\n",
         {},
         64,
         {"x.toml:1:", "64 parts"}},
        {"zero radius", small_flow("[initial]\nradius = 0.0\n"), {}, 64, {"x.toml:11:1", "initial.radius", "1e-14"}},
        {"no steps", small_flow("[flow]\nmax_steps = 0\n"), {}, 64, {"x.toml:11:1", "from 1 to"}},
        {"word that is none",
         small_flow("[gates]\nclass = \"lienar\"\n"),
         {},
         64,
         {"x.toml:11:1", "one of linear, static, tied, uniform"}},
        {"oracle gates in a flow",
         small_flow("[gates]\nclass = \"oracle\"\n"),
         {},
         64,
         {"x.toml:11:1", "belongs to kind = \"search\""}},
        {"static gates at another geometry",
         small_flow("[geometry]\nkind = \"perturbed\"\n[gates]\nclass = \"static\"\n"),
         {},
         64,
         {"x.toml:11:1", "must be \"exact\" for static gates"}},
        {"start given twice", small_flow("[initial]\nfile = \"b.json\"\nradius = 1.0\n"), {}, 64, {"x.toml:12:1", "initial.file"}},
        {"geometry that is none",
         small_flow("[geometry]\nkind = \"perturbed\"\nepsilon = 50.0\n"),
         {},
         64,
         {"x.toml:12:1", "geometry.epsilon = 50", "largest epsilon that would do"}},
        {"no thread", small_flow(), {"--threads", "0"}, 64, {"--threads", "1"}},
    });
  }

  TEST_CASE("text that is not TOML") {
    for (const char* text : {"\n[#",
                             "[",
                             "kind",
                             "kind =",
                             "kind = \"flow",
                             "= 1",
                             "[model\nblocks=1",
                             "a = [1,",
                             "a = {",
                             "a.b.c",
                             "\"",
                             "'''",
                             "a = 1 b = 2",
                             "kind = flow",
                             "kind = \"flow\"\nkind = \"flow\"\n",
                             "[model]\n[model]\n",
                             "a = 0x",
                             "a = 1e",
                             "a = \"\\q\"",
                             "a = \"\\uD800\"",
                             "\xff\xfe",
                             "a = \x01",
                             "[[a]]\n[a]\n",
                             "a = [1, 2}",
                             "[a]]",
                             "a = 1979-13-45",
                             "\xef\xbb\xbf[#",
                             "[a.]",
                             "a = 1__0",
                             "a = .5"}) {
      check({"malformed TOML", text, {}, 64, {"x.toml:"}});
    }
    check({"deep nesting", "a = " + std::string(5000, '['), {}, 64, {"x.toml:"}});
    check({"missing scenario", "", {}, 74, {"x.toml: no such file"}});
    check(
        {"folder as scenario", "", {}, 74, {"x.toml"}, [](const TempFolder& folder) { fs::create_directory(folder / "x.toml"); }});
  }

  TEST_CASE("embeddings that cannot be used") {
    const std::string good = npy("(12, 3)", 36);
    check_all({
        {"missing file", dense("no.npy"), {}, 74, {"no.npy", "No such file"}},
        {"no file named", small_flow("[geometry]\nkind = \"embeddings\"\n"), {}, 64, {"geometry.file is missing"}},
        {"not .npy", dense("w.npy"), {}, 65, {"w.npy", "not a .npy file"}, file("w.npy", "hello, this is text")},
        {"empty file", dense("w.npy"), {}, 65, {"w.npy", "not a .npy file"}, file("w.npy", "")},
        {"one dimension", dense("w.npy"), {}, 65, {"w.npy", "1 dimensions; it must have 2"}, file("w.npy", npy("(36,)", 36))},
        {"three dimensions", dense("w.npy"), {}, 65, {"w.npy", "3 dimensions"}, file("w.npy", npy("(12, 3, 1)", 36))},
        {"rows differ from the vocabulary",
         dense("w.npy"),
         {},
         65,
         {"x.toml:7:1", "model.vocabulary = 12", "w.npy", "6"},
         file("w.npy", npy("(6, 6)", 36))},
        {"NaN", dense("w.npy"), {}, 65, {"w.npy", "row 11, column 2", "finite"}, file("w.npy", spoilt(std::nan("")))},
        {"infinity", dense("w.npy"), {}, 65, {"w.npy", "row 11, column 2", "finite"}, file("w.npy", spoilt(-INFINITY))},
        {"truncated data", dense("w.npy"), {}, 65, {"w.npy", "truncated"}, file("w.npy", good.substr(0, good.size() - 1))},
        {"truncated header", dense("w.npy"), {}, 65, {"w.npy", "header"}, file("w.npy", good.substr(0, 40))},
        {"surplus data", dense("w.npy"), {}, 65, {"w.npy", "surplus"}, file("w.npy", good + "x")},
        {"big endian", dense("w.npy"), {}, 65, {"w.npy", "little-endian"}, file("w.npy", npy("(12, 3)", 36, ">f8"))},
        {"integers", dense("w.npy"), {}, 65, {"w.npy", "float32 or float64"}, file("w.npy", npy("(12, 3)", 36, "<i8"))},
        {"absurd shape", dense("w.npy"), {}, 65, {"w.npy", "truncated"}, file("w.npy", npy("(12, 9000000000000000000)", 36))},
        {"negative shape", dense("w.npy"), {}, 65, {"w.npy", "shape"}, file("w.npy", npy("(12, -3)", 36))},
        {"version of the future",
         dense("w.npy"),
         {},
         65,
         {"w.npy", "version"},
         file("w.npy", npy("(12, 3)", 36, "<f8", "False", 9))},
    });
  }

  TEST_CASE("starts that cannot be used") {
    const std::string start = small_flow("[initial]\nfile = \"b.json\"\n");
    check_all({
        {"missing file", start, {}, 74, {"b.json", "No such file"}},
        {"not JSON", start, {}, 65, {"b.json", "not JSON"}, file("b.json", "{\"bias\": [")},
        {"wrong shape",
         start,
         {},
         65,
         {"b.json: bias[0][0] has 2 entries, it must have 3"},
         file("b.json", "{\"bias\": [[[0, 0]], [[0, 0, 0]]]}")},
        {"wrong type",
         start,
         {},
         65,
         {"b.json: bias[1][0][2] must be a number"},
         file("b.json", "{\"bias\": [[[0, 0, 0]], [[0, 0, \"0\"]]]}")},
        {"infinite entry", start, {}, 65, {"b.json", "not JSON"}, file("b.json", "{\"bias\": [[[1e999, 0, 0]], [[0, 0, 0]]]}")},
        {"nothing in it", start, {}, 65, {"b.json", "{\"bias\": [2][H][S]}"}, file("b.json", "[]")},
        {"tables for static gates",
         start + "[gates]\nclass = \"static\"\n",
         {},
         65,
         {"b.json", "static gates start from"},
         file("b.json", "{\"tables\": []}")},
    });
  }

  TEST_CASE("sizes beyond the machine are refused before anything is allocated") {
    const char* memory = "of memory; at most";
    check_all({
        {"vocabulary",
         small_flow(),
         {"--set", "model.vocabulary=1000000000", "--set", "model.heads=1000000", "--set", "model.beta=0.0001"},
         64,
         {"x.toml", memory, "EiB"}},
        {"context count",
         small_flow(),
         {"--set", "contexts.count=1000000000", "--set", "model.blocks=100", "--set", "model.positions=100", "--set",
          "model.vocabulary=10000"},
         64,
         {memory, "TiB"}},
        {"dense vocabulary",
         small_flow("[geometry]\nkind = \"perturbed\"\n"),
         {"--set", "model.vocabulary=1000000"},
         64,
         {memory, "TiB"}},
        {"blocks and heads",
         small_flow(),
         {"--set", "model.vocabulary=1000000000", "--set", "model.blocks=300000000", "--set", "gates.class=static", "--set",
          "model.heads=600", "--set", "model.positions=3"},
         64,
         {memory}},
        {"seeds",
         "kind = \"coverage\"\n" + small_flow().substr(small_flow().find("[model]")),
         {"--set", "sweep.seeds=1000000000", "--set", "model.heads=500", "--set", "sweep.chunk=1000000"},
         64,
         {memory, "GiB"}},
        {"rows of seeds without a folder",
         "kind = \"coverage\"\n" + small_flow().substr(small_flow().find("[model]")),
         {"run", "x.toml", "--set", "sweep.seeds=1000000000", "--set", "sweep.keep=seeds"},
         64,
         {memory, "GiB"},
         {},
         true},
        {"shapes",
         "kind = \"coverage\"\n" + small_flow().substr(small_flow().find("[model]")),
         {"--set", "model.heads=60", "--set", "model.positions=61", "--set", "model.vocabulary=1000"},
         64,
         {"--set model.heads=60: model.heads = 60: ", "more than 100000 shapes"}},
        {"dry run",
         small_flow(),
         {"--dry-run", "--set", "model.vocabulary=1000000000", "--set", "model.heads=100000", "--set", "model.beta=0.001"},
         64,
         {memory}},
        {"verify", "", {"verify", "theorem2", "--set", "model.vocabulary=1000000000", "--out", "OUT"}, 64, {memory}, {}, true},
    });
  }

  TEST_CASE("output that cannot be written is refused before the computation") {
    const std::string long_run = small_flow("[flow]\nstop = \"time\"\nuntil = 1e15\nmax_steps = 10000000\nrtol = 1e-14\n");
    check_all({
        {"parent is a file", long_run, {"--out", "plain/OUT"}, 73, {"plain/OUT"}, file("plain", "x")},
        {"target is a file", small_flow(), {"--out", "plain"}, 73, {"plain", "new or empty"}, file("plain", "x")},
        {"target holds something", small_flow(), {"--out", "full"}, 73, {"full", "new or empty"}, file("full/a.txt", "x")},
        {"no name", small_flow(), {"--out", ""}, 64, {"no name", "new or empty"}},
        {"verify", "", {"verify", "toy", "--out", "plain/OUT"}, 73, {"plain/OUT"}, file("plain", "x"), true},
    });
  }

  TEST_CASE("commands and their arguments") {
    check_all({
        {"no command", "", {}, 64, {"subcommand"}, {}, true},
        {"unknown command", "", {"ponder"}, 64, {"ponder", "one of verify, run"}, {}, true},
        {"unknown option", small_flow(), {"--ponder"}, 64, {"--ponder"}},
        {"no time", small_flow(), {"--checkpoint-every", "nan"}, 64, {"--checkpoint-every nan: must be from 0 to 1e9"}},
        {"resume of nothing", small_flow(), {"run", "x.toml", "--resume"}, 64, {"--resume", "--out"}, {}, true},
        {"no scenario", "", {"run"}, 64, {"scenario"}, {}, true},
        {"threads in words", small_flow(), {"--threads", "two"}, 64, {"--threads"}},
        {"unknown suite", "", {"verify", "theorem3"}, 64, {"theorem3", "toy, theorem1, theorem2, coverage, all"}, {}, true},
        {"verify with a key it does not take",
         "",
         {"verify", "toy", "--set", "flow.until=1"},
         64,
         {"--set flow.until=1", "model.blocks"},
         {},
         true},
        {"verify with L S > N",
         "",
         {"verify", "toy", "--set", "model.vocabulary=5"},
         64,
         {"--set model.vocabulary=5", "16"},
         {},
         true},
        {"unknown claim", "", {"explain", "fermat"}, 64, {"fermat", "one of"}, {}, true},
        {"figures of no folder", "", {"plot", "nowhere"}, 74, {"nowhere"}, {}, true},
    });
  }

  TEST_CASE("cases to evaluate that cannot be") {
    const std::string sizes = R"({"L": 2, "S": 2, "H": 1, "N": 4, "gamma": 1, "beta": 1, "kappa": 1, )";
    const std::string tables = R"("tables": [[[[0,0,0,0],[0,0,0,0]]],[[[0,0,0,0],[0,0,0,0]]]])";
    const std::vector<std::string> command = {"evaluate", "c.json"};
    check_all({
        {"missing", "", command, 74, {"c.json", "No such file"}, {}, true},
        {"not JSON", "", command, 65, {"c.json", "not JSON"}, file("c.json", "{"), true},
        {"no object", "", command, 65, {"c.json", "L is missing"}, file("c.json", "[1]"), true},
        {"key missing", "", command, 65, {"c.json", "contexts is missing"}, file("c.json", sizes + tables + "}"), true},
        {"size of the wrong type", "", command, 65, {"c.json", "L = 2.5", "whole number"}, file("c.json", "{\"L\": 2.5}"), true},
        {"L S > N",
         "",
         command,
         65,
         {"c.json", "model.vocabulary = 3"},
         file("c.json", R"({"L": 2, "S": 2, "H": 1, "N": 3, "gamma": 1, "beta": 1})"),
         true},
        {"token outside",
         "",
         command,
         65,
         {"c.json", "token from 0 to 3"},
         file("c.json", sizes + tables + R"(, "contexts": [[0,1,2,4]]})"),
         true},
        {"token twice",
         "",
         command,
         65,
         {"c.json", "twice"},
         file("c.json", sizes + tables + R"(, "contexts": [[0,1,2,2]]})"),
         true},
        {"wrong shape of tables",
         "",
         command,
         65,
         {"c.json: tables has 1 entries, it must have 2"},
         file("c.json", sizes + R"("tables": [0], "contexts": [[0,1,2,3]]})"),
         true},
        {"negative kappa",
         "",
         command,
         65,
         {"c.json", "kappa = -1"},
         file("c.json", R"({"L": 2, "S": 2, "H": 1, "N": 4, "gamma": 1, "beta": 1, "kappa": -1, )" + tables +
                            R"(, "contexts": [[0,1,2,3]]})"),
         true},
    });
  }
}

}  // namespace phaselock::test
