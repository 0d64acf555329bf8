//! Step O (docs/methods/crossconnect.md, section 3): chooses which end of every circuit uses an A port, as one
//! minimum-cost flow.
//!
//! The unit of flow is an A port in use: for a pair of pods `i < j` with C circuits, C units enter at `j`. Each unit
//! that flows from `j` to `i` is a circuit oriented `i -> j`. The flow that remains at a pod is its out-degree. Costs
//! are convex (see [`segments`]), so each pair has up to three parallel arcs.

use crate::model::assignment::Cell;
use crate::model::task::{Task, merged};
use crate::search::flow::{Arc, FlowError, FlowNetwork};
use lightbay_core::method::MethodError;
use lightbay_core::problem::few;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use rand::RngExt;

#[cfg(test)]
mod tests;

/// Reason that orientation or halving found no solution.
#[derive(Debug)]
pub enum Failure {
    /// The ports of these pods cannot carry their circuits, for any choice of the other circuits.
    Stuck(Stuck),
    /// The run was stopped, or an error occurred.
    Ended(MethodError),
}

/// Switches and pods for which a flow had no solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Switches of the flow.
    pub switches: Vec<usize>,
    /// Pods of a cut that proves the infeasibility.
    pub pods: Vec<u32>,
}

impl Stuck {
    /// Returns a description in words.
    pub fn words(&self) -> String {
        let named = |word: &str, numbers: Vec<String>| {
            if numbers.is_empty() { String::new() } else { format!(" {word} {}", few(&numbers)) }
        };
        let pods = named("of pods", self.pods.iter().map(u32::to_string).collect());
        let switches = named("on switches", self.switches.iter().map(usize::to_string).collect());
        format!("the ports{pods}{switches} do not suffice for the target circuits")
    }
}

impl From<MethodError> for Failure {
    fn from(error: MethodError) -> Self {
        Self::Ended(error)
    }
}

impl Failure {
    /// Returns the failure of a flow, with the pods that its nodes represent.
    pub(crate) fn of(error: FlowError, switches: &[usize], pods: impl Fn(u32) -> Option<u32>) -> Self {
        match error {
            FlowError::Ended(error) => Self::Ended(error),
            FlowError::Infeasible(cut) => {
                let mut pods: Vec<u32> = cut.into_iter().filter_map(pods).collect();
                pods.sort_unstable();
                pods.dedup();
                Self::Stuck(Stuck { switches: switches.to_vec(), pods })
            }
        }
    }
}

/// Returns the capacities of three arcs with costs -1, 0 and +1 that represent the convex cost of choosing x out of
/// `wanted`, `(u0 - x)^+ + (u1 + x - wanted)^+` up to a constant. The breakpoints of the cost are clipped to the range
/// of x.
pub fn segments(u0: u32, u1: u32, wanted: u32) -> [u32; 3] {
    let (one, other) = (u0.min(wanted), wanted.saturating_sub(u1));
    let (low, high) = (one.min(other), one.max(other));
    [low, high - low, wanted - high]
}

/// Random preferences among solutions of equal cost.
#[derive(Debug)]
pub struct Preference<'s>(Option<&'s mut Stream>);

/// Number of different preferences: enough to break ties between the arcs of a pod.
const TASTES: i64 = 64;

impl<'s> Preference<'s> {
    /// Requests the deterministic solution, without preferences.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Requests a random choice among the solutions of minimum cost.
    pub const fn random(stream: &'s mut Stream) -> Self {
        Self(Some(stream))
    }

    /// Returns the factor for the real costs, so large that all random preferences together weigh less than one
    /// circuit.
    fn unit(&self, circuits: u64) -> i64 {
        if self.0.is_some() { TASTES * (circuits as i64 + 1) } else { 1 }
    }

    fn preference(&mut self) -> i64 {
        self.0.as_mut().map_or(0, |stream| stream.random_range(0..TASTES))
    }
}

/// Adds integer variables with convex costs to a network. The value of a variable is the flow on parallel arcs; the
/// lower bound of the variable is sent in advance, as supplies of the nodes.
pub(crate) struct Choice<'n, 's> {
    network: &'n mut FlowNetwork,
    preference: Preference<'s>,
    unit: i64,
    /// For each variable: the units that are sent in advance, the index of the first arc, and the index after the last
    /// arc.
    made: Vec<(u32, usize, usize)>,
}

impl<'n, 's> Choice<'n, 's> {
    pub(crate) fn new(network: &'n mut FlowNetwork, preference: Preference<'s>, circuits: u64) -> Self {
        let unit = preference.unit(circuits);
        Self { network, preference, unit, made: Vec::new() }
    }

    pub(crate) fn add(&mut self, from: u32, to: u32, capacities: [u32; 3], low: u32, high: u32) {
        let preference = self.preference.preference();
        // Lower bounds of a choice are sent beforehand as supplies.
        self.network.add_supply(from, -i64::from(low));
        self.network.add_supply(to, i64::from(low));
        let first = self.network.arcs().len();
        let mut start = 0;
        // Arcs in order of rising cost; the flow fills them in that order (convexity).
        for (cost, capacity) in (-1..=1).zip(capacities) {
            // The part of the segment within the bounds of the choice.
            let (begin, end) = (start.max(low), (start + capacity).min(high));
            start += capacity;
            if end > begin {
                let cost = cost * self.unit + preference;
                self.network.add_arc(Arc { from, to, lower: 0, upper: i64::from(end - begin), cost });
            }
        }
        self.made.push((low, first, self.network.arcs().len()));
    }

    /// Returns, for every variable, the units sent in advance and the range of arcs, from which [`chosen`] computes the
    /// value.
    pub(crate) fn made(self) -> Vec<(u32, usize, usize)> {
        self.made
    }
}

/// Returns the values of the variables of a [`Choice`] in a flow.
pub(crate) fn chosen<'f>(made: &'f [(u32, usize, usize)], flow: &'f [i64]) -> impl Iterator<Item = u32> + 'f {
    made.iter().map(|&(low, first, last)| low + flow[first..last].iter().sum::<i64>() as u32)
}

/// Returns the number of ports of every pod on several switches together.
pub(crate) fn together(tables: &[Vec<u32>], switches: &[usize]) -> Vec<u32> {
    let mut sum = vec![0; tables.first().map_or(0, Vec::len)];
    for &switch in switches {
        for (sum, ports) in sum.iter_mut().zip(&tables[switch]) {
            *sum += ports;
        }
    }
    sum
}

/// Returns the maximum number of circuits from an A port of pod `a` to a B port of pod `b` on several switches, limited
/// by the ports of both pods on each switch.
pub(crate) fn reach(task: &Task, switches: &[usize], a: u32, b: u32) -> u32 {
    let on = |&switch: &usize| task.ports_a[switch][a as usize].min(task.ports_b[switch][b as usize]);
    switches.iter().map(on).sum()
}

/// Returns the count of a pair in sorted cells.
pub(crate) fn count(cells: &[Cell], a: u32, b: u32) -> u32 {
    cells.binary_search_by_key(&(a, b), |cell| (cell.a, cell.b)).map_or(0, |place| cells[place].count)
}

/// Orients the target circuits of a group of switches (unordered cells, sorted). Returns sorted oriented cells that the
/// ports of these switches together can carry and that keep as many circuits of `installed` as possible.
///
/// # Errors
/// No orientation exists, or the run was stopped.
pub fn orient(
    task: &Task,
    switches: &[usize],
    wanted: &[Cell],
    preference: Preference<'_>,
    watch: &mut impl Watch,
) -> Result<Vec<Cell>, Failure> {
    let (sum_a, sum_b) = (together(&task.ports_a, switches), together(&task.ports_b, switches));
    let old = merged(switches.iter().flat_map(|&switch| task.installed.ocs[switch].iter().copied()));
    let hub = task.pods as u32;
    let mut network = FlowNetwork::new(task.pods + 1);
    let mut degree = vec![0u32; task.pods];
    let circuits = wanted.iter().map(|cell| u64::from(cell.count)).sum();
    let mut choice = Choice::new(&mut network, preference, circuits);
    // The choice for a pair is the number of its circuits that are oriented from a to b.
    for &Cell { a, b, count: wanted } in wanted {
        degree[a as usize] += wanted;
        degree[b as usize] += wanted;
        let (mut low, mut high) = (0, wanted);
        if !task.uniform {
            // Each circuit needs a switch with ports at both ends, in either orientation.
            high = wanted.min(reach(task, switches, a, b));
            low = wanted.saturating_sub(reach(task, switches, b, a));
            if low > high {
                return Err(Failure::Stuck(Stuck { switches: switches.to_vec(), pods: vec![a, b] }));
            }
        }
        choice.add(b, a, segments(count(&old, a, b), count(&old, b, a), wanted), low, high);
    }
    let made = choice.made();
    for cell in wanted {
        // Every circuit enters at b; circuits whose unit flows to a are oriented a -> b.
        network.add_supply(cell.b, i64::from(cell.count));
    }
    // The hub takes one unit per circuit, from the pod whose A port it uses.
    network.add_supply(hub, -(circuits as i64));
    for pod in 0..hub {
        let (degree, a, b) = (degree[pod as usize], sum_a[pod as usize], sum_b[pod as usize]);
        // Out-degree bounds: at most the A ports, and at least the circuits that the B ports cannot take.
        let (lower, upper) = (i64::from(degree.saturating_sub(b)), i64::from(degree.min(a)));
        if lower > upper {
            return Err(Failure::Stuck(Stuck { switches: switches.to_vec(), pods: vec![pod] }));
        }
        network.add_arc(Arc { from: pod, to: hub, lower, upper, cost: 0 });
    }
    watch.count(1);
    let flow = network
        .minimize(&mut || watch.checkpoint())
        .map_err(|error| Failure::of(error, switches, |node| (node < hub).then_some(node)))?;
    let mut oriented = Vec::with_capacity(2 * wanted.len());
    for (cell, there) in wanted.iter().zip(chosen(&made, &flow.flow)) {
        oriented.push(Cell { count: there, ..*cell });
        oriented.push(Cell { a: cell.b, b: cell.a, count: cell.count - there });
    }
    Ok(merged(oriented))
}
