//! Valid rows that make the linear relaxation account for the number of circuits.
//!
//! Without these rows the relaxation lets every task run in parallel with itself at half activity and ignores
//! contention. The rows hold for every schedule of the model, so they cut off no plan.

use super::Writer;
use crate::model::network::Network;
use crate::simulate::iteration::tails_to_go;
use lightbay_core::method::MethodError;
use lightbay_core::problem::counted;
use lightbay_highs::model::Column;

/// Maximum number of intervals that the windows of two ordered tasks may share if the model is to have rows on their
/// order; if the windows share more intervals, only the times enforce the order. Longer overlaps would add many nearly
/// equal rows, one per shared interval.
const SHARED: u32 = 16;

impl Writer<'_> {
    /// Adds all rows of this module.
    pub(super) fn cuts(&mut self) -> Result<(), MethodError> {
        self.durations()?;
        self.within_windows()?;
        self.orders()?;
        self.contention()
    }

    /// Adds rows by which a task on v circuits takes at least V/(min(F,v)B); this is the duration of a task that never
    /// competes.
    fn durations(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        for task in 0..network.tasks() {
            // Duration by the chosen count, linear because exactly one part is 1.
            let mut terms = vec![(self.columns.finish[task], 1.0), (self.columns.start[task], -1.0)];
            for &(count, part) in &self.columns.parts[network.link_of(task as u32)] {
                terms.push((part, -network.duration_alone(task as u32, count) / self.unit));
            }
            self.at_least(
                format!("duration of {} on its circuits", self.ask.scope.names.tasks[task]),
                0.0,
                &terms,
            )?;
        }
        Ok(())
    }

    /// Adds rows by which a task lies between the first and the last event of its window.
    fn within_windows(&mut self) -> Result<(), MethodError> {
        for task in 0..self.tau.len() {
            if !self.ask.windows.counts(task) {
                continue;
            }
            let (first, last) = (self.ask.windows.first[task], self.ask.windows.last[task]);
            let name = &self.ask.scope.names.tasks[task];
            // Start and finish lie between the events of the index window.
            let from = self.columns.events[first as usize - 1];
            let terms = [(self.columns.start[task], 1.0), (from, -1.0)];
            self.at_least(format!("start of {name} in its window"), 0.0, &terms)?;
            let to = self.columns.events[last as usize];
            let terms = [(to, 1.0), (self.columns.finish[task], -1.0)];
            self.at_least(format!("finish of {name} in its window"), 0.0, &terms)?;
        }
        Ok(())
    }

    /// Adds rows by which a task is not active after one of its successors has begun, unless their windows share too
    /// many intervals.
    fn orders(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        for next in 0..network.tasks() {
            if !self.ask.windows.counts(next) {
                continue;
            }
            for arc in network.preds.of(next as u32) {
                let task = arc.task as usize;
                let from = self.ask.windows.first[next];
                let to = if self.ask.windows.counts(task) { self.ask.windows.last[task] } else { 0 };
                if to < from || to - from >= SHARED {
                    continue;
                }
                // If `next` has begun by the interval, `task` is not active in the interval; the sum of the begin flags
                // of `next` up to the interval shows whether `next` has begun.
                for interval in from..=to {
                    let mut terms: Vec<(Column, f64)> =
                        (from..=interval).map(|k| (self.begins(next, k), 1.0)).collect();
                    terms.push((self.active(task, interval), 1.0));
                    let names = &self.ask.scope.names.tasks;
                    let row = format!("{} ends before {} in interval {interval}", names[task], names[next]);
                    self.at_most(row, 1.0, &terms)?;
                }
            }
        }
        Ok(())
    }

    /// Adds rows for sets of contended tasks of one directed link that cannot start before some time. The circuits of
    /// the link must carry the volume of the set after that time: end >= time + volume / circuits + the least work that
    /// follows a task of the set.
    fn contention(&mut self) -> Result<(), MethodError> {
        let network = &self.ask.scope.evaluator.network;
        let to_go = tails_to_go(network);
        for (via, tasks) in network.carried.iter().enumerate() {
            let rivals: Vec<u32> = tasks
                .iter()
                .copied()
                // Only contended tasks can queue behind each other.
                .filter(|task| self.ask.scope.evaluator.contention.contended[*task as usize])
                .collect();
            for &first in &rivals {
                self.go_on()?;
                // In every schedule, the tasks of `later` start no earlier than `first`, so they use the link only
                // after the start of `first`.
                let later: Vec<u32> = followers(network, &self.est, first, &rivals);
                // The duration row already covers a single task.
                if later.len() < 2 {
                    continue;
                }
                let volume: f64 =
                    later.iter().map(|t| network.flows[*t as usize] * self.tau[*t as usize]).sum();
                // Work that must follow every task of `later` also follows the last of these tasks.
                let after =
                    later.iter().map(|t| to_go[*t as usize] / self.unit).fold(f64::INFINITY, f64::min);
                // Volume divided by the chosen number of circuits: linear, because exactly one part is 1.
                let shared: Vec<(Column, f64)> = self.columns.parts[via / 2]
                    .iter()
                    .map(|&(count, part)| (part, -volume / f64::from(count)))
                    .collect();
                let words = format!(
                    "{} and {} on {}",
                    self.ask.scope.names.tasks[first as usize],
                    counted(later.len() as u64 - 1, "later task", "later tasks"),
                    self.ask.scope.names.via(via)
                );
                for arc in network.preds.of(first) {
                    let mut terms =
                        vec![(self.columns.end, 1.0), (self.columns.finish[arc.task as usize], -1.0)];
                    terms.extend_from_slice(&shared);
                    let row = format!("{words} after {}", self.ask.scope.names.tasks[arc.task as usize]);
                    self.at_least(row, after + arc.delay / self.unit, &terms)?;
                }
                let mut terms = vec![(self.columns.end, 1.0)];
                terms.extend_from_slice(&shared);
                self.at_least(words, after + self.est[first as usize], &terms)?;
            }
        }
        Ok(())
    }
}

/// Returns `first` and those of its `rivals` that start no earlier than `first` in any schedule. A rival is known to do
/// so under two conditions: its earliest start is not before the earliest start of `first`; and after the finish of
/// each predecessor of `first`, the rival must wait at least as long as `first`.
fn followers(network: &Network, est: &[f64], first: u32, rivals: &[u32]) -> Vec<u32> {
    let preds = network.preds.of(first);
    let released = est[first as usize];
    let ahead: Vec<Vec<f64>> = preds.iter().map(|arc| distances(network, arc.task)).collect();
    rivals
        .iter()
        .copied()
        .filter(|&task| {
            task == first
                || (est[task as usize] >= released
                    && preds.iter().zip(&ahead).all(|(arc, ahead)| ahead[task as usize] >= arc.delay - 1e-12))
        })
        .collect()
}

/// Minimum time from the finish of `from` to the start of every task; minus infinity where no path leads.
// Longest path at full speed: a lower bound on the time between two tasks in any schedule.
fn distances(network: &Network, from: u32) -> Vec<f64> {
    let mut ahead = vec![f64::NEG_INFINITY; network.tasks()];
    for arc in network.succs.of(from) {
        ahead[arc.task as usize] = ahead[arc.task as usize].max(arc.delay);
    }
    for &task in &network.order {
        let reached = ahead[task as usize];
        if reached == f64::NEG_INFINITY {
            continue;
        }
        for arc in network.succs.of(task) {
            let there = &mut ahead[arc.task as usize];
            *there = there.max(reached + network.tau[task as usize] + arc.delay);
        }
    }
    ahead
}
