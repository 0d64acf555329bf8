//! Input of the search over event orders: the contended tasks of one circuit allocation, the delays between them and
//! the resources that they share.
//!
//! Uncontended tasks have fixed durations, so chains of them become delays between contended tasks. Times here are
//! multiples of [`Competition::unit_s`], which is chosen so that an iteration lasts about 1000; rates are multiples of
//! one NIC; volumes are rate times time.

use crate::simulate::evaluate::Evaluator;
use rustc_hash::FxHashMap;

/// Approximate length of an iteration, units. Tolerances of the solver are absolute: at this length 1e-9 is 1e-12 of an
/// iteration.
const UNITS: f64 = 1000.0;

/// A contended task.
#[derive(Clone, Debug)]
pub(super) struct Rival {
    /// Id of the task.
    pub task: u32,
    /// Directed link of the task.
    pub via: u32,
    /// Number of circuits of this link.
    pub circuits: f64,
    /// Volume of the task, NIC units.
    pub volume: f64,
    /// Maximum rate that flows, circuits and NICs allow without competition, NICs.
    pub rate: f64,
    /// Earliest start in any schedule on these circuits.
    pub earliest: f64,
    /// `true` if the end of the task is an event; a last transfer may continue until the iteration ends.
    pub ends: bool,
    /// Contended tasks that must end at least a given time before this task starts: (position, time).
    pub after: Vec<(u32, f64)>,
    /// Minimum time from the end of the task to the end of the iteration.
    pub tail: f64,
}

/// A directed link or NIC for which tasks compete.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    /// Name of the resource in the names of rows.
    pub name: String,
    /// Capacity of the resource, NICs.
    pub capacity: f64,
    /// Positions of tasks, with the capacity that one unit of their rate uses.
    pub users: Vec<(u32, f64)>,
}

/// The contended tasks on given circuits.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    /// Seconds of one unit of time.
    pub unit_s: f64,
    /// Contended tasks in topological order.
    pub rivals: Vec<Rival>,
    /// Position of every task in `rivals`; `None` for uncontended tasks.
    pub position: Vec<Option<u32>>,
    /// Resources for which these tasks compete.
    pub resources: Vec<Resource>,
    /// Lower bound on the end of every schedule on these circuits, in the unit of time: the longest chain of tasks at
    /// their maximum rates.
    pub floor: f64,
}

impl Competition {
    /// Collects the contended tasks for circuits `x`. The unit of time is `makespan_s` divided by [`UNITS`].
    pub fn new(evaluator: &Evaluator, x: &[u32], makespan_s: f64) -> Self {
        let network = &evaluator.network;
        let contended = &evaluator.contention.contended;
        let unit_s = makespan_s / UNITS;
        let n = network.tasks();
        let mut position = vec![None; n];
        let mut rivals: Vec<Rival> = Vec::new();
        // For every task: contended tasks that end before it does, with the minimum time between the ends, and the
        // earliest end.
        let mut ahead: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        let mut earliest_end = vec![0.0; n];
        let mut floor = 0.0f64;
        let mut merged: FxHashMap<u32, f64> = FxHashMap::default();
        // Longest-path pass in topological order: the predecessors of a task are processed before the task.
        for &task in &network.order {
            let index = task as usize;
            merged.clear();
            let mut start = network.release[index] / unit_s;
            for arc in network.preds.of(task) {
                let delay = arc.delay / unit_s;
                start = start.max(earliest_end[arc.task as usize] + delay);
                for &(rival, time) in &ahead[arc.task as usize] {
                    // Among several paths from the same contended task, the longest counts.
                    let least = merged.entry(rival).or_insert(0.0);
                    *least = least.max(time + delay);
                }
            }
            let mut after: Vec<(u32, f64)> = merged.iter().map(|(rival, time)| (*rival, *time)).collect();
            after.sort_unstable_by_key(|(rival, _)| *rival);
            let tail = network.tail[index] / unit_s;
            if contended[index] {
                let rate = network.nics_of[index]
                    // Full speed of the task alone, as its flows, circuits and NICs allow.
                    .iter()
                    .map(|(_, weight)| network.flows[index] / weight)
                    .fold(network.flows[index].min(f64::from(x[network.link_of(task)])), f64::min);
                let volume = network.volume[index] / (network.rate * unit_s);
                let here = rivals.len() as u32;
                position[index] = Some(here);
                // Sinks without a tail may send until the end of the iteration, so their end need not be an event.
                let ends = !network.is_sink(task) || tail > 0.0;
                earliest_end[index] = start + volume / rate;
                floor = floor.max(earliest_end[index] + tail);
                ahead[index].push((here, 0.0));
                let (via, circuits) = (network.via[index], f64::from(x[network.link_of(task)]));
                rivals.push(Rival { task, via, circuits, volume, rate, earliest: start, ends, after, tail });
            } else {
                // Chains of uncontended tasks become delays.
                let duration = network.duration_alone(task, x[network.link_of(task)]) / unit_s;
                earliest_end[index] = start + duration;
                floor = floor.max(earliest_end[index] + tail);
                for (rival, time) in after {
                    let last = &mut rivals[rival as usize].tail;
                    *last = last.max(time + duration + tail);
                    ahead[index].push((rival, time + duration));
                }
            }
        }
        let resources = resources(evaluator, x, &position);
        Self { unit_s, rivals, position, resources, floor }
    }

    /// Returns `true` if a task must have ended before another starts.
    pub fn before(&self, evaluator: &Evaluator, first: u32, second: u32) -> bool {
        evaluator
            .network
            .precedence
            .before(self.rivals[first as usize].task, self.rivals[second as usize].task)
    }
}

fn resources(evaluator: &Evaluator, x: &[u32], position: &[Option<u32>]) -> Vec<Resource> {
    let network = &evaluator.network;
    let mut resources = Vec::new();
    for (via, tasks) in network.carried.iter().enumerate() {
        let users: Vec<(u32, f64)> =
            tasks.iter().filter_map(|task| Some((position[*task as usize]?, 1.0))).collect();
        // The full speed of the task already covers a resource with one contended task.
        if users.len() > 1 {
            let way = if via % 2 == 0 { "forward" } else { "backward" };
            let name = format!("circuits of link {}, {way}", via / 2);
            resources.push(Resource { name, capacity: f64::from(x[via / 2]), users });
        }
    }
    for (index, group) in network.nic_groups.iter().enumerate() {
        let users: Vec<(u32, f64)> = group
            .members
            .iter()
            .filter_map(|(task, weight)| {
                Some((position[*task as usize]?, weight / network.flows[*task as usize]))
            })
            .collect();
        if users.len() > 1 {
            resources.push(Resource { name: format!("network cards {index}"), capacity: 1.0, users });
        }
    }
    resources
}
