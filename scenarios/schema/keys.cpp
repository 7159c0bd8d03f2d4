// The table of the keys that kinds share.
#include "schema/key_table.hpp"
#include "schema/schema.hpp"

namespace phaselock {

namespace {

bool not_embeddings(const Scenario& s) { return s.geometry.kind != GeometryKind::embeddings; }
bool is_perturbed(const Scenario& s) { return s.geometry.kind == GeometryKind::perturbed; }
bool is_embeddings(const Scenario& s) { return s.geometry.kind == GeometryKind::embeddings; }
bool has_contexts(const Scenario& s) { return !is_static(s); }
bool is_linear(const Scenario& s) { return s.gates.gates == GateWord::linear; }
bool draws_start(const Scenario& s) { return s.initial.file.empty(); }

constexpr std::string_view fitted = "geometry.kind = \"exact\" or \"perturbed\": it is fitted for embeddings";
constexpr std::string_view perturbed = "geometry.kind = \"perturbed\"", embeddings = "geometry.kind = \"embeddings\"";
constexpr std::string_view drawn = "a flow without initial.file";

using S = Scenario;

constexpr Key keys[] = {
    key<&S::model, &Model::blocks>("model.blocks", "L, compressed blocks of a context").in(sizes(2)).needed(),
    key<&S::model, &Model::positions>("model.positions", "S, tokens of a block").in(sizes(2)).needed(),
    key<&S::model, &Model::heads>("model.heads", "H").in(sizes(1)).needed(),
    key<&S::model, &Model::vocabulary>("model.vocabulary", "N >= L S").by_factors().in(sizes(4)).needed(),
    key<&S::model, &Model::gamma>("model.gamma", "scale of the attention scores").in(positive(1)).needed(),
    key<&S::model, &Model::beta>("model.beta", "scale of the logits").by_factors().in(above_zero).needed(),

    key<&S::geometry, &GeometryKeys::kind>("geometry.kind", "Gram matrix of the token embeddings")
        .one_of("exact|perturbed|embeddings"),
    key<&S::geometry, &GeometryKeys::kappa>("geometry.kappa", "K = kappa 11^T + I").in(not_negative).only(not_embeddings, fitted),
    key<&S::geometry, &GeometryKeys::epsilon>("geometry.epsilon", "largest change of an entry of K")
        .in(not_negative)
        .only(is_perturbed, perturbed),
    key<&S::geometry, &GeometryKeys::seed>("geometry.seed", "of the change").in(seeds).only(is_perturbed, perturbed),
    key<&S::geometry, &GeometryKeys::file>("geometry.file", ".npy, rows = tokens").needed().only(is_embeddings, embeddings),
    key<&S::geometry, &GeometryKeys::normalize>("geometry.normalize", "rows to unit length first").only(is_embeddings, embeddings),

    key<&S::gates, &GateKeys::gates>("gates.class", "of compression").one_of("linear|static|tied|uniform|oracle"),

    key<&S::initial, &InitialKeys::radius>("initial.radius",
                                           "rho, of the ball of initial parameters; below 1e-14 rounding would decide")
        .by_factors()
        .in(sizes(1e-14, 1e6))
        .only(draws_start, drawn),
    key<&S::initial, &InitialKeys::seed>("initial.seed", "of the initial parameters").in(seeds).only(draws_start, drawn),
    key<&S::initial, &InitialKeys::file>("initial.file", ".json, {\"bias\": [2][H][S]} or {\"tables\": [2][H][S][N]}"),

    key<&S::contexts, &ContextKeys::sampling>("contexts.sampling", "of the contexts")
        .one_of("balanced|independent")
        .effect(has_contexts),
    key<&S::contexts, &ContextKeys::count>("contexts.count", "number of contexts").in(sizes(1)).effect(has_contexts),
    key<&S::contexts, &ContextKeys::seed>("contexts.seed", "of the contexts").in(seeds).effect(has_contexts),

    key<&S::flow, &FlowKeys::until>("flow.until", "end time").in(positive(last_time)),
    key<&S::flow, &FlowKeys::stop>("flow.stop", "at the end time, as soon as selected, or as soon as certified (else selected)")
        .one_of("time|residual|certified"),
    key<&S::flow, &FlowKeys::residual>("flow.residual", "largest 1 - p of a selection").in(positive(0.5L)),
    key<&S::flow, &FlowKeys::save_at>("flow.save_at", "times whose states are kept").in(positive(last_time)),
    key<&S::flow, &FlowKeys::rtol>("flow.rtol", "relative error of a step").in(sizes(1e-14, 0.1)),
    key<&S::flow, &FlowKeys::atol>("flow.atol", "absolute error of a step").in(positive(0.1)),
    key<&S::flow, &FlowKeys::max_steps>("flow.max_steps", "attempted steps of a flow").in(sizes(1)),

    key<&S::sweep, &SweepKeys::seeds>("sweep.seeds", "number of flows").in(sizes(1)),
    key<&S::sweep, &SweepKeys::first_seed>("sweep.first_seed", "first_seed, first_seed + 1, ...").in({0, last_seed - most}),
    key<&S::sweep, &SweepKeys::chunk>("sweep.chunk", "seeds stored together; 0: 8192, or 8 of linear gates").in(sizes(0, 1e6L)),
    key<&S::sweep, &SweepKeys::keep>("sweep.keep", "counts alone, or also a row for each seed").one_of("counts|seeds"),
    key<&S::sweep, &SweepKeys::compare_static>("sweep.compare_static", "also follow the static flow from each start's static part")
        .effect(is_linear),
    key<&S::sweep, &SweepKeys::combine>("sweep.combine", "of the axes of [sweep.over]").one_of("product|zip"),

    key<&S::coordination, &Coordination::repulsion>("coordination.repulsion",
                                                    "weight of the heads' mean overlap added to the loss, nats")
        .in(not_negative)
        .effect(is_static),
    key<&S::coordination, &Coordination::orthogonal>("coordination.orthogonal", "heads start apart").effect(is_static),
    key<&S::coordination, &Coordination::anneal_until>("coordination.anneal_until",
                                                       "until this time the next two replace the model's; 0: never")
        .in({0, last_time})
        .effect(is_static),
    key<&S::coordination, &Coordination::anneal_beta>("coordination.anneal_beta", "0: the model's")
        .in(not_negative)
        .effect(is_static),
    key<&S::coordination, &Coordination::anneal_vocabulary>("coordination.anneal_vocabulary", "0: the model's")
        .in(sizes(0))
        .effect(is_static),
};

}  // namespace

std::span<const Key> shared_keys() { return keys; }

}  // namespace phaselock
