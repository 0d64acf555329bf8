//! The published example of EPLB, and placements beside circuits.

use super::balance::{balanced, least_imbalance};
use super::eplb::eplb;
use super::joint::{PlacedLayer, joint};
use super::{PlacementShape, doubled, imbalance, rank_loads};
use crate::model::demand::{LayerDemand, copies};
use crate::model::rates::RegionRates;
use crate::scenario::{MoeScenario, PlacementRoom, presets};
use crate::search::exchange::{Exchange, RoutingRule};
use crate::search::swap::swapped;

const EXAMPLE: &str = include_str!("../../../../tests/resources/inputs/moe/eplb_readme_example.json");

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|entry| entry.as_f64().unwrap()).collect()
}

#[test]
fn the_published_example_comes_out_slot_by_slot() {
    let example: serde_json::Value = serde_json::from_str(EXAMPLE).unwrap();
    let shape = PlacementShape { experts: 12, slots: 16, groups: 4, servers: 2, ranks: 8 };
    for layer in 0..2 {
        let load = numbers(&example["weight"][layer]);
        let slots = eplb(&load, &shape);
        let wanted: Vec<u32> =
            numbers(&example["physical_to_logical"][layer]).iter().map(|expert| *expert as u32).collect();
        assert_eq!(slots, wanted, "layer {layer}");
        let derived = &example["derived"][layer];
        assert_eq!(rank_loads(&shape, &load, &slots), numbers(&derived["gpu_load"]));
        let replicas: Vec<f64> = copies(12, &slots).into_iter().map(f64::from).collect();
        assert_eq!(replicas, numbers(&derived["replicas_per_expert"]));
        let busiest = derived["max"].as_f64().unwrap() / derived["mean"].as_f64().unwrap();
        assert!((imbalance(&shape, &load, &slots) - busiest).abs() < 1e-12);
    }
}

/// With as many groups as do not fill the servers evenly, all ranks count as one server.
#[test]
fn without_groups_all_ranks_share_the_load() {
    let shape = PlacementShape { experts: 6, slots: 8, groups: 1, servers: 2, ranks: 4 };
    assert!(!shape.keeps_groups());
    let slots = eplb(&[8.0, 1.0, 1.0, 1.0, 1.0, 1.0], &shape);
    // Copies of the first take 8/3 each, on three ranks.
    assert_eq!(copies(6, &slots), [3, 1, 1, 1, 1, 1]);
    let loads = rank_loads(&shape, &[8.0, 1.0, 1.0, 1.0, 1.0, 1.0], &slots);
    assert!((loads.iter().copied().fold(0.0, f64::max) - (8.0 / 3.0 + 1.0)).abs() < 1e-12, "{loads:?}");
}

fn free(name: &str, redundant: u32, groups: u32) -> MoeScenario {
    let mut scenario = presets::scenario(name).unwrap();
    scenario.placement = Some(PlacementRoom { redundant_experts: redundant, expert_groups: groups });
    scenario.validate().unwrap();
    scenario
}

#[test]
fn a_joint_placement_is_quicker_than_that_of_eplb_and_no_less_balanced() {
    for (name, redundant, groups) in
        [("moe-small", 0, 1), ("moe-small", 8, 1), ("moe-small", 8, 4), ("moe-qwen_moe", 64, 1)]
    {
        let scenario = free(name, redundant, groups);
        let shape = PlacementShape::of(&scenario);
        let (rates, history) = (RegionRates::of(&scenario), scenario.history(0));
        let (mut ours, mut theirs) = (0.0, 0.0);
        for layer in 0..history.layers.min(2) {
            let tokens = history.tokens(layer);
            let mut load = vec![0.0; shape.experts];
            for row in tokens.chunks(shape.experts) {
                load.iter_mut().zip(row).for_each(|(sum, tokens)| *sum += tokens);
            }
            let rule = RoutingRule::Spill;
            let (slots, tried) = joint(PlacedLayer { shape: &shape, bytes: tokens, rates: &rates, rule });
            assert!(tried > 0, "{name}");
            let before = eplb(&load, &shape);
            assert!(imbalance(&shape, &load, &slots) <= imbalance(&shape, &load, &before) * (1.0 + 1e-9));
            assert!(copies(shape.experts, &slots).iter().all(|count| *count > 0));
            let time = |slots: &[u32]| {
                let demand = LayerDemand::placed(&scenario, &history, layer, slots);
                let exchange = Exchange::of(&demand, &rates, rule);
                exchange.time(&swapped(&exchange, &rates.optical, &demand.both_ways()).0)
            };
            ours += time(&slots);
            theirs += time(&before);
        }
        assert!(ours <= theirs * (1.0 + 1e-9), "{name} {redundant} {groups}: {ours} {theirs}");
        // Nothing to gain only where a group fills a server.
        assert!(groups > 1 || ours < 0.99 * theirs, "{name} {redundant} {groups}: {ours} {theirs}");
    }
}

#[test]
fn blocks_as_slots_give_the_demand_of_blocks() {
    let scenario = free("moe-qwen_moe", 0, 1);
    let history = scenario.history(0);
    let slots: Vec<u32> = (0..64).collect();
    let (placed, blocks) =
        (LayerDemand::placed(&scenario, &history, 1, &slots), LayerDemand::of(&scenario, &history, 1));
    assert_eq!(placed, blocks);
    // Bytes are neither lost nor added by copies.
    let doubled: Vec<u32> = (0..64).flat_map(|expert| [expert, (expert + 7) % 64]).collect();
    let placed = LayerDemand::placed(&scenario, &history, 1, &doubled);
    let sum = |demand: &LayerDemand| demand.bytes.iter().sum::<f64>();
    assert!((sum(&placed) / sum(&blocks) - 1.0).abs() < 1e-12);
}

/// Loads of OLMoE's experts on c4 as published, a layer each.
fn olmoe() -> Vec<Vec<f64>> {
    const COUNTS: &str =
        include_str!("../../../../tests/resources/inputs/moe/olmoe1b7b_c4_expert_counts.csv");
    let mut layers: std::collections::BTreeMap<u32, Vec<f64>> = std::collections::BTreeMap::new();
    for line in COUNTS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        layers.entry(cells[0].parse().unwrap()).or_default().push(cells[2].parse().unwrap());
    }
    layers.into_values().collect()
}

/// EPLB leaves 1.011 to 1.030 there.
#[test]
fn loads_of_a_real_model_are_evened_out_below_eplb() {
    for (ranks, redundant) in [(8, 0), (8, 16), (16, 0), (16, 16), (16, 32), (32, 64)] {
        for load in olmoe() {
            let shape =
                PlacementShape { experts: 64, slots: 64 + redundant, groups: 1, servers: ranks / 8, ranks };
            let packed = eplb(&load, &shape);
            let found = balanced(&shape, &load, &packed);
            let (before, after) = (imbalance(&shape, &load, &packed), imbalance(&shape, &load, &found));
            let least = least_imbalance(&shape, &load);
            assert!(
                after <= 1.003_f64.max(least * (1.0 + 1e-9)),
                "{ranks} {redundant}: {before} {after} {least}"
            );
            assert!(after <= before && after >= least * (1.0 - 1e-12));
            assert!(copies(64, &found).iter().all(|count| *count > 0));
        }
    }
}

/// Two ranks with two slots each, loads 6, 4, 2 and 4: EPLB's order gives 6+2 and 4+4, which is even. With 7 in place of 6
/// no exchange makes it better than 9 against 8; and an expert of 12 among 15 with one slot to spare is split in halves.
#[test]
fn small_placements_are_evened_out_by_hand() {
    let shape = PlacementShape { experts: 4, slots: 4, groups: 1, servers: 1, ranks: 2 };
    let even = |load: &[f64], slots: &[u32]| imbalance(&shape, load, &balanced(&shape, load, slots));
    assert!((even(&[6.0, 4.0, 2.0, 4.0], &[0, 1, 2, 3]) - 1.0).abs() < 1e-12);
    assert!((even(&[7.0, 4.0, 2.0, 4.0], &[0, 1, 2, 3]) - 9.0 / 8.5).abs() < 1e-12);
    let shape = PlacementShape { experts: 3, slots: 4, groups: 1, servers: 1, ranks: 2 };
    let load = [12.0, 2.0, 1.0];
    let found = balanced(&shape, &load, &[1, 2, 0, 2]);
    assert_eq!(copies(3, &found), [2, 1, 1]);
    assert!((imbalance(&shape, &load, &found) - 8.0 / 7.5).abs() < 1e-12, "{found:?}");
    assert!((least_imbalance(&shape, &load) - 1.0).abs() < 1e-12);
    assert_eq!(doubled(&shape, &[0, 0, 1, 2]), 1);
    // Nothing to send: nothing changes.
    assert_eq!(balanced(&shape, &[0.0; 3], &[0, 0, 1, 2]), [0, 0, 1, 2]);
}
