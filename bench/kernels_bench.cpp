// Google Benchmark of the kernels that flows and searches spend their time in. Sizes are (L, S, H, N); gamma = beta = kappa = 1.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "kernels/table_loss.hpp"
#include "loss/context_loss.hpp"
#include "loss/dense_loss.hpp"
#include "loss/static_loss.hpp"
#include "model/random.hpp"
#include "search/search.hpp"

namespace {

using namespace phaselock;

std::vector<double> normals(std::size_t count) {
  std::vector<double> values(count);
  Stream stream(1, Purpose::choice, 0);
  for (double& x : values) x = stream.normal();
  return values;
}

SingleBlock model_of(const benchmark::State& state) {
  return {int(state.range(0)), int(state.range(1)), int(state.range(2)), int(state.range(3)), 1.0, 1.0};
}

Geometry hidden_exact(int N) { return Geometry::dense(Eigen::MatrixXd::Ones(N, N) + Eigen::MatrixXd::Identity(N, N)); }

/// Time of a call that works on `count` contexts, reported per context.
template <class Work>
void per_context(benchmark::State& state, std::size_t count, Work work) {
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  for (auto _ : state) benchmark::DoNotOptimize(work());
  state.counters["per_context"] =
      benchmark::Counter(double(state.iterations()) * double(count), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void tables(benchmark::State& state, bool with_gradient) {
  const SingleBlock model = model_of(state);
  const Contexts contexts = sample_independent(model, 512, 1);
  const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
  const std::vector<double> G = normals(model.table_size());
  std::vector<double> gradient(with_gradient ? G.size() : 0);
  per_context(state, contexts.size(), [&] { return table_loss(model, geometry, contexts, G, gradient); });
}

void loss_of_tables(benchmark::State& state) { tables(state, false); }
void loss_and_gradient_of_tables(benchmark::State& state) { tables(state, true); }

void one_context(benchmark::State& state, bool dense) {
  const SingleBlock model = model_of(state);
  const Contexts contexts = sample_independent(model, 1, 1);
  const Geometry geometry = hidden_exact(model.vocabulary);
  ContextGates gates(model), gradient(model);
  gates_from_tables(model, normals(model.table_size()), contexts[0], gates);
  per_context(state, 1, [&] {
    return dense ? dense_context_loss(model, geometry, contexts[0], gates, &gradient) : context_loss(model, gates, &gradient);
  });
}

void definition(benchmark::State& state) { one_context(state, false); }
void dense_geometry(benchmark::State& state) { one_context(state, true); }

void oracle_objective(benchmark::State& state) {
  const SingleBlock model = model_of(state);
  const Contexts contexts = sample_independent(model, 1, 1);
  const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
  const std::vector<double> u = normals(2 * std::size_t(model.gate_weights()));
  std::vector<double> gradient(u.size());
  per_context(state, 1, [&] { return squared_weights_loss(model, geometry, contexts[0], u, gradient); });
}

void static_gates(benchmark::State& state) {
  const SingleBlock model = model_of(state);
  const std::vector<double> bias = normals(2 * model.branch_rows());
  std::vector<double> gradient(bias.size());
  per_context(state, 1, [&] { return static_bias_loss(model, bias.data(), gradient.data()); });
}

void sizes(benchmark::internal::Benchmark* kernel) {
  kernel->Args({4, 4, 3, 64})->Args({4, 8, 4, 256})->Args({16, 8, 4, 256})->Unit(benchmark::kMicrosecond);
}

void long_sizes(benchmark::internal::Benchmark* kernel) {
  sizes(kernel);
  kernel->Args({64, 8, 4, 1024});
}

BENCHMARK(loss_of_tables)->Apply(long_sizes);
BENCHMARK(loss_and_gradient_of_tables)->Apply(long_sizes);
BENCHMARK(definition)->Apply(sizes);
BENCHMARK(dense_geometry)->Apply(sizes);
BENCHMARK(oracle_objective)->Apply(sizes);
BENCHMARK(static_gates)->Apply(sizes);

}  // namespace
