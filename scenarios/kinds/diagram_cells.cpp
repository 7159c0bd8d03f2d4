#include "kinds/diagram_cells.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "kernels/seed_threads.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"
#include "proofs/bounds.hpp"
#include "proofs/stability.hpp"
#include "proofs/theorem1_ladder.hpp"

namespace phaselock {

namespace {

constexpr std::int64_t box_budget = 200;  ///< of branch and bound for a cell: a fraction of a second; what takes more is searched

/// An axis cut into equal cells of its scale; each whole number has a cell where that makes no more than asked for.
class Scale {
 public:
  Scale(const NumberAxis& axis, int most_cells) : axis_(axis), cells_(most_cells) {
    const double count = std::floor(axis.high) - std::ceil(axis.low) + 1.0;
    one_each_ = axis.is_whole() && count <= most_cells;
    if (!one_each_) return;
    cells_ = int(count);
    axis_.low = std::ceil(axis.low) - 0.5;
    axis_.high = std::floor(axis.high) + 0.5;
  }
  int cells() const { return cells_; }
  bool can_halve() const { return !one_each_; }

  /// The axis's value at a share of its length.
  double at(double share) const { return one_each_ ? std::lerp(axis_.low, axis_.high, share) : axis_.at(share); }
  double representative(double share) const { return axis_.is_whole() ? std::round(at(share)) : at(share); }

 private:
  NumberAxis axis_;
  int cells_;
  bool one_each_;
};

struct Answer {
  CellOutcome outcome = CellOutcome::assumption;
  double selected = NAN, colliding = NAN, interior = NAN, log10_n_star = NAN;
};

bool in_scope(const SingleBlock& model, bool needs_vocabulary) {
  SingleBlock tried = model;
  if (!needs_vocabulary) tried.vocabulary = std::max(tried.vocabulary, tried.slots());
  try {
    validate(tried);
  } catch (const DomainError&) {
    return false;
  }
  return unmet_assumptions(model).empty();
}

Answer theorem1_at(const SingleBlock& model, int starts) {
  const Theorem1Decision decision = decide_theorem1(model, {.boxes = box_budget, .starts = starts});
  if (decision.proved()) return {CellOutcome::proved};
  return {decision.refuted() ? CellOutcome::interior : CellOutcome::selection};
}

Answer theorem2_at(const Scenario& point, const SingleBlock& model, int seeds) {
  const SeedOptions options{.rho = point.initial.radius, .flow = flow_options(point), .coordination = {}};
  const SeedCounts found = count_seeds(model, static_seeds_in_threads(model, point.geometry.kappa, options, 1, seeds));
  const std::int64_t selected = found.selected(), collided = found.collided(), interior = found.of(FlowOutcome::interior);
  const std::array<std::pair<std::int64_t, CellOutcome>, 4> counts = {{{selected - collided, CellOutcome::distinct},
                                                                       {collided, CellOutcome::colliding},
                                                                       {interior, CellOutcome::interior},
                                                                       {seeds - selected - interior, CellOutcome::unfinished}}};
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto share = [&](std::int64_t count) { return double(count) / seeds; };
  return {most->second, share(selected), share(collided), share(interior)};
}

Answer n_star_at(const SingleBlock& model) {
  const double n_star = necessary_n_star(model);
  return {n_star > model.slots() ? CellOutcome::threshold : CellOutcome::always_stable, NAN, NAN, NAN, std::log10(n_star)};
}

Answer answer_at(const DiagramOptions& options, double x, double y) {
  Scenario point = options.scenario;
  put_number(*options.x.key, x, point);
  put_number(*options.y.key, y, point);
  const SingleBlock model = require_single_block(point.model);
  if (!in_scope(model, options.what != DiagramQuestion::n_star)) return {CellOutcome::assumption};
  switch (options.what) {
    case DiagramQuestion::theorem1:
      return theorem1_at(model, options.starts);
    case DiagramQuestion::theorem2:
      return theorem2_at(point, model, options.seeds);
    case DiagramQuestion::n_star:
      break;
  }
  return n_star_at(model);
}

/// A cell in units of the smallest ones.
struct Leaf {
  int x, y, width, height, level;
  Answer answer;
};

/// The cells of a diagram while it is refined.
class Mosaic {
 public:
  Mosaic(const DiagramOptions& options, const std::function<void(int, int)>& progress)
      : options_(options), progress_(progress), scale_x_(options.x, options.cells), scale_y_(options.y, options.cells) {
    const int part_x = 1 << (scale_x_.can_halve() ? options.refine : 0), part_y = 1 << (scale_y_.can_halve() ? options.refine : 0);
    columns_ = scale_x_.cells() * part_x;
    rows_ = scale_y_.cells() * part_y;
    for (int y = 0; y < rows_; y += part_y)
      for (int x = 0; x < columns_; x += part_x) leaves_.push_back({x, y, part_x, part_y, 0, {}});
    answer_all();
  }

  /// Halves every cell that borders on one of another outcome; where each whole number has its cell, borders are as fine as can be.
  void refine() {
    const std::vector<bool> at_boundary = find_boundary();
    std::vector<Leaf> next;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      const Leaf& leaf = leaves_[k];
      const int width = std::max(1, leaf.width / 2), height = std::max(1, leaf.height / 2);
      if (!at_boundary[k] || (width == leaf.width && height == leaf.height)) {
        next.push_back(leaf);
        continue;
      }
      for (int y = leaf.y; y < leaf.y + leaf.height; y += height)
        for (int x = leaf.x; x < leaf.x + leaf.width; x += width) next.push_back({x, y, width, height, leaf.level + 1, {}});
    }
    leaves_ = std::move(next);
    answer_all();
  }

  std::vector<DiagramCell> cells() {
    std::sort(leaves_.begin(), leaves_.end(),
              [](const Leaf& a, const Leaf& b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); });
    std::vector<DiagramCell> cells;
    for (const Leaf& leaf : leaves_) {
      const auto [x, y] = place(leaf);
      const double right = double(leaf.x + leaf.width) / columns_, top = double(leaf.y + leaf.height) / rows_;
      const Answer& a = leaf.answer;
      cells.push_back({x, y, scale_x_.at(double(leaf.x) / columns_), scale_x_.at(right), scale_y_.at(double(leaf.y) / rows_),
                       scale_y_.at(top), leaf.level, a.outcome, a.selected, a.colliding, a.interior, a.log10_n_star});
    }
    return cells;
  }

 private:
  using Place = std::pair<double, double>;

  Place place(const Leaf& leaf) const {
    return {scale_x_.representative((leaf.x + 0.5 * leaf.width) / columns_),
            scale_y_.representative((leaf.y + 0.5 * leaf.height) / rows_)};
  }

  std::vector<bool> find_boundary() const {
    std::vector<std::size_t> owner(std::size_t(columns_) * rows_);
    for (std::size_t k = 0; k < leaves_.size(); ++k)
      for (int y = leaves_[k].y; y < leaves_[k].y + leaves_[k].height; ++y)
        for (int x = leaves_[k].x; x < leaves_[k].x + leaves_[k].width; ++x) owner[std::size_t(y) * columns_ + x] = k;
    std::vector<bool> found(leaves_.size(), false);
    const auto compare = [&](std::size_t a, std::size_t b) {
      if (leaves_[a].answer.outcome != leaves_[b].answer.outcome) found[a] = found[b] = true;
    };
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x) {
        const std::size_t here = std::size_t(y) * columns_ + x;
        if (scale_x_.can_halve() && x + 1 < columns_) compare(owner[here], owner[here + 1]);
        if (scale_y_.can_halve() && y + 1 < rows_) compare(owner[here], owner[here + columns_]);
      }
    return found;
  }

  /// Computes what is not known yet, each place once (rounded numbers may coincide), and fills it in.
  void answer_all() {
    std::vector<Place> places;
    for (const Leaf& leaf : leaves_)
      if (known_.try_emplace(place(leaf)).second) places.push_back(place(leaf));
    const int before = int(known_.size() - places.size());
    std::vector<Answer> answers(places.size());
    std::mutex reporting;
    int done = before;
    tbb::parallel_for(std::size_t(0), places.size(), [&](std::size_t k) {
      check_interrupt();
      answers[k] = answer_at(options_, places[k].first, places[k].second);
      const std::lock_guard<std::mutex> lock(reporting);
      ++done;
      if (progress_) progress_(done, int(known_.size()));
    });
    for (std::size_t k = 0; k < places.size(); ++k) known_[places[k]] = answers[k];
    for (Leaf& leaf : leaves_) leaf.answer = known_[place(leaf)];
  }

  const DiagramOptions& options_;
  const std::function<void(int, int)>& progress_;
  Scale scale_x_, scale_y_;
  int columns_, rows_;
  std::vector<Leaf> leaves_;
  std::map<Place, Answer> known_;
};

void check_axis(const NumberAxis& axis) {
  if (!(0.0 < axis.low && axis.low < axis.high && std::isfinite(axis.high)))
    throw DomainError(std::string(axis.key->path) + " from low to high: 0 < low < high is needed");
}

}  // namespace

std::string_view name(DiagramQuestion question) {
  static constexpr std::string_view names[] = {"theorem1", "theorem2", "n_star"};
  return names[int(question)];
}

std::string_view name(CellOutcome outcome) {
  static constexpr std::string_view names[] = {"assumption", "proved",     "selection",     "interior", "distinct",
                                               "colliding",  "unfinished", "always_stable", "threshold"};
  return names[int(outcome)];
}

std::vector<DiagramCell> compute_diagram(const DiagramOptions& options, const std::function<void(int, int)>& progress) {
  check_axis(options.x);
  check_axis(options.y);
  if (options.x.key == options.y.key) throw DomainError("the axes of a diagram must differ");
  if (options.cells < 1 || options.refine < 0) throw DomainError("a diagram needs cells >= 1 and refine >= 0");
  Mosaic mosaic(options, progress);
  for (int level = 0; level < options.refine; ++level) mosaic.refine();
  return mosaic.cells();
}

std::vector<CurvePoint> diagram_curves(const DiagramOptions& options, int points) {
  const Key* const vocabulary = &shared_key("model.vocabulary");
  const bool on_x = options.x.key == vocabulary;
  if (!on_x && options.y.key != vocabulary) return {};
  const NumberAxis& other = on_x ? options.y : options.x;
  const Scale scale(other, points);
  std::vector<CurvePoint> curve;
  for (int k = 0; k < scale.cells(); ++k) {
    const double at = scale.can_halve() ? scale.at(double(k) / (points - 1)) : scale.representative((k + 0.5) / scale.cells());
    Scenario point = options.scenario;
    put_number(*other.key, at, point);
    const SingleBlock model = require_single_block(point.model);
    if (!in_scope(model, false)) continue;
    const double sufficient = std::min({sufficient_n0(model), sufficient_n1(model), sufficient_n2(model)});
    curve.push_back({at, std::max(sufficient, double(model.slots())), necessary_n_star(model),
                     model.heads > 1 ? pattern_threshold(model, collision_pattern(model, 2)).n_star : NAN});
  }
  return curve;
}

}  // namespace phaselock
