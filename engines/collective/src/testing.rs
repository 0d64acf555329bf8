//! Scenarios for tests, by hand, and what holds of every schedule.

use crate::bounds::bound;
use crate::model::schedule::{ChunkStart, EpochSchedule};
use crate::model::task::CollectiveTask;
use crate::scenario::presets;
use crate::scenario::{
    ChunkWish, CollectiveScenario, Demand, EpochRule, LinkRecord, NodeRecord, NodeSort, SwitchHop,
    SwitchModel, TimeRule, Topology,
};
use lightbay_core::watch::Unwatched;

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

/// Epochs that every schedule takes.
pub(crate) fn bound_epochs(task: &CollectiveTask) -> u32 {
    bound::<_, ()>(task, &mut Unwatched::default()).unwrap().epochs
}

/// Follows a schedule start by start: windows, presence, deliveries.
pub(crate) fn follow(task: &CollectiveTask, schedule: &EpochSchedule) {
    let arrival = |start: &ChunkStart| start.epoch + task.epochs.latency(start.link);
    let transmission = |start: &ChunkStart| {
        let model = &task.epochs.links[start.link as usize];
        (model.carrier, start.epoch - model.early)
    };
    let transmissions: Vec<(u32, u32)> = schedule.starts.iter().map(transmission).collect();
    for (link, model) in (0u32..).zip(&task.epochs.links[..task.real.links().len()]) {
        let of_link = transmissions.iter().filter(|(carrier, _)| *carrier == link);
        let epochs: Vec<u32> = of_link.map(|(_, epoch)| *epoch).collect();
        for &epoch in &epochs {
            let within =
                epochs.iter().filter(|other| (epoch..epoch + model.occupied).contains(other)).count();
            assert!(within <= model.starts as usize, "link {link} epoch {epoch}");
        }
    }
    for chunk in 0..task.chunks.len() as u32 {
        let starts: Vec<_> = schedule.starts.iter().filter(|start| start.chunk == chunk).collect();
        let into = |node: u32| {
            starts.iter().filter(move |start| task.network.links()[start.link as usize].to == node)
        };
        for start in &starts {
            let tail = task.network.links()[start.link as usize].from;
            let there = tail == task.chunks.source(chunk as usize)
                || into(tail).any(|before| {
                    if task.network.is_switch(tail) {
                        arrival(before) == start.epoch
                    } else {
                        arrival(before) <= start.epoch
                    }
                });
            assert!(there, "chunk {chunk} leaves {tail} in {}", start.epoch);
        }
        for dest in task.chunks.dests(chunk as usize) {
            assert!(into(dest).any(|start| arrival(start) <= schedule.finish), "chunk {chunk} to {dest}");
        }
    }
}
