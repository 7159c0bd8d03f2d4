// The list of claims: their words, their pages, and the suites that they make.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "claims/claims.hpp"
#include "model/errors.hpp"
#include "paths.hpp"

using namespace phaselock;

namespace {

/// A page of docs/; empty if there is none.
std::string page(const std::string& name) {
  std::ifstream file(std::filesystem::path(test::paths::scenario_folder).parent_path() / "docs" / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool matches(std::string_view text, const char* pattern) {
  return std::regex_search(text.begin(), text.end(), std::regex(pattern, std::regex::ECMAScript));
}

std::vector<std::string> suite_of(std::string_view name, const VerifyOptions& options = {}) {
  std::vector<std::string> names;
  for (const Check& check : suite(name, options)) names.push_back(check.what);
  return names;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("every claim's words are in their places, and it is found by its id alone") {
    std::set<std::string_view> ids, statements;
    for (const Claim* claim : all_claims()) {
      CAPTURE(claim->id);
      CHECK(matches(claim->id, "^[a-z][a-z0-9_]*$"));
      CHECK(ids.insert(claim->id).second);
      CHECK(statements.insert(claim->statement).second);
      CHECK(find_claim(claim->id) == claim);
      CHECK(matches(claim->title, "^[A-Z].*[^.]$"));
      CHECK(matches(claim->statement, "^[A-Z1].*\\.$"));
      CHECK(matches(claim->assumptions, "^[a-z].*[^.]$"));
      CHECK(matches(claim->acceptance, "^(PROVED|SUPPORTED)\\b.*\\.$"));
      CHECK(matches(claim->rejection, "^REFUTED\\b.*\\.$"));
      CHECK(matches(claim->source, "^paper, |theory\\.md sections? [0-9]"));
    }
    CHECK(find_claim("theorem3") == nullptr);
    CHECK(find_claim("") == nullptr);
  }

  TEST_CASE("every claim has its page, and the sections of the theory that it cites are there") {
    const std::string theory = page("theory.md");
    REQUIRE_FALSE(theory.empty());
    for (const Claim* claim : all_claims()) {
      CAPTURE(claim->id);
      const std::string own = page("claims/" + std::string(claim->id) + ".md");
      CHECK(own.rfind("# " + std::string(claim->id) + ": ", 0) == 0);
      CHECK(own.find("\n**Strongest verdict.** ") != std::string::npos);
      const std::string source(claim->source);
      const std::regex sections("sections? ([0-9]+)(?: and ([0-9]+))?");
      for (std::sregex_iterator at(source.begin(), source.end(), sections), end; at != end; ++at)
        for (int k = 1; k <= 2; ++k)
          if ((*at)[k].matched) CHECK(theory.find("\n## " + (*at)[k].str() + ". ") != std::string::npos);
    }
  }

  TEST_CASE("suites in their order: checks of a group's claims as listed, then its controls") {
    const std::vector<std::string> toy = {"toy rates", "toy endpoints"};
    const std::vector<std::string> theorem1 = {"theorem1 at N = 1000, beta = 10",
                                               "theorem1 at N = 7000, beta = 8",
                                               "theorem1 at N = 193, beta = 10",
                                               "theorem1 at N = 64, beta = 2",
                                               "theorem1 at N = 190, beta = 10",
                                               "theorem1 at N = 50, beta = 10",
                                               "theorem1 at N = 1000, beta = 1",
                                               "distinctness",
                                               "distinctness",
                                               "theorem1 in a perturbed vocabulary"};
    const std::vector<std::string> theorem2 = {"theorem2",
                                               "sample independence",
                                               "late-time law",
                                               "control: uniform gates",
                                               "control: tied gates",
                                               "control: interior equilibria",
                                               "control: as many heads as positions"};
    const std::vector<std::string> coverage = {"positions over seeds", "coverage against the occupancy law",
                                               "coverage at beta = 8, N = 100", "coverage at N = 20"};
    CHECK(suite_of("toy") == toy);
    CHECK(suite_of("theorem1") == theorem1);
    CHECK(suite_of("theorem2") == theorem2);
    CHECK(suite_of("coverage") == coverage);
    std::vector<std::string> all = toy;
    for (const auto& part : {theorem1, theorem2, coverage}) all.insert(all.end(), part.begin(), part.end());
    CHECK(suite_of("all") == all);
    VerifyOptions options;
    options.word_vectors = Eigen::MatrixXd::Ones(2, 2);
    CHECK(suite_of("theorem1", options).back() == "theorem1 on word vectors");
  }

  TEST_CASE("a model of the caller's is checked by each claim once, without controls") {
    VerifyOptions options;
    options.model = SingleBlock{4, 3, 2, 40, 1.0, 3.0};
    CHECK(suite_of("all", options) == std::vector<std::string>{"toy rates", "toy endpoints", "theorem1 at N = 40, beta = 3",
                                                               "distinctness", "theorem2", "sample independence", "late-time law",
                                                               "positions over seeds", "coverage against the occupancy law"});
    options.model->vocabulary = 11;  // below L S
    CHECK_THROWS_AS(suite("toy", options), DomainError);
  }

  TEST_CASE("results come in the suite's order, controls with what they expect; progress is told before each check") {
    std::vector<std::string> told;
    VerifyOptions options;
    options.progress = [&](std::string_view what, int done, int total) {
      told.push_back(std::to_string(done) + "/" + std::to_string(total) + " " + std::string(what));
    };
    const auto results = verify("toy", options);
    REQUIRE(results.size() == 2);
    CHECK(results[0].id == "toy_rates");
    CHECK(results[1].id == "toy_endpoints");
    CHECK(told == std::vector<std::string>{"0/2 toy rates", "1/2 toy endpoints", "2/2 done"});
    const Check control = check_control("any", "REFUTED", [] { return begin_result("theorem1", {}); });
    CHECK(control.run().front().expected == "REFUTED");
    CHECK_FALSE(check_one("any", [] { return begin_result("theorem1", {}); }).run().front().expected);
    CHECK_THROWS_AS(verify("theorem3", {}), DomainError);
  }
}
