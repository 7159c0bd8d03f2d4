// Kinds as values: the list, a kind of a test's own, the checks between keys of each kind, and what it tells before a run.
#include <doctest/doctest.h>

#include <set>

#include "kinds/kind.hpp"
#include "schema/key_table.hpp"
#include "schema/kind_description.hpp"

namespace phaselock::test {
namespace {

const std::string model = "[model]\nblocks = 4\npositions = 4\nheads = 3\nvocabulary = 64\ngamma = 1\nbeta = 1\n";

/// "" if the scenario is taken, else exit code and message.
std::string refusal(const std::string& text, std::vector<std::string> overrides = {}) {
  try {
    parse_scenario(text, "x.toml", "/tmp", overrides, kind_list());
    return "";
  } catch (const Failure& failure) {
    return std::to_string(int(failure.exit())) + " " + failure.what();
  }
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string diagram(std::string_view x, std::string_view range) {
  return refusal("kind = \"diagram\"\n" + model,
                 {"diagram.what=theorem2", "diagram.x=" + std::string(x), "diagram.x_range=" + std::string(range),
                  x == "H" ? "diagram.y=S" : "diagram.y=H", "diagram.y_range=[1, 4]"});
}

/// A kind as its author would write it.
struct PendulumKeys {
  double length = 1.0;
  int swings = 3;
};
constexpr Key pendulum_keys[] = {
    own_key<&PendulumKeys::length>("pendulum.length", "metres").in(positive(100)),
    own_key<&PendulumKeys::swings>("pendulum.swings", "to follow").in(sizes(1, 9)),
};
constexpr std::string_view pendulum_takes[] = {"model.beta", "flow.until"};
constexpr KindDescription pendulum = {
    .name = "pendulum",
    .takes = pendulum_takes,
    .own_keys = pendulum_keys,
    .set_defaults = [](Scenario& s) { own_keys<PendulumKeys>(s).swings = 5; },
    .is_idle = [](const Scenario& s, const Key& key) { return key.path == "flow.until" && own_keys<PendulumKeys>(s).swings == 1; },
    .check =
        [](Scenario& s) {
          if (own_keys<PendulumKeys>(s).length > s.flow.until)
            throw s.failure("pendulum.length", "pendulum.length must be <= flow.until");
        }};

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("the list holds each kind once, with everything a kind must have") {
    std::set<std::string_view> names;
    for (const Kind* kind : all_kinds()) {
      CAPTURE(kind->description.name);
      CHECK(names.insert(kind->description.name).second);
      CHECK(bool(kind->description.check));
      CHECK(bool(kind->estimate));
      CHECK(bool(kind->run));
      CHECK(bool(kind->warnings));
      CHECK(&kind_named(kind->description.name) == kind);
      for (const std::string_view taken : kind->description.takes) {
        CAPTURE(taken);
        bool found = false;
        for (const Key& key : shared_keys()) found = found || key.path == taken || key.section() == taken;
        CHECK(found);
      }
      CHECK(refusal("kind = \"" + std::string(kind->description.name) + "\"\n[pony]\n").starts_with("64 x.toml:2:"));
    }
    CHECK_THROWS_AS(kind_named("pendulum"), std::logic_error);
  }

  TEST_CASE("a kind's own sections are read, changed, checked and written by its description alone") {
    const KindDescription* const kinds[] = {&kind_named("flow").description, &kind_named("coverage").description, &pendulum};
    const auto read = [&](const std::string& more, std::vector<std::string> overrides = {}) {
      return parse_scenario("kind = \"pendulum\"\n[model]\nbeta = 2\n" + more, "x.toml", "/tmp", overrides, kinds);
    };
    const auto error = [&](const std::string& more) -> std::string {
      try {
        read(more);
      } catch (const Failure& failure) {
        return failure.what();
      }
      return "";
    };
    const Scenario plain = read("");
    CHECK(own_keys<PendulumKeys>(plain).length == 1.0);
    CHECK(own_keys<PendulumKeys>(plain).swings == 5);
    const Scenario given = read("[pendulum]\nlength = 0.25\n", {"pendulum.swings=1"});
    CHECK(own_keys<PendulumKeys>(given).length == 0.25);
    const std::string text = write_scenario(given);
    CHECK(has(text, "[pendulum]\nlength = 0.25"));
    CHECK(has(text, "# metres"));
    CHECK(has(write_scenario(plain), "until"));
    CHECK_FALSE(has(text, "until"));  // idle with one swing
    CHECK(write_scenario(parse_scenario(text, "y.toml", "/", {}, kinds)) == text);
    CHECK(error("[pendulum]\nswings = 10\n") == "x.toml:5:1: pendulum.swings = 10 must be a whole number from 1 to 9");
    CHECK(error("[pendulum]\nlength = 2\n[flow]\nuntil = 1\n") == "x.toml:5:1: pendulum.length must be <= flow.until");
    CHECK(error("[pendulum]\nlenght = 2\n") ==
          "x.toml:5:1: unknown key pendulum.lenght; did you mean pendulum.length. Keys of [pendulum]: length, swings");
    CHECK(error("[gates]\nclass = \"static\"\n") ==
          "x.toml:5:1: gates.class does not apply to kind = \"pendulum\", only to \"flow\", \"coverage\"");
    CHECK(error("[sweep.over]\n\"model.beta\" = [1]\n") == "x.toml:5:1: sweep.over applies only to kind = \"coverage\"");
    CHECK(has(refusal("kind = \"pendulum\"\n"),
              "64 x.toml:1:1: kind = \"pendulum\" must be one of flow, search, coverage, toy, "
              "stability, diagram"));
  }

  TEST_CASE("classes of gates belong to kinds") {
    const auto of = [](const std::string& kind, const std::string& gates, std::vector<std::string> more = {}) {
      more.push_back("gates.class=" + gates);
      return refusal("kind = \"" + kind + "\"\n" + model, more);
    };
    for (const char* trained : {"linear", "static", "tied", "uniform"}) {
      CHECK(of("flow", trained) == "");
      CHECK(has(of("search", trained), "gates.class must be \"oracle\" for kind = \"search\""));
    }
    CHECK(has(of("flow", "oracle"), "gates.class = \"oracle\" belongs to kind = \"search\""));
    CHECK(has(of("coverage", "oracle"), "gates.class = \"oracle\" belongs to kind = \"search\""));
    CHECK(of("search", "oracle") == "");
    CHECK(of("coverage", "static") == "");
    CHECK(of("coverage", "linear") == "");
    CHECK(has(of("coverage", "tied"), "must be \"static\" or \"linear\" for kind = \"coverage\""));
    for (const char* key : {"coordination.repulsion=0.1", "coordination.orthogonal=true", "coordination.anneal_until=1"})
      CHECK(has(of("coverage", "linear", {key}), "gates.class must be \"static\" with [coordination]"));
    CHECK(has(of("coverage", "static", {"geometry.kind=perturbed"}), "must be \"exact\" for static gates"));
    CHECK(has(of("search", "oracle", {"contexts.sampling=balanced"}), "contexts.sampling must be \"independent\""));
  }

  TEST_CASE("a diagram's axes: ends just inside are taken, beyond refused; numbers without effect refused") {
    CHECK(diagram("gamma", "[0.5, 1]") == "");
    CHECK(has(diagram("gamma", "[0.5, 1.001]"), "diagram.x_range of gamma must increase, to at most 1"));
    CHECK(diagram("kappa", "[0.5, 1e6]") == "");
    CHECK(has(diagram("kappa", "[0.5, 1000001]"), "diagram.x_range of kappa must increase, to at most 1e+06"));
    CHECK(diagram("N", "[16, 1e9]") == "");
    CHECK(has(diagram("N", "[16, 1000000001]"), "diagram.x_range of N must increase, to at most 1e+09"));
    CHECK(has(diagram("H", "[2, 2]"), "diagram.x_range of H must increase"));
    const auto asked = [](const std::string& what, const std::string& x) {
      return refusal("kind = \"diagram\"\n" + model, {"diagram.what=" + what, "diagram.x=" + x, "diagram.x_range=[0.5, 1]",
                                                      "diagram.y=beta", "diagram.y_range=[1, 4]"});
    };
    CHECK(has(asked("theorem1", "rho"), "diagram.x = \"rho\" has no effect on diagram.what = \"theorem1\""));
    CHECK(has(asked("n_star", "N"), "diagram.x = \"N\" has no effect on diagram.what = \"n_star\""));
    CHECK(has(asked("theorem2", "beta"), "diagram.y must differ from diagram.x"));
  }

  TEST_CASE("a stability scenario's pattern fits its model, and its range increases") {
    const auto of = [](const std::string& setting) {
      return refusal("kind = \"stability\"\n" + model, {"stability.pattern=[0, 1, 2]", setting});
    };
    CHECK(of("stability.betas=2") == "");
    for (const char* pattern : {"[0, 1, 3]", "[0, 1]", "[0, 1, 2, 2]", "[0, 1, 1.5]"})
      CHECK(has(of("stability.pattern=" + std::string(pattern)), "must be a list of 3 whole numbers from 0 to 2"));
    CHECK(has(of("stability.beta_range=[2, 2]"), "stability.beta_range must increase"));
  }

  TEST_CASE("what a kind tells before its run") {
    const auto told = [](const std::string& kind, std::vector<std::string> overrides) {
      const Scenario s = parse_scenario("kind = \"" + kind + "\"\n" + model, "x.toml", "/tmp", overrides, kind_list());
      return kind_of(s).warnings(s);
    };
    CHECK(told("flow", {}).empty());
    REQUIRE(told("flow", {"model.heads=4"}).size() == 1);
    CHECK(told("flow", {"model.heads=4"})[0].starts_with("the theorems do not speak of this model: they assume "));
    CHECK(told("toy", {"model.blocks=2"}).empty());
    CHECK(told("search", {}).empty());
    CHECK(told("search", {"contexts.count=7"}) ==
          std::vector<std::string>{"one context is searched instead of 7: at exact geometry all are equivalent"});
    CHECK(told("search", {"contexts.count=7", "geometry.kind=perturbed"}).empty());
  }

  TEST_CASE("costs: in losses of a context where a loss sums over contexts, else of a model; each grows with its sizes") {
    const auto cost = [](const std::string& kind, std::vector<std::string> overrides) {
      return estimate(parse_scenario("kind = \"" + kind + "\"\n" + model, "x.toml", "/tmp", overrides, kind_list()), false);
    };
    CHECK(std::string(cost("flow", {}).unit) == "context");
    CHECK(std::string(cost("flow", {"gates.class=static"}).unit) == "model");
    CHECK(std::string(cost("coverage", {"gates.class=linear"}).unit) == "model");
    CHECK(cost("search", {"search.starts=128"}).evaluations > 1.8 * cost("search", {}).evaluations);
    CHECK(cost("coverage", {"sweep.seeds=20000"}).evaluations == 2.0 * cost("coverage", {"sweep.seeds=10000"}).evaluations);
    CHECK(cost("coverage", {"sweep.over.model.beta=[1.0, 2.0, 3.0]"}).evaluations ==
          doctest::Approx(3.0 * cost("coverage", {}).evaluations));
    const std::string pattern = "stability.pattern=[0, 1, 2]";
    CHECK(cost("stability", {pattern, "stability.betas=78"}).evaluations == 2.0 * cost("stability", {pattern}).evaluations);
    const std::vector<std::string> axes = {"diagram.x_range=[16, 1e4]", "diagram.y_range=[1, 4]", "diagram.cells=10"};
    std::vector<std::string> finer = axes;
    finer.back() = "diagram.cells=20";
    CHECK(cost("diagram", finer).evaluations == 4.0 * cost("diagram", axes).evaluations);
  }
}

}  // namespace phaselock::test
