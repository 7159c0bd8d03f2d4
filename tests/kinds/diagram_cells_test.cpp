// Diagrams over two numbers of a model (theory.md sections 4 and 5).
#include "kinds/diagram_cells.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>

#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "proofs/bounds.hpp"
#include "proofs/stability.hpp"

namespace phaselock::test {
namespace {

NumberAxis axis(std::string_view key, double low, double high) { return {&shared_key(key), low, high}; }

DiagramOptions theorem1_diagram() {
  DiagramOptions options;
  options.scenario.model = {4, 3, 1, 100, 1.0, 1.0};
  options.x = axis("model.vocabulary", 12, 1e6);
  options.y = axis("model.beta", 1, 20);
  options.cells = 8;
  options.refine = 2;
  options.starts = 3;
  return options;
}

DiagramOptions theorem2_diagram() {
  DiagramOptions options;
  options.scenario.model = {4, 4, 3, 100, 1.0, 1.0};
  options.x = axis("model.vocabulary", 20, 2000);
  options.y = axis("model.beta", 2, 8);
  options.what = DiagramQuestion::theorem2;
  options.scenario.initial.radius = 0.5;
  options.cells = 2;
  options.refine = 1;
  options.seeds = 6;
  options.scenario.flow.stop = StopRule::residual;
  options.scenario.flow.until = 1e5;
  options.scenario.flow.rtol = 1e-6;
  options.scenario.flow.atol = 1e-8;
  options.scenario.flow.residual = 0.05;
  return options;
}

/// The least N from which on theorem 1 is proved.
double sufficient(const SingleBlock& model) { return std::min({sufficient_n0(model), sufficient_n1(model), sufficient_n2(model)}); }

/// Area of a cell in the scale of the axes, as a share of the whole.
double area(const DiagramOptions& options, const DiagramCell& cell) {
  const auto share = [](const NumberAxis& axis, double low, double high) {
    return axis.is_logarithmic() ? std::log(high / low) / std::log(axis.high / axis.low) : (high - low) / (axis.high - axis.low);
  };
  return share(options.x, cell.x_low, cell.x_high) * share(options.y, cell.y_low, cell.y_high);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_same(const std::vector<DiagramCell>& a, const std::vector<DiagramCell>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CHECK(a[k].x == b[k].x);
    CHECK(a[k].y == b[k].y);
    CHECK(a[k].level == b[k].level);
    CHECK(a[k].outcome == b[k].outcome);
    CHECK(same(a[k].selected, b[k].selected));
    CHECK(same(a[k].colliding, b[k].colliding));
    CHECK(same(a[k].interior, b[k].interior));
  }
}

template <class F>
auto with_threads(int count, const F& compute) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, count);
  return compute();
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("theorem 1: cells tile the diagram and agree with the bounds") {
    const DiagramOptions options = theorem1_diagram();
    int told = 0;
    const auto cells = compute_diagram(options, [&](int done, int total) {
      CHECK(done <= total);
      told = done;
    });
    CHECK(cells.size() > 64);
    CHECK(told > 64);
    double whole = 0.0;
    int finest = 0, counts[4] = {}, by_boxes = 0;
    for (const DiagramCell& cell : cells) {
      whole += area(options, cell);
      finest = std::max(finest, cell.level);
      SingleBlock model = require_single_block(options.scenario.model);
      model.vocabulary = int(cell.x);
      model.beta = cell.y;
      CAPTURE(cell.x);
      CAPTURE(cell.y);
      CHECK(cell.x == std::round(cell.x));
      const double enough = sufficient(model);
      switch (cell.outcome) {
        case CellOutcome::assumption:
          CHECK(cell.x < 12);
          break;
        case CellOutcome::proved:
          CHECK(cell.x >= necessary_n_star(model));
          by_boxes += cell.x < enough;
          break;
        default:
          CHECK(cell.outcome == CellOutcome::interior);
          CHECK(cell.x < 1.02 * necessary_n_star(model));  // the conjecture: it holds for every N > N*
      }
      ++counts[int(cell.outcome)];
    }
    CHECK(whole == doctest::Approx(1.0).epsilon(1e-12));
    CHECK(finest == 2);
    CHECK(counts[int(CellOutcome::proved)] > by_boxes + 5);
    CHECK(by_boxes > 5);
    CHECK(counts[int(CellOutcome::interior)] > 5);
  }

  TEST_CASE("theorem 1: the search decides what few boxes leave open") {
    DiagramOptions options = theorem1_diagram();
    options.scenario.model = {4, 6, 5, 100, 1.0, 1.0};
    options.x.low = 24, options.x.high = 2400;
    options.cells = 2, options.refine = 0, options.starts = 1;
    const auto cells = compute_diagram(options);
    REQUIRE(cells.size() == 4);
    for (const DiagramCell& cell : cells) {  // H = S - 1: there is no N*, and no optimum but selections is known
      SingleBlock model = require_single_block(options.scenario.model);
      model.vocabulary = int(cell.x);
      model.beta = cell.y;
      if (cell.outcome == CellOutcome::selection) CHECK(cell.x <= sufficient(model));
      if (cell.outcome != CellOutcome::selection) CHECK(cell.outcome == CellOutcome::proved);
    }
    CHECK(std::any_of(cells.begin(), cells.end(), [](const DiagramCell& c) { return c.outcome == CellOutcome::selection; }));
  }

  TEST_CASE("finest cells lie along boundaries, and nowhere else") {
    const auto cells = compute_diagram(theorem1_diagram());
    for (const DiagramCell& a : cells) {
      if (a.level < 2) {  // all neighbours of a cell that was not halved to the end have its outcome, up to the last halving
        for (const DiagramCell& b : cells) {
          const bool touch_x = (a.x_low == b.x_high || a.x_high == b.x_low) && a.y_low < b.y_high && b.y_low < a.y_high;
          const bool touch_y = (a.y_low == b.y_high || a.y_high == b.y_low) && a.x_low < b.x_high && b.x_low < a.x_high;
          if ((touch_x || touch_y) && b.level < 2) CHECK(a.outcome == b.outcome);
        }
      }
    }
  }

  TEST_CASE("a cell's x goes into the number of x, its y into that of y, whichever they are") {
    DiagramOptions options;
    options.scenario.model = {4, 4, 2, 100, 1.0, 12.0};
    options.what = DiagramQuestion::n_star;
    options.cells = 2;
    options.refine = 0;
    const NumberAxis gamma = axis("model.gamma", 0.4, 0.8), beta = axis("model.beta", 2.0, 12.0);
    for (const bool swapped : {false, true}) {
      options.x = swapped ? beta : gamma;
      options.y = swapped ? gamma : beta;
      const auto cells = compute_diagram(options);
      REQUIRE(cells.size() == 4);
      for (const DiagramCell& cell : cells) {
        SingleBlock model = require_single_block(options.scenario.model);
        model.gamma = swapped ? cell.y : cell.x;
        model.beta = swapped ? cell.x : cell.y;
        CHECK(cell.log10_n_star == std::log10(necessary_n_star(model)));
      }
    }
  }

  TEST_CASE("beside an axis with a cell for each whole number, cells are halved along the other axis where outcomes change on it") {
    DiagramOptions options;
    options.scenario.model = {4, 5, 1, 100, 1.0, 1.0};
    options.what = DiagramQuestion::n_star;
    options.cells = 8;
    const NumberAxis heads = axis("model.heads", 1, 4), beta = axis("model.beta", 1.0, 20.0);
    for (const bool swapped : {false, true}) {
      options.x = swapped ? beta : heads;
      options.y = swapped ? heads : beta;
      options.refine = 0;
      const auto whole = compute_diagram(options);
      REQUIRE(whole.size() == 32);
      const auto along = [&](const DiagramCell& c) {
        return swapped ? std::pair(c.x_low, c.x_high) : std::pair(c.y_low, c.y_high);
      };
      const auto head = [&](const DiagramCell& c) { return swapped ? c.y : c.x; };
      std::size_t halved = 0, differ_across = 0;
      for (const DiagramCell& a : whole) {
        bool at_boundary = false, across = false;
        for (const DiagramCell& b : whole) {
          const bool touch = along(a).first == along(b).second || along(a).second == along(b).first;
          at_boundary = at_boundary || (touch && head(a) == head(b) && a.outcome != b.outcome);
          across = across || (along(a) == along(b) && std::abs(head(a) - head(b)) == 1.0 && a.outcome != b.outcome);
        }
        halved += at_boundary;
        differ_across += across && !at_boundary;
      }
      CHECK(halved > 0);
      CHECK(differ_across > 0);
      options.refine = 1;
      CHECK(compute_diagram(options).size() == whole.size() + halved);
    }
  }

  TEST_CASE("whole numbers have a cell each, and N* of models out of scope is not shown") {
    DiagramOptions options;
    options.scenario.model = {4, 4, 1, 100, 1.0, 12.0};
    options.x = axis("model.heads", 1, 4);
    options.y = axis("model.positions", 3, 6);
    options.what = DiagramQuestion::n_star;
    const auto cells = compute_diagram(options);
    REQUIRE(cells.size() == 16);
    for (const DiagramCell& cell : cells) {
      CHECK(cell.x_low == cell.x - 0.5);
      CHECK(cell.y_high == cell.y + 0.5);
      CHECK(cell.level == 0);
      SingleBlock model = require_single_block(options.scenario.model);
      model.heads = int(cell.x);
      model.positions = int(cell.y);
      CHECK((cell.outcome == CellOutcome::assumption) == (cell.x >= cell.y));
      if (cell.outcome == CellOutcome::assumption) continue;
      CHECK(cell.log10_n_star == std::log10(necessary_n_star(model)));
      CHECK((cell.outcome == CellOutcome::always_stable) == (necessary_n_star(model) == model.slots()));
    }
  }

  TEST_CASE("curves are theory's bounds over the axis that is not N") {
    DiagramOptions options = theorem1_diagram();
    const auto curve = diagram_curves(options, 11);
    REQUIRE(curve.size() == 11);
    CHECK(curve.front().at == 1.0);
    CHECK(curve.back().at == doctest::Approx(20.0));
    for (const CurvePoint& point : curve) {
      SingleBlock model = require_single_block(options.scenario.model);
      model.beta = point.at;
      CHECK(point.n_star == necessary_n_star(model));
      CHECK(point.n_sufficient == std::max(12.0, sufficient(model)));
      CHECK(point.n_star <= point.n_sufficient);
      CHECK(std::isnan(point.n_star_pair));
    }
    std::swap(options.x, options.y);
    CHECK(diagram_curves(options, 11).size() == 11);
    options.y = axis("model.heads", 1, 5);  // one head of five fits S = 3 twice
    options.x = axis("model.vocabulary", 12, 1e6);
    CHECK(diagram_curves(options).size() == 2);
    options.scenario.model.positions = 4;
    CHECK(diagram_curves(options)[1].n_star_pair == pattern_threshold({4, 4, 2, 100, 1.0, 1.0}, std::vector<int>{0, 0}).n_star);
    options.x = axis("model.beta", 1, 2);
    CHECK(diagram_curves(options).empty());
  }

  TEST_CASE("bad diagrams are refused, and an interrupt ends one") {
    DiagramOptions options = theorem1_diagram();
    options.y = options.x;
    CHECK_THROWS_AS(compute_diagram(options), DomainError);
    options = theorem1_diagram();
    options.x.low = 0.0;
    CHECK_THROWS_AS(compute_diagram(options), DomainError);
    options = theorem1_diagram();
    options.cells = 0;
    CHECK_THROWS_AS(compute_diagram(options), DomainError);
    interrupt_flag() = true;
    CHECK_THROWS_AS(compute_diagram(theorem1_diagram()), Interrupted);
    interrupt_flag() = false;
  }
}

TEST_SUITE("slow") {
  TEST_CASE("theorem 2: shares add up; heads part at small N and large beta") {
    const auto cells = compute_diagram(theorem2_diagram());
    CHECK(cells.size() >= 4);
    for (const DiagramCell& cell : cells) {
      CHECK(cell.selected + cell.interior <= 1.0);
      CHECK(cell.colliding <= cell.selected);
      if (cell.outcome == CellOutcome::distinct) CHECK(cell.selected - cell.colliding >= 0.25);
    }
    const DiagramCell& repelled =
        *std::min_element(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.x - a.y < b.x - b.y; });
    CHECK(repelled.outcome == CellOutcome::distinct);
  }
}

TEST_SUITE("threaded") {
  TEST_CASE("diagrams do not depend on the number of threads") {
    DiagramOptions first = theorem1_diagram();
    first.cells = 4;
    for (const DiagramOptions& options : {first, theorem2_diagram()}) {
      const auto compute = [&] { return compute_diagram(options); };
      check_same(with_threads(1, compute), with_threads(2, compute));
    }
  }
}

}  // namespace phaselock::test
