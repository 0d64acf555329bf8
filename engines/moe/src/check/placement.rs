//! Checks the experts of the ranks: every expert has a slot, every rank has the same number of slots, and groups stay
//! on one server.

use super::sizes::Sizes;
use super::{Findings, code, compare_figure};
use crate::plan::{ExpertPlacement, FabricKind, MoeResult};
use crate::scenario::MoeScenario;
use crate::scenario::trace::GateHistory;
use lightbay_core::problem::few;
use std::collections::{BTreeMap, BTreeSet};

/// Checks the placements of a plan.
pub(super) fn check(scenario: &MoeScenario, sizes: &Sizes, result: &MoeResult, found: &mut Findings) {
    let placed = result.layers.iter().filter(|layer| layer.placement.is_some()).count();
    if placed == 0 {
        return;
    }
    if scenario.placement.is_none() {
        found.add(code::PLACEMENT, "the scenario keeps experts in blocks, but the plan places them");
        return;
    }
    if placed < result.layers.len() || result.iteration.fabric != FabricKind::Mfabric {
        found.add(
            code::PLACEMENT,
            "all layers or none must place experts, and only if the network has circuits of a region",
        );
        return;
    }
    let history = scenario.history(0);
    for layer in &result.layers {
        if let Some(placement) = &layer.placement {
            of_layer(scenario, sizes, &history, layer.layer, placement, found);
        }
    }
}

/// Returns remarks on the ranks that hold an expert more than once: these replicas are valid, but do not balance the
/// loads. The placements must be valid.
pub(super) fn doubled(sizes: &Sizes, result: &MoeResult) -> Vec<String> {
    let ranks = sizes.model.ep as usize;
    let mut named = Vec::new();
    for layer in &result.layers {
        let slots = layer.placement.as_ref().map_or(&[][..], |placement| &placement.physical_to_logical);
        let mut held: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        for (slot, expert) in slots.iter().enumerate() {
            *held.entry((slot * ranks / slots.len(), *expert)).or_default() += 1;
        }
        let twice = held.into_iter().filter(|(_, count)| *count > 1);
        named.extend(twice.map(|((rank, expert), count)| {
            format!("layer {}, rank {rank}: expert {expert} {count} times", layer.layer)
        }));
    }
    if named.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "a rank holds the same expert more than once, which is valid but does not balance the loads: {}",
        few(&named)
    )]
}

fn of_layer(
    scenario: &MoeScenario,
    sizes: &Sizes,
    history: &GateHistory,
    layer: u32,
    placement: &ExpertPlacement,
    found: &mut Findings,
) {
    let room = scenario.placement.unwrap_or_default();
    let (experts, ranks) = (sizes.model.experts as usize, sizes.model.ep as usize);
    let slots = &placement.physical_to_logical;
    let wanted = experts + room.redundant_experts as usize;
    if slots.len() != wanted {
        let text = format!("layer {layer}: has {} slots, but the ranks have {wanted}", slots.len());
        found.add(code::PLACEMENT, text);
        return;
    }
    let mut counts = vec![0_u32; experts];
    for (slot, expert) in slots.iter().enumerate() {
        match counts.get_mut(*expert as usize) {
            Some(count) => *count += 1,
            None => found.add(
                code::PLACEMENT,
                format!("layer {layer}: slot {slot} holds expert {expert}, which does not exist"),
            ),
        }
    }
    for expert in (0..experts).filter(|expert| counts[*expert] == 0) {
        found.add(code::PLACEMENT, format!("layer {layer}: expert {expert} has no slot"));
    }
    if placement.replicas != counts {
        let text = format!("layer {layer}: replicas are {:?}, but must be {counts:?}", placement.replicas);
        found.add(code::PLACEMENT, text);
    }
    if !found.is_empty() {
        return;
    }
    // If all servers can hold the same number of groups, every group must be on one server.
    let groups = room.expert_groups as usize;
    if groups.is_multiple_of(sizes.servers) {
        let homes = |group: usize| -> BTreeSet<usize> {
            let of = |slot: &usize| slots[*slot] as usize * groups / experts == group;
            (0..slots.len()).filter(of).map(|slot| slot * sizes.servers / slots.len()).collect()
        };
        for group in (0..groups).filter(|group| homes(*group).len() > 1) {
            let text = format!(
                "layer {layer}: expert group {group} must be on one server, but is on {} servers",
                homes(group).len()
            );
            found.add(code::PLACEMENT, text);
        }
    }
    // Load of the ranks, from the tokens.
    let mut loads = vec![0.0; ranks];
    for (at, tokens) in history.tokens(layer as usize).iter().enumerate() {
        let expert = at % experts;
        let copies = f64::from(counts[expert]);
        for slot in (0..slots.len()).filter(|slot| slots[*slot] as usize == expert) {
            loads[slot * ranks / slots.len()] += tokens / copies;
        }
    }
    let sum: f64 = loads.iter().sum();
    let most = loads.iter().copied().fold(0.0, f64::max);
    let exact = if sum > 0.0 { most * ranks as f64 / sum } else { 1.0 };
    compare_figure(
        found,
        code::PLACEMENT,
        format!("busiest_rank of layer {layer}"),
        placement.busiest_rank,
        exact,
    );
}
