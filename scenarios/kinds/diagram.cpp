// kind = "diagram": outcomes over two numbers of the model, with theory's curves.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "kinds/diagram_cells.hpp"
#include "kinds/kind.hpp"
#include "schema/key_table.hpp"

namespace phaselock {

namespace {

/// What an axis may run over, in the order of diagram.x's words.
enum class DiagramNumber { N, beta, rho, H, S, gamma, kappa };
constexpr std::string_view number_words = "N|beta|rho|H|S|gamma|kappa";
struct NumberName {
  std::string_view word, key;
};
constexpr NumberName numbers[] = {{"N", "model.vocabulary"},  {"beta", "model.beta"},   {"rho", "initial.radius"},
                                  {"H", "model.heads"},       {"S", "model.positions"}, {"gamma", "model.gamma"},
                                  {"kappa", "geometry.kappa"}};

std::string_view name(DiagramNumber number) { return numbers[int(number)].word; }

struct DiagramKeys {
  DiagramQuestion what = DiagramQuestion::theorem1;
  DiagramNumber x = DiagramNumber::N, y = DiagramNumber::beta;
  std::vector<double> x_range, y_range;
  int cells = 24, refine = 2, starts = 4, seeds = 20;
};

bool asks(const Scenario& scenario, DiagramQuestion what) { return own_keys<DiagramKeys>(scenario).what == what; }
bool is_of_theorem1(const Scenario& scenario) { return asks(scenario, DiagramQuestion::theorem1); }
bool is_of_theorem2(const Scenario& scenario) { return asks(scenario, DiagramQuestion::theorem2); }

constexpr Key keys[] = {
    own_key<&DiagramKeys::what>("diagram.what", "question asked of each cell").one_of("theorem1|theorem2|n_star"),
    own_key<&DiagramKeys::x>("diagram.x", "number along x").one_of(number_words),
    own_key<&DiagramKeys::x_range>("diagram.x_range", "its ends").in(above_zero).of_length(2).needed(),
    own_key<&DiagramKeys::y>("diagram.y", "number along y").one_of(number_words),
    own_key<&DiagramKeys::y_range>("diagram.y_range", "its ends").in(above_zero).of_length(2).needed(),
    own_key<&DiagramKeys::cells>("diagram.cells", "a side at first").in(sizes(2, 100)),
    own_key<&DiagramKeys::refine>("diagram.refine", "halvings of cells along boundaries").in(sizes(0, 4)),
    own_key<&DiagramKeys::starts>("diagram.starts", "of the search in a cell, for theorem1")
        .in(sizes(1, 1e6L))
        .effect(is_of_theorem1),
    own_key<&DiagramKeys::seeds>("diagram.seeds", "flows of a cell, for theorem2").in(sizes(1, 1e6L)).effect(is_of_theorem2),
};

NumberAxis axis_of(DiagramNumber number, const std::vector<double>& range) {
  return {&shared_key(numbers[int(number)].key), range[0], range[1]};
}
NumberAxis x_axis(const DiagramKeys& given) { return axis_of(given.x, given.x_range); }
NumberAxis y_axis(const DiagramKeys& given) { return axis_of(given.y, given.y_range); }

DiagramOptions diagram_options(const Scenario& scenario) {
  const DiagramKeys& given = own_keys<DiagramKeys>(scenario);
  return {.scenario = scenario,
          .x = x_axis(given),
          .y = y_axis(given),
          .what = given.what,
          .cells = given.cells,
          .refine = given.refine,
          .starts = given.starts,
          .seeds = given.seeds};
}

Json axis_json(DiagramNumber number, const NumberAxis& axis) {
  return {{"number", name(number)}, {"low", axis.low}, {"high", axis.high}, {"logarithmic", axis.is_logarithmic()}};
}

CsvTable cells_table(const std::vector<DiagramCell>& cells) {
  using enum ColumnType;
  CsvTable table({"diagram.csv", "a row a cell of the diagram",
                  joined({alike({"x", "y"}, {"", number}),
                          {{"level", integer}},
                          alike({"x_low", "x_high", "y_low", "y_high"}, {"", number}),
                          {{"outcome", text}},
                          alike({"selected", "colliding", "interior"},
                                {"", share, "shares of the seeds (theorem2), colliding among the selected"}),
                          {{"log10_n_star", number, "of N*(distinct) (n_star)"}}}),
                  "x, y: where the cell was computed; x_low ... y_high: its edges; level: times it was halved"});
  for (const DiagramCell& c : cells)
    table.row(c.x, c.y, c.level, c.x_low, c.x_high, c.y_low, c.y_high, name(c.outcome), c.selected, c.colliding, c.interior,
              c.log10_n_star);
  return table;
}

CsvTable curves_table(const std::vector<CurvePoint>& curve) {
  using enum ColumnType;
  CsvTable table({"curves.csv",
                  "theory's curves through the diagram, if N is on one of its axes",
                  {{"at", number, "value on the axis that is not N"},
                   {"n_sufficient", number, "N >= L S above which a bound proves theorem 1, min(N0, N1, N2)"},
                   {"n_star", number, "N* from which on distinct patterns are locally stable"},
                   {"n_star_pair", number, "the same of two heads on one offset, the others on offsets of their own"}}});
  for (const CurvePoint& point : curve) table.row(point.at, point.n_sufficient, point.n_star, point.n_star_pair);
  return table;
}

std::string meaning(CellOutcome outcome) {
  switch (outcome) {
    case CellOutcome::assumption:
      return "not examined: the statement does not speak of the model";
    case CellOutcome::proved:
      return "every optimum is a selection (proved)";
    case CellOutcome::selection:
      return "the search finds nothing below the distinct selections";
    case CellOutcome::interior:
      return "an optimum or equilibrium with a mixed gate";
    case CellOutcome::distinct:
      return "most flows select distinct positions";
    case CellOutcome::colliding:
      return "most flows select, heads colliding";
    case CellOutcome::unfinished:
      return "most flows end undecided";
    case CellOutcome::always_stable:
      return "distinct selections are stable at every N";
    case CellOutcome::threshold:
      return "distinct selections are stable above some N* > L S";
  }
  return {};
}

Report run_diagram(const Scenario& scenario, RunContext& context) {
  const DiagramOptions options = diagram_options(scenario);
  const auto [x, y] = std::pair(own_keys<DiagramKeys>(scenario).x, own_keys<DiagramKeys>(scenario).y);
  context.progress.begin("diagram", "cells");
  context.state = {{"cells_done", 0}};
  const std::vector<DiagramCell> cells = compute_diagram(options, [&](int done, int total) {
    context.state["cells_done"] = done;
    context.progress.update(done, total);
  });
  std::map<CellOutcome, int> counts;
  for (const DiagramCell& cell : cells) ++counts[cell.outcome];
  Report report;
  Json outcomes = Json::object();
  std::vector<std::string> others;
  const Json model = scenario_model_json(scenario);
  for (const auto& [key, value] : model.items()) others.push_back(fmt::format("{} = {:g}", key, value.get<double>()));
  report.summary = {fmt::format("diagram: {} over {} in [{:g}, {:g}] and {} in [{:g}, {:g}], {} cells", name(options.what), name(x),
                                options.x.low, options.x.high, name(y), options.y.low, options.y.high, cells.size()),
                    fmt::format("other numbers: {}", fmt::join(others, ", "))};
  for (const auto& [outcome, count] : counts) {
    outcomes[std::string(name(outcome))] = count;
    report.summary.push_back(fmt::format("{:>6} cells {:<13}  {}", count, name(outcome), meaning(outcome)));
  }
  report.results = {{"what", name(options.what)},
                    {"x", axis_json(x, options.x)},
                    {"y", axis_json(y, options.y)},
                    {"cells", cells.size()},
                    {"outcomes", std::move(outcomes)}};
  report.tables = {cells_table(cells), curves_table(diagram_curves(options))};
  return report;
}

/// A number on an axis needs no key of its own. Diagrams of optima follow no flow.
bool is_idle(const Scenario& scenario, const Key& key) {
  const DiagramKeys& given = own_keys<DiagramKeys>(scenario);
  const auto is_on = [&](DiagramNumber number) { return numbers[int(number)].key == key.path; };
  return (key.section() == "model" && (is_on(given.x) || is_on(given.y))) || (key.section() == "flow" && !is_of_theorem2(scenario));
}

void check_axis(const Scenario& s, const std::string& path, DiagramNumber number, const NumberAxis& axis) {
  const DiagramQuestion what = own_keys<DiagramKeys>(s).what;
  const bool of_start = number == DiagramNumber::rho || number == DiagramNumber::kappa;
  if ((of_start && what != DiagramQuestion::theorem2) || (number == DiagramNumber::N && what == DiagramQuestion::n_star))
    throw s.failure(path, fmt::format("{} = \"{}\" has no effect on diagram.what = \"{}\"", path, name(number), name(what)));
  const double largest = axis.is_whole() ? 1e9 : number == DiagramNumber::gamma ? 1.0 : 1e6;
  if (!(axis.low < axis.high && axis.high <= largest))
    throw s.failure(path + "_range", fmt::format("{}_range of {} must increase, to at most {:g}", path, name(number), largest));
}

/// Numbers on an axis get a value of it, so that the model off the axes is a valid one.
void put_value_of(const NumberAxis& axis, Scenario& scenario) {
  if (axis.key->section() != "model") return;
  const bool is_vocabulary = axis.key == &shared_key("model.vocabulary");
  put_number(*axis.key, is_vocabulary ? std::floor(axis.high) : axis.is_whole() ? std::ceil(axis.low) : axis.low, scenario);
}

void check(Scenario& s) {
  const DiagramKeys& given = own_keys<DiagramKeys>(s);
  check_axis(s, "diagram.x", given.x, x_axis(given));
  check_axis(s, "diagram.y", given.y, y_axis(given));
  if (given.x == given.y) throw s.failure("diagram.y", "diagram.y must differ from diagram.x");
  put_value_of(x_axis(given), s);
  put_value_of(y_axis(given), s);
  check_model(s);
}

/// All cells at the largest sizes, and as many again for refined ones.
Cost diagram_cost(const Scenario& scenario, bool) {
  const DiagramKeys& given = own_keys<DiagramKeys>(scenario);
  Scenario largest = scenario;
  for (const NumberAxis& axis : {x_axis(given), y_axis(given)})
    if (axis.is_whole()) put_number(*axis.key, std::floor(axis.high), largest);
  largest.contexts.count = 1, largest.contexts.sampling = Sampling::independent;  // a search takes one context
  const Cost cell = given.what == DiagramQuestion::theorem1   ? search_cost(largest, given.starts)
                    : given.what == DiagramQuestion::theorem2 ? seeds_cost(largest, given.seeds)
                                                              : Cost{0, 1};
  const double cells = double(given.cells) * given.cells, finest = cells * std::pow(4.0, given.refine);
  return {usable_threads() * cell.bytes + finest * 300, 2 * cells * cell.evaluations};
}

/// The model's numbers on the axes.
std::vector<std::string_view> numbers_on_axes(const Scenario& scenario) {
  const DiagramKeys& given = own_keys<DiagramKeys>(scenario);
  std::vector<std::string_view> found;
  for (const NumberAxis& axis : {x_axis(given), y_axis(given)})
    if (axis.key->section() == "model") found.push_back(axis.key->path.substr(axis.key->path.find('.') + 1));
  return found;
}

constexpr std::string_view takes[] = {"model",         "geometry.kappa", "initial.radius", "flow.until",    "flow.stop",
                                      "flow.residual", "flow.rtol",      "flow.atol",      "flow.max_steps"};

}  // namespace

extern const Kind diagram_kind;
constinit const Kind diagram_kind = {
    .description = {.name = "diagram", .takes = takes, .own_keys = keys, .is_idle = is_idle, .check = check},
    .estimate = diagram_cost,
    .run = run_diagram,
    .unused_numbers = numbers_on_axes};

}  // namespace phaselock
