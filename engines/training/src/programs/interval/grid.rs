//! A schedule as the volume of each task in each interval: this form contains the order of events and the volumes, but
//! no times.
//!
//! The times are computed from the order and the volumes: an interval is as long as its busiest resource needs, and an
//! event waits for every start and end that it represents. In this way a point of the solver becomes an exact schedule,
//! and a simulated run becomes an exact point.

use crate::model::network::Network;
use crate::simulate::iteration::{Piece, Trace};
use std::collections::VecDeque;

/// Fractions of a task's volume below this count as rounding of the solver. The solver's default feasibility tolerance
/// is 1e-7 too, so smaller fractions cannot be distinguished from 0.
const NOTHING: f64 = 1e-7;

/// Events whose times differ by less than this count as one event, seconds.
const SAME_MOMENT_S: f64 = 1e-9;

/// Volumes of tasks in consecutive intervals, and the circuits of every link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// Circuits per link.
    pub circuits: Vec<u32>,
    /// Number of intervals in use.
    pub intervals: u32,
    /// First interval of each task, 1-based; 0 for tasks without intervals.
    pub first: Vec<u32>,
    /// Volumes of each task from its first interval on, in seconds at the rate of one NIC.
    pub sent: Vec<Vec<f64>>,
}

/// The earliest times of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EventTimes {
    /// Times of the events, seconds; there is one event more than intervals.
    pub events: Vec<f64>,
    /// Start of each task, seconds.
    pub start: Vec<f64>,
    /// Finish of each task, seconds.
    pub finish: Vec<f64>,
    /// Largest finish plus tail of a task, seconds.
    pub makespan: f64,
}

impl Grid {
    /// The grid of a run on `circuits`, with intervals between the events of the tasks that `counted` names.
    ///
    /// # Errors
    /// A task that ends within a nanosecond of its start has no interval; the error names it.
    pub fn of_trace(
        network: &Network,
        trace: &Trace,
        circuits: &[u32],
        counted: &[bool],
    ) -> Result<Self, String> {
        // Events of a run in order of time; each task covers whole intervals between them.
        let times = trace.event_times_among(counted);
        let at = |time: f64| times.partition_point(|t| *t < time - SAME_MOMENT_S);
        let n = network.tasks();
        let mut grid = Self {
            circuits: circuits.to_vec(),
            intervals: times.len().saturating_sub(1) as u32,
            first: vec![0; n],
            sent: vec![Vec::new(); n],
        };
        for task in (0..n).filter(|task| counted[*task]) {
            let (from, to) = (at(trace.start[task]), at(trace.finish[task]));
            if to <= from {
                return Err(format!("task {task} ends within a nanosecond and fills no interval"));
            }
            grid.first[task] = from as u32 + 1;
            grid.sent[task] = vec![0.0; to - from];
        }
        for piece in trace.pieces.iter().filter(|piece| counted[piece.task as usize]) {
            let task = piece.task as usize;
            let from = grid.first[task] as usize - 1;
            let sent = &mut grid.sent[task];
            let length = piece.end - piece.start;
            let volume = piece.volume / network.rate;
            let inside = |k: usize| {
                let (begin, end) = (times[from + k].max(piece.start), times[from + k + 1].min(piece.end));
                (end - begin).max(0.0)
            };
            // The volume is divided among the intervals in proportion to their overlap with the piece; `settle` then
            // makes the sum exact. Apart from rounding at its ends, the piece lies in the intervals of its task.
            let total: f64 = (0..sent.len()).map(inside).sum();
            if length <= SAME_MOMENT_S || total <= 0.0 {
                let k = at(piece.start).saturating_sub(from).min(sent.len() - 1);
                sent[k] += volume;
            } else {
                for (k, sent) in sent.iter_mut().enumerate() {
                    *sent += volume * inside(k) / total;
                }
            }
        }
        for task in 0..n {
            grid.settle(network, task);
        }
        Ok(grid)
    }

    /// Scales the volumes of a task in its intervals so that they add up exactly to the volume of the task; drops
    /// intervals at either end in which the task sends nothing.
    pub fn settle(&mut self, network: &Network, task: usize) {
        if self.first[task] == 0 {
            return;
        }
        let volume = network.volume[task] / network.rate;
        let sent = &mut self.sent[task];
        // Fractions below the solver's tolerance are dropped, and the rest is scaled to the volume.
        for sent in sent.iter_mut() {
            if *sent < NOTHING * volume {
                *sent = 0.0;
            }
        }
        // Shorter windows leave more slack between a task and its predecessors and successors.
        let lead = sent.iter().take_while(|sent| **sent == 0.0).count();
        if lead == sent.len() {
            return;
        }
        sent.drain(..lead);
        self.first[task] += lead as u32;
        while sent.last() == Some(&0.0) {
            sent.pop();
        }
        let total: f64 = sent.iter().sum();
        for sent in sent.iter_mut() {
            *sent *= volume / total;
        }
    }

    /// Last interval of a task, 1-based.
    pub fn last(&self, task: usize) -> u32 {
        self.first[task] + self.sent[task].len() as u32 - 1
    }

    /// Returns the volume that a task sends in an interval (1-based), in seconds at the rate of one NIC.
    pub fn sent_in(&self, task: usize, interval: u32) -> f64 {
        let place = interval.checked_sub(self.first[task]).map(|place| place as usize);
        place.and_then(|place| self.sent[task].get(place)).copied().unwrap_or(0.0)
    }

    /// Minimum length of every interval that links, flows and NICs allow, seconds.
    fn lengths(&self, network: &Network) -> Vec<f64> {
        let k = self.intervals as usize;
        let mut lengths = vec![0.0f64; k];
        let mut sum = vec![0.0f64; k];
        // Raises the length of each interval to the length that the load of a resource needs.
        let mut resource = |members: &mut dyn Iterator<Item = (u32, f64)>| {
            sum.fill(0.0);
            for (task, weight) in members {
                let from = self.first[task as usize] as usize;
                for (place, sent) in self.sent[task as usize].iter().enumerate() {
                    sum[from - 1 + place] += sent * weight;
                }
            }
            for (length, sum) in lengths.iter_mut().zip(&sum) {
                *length = length.max(*sum);
            }
        };
        // Links first: an interval lasts at least as long as the circuits need for the volume in it.
        for (via, tasks) in network.carried.iter().enumerate() {
            let circuits = f64::from(self.circuits[via / 2]);
            resource(&mut tasks.iter().map(|task| (*task, 1.0 / circuits)));
        }
        for group in &network.nic_groups {
            let members = group.members.iter();
            resource(&mut members.map(|&(task, weight)| (task, weight / network.flows[task as usize])));
        }
        // A flow runs at most at the rate of one NIC, even if more circuits are free.
        for (task, sent) in self.sent.iter().enumerate() {
            for (place, sent) in sent.iter().enumerate() {
                let length = &mut lengths[self.first[task] as usize - 1 + place];
                *length = length.max(sent / network.flows[task]);
            }
        }
        lengths
    }

    /// Returns `true` if `before` ends at the event at which its successor `task` begins, and the `delay` between them
    /// is at most a nanosecond.
    fn is_at_one_event(&self, before: usize, task: usize, delay: f64) -> bool {
        self.first[task] > 0 && self.last(before) + 1 == self.first[task] && delay <= SAME_MOMENT_S
    }

    /// Returns two lists of delays in seconds. The first list has the delay of each task: the task starts by this delay
    /// later than its event if a predecessor ends at the same event and the edge between the two tasks has a delay. The
    /// second list has the maximum delay at each event; the interval after the event is longer by this delay.
    fn waits(&self, network: &Network) -> (Vec<f64>, Vec<f64>) {
        let mut wait = vec![0.0f64; network.tasks()];
        let mut gap = vec![0.0f64; self.intervals as usize + 1];
        for task in (0..network.tasks()).filter(|task| self.first[*task] > 0) {
            let event = self.first[task] as usize - 1;
            for arc in network.preds.of(task as u32) {
                let before = arc.task as usize;
                if self.first[before] > 0 && self.is_at_one_event(before, task, arc.delay) {
                    wait[task] = wait[task].max(arc.delay);
                    gap[event] = gap[event].max(arc.delay);
                }
            }
        }
        (wait, gap)
    }

    /// The earliest times of this grid: a longest path over its events. `None` if the order of the intervals
    /// contradicts the DAG.
    pub(super) fn timed(&self, network: &Network) -> Option<EventTimes> {
        let (n, k) = (network.tasks(), self.intervals as usize);
        let counted = |task: usize| self.first[task] > 0;
        if (0..n).any(|task| counted(task) && self.sent[task].is_empty()) {
            return None;
        }
        // Longest path over events and starts: the earliest times that volumes and the DAG allow.
        // Nodes: events 0..=k, then starts of tasks.
        let mut arcs: Vec<Vec<(usize, f64)>> = vec![Vec::new(); k + 1 + n];
        let mut pending = vec![0u32; k + 1 + n];
        let mut time = vec![0.0f64; k + 1 + n];
        let mut join = |from: usize, to: usize, delay: f64| {
            arcs[from].push((to, delay));
            pending[to] += 1;
        };
        let (wait, gap) = self.waits(network);
        for (index, length) in self.lengths(network).into_iter().enumerate() {
            join(index, index + 1, length + gap[index]);
        }
        for task in 0..n {
            if counted(task) {
                // A precedence edge joins the event that ends one task with the start of the next.
                join(k + 1 + task, self.first[task] as usize - 1, 0.0);
            }
            time[k + 1 + task] = network.release[task];
            for arc in network.preds.of(task as u32) {
                let before = arc.task as usize;
                if counted(before) {
                    if self.is_at_one_event(before, task, arc.delay) {
                        continue; // the wait is part of the interval
                    }
                    join(self.last(before) as usize, k + 1 + task, arc.delay);
                } else {
                    let duration = network.duration_alone(arc.task, self.circuits[network.link_of(arc.task)]);
                    join(k + 1 + before, k + 1 + task, duration + arc.delay);
                }
            }
        }
        // Kahn's algorithm; a cycle means that the order of the intervals contradicts the DAG.
        let mut queue: VecDeque<usize> = (0..time.len()).filter(|node| pending[*node] == 0).collect();
        let mut done = 0;
        while let Some(node) = queue.pop_front() {
            done += 1;
            for &(to, delay) in &arcs[node] {
                time[to] = time[to].max(time[node] + delay);
                pending[to] -= 1;
                if pending[to] == 0 {
                    queue.push_back(to);
                }
            }
        }
        if done < time.len() {
            return None;
        }
        let mut timed = EventTimes { events: time[..=k].to_vec(), ..EventTimes::default() };
        for task in 0..n {
            let (start, finish) = if counted(task) {
                (time[self.first[task] as usize - 1] + wait[task], time[self.last(task) as usize])
            } else {
                let circuits = self.circuits[network.link_of(task as u32)];
                let start = time[k + 1 + task];
                (start, start + network.duration_alone(task as u32, circuits))
            };
            timed.start.push(start);
            timed.finish.push(finish);
            timed.makespan = timed.makespan.max(finish + network.tail[task]);
        }
        Some(timed)
    }

    /// The schedule at the earliest times. `None` if the order of the intervals contradicts the DAG.
    pub fn trace(&self, network: &Network) -> Option<Trace> {
        let timed = self.timed(network)?;
        let mut pieces = Vec::new();
        for task in 0..network.tasks() {
            let id = task as u32;
            if self.first[task] == 0 {
                let (start, end) = (timed.start[task], timed.finish[task]);
                pieces.push(Piece { task: id, start, end, volume: network.volume[task] });
                continue;
            }
            let mut left = network.volume[task];
            for (place, sent) in self.sent[task].iter().enumerate() {
                let from = self.first[task] as usize - 1 + place;
                let start = if place == 0 { timed.start[task] } else { timed.events[from] };
                let end = timed.events[from + 1];
                let last = place + 1 == self.sent[task].len();
                // The last piece gets the remaining volume, so that volumes add up exactly.
                let volume = if last { left } else { (sent * network.rate).min(left) };
                left -= volume;
                if end > start {
                    pieces.push(Piece { task: id, start, end, volume });
                }
            }
        }
        Some(Trace { makespan: timed.makespan, start: timed.start, finish: timed.finish, pieces })
    }
}
