#include "kinds/cost.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "schema/inputs.hpp"
#include "schema/sweep_axes.hpp"

namespace phaselock {

namespace {

constexpr double number = sizeof(double);

/// Sizes of one model as doubles.
struct Sizes {
  double L, S, H, N, gates, tables, slots, queries;  ///< gates = 2 H L S, tables = 2 H S N numbers
  explicit Sizes(const Model& m)
      : L(m.blocks),
        S(m.positions),
        H(m.heads),
        N(m.vocabulary),
        gates(2 * H * L * S),
        tables(2 * H * S * N),
        slots(L * S),
        queries(L * (S - 1)) {}
};

double threads() { return std::max(1U, std::thread::hardware_concurrency()); }

/// K and what it is made from: the change E or the embeddings, and the eigenvectors of a square root.
double geometry_bytes(const Scenario& scenario, const Sizes& n) {
  if (scenario.is_exact()) return 0;
  double bytes = 4 * n.N * n.N * number;
  if (const auto header = embeddings_header(scenario)) bytes += 3 * n.N * double(header->columns) * number;
  return bytes;
}

/// Working space of one context's loss and gradient: at a dense geometry the answer probabilities of all queries.
double context_bytes(const Scenario& scenario, const Sizes& n) {
  return (8 * n.gates + (scenario.is_exact() ? 4 * n.slots : 4 * n.N * n.queries)) * number;
}

/// Steps of a flow: about 12 per unit of log time.
double flow_steps(const FlowKeys& flow) { return std::min(double(flow.max_steps), 20.0 + 12.0 * std::log1p(flow.until)); }

constexpr double stages = 13;     ///< field evaluations of a Runge-Kutta-Fehlberg 7(8) step
constexpr double copies = 18;     ///< of the state: stages, old and new state, error, gradient, velocity
constexpr double checkpoint = 2;  ///< copies of what it holds: the checkpoint and its file's bytes
constexpr double chunks = 16;     ///< gradient tables that threads fill

Cost flow_cost(const Scenario& scenario, const Sizes& n, bool tables) {
  const bool fixed = is_static(scenario);
  const double state = fixed ? 2 * n.H * n.S : n.tables, contexts = fixed ? 1 : context_count(scenario);
  double bytes = (copies + checkpoint) * state * number;
  if (!fixed) bytes += chunks * state * number + contexts * n.slots * sizeof(Token) + threads() * context_bytes(scenario, n);
  if (tables) bytes += (1 + checkpoint) * double(scenario.flow.max_steps) * (2 * n.H * n.S + 4 * n.H + 12) * number;
  return {bytes + geometry_bytes(scenario, n), stages * flow_steps(scenario.flow) * contexts};
}

Cost search_cost(const Scenario& scenario, const Sizes& n) {
  constexpr double vectors = 60;                  // of a quasi-Newton search: 20 pairs and working space
  constexpr double steps = 300, patterns = 2000;  // evaluations of one start, and of the patterns of one context
  const double contexts = context_count(scenario);
  return {contexts * (n.slots * sizeof(Token) + 3 * n.gates * number) +
              threads() * (vectors * n.gates * number + context_bytes(scenario, n)) +
              scenario.search.starts * 2 * n.gates * number + geometry_bytes(scenario, n),
          contexts * (steps * scenario.search.starts + patterns)};
}

/// Memory does not grow with the seeds, but with those of a chunk.
Cost coverage_cost(const Scenario& scenario, const Sizes& n) {
  const double seeds = double(scenario.sweep.seeds),
               at_once = std::min(seeds, scenario.sweep.chunk > 0 ? scenario.sweep.chunk : 8192.0);
  const bool fixed = is_static(scenario);
  const double flow = fixed ? copies * 2 * n.H * n.S * number : flow_cost(scenario, n, false).bytes;
  return {threads() * (at_once * (256 + 4 * n.H + 20 * n.H * n.S) + flow),
          seeds * stages * flow_steps(scenario.flow) * (fixed ? 1 : context_count(scenario))};
}

/// All cells of a sweep: the largest memory of one, the rows of all seeds if they are kept in memory, and the sum of the work.
Cost sweep_cost(const Scenario& scenario, bool in_memory) {
  Cost cost{0, 0};
  double rows = 0;
  for (const Scenario& cell : sweep_cells(scenario)) {
    const Cost of_cell = coverage_cost(cell, Sizes(cell.model));
    cost = {std::max(cost.bytes, of_cell.bytes), cost.evaluations + of_cell.evaluations};
    if (in_memory && cell.sweep.keep == Keep::seeds) rows += double(cell.sweep.seeds) * (60 + 3 * cell.model.heads);
  }
  return {cost.bytes + rows, cost.evaluations};
}

/// Largest value of a number over a diagram, given the one that it has off the axes.
double largest(const DiagramKeys& diagram, DiagramNumber wanted, double otherwise) {
  return diagram.x == wanted ? diagram.x_range[1] : diagram.y == wanted ? diagram.y_range[1] : otherwise;
}

/// All cells at the largest sizes, and as many again for refined ones.
Cost diagram_cost(Scenario scenario) {
  const DiagramKeys& d = scenario.diagram;
  Model& m = scenario.model;
  const double H = largest(d, DiagramNumber::heads, m.heads), S = largest(d, DiagramNumber::positions, m.positions);
  m.heads = int(H), m.positions = int(S), m.vocabulary = int(largest(d, DiagramNumber::vocabulary, m.vocabulary));
  const double cells = double(d.cells) * d.cells, finest = cells * std::pow(4.0, d.refine);
  scenario.contexts.count = 1, scenario.contexts.sampling = Sampling::independent;  // a search takes one context
  scenario.search.starts = d.starts, scenario.sweep.seeds = d.seeds;
  const Sizes n(m);
  const Cost cell = d.what == DiagramQuestion::theorem1   ? search_cost(scenario, n)
                    : d.what == DiagramQuestion::theorem2 ? coverage_cost(scenario, n)
                                                          : Cost{0, 1};
  return {threads() * cell.bytes + finest * 300, 2 * cells * cell.evaluations};
}

/// A threshold takes some hundred margins in balls, each about as much as a loss.
Cost stability_cost(const Scenario& scenario, const Sizes& n) {
  const double margins = 1000.0 * scenario.stability.betas * n.H;
  return {threads() * 100 * (n.S + n.H) * number + scenario.stability.betas * n.H * 64, margins};
}

}  // namespace

Cost estimate(const Scenario& scenario, bool tables) {
  const Sizes n(scenario.model);
  switch (scenario.kind) {
    case Kind::flow:
      return flow_cost(scenario, n, tables);
    case Kind::search:
      return search_cost(scenario, n);
    case Kind::coverage:
      return sweep_cost(scenario, !tables);
    case Kind::toy:
      return {double(tables ? scenario.flow.max_steps : 0) * 4 * 3 * number, stages * flow_steps(scenario.flow)};
    case Kind::stability:
      return stability_cost(scenario, n);
    case Kind::diagram:
      return diagram_cost(scenario);
  }
  return {};
}

double memory_limit() { return 0.75 * double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE)); }

void refuse_if_too_large(const Scenario& scenario, const Cost& cost) {
  const Model& m = scenario.model;
  // Weights of one context are counted in int.
  const bool countable = 2.0 * m.heads * double(m.blocks) * m.positions <= std::numeric_limits<int>::max();
  if (cost.bytes <= memory_limit() && countable) return;
  throw Failure(Exit::bad_scenario,
                fmt::format("{}: the run would need about {} of memory; at most {} are allowed (three quarters of this machine's). "
                            "Sizes that count: model, contexts.count, sweep.seeds, search.starts, flow.max_steps",
                            scenario.source, bytes_text(cost.bytes), bytes_text(memory_limit())));
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit ? 1 : 0, units[unit]);
}

}  // namespace phaselock
