//! Checks the method, policy and routing of a plan against its network, circuits, routes and changes.

use super::{Findings, RegionEnvelope, code};
use crate::plan::{
    CircuitAction, FabricKind, LayerPhase, LayerPlan, MoeResult, ON_CIRCUITS, ON_STRICT_CIRCUITS,
    RegionCircuit, RegionRoute, RoutePath,
};
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::problem::printable;
use std::collections::BTreeSet;

/// Methods that plan a network without regional circuits.
const NETWORKS: [(&str, FabricKind); 4] = [
    ("fat-tree", FabricKind::FatTree),
    ("rail", FabricKind::Rail),
    ("topoopt", FabricKind::Topoopt),
    ("pooled", FabricKind::Pooled),
];
/// Methods that may place experts.
const PLACING: [&str; 2] = ["auto", "mfabric-placed"];
/// The only method that can prove a bound above the bound that treats all NICs of a server as one.
const PROVING: &str = "mfabric-exact";

/// Returns the text value of a parameter, if it has a text value; the parameter is not marked as used by the method.
fn word<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    params.iter().find(|(known, _)| *known == name).and_then(|(_, value)| match value {
        ParamValue::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Returns `true` if routing is strict: pairs with circuits use only circuits.
pub(super) fn is_strict(envelope: &RegionEnvelope<'_>) -> bool {
    word(envelope.params, "routing") == Some("strict")
}

/// Returns the text that names the plans that the claimed bound may cover.
pub(super) fn covered(envelope: &RegionEnvelope<'_>) -> &'static str {
    let is_program = envelope.bound_covers == Some(ON_STRICT_CIRCUITS) && is_strict(envelope);
    if is_program && envelope.method == PROVING { ON_STRICT_CIRCUITS } else { ON_CIRCUITS }
}

/// Returns `true` if the method can prove a bound for this plan above the bound that treats all NICs of a server as
/// one; the plan must keep its experts in blocks.
pub(super) fn proves_more(envelope: &RegionEnvelope<'_>, result: &MoeResult) -> bool {
    envelope.method == PROVING && result.layers.iter().all(|layer| layer.placement.is_none())
}

/// Returns the policy of a plan: from the parameters of the plan, or the fixed policy of its method.
fn policy<'a>(envelope: &'a RegionEnvelope<'_>) -> &'a str {
    match envelope.method {
        "static" => "never",
        "mfabric-copilot" => "copilot",
        _ => word(envelope.params, "policy").unwrap_or("exact"),
    }
}

/// Checks method, policy and routing.
pub(super) fn check(result: &MoeResult, envelope: &RegionEnvelope<'_>, found: &mut Findings) {
    let (method, fabric) = (envelope.method, result.iteration.fabric);
    let of_method = NETWORKS.iter().find(|(known, _)| *known == method);
    let wanted = of_method.map_or(FabricKind::Mfabric, |(_, fabric)| *fabric);
    if fabric != wanted {
        let text = format!(
            "the method {} plans the network '{}', but the network of the plan is '{}'",
            printable(method),
            wanted.word(),
            fabric.word()
        );
        found.add(code::METHOD, text);
        return;
    }
    if fabric != FabricKind::Mfabric {
        return;
    }
    let is_placed = result.layers.iter().any(|layer| layer.placement.is_some());
    if is_placed && !PLACING.contains(&method) || !is_placed && method == "mfabric-placed" {
        let does = if is_placed { "leaves experts in blocks" } else { "places experts" };
        found.add(code::METHOD, format!("the method {} {does}, but the plan does not", printable(method)));
    }
    if is_strict(envelope) {
        strict(result, found);
    }
    changes(result, policy(envelope), found);
}

/// Returns the circuits and routes of an exchange of a layer.
fn exchange(layer: &LayerPlan, phase: LayerPhase) -> (&[RegionCircuit], &[RegionRoute]) {
    let other = layer.other_exchanges.iter().find(|other| other.phase == phase);
    other.map_or((&layer.circuits, &layer.routes), |other| (&other.circuits, &other.routes))
}

/// Returns the ends of the circuits of an exchange.
fn circuits(layer: &LayerPlan, phase: LayerPhase) -> BTreeSet<[u32; 4]> {
    let set = exchange(layer, phase).0.iter().filter(|circuit| circuit.action != CircuitAction::Remove);
    set.map(|circuit| [circuit.server_a, circuit.nic_a, circuit.server_b, circuit.nic_b]).collect()
}

/// Checks that pairs with circuits send nothing over packet switches.
fn strict(result: &MoeResult, found: &mut Findings) {
    for layer in &result.layers {
        for phase in LayerPhase::EXCHANGES {
            let pairs: BTreeSet<(u32, u32)> =
                circuits(layer, phase).into_iter().flat_map(|[a, _, b, _]| [(a, b), (b, a)]).collect();
            let routes = exchange(layer, phase).1.iter();
            let mut spilled = routes.filter(|route| {
                route.path == RoutePath::Eps && pairs.contains(&(route.src_server, route.dst_server))
            });
            if let Some(route) = spilled.next() {
                let text = format!(
                    "layer {}, {}: routing is strict, but servers {} and {}, which a circuit joins, use packet switches",
                    layer.layer,
                    phase.word(),
                    route.src_server,
                    route.dst_server
                );
                found.add(code::METHOD, text);
            }
        }
    }
}

/// Checks that circuits change only where the policy allows it.
fn changes(result: &MoeResult, policy: &str, found: &mut Findings) {
    let mut wrong = |text: String| found.add(code::METHOD, format!("policy {}: {text}", printable(policy)));
    let free = result.iteration.free_changes;
    if free > 0 && policy != "paper" {
        wrong(format!("the delay of every change must count, but free_changes is {free}"));
    }
    let mut above: Option<&LayerPlan> = None;
    for layer in &result.layers {
        let number = layer.layer;
        let own = circuits(layer, LayerPhase::A2a2);
        let of = |phase| circuits(layer, phase);
        let is_alike = |phases: &[LayerPhase]| phases.iter().all(|phase| of(*phase) == own);
        let back = [LayerPhase::A2a3, LayerPhase::A2a4];
        let before = above.map_or_else(|| own.clone(), |above| circuits(above, LayerPhase::A2a2));
        let is_reused = of(LayerPhase::A2a1) == before;
        let listed = &layer.timeline.reconfigurations;
        let is_charged =
            listed.iter().any(|change| change.before == LayerPhase::A2a1 && change.window == "none");
        match policy {
            "paper" | "window" => {
                if !is_alike(&[LayerPhase::A2a1]) || !is_alike(&back) {
                    wrong(format!("all exchanges of layer {number} must run on the same circuits"));
                }
                if !is_charged && !own.is_empty() {
                    wrong(format!("the dispatch of layer {number} must wait for the whole delay"));
                }
                if policy == "paper" && listed.iter().any(|change| change.before != LayerPhase::A2a1) {
                    wrong(format!("only the change before the dispatch of layer {number} may have a delay"));
                }
            }
            "reuse" if !is_reused || !is_alike(&back) => {
                wrong(format!(
                    "the dispatch of layer {number} must run on the circuits of the previous layer; the \
                     other exchanges must run on the layer's own circuits"
                ));
            }
            "best" if !(is_reused || is_alike(&[LayerPhase::A2a1])) || !is_alike(&back) => {
                wrong(format!(
                    "the dispatch of layer {number} must run on the circuits of the layer or of the previous \
                     layer; the other exchanges must run on the layer's own circuits"
                ));
            }
            "never" if !is_alike(&[LayerPhase::A2a1]) || !is_alike(&back) || before != own => {
                wrong(format!("circuits must not change, but the circuits of layer {number} do"));
            }
            _ => {}
        }
        above = Some(layer);
    }
}
