//! Checks plans in compact form from the topology and the plan alone. A plan lists the trees of one root of each orbit;
//! the check covers these trees and one link of each orbit. By symmetry, the same rules hold for their images.

mod buffers;
mod orbits;
mod shares;

use super::{rounded_down, rounded_up};
use crate::plan::compact::{CompactDiscipline, CompactPlan, CompactTree, FORMAT};
use crate::scenario::{NodeSort, SwitchHop, Topology};
use orbits::LinkOrbits;
use rustc_hash::{FxHashMap, FxHashSet};
use shares::fraction;

/// Tolerance for the rounding of sums of shares, relative to a capacity or a buffer.
const TOLERANCE: f64 = 1e-9;

/// Data that a plan in compact form must carry.
#[derive(Clone, Copy, Debug)]
pub struct CompactDemand<'a> {
    /// GPUs with data.
    pub sources: &'a [u32],
    /// GPUs that receive data of every source.
    pub receivers: &'a [u32],
    /// `true` if every source has separate data for each receiver, `false` if all receive the same.
    pub each: bool,
    /// Fraction of an epoch up to which a latency is ignored.
    pub alpha_threshold: f64,
    /// Maximum number of bytes for other destinations that a GPU may hold at a time; no limit if missing.
    pub most_held_bytes: Option<f64>,
}

/// Returns the violations of a plan in which every GPU must receive the data of every GPU; the list is empty if the
/// plan is valid. Each text begins with the name of its class of violations.
pub fn violations(topology: &Topology, plan: &CompactPlan) -> Vec<String> {
    let gpus: Vec<u32> = topology.gpus().collect();
    let demand = CompactDemand {
        sources: &gpus,
        receivers: &gpus,
        each: false,
        alpha_threshold: 0.0,
        most_held_bytes: None,
    };
    violations_for(topology, plan, demand)
}

/// Returns the violations of a plan that must carry the data of `demand`, as texts like those of [`violations`].
pub fn violations_for(topology: &Topology, plan: &CompactPlan, demand: CompactDemand<'_>) -> Vec<String> {
    let mut found = Vec::new();
    if plan.format != FORMAT {
        found.push(format!("format: '{}' is not {FORMAT}", plan.format));
    }
    if !(plan.epoch_us > 0.0
        && plan.epoch_us.is_finite()
        && plan.shard_bytes > 0.0
        && plan.shard_bytes.is_finite())
        || plan.pieces_per_tree == 0
    {
        found.push("time: epoch, shard and pieces must be positive".to_owned());
        return found;
    }
    let orbits = match LinkOrbits::of(topology, &plan.generators) {
        Ok(orbits) => orbits,
        Err(why) => {
            found.push(format!("symmetry: {why}"));
            return found;
        }
    };
    let set = |nodes: &[u32]| nodes.iter().copied().collect::<FxHashSet<u32>>();
    let (sources, receivers) = (set(demand.sources), set(demand.receivers));
    for (place, images) in plan.generators.iter().enumerate() {
        let keeps = |nodes: &FxHashSet<u32>| {
            nodes.iter().all(|node| images.get(*node as usize).is_some_and(|image| nodes.contains(image)))
        };
        if !keeps(&sources) || !keeps(&receivers) {
            found.push(format!("symmetry: generators[{place}] maps a rank to a GPU that is not a rank"));
        }
        if plan.generators.iter().take(place).any(|before| before == images) {
            found.push(format!("symmetry: generators[{place}] is listed twice"));
        }
    }
    let uses = FxHashMap::default();
    let CompactDemand { each, alpha_threshold, most_held_bytes, .. } = demand;
    let mut checker = Checker {
        topology,
        plan,
        orbits: &orbits,
        sources,
        receivers,
        each,
        alpha_threshold,
        most_held_bytes,
        held: FxHashMap::default(),
        found,
        uses,
        finish: 0,
    };
    checker.shares();
    for (place, tree) in plan.trees.iter().enumerate() {
        checker.tree(place, tree);
    }
    checker.loads();
    checker.buffers();
    if checker.finish != plan.finish_epochs {
        let text =
            format!("claim: the plan ends after {} epochs, not {}", checker.finish, plan.finish_epochs);
        checker.found.push(text);
    }
    checker.found
}

struct Checker<'c> {
    topology: &'c Topology,
    plan: &'c CompactPlan,
    orbits: &'c LinkOrbits,
    /// GPUs with data.
    sources: FxHashSet<u32>,
    /// GPUs that receive the data.
    receivers: FxHashSet<u32>,
    /// `true` if every receiver gets separate data.
    each: bool,
    /// Fraction of an epoch up to which a latency is ignored.
    alpha_threshold: f64,
    /// Maximum number of bytes for other destinations that a GPU may hold at a time.
    most_held_bytes: Option<f64>,
    /// For each orbit of GPUs, the changes of the amount of data that GPUs hold without being destinations of the data;
    /// each change is an epoch and a number of bytes.
    held: FxHashMap<u32, Vec<(u64, f64)>>,
    found: Vec<String>,
    /// For each orbit of links: the epochs in which the transmissions of whole pieces begin (`whole_chunk`), and the
    /// sum of the shares of data (`fluid`).
    uses: FxHashMap<u32, (Vec<u64>, f64)>,
    finish: u64,
}

impl Checker<'_> {
    fn piece_bytes(&self) -> f64 {
        self.plan.shard_bytes / f64::from(self.plan.pieces_per_tree)
    }

    fn rate(&self, link: u32) -> f64 {
        let link = &self.topology.links[link as usize];
        link.capacity_gbyte_per_s / link.beta_scale
    }

    /// Returns the number of epochs for which a whole piece occupies a link, and the number of pieces that may start in
    /// these epochs.
    fn window(&self, link: u32) -> (u64, u64) {
        let starts = 1000.0 * self.rate(link) * self.plan.epoch_us / self.piece_bytes();
        let epochs = rounded_up(1.0 / starts).max(1.0);
        (epochs as u64, rounded_down(epochs * starts) as u64)
    }

    /// Returns the number of epochs for which a transmission occupies a link: one for a share, otherwise the epochs of
    /// a whole piece.
    fn occupies(&self, link: u32) -> u64 {
        if self.plan.discipline == CompactDiscipline::Fluid { 1 } else { self.window(link).0 }
    }

    /// Returns the links of a path through switches, each with two numbers of epochs, which count from the start of the
    /// path: until the data can start on the link, and until the link begins to transmit. Also returns, as the second
    /// element of the pair, the number of epochs until the end of the path. If switches cut through, only the slowest
    /// transmission of the path adds to its time.
    fn passes(&self, links: &[u32]) -> (Vec<(u32, u64, u64)>, u64) {
        let cuts_through = self.topology.switch_model.hop == SwitchHop::CutThrough;
        let (mut time, mut pace) = (0, 0);
        let mut passes = Vec::with_capacity(links.len());
        for &link in links {
            let record = &self.topology.links[link as usize];
            let ratio = record.alpha_us * record.alpha_scale / self.plan.epoch_us;
            let latency = if ratio > self.alpha_threshold { rounded_up(ratio) as u64 } else { 0 };
            let occupies = self.occupies(link);
            passes.push((link, time, time - occupies.min(pace)));
            time += latency + occupies.saturating_sub(pace);
            if cuts_through {
                pace = pace.max(occupies);
            }
        }
        (passes, time)
    }

    /// Checks that a tree reaches its destinations (all receivers if it names none) and that each hop leaves a GPU
    /// which has received the data before; records the transmissions of the tree on links.
    fn tree(&mut self, place: usize, tree: &CompactTree) {
        let nodes = &self.topology.nodes;
        let is = |node: u32, sort: NodeSort| nodes.get(node as usize).is_some_and(|node| node.kind == sort);
        let mut hops: Vec<(u32, u32, Vec<u32>)> = Vec::new();
        let mut reached: FxHashMap<u32, Option<usize>> = FxHashMap::default();
        reached.insert(tree.root, None);
        for edge in &tree.edges {
            let links: Option<Vec<u32>> =
                edge.windows(2).map(|ends| self.orbits.by_ends.get(&(ends[0], ends[1])).copied()).collect();
            let (Some(links), Some(&from), Some(&to)) = (links, edge.first(), edge.last()) else {
                self.found.push(format!("link: trees[{place}] uses {edge:?}, where no link exists"));
                return;
            };
            let through = edge.get(1..edge.len().saturating_sub(1)).unwrap_or_default();
            let apart = through.iter().collect::<FxHashSet<_>>().len() == through.len();
            let sorts = is(from, NodeSort::Gpu)
                && is(to, NodeSort::Gpu)
                && apart
                && through.iter().all(|node| is(*node, NodeSort::Switch));
            if links.is_empty() || !sorts {
                self.found
                    .push(format!("link: trees[{place}] uses {edge:?}, which is not a path between GPUs"));
                return;
            }
            if !reached.contains_key(&from) {
                self.found.push(format!("causality: trees[{place}] leaves GPU {from} before reaching it"));
                return;
            }
            if reached.insert(to, Some(hops.len())).is_some() {
                self.found.push(format!("useless: trees[{place}] reaches GPU {to} twice"));
                return;
            }
            hops.push((from, to, links));
        }
        let (missed, all) = if tree.dests.is_empty() {
            let missed = self.receivers.iter().filter(|gpu| !reached.contains_key(gpu)).count();
            (missed, self.receivers.len())
        } else {
            (tree.dests.iter().filter(|gpu| !reached.contains_key(gpu)).count(), tree.dests.len())
        };
        if missed > 0 {
            self.found.push(format!("demand: trees[{place}] reaches only {} of {all} GPUs", all - missed));
            return;
        }
        match self.plan.discipline {
            CompactDiscipline::Fluid => self.fluid(place, tree, &hops, &reached),
            CompactDiscipline::WholeChunk => self.whole(place, tree, &hops, &reached),
        }
    }

    fn fluid(
        &mut self,
        place: usize,
        tree: &CompactTree,
        hops: &[(u32, u32, Vec<u32>)],
        reached: &FxHashMap<u32, Option<usize>>,
    ) {
        let share = fraction(&tree.share).map_or(0.0, |(top, bottom)| top as f64 / bottom as f64);
        if !tree.starts.is_empty() {
            self.found
                .push(format!("format: trees[{place}] has starts, which the periodic form does not allow"));
        }
        let copies = self.topology.switch_model.copy;
        let mut sent: FxHashSet<(u32, u64)> = FxHashSet::default();
        let mut ends: Vec<u64> = Vec::with_capacity(hops.len());
        for (from, _, links) in hops {
            let start = reached.get(from).copied().flatten().map_or(0, |hop| ends[hop]);
            let (passes, takes) = self.passes(links);
            ends.push(start + takes);
            for (link, begins, _) in passes {
                // A switch that copies gets a piece once for all hops that leave it at the same time.
                if sent.insert((link, start + begins)) || !copies {
                    self.uses.entry(self.orbits.links[link as usize]).or_default().1 += share;
                }
            }
        }
        let pieces = u64::from(self.plan.pieces_per_tree);
        // Data leaves a switch in the epoch in which it arrives.
        self.hold(tree, hops, (&ends, &[]), (share * self.piece_bytes(), pieces));
        let last = pieces - 1;
        self.finish = self.finish.max(ends.into_iter().max().map_or(0, |end| end + last));
    }

    fn whole(
        &mut self,
        place: usize,
        tree: &CompactTree,
        hops: &[(u32, u32, Vec<u32>)],
        reached: &FxHashMap<u32, Option<usize>>,
    ) {
        let pieces = u128::from(self.plan.pieces_per_tree);
        let counted =
            fraction(&tree.share).and_then(|(top, bottom)| top.checked_mul(pieces).map(|top| (top, bottom)));
        let fits = counted.is_some_and(|(top, bottom)| top == tree.starts.len() as u128 * bottom);
        if !fits || tree.starts.iter().any(|starts| starts.len() != hops.len()) {
            self.found.push(format!(
                "format: trees[{place}] must have one start for every hop of each of its pieces"
            ));
            return;
        }
        let copies = self.topology.switch_model.copy;
        let mut sent: FxHashSet<(u32, u64)> = FxHashSet::default();
        for (piece, starts) in tree.starts.iter().enumerate() {
            sent.clear();
            let mut ends: Vec<u64> = Vec::with_capacity(hops.len());
            for ((from, to, links), &start) in hops.iter().zip(starts) {
                let time = u64::from(start);
                let there =
                    reached.get(from).copied().flatten().map_or(Some(0), |hop| ends.get(hop).copied());
                if there.is_none_or(|there| there > time) {
                    let text = format!(
                        "causality: piece {piece} of trees[{place}] leaves node {from} for node {to} before it has arrived there"
                    );
                    self.found.push(text);
                }
                let (passes, takes) = self.passes(links);
                for (link, begins, transmits) in passes {
                    if sent.insert((link, time + begins)) || !copies {
                        let uses = self.uses.entry(self.orbits.links[link as usize]).or_default();
                        uses.0.push(time + transmits);
                    }
                }
                ends.push(time + takes);
                self.finish = self.finish.max(time + takes);
            }
            let leaves: Vec<u64> = starts.iter().map(|start| u64::from(*start)).collect();
            self.hold(tree, hops, (&ends, &leaves), (self.piece_bytes(), 1));
        }
    }

    /// Checks that no link exceeds its capacity.
    fn loads(&mut self) {
        let mut uses: Vec<(u32, (Vec<u64>, f64))> = std::mem::take(&mut self.uses).into_iter().collect();
        uses.sort_by_key(|(link, _)| *link);
        for (link, (mut starts, share)) in uses {
            let record = &self.topology.links[link as usize];
            let (epochs, most) = self.window(link);
            starts.sort_unstable();
            let over =
                (most as usize..starts.len()).find(|at| starts[*at] < starts[*at - most as usize] + epochs);
            if most == 0 && !starts.is_empty() || over.is_some() {
                let at = over.map_or(0, |at| starts[at]);
                let text = format!(
                    "capacity: link {}->{} starts more pieces than its capacity allows at epoch {at}",
                    record.from, record.to
                );
                self.found.push(text);
            }
            let room = 1000.0 * self.rate(link) * self.plan.epoch_us;
            if share * self.piece_bytes() > room * (1.0 + TOLERANCE) {
                let text = format!(
                    "capacity: link {}->{} carries more data in an epoch than its capacity allows",
                    record.from, record.to
                );
                self.found.push(text);
            }
        }
    }
}

#[cfg(test)]
mod tests;
