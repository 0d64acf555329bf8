//! Evaluation in two steps: longest paths give the start times of all tasks; the sinks (tasks without successors) of
//! every directed link give the end of the iteration.
//!
//! Tasks with successors get their duration without competition, V/(min(F,x)*B). For the sinks of each directed link,
//! [`crate::simulate::sinks`] computes the end. The tail of a sink is the work after it. The makespan is exact at fair
//! rates if only sinks compete, and at joint rates if the competing sinks of each link also have equal tails. At joint
//! rates, the makespan is always a lower bound, because leaving out competition and using the shortest tail can only
//! shorten it.

mod moving;

use super::Rates;
use crate::model::network::Network;
use crate::simulate::contention::Contention;
use crate::simulate::iteration::{Piece, Trace};
use crate::simulate::sinks::{self, Sink, SinkScratch, Stretch};
pub use moving::Lit;

/// Class of tasks with the same link, flows and volume, which have equal durations.
#[derive(Clone, Copy, Debug)]
struct Class {
    link: u32,
    flows: f64,
    work: f64,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    task: u32,
    class: u32,
    preds_end: u32,
    release: f64,
}

/// A network compiled into arrays for the computation of longest paths. Positions: tasks with successors in topological
/// order, then sinks grouped by directed link.
#[derive(Clone, Debug, Default)]
pub struct PathModel {
    rows: Vec<Row>,
    inner: usize,
    preds: Vec<(u32, f64)>,
    classes: Vec<Class>,
    inner_tails: Vec<(u32, f64)>,
    /// Sinks of every directed link: positions from..to, and the shortest tail among them.
    sinks: Vec<(u32, u32, f64)>,
    tails: Vec<f64>,
    leaves: Vec<u32>,
    through: Vec<u32>,
}

/// Buffers of one thread, reused between evaluations.
#[derive(Clone, Debug, Default)]
pub struct ModelScratch {
    duration: Vec<f64>,
    finish: Vec<f64>,
    sinks: Vec<Sink>,
    tail: SinkScratch,
}

impl PathModel {
    /// Compiles a network: tasks with successors first, then sinks by directed link, so that one pass fills all starts.
    pub(super) fn new(network: &Network, contention: &Contention) -> Self {
        let mut model = Self::default();
        let mut position = vec![0u32; network.tasks()];
        let mut class_of = rustc_hash::FxHashMap::default();
        let inner: Vec<u32> = network.order.iter().copied().filter(|task| !network.is_sink(*task)).collect();
        model.inner = inner.len();
        let mut sinks = Vec::new();
        for tasks in &network.carried {
            let from = (inner.len() + sinks.len()) as u32;
            let here: Vec<u32> = tasks.iter().copied().filter(|task| network.is_sink(*task)).collect();
            let shortest = here.iter().map(|task| network.tail[*task as usize]).fold(f64::INFINITY, f64::min);
            sinks.extend_from_slice(&here);
            let to = from + here.len() as u32;
            model.sinks.push((from, to, if here.is_empty() { 0.0 } else { shortest }));
        }
        for (at, &task) in inner.iter().chain(&sinks).enumerate() {
            position[task as usize] = at as u32;
            let index = task as usize;
            let (flows, work) = (network.flows[index], network.tau[index]);
            let link = network.link_of(task) as u32;
            // Equal durations are computed once per evaluation.
            let class = *class_of.entry((link, flows.to_bits(), work.to_bits())).or_insert_with(|| {
                model.classes.push(Class { link, flows, work });
                model.classes.len() as u32 - 1
            });
            let preds = network.preds.of(task).iter();
            model.preds.extend(preds.map(|arc| (position[arc.task as usize], arc.delay)));
            let preds_end = model.preds.len() as u32;
            model.rows.push(Row { task, class, preds_end, release: network.release[index] });
            model.tails.push(network.tail[index]);
            if at < model.inner && network.tail[index] > 0.0 {
                model.inner_tails.push((at as u32, network.tail[index]));
            }
        }
        for link in 0..network.links() {
            let idle = network.carried[2 * link].is_empty() && network.carried[2 * link + 1].is_empty();
            // Through links carry a task with successors; leaves carry sinks only.
            if !contention.leaf[link] {
                model.through.push(link as u32);
            } else if !idle {
                model.leaves.push(link as u32);
            }
        }
        model
    }

    /// Links that carry only sinks: their circuits delay no other task. Idle links are left out.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// Links that carry tasks with successors.
    pub fn through(&self) -> &[u32] {
        &self.through
    }

    /// Computes the start times for `x`; only the circuits of [`PathModel::through`] links matter. The methods below
    /// that take the same scratch use these start times. Returns the largest finish + tail of the tasks with
    /// successors.
    pub fn start(&self, x: &[u32], scratch: &mut ModelScratch) -> f64 {
        scratch.duration.clear();
        // Duration alone: V / (min(F, x) B), once per class.
        scratch.duration.extend(
            self.classes
                .iter()
                .map(|class| class.work / (f64::from(x[class.link as usize]) / class.flows).min(1.0)),
        );
        scratch.finish.clear();
        let mut from = 0;
        // Longest path, rows in topological order.
        for row in &self.rows[..self.inner] {
            let start = self.start_of(row, from, &scratch.finish);
            from = row.preds_end as usize;
            scratch.finish.push(start + scratch.duration[row.class as usize]);
        }
        // Sinks: their entry holds the start, where other tasks have the finish.
        for row in &self.rows[self.inner..] {
            let start = self.start_of(row, from, &scratch.finish);
            from = row.preds_end as usize;
            scratch.finish.push(start);
        }
        self.inner_tails.iter().map(|&(at, tail)| scratch.finish[at as usize] + tail).fold(0.0, f64::max)
    }

    fn start_of(&self, row: &Row, from: usize, finish: &[f64]) -> f64 {
        let mut start = row.release;
        for &(pred, delay) in &self.preds[from..row.preds_end as usize] {
            let ready = finish[pred as usize] + delay;
            if ready > start {
                start = ready;
            }
        }
        start
    }

    fn gather(&self, via: usize, scratch: &mut ModelScratch) {
        let (from, to, _) = self.sinks[via];
        scratch.sinks.clear();
        for at in from as usize..to as usize {
            let row = &self.rows[at];
            let class = &self.classes[row.class as usize];
            scratch.sinks.push(Sink {
                task: row.task,
                release: scratch.finish[at],
                work: class.work,
                flows: class.flows,
                tail: self.tails[at],
            });
        }
        sinks::sort(&mut scratch.sinks);
    }

    /// Largest finish + tail of the sinks of one link with `circuits`; needs [`PathModel::start`].
    pub fn link_end(&self, link: u32, circuits: u32, rates: Rates, scratch: &mut ModelScratch) -> f64 {
        let mut end = 0.0f64;
        for via in [2 * link as usize, 2 * link as usize + 1] {
            let (from, to, shortest) = self.sinks[via];
            if from == to {
                continue;
            }
            self.gather(via, scratch);
            let circuits = f64::from(circuits);
            // Level-first end with the shortest tail, and the end of each sink alone with its own tail: both are lower
            // bounds, and the first is exact if tails are equal.
            end = end.max(match rates {
                Rates::Fair => sinks::fair(&scratch.sinks, circuits, &mut scratch.tail, None),
                Rates::Level | Rates::Best => {
                    let alone =
                        |sink: &Sink| sink.release + sink.work / (circuits / sink.flows).min(1.0) + sink.tail;
                    let alone = scratch.sinks.iter().map(alone).fold(0.0, f64::max);
                    alone
                        .max(shortest + sinks::level_first(&scratch.sinks, circuits, &mut scratch.tail, None))
                }
            });
        }
        end
    }

    /// A quick lower bound on [`PathModel::link_end`] under any rates; needs [`PathModel::start`].
    pub fn link_bound(&self, link: u32, circuits: u32, scratch: &mut ModelScratch) -> f64 {
        let mut bound = 0.0f64;
        for via in [2 * link as usize, 2 * link as usize + 1] {
            let (from, to, shortest) = self.sinks[via];
            if from < to {
                self.gather(via, scratch);
                bound = bound.max(shortest + sinks::quick_bound(&scratch.sinks, f64::from(circuits)));
            }
        }
        bound
    }

    /// Returns the makespan of `x`, seconds.
    pub fn makespan(&self, x: &[u32], rates: Rates, scratch: &mut ModelScratch) -> f64 {
        // Everything that can end the iteration: inner tails, through links, leaves.
        let mut end = self.start(x, scratch);
        for &link in self.through.iter().chain(&self.leaves) {
            end = end.max(self.link_end(link, x[link as usize], rates, scratch));
        }
        end
    }

    /// The schedule of `x`; it is exact if [`PathModel::makespan`] is exact.
    pub(super) fn trace(
        &self,
        network: &Network,
        x: &[u32],
        rates: Rates,
        scratch: &mut ModelScratch,
    ) -> Trace {
        self.start(x, scratch);
        let n = network.tasks();
        let mut trace = Trace { start: vec![0.0; n], finish: vec![0.0; n], ..Trace::default() };
        let mut from = 0;
        for (at, row) in self.rows[..self.inner].iter().enumerate() {
            let (task, end) = (row.task as usize, scratch.finish[at]);
            // Recomputed from the predecessors, because end - duration would not be bit-equal.
            let start = self.start_of(row, from, &scratch.finish);
            from = row.preds_end as usize;
            (trace.start[task], trace.finish[task]) = (start, end);
            trace.pieces.push(Piece { task: row.task, start, end, volume: network.volume[task] });
        }
        let mut stretches: Vec<Stretch> = Vec::new();
        for via in 0..self.sinks.len() {
            let (from, to, _) = self.sinks[via];
            if from == to {
                continue;
            }
            self.gather(via, scratch);
            stretches.clear();
            let circuits = f64::from(x[via / 2]);
            let record = Some(&mut stretches);
            match rates {
                Rates::Fair => sinks::fair(&scratch.sinks, circuits, &mut scratch.tail, record),
                Rates::Level | Rates::Best => {
                    sinks::level_first(&scratch.sinks, circuits, &mut scratch.tail, record)
                }
            };
            trace.add_stretches(network, &scratch.sinks, &stretches);
        }
        trace.makespan = (0..n).map(|task| trace.finish[task] + network.tail[task]).fold(0.0, f64::max);
        trace
    }
}
