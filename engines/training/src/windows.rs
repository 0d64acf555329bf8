//! Time windows of tasks (DELTA Alg. 4) and windows of interval indices (DELTA Alg. 1).

use crate::network::Network;

/// Earliest start and latest finish of every task, seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// Earliest start.
    pub est: Vec<f64>,
    /// Latest finish in any schedule that ends by the time limit.
    pub lct: Vec<f64>,
}

impl Windows {
    /// Windows of all schedules that end by `limit`.
    pub fn new(network: &Network, limit: f64) -> Self {
        Self { est: earliest_start(network), lct: latest_finish(network, limit) }
    }
}

/// Earliest start of every task, all transfers at their shortest, seconds.
pub fn earliest_start(network: &Network) -> Vec<f64> {
    let mut est = network.release.clone();
    for &task in &network.order {
        let mut start = est[task as usize];
        for arc in network.preds.of(task) {
            let before = arc.task as usize;
            start = start.max(est[before] + network.tau[before] + arc.delay);
        }
        est[task as usize] = start;
    }
    est
}

/// Latest finish of every task if the iteration is to end by `limit`, seconds.
pub fn latest_finish(network: &Network, limit: f64) -> Vec<f64> {
    let mut lct: Vec<f64> = network.tail.iter().map(|tail| limit - tail).collect();
    for &task in network.order.iter().rev() {
        for arc in network.succs.of(task) {
            let next = arc.task as usize;
            lct[task as usize] = lct[task as usize].min(lct[next] - network.tau[next] - arc.delay);
        }
    }
    lct
}

/// First and last interval (1-based) in which each task may be active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWindows {
    /// Number of intervals K.
    pub intervals: u32,
    /// First interval of each task.
    pub first: Vec<u32>,
    /// Last interval of each task.
    pub last: Vec<u32>,
}

impl IndexWindows {
    /// Windows from the DAG alone.
    pub fn new(network: &Network, intervals: u32) -> Self {
        let n = network.tasks();
        let mut windows = Self { intervals, first: vec![1; n], last: vec![intervals; n] };
        windows.propagate(network);
        windows
    }

    /// Windows around a reference schedule: tasks with successors stay within `margin` intervals of where
    /// `trace` has them. K is the number of its intervals plus two.
    pub fn anchored(network: &Network, trace: &crate::sim::Trace, margin: u32) -> Self {
        let times = trace.event_times();
        let intervals = times.len() as u32 + 1;
        let n = network.tasks();
        let mut windows = Self { intervals, first: vec![1; n], last: vec![intervals; n] };
        // The interval that begins at a time, and the one that ends at it, both 1-based.
        let at = |time: f64| times.partition_point(|t| *t < time - 1e-9) as u32;
        for task in (0..n).filter(|task| !network.is_sink(*task as u32)) {
            let first = at(trace.start[task]) + 1;
            let last = at(trace.finish[task]).max(first);
            windows.first[task] = first.saturating_sub(margin).max(1);
            windows.last[task] = (last + margin).min(intervals);
        }
        windows.propagate(network);
        windows
    }

    fn propagate(&mut self, network: &Network) {
        let step = |delay: f64| if delay > 0.0 { 2 } else { 1 };
        for &task in &network.order {
            for arc in network.preds.of(task) {
                let least = self.first[arc.task as usize] + step(arc.delay);
                self.first[task as usize] = self.first[task as usize].max(least);
            }
        }
        for &task in network.order.iter().rev() {
            for arc in network.succs.of(task) {
                let most = self.last[arc.task as usize].saturating_sub(step(arc.delay));
                self.last[task as usize] = self.last[task as usize].min(most);
            }
        }
    }

    /// The first task whose window is empty, if any: the number of intervals or the margin is too small.
    pub fn empty_window(&self) -> Option<u32> {
        (0..self.first.len() as u32).find(|task| self.first[*task as usize] > self.last[*task as usize])
    }
}

#[cfg(test)]
mod tests;
