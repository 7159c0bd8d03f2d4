// kind = "toy": two phases, two heads, keys only (theory.md section 6).
#include <fmt/format.h>

#include <algorithm>

#include "flow/toy.hpp"
#include "kinds/kind.hpp"
#include "model/interrupt.hpp"
#include "schema/key_table.hpp"

namespace phaselock {

namespace {

struct ToyKeys {
  double A = 10.0;
  std::vector<double> theta = {1e-3, -2e-3};
};

constexpr Key keys[] = {
    own_key<&ToyKeys::A>("toy.A", "weight of the wrong answers").in(positive(1e12L)),
    own_key<&ToyKeys::theta>("toy.theta", "start, p = sigmoid(theta)").in({-700, 700}).of_length(2),
};

struct ToyRun {
  Integration end;
  ToyPoint theta;
  std::vector<std::pair<double, ToyPoint>> path;  ///< t and p after every step
};

ToyRun integrate_toy(const Toy& toy, const Scenario& scenario, ToyPoint start, RunContext& context) {
  const VectorField field = [&](const State& theta, State& dtheta) {
    const ToyPoint velocity = toy_velocity(toy, toy_weights({theta[0], theta[1]}));
    dtheta = {velocity[0], velocity[1]};
  };
  IntegrateOptions options;
  options.until = scenario.flow.until;
  options.rtol = scenario.flow.rtol;
  options.atol = scenario.flow.atol;
  options.max_steps = scenario.flow.max_steps;
  ToyRun run{};
  State theta{start[0], start[1]};
  const StepVisitor visit = [&](double t, const State& y, std::int64_t steps) {
    context.state = {{"t", t}, {"theta", y}};
    check_interrupt();
    context.progress.update(std::log1p(t), std::log1p(options.until), double(steps));
    if (context.tables) run.path.emplace_back(t, toy_weights({y[0], y[1]}));
    return false;
  };
  run.end = integrate(field, theta, options, visit);
  run.theta = {theta[0], theta[1]};
  return run;
}

/// Rows of every run, and of the field dp/dt = p (1 - p) dtheta/dt on a grid.
std::vector<CsvTable> toy_tables(const Toy& toy, const std::vector<ToyRun>& runs) {
  using enum ColumnType;
  CsvTable paths({"toy.csv", "paths of the toy example",
                  joined({{{"run", integer,
                            "0 from the scenario's start, the others from its images under exchange of the heads, of the phases "
                            "and of both"},
                           {"t", number, "time"}},
                          alike({"p1", "p2"}, {"", share, "weight of head 1 and 2 on the first phase"})})});
  for (std::size_t k = 0; k < runs.size(); ++k)
    for (const auto& [t, p] : runs[k].path) paths.row(k, t, p[0], p[1]);
  CsvTable field({"toy_field.csv", "the toy example's vector field on a grid",
                  joined({alike({"p1", "p2"}, {"", share, "weights"}),
                          alike({"dp1", "dp2"}, {"", number, "their velocity under gradient flow of theta"})})});
  constexpr int cells = 20;
  for (int i = 0; i <= cells; ++i)
    for (int j = 0; j <= cells; ++j) {
      const ToyPoint p = {double(i) / cells, double(j) / cells}, v = toy_velocity(toy, p);
      field.row(p[0], p[1], p[0] * (1 - p[0]) * v[0], p[1] * (1 - p[1]) * v[1]);
    }
  return {std::move(paths), std::move(field)};
}

std::string_view endpoint(const ToyPoint& p) {
  constexpr double near = 0.1;
  const auto settled = [](double x) { return x < near || x > 1 - near; };
  if (!settled(p[0]) || !settled(p[1])) return "undecided";
  return (p[0] > 0.5) == (p[1] > 0.5) ? "equal" : "complementary";
}

Report run_toy(const Scenario& scenario, RunContext& context) {
  const ToyKeys& given = own_keys<ToyKeys>(scenario);
  const Toy toy{scenario.model, given.A};
  const ToyPoint start = {given.theta[0], given.theta[1]};
  std::vector<ToyPoint> starts = {start};
  if (context.tables) starts.insert(starts.end(), {{start[1], start[0]}, {-start[0], -start[1]}, {-start[1], -start[0]}});
  context.progress.begin("toy", "steps");
  std::vector<ToyRun> runs;
  for (const ToyPoint& theta : starts) runs.push_back(integrate_toy(toy, scenario, theta, context));
  const ToyRun& run = runs.front();
  const ToyPoint p0 = toy_weights(start), p = toy_weights(run.theta);
  const ToyRates rates = toy_rates(toy);
  const double complementary = toy_loss(toy, {1.0, 0.0}), equal = toy_loss(toy, {1.0, 1.0});
  Report report;
  report.results = {
      {"endpoint", endpoint(p)},
      {"p", p},
      {"loss", toy_loss(toy, p)},
      {"start", {{"theta", start}, {"p", p0}, {"loss", toy_loss(toy, p0)}}},
      {"endpoint_losses", {{"complementary", complementary}, {"equal", equal}, {"uniform", toy_loss(toy, {0.5, 0.5})}}},
      {"growth_rates", {{"difference", rates.difference}, {"sum", rates.sum}}},
      {"t", run.end.t},
      {"steps", run.end.steps},
      {"ending", name(run.end.ending)}};
  if (context.tables) report.tables = toy_tables(toy, runs);
  report.summary = {
      fmt::format("toy: {} endpoint at t = {:.6g} after {} steps ({})", endpoint(p), run.end.t, run.end.steps,
                  name(run.end.ending)),
      fmt::format("model: L = {}, gamma = {}, beta = {}, A = {}", toy.model.blocks, toy.model.gamma, toy.model.beta, toy.A),
      fmt::format("weights on the first phase: {:.6f}  {:.6f}, from {:.6f}  {:.6f}", p[0], p[1], p0[0], p0[1]),
      fmt::format("loss: {:.10g}; complementary endpoint {:.10g}, equal endpoint {:.10g}", toy_loss(toy, p), complementary, equal),
      fmt::format("growth rates at p = 1/2: difference of the heads {:.6g}, their sum {:.6g}", rates.difference, rates.sum)};
  return report;
}

/// The toy has two phases and two heads of its own; the other sizes only make its Model a valid one.
void set_sizes(Model& model) {
  model.positions = model.heads = 2;
  model.vocabulary = int(std::min(2LL * model.blocks, 2000000000LL));
}

bool has_own_size(const Scenario&, const Key& key) {
  return key.path == "model.positions" || key.path == "model.heads" || key.path == "model.vocabulary";
}

void check(Scenario& scenario) {
  set_sizes(scenario.model);
  check_model(scenario);
}

/// Of a path p1, p2 with its time, from four starts.
Cost toy_cost(const Scenario& scenario, bool tables) {
  return {double(tables ? scenario.flow.max_steps : 0) * 4 * 3 * number_bytes, flow_evaluations(scenario.flow)};
}

constexpr std::string_view takes[] = {"model", "flow.until", "flow.rtol", "flow.atol", "flow.max_steps"};

}  // namespace

extern const Kind toy_kind;
constinit const Kind toy_kind = {.description = {.name = "toy",
                                                 .takes = takes,
                                                 .own_keys = keys,
                                                 .set_defaults = [](Scenario& scenario) { set_sizes(scenario.model); },
                                                 .is_idle = has_own_size,
                                                 .check = check},
                                 .estimate = toy_cost,
                                 .run = run_toy,
                                 .warnings = [](const Scenario&) { return std::vector<std::string>(); },
                                 .unused_numbers = [](const Scenario&) { return std::vector<std::string_view>{"vocabulary"}; }};

}  // namespace phaselock
