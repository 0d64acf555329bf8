//! The chain of tasks that dictates the makespan, and how much later every task could end.

use crate::network::Network;
use crate::sim::Trace;

/// Seconds by which two times may differ and still be the same moment on a path.
const TIGHT_S: f64 = 1e-7;

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
    let mut at = None;
    for task in 0..network.tasks() as u32 {
        if at.is_none_or(|best| ends(task) > ends(best)) {
            at = Some(task);
        }
    }
    let mut path = CriticalPath::default();
    while let Some(task) = at {
        path.tasks.push(task);
        path.comm += trace.finish[task as usize] - trace.start[task as usize];
        let mut before: Option<u32> = None;
        for arc in network.preds.of(task) {
            let finish = trace.finish[arc.task as usize];
            if finish + arc.delay < trace.start[task as usize] - TIGHT_S {
                continue;
            }
            let better = before.is_none_or(|best| {
                let other = trace.finish[best as usize];
                finish > other || (finish == other && arc.task < best)
            });
            if better {
                before = Some(arc.task);
            }
        }
        at = before;
    }
    path.tasks.reverse();
    path.rigid = trace.makespan - path.comm;
    path
}

/// How much later each task could finish without moving the makespan, at ideal speed after it, seconds.
pub fn slack(network: &Network, trace: &Trace) -> Vec<f64> {
    let latest = crate::windows::latest_finish(network, trace.makespan);
    latest.iter().zip(&trace.finish).map(|(latest, finish)| latest - finish).collect()
}

#[cfg(test)]
mod tests;
