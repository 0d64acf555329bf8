//! The order in which contended tasks start and end.

use super::competition::Competition;
use crate::simulate::evaluate::Evaluator;
use crate::simulate::iteration::Trace;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

/// A start or an end of a contended task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Event(u32);

impl Event {
    /// Creates the start event of a task, which is given by its position.
    pub const fn start(rival: u32) -> Self {
        Self(2 * rival)
    }

    /// Creates the end event of a task, which is given by its position.
    pub const fn end(rival: u32) -> Self {
        Self(2 * rival + 1)
    }

    /// Position of the task of the event.
    pub const fn rival(self) -> u32 {
        self.0 / 2
    }

    /// Returns `true` if the event is an end.
    pub const fn is_end(self) -> bool {
        self.0 % 2 == 1
    }

    /// Returns `true` if the DAG puts this event before another one.
    pub fn precedes(self, other: Self, competition: &Competition, evaluator: &Evaluator) -> bool {
        let (first, second) = (self.rival(), other.rival());
        if first == second {
            !self.is_end() && other.is_end()
        } else {
            competition.before(evaluator, first, second)
        }
    }
}

/// All events in an order that the DAG allows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct EventOrder {
    /// The events. Interval `k` lies between event `k` and the next; the last interval ends with the iteration.
    pub events: Vec<Event>,
}

impl EventOrder {
    /// Returns the order of events of a schedule. Events at the same time, or swapped by rounding, are brought into an
    /// order that the DAG allows.
    pub fn of(trace: &Trace, competition: &Competition) -> Self {
        // Topological sort by time (Kahn): an event is free when all events that the DAG puts before it are placed.
        let rivals = &competition.rivals;
        let mut waiting: Vec<usize> = rivals.iter().map(|rival| rival.after.len()).collect();
        let mut followers: Vec<Vec<u32>> = vec![Vec::new(); rivals.len()];
        for (position, rival) in rivals.iter().enumerate() {
            for &(ahead, _) in &rival.after {
                followers[ahead as usize].push(position as u32);
            }
        }
        let time = |event: Event| {
            let task = rivals[event.rival() as usize].task as usize;
            (if event.is_end() { trace.finish[task] } else { trace.start[task] }).max(0.0).to_bits()
        };
        let mut free: BinaryHeap<Reverse<(u64, Event)>> = BinaryHeap::new();
        let push = |free: &mut BinaryHeap<_>, event: Event| free.push(Reverse((time(event), event)));
        // Events with equal times are placed in the order of their positions, which follows the DAG. If rounding has
        // swapped two times, the counts in `waiting` still keep the order of the DAG.
        for (position, count) in waiting.iter().enumerate() {
            if *count == 0 {
                push(&mut free, Event::start(position as u32));
            }
        }
        let mut events = Vec::with_capacity(2 * rivals.len());
        while let Some(Reverse((_, event))) = free.pop() {
            events.push(event);
            let position = event.rival();
            if !event.is_end() {
                if rivals[position as usize].ends {
                    push(&mut free, Event::end(position));
                }
                continue;
            }
            for &follower in &followers[position as usize] {
                waiting[follower as usize] -= 1;
                if waiting[follower as usize] == 0 {
                    push(&mut free, Event::start(follower));
                }
            }
        }
        Self { events }
    }

    /// Returns, for every contended task, its first interval and the interval after its last one.
    pub fn spans(&self, competition: &Competition) -> Vec<(u32, u32)> {
        let mut spans = vec![(0, self.events.len() as u32); competition.rivals.len()];
        for (at, event) in self.events.iter().enumerate() {
            let span = &mut spans[event.rival() as usize];
            *(if event.is_end() { &mut span.1 } else { &mut span.0 }) = at as u32;
        }
        spans
    }

    /// Returns the order with the event at `from` moved to `to`; `None` if the DAG forbids it.
    pub fn moved(
        &self,
        from: usize,
        to: usize,
        competition: &Competition,
        evaluator: &Evaluator,
    ) -> Option<Self> {
        let event = self.events[from];
        // A move is allowed if the DAG does not order the moved event against any event that it passes.
        let allowed = if from < to {
            self.events[from + 1..=to].iter().all(|other| !event.precedes(*other, competition, evaluator))
        } else {
            self.events[to..from].iter().all(|other| !other.precedes(event, competition, evaluator))
        };
        allowed.then(|| {
            let mut events = self.events.clone();
            if from < to {
                events[from..=to].rotate_left(1);
            } else {
                events[to..=from].rotate_right(1);
            }
            Self { events }
        })
    }

    /// Returns a hash that identifies the order.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        self.events.hash(&mut hasher);
        hasher.finish()
    }
}
