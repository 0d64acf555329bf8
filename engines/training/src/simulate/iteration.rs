//! Simulation of one iteration on given circuits: ideal, max-min fair and level-first.
//!
//! A task starts as soon as its predecessors and their delays allow. Uncontended tasks get their duration at once. For
//! contended tasks, rates are recomputed in the connected component (through shared links and NICs) in which a task
//! started or ended. Events that differ only by rounding count as one event. Rates are fractions of one NIC per flow,
//! work is seconds at full speed.

mod fill;
mod ideal;
mod level;
mod trace;

pub use ideal::{IdealRun, ideal};
pub use level::tails_to_go;
pub use trace::{Piece, Trace};

use crate::model::network::Network;
use crate::simulate::contention::Contention;
use crate::simulate::same_moment_s;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rule by which tasks that share links or NICs are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Only NICs limit rates; circuits do not.
    Ideal,
    /// Max-min fairness per flow.
    Fair,
    /// Tasks in descending order of remaining work plus tail.
    Level,
}

/// Tasks whose levels differ by less than this are served together. Levels are sums of durations; rounding must not
/// separate tasks of equal level.
const LEVEL_TOLERANCE_S: f64 = 1e-7;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Finish,
    Arrive,
    Meet,
}

/// An event of the simulation. Events are ordered by time, then by task; a time is stored as its bits, which have the
/// same order as the times because times are not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time_bits: u64,
    task: u32,
    what: What,
    version: u32,
}

/// A reusable simulator: buffers only, no state between runs.
#[derive(Clone, Debug, Default)]
pub struct Simulator {
    heap: BinaryHeap<Reverse<Event>>,
    pending: Vec<u32>,
    ready: Vec<f64>,
    start: Vec<f64>,
    finish: Vec<f64>,
    /// Work of each task that is left at `updated`, seconds at full speed.
    left: Vec<f64>,
    /// Current speed of each task; negative while the task has no speed yet.
    speed: Vec<f64>,
    updated: Vec<f64>,
    version: Vec<u32>,
    meet_version: Vec<u32>,
    to_go: Vec<f64>,
    /// Running contended tasks of every resource: directed links, then NIC groups.
    running: Vec<Vec<u32>>,
    dirty: Vec<u32>,
    fill: fill::Filler,
    sent: Vec<f64>,
}

/// Inputs of one run, fixed while it lasts.
struct IterationRun<'a> {
    network: &'a Network,
    contention: &'a Contention,
    circuits: &'a [u32],
    rule: Rule,
    tolerance: f64,
}

impl IterationRun<'_> {
    fn competes(&self, task: u32) -> bool {
        match self.rule {
            Rule::Ideal => self.contention.nic_contended[task as usize],
            Rule::Fair | Rule::Level => self.contention.contended[task as usize],
        }
    }

    fn each_resource(&self, task: u32, mut visit: impl FnMut(usize, f64)) {
        // Without circuit limits only NICs are shared.
        if self.rule != Rule::Ideal {
            visit(self.network.via[task as usize] as usize, self.network.flows[task as usize]);
        }
        for &(group, weight) in &self.network.nics_of[task as usize] {
            visit(self.network.carried.len() + group as usize, weight);
        }
    }

    fn capacity(&self, resource: usize) -> f64 {
        // Capacities in NICs: each circuit counts 1, a NIC group counts 1.
        if resource < self.network.carried.len() { f64::from(self.circuits[resource / 2]) } else { 1.0 }
    }
}

impl Simulator {
    /// Creates a simulator; buffers grow with the first run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makespan of `circuits` (one number per link) under `rule`; fills `trace` if there is one.
    pub fn run(
        &mut self,
        network: &Network,
        contention: &Contention,
        circuits: &[u32],
        rule: Rule,
        mut trace: Option<&mut Trace>,
    ) -> f64 {
        // Event-driven simulation: a heap of arrivals, finishes and meetings; stale events are recognised by their
        // version.
        let mut run = IterationRun { network, contention, circuits, rule, tolerance: LEVEL_TOLERANCE_S };
        self.reset(&run);
        // The allowed number of meetings grows with the number of tasks.
        let mut meetings = 0usize;
        let mut allowed = 10_000 + 50 * network.tasks();
        while let Some(Reverse(first)) = self.heap.pop() {
            let now = f64::from_bits(first.time_bits);
            meetings += usize::from(first.what == What::Meet);
            self.handle(first, now, &run, trace.as_deref_mut());
            // All events of one moment are handled before rates are computed.
            while let Some(Reverse(event)) = self.heap.peek().copied()
                && f64::from_bits(event.time_bits) <= now + same_moment_s(now)
            {
                self.heap.pop();
                meetings += usize::from(event.what == What::Meet);
                self.handle(event, f64::from_bits(event.time_bits), &run, trace.as_deref_mut());
            }
            // To prevent endless meetings, the tolerance grows, so that levels merge.
            if meetings > allowed {
                // Tasks on several resources can become level and separate again endlessly; coarser groups end this.
                run.tolerance *= 10.0;
                allowed *= 2;
            }
            // Rates change only in components that an event touched.
            if !self.dirty.is_empty() {
                self.refresh(now, &run, trace.as_deref_mut());
            }
        }
        let mut makespan = 0.0f64;
        for task in 0..network.tasks() {
            // The makespan includes the work after a task.
            makespan = makespan.max(self.finish[task] + network.tail[task]);
        }
        if let Some(trace) = trace {
            trace.makespan = makespan;
            trace.start.clone_from(&self.start);
            trace.finish.clone_from(&self.finish);
        }
        makespan
    }

    fn reset(&mut self, run: &IterationRun<'_>) {
        let network = run.network;
        let n = network.tasks();
        self.heap.clear();
        self.dirty.clear();
        for list in [&mut self.ready, &mut self.start, &mut self.finish, &mut self.updated, &mut self.sent] {
            list.clear();
            list.resize(n, 0.0);
        }
        // At the start, every task has all its work left.
        self.left.clone_from(&network.tau);
        self.speed.clear();
        self.speed.resize(n, -1.0);
        for list in [&mut self.version, &mut self.meet_version] {
            list.clear();
            list.resize(n, 0);
        }
        self.running.iter_mut().for_each(Vec::clear);
        self.running.resize(network.carried.len() + network.nic_groups.len(), Vec::new());
        self.fill.reset(n, self.running.len());
        if run.rule == Rule::Level {
            // Levels begin as the longest tail after each task.
            level::tails_into(network, &mut self.to_go);
        }
        self.pending.clear();
        self.pending.extend((0..n as u32).map(|task| network.preds.of(task).len() as u32));
        for task in 0..n as u32 {
            // Tasks without predecessors arrive at their release.
            if self.pending[task as usize] == 0 {
                self.push(network.release[task as usize], task, What::Arrive, 0);
            }
        }
    }

    fn push(&mut self, time: f64, task: u32, what: What, version: u32) {
        self.heap.push(Reverse(Event { time_bits: time.to_bits(), task, what, version }));
    }

    fn handle(&mut self, event: Event, time: f64, run: &IterationRun<'_>, trace: Option<&mut Trace>) {
        let task = event.task;
        let index = task as usize;
        match event.what {
            What::Arrive => {
                self.start[index] = time;
                self.updated[index] = time;
                // Contended tasks join their resources and wait for rates.
                if run.competes(task) {
                    run.each_resource(task, |resource, _| {
                        self.running[resource].push(task);
                        self.dirty.push(resource as u32);
                    });
                } else {
                    let duration = match run.rule {
                        // Without competition the duration is known at once.
                        Rule::Ideal => run.network.tau[index],
                        Rule::Fair | Rule::Level => {
                            let circuits = run.circuits[run.network.link_of(task)];
                            run.network.duration_alone(task, circuits)
                        }
                    };
                    self.push(time + duration, task, What::Finish, 0);
                }
            }
            What::Finish => {
                // A finish that was planned at an older rate is stale.
                if event.version != self.version[index] {
                    return;
                }
                self.finish[index] = time;
                // The last piece carries what was not yet sent.
                if let Some(trace) = trace {
                    let volume = run.network.volume[index] - self.sent[index];
                    trace.pieces.push(Piece { task, start: self.updated[index], end: time, volume });
                }
                if run.competes(task) {
                    run.each_resource(task, |resource, _| {
                        // Freed capacity changes the rates of the component.
                        self.running[resource].retain(|other| *other != task);
                        self.dirty.push(resource as u32);
                    });
                }
                // Last predecessor finished: the task arrives after delay and release.
                for arc in run.network.succs.of(task) {
                    let to = arc.task as usize;
                    self.ready[to] = self.ready[to].max(time + arc.delay);
                    self.pending[to] -= 1;
                    if self.pending[to] == 0 {
                        let at = self.ready[to].max(run.network.release[to]);
                        self.push(at, arc.task, What::Arrive, 0);
                    }
                }
            }
            What::Meet => {
                // Only the latest planned meeting of a task that is still running has an effect.
                if event.version == self.meet_version[index] && self.finish[index] == 0.0 {
                    run.each_resource(task, |resource, _| self.dirty.push(resource as u32));
                }
            }
        }
    }

    /// Computes new rates for every component with a dirty resource.
    fn refresh(&mut self, now: f64, run: &IterationRun<'_>, mut trace: Option<&mut Trace>) {
        // Each component is processed once per event, even if several of its resources are dirty.
        self.fill.next_round();
        let dirty = std::mem::take(&mut self.dirty);
        for &resource in &dirty {
            if !self.fill.collect(resource, &self.running, run) || self.fill.tasks.is_empty() {
                continue;
            }
            let mut fill = std::mem::take(&mut self.fill);
            // Rates of one component.
            match run.rule {
                Rule::Ideal | Rule::Fair => fill.fair(run),
                Rule::Level => self.level_speeds(&mut fill, now, run),
            }
            for position in 0..fill.tasks.len() {
                self.turn(fill.tasks[position], fill.speeds[position], now, run, trace.as_deref_mut());
            }
            // The next time at which the levels of two tasks of the component become equal.
            if run.rule == Rule::Level {
                self.plan_meeting(&fill, now, run);
            }
            self.fill = fill;
        }
        self.dirty = dirty;
        self.dirty.clear();
    }

    /// Work of a task that is left at `now`, seconds at full speed.
    fn left_at(&self, task: u32, now: f64) -> f64 {
        let index = task as usize;
        // Rounding never makes work negative.
        (self.left[index] - self.speed[index].max(0.0) * (now - self.updated[index]).max(0.0)).max(0.0)
    }

    /// Gives a running task a new speed.
    fn turn(&mut self, task: u32, speed: f64, now: f64, run: &IterationRun<'_>, trace: Option<&mut Trace>) {
        let index = task as usize;
        // Unchanged speed: the planned finish stays valid.
        if self.speed[index] == speed {
            return;
        }
        let now = now.max(self.updated[index]);
        // Subtracts the work done at the old speed up to now.
        self.left[index] = self.left_at(task, now);
        if let Some(trace) = trace
            && now > self.updated[index]
        {
            let span = now - self.updated[index];
            // Volume sent at the old speed.
            let volume = self.speed[index] * span * run.network.flows[index] * run.network.rate;
            self.sent[index] += volume;
            trace.pieces.push(Piece { task, start: self.updated[index], end: now, volume });
        }
        self.updated[index] = now;
        self.speed[index] = speed;
        // Older finish events become stale.
        self.version[index] += 1;
        if speed > 0.0 {
            self.push(now + self.left[index] / speed, task, What::Finish, self.version[index]);
        }
    }
}

#[cfg(test)]
mod tests;
