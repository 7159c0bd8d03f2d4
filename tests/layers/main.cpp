// What model, loss, flow and statistics compute, as text to compare between builds (tests/layers/compare): one quantity a line, its
// numbers in hexadecimal so that no digit is lost. This program is linked against these four layers alone.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "flow/flow.hpp"
#include "flow/seeds.hpp"
#include "loss/context_loss.hpp"
#include "loss/loss.hpp"
#include "loss/static_loss.hpp"
#include "model/contexts.hpp"
#include "model/errors.hpp"
#include "model/gates.hpp"
#include "model/random.hpp"
#include "statistics/seed_counts.hpp"

using namespace phaselock;

namespace {

void print(const char* quantity, const std::vector<double>& numbers) {
  std::printf("%s", quantity);
  for (const double x : numbers) std::printf(" %a", x);
  std::printf("\n");
}

std::vector<double> normals(std::size_t count, std::uint64_t seed) {
  Stream stream(seed, Purpose::initial);
  std::vector<double> x(count);
  for (double& value : x) value = stream.normal();
  return x;
}

/// Loss and gradient of random gate tables, at exact and at perturbed geometry.
void print_table_loss(const Model& model) {
  const Contexts contexts = sample_independent(model, 3, 5);
  const std::vector<double> tables = normals(model.table_size(), 1);
  for (const Geometry& geometry : {Geometry::exact(1.0, model.vocabulary), Geometry::perturbed(1.0, 0.01, 2, model.vocabulary)}) {
    std::vector<double> gradient(tables.size());
    print("loss", {DefinitionLoss(model, geometry, contexts)(tables, gradient)});
    print("gradient", gradient);
  }
}

/// The same of one context's weights, and of static gates.
void print_context_and_static_loss(const SingleBlock& model) {
  const Contexts contexts = sample_independent(model, 1, 6);
  ContextGates gates(model), gradient(model);
  gates_from_tables(model, normals(model.table_size(), 3), contexts[0], gates);
  print("loss", {context_loss(model, gates, &gradient)});
  print("gradient", gradient.key);
  print("gradient", gradient.value);
  const std::vector<double> bias = normals(2 * model.branch_rows(), 4);
  std::vector<double> slope(bias.size());
  print("loss", {static_bias_loss(model, bias.data(), slope.data())});
  print("gradient", slope);
}

/// Gate weights of a static flow near the saddle, on its way, and where it has selected or is at rest at an interior equilibrium.
void print_static_flow(const SingleBlock& model, std::uint64_t seed) {
  FlowOptions options;
  options.stop = StopRule::time;
  options.integration.save_at = {1e2, 1e3, 1e4, 1e5};
  options.integration.until = 1e5;
  const FlowResult flow = static_flow(model, 1.0, initial_bias(model, 1.0, 1e-2, seed), options);
  for (const SavedState& state : flow.saved) print("weights", state.weights);
}

/// The counts of a coverage cell of 50 seeds, each followed by itself.
void print_counts(const SingleBlock& model) {
  SeedOptions options;
  options.flow.integration.rtol = 1e-8;
  options.flow.integration.atol = 1e-10;
  std::vector<SeedRecord> seeds;
  for (SeedEnd& end : static_seeds(model, 1.0, options, 1, 50)) seeds.push_back({std::move(end), false, {}});
  const SeedCounts counts = count_seeds(model, seeds);
  const auto print_count = [](const std::string& quantity, std::int64_t count) {
    std::printf("count %s %lld\n", quantity.c_str(), static_cast<long long>(count));
  };
  for (int k = 0; k < flow_outcomes; ++k) print_count(std::string(name(FlowOutcome(k))), counts.outcomes[std::size_t(k)]);
  for (const auto& [shape, count] : counts.shapes) print_count(shape_name(shape), count);
  for (const std::int64_t heads : counts.heads.at) print_count("heads", heads);
}

/// Refusals are exceptions, which em++ compiles in on request only.
void print_refusal() {
  try {
    validate(Model{.blocks = 4, .positions = 4, .heads = 1, .vocabulary = 15});
    std::printf("refusal none\n");
  } catch (const DomainError& error) {
    std::printf("refusal %s\n", error.what());
  }
}

}  // namespace

int main() {
  for (const SingleBlock& model : {SingleBlock{4, 3, 1, 12, 1.0, 1.0}, {4, 4, 3, 40, 0.7, 2.5}, {2, 5, 2, 17, 1.0, 40.0}}) {
    print_table_loss(model);
    print_context_and_static_loss(model);
  }
  const SingleBlock usual{4, 4, 3, 1000, 1.0, 1.0},
      meeting{4, 4, 3, 1000, 1.0, 8.0};  // of `meeting`, three seeds in ten end interior
  print_static_flow(usual, 1);
  print_static_flow(meeting, 1);
  print_counts(meeting);
  print_refusal();
}
