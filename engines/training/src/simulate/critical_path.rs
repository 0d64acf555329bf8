//! The chain of tasks that determines the makespan, and the slack of every task.

use crate::model::network::{Arc, Network};
use crate::simulate::iteration::Trace;

/// Maximum difference of two times that count as the same moment on a path, seconds.
const TIGHT_S: f64 = 1e-7;

/// Maximum difference of two times that count as a tie, seconds: sums of the same delays in another order differ by
/// less.
const TIE_S: f64 = 1e-9;

/// A chain of tasks, each of which starts when the previous one allows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPath {
    /// Tasks from the first to the last.
    pub tasks: Vec<u32>,
    /// Sum of the durations of these tasks, seconds.
    pub comm: f64,
    /// All other time up to the end of the work after the last task, seconds.
    pub rigid: f64,
}

/// Finds the critical path: walks back from the task that ends last, work after it included, over tight predecessors.
/// Among tasks with equal ends, the path contains the task with the largest finish; among tasks with equal finishes,
/// the task with the smallest id. A reduced graph may omit a tail that another task implies, but never the tail of the
/// last task.
pub fn critical_path(network: &Network, trace: &Trace) -> CriticalPath {
    // Ends include the work that follows a task.
    match last_of(network, trace, 0..network.tasks() as u32) {
        Some(last) => chain_to(network, trace, last),
        None => CriticalPath::default(),
    }
}

/// The chain that ends last among the chains that do not end with the last task of the critical path; `None` without
/// another end.
///
/// Only ends count: tasks without successors, or with work after them. A side branch that rejoins the critical path has
/// the same end and does not count.
pub fn second_chain(network: &Network, trace: &Trace, path: &CriticalPath) -> Option<CriticalPath> {
    // The last task of the path is excluded, not the whole path.
    let first = path.tasks.last().copied();
    let ends = (0..network.tasks() as u32).filter(|task| {
        Some(*task) != first && (network.is_sink(*task) || network.tail[*task as usize] > 0.0)
    });
    Some(chain_to(network, trace, last_of(network, trace, ends)?))
}

/// The task that ends last, work after it included.
fn last_of(network: &Network, trace: &Trace, tasks: impl Iterator<Item = u32> + Clone) -> Option<u32> {
    let ends = |task: u32| trace.finish[task as usize] + network.tail[task as usize];
    latest(tasks, ends, |task| trace.finish[task as usize])
}

/// The chain of tight predecessors that leads to a task; it ends with the work after that task.
fn chain_to(network: &Network, trace: &Trace, last: u32) -> CriticalPath {
    let mut path = CriticalPath::default();
    let mut at = Some(last);
    // Backward walk: each step takes the tight predecessor that ends last.
    while let Some(task) = at {
        path.tasks.push(task);
        path.comm += trace.finish[task as usize] - trace.start[task as usize];
        let start = trace.start[task as usize];
        // A predecessor is tight if its finish plus the delay is the start of this task.
        let tight = |arc: &&Arc| trace.finish[arc.task as usize] + arc.delay >= start - TIGHT_S;
        let before = network.preds.of(task).iter().filter(tight).map(|arc| arc.task);
        let finish = |task: u32| trace.finish[task as usize];
        at = latest(before, finish, finish);
    }
    path.tasks.reverse();
    path.rigid = trace.finish[last as usize] + network.tail[last as usize] - path.comm;
    path
}

/// The task with the largest first time; among tasks with equal first times, the task with the largest second time, and
/// among these the smallest id.
fn latest(
    tasks: impl Iterator<Item = u32> + Clone,
    first: impl Fn(u32) -> f64,
    second: impl Fn(u32) -> f64,
) -> Option<u32> {
    // The maximum minus a tolerance; all values from there on count as ties.
    let top = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::NEG_INFINITY, f64::max) - TIE_S;
    // Two-stage maximum with tolerances, so that a different order of sums gives the same path.
    let least = top(&mut tasks.clone().map(&first));
    let tied = tasks.filter(|task| first(*task) >= least);
    let least = top(&mut tied.clone().map(&second));
    tied.filter(|task| second(*task) >= least).min()
}

/// Returns, for each task, the time by which its finish can be delayed without lengthening the iteration if everything
/// after the task runs at ideal speed, seconds.
pub fn slack(network: &Network, trace: &Trace) -> Vec<f64> {
    // Latest finishes with which the iteration still ends by the makespan if everything after them runs at full speed.
    let latest = crate::simulate::windows::latest_finish(network, trace.makespan);
    latest.iter().zip(&trace.finish).map(|(latest, finish)| latest - finish).collect()
}

/// Returns, for each task, the time by which its finish can be delayed without lengthening the iteration if everything
/// after the task keeps its duration, seconds; 0 for tasks on the critical path.
pub fn spare(network: &Network, trace: &Trace) -> Vec<f64> {
    // Backward pass with the planned durations: the latest finish of each task.
    let mut latest: Vec<f64> = network.tail.iter().map(|tail| trace.makespan - tail).collect();
    for &task in network.order.iter().rev() {
        for arc in network.succs.of(task) {
            let next = arc.task as usize;
            // The successor keeps the duration that it had.
            let start = latest[next] - (trace.finish[next] - trace.start[next]);
            latest[task as usize] = latest[task as usize].min(start - arc.delay);
        }
    }
    latest.iter().zip(&trace.finish).map(|(latest, finish)| latest - finish).collect()
}

#[cfg(test)]
mod tests;
