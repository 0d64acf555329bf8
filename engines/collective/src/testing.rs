//! Scenarios for tests, by hand.

use crate::scenario::presets;
use crate::scenario::{
    ChunkWish, CollectiveScenario, Demand, EpochRule, LinkRecord, NodeRecord, NodeSort, SwitchHop,
    SwitchModel, TimeRule, Topology,
};

/// Chunks of 1 MB on links given as (from, to, GB/s, µs); nodes are GPUs but for those listed as switches.
pub(crate) fn own(
    nodes: u32,
    switches: &[u32],
    links: &[(u32, u32, f64, f64)],
    chunks: &[(u32, &[u32])],
) -> CollectiveScenario {
    let node = |id| NodeRecord {
        id,
        name: id.to_string(),
        kind: if switches.contains(&id) { NodeSort::Switch } else { NodeSort::Gpu },
        group: None,
    };
    let topology = Topology {
        name: "own".to_owned(),
        nodes: (0..nodes).map(node).collect(),
        links: links
            .iter()
            .map(|&(from, to, rate, alpha)| LinkRecord::new(from, to, rate, alpha, "link"))
            .collect(),
        switch_model: SwitchModel { copy: true, hop: SwitchHop::StoreAndForward, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    };
    let chunks = chunks.iter().map(|&(source, dests)| ChunkWish::new(source, dests)).collect();
    let scenario = presets::of(topology, None, Demand::custom(1e6, chunks));
    scenario.validate().unwrap();
    scenario
}

/// The same in epochs of a length.
pub(crate) fn in_epochs(mut scenario: CollectiveScenario, epoch_us: f64) -> CollectiveScenario {
    scenario.time = TimeRule { epoch: EpochRule::Fixed, epoch_us: Some(epoch_us), ..scenario.time };
    scenario
}

/// A built-in scenario.
pub(crate) fn preset(name: &str) -> CollectiveScenario {
    presets::scenario(name).unwrap_or_else(|| panic!("there is no preset {name}"))
}
