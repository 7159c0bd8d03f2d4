// Certificates as the program writes them, re-checked by phaselock-check: balls of Arb and intervals of MPFI must agree.
#include "certificates/certificate.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "claims/checks.hpp"
#include "model/gates.hpp"
#include "model/random.hpp"
#include "paths.hpp"
#include "program/program.hpp"
#include "proofs/bounds.hpp"
#include "proofs/branch_and_bound.hpp"
#include "sampled_flow.hpp"
#include "support.hpp"

using namespace phaselock;
using test::table_flow;

namespace {

int check(const nlohmann::json& certificate) {
  const test::TempFolder folder;
  const auto file = folder.write("certificate.json", certificate.dump());
  return test::run({test::paths::checker, file.string()}).code;
}

/// The same certificate with one change and a hash that fits it.
nlohmann::json changed(const SingleBlock& model, const nlohmann::json& certificate, const nlohmann::json& patch) {
  nlohmann::json data = certificate["data"];
  data.update(patch);
  return make_certificate(certificate["claim"].get<std::string>(), model, certificate["precision_bits"], data);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("a static flow's certificate is accepted, and refused once it claims more") {
    const SingleBlock model{4, 4, 3, 1000, 1.0, 1.0};
    FlowOptions options;
    options.stop = StopRule::certified;
    options.trap = Trap(model);
    const FlowResult flow = static_flow(model, 1.0, initial_bias(model, 1.0, 1e-2, 1), options);
    const auto certificate = trapping_certificate(model, 1.0, true, flow);
    REQUIRE(certificate);
    CHECK(check(*certificate) == 0);
    const double eta = (*certificate)["data"]["eta"];
    CHECK(check(changed(model, *certificate, {{"eta", 1.01 * eta}})) == 1);
    CHECK(check(changed(model, *certificate, {{"eta", 0.5 * eta}})) == 1);  // the state is not inside the smaller box
    CHECK(check(changed(model, *certificate, {{"margin", 1.0}})) == 1);
    std::vector<int> other = flow.gates.selection;
    other[0] = (other[0] + 1) % 3;
    CHECK(check(changed(model, *certificate, {{"selection", other}})) == 1);
    nlohmann::json stale = *certificate;
    stale["data"]["eta"] = 0.999 * eta;
    CHECK(check(stale) == 1);  // hash
  }

  TEST_CASE("a linear flow's certificate is accepted") {
    const SingleBlock model{4, 3, 2, 24, 1.0, 1.0};
    const Geometry geometry = Geometry::exact(0.5, model.vocabulary);
    FlowOptions options;
    options.stop = StopRule::certified;
    options.trap = Trap(model);
    const FlowResult flow = table_flow(model, geometry, sample_balanced(model, 1, 1), GateClass::linear,
                                       geometry.initial_tables(model, 1e-2, 3), options);
    const auto certificate = trapping_certificate(model, 0.5, false, flow);
    REQUIRE(certificate);
    CHECK(check(*certificate) == 0);
  }

  TEST_CASE("what branch and bound proves of random models is accepted, and refused for lower N* or with a box left out") {
    Stream stream(81, Purpose::choice);
    int proved = 0, boxes = 0;
    for (int k = 0; k < 40; ++k) {
      SingleBlock model = test::random_theorem_model(stream);
      model.beta = 0.5 + 10.0 * stream.uniform();
      model.vocabulary = model.slots() + int(std::exp(8.0 * stream.uniform()));
      const BranchAndBound found = branch_and_bound(model, {.boxes = 300});
      const auto certificate = branch_and_bound_certificate(model, found);
      CHECK(certificate.has_value() == found.selects);
      if (!certificate) continue;
      CAPTURE(certificate->dump());
      CHECK(check(*certificate) == 0);
      nlohmann::json tree = (*certificate)["data"]["tree"];
      boxes += int(tree.size());
      tree.erase(tree.size() - 1);
      CHECK(check(changed(model, *certificate, {{"tree", tree}})) == 1);
      ++proved;
      const double n_star = necessary_n_star(model);
      if (n_star < model.slots() + 2) continue;
      model.vocabulary = int(n_star) - 1;
      CHECK(check(changed(model, *certificate, nlohmann::json::object())) == 1);
    }
    CHECK(proved > 20);
    CHECK(boxes > 500);
  }

  TEST_CASE("no certificate without a proof, and none of an unknown claim") {
    const SingleBlock model{4, 3, 1, 24, 1.0, 1.0};
    FlowOptions options;
    options.integration.until = 1.0;
    CHECK_FALSE(trapping_certificate(model, 1.0, true, static_flow(model, 1.0, initial_bias(model, 1.0, 1e-2, 1), options)));
    CHECK_FALSE(branch_and_bound_certificate({4, 3, 1, 192, 1.0, 10.0}, branch_and_bound({4, 3, 1, 192, 1.0, 10.0}, {.boxes = 4})));
    CHECK_THROWS(make_certificate("theorem3", model, 128, {}));
  }
}

TEST_SUITE("slow") {
  TEST_CASE("every PROVED of verify theorem2 and theorem1 passes phaselock-check; the rest is interior or has its reason") {
    const auto quiet = [](std::string_view, int, int) {};
    const auto linear = check_theorem2({{{4, 4, 3, 32, 1.0, 1.0}, 1e-2, 12}}, 1.0, quiet).front();
    CHECK(linear.certificates.size() == 12);
    const auto mixed = check_theorem2({{{4, 4, 3, 1000, 1.0, 8.0}, 1e-2, 30, GateClass::static_}}, 1.0, quiet).front();
    CHECK(mixed.evidence["proved"].get<int>() + mixed.evidence["interior"].get<int>() == 30);
    CHECK(mixed.evidence["interior"].get<int>() >= 5);
    CHECK(mixed.evidence["undecided"] == 0);
    for (const auto* result : {&linear, &mixed})
      for (const auto& certificate : result->certificates) CHECK(check(certificate) == 0);
    for (const SingleBlock model :
         {SingleBlock{4, 3, 1, 607, 1.0, 10.0}, SingleBlock{4, 3, 1, 513, 1.0, 10.0}, SingleBlock{4, 3, 1, 200, 1.0, 10.0},
          SingleBlock{4, 4, 3, 7000, 1.0, 8.0}, SingleBlock{4, 3, 1, 190, 1.0, 10.0}, SingleBlock{4, 3, 1, 50, 1.0, 10.0}}) {
      const ClaimResult result = check_theorem1(model);
      REQUIRE(result.certificates.size() == 1);
      CHECK(check(result.certificates.front()) == 0);
    }
  }
}
