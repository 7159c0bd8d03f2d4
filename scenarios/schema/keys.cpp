// The table of scenario keys.
#include <type_traits>

#include "schema/schema.hpp"

namespace phaselock {

namespace {

template <class T>
ValuePlace place_of(T& value) {
  if constexpr (std::is_enum_v<T>)
    return WordPlace{&value, [](const void* p) { return int(*static_cast<const T*>(p)); },
                     [](void* p, int word) { *static_cast<T*>(p) = T(word); }};
  else
    return &value;
}

/// A key whose value is the member along a path of member pointers.
template <auto... path>
constexpr Key key(std::string_view name, Kinds kinds, std::string_view help) {
  return {.path = name, .place = [](Scenario& scenario) { return place_of((scenario.*....*path)); }, .kinds = kinds, .help = help};
}

constexpr Kinds flow = 1U << int(Kind::flow), search = 1U << int(Kind::search), coverage = 1U << int(Kind::coverage),
                toy = 1U << int(Kind::toy), stability = 1U << int(Kind::stability), diagram = 1U << int(Kind::diagram),
                all = flow | search | coverage | toy | stability | diagram;

constexpr long double most = 1e9L, last_seed = 9223372036854775807.0L;
constexpr Limits sizes(long double low, long double high = most) { return {low, high}; }
constexpr Limits positive(long double high) { return {.low = 0, .high = high, .open_low = true}; }
constexpr Limits not_negative{.low = 0, .high = 1e6L}, above_zero{.low = 0, .open_low = true}, seeds{0, last_seed};
constexpr long double last_time = 1e15L;

template <DiagramNumber number>
bool off_axes(const Scenario& s) {
  return !s.is_on_axis(number);
}
template <DiagramNumber number>
bool is_size(const Scenario& s) {
  return s.kind != Kind::toy && off_axes<number>(s);
}
bool not_embeddings(const Scenario& s) { return s.geometry.kind != GeometryKind::embeddings; }
bool is_perturbed(const Scenario& s) { return s.geometry.kind == GeometryKind::perturbed; }
bool is_embeddings(const Scenario& s) { return s.geometry.kind == GeometryKind::embeddings; }
bool has_contexts(const Scenario& s) { return !is_static(s); }
bool is_linear(const Scenario& s) { return s.gates.gates == GateWord::linear; }
bool not_diagram_of_optima(const Scenario& s) { return s.kind != Kind::diagram || s.diagram.what == DiagramQuestion::theorem2; }
bool is_of_theorem1(const Scenario& s) { return s.diagram.what == DiagramQuestion::theorem1; }
bool is_of_theorem2(const Scenario& s) { return s.diagram.what == DiagramQuestion::theorem2; }
bool draws_start(const Scenario& s) { return s.initial.file.empty(); }

constexpr std::string_view fitted = "geometry.kind = \"exact\" or \"perturbed\": it is fitted for embeddings";
constexpr std::string_view perturbed = "geometry.kind = \"perturbed\"", embeddings = "geometry.kind = \"embeddings\"";
constexpr std::string_view axes = "N|beta|rho|H|S|gamma|kappa";
constexpr std::string_view drawn = "a flow without initial.file";

using S = Scenario;

constexpr Key keys[] = {
    key<&S::kind>("kind", all, "what to compute").one_of("flow|search|coverage|toy|stability|diagram").needed(),

    key<&S::model, &Model::blocks>("model.blocks", all, "L, compressed blocks of a context").in(sizes(2)).needed(),
    key<&S::model, &Model::positions>("model.positions", all, "S, tokens of a block")
        .in(sizes(2))
        .needed()
        .effect(is_size<DiagramNumber::positions>),
    key<&S::model, &Model::heads>("model.heads", all, "H").in(sizes(1)).needed().effect(is_size<DiagramNumber::heads>),
    key<&S::model, &Model::vocabulary>("model.vocabulary", all, "N >= L S")
        .in(sizes(4))
        .needed()
        .effect(is_size<DiagramNumber::vocabulary>),
    key<&S::model, &Model::gamma>("model.gamma", all, "scale of the attention scores")
        .in(positive(1))
        .needed()
        .effect(off_axes<DiagramNumber::gamma>),
    key<&S::model, &Model::beta>("model.beta", all, "scale of the logits")
        .in(above_zero)
        .needed()
        .effect(off_axes<DiagramNumber::beta>),

    key<&S::geometry, &GeometryKeys::kind>("geometry.kind", flow | search | coverage, "Gram matrix of the token embeddings")
        .one_of("exact|perturbed|embeddings"),
    key<&S::geometry, &GeometryKeys::kappa>("geometry.kappa", flow | search | coverage | diagram, "K = kappa 11^T + I")
        .in(not_negative)
        .only(not_embeddings, fitted),
    key<&S::geometry, &GeometryKeys::epsilon>("geometry.epsilon", flow | search | coverage, "largest change of an entry of K")
        .in(not_negative)
        .only(is_perturbed, perturbed),
    key<&S::geometry, &GeometryKeys::seed>("geometry.seed", flow | search | coverage, "of the change")
        .in(seeds)
        .only(is_perturbed, perturbed),
    key<&S::geometry, &GeometryKeys::file>("geometry.file", flow | search | coverage, ".npy, rows = tokens")
        .needed()
        .only(is_embeddings, embeddings),
    key<&S::geometry, &GeometryKeys::normalize>("geometry.normalize", flow | search | coverage, "rows to unit length first")
        .only(is_embeddings, embeddings),

    key<&S::gates, &GateKeys::gates>("gates.class", flow | search | coverage, "of compression")
        .one_of("linear|static|tied|uniform|oracle"),

    key<&S::initial, &InitialKeys::radius>("initial.radius", flow | coverage | diagram,
                                           "rho, of the ball of initial parameters; below 1e-14 rounding would decide")
        .in(sizes(1e-14L, 1e6L))
        .only(draws_start, drawn),
    key<&S::initial, &InitialKeys::seed>("initial.seed", flow, "of the initial parameters").in(seeds).only(draws_start, drawn),
    key<&S::initial, &InitialKeys::file>("initial.file", flow, ".json, {\"bias\": [2][H][S]} or {\"tables\": [2][H][S][N]}"),

    key<&S::contexts, &ContextKeys::sampling>("contexts.sampling", flow | search | coverage, "of the contexts")
        .one_of("balanced|independent")
        .effect(has_contexts),
    key<&S::contexts, &ContextKeys::count>("contexts.count", flow | search | coverage, "number of contexts")
        .in(sizes(1))
        .effect(has_contexts),
    key<&S::contexts, &ContextKeys::seed>("contexts.seed", flow | search | coverage, "of the contexts")
        .in(seeds)
        .effect(has_contexts),

    key<&S::flow, &FlowKeys::until>("flow.until", flow | coverage | toy | diagram, "end time")
        .in(positive(last_time))
        .effect(not_diagram_of_optima),
    key<&S::flow, &FlowKeys::stop>("flow.stop", flow | coverage | diagram,
                                   "at the end time, as soon as selected, or as soon as certified (else selected)")
        .one_of("time|residual|certified")
        .effect(not_diagram_of_optima),
    key<&S::flow, &FlowKeys::residual>("flow.residual", flow | coverage | diagram, "largest 1 - p of a selection")
        .in(positive(0.5L))
        .effect(not_diagram_of_optima),
    key<&S::flow, &FlowKeys::save_at>("flow.save_at", flow, "times whose states are kept").in(positive(last_time)),
    key<&S::flow, &FlowKeys::rtol>("flow.rtol", flow | coverage | toy | diagram, "relative error of a step")
        .in(sizes(1e-14, 0.1))
        .effect(not_diagram_of_optima),
    key<&S::flow, &FlowKeys::atol>("flow.atol", flow | coverage | toy | diagram, "absolute error of a step")
        .in(positive(0.1L))
        .effect(not_diagram_of_optima),
    key<&S::flow, &FlowKeys::max_steps>("flow.max_steps", flow | coverage | toy | diagram, "attempted steps of a flow")
        .in(sizes(1))
        .effect(not_diagram_of_optima),

    key<&S::search, &SearchKeys::starts>("search.starts", search, "of the continuous search").in(sizes(1, 1e6L)),
    key<&S::search, &SearchKeys::seed>("search.seed", search, "of the starts").in(seeds),

    key<&S::sweep, &SweepKeys::seeds>("sweep.seeds", coverage, "number of flows").in(sizes(1)),
    key<&S::sweep, &SweepKeys::first_seed>("sweep.first_seed", coverage, "first_seed, first_seed + 1, ...")
        .in({0, last_seed - most}),
    key<&S::sweep, &SweepKeys::chunk>("sweep.chunk", coverage, "seeds stored together; 0: 8192, or 8 of linear gates")
        .in(sizes(0, 1e6L)),
    key<&S::sweep, &SweepKeys::keep>("sweep.keep", coverage, "counts alone, or also a row for each seed").one_of("counts|seeds"),
    key<&S::sweep, &SweepKeys::compare_static>("sweep.compare_static", coverage,
                                               "also follow the static flow from each start's static part")
        .effect(is_linear),
    key<&S::sweep, &SweepKeys::combine>("sweep.combine", coverage, "of the axes of [sweep.over]").one_of("product|zip"),

    key<&S::coordination, &Coordination::repulsion>("coordination.repulsion", coverage,
                                                    "weight of the heads' mean overlap added to the loss, nats")
        .in(not_negative)
        .effect(is_static),
    key<&S::coordination, &Coordination::orthogonal>("coordination.orthogonal", coverage, "heads start apart").effect(is_static),
    key<&S::coordination, &Coordination::anneal_until>("coordination.anneal_until", coverage,
                                                       "until this time the next two replace the model's; 0: never")
        .in({0, last_time})
        .effect(is_static),
    key<&S::coordination, &Coordination::anneal_beta>("coordination.anneal_beta", coverage, "0: the model's")
        .in(not_negative)
        .effect(is_static),
    key<&S::coordination, &Coordination::anneal_vocabulary>("coordination.anneal_vocabulary", coverage, "0: the model's")
        .in(sizes(0))
        .effect(is_static),

    key<&S::toy, &ToyKeys::A>("toy.A", toy, "weight of the wrong answers").in(positive(1e12L)),
    key<&S::toy, &ToyKeys::theta>("toy.theta", toy, "start, p = sigmoid(theta)").in({-700, 700}).of_length(2),

    key<&S::stability, &StabilityKeys::pattern>("stability.pattern", stability, "key offset of each head, from 0")
        .in({0, most})
        .needed(),
    key<&S::stability, &StabilityKeys::beta_range>("stability.beta_range", stability, "of the map of N*")
        .in(above_zero)
        .of_length(2),
    key<&S::stability, &StabilityKeys::betas>("stability.betas", stability, "values of beta in the map").in(sizes(2, 10000)),

    key<&S::diagram, &DiagramKeys::what>("diagram.what", diagram, "question asked of each cell").one_of("theorem1|theorem2|n_star"),
    key<&S::diagram, &DiagramKeys::x>("diagram.x", diagram, "number along x").one_of(axes),
    key<&S::diagram, &DiagramKeys::x_range>("diagram.x_range", diagram, "its ends").in(above_zero).of_length(2).needed(),
    key<&S::diagram, &DiagramKeys::y>("diagram.y", diagram, "number along y").one_of(axes),
    key<&S::diagram, &DiagramKeys::y_range>("diagram.y_range", diagram, "its ends").in(above_zero).of_length(2).needed(),
    key<&S::diagram, &DiagramKeys::cells>("diagram.cells", diagram, "a side at first").in(sizes(2, 100)),
    key<&S::diagram, &DiagramKeys::refine>("diagram.refine", diagram, "halvings of cells along boundaries").in(sizes(0, 4)),
    key<&S::diagram, &DiagramKeys::starts>("diagram.starts", diagram, "of the search in a cell, for theorem1")
        .in(sizes(1, 1e6L))
        .effect(is_of_theorem1),
    key<&S::diagram, &DiagramKeys::seeds>("diagram.seeds", diagram, "flows of a cell, for theorem2")
        .in(sizes(1, 1e6L))
        .effect(is_of_theorem2),
};

}  // namespace

std::span<const Key> scenario_keys() { return keys; }

}  // namespace phaselock
