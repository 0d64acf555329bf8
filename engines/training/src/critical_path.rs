//! The chain of tasks that dictates the makespan, and how much later every task could end.

use crate::network::{Arc, Network};
use crate::sim::Trace;

/// Seconds by which two times may differ and still be the same moment on a path.
const TIGHT_S: f64 = 1e-7;

/// Seconds by which two times may differ and still be a tie: sums of the same delays in another order do.
const TIE_S: f64 = 1e-9;

/// A chain of tasks each of which starts when the one before it allows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPath {
    /// Tasks from the first to the last.
    pub tasks: Vec<u32>,
    /// Sum of their durations, seconds.
    pub comm: f64,
    /// Everything else up to the makespan, seconds.
    pub rigid: f64,
}

/// Walks back from the task that ends last (ties: smallest id) over tight predecessors (ties: the largest
/// finish, then the smallest id).
pub fn critical_path(network: &Network, trace: &Trace) -> CriticalPath {
    let ends = |task: u32| trace.finish[task as usize] + network.tail[task as usize];
    let mut at = latest(0..network.tasks() as u32, ends);
    let mut path = CriticalPath::default();
    while let Some(task) = at {
        path.tasks.push(task);
        path.comm += trace.finish[task as usize] - trace.start[task as usize];
        let start = trace.start[task as usize];
        let tight = |arc: &&Arc| trace.finish[arc.task as usize] + arc.delay >= start - TIGHT_S;
        let before = network.preds.of(task).iter().filter(tight).map(|arc| arc.task);
        at = latest(before, |task| trace.finish[task as usize]);
    }
    path.tasks.reverse();
    path.rigid = trace.makespan - path.comm;
    path
}

/// The task with the largest time, the smallest id among equals.
fn latest(tasks: impl Iterator<Item = u32> + Clone, time: impl Fn(u32) -> f64) -> Option<u32> {
    let largest = tasks.clone().map(&time).fold(f64::NEG_INFINITY, f64::max);
    tasks.filter(|task| time(*task) >= largest - TIE_S).min()
}

/// How much later each task could finish without moving the makespan, at ideal speed after it, seconds.
pub fn slack(network: &Network, trace: &Trace) -> Vec<f64> {
    let latest = crate::windows::latest_finish(network, trace.makespan);
    latest.iter().zip(&trace.finish).map(|(latest, finish)| latest - finish).collect()
}

#[cfg(test)]
mod tests;
