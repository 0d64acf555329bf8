//! Step H (LumosCore Alg. 1; docs/methods/crossconnect.md, section 3): splits the switches in two recursively, each
//! time with one minimum-cost flow, until each group has one switch.
//!
//! At a node with switches O = O0 + O1 and oriented demand A the flow finds the demand `x0` of the first part, with
//! `0 <= x0 <= A`, for which the two parts remove the fewest installed circuits within their ports:
//!
//! ```text
//! max(0, r[i] - G1a[i]) <= sum_j x0[i][j] <= min(G0a[i], r[i])      r, c: row and column sums of A
//! max(0, c[j] - G1b[j]) <= sum_i x0[i][j] <= min(G0b[j], c[j])      G: ports of a part
//! ```
//!
//! The lower bounds keep the complement `A - x0` within the ports of O1; the paper prints only the upper ones. If every
//! pod has the same number of ports on all switches, no flow can fail: the fractional point `|O0|/|O| A` keeps all
//! bounds.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};
use crate::search::flow::{Arc, FlowNetwork};
use crate::search::orient::{Choice, Failure, Preference, Stuck, chosen, count, reach, segments, together};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// Split of a group of switches in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bipartition {
    /// Positions 0, 2, 4, … and 1, 3, 5, … of the list: the split of the paper.
    EvenOdd,
    /// The first half and the second half of the list.
    Contiguous,
    /// Halves by the ports of the pods, so that switches with equal ports stay together.
    Similar,
    /// The best of several splits. For up to four switches, every split into halves is continued down to single
    /// switches, and the split with the fewest removals is taken. For more switches, two splits are compared by the
    /// removals of their two parts: [`Self::EvenOdd`], and [`Self::Contiguous`] or, if ports differ between switches,
    /// [`Self::Similar`].
    Best,
}

impl Bipartition {
    /// Returns the splits that are tried at a node.
    fn candidates(self, task: &Task, switches: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
        // All pairings of three or four switches are few enough to be followed to the end.
        match (self, switches) {
            (Self::Best, &[a, b, c]) => {
                vec![(vec![a, c], vec![b]), (vec![a, b], vec![c]), (vec![b, c], vec![a])]
            }
            (Self::Best, &[a, b, c, d]) => {
                vec![(vec![a, c], vec![b, d]), (vec![a, b], vec![c, d]), (vec![a, d], vec![b, c])]
            }
            (Self::Best, [_, _, _, ..]) => {
                let even = |table: &[Vec<u32>]| switches.iter().all(|&one| table[one] == table[switches[0]]);
                if even(&task.ports_a) && even(&task.ports_b) {
                    vec![Self::EvenOdd.split(task, switches), Self::Contiguous.split(task, switches)]
                } else {
                    vec![Self::EvenOdd.split(task, switches), Self::Similar.split(task, switches)]
                }
            }
            (one, _) => vec![one.split(task, switches)],
        }
    }

    fn split(self, task: &Task, switches: &[usize]) -> (Vec<usize>, Vec<usize>) {
        match self {
            Self::EvenOdd => {
                let every = |first| switches.iter().copied().skip(first).step_by(2).collect();
                (every(0), every(1))
            }
            Self::Contiguous => {
                let (first, second) = switches.split_at(switches.len().div_ceil(2));
                (first.to_vec(), second.to_vec())
            }
            Self::Similar | Self::Best => {
                let ports = |&switch: &usize| (&task.ports_a[switch], &task.ports_b[switch]);
                let mut sorted = switches.to_vec();
                sorted.sort_by(|one, other| ports(one).cmp(&ports(other)));
                let half = sorted.len().div_ceil(2);
                // Boundary between switches with different ports that is nearest to the middle, so that parts stay
                // uniform if possible.
                let boundaries = (1..sorted.len()).filter(|&at| ports(&sorted[at - 1]) != ports(&sorted[at]));
                let at = boundaries.min_by_key(|at| at.abs_diff(half)).unwrap_or(half);
                let (first, second) = sorted.split_at(at);
                (first.to_vec(), second.to_vec())
            }
        }
    }
}

/// Settings of halving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalvingSettings {
    /// Split of a group of switches in two.
    pub bipartition: Bipartition,
    /// Seed of random choices among splits of equal cost; `None` for deterministic choices.
    pub preference: Option<u64>,
}

/// Minimum number of circuits for solving the nodes of a level on several threads; a smaller flow takes less time than
/// passing it to a thread.
const PARALLEL_FROM: u64 = 2048;

/// A group of switches and the circuits that it must carry.
struct Node {
    number: u64,
    switches: Vec<usize>,
    demand: Vec<Cell>,
}

/// Several switches that count as one switch with all their ports.
pub(crate) struct Part<'t> {
    pub(crate) switches: &'t [usize],
    ports_a: Vec<u32>,
    ports_b: Vec<u32>,
    installed: Vec<Cell>,
}

impl<'t> Part<'t> {
    pub(crate) fn of(task: &Task, switches: &'t [usize]) -> Self {
        let installed = match switches {
            [switch] => task.installed.ocs[*switch].clone(),
            _ => merged(switches.iter().flat_map(|&switch| task.installed.ocs[switch].iter().copied())),
        };
        Self {
            switches,
            ports_a: together(&task.ports_a, switches),
            ports_b: together(&task.ports_b, switches),
            installed,
        }
    }
}

/// Splits an oriented demand (sorted cells) between two parts at the least cost.
///
/// # Errors
/// The ports do not suffice, or `go_on` stops the search.
pub(crate) fn split(
    task: &Task,
    demand: &[Cell],
    first: &Part<'_>,
    second: &Part<'_>,
    preference: Preference<'_>,
    go_on: &mut dyn FnMut() -> Result<(), MethodError>,
) -> Result<(Vec<Cell>, Vec<Cell>), Failure> {
    let pods = task.pods as u32;
    let hub = 2 * pods;
    let mut network = FlowNetwork::new(2 * task.pods + 1);
    let (mut rows, mut columns) = (vec![0u32; task.pods], vec![0u32; task.pods]);
    let circuits = demand.iter().map(|cell| u64::from(cell.count)).sum();
    let mut choice = Choice::new(&mut network, preference, circuits);
    let stuck = |pods: Vec<u32>| {
        let switches = first.switches.iter().chain(second.switches).copied().collect();
        Failure::Stuck(Stuck { switches, pods })
    };
    // Row and column sums of the demand, which bound the port arcs below.
    for &Cell { a, b, count: wanted } in demand {
        rows[a as usize] += wanted;
        columns[b as usize] += wanted;
        // If ports differ between switches, each half can only carry circuits that its own ports allow.
        let (mut low, mut high) = (0, wanted);
        if !task.uniform {
            high = wanted.min(reach(task, first.switches, a, b));
            low = wanted.saturating_sub(reach(task, second.switches, a, b));
            if low > high {
                return Err(stuck(vec![a, b]));
            }
        }
        // Convex cost (Eq. 6) as parallel arcs: first circuits with gain, then neutral ones, then those that cost one
        // removal.
        let capacities = segments(count(&first.installed, a, b), count(&second.installed, a, b), wanted);
        choice.add(a, pods + b, capacities, low, high);
    }
    let made = choice.made();
    for pod in 0..pods {
        let at = pod as usize;
        for (sum, one, other, from, to) in [
            (rows[at], first.ports_a[at], second.ports_a[at], hub, pod),
            (columns[at], first.ports_b[at], second.ports_b[at], pods + pod, hub),
        ] {
            // Eq. 4 and 5 for the first half, and for the second half, which gets the rest.
            let (lower, upper) = (i64::from(sum.saturating_sub(other)), i64::from(one.min(sum)));
            if lower > upper {
                return Err(stuck(vec![pod]));
            }
            if upper > 0 {
                network.add_arc(Arc { from, to, lower, upper, cost: 0 });
            }
        }
    }
    let flow = network.minimize(go_on).map_err(|error| {
        let switches: Vec<usize> = first.switches.iter().chain(second.switches).copied().collect();
        Failure::of(error, &switches, |node| (node < hub).then_some(node % pods))
    })?;
    // x0 goes to the first part, A - x0 to the second.
    let mut parts = (Vec::with_capacity(demand.len()), Vec::with_capacity(demand.len()));
    for (cell, here) in demand.iter().zip(chosen(&made, &flow.flow)) {
        if here > 0 {
            parts.0.push(Cell { count: here, ..*cell });
        }
        if here < cell.count {
            parts.1.push(Cell { count: cell.count - here, ..*cell });
        }
    }
    Ok(parts)
}

/// Distributes an oriented demand (sorted cells) over a group of switches; the switches outside the group stay empty.
///
/// # Errors
/// The ports do not suffice at some node (never if the task is uniform and the demand fits all ports together), or the
/// run was stopped.
pub fn halve(
    task: &Task,
    demand: Vec<Cell>,
    switches: Vec<usize>,
    settings: HalvingSettings,
    watch: &mut impl Watch,
) -> Result<Assignment, Failure> {
    let mut found = Assignment { ocs: vec![Vec::new(); task.ocs_count] };
    let mut level = vec![Node { number: 1, switches, demand }];
    // Level by level: the nodes of a level are independent.
    while !level.is_empty() {
        level.retain_mut(|node| match node.switches[..] {
            [] => false,
            [switch] => {
                found.ocs[switch] = std::mem::take(&mut node.demand);
                false
            }
            _ => true,
        });
        watch.count(level.len() as u64);
        level = next_level(task, &level, settings, watch)?;
    }
    Ok(found)
}

/// Computes the children of all nodes of a level, on several threads if there is enough work.
fn next_level(
    task: &Task,
    level: &[Node],
    settings: HalvingSettings,
    watch: &mut impl Watch,
) -> Result<Vec<Node>, Failure> {
    let circuits: u64 = level.iter().flat_map(|node| &node.demand).map(|cell| u64::from(cell.count)).sum();
    if level.len() == 1 || watch.threads() == 1 || circuits < PARALLEL_FROM {
        let mut next = Vec::with_capacity(2 * level.len());
        for node in level {
            watch.checkpoint()?;
            next.extend(children(task, node, settings, &mut || watch.checkpoint())?);
        }
        return Ok(next);
    }
    let stop = watch.stop_test();
    let go_on = || {
        // Only signals the stop; the checkpoint below returns the reason.
        if stop() { Err(MethodError::Failed("stopped".to_owned())) } else { Ok(()) }
    };
    let found: Vec<Result<[Node; 2], Failure>> = watch
        .parallel(|| level.par_iter().map(|node| children(task, node, settings, &mut { go_on })).collect());
    watch.checkpoint()?;
    let mut next = Vec::with_capacity(2 * level.len());
    for pair in found {
        next.extend(pair?);
    }
    Ok(next)
}

fn children(
    task: &Task,
    node: &Node,
    settings: HalvingSettings,
    go_on: &mut dyn FnMut() -> Result<(), MethodError>,
) -> Result<[Node; 2], Failure> {
    // Step H at one node. Nodes are numbered as in a heap, so no random stream is used twice in any order of execution.
    let stream = settings.preference.map(|seed| Streams::new(seed).stream(node.number));
    let candidates = settings.bipartition.candidates(task, &node.switches);
    let several = candidates.len() > 1;
    let mut best: Option<(u64, [Node; 2])> = None;
    let mut stuck = None;
    // The bipartition with the fewest removals is followed; infeasible ones are skipped.
    for (first, second) in candidates {
        let mut stream = stream.clone();
        let preference = stream.as_mut().map_or(Preference::none(), Preference::random);
        let (one, other) = (Part::of(task, &first), Part::of(task, &second));
        let (here, there) = match split(task, &node.demand, &one, &other, preference, go_on) {
            Ok(halves) => halves,
            Err(Failure::Stuck(where_stuck)) => {
                stuck = Some(where_stuck);
                continue;
            }
            Err(ended) => return Err(ended),
        };
        // A merged part does not show on which switch a circuit is, so removals cannot be counted by switch. A part
        // that consists of two switches is therefore split for the count.
        let removed = if several { lost(task, [(&one, &here), (&other, &there)], go_on)? } else { 0 };
        if best.as_ref().is_none_or(|(least, _)| removed < *least) {
            let child = |number, switches, demand| Node { number, switches, demand };
            let children = [child(2 * node.number, first, here), child(2 * node.number + 1, second, there)];
            best = Some((removed, children));
        }
    }
    match (best, stuck) {
        (Some((_, children)), _) => Ok(children),
        (None, Some(stuck)) => Err(Failure::Stuck(stuck)),
        (None, None) => Err(Failure::Stuck(Stuck { switches: node.switches.clone(), pods: Vec::new() })),
    }
}

/// Returns how many circuits two parts remove if they carry the given circuits. A part of two switches is first split
/// into single switches, so that its removals are counted switch by switch; `u64::MAX` if this split is impossible.
fn lost(
    task: &Task,
    halves: [(&Part<'_>, &Vec<Cell>); 2],
    go_on: &mut dyn FnMut() -> Result<(), MethodError>,
) -> Result<u64, Failure> {
    let one = |cells: Vec<Cell>| Assignment { ocs: vec![cells] };
    let mut removed = 0;
    for (part, demand) in halves {
        if let [a, b] = *part.switches {
            let (first, second) = (Part::of(task, &part.switches[..1]), Part::of(task, &part.switches[1..]));
            match split(task, demand, &first, &second, Preference::none(), go_on) {
                Ok((here, there)) => {
                    removed += one(here).lacks(&one(task.installed.ocs[a].clone()));
                    removed += one(there).lacks(&one(task.installed.ocs[b].clone()));
                }
                // This branch is infeasible.
                Err(Failure::Stuck(_)) => return Ok(u64::MAX),
                Err(ended) => return Err(ended),
            }
        } else {
            removed += one(demand.clone()).lacks(&one(part.installed.clone()));
        }
    }
    Ok(removed)
}
