//! The integer model over slots of fixed length (DELTA Eq. 19-30), for comparison.
//!
//! Every task has a rate in every slot of its window. Durations and delays are rounded up to whole slots, so schedules
//! are longer than necessary; a task may begin in the slot in which it is released. The model grows with the iteration
//! time divided by the slot length. Rates are in NICs, times in slots; slot t lasts from t to t + 1.
//!
//! The model is written as arrays, because it grows with the number of slots: adding the finished rows through good_lp
//! alone takes 1.4 times as long as writing the whole model at 13,420 columns, and 2.5 times as long at 17,207 columns.

mod start;

pub use start::Slots;

use crate::model::network::Network;
use crate::programs::interval::Names;
use lightbay_highs::model::{Column, Model};

/// Fractions of a slot below this count as rounding.
const WHOLE: f64 = 1e-9;

/// Number of slots of a duration, rounded up.
pub(crate) fn slots(seconds: f64, slot_s: f64) -> u32 {
    (seconds / slot_s - WHOLE).ceil().max(0.0) as u32
}

/// Number of the slot that contains a time.
pub(crate) fn slot_of(seconds: f64, slot_s: f64) -> u32 {
    (seconds / slot_s + WHOLE).floor().max(0.0) as u32
}

/// Request for a model.
#[derive(Clone, Copy, Debug)]
pub struct FixedStepQuestion<'a> {
    /// The compiled scenario.
    pub network: &'a Network,
    /// Names of links and tasks.
    pub names: &'a Names,
    /// Maximum number of circuits of every link.
    pub caps: &'a [u32],
    /// Length of a slot, seconds.
    pub slot_s: f64,
    /// Number of slots within which the iteration ends.
    pub horizon: u32,
}

/// The slots in which each task may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotWindows {
    /// First slot in which a task may begin.
    pub from: Vec<u32>,
    /// First slot after the window of a task.
    pub to: Vec<u32>,
    /// Minimum number of slots of a task.
    pub least: Vec<u32>,
}

impl SlotWindows {
    /// Windows of all schedules that end within `horizon` slots.
    pub fn new(network: &Network, slot_s: f64, horizon: u32) -> Self {
        let n = network.tasks();
        // Shortest durations in whole slots.
        let least: Vec<u32> = network.tau.iter().map(|tau| slots(*tau, slot_s).max(1)).collect();
        let mut from = vec![0u32; n];
        // Forward pass (DELTA Alg. 4 in slots).
        for &task in &network.order {
            let index = task as usize;
            from[index] = slot_of(network.release[index], slot_s);
            for arc in network.preds.of(task) {
                let before = arc.task as usize;
                from[index] = from[index].max(from[before] + least[before] + slots(arc.delay, slot_s));
            }
        }
        // Backward pass (DELTA Alg. 4 in whole slots): rounding up keeps every slot schedule feasible in real time.
        let mut to = vec![horizon; n];
        for &task in network.order.iter().rev() {
            let index = task as usize;
            to[index] = horizon.saturating_sub(slots(network.tail[index], slot_s));
            for arc in network.succs.of(task) {
                let next = arc.task as usize;
                let latest = to[next].saturating_sub(least[next] + slots(arc.delay, slot_s));
                to[index] = to[index].min(latest);
            }
        }
        Self { from, to, least }
    }

    /// Number of pairs of a task and a slot in which it may run.
    pub fn cells(&self) -> u64 {
        self.from.iter().zip(&self.to).map(|(from, to)| u64::from(to.saturating_sub(*from))).sum()
    }

    /// Approximate number of columns of the model with these windows: four for every pair of a task and a slot of its
    /// window.
    pub fn columns(&self) -> u64 {
        4 * self.cells()
    }
}

/// The model and the positions of its columns.
#[derive(Clone, Debug)]
pub struct FixedStep {
    /// The model; its objective is the makespan in slots.
    pub model: Model,
    /// Slots in which each task may run.
    pub windows: SlotWindows,
    /// Length of a slot, seconds.
    pub slot_s: f64,
    circuits: Vec<Column>,
    /// First activity column of each task; the task has one activity column and one rate column for every slot of its
    /// window.
    runs: Vec<u32>,
    /// First begin column of each task; the task has one begin column for every slot in which it may begin.
    begins: Vec<u32>,
    /// First end column of each task; the task has one end column for every slot that can be the first slot after its
    /// end.
    over: Vec<u32>,
    end: Column,
}

impl FixedStep {
    /// Builds the whole model.
    pub fn new(ask: FixedStepQuestion<'_>) -> Self {
        let windows = SlotWindows::new(ask.network, ask.slot_s, ask.horizon);
        let mut written = Self {
            model: Model::new(format!("circuits and schedule in slots of {:e} s", ask.slot_s)),
            windows,
            slot_s: ask.slot_s,
            circuits: Vec::new(),
            runs: Vec::new(),
            begins: Vec::new(),
            over: Vec::new(),
            end: Column(0),
        };
        written.columns(ask);
        written.resources(ask);
        for task in 0..ask.network.tasks() {
            written.task_rows(ask, task);
        }
        written
    }

    // Columns: the circuits of each link (integer); for each task and slot: activity, begin and end (binary), and rate;
    // and the end of the iteration.
    fn columns(&mut self, ask: FixedStepQuestion<'_>) {
        for (link, &cap) in ask.caps.iter().enumerate() {
            let name = format!("circuits {}", ask.names.links[link]);
            self.circuits.push(self.model.integer(name, 1.0, f64::from(cap), 0.0));
        }
        for task in 0..ask.network.tasks() {
            let name = &ask.names.tasks[task];
            let (from, to, least) =
                (self.windows.from[task], self.windows.to[task], self.windows.least[task]);
            self.runs.push(self.model.columns() as u32);
            for slot in from..to {
                self.model.binary(format!("{name} runs in slot {slot}"), 0.0);
                self.model.column(
                    format!("rate of {name} in slot {slot}"),
                    0.0,
                    ask.network.flows[task],
                    0.0,
                );
            }
            self.begins.push(self.model.columns() as u32);
            // A start is possible only if the shortest duration still fits the window.
            for slot in from..(to + 1).saturating_sub(least) {
                self.model.binary(format!("{name} begins in slot {slot}"), 0.0);
            }
            self.over.push(self.model.columns() as u32);
            for slot in from + least..=to {
                self.model.binary(format!("{name} ends in slot {slot}"), 0.0);
            }
        }
        self.end = self.model.column("end of the iteration", 0.0, f64::from(ask.horizon), 1.0);
    }

    fn runs(&self, task: usize, slot: u32) -> Option<Column> {
        let inside = self.windows.from[task] <= slot && slot < self.windows.to[task];
        inside.then(|| Column(self.runs[task] + 2 * (slot - self.windows.from[task])))
    }

    fn rate(&self, task: usize, slot: u32) -> Option<Column> {
        self.runs(task, slot).map(|column| Column(column.0 + 1))
    }

    fn begins(&self, task: usize, slot: u32) -> Option<Column> {
        let (from, to) = (self.windows.from[task], self.windows.to[task]);
        let inside = from <= slot && slot + self.windows.least[task] <= to;
        inside.then(|| Column(self.begins[task] + slot - from))
    }

    fn over(&self, task: usize, slot: u32) -> Option<Column> {
        let from = self.windows.from[task] + self.windows.least[task];
        let inside = from <= slot && slot <= self.windows.to[task];
        inside.then(|| Column(self.over[task] + slot - from))
    }

    /// Adds the rows of ports (Eq. 21), circuits (Eq. 22) and NICs (Eq. 23).
    fn resources(&mut self, ask: FixedStepQuestion<'_>) {
        let network = ask.network;
        let budget = &network.budget;
        for pod in 0..budget.pods() {
            let Some(ports) = budget.ports(pod) else { continue };
            let links = budget.links_at(pod).iter();
            let terms: Vec<_> =
                links.map(|&(link, cost)| (self.circuits[link as usize], f64::from(cost))).collect();
            if !terms.is_empty() {
                let name = format!("ports of pod {}", ask.names.pods[pod]);
                self.model.at_most(name, f64::from(ports), terms);
            }
        }
        // Capacity of each directed link and of shared NICs in each slot.
        for slot in 0..ask.horizon {
            for (via, tasks) in network.carried.iter().enumerate() {
                let rates = tasks.iter().filter_map(|task| self.rate(*task as usize, slot));
                let mut terms: Vec<_> = rates.map(|rate| (rate, 1.0)).collect();
                if terms.is_empty() {
                    continue;
                }
                terms.push((self.circuits[via / 2], -1.0));
                let name = format!("capacity {} in slot {slot}", ask.names.via(via));
                self.model.at_most(name, 0.0, terms);
            }
            for (group, nics) in network.nic_groups.iter().enumerate() {
                let members = nics.members.iter();
                let terms: Vec<_> = members
                    .filter_map(|&(task, weight)| {
                        let rate = self.rate(task as usize, slot)?;
                        Some((rate, weight / network.flows[task as usize]))
                    })
                    .collect();
                if !terms.is_empty() {
                    self.model.at_most(format!("shared NICs {group} in slot {slot}"), 1.0, terms);
                }
            }
        }
    }

    /// Adds the rows of a task: start, activity and end (Eq. 24-27), predecessors (Eq. 28), the end of the iteration
    /// (Eq. 30).
    fn task_rows(&mut self, ask: FixedStepQuestion<'_>, task: usize) {
        let network = ask.network;
        let name = &ask.names.tasks[task];
        let (from, to) = (self.windows.from[task], self.windows.to[task]);
        let begins: Vec<_> = (from..to).filter_map(|slot| Some((self.begins(task, slot)?, slot))).collect();
        let over: Vec<_> = (from..=to).filter_map(|slot| Some((self.over(task, slot)?, slot))).collect();
        // Eq. 24: exactly one begin and one end.
        self.model.equal(format!("{name} begins once"), 1.0, begins.iter().map(|(column, _)| (*column, 1.0)));
        self.model.equal(format!("{name} ends once"), 1.0, over.iter().map(|(column, _)| (*column, 1.0)));
        for slot in from..=to {
            // Eq. 25: activity changes only at the begin or the end.
            let mut terms = Vec::new();
            terms.extend(self.runs(task, slot).map(|column| (column, 1.0)));
            terms.extend(slot.checked_sub(1).and_then(|s| self.runs(task, s)).map(|column| (column, -1.0)));
            terms.extend(self.begins(task, slot).map(|column| (column, -1.0)));
            terms.extend(self.over(task, slot).map(|column| (column, 1.0)));
            self.model.equal(format!("activity of {name} at the start of slot {slot}"), 0.0, terms);
        }
        // Eq. 26: a task may send more than its volume, because rates are constant over a slot.
        let volume = network.flows[task] * network.tau[task] / self.slot_s;
        let rates: Vec<_> = (from..to).filter_map(|slot| Some((self.rate(task, slot)?, 1.0))).collect();
        self.model.at_least(format!("volume of {name}"), volume, rates);
        for slot in from..to {
            let (Some(runs), Some(rate)) = (self.runs(task, slot), self.rate(task, slot)) else { continue };
            // Eq. 27.
            let terms = [(rate, 1.0), (runs, -network.flows[task])];
            self.model.at_most(format!("{name} sends in slot {slot} only if it runs"), 0.0, terms);
        }
        for arc in network.preds.of(task as u32) {
            let before = arc.task as usize;
            let (from, to) = (self.windows.from[before], self.windows.to[before]);
            let earlier = (from..=to).filter_map(|slot| Some((self.over(before, slot)?, -f64::from(slot))));
            // Eq. 28, with the delay rounded up.
            let mut terms: Vec<_> = earlier.collect();
            terms.extend(begins.iter().map(|(column, slot)| (*column, f64::from(*slot))));
            let row = format!("{name} after {}", ask.names.tasks[before]);
            self.model.at_least(row, f64::from(slots(arc.delay, self.slot_s)), terms);
        }
        // Eq. 30, with the tail rounded up.
        let mut terms = vec![(self.end, 1.0)];
        terms.extend(over.iter().map(|(column, slot)| (*column, -f64::from(*slot))));
        let tail = f64::from(slots(network.tail[task], self.slot_s));
        self.model.at_least(format!("end after {name}"), tail, terms);
    }

    /// Returns the point of a schedule in slots, one value per column.
    ///
    /// # Errors
    /// The task that is outside its window.
    pub fn point(&self, schedule: &Slots) -> Result<Vec<f64>, String> {
        let mut point = vec![0.0; self.model.columns()];
        for (column, circuits) in self.circuits.iter().zip(&schedule.circuits) {
            point[column.index()] = f64::from(*circuits);
        }
        for (task, rates) in schedule.rates.iter().enumerate() {
            let outside = || format!("task {task} runs outside its slots");
            let begin = schedule.first[task];
            let over = begin + rates.len() as u32;
            point[self.begins(task, begin).ok_or_else(outside)?.index()] = 1.0;
            point[self.over(task, over).ok_or_else(outside)?.index()] = 1.0;
            for (place, rate) in rates.iter().enumerate() {
                let slot = begin + place as u32;
                point[self.runs(task, slot).ok_or_else(outside)?.index()] = 1.0;
                point[self.rate(task, slot).ok_or_else(outside)?.index()] = *rate;
            }
        }
        point[self.end.index()] = f64::from(schedule.end);
        Ok(point)
    }

    /// The circuits of a point.
    pub fn circuits(&self, point: &[f64]) -> Vec<u32> {
        self.circuits.iter().map(|column| point[column.index()].round().max(1.0) as u32).collect()
    }

    /// End of the iteration that a point claims, seconds.
    pub fn claimed_s(&self, point: &[f64]) -> f64 {
        point[self.end.index()] * self.slot_s
    }
}

#[cfg(test)]
mod tests;
