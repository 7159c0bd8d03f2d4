#include "kinds/cost.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "schema/inputs.hpp"

namespace phaselock {

namespace {

constexpr double number = number_bytes;

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

}  // namespace

double usable_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

double flow_evaluations(const FlowKeys& flow) { return stages * flow_steps(flow); }

Cost flow_cost(const Scenario& scenario, bool tables) {
  const Sizes n(scenario.model);
  const bool static_ = is_static(scenario);
  const double state = static_ ? 2 * n.H * n.S : n.tables, contexts = static_ ? 1 : context_count(scenario);
  double bytes = (copies + checkpoint) * state * number;
  if (!static_)
    bytes += chunks * state * number + contexts * n.slots * sizeof(Token) + usable_threads() * context_bytes(scenario, n);
  if (tables) bytes += (1 + checkpoint) * double(scenario.flow.max_steps) * (2 * n.H * n.S + 4 * n.H + 12) * number;
  return {bytes + geometry_bytes(scenario, n), flow_evaluations(scenario.flow) * contexts, static_ ? "model" : "context"};
}

Cost search_cost(const Scenario& scenario, int starts) {
  const Sizes n(scenario.model);
  constexpr double vectors = 60;                  // of a quasi-Newton search: 20 pairs and working space
  constexpr double steps = 300, patterns = 2000;  // evaluations of one start, and of the patterns of one context
  const double contexts = context_count(scenario);
  return {contexts * (n.slots * sizeof(Token) + 3 * n.gates * number) +
              usable_threads() * (vectors * n.gates * number + context_bytes(scenario, n)) + starts * 2 * n.gates * number +
              geometry_bytes(scenario, n),
          contexts * (steps * starts + patterns)};
}

/// Memory does not grow with the seeds, but with those of a chunk.
Cost seeds_cost(const Scenario& scenario, double seeds) {
  const Sizes n(scenario.model);
  const double at_once = std::min(seeds, scenario.sweep.chunk > 0 ? scenario.sweep.chunk : 8192.0);
  const bool static_ = is_static(scenario);
  const double flow = static_ ? copies * 2 * n.H * n.S * number : flow_cost(scenario, false).bytes;
  return {usable_threads() * (at_once * (256 + 4 * n.H + 20 * n.H * n.S) + flow),
          seeds * stages * flow_steps(scenario.flow) * (static_ ? 1 : context_count(scenario))};
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
