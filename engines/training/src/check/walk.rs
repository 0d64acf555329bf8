//! Walk over the precedence graph with given transfer times, which gives the earliest starts and the end of the
//! iteration.

use super::case::{Case, Dag, Work};
use super::replay::Replay;
use std::collections::BTreeMap;

/// The earliest moment at which a node may start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Earliest {
    /// The earliest moment that all predecessors allow, seconds.
    pub at_s: f64,
    /// The transfer that determines this moment, if a transfer does.
    pub from: Option<usize>,
    /// The earliest moment that work without preceding transfers allows, seconds.
    pub rigid_s: f64,
}

/// Visits every node in order; `finish(task, earliest)` returns the end of a transfer. Returns the end of the
/// iteration.
pub(super) fn walk(dag: &Dag, mut finish: impl FnMut(usize, Earliest) -> f64) -> f64 {
    let mut end_s = vec![0.0_f64; dag.nodes().len()];
    // For fixed work: the end that fixed predecessors alone allow, and the last transfer on the binding path.
    let mut rigid_end_s = vec![f64::NEG_INFINITY; dag.nodes().len()];
    let mut origin: Vec<Option<usize>> = vec![None; dag.nodes().len()];
    let mut makespan_s = 0.0_f64;
    for (index, node) in dag.nodes().iter().enumerate() {
        let mut earliest = Earliest { at_s: node.release_s, from: None, rigid_s: node.release_s };
        for &(pred, delay_s) in dag.preds(index) {
            if end_s[pred] + delay_s > earliest.at_s {
                earliest.at_s = end_s[pred] + delay_s;
                earliest.from = origin[pred];
            }
            earliest.rigid_s = earliest.rigid_s.max(rigid_end_s[pred] + delay_s);
        }
        match node.work {
            Work::Fixed(duration_s) => {
                end_s[index] = earliest.at_s + duration_s;
                rigid_end_s[index] = earliest.rigid_s + duration_s;
                origin[index] = earliest.from;
            }
            Work::Transfer(task) => {
                end_s[index] = finish(task, earliest);
                origin[index] = Some(task);
            }
        }
        makespan_s = makespan_s.max(end_s[index] + node.tail_s);
    }
    makespan_s
}

/// A predecessor with less slack than this is tight: it determines the start of its successor, seconds.
const TIGHT_S: f64 = 1e-7;
/// Times closer than this count as equal, and the task id breaks the tie, seconds.
const TIE_S: f64 = 1e-9;

/// Seconds of communication on the critical path of a simulated run; `None` without transfers.
///
/// The path is followed backwards, from the transfer with the latest end, where the end includes the work after the
/// transfer; among transfers with the same end, from the transfer that finishes last. Before each transfer, the path
/// contains the tight predecessor that finishes last. Ties go to the smallest task id.
pub(super) fn critical_communication_s(case: &Case<'_>, run: &Replay) -> Option<f64> {
    let node_of = case.dag.transfers(case.net.tasks.len());
    let rest_s = work_after(&case.dag);
    let ends = node_of.iter().enumerate().map(|(task, node)| (task, run.finish_s[task] + rest_s[*node]));
    let last = ends.clone().map(|(_, end_s)| end_s).fold(f64::NEG_INFINITY, f64::max);
    let tied = ends.filter(|(_, end_s)| *end_s >= last - TIE_S);
    let mut current = latest(tied.map(|(task, _)| (task, run.finish_s[task])))?;
    let mut communication_s = 0.0;
    // Starts decrease strictly along the path, so it has at most one entry per task.
    for _ in 0..case.net.tasks.len() {
        communication_s += run.finish_s[current] - run.start_s[current];
        let tight = tight_predecessors(&case.dag, run, node_of[current], run.start_s[current]);
        match latest(tight.into_iter().map(|task| (task, run.finish_s[task]))) {
            Some(task) => current = task,
            None => break,
        }
    }
    Some(communication_s)
}

/// Returns the task with the largest time; among tasks with equal times, the task with the smallest id.
fn latest(times: impl Iterator<Item = (usize, f64)> + Clone) -> Option<usize> {
    let largest = times.clone().map(|(_, time_s)| time_s).fold(f64::NEG_INFINITY, f64::max);
    times.filter(|(_, time_s)| *time_s >= largest - TIE_S).map(|(task, _)| task).min()
}

/// For every node, the length in seconds of the longest chain of fixed work that follows it without another transfer.
pub(super) fn work_after(dag: &Dag) -> Vec<f64> {
    let mut rest_s: Vec<f64> = dag.nodes().iter().map(|node| node.tail_s).collect();
    for (index, node) in dag.nodes().iter().enumerate().rev() {
        if let Work::Fixed(duration_s) = node.work {
            for &(pred, delay_s) in dag.preds(index) {
                rest_s[pred] = rest_s[pred].max(delay_s + duration_s + rest_s[index]);
            }
        }
    }
    rest_s
}

/// Transfers that determine the start of `node`: only fixed work without slack lies between them and the start.
fn tight_predecessors(dag: &Dag, run: &Replay, node: usize, start_s: f64) -> Vec<usize> {
    // Maps nodes to the longest fixed work between their end and the start of `node`; the largest index is processed
    // first, so that each value is final.
    let mut open: BTreeMap<usize, f64> = BTreeMap::new();
    let mut tight = Vec::new();
    let relax = |open: &mut BTreeMap<usize, f64>, of: usize, after_s: f64| {
        for &(pred, delay_s) in dag.preds(of) {
            let between_s = open.entry(pred).or_insert(f64::NEG_INFINITY);
            *between_s = between_s.max(after_s + delay_s);
        }
    };
    relax(&mut open, node, 0.0);
    while let Some((index, after_s)) = open.pop_last() {
        if run.node_end_s[index] + after_s < start_s - TIGHT_S {
            continue;
        }
        match dag.nodes()[index].work {
            Work::Fixed(duration_s) => relax(&mut open, index, after_s + duration_s),
            Work::Transfer(task) => tight.push(task),
        }
    }
    tight
}
