//! A plain simulator: every transfer starts as soon as its predecessors allow, and all flows share the network max-min
//! fairly.
//!
//! The simulator keeps no state between events: whenever a transfer starts or ends, the rates of all active transfers
//! are filled again from zero, until every flow is limited by a full resource or its NIC.

use super::case::{Case, Dag, Work};
use super::nics::NicGroup;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum relative difference of simultaneous event times that rounding can cause.
const SAME_EVENT: f64 = 1e-14;
/// Upper limit on the difference of simultaneous event times, seconds, unless a few units in the last place exceed it.
const SAME_EVENT_S: f64 = 1e-12;

/// Times of one simulated iteration, seconds.
#[expect(clippy::struct_field_names, reason = "the unit belongs to every name")]
pub(super) struct Replay {
    /// Start of every task.
    pub start_s: Vec<f64>,
    /// End of every task.
    pub finish_s: Vec<f64>,
    /// End of every node of the precedence graph.
    pub node_end_s: Vec<f64>,
    /// End of the iteration.
    pub makespan_s: f64,
}

/// Network resources, and how much of each a task uses per unit of per-flow rate.
struct ReplayNetwork {
    nic_rate: f64,
    capacity: Vec<f64>,
    uses: Vec<Vec<(usize, f64)>>,
    // Scratch of `fill`, one entry per resource.
    left: Vec<f64>,
    weight: Vec<f64>,
}

/// Simulates with `circuits` per link or, if there are none, on the ideal network (NICs only).
///
/// `None` if times overflow, which only extreme volumes or delays cause.
pub(super) fn replay(case: &Case<'_>, nics: &[NicGroup], circuits: Option<&[u32]>) -> Option<Replay> {
    let mut network = ReplayNetwork::new(case, nics, circuits);
    let tasks = case.net.tasks.len();
    let mut progress = ReplayProgress::new(&case.dag, tasks);
    let mut left_bytes: Vec<f64> = case.net.tasks.iter().map(|task| task.volume_bytes).collect();
    let mut start_s = vec![0.0; tasks];
    let mut finish_s = vec![0.0; tasks];
    let mut active: Vec<usize> = Vec::new();
    let mut rate = vec![0.0_f64; tasks];
    let mut now_s = 0.0_f64;
    loop {
        let ending = active
            .iter()
            .map(|task| (now_s + left_bytes[*task] / rate[*task], *task))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let starting = progress.next_start_s();
        let next_s = match (ending, starting) {
            (None, None) => break,
            (Some((end_s, _)), None) => end_s,
            (None, Some(at_s)) => at_s,
            (Some((end_s, _)), Some(at_s)) => end_s.min(at_s),
        };
        if !next_s.is_finite() {
            return None;
        }
        let step_s = next_s - now_s;
        now_s = next_s;
        // A fixed tolerance would hide short transfers early in an iteration, and would be smaller than the rounding of
        // large times.
        let tolerance_s = (now_s * SAME_EVENT).min(SAME_EVENT_S).max(now_s * 4.0 * f64::EPSILON);
        for task in &active {
            left_bytes[*task] = (left_bytes[*task] - rate[*task] * step_s).max(0.0);
        }
        let first_to_end = ending.filter(|(end_s, _)| *end_s <= now_s).map(|(_, task)| task);
        active.retain(|task| {
            let ends = Some(*task) == first_to_end || left_bytes[*task] <= rate[*task] * tolerance_s;
            if ends {
                finish_s[*task] = now_s;
                progress.finish(*task, now_s);
            }
            !ends
        });
        while let Some(task) = progress.start(now_s + tolerance_s) {
            start_s[task] = now_s;
            active.push(task);
        }
        network.fill(case, &active, &mut rate);
    }
    let makespan_s = case
        .dag
        .nodes()
        .iter()
        .zip(&progress.end_s)
        .map(|(node, end_s)| end_s + node.tail_s)
        .fold(0.0, f64::max);
    makespan_s.is_finite().then_some(Replay { start_s, finish_s, node_end_s: progress.end_s, makespan_s })
}

impl ReplayNetwork {
    fn new(case: &Case<'_>, nics: &[NicGroup], circuits: Option<&[u32]>) -> Self {
        let nic_rate = case.nic_rate();
        let mut capacity = Vec::new();
        let mut uses = vec![Vec::new(); case.net.tasks.len()];
        if let Some(circuits) = circuits {
            for circuits in circuits {
                capacity.extend([f64::from(*circuits) * nic_rate; 2]);
            }
            for (task, directed) in case.directed_links().into_iter().enumerate() {
                uses[task].push((directed, f64::from(case.net.tasks[task].flows)));
            }
        }
        for group in nics {
            for (task, flows) in &group.members {
                uses[*task].push((capacity.len(), f64::from(*flows)));
            }
            capacity.push(nic_rate);
        }
        let resources = capacity.len();
        Self { nic_rate, capacity, uses, left: vec![0.0; resources], weight: vec![0.0; resources] }
    }

    /// Progressive filling: the per-flow rate of all unfrozen tasks rises together; a full resource freezes its tasks.
    fn fill(&mut self, case: &Case<'_>, active: &[usize], rate: &mut [f64]) {
        let mut touched: Vec<usize> =
            active.iter().flat_map(|task| self.uses[*task].iter().map(|(resource, _)| *resource)).collect();
        touched.sort_unstable();
        touched.dedup();
        for resource in &touched {
            self.left[*resource] = self.capacity[*resource];
            self.weight[*resource] = 0.0;
        }
        for task in active {
            for (resource, weight) in &self.uses[*task] {
                self.weight[*resource] += weight;
            }
        }
        let mut open: Vec<usize> = active.to_vec();
        let mut level = 0.0;
        while !open.is_empty() {
            let mut step = self.nic_rate - level;
            for resource in touched.iter().filter(|resource| self.weight[**resource] > 0.5) {
                step = step.min(self.left[*resource] / self.weight[*resource]);
            }
            level += step.max(0.0);
            for resource in &touched {
                self.left[*resource] -= step.max(0.0) * self.weight[*resource];
            }
            let at_nic_rate = level >= self.nic_rate * (1.0 - 1e-12);
            let frozen: Vec<usize> = open
                .iter()
                .copied()
                .filter(|task| {
                    let full = |resource: usize| self.left[resource] <= 1e-12 * self.capacity[resource];
                    at_nic_rate || self.uses[*task].iter().any(|(resource, _)| full(*resource))
                })
                .collect();
            // Rounding can leave a tiny capacity on the resource that limited the step: then all tasks are frozen here.
            let frozen = if frozen.is_empty() { open.clone() } else { frozen };
            for task in &frozen {
                rate[*task] = level * f64::from(case.net.tasks[*task].flows);
                for (resource, weight) in &self.uses[*task] {
                    self.weight[*resource] -= weight;
                }
            }
            open.retain(|task| !frozen.contains(task));
        }
    }
}

/// Progress of the replay: the predecessors that each node waits for, and the transfers that are ready.
struct ReplayProgress<'a> {
    dag: &'a Dag,
    succs: Vec<Vec<(usize, f64)>>,
    waiting_for: Vec<usize>,
    ready_s: Vec<f64>,
    end_s: Vec<f64>,
    node_of: Vec<usize>,
    /// Ready time and number of each transfer that is ready. A time is stored as its bits, which have the same order as
    /// the times because times are not negative.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<'a> ReplayProgress<'a> {
    fn new(dag: &'a Dag, tasks: usize) -> Self {
        let nodes = dag.nodes();
        let mut succs = vec![Vec::new(); nodes.len()];
        for index in 0..nodes.len() {
            for &(pred, delay_s) in dag.preds(index) {
                succs[pred].push((index, delay_s));
            }
        }
        let mut progress = Self {
            dag,
            succs,
            waiting_for: (0..nodes.len()).map(|index| dag.preds(index).len()).collect(),
            ready_s: nodes.iter().map(|node| node.release_s).collect(),
            end_s: vec![0.0; nodes.len()],
            node_of: dag.transfers(tasks),
            ready: BinaryHeap::new(),
        };
        let free: Vec<usize> = (0..nodes.len()).filter(|index| dag.preds(*index).is_empty()).collect();
        progress.release(free);
        progress
    }

    fn next_start_s(&self) -> Option<f64> {
        self.ready.peek().map(|Reverse((bits, _))| f64::from_bits(*bits))
    }

    /// Removes and returns the next transfer that is ready by `until_s`.
    fn start(&mut self, until_s: f64) -> Option<usize> {
        if self.next_start_s()? > until_s {
            return None;
        }
        self.ready.pop().map(|Reverse((_, task))| task)
    }

    fn finish(&mut self, task: usize, at_s: f64) {
        let node = self.node_of[task];
        self.end_s[node] = at_s;
        let free = self.settle(node);
        self.release(free);
    }

    /// Updates the successors of `node`, which has ended, and returns the successors that waited only for `node`.
    fn settle(&mut self, node: usize) -> Vec<usize> {
        let mut free = Vec::new();
        for &(succ, delay_s) in &self.succs[node] {
            self.ready_s[succ] = self.ready_s[succ].max(self.end_s[node] + delay_s);
            self.waiting_for[succ] -= 1;
            if self.waiting_for[succ] == 0 {
                free.push(succ);
            }
        }
        free
    }

    /// Computes the end of the fixed work in `free` and queues the transfers; does the same for all nodes that become
    /// ready when this work ends.
    fn release(&mut self, mut free: Vec<usize>) {
        while let Some(node) = free.pop() {
            match self.dag.nodes()[node].work {
                Work::Fixed(duration_s) => {
                    self.end_s[node] = self.ready_s[node] + duration_s;
                    free.extend(self.settle(node));
                }
                // Adding zero turns a negative zero, whose bits would order last, into a positive one.
                Work::Transfer(task) => {
                    self.ready.push(Reverse(((self.ready_s[node] + 0.0).to_bits(), task)));
                }
            }
        }
    }
}
