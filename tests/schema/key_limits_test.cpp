// Every key's limits, written out once more: what is just inside is taken, what is just outside is refused in the documented words.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "kinds/kind.hpp"
#include "schema/kind_description.hpp"
#include "schema/schema.hpp"
#include "schema/toml.hpp"

namespace phaselock::test {
namespace {

struct KeyCase {
  std::string_view path;
  std::vector<std::string> taken, refused;
  std::string_view words;
};

const std::string file_words = "the name of a file, in quotes", seed_words = "a whole number from 0 to 9223372036854775807";
const std::vector<std::string> switches = {"true", "false"}, no_switches = {"1", "\"true\""};
const std::vector<std::string> seeds = {"0", "9223372036854775807"}, no_seeds = {"-1", "1.0"};
const std::vector<std::string> sizes = {"1", "1000000000"}, no_sizes = {"0", "1000000001", "1.0"};
const std::vector<std::string> millions = {"1", "1000000"}, no_millions = {"0", "1000001"};
const std::vector<std::string> weights = {"0", "1e6"}, no_weights = {"-1e-300", "1000000.1", "nan"};
const std::vector<std::string> numbers = {"\"N\"", "\"beta\"", "\"rho\"", "\"H\"", "\"S\"", "\"gamma\"", "\"kappa\""};
const std::vector<std::string> ranges = {"[1e-300, 1e300]"}, no_ranges = {"[0, 1]", "[1, -1]", "[1]", "[1, 2, 3]", "[1, inf]"};

const KeyCase cases[] = {
    {"model.blocks", {"2", "1000000000"}, {"1", "1000000001", "2.0"}, "a whole number from 2 to 1000000000"},
    {"model.positions", {"2", "1000000000"}, {"1", "1000000001"}, "a whole number from 2 to 1000000000"},
    {"model.heads", sizes, no_sizes, "a whole number from 1 to 1000000000"},
    {"model.vocabulary", {"4", "1000000000"}, {"3", "1000000001"}, "a whole number from 4 to 1000000000"},
    {"model.gamma", {"1e-300", "1"}, {"0", "1.000000001", "-0.5"}, "in (0, 1]"},
    {"model.beta", {"1e-300", "1e300"}, {"0", "-1e-300", "inf"}, "> 0"},
    {"geometry.kind", {"\"exact\"", "\"perturbed\"", "\"embeddings\""}, {"\"exac\"", "1"}, "one of exact, perturbed, embeddings"},
    {"geometry.kappa", weights, no_weights, "in [0, 1e+06]"},
    {"geometry.epsilon", weights, no_weights, "in [0, 1e+06]"},
    {"geometry.seed", seeds, no_seeds, seed_words},
    {"geometry.file", {"\"a.npy\""}, {"\"\"", "3"}, file_words},
    {"geometry.normalize", switches, no_switches, "true or false"},
    {"gates.class",
     {"\"linear\"", "\"static\"", "\"tied\"", "\"uniform\"", "\"oracle\""},
     {"\"none\"", "0"},
     "one of linear, static, tied, uniform, oracle"},
    {"initial.radius", {"1e-14", "1e6"}, {"9.999999e-15", "1000000.1"}, "in [1e-14, 1e+06]"},
    {"initial.seed", seeds, no_seeds, seed_words},
    {"initial.file", {"\"a.json\""}, {"\"\"", "3"}, file_words},
    {"contexts.sampling", {"\"balanced\"", "\"independent\""}, {"\"\""}, "one of balanced, independent"},
    {"contexts.count", sizes, no_sizes, "a whole number from 1 to 1000000000"},
    {"contexts.seed", seeds, no_seeds, seed_words},
    {"flow.until", {"1e-300", "1e15"}, {"0", "1.000000001e15"}, "in (0, 1e+15]"},
    {"flow.stop", {"\"time\"", "\"residual\"", "\"certified\""}, {"\"never\""}, "one of time, residual, certified"},
    {"flow.residual", {"1e-300", "0.5"}, {"0", "0.500000001"}, "in (0, 0.5]"},
    {"flow.save_at", {"[]", "[1e-300, 1e15]"}, {"[0]", "[1, 1.000000001e15]", "1"}, "a list of numbers in (0, 1e+15]"},
    {"flow.rtol", {"1e-14", "0.1"}, {"9.999999e-15", "0.100000001"}, "in [1e-14, 0.1]"},
    {"flow.atol", {"1e-300", "0.1"}, {"0", "0.100000001"}, "in (0, 0.1]"},
    {"flow.max_steps", sizes, no_sizes, "a whole number from 1 to 1000000000"},
    {"sweep.seeds", sizes, no_sizes, "a whole number from 1 to 1000000000"},
    {"sweep.first_seed",
     {"0", "9223372035854775807"},
     {"-1", "9223372035854775808"},
     "a whole number from 0 to 9223372035854775807"},
    {"sweep.chunk", {"0", "1000000"}, {"-1", "1000001"}, "a whole number from 0 to 1000000"},
    {"sweep.keep", {"\"counts\"", "\"seeds\""}, {"\"all\""}, "one of counts, seeds"},
    {"sweep.compare_static", switches, no_switches, "true or false"},
    {"sweep.combine", {"\"product\"", "\"zip\""}, {"\"sum\""}, "one of product, zip"},
    {"coordination.repulsion", weights, no_weights, "in [0, 1e+06]"},
    {"coordination.orthogonal", switches, no_switches, "true or false"},
    {"coordination.anneal_until", {"0", "1e15"}, {"-1e-300", "1.000000001e15"}, "in [0, 1e+15]"},
    {"coordination.anneal_beta", weights, no_weights, "in [0, 1e+06]"},
    {"coordination.anneal_vocabulary", {"0", "1000000000"}, {"-1", "1000000001"}, "a whole number from 0 to 1000000000"},
    {"search.starts", millions, no_millions, "a whole number from 1 to 1000000"},
    {"search.seed", seeds, no_seeds, seed_words},
    {"toy.A", {"1e-300", "1e12"}, {"0", "1.000000001e12"}, "in (0, 1e+12]"},
    {"toy.theta", {"[-700, 700]"}, {"[-700.0001, 0]", "[0, 700.0001]", "[0]", "[0, 0, 0]"}, "a list of 2 numbers in [-700, 700]"},
    {"stability.pattern", {"[0]", "[1, 1e9, 0]"}, {"[-1]", "[0, 1000000001]", "0"}, "a list of numbers in [0, 1e+09]"},
    {"stability.beta_range", ranges, no_ranges, "a list of 2 numbers > 0"},
    {"stability.betas", {"2", "10000"}, {"1", "10001"}, "a whole number from 2 to 10000"},
    {"diagram.what", {"\"theorem1\"", "\"theorem2\"", "\"n_star\""}, {"\"theorem3\""}, "one of theorem1, theorem2, n_star"},
    {"diagram.x", numbers, {"\"L\"", "1"}, "one of N, beta, rho, H, S, gamma, kappa"},
    {"diagram.x_range", ranges, no_ranges, "a list of 2 numbers > 0"},
    {"diagram.y", numbers, {"\"L\""}, "one of N, beta, rho, H, S, gamma, kappa"},
    {"diagram.y_range", ranges, no_ranges, "a list of 2 numbers > 0"},
    {"diagram.cells", {"2", "100"}, {"1", "101"}, "a whole number from 2 to 100"},
    {"diagram.refine", {"0", "4"}, {"-1", "5"}, "a whole number from 0 to 4"},
    {"diagram.starts", millions, no_millions, "a whole number from 1 to 1000000"},
    {"diagram.seeds", millions, no_millions, "a whole number from 1 to 1000000"},
};

const KindDescription& kind_with(std::string_view path) {
  for (const KindDescription* kind : kind_list())
    if (find_key(*kind, path)) return *kind;
  throw std::runtime_error("no kind takes " + std::string(path));
}

/// The refusal of one key's value, before anything else is looked at.
Failure refusal(std::string_view kind, const std::string& setting) {
  try {
    parse_scenario(fmt::format("kind = \"{}\"\n", kind), "x.toml", "/tmp", std::vector<std::string>{setting}, kind_list());
  } catch (const Failure& failure) {
    return failure;
  }
  return Failure(Exit::done, "taken");
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("values just inside a key's limits are taken and come back, those just outside are refused in its words") {
    for (const KeyCase& c : cases) {
      CAPTURE(c.path);
      const KindDescription& kind = kind_with(c.path);
      const Key& key = *find_key(kind, c.path);
      CHECK(allowed(key) == c.words);
      for (const std::string& value : c.taken) {
        CAPTURE(value);
        Scenario scenario, again;
        CHECK(store(key, parse_toml("v = " + value, "x").front().value, scenario) == std::nullopt);
        const std::string text = value_text(key, scenario).value_or("[]");
        CHECK(store(key, parse_toml("v = " + text, "x").front().value, again) == std::nullopt);
        CHECK(value_text(key, again).value_or("[]") == text);
      }
      for (const std::string& value : c.refused) {
        CAPTURE(value);
        const std::string setting = fmt::format("{}={}", c.path, value);
        const Failure failure = refusal(kind.name, setting);
        CHECK(failure.exit() == Exit::bad_scenario);
        const std::string what = failure.what();
        CHECK(what.starts_with(fmt::format("--set {}: {} = ", setting, c.path)));
        CHECK(what.ends_with(c.words));
      }
    }
  }

  TEST_CASE("the cases above are all keys of all kinds") {
    std::set<std::string_view> known, written;
    for (const KindDescription* kind : kind_list())
      for (const Key* key : keys_of(*kind)) known.insert(key->path);
    for (const KeyCase& c : cases) CHECK(written.insert(c.path).second);
    CHECK(known == written);
  }
}

}  // namespace phaselock::test
