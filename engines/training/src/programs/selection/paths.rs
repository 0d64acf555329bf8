//! Start times as longest paths over durations, with as few columns as possible.
//!
//! A start is the largest of several sums of a constant, durations that depend on circuits, and starts with a separate
//! column. A sum that never exceeds another sum is dropped. A start with few sums needs no column: its successors use
//! the sums instead (Fourier-Motzkin elimination). Tasks that cannot determine the end for any choice of circuits are
//! omitted.

use super::build::{Builder, Recipe};
use super::sum::Sum;
use crate::model::network::Network;

/// Milliseconds below which two sums count as equal.
pub(super) const EQUAL_MS: f64 = 1e-9;

/// Schedule of all tasks without competition on given circuits, milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Extreme {
    /// Start of every task.
    pub start: Vec<f64>,
    /// Duration of every task.
    pub duration: Vec<f64>,
    /// Time from the end of every task to the end of the iteration.
    pub to_go: Vec<f64>,
}

impl Extreme {
    pub fn new(network: &Network, x: &[u32]) -> Self {
        let duration: Vec<f64> = (0..network.tasks() as u32)
            .map(|task| 1e3 * network.duration_alone(task, x[network.link_of(task)]))
            .collect();
        let mut start: Vec<f64> = network.release.iter().map(|release| 1e3 * release).collect();
        // Forward pass.
        for &task in &network.order {
            for arc in network.preds.of(task) {
                let before = arc.task as usize;
                let ready = start[before] + duration[before] + 1e3 * arc.delay;
                start[task as usize] = start[task as usize].max(ready);
            }
        }
        let mut to_go: Vec<f64> = network.tail.iter().map(|tail| 1e3 * tail).collect();
        // Backward pass.
        for &task in network.order.iter().rev() {
            for arc in network.succs.of(task) {
                let next = arc.task as usize;
                to_go[task as usize] =
                    to_go[task as usize].max(1e3 * arc.delay + duration[next] + to_go[next]);
            }
        }
        Self { start, duration, to_go }
    }

    pub fn finish(&self, task: u32) -> f64 {
        self.start[task as usize] + self.duration[task as usize]
    }
}

/// Longest path from the end of every task to the start of `target`, at the durations of `fast`; negative if no path
/// exists.
pub(super) fn ways_to(network: &Network, target: u32, fast: &Extreme) -> Vec<f64> {
    // Backward longest path from the target over its ancestors only.
    let mut way = vec![-1.0f64; network.tasks()];
    let from = network.precedence.position(target) as usize;
    for arc in network.preds.of(target) {
        way[arc.task as usize] = way[arc.task as usize].max(1e3 * arc.delay);
    }
    for &task in network.order[..from].iter().rev() {
        let on = way[task as usize];
        if on < 0.0 {
            continue;
        }
        for arc in network.preds.of(task) {
            let total = 1e3 * arc.delay + fast.duration[task as usize] + on;
            way[arc.task as usize] = way[arc.task as usize].max(total);
        }
    }
    way
}

/// Start times of the tasks that can decide the end.
#[derive(Debug)]
pub(super) struct Paths {
    /// For each task that can determine the end, the sums whose maximum is the start of the task.
    pub starts: Vec<Vec<Sum>>,
}

impl Paths {
    /// Writes the starts of the `needed` tasks, in topological order.
    pub fn write(builder: &mut Builder<'_>, needed: &[bool]) -> Self {
        let network = &builder.ask.evaluator.network;
        let mut paths = Self { starts: vec![Vec::new(); network.tasks()] };
        let most = builder.sums();
        for &task in network.order.iter().filter(|task| needed[**task as usize]) {
            let index = task as usize;
            let mut sums = vec![Sum::of(builder.fast.start[index])];
            for arc in network.preds.of(task) {
                let delay = 1e3 * arc.delay;
                if !needed[arc.task as usize]
                    // Dominated: the predecessor is never ready later than the constant.
                    || (most > 0 && builder.slow.finish(arc.task) + delay <= sums[0].constant + EQUAL_MS)
                {
                    continue;
                }
                let mut after = builder.duration(arc.task);
                after.constant += delay;
                // Each pair of paths (to the predecessor and from it) gives one sum; dominated ones are dropped.
                for start in &paths.starts[arc.task as usize] {
                    keep_largest(&mut sums, start.plus(&after, 1.0), builder);
                }
            }
            // A sink keeps its sums; a later step decides whether it needs a column. Beyond `most` sums the start gets
            // a column, so that sums do not multiply along chains.
            if sums.len() > most && !(most > 0 && network.is_sink(task)) {
                sums = vec![builder.start_column(format!("start of task {task}"), task, sums)];
            }
            paths.starts[index] = sums;
        }
        paths
    }

    /// Sum that gives the start of a task.
    pub fn one(&mut self, builder: &mut Builder<'_>, task: u32) -> Sum {
        let sums = &mut self.starts[task as usize];
        if sums.len() > 1 {
            let column = builder.start_column(format!("start of task {task}"), task, std::mem::take(sums));
            *sums = vec![column];
        }
        sums[0].clone()
    }
}

/// Adds a sum to the list of sums whose maximum is a start. In the reduced form, drops sums that never exceed another
/// sum of the list.
pub(super) fn keep_largest(sums: &mut Vec<Sum>, new: Sum, builder: &Builder<'_>) {
    if builder.sums() == 0 {
        sums.push(new);
        return;
    }
    let model = &builder.model;
    // Dominance test by intervals: sound, though not complete.
    if sums.iter().any(|known| new.never_above(known, model, EQUAL_MS)) {
        return;
    }
    sums.retain(|known| !known.never_above(&new, model, EQUAL_MS));
    sums.push(new);
}

impl Builder<'_> {
    /// Adds a column for the maximum of `sums`. This maximum is the start of `task` or, for several tasks that are
    /// released together, their common release, which precedes or equals the start of `task`.
    pub(super) fn start_column(&mut self, name: String, task: u32, sums: Vec<Sum>) -> Sum {
        let index = task as usize;
        // Bounds of the column from its sums; the limit bounds it from above.
        let least = sums.iter().map(|sum| sum.least(&self.model)).fold(0.0, f64::max);
        let latest = self.limit_ms() - self.fast.duration[index] - self.fast.to_go[index];
        let most = if self.sums() == 0 {
            latest
        } else {
            let greatest = sums.iter().map(|sum| sum.greatest(&self.model)).fold(0.0, f64::max);
            latest.min(self.slow.start[index].max(least)).min(greatest)
        };
        let name = self.named(name, "delay");
        let (column, value) = self.shifted(name, least, most.max(least));
        for (number, sum) in sums.iter().enumerate() {
            if sum.terms.is_empty() && sum.constant <= least + EQUAL_MS {
                continue;
            }
            let row = value.plus(sum, -1.0);
            let name = format!("{} by path {number}", self.model.column_names[column.index()]);
            row.at_least_zero(&mut self.model, || name);
        }
        self.recipes.push(Recipe::Largest { sums, base: value.constant });
        value
    }
}
