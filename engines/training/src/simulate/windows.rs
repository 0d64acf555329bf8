//! Time windows of tasks (DELTA Alg. 4) and windows of interval indices (DELTA Alg. 1).

use crate::model::network::Network;

/// Earliest start and latest finish of every task, seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// Earliest start of every task.
    pub est: Vec<f64>,
    /// Latest finish of every task in any schedule that ends by the time limit.
    pub lct: Vec<f64>,
}

impl Windows {
    /// Computes the windows of all schedules that end by `limit`.
    pub fn new(network: &Network, limit: f64) -> Self {
        Self { est: earliest_start(network), lct: latest_finish(network, limit) }
    }
}

/// Earliest start of every task if all transfers have their shortest durations, seconds.
pub fn earliest_start(network: &Network) -> Vec<f64> {
    // Forward pass with shortest durations.
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

/// Latest finish of every task if the iteration must end by `limit`, seconds.
pub fn latest_finish(network: &Network, limit: f64) -> Vec<f64> {
    // Backward pass from the limit.
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
///
/// Tasks may be left out of the intervals, because tasks that never compete need no intervals. Such a task has no
/// window, and only propagates the order of other tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWindows {
    /// Number of intervals K.
    pub intervals: u32,
    /// First interval of each task; 0 for tasks that are left out.
    pub first: Vec<u32>,
    /// Last interval of each task.
    pub last: Vec<u32>,
}

/// Maximum delay between two tasks with which the end of one task and the start of the other task can be the same
/// event, seconds. As in `event_times`, times within a nanosecond count as one event.
const SAME_MOMENT_S: f64 = 1e-9;

impl IndexWindows {
    /// Derives windows from the DAG alone.
    pub fn new(network: &Network, intervals: u32) -> Self {
        Self::among(network, &vec![true; network.tasks()], intervals)
    }

    /// Derives windows from the DAG alone for the tasks that `counted` names.
    pub fn among(network: &Network, counted: &[bool], intervals: u32) -> Self {
        let mut windows = Self::open(counted, intervals);
        windows.propagate(network, counted);
        windows
    }

    /// Returns windows in which every task that `counted` names may be active in every interval.
    pub fn open(counted: &[bool], intervals: u32) -> Self {
        Self {
            intervals,
            first: counted.iter().map(|counted| u32::from(*counted)).collect(),
            last: counted.iter().map(|counted| if *counted { intervals } else { 0 }).collect(),
        }
    }

    /// Windows around a reference schedule: tasks with successors stay within `margin` intervals of their intervals in
    /// `trace`. K is the number of intervals of `trace` plus two.
    pub fn anchored(network: &Network, trace: &crate::simulate::iteration::Trace, margin: u32) -> Self {
        let counted = vec![true; network.tasks()];
        let intervals = trace.event_times().len() as u32 + 1;
        Self::around(network, trace, &counted, margin, intervals)
    }

    /// Windows around a reference schedule for the tasks that `counted` names, with `intervals` intervals between their
    /// events.
    pub fn around(
        network: &Network,
        trace: &crate::simulate::iteration::Trace,
        counted: &[bool],
        margin: u32,
        intervals: u32,
    ) -> Self {
        let times = trace.event_times_among(counted);
        let mut windows = Self::open(counted, intervals);
        // Positions among the distinct event times of the reference run: the interval that begins at the start of the
        // task, and the interval that ends at its finish, both 1-based.
        let at = |time: f64| times.partition_point(|t| *t < time - SAME_MOMENT_S) as u32;
        for task in (0..network.tasks()).filter(|task| counted[*task] && !network.is_sink(*task as u32)) {
            let first = at(trace.start[task]) + 1;
            let last = at(trace.finish[task]).max(first);
            windows.first[task] = first.saturating_sub(margin).max(1);
            windows.last[task] = last.saturating_add(margin).min(intervals);
        }
        windows.propagate(network, counted);
        windows
    }

    /// Narrows the windows along the DAG in half intervals: event `k` is `2k`, and the time after it is `2k + 1`. Tasks
    /// that are left out may run before the first event and after the last; nothing is known about them.
    fn propagate(&mut self, network: &Network, counted: &[bool]) {
        let apart = |seconds: f64| u32::from(seconds > SAME_MOMENT_S);
        let (no_earliest, no_latest) = (0, 2 * self.intervals + 2);
        let later = |code: u32, by: u32| if code == no_earliest { code } else { code | by };
        let earlier =
            |code: u32, by: u32| if code == no_latest { code } else { code.saturating_sub(by & !code) };
        // Half intervals distinguish an event from the time after it, which determines whether a delay forces an
        // interval between two tasks.
        let n = network.tasks();
        let mut finish = vec![no_earliest; n];
        for &task in &network.order {
            let task = task as usize;
            let before = network.preds.of(task as u32).iter();
            let start = before.map(|arc| later(finish[arc.task as usize], apart(arc.delay))).max();
            let start = start.unwrap_or(no_earliest);
            // A counted task begins at an event at or after `start`, and ends at least one interval later.
            finish[task] = if counted[task] {
                self.first[task] = self.first[task].max(start.div_ceil(2) + 1);
                2 * self.first[task]
            } else {
                later(start, apart(network.tau[task]))
            };
        }
        let mut start = vec![no_latest; n];
        for &task in network.order.iter().rev() {
            let task = task as usize;
            let after = network.succs.of(task as u32).iter();
            let end = after.map(|arc| earlier(start[arc.task as usize], apart(arc.delay))).min();
            let end = end.unwrap_or(no_latest);
            // The same backwards.
            start[task] = if counted[task] {
                self.last[task] = self.last[task].min(end / 2);
                2 * self.last[task].saturating_sub(1)
            } else {
                earlier(end, apart(network.tau[task]))
            };
        }
    }

    /// The first task whose window is empty, if any: the number of intervals or the margin is too small.
    pub fn empty_window(&self) -> Option<u32> {
        (0..self.first.len() as u32).find(|task| self.first[*task as usize] > self.last[*task as usize])
    }

    /// Returns `true` if a task has a window.
    pub fn counts(&self, task: usize) -> bool {
        self.first[task] > 0
    }

    /// Number of pairs of a task and an interval in which the task may be active.
    pub fn cells(&self) -> u64 {
        let cells = self.first.iter().zip(&self.last).filter(|(first, _)| **first > 0);
        cells.map(|(first, last)| u64::from((last + 1).saturating_sub(*first))).sum()
    }
}

#[cfg(test)]
mod tests;
