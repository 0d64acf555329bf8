//! Sets of nodes whose entry links may limit the finish, and sources that each represent all sources of their orbit
//! (docs/methods/collective.md, section 4).

use crate::model::task::CollectiveTask;
use crate::scenario::network::LinkNetwork;
use rustc_hash::FxHashSet;

/// Maximum number of groups for which every union is tried: 63 unions.
const MOST_UNIONS: usize = 6;
/// Maximum number of GPUs of a group for which pairs and triples are tried: 680 sets for 16 GPUs.
const MOST_TRIPLES: usize = 16;
/// Maximum number of nodes for which every subset is tried, if no node is a switch: 254 subsets.
const MOST_SUBSETS: usize = 8;
/// Maximum number of GPUs for which balls and half-spaces are tried around every node. The limit is necessary because
/// the number of balls is the number of nodes times the number of radii.
const MOST_BALLS: usize = 64;
/// Number of GPUs above which one node represents its orbit; with at most this number, every node is tried.
const MOST_SINGLES: usize = 128;

/// Returns each source with the range of its chunks: the number of the first chunk, and the number after the last
/// chunk. In large tasks, one source represents its orbit if all sources have equal demand.
pub(super) fn sources(task: &CollectiveTask) -> Vec<(u32, usize, usize)> {
    let mut ranges: Vec<(u32, usize, usize)> = Vec::new();
    // Chunks of a source are listed together.
    for chunk in 0..task.chunks.len() {
        let source = task.chunks.source(chunk);
        match ranges.last_mut() {
            Some((last, _, end)) if *last == source => *end = chunk + 1,
            _ => ranges.push((source, chunk, chunk + 1)),
        }
    }
    if let Some(orbits) = orbits(task) {
        ranges.retain(|(source, _, _)| orbits[*source as usize] == *source);
    }
    ranges
}

/// Returns the orbits of nodes under the declared symmetries, if there are such symmetries and more than
/// [`MOST_SINGLES`] GPUs, and the demand is the same for every GPU; otherwise `None`.
fn orbits(task: &CollectiveTask) -> Option<Vec<u32>> {
    let gpus = task.network.gpus().len();
    if gpus <= MOST_SINGLES || task.real.generators().is_empty() {
        return None;
    }
    // One GPU may represent its orbit only if all GPUs send, and all receive, the same number of chunks.
    let mut per_source = vec![0usize; task.network.node_count()];
    let mut wanted = vec![0usize; task.network.node_count()];
    let unicast = task.chunks.is_unicast();
    for chunk in 0..task.chunks.len() {
        per_source[task.chunks.source(chunk) as usize] += 1;
        if unicast {
            task.chunks.dests(chunk).for_each(|dest| wanted[dest as usize] += 1);
        } else if task.chunks.dests(chunk).count() + 1 != gpus {
            return None;
        }
    }
    let even = |counts: &[usize]| {
        task.network.gpus().iter().all(|gpu| counts[*gpu as usize] == counts[task.network.gpus()[0] as usize])
    };
    let all_pairs = !unicast || task.chunks.len().is_multiple_of(gpus * (gpus - 1));
    (even(&per_source) && even(&wanted) && all_pairs).then(|| task.real.node_orbits())
}

/// Returns the sets of nodes whose cuts are tried, each with ascending nodes; the sets whose cuts most often give the
/// bound come first.
pub(super) fn candidates(task: &CollectiveTask) -> Vec<Vec<u32>> {
    let network = &task.real;
    let nodes = network.node_count() as u32;
    let gpus = network.gpus();
    let mut sets = SetList { seen: FxHashSet::default(), sets: Vec::new(), nodes };
    // Cuts between groups bind most often, because there are few links between chassis.
    groups(network, &mut sets);
    let orbits = orbits(task);
    let stands = |node: &u32| orbits.as_ref().is_none_or(|orbits| orbits[*node as usize] == *node);
    // Single GPUs, and all nodes except one GPU.
    for gpu in gpus.iter().copied().filter(stands) {
        sets.add(vec![gpu]);
        sets.add((0..nodes).filter(|node| *node != gpu).collect());
    }
    if nodes as usize <= MOST_SUBSETS && gpus.len() == nodes as usize {
        // All proper subsets.
        for mask in 1..(1u32 << nodes) - 1 {
            sets.add((0..nodes).filter(|node| mask >> node & 1 == 1).collect());
        }
    }
    for group in 0..network.group_count() as u32 {
        let members: Vec<u32> =
            gpus.iter().copied().filter(|gpu| network.nodes()[*gpu as usize].group == Some(group)).collect();
        if members.len() > MOST_TRIPLES || gpus.len() > MOST_SINGLES {
            continue;
        }
        for (at, &a) in members.iter().enumerate() {
            for (after, &b) in members.iter().enumerate().skip(at + 1) {
                sets.add(vec![a, b]);
                members.iter().skip(after + 1).for_each(|&c| sets.add(vec![a, b, c]));
            }
        }
    }
    // Balls around nodes, and half-spaces, for tori and meshes.
    if gpus.len() <= MOST_BALLS {
        balls(task, &mut sets);
    }
    sets.sets
}

/// Adds every union of groups if there are at most [`MOST_UNIONS`] groups; otherwise each of the first 64 groups, and
/// one set with the first half of these groups. Adds each set without and with the switches that belong to no group.
fn groups(network: &LinkNetwork, sets: &mut SetList) {
    let groups = network.group_count();
    let masks: Vec<u64> = if groups <= MOST_UNIONS {
        (1..(1u64 << groups)).collect()
    } else {
        (0..groups.min(64)).map(|group| 1 << group).chain([(1u64 << (groups.min(64) / 2)) - 1]).collect()
    };
    for mask in masks {
        // Two sets for each choice of groups: without and with the switches that belong to no group.
        for free_switches in [false, true] {
            let is_in = |node: &u32| match network.nodes()[*node as usize].group {
                Some(group) => group < 64 && mask >> group & 1 == 1,
                None => free_switches && network.is_switch(*node),
            };
            sets.add((0..sets.nodes).filter(is_in).collect());
        }
    }
}

/// Adds the balls around every GPU and their complements, and for every link the set of nodes nearer to its tail than
/// to its head: on tori and meshes, these sets are half-spaces.
fn balls(task: &CollectiveTask, sets: &mut SetList) {
    for &gpu in task.real.gpus() {
        let row = task.distances.from(&task.network, gpu);
        let mut radii: Vec<u32> = row[..sets.nodes as usize].to_vec();
        radii.sort_unstable();
        radii.dedup();
        for radius in radii {
            // The ball and its complement.
            sets.add((0..sets.nodes).filter(|node| row[*node as usize] <= radius).collect());
            sets.add((0..sets.nodes).filter(|node| row[*node as usize] > radius).collect());
        }
    }
    for link in task.real.links() {
        let (near, far) =
            (task.distances.from(&task.network, link.from), task.distances.from(&task.network, link.to));
        sets.add((0..sets.nodes).filter(|node| near[*node as usize] < far[*node as usize]).collect());
    }
}

struct SetList {
    seen: FxHashSet<Vec<u32>>,
    sets: Vec<Vec<u32>>,
    nodes: u32,
}

impl SetList {
    fn add(&mut self, set: Vec<u32>) {
        // Keeps each set once; the empty and the full set have no entry links.
        if !set.is_empty() && set.len() < self.nodes as usize && self.seen.insert(set.clone()) {
            self.sets.push(set);
        }
    }
}
