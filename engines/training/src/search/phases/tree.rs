//! Branch and bound over boxes of schedules, best bound first. One tree contains both positions of the return.
//!
//! The bound of a box is the makespan if every link has, at every moment, the maximum number of carrying circuits that
//! it has in any schedule of the box. A box is split where the split raises the bounds of the two halves most.

use super::boxes::{Instants, MoveBox, ReturnSide};
use super::{Aim, Movable, MoveProof, MoveTask, MovedCircuits as _, Moving};
use crate::simulate::evaluate::{Lit, Scratch};
use lightbay_core::event::{EventBody, SolverStats};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of boxes between two reports of progress.
const REPORT_EVERY: u64 = 64;

/// Number of boxes at the top of the tree for which many ends of transfers are tried as instant of the reconfiguration;
/// they give the first incumbents.
const TRIED_WIDELY: u64 = 32;

/// Accuracy to which the bound of a box is computed, as a fraction of the distance from the bound to the best plan.
const ROUGH: f64 = 0.01;

/// Maximum number of steps to find the shortest period that is at least the makespan for this period. A step is a
/// secant step, or a bisection if the secant step before it did not halve the interval that contains this period.
const HALVINGS: usize = 60;

/// An open box of schedules with its bound.
struct OpenBox {
    bound: f64,
    number: u64,
    what: MoveBox,
}

impl PartialEq for OpenBox {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for OpenBox {}
impl PartialOrd for OpenBox {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for OpenBox {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Among equal bounds the newest box comes first, which gives a depth-first search where many bounds equal the
        // ideal makespan.
        self.bound.total_cmp(&other.bound).then(other.number.cmp(&self.number))
    }
}

/// Constant that is added to the gain of each half, as a fraction of the distance to the best plan; otherwise a split
/// that raises the bound of only one half would have score 0.
const LEAST_GAIN: f64 = 0.1;

/// Buffers of the search.
#[derive(Default)]
pub(super) struct MoveBuffers {
    pub lit: Lit,
    pub scratch: Scratch,
    /// Circuits of every link in the two states.
    pub states: [Vec<u32>; 2],
    /// Ports of every pod that decided links use in the two states.
    pub used: [Vec<u32>; 2],
}

/// State of a running search.
pub(super) struct Tree<'a, 'w, W> {
    pub task: MoveTask<'a>,
    pub movable: Movable,
    pub watch: &'w mut W,
    pub work: MoveBuffers,
    heap: BinaryHeap<Reverse<OpenBox>>,
    made: u64,
    best_value: f64,
    best: Option<Moving>,
    /// With [`Aim::Time`], the maximum period of schedules to keep, as a multiple of the best period.
    pub stretch: f64,
}

impl<'a, 'w, W: Watch<Moving>> Tree<'a, 'w, W> {
    pub fn new(task: MoveTask<'a>, watch: &'w mut W) -> Self {
        Self {
            movable: Movable::new(task),
            best_value: task.known,
            task,
            watch,
            work: MoveBuffers::default(),
            heap: BinaryHeap::new(),
            made: 0,
            best: None,
            stretch: 1.0,
        }
    }

    pub fn grow(mut self) -> Result<MoveProof, MethodError> {
        let least = match self.task.aim {
            Aim::Time => self.task.evaluator.ideal.makespan(),
            Aim::Ports { .. } => 0.0,
        };
        for root in self.roots() {
            let bound = self.bound(&root);
            self.push(bound.max(least), root);
        }
        self.climb()?;
        let mut looked = 0;
        let mut single = f64::INFINITY;
        while let Some(Reverse(open)) = self.heap.pop() {
            if looked % 8 == 0 {
                self.watch.checkpoint()?;
            }
            looked += 1;
            let bound = open.bound.min(self.best_value).min(single);
            self.watch.bound(bound * (1.0 - 1e-12));
            if looked % REPORT_EVERY == 0 {
                self.report(looked, bound);
            }
            if open.bound >= self.best_value - self.task.close {
                let complete = bound >= self.best_value - self.task.close;
                return Ok(self.proof(bound, complete));
            }
            if looked > self.task.boxes {
                return Ok(self.proof(bound, false));
            }
            self.try_values(&open.what, looked <= TRIED_WIDELY)?;
            let halves = self.split(&open.what, open.bound);
            if halves.is_empty() {
                // The box holds a single schedule, up to the resolution of numbers.
                single = single.min(open.bound);
            }
            for (bound, child) in halves {
                if bound < self.best_value {
                    self.push(bound.max(open.bound), child);
                }
            }
        }
        let bound = self.best_value.min(single);
        let complete = bound >= self.best_value - self.task.close;
        Ok(self.proof(bound, complete))
    }

    fn proof(self, bound: f64, complete: bool) -> MoveProof {
        self.watch.bound(bound * (1.0 - 1e-12));
        MoveProof { best: self.best, bound, complete }
    }

    fn report(&mut self, done: u64, next_bound: f64) {
        self.watch.report(EventBody::Solver(SolverStats {
            unit: "boxes".to_owned(),
            done,
            open: Some(self.heap.len() as u64),
            next_bound: Some(next_bound),
            ..SolverStats::default()
        }));
    }

    fn push(&mut self, bound: f64, what: MoveBox) {
        if bound < self.best_value {
            self.made += 1;
            self.heap.push(Reverse(OpenBox { bound, number: self.made, what }));
        }
    }

    /// Maximum length of an iteration that the search accepts, seconds.
    fn end_s(&self) -> f64 {
        match self.task.aim {
            Aim::Time => self.best_value * self.stretch,
            Aim::Ports { limit_s } => limit_s,
        }
    }

    /// Boxes that contain every schedule that could be better than the incumbent.
    fn roots(&self) -> Vec<MoveBox> {
        let most = self.movable.most();
        let (none, end_s, delay_s) = (vec![0; most.len()], self.end_s(), self.task.delay_s);
        // A return whose dark time ends before the first transfer can begin costs nothing at the start, so it is best
        // there.
        let ready_s = self.task.evaluator.network.ready_s();
        let earliest = if delay_s <= ready_s { 0.0 } else { -delay_s };
        let root = |order, go: Instants, back: Instants| MoveBox {
            order,
            low: [none.clone(), none.clone()],
            high: [most.clone(), most.clone()],
            instants: [go, back],
        };
        let mut roots = vec![root(ReturnSide::Around, [0.0, end_s], [earliest, 0.0])];
        if end_s > delay_s {
            let inside = [0.0, end_s - delay_s];
            roots.push(root(ReturnSide::Within, inside, inside));
        }
        roots
    }

    /// Lower bound on the value of the schedules of the box; infinite if none of these schedules can beat the best
    /// plan, or if schedules of other boxes are at least as good.
    fn bound(&mut self, what: &MoveBox) -> f64 {
        let network = &self.task.evaluator.network;
        for state in 0..2 {
            let (low, high) = (&what.low[state], &what.high[state]);
            if self.movable.widest(network, low, high, &mut self.work.states[state]).is_none() {
                return f64::INFINITY;
            }
        }
        // A state to which a circuit can be added at no cost is dominated by the state with that circuit.
        let spare = |state: usize| {
            what.low[state] == what.high[state] && self.movable.has_room(network, &what.low[state])
        };
        if self.task.aim == Aim::Time && (spare(0) || spare(1)) {
            return f64::INFINITY;
        }
        let [[go_first, _], [back_first, back_last]] = what.instants;
        if what.order == ReturnSide::Within && back_last < go_first {
            return f64::INFINITY;
        }
        self.watch.count(1);
        let least_s = match what.order {
            ReturnSide::Around => go_first,
            ReturnSide::Within => back_first.max(go_first) + self.task.delay_s,
        };
        match self.task.aim {
            Aim::Time => self.least(what, true).max(least_s),
            Aim::Ports { limit_s } if least_s > limit_s => f64::INFINITY,
            Aim::Ports { limit_s } => self.fewest(what, limit_s),
        }
    }

    /// The shortest period on the circuits of `work.states`: the makespan of a schedule or, if `from_below` is true,
    /// the bound of a box. Infinite if it is longer than the search accepts.
    pub(super) fn least(&mut self, what: &MoveBox, from_below: bool) -> f64 {
        let limit_s = self.end_s();
        let close = if self.task.aim == Aim::Time { self.task.close } else { 1e-9 * limit_s };
        let (task, MoveBuffers { lit, scratch, states, .. }) = (self.task, &mut self.work);
        let model = &task.evaluator.model;
        let mut run = |period_s: f64| {
            what.lit(task.delay_s, [&states[0], &states[1]], period_s, lit);
            model.makespan_over(lit, &mut scratch.model)
        };
        if what.order == ReturnSide::Within || what.instants[1][1] >= 0.0 {
            return run(f64::INFINITY);
        }
        // With a return before the end, a longer period never reduces the number of circuits that carry traffic, so the
        // end falls as the period grows. The shortest period that is at least as long as its end therefore lies between
        // any period and the end that this period gives. Secants find this period fast, because the end is piecewise
        // linear; if a secant does not halve the range, the next step is a bisection.
        let mut high = limit_s;
        let mut high_end = run(high);
        if high_end > high {
            return f64::INFINITY;
        }
        let mut low = high_end;
        let mut low_end = run(low);
        if low_end < high {
            (high, high_end) = (low_end, run(low_end));
            low = low.max(high_end);
        }
        let mut width = f64::INFINITY;
        for _ in 0..HALVINGS {
            let narrow = if from_below { (0.1 * close).max(ROUGH * (limit_s - low)) } else { 1e-13 * high };
            if high - low <= narrow {
                break;
            }
            let chord = low + (high - low) * (low_end - low) / ((low_end - low) + (high - high_end));
            let halved = high - low <= 0.5 * width;
            width = high - low;
            let middle = if halved && chord > low && chord < high { chord } else { f64::midpoint(low, high) };
            let end = run(middle);
            if end > middle {
                (low, low_end) = (middle, end);
                high = high.min(end);
            } else {
                (high, high_end) = (middle, end);
                low = low.max(end);
            }
        }
        if from_below { low } else { high }
    }

    /// Tries some schedules of a box as plans.
    fn try_values(&mut self, what: &MoveBox, widely: bool) -> Result<(), MethodError> {
        let network = &self.task.evaluator.network;
        let (low, high) = (&what.low, &what.high);
        let Some(first) = self.movable.fitting(network, &low[0], &high[0]) else { return Ok(()) };
        let mut pairs = vec![(first, low[1].clone())];
        if !what.is_pair()
            && let Some(second) = self.movable.fitting(network, &low[1], &high[1])
        {
            pairs.push((low[0].clone(), second));
        }
        for (first, second) in pairs {
            let fixed =
                MoveBox { low: [first.clone(), second.clone()], high: [first, second], ..what.clone() };
            for go in self.moments(&fixed, widely) {
                let [early, late] = what.instants[1];
                for back in [late, early, f64::midpoint(early, late)] {
                    self.try_value(&fixed, go, back)?;
                    if early == late {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Instants to try for the reconfiguration: midpoint and ends of its range, and ends of transfers if the circuits
    /// stay in the first state.
    pub(super) fn moments(&mut self, fixed: &MoveBox, widely: bool) -> Vec<f64> {
        let [early, late] = fixed.instants[0];
        let network = &self.task.evaluator.network;
        let mut moments = vec![f64::midpoint(early, late), early, late];
        let MoveBuffers { lit, scratch, states, .. } = &mut self.work;
        if self.movable.widest(network, &fixed.low[0], &fixed.low[0], &mut states[0]).is_none() {
            return Vec::new();
        }
        let stay = MoveBox { instants: [[f64::INFINITY; 2], fixed.instants[1]], ..fixed.clone() };
        stay.lit(self.task.delay_s, [&states[0], &states[0]], f64::INFINITY, lit);
        let model = &self.task.evaluator.model;
        model.start_over(lit, &mut scratch.model);
        let within = |end: &&f64| **end >= early && **end <= late;
        let mut ends: Vec<f64> = model.inner_ends(&scratch.model).iter().filter(within).copied().collect();
        ends.sort_unstable_by(|a, b| b.total_cmp(a));
        ends.dedup();
        // The latest ends first, because circuits of ordered transfers are free after them.
        moments.extend(ends.iter().take(if widely { 16 } else { 2 }));
        if !widely {
            moments.extend(ends.last());
        }
        moments
    }

    fn try_value(&mut self, fixed: &MoveBox, go: f64, back: f64) -> Result<(), MethodError> {
        let point = MoveBox { instants: [[go; 2], [back; 2]], ..fixed.clone() };
        match self.value(&point) {
            Some(found) => self.keep(found),
            None => Ok(()),
        }
    }

    /// The plan of a box that holds one schedule; `None` if the schedule is not valid, or cannot be better than the
    /// best plan.
    pub(super) fn value(&mut self, point: &MoveBox) -> Option<Moving> {
        let network = &self.task.evaluator.network;
        let [[go, _], [back, _]] = point.instants;
        if point.order == ReturnSide::Within && back <= go {
            return None;
        }
        for state in 0..2 {
            let counts = &point.low[state];
            self.movable.widest(network, counts, counts, &mut self.work.states[state])?;
        }
        self.watch.count(1);
        if let Aim::Ports { limit_s } = self.task.aim
            && self.fewest(point, limit_s) >= self.best_value
        {
            return None;
        }
        let mut period_s = self.least(point, false);
        let back_s = match point.order {
            ReturnSide::Around => period_s + back,
            ReturnSide::Within => {
                period_s = period_s.max(back + self.task.delay_s);
                back
            }
        };
        // A return before the reconfiguration is not a schedule.
        if !period_s.is_finite() || go >= back_s || self.work.states[0] == self.work.states[1] {
            return None;
        }
        let [first, second] = self.work.states.clone();
        Some(Moving { first, second, go_s: go, back_s, period_s })
    }

    /// Reports a plan if it is better than the best plan so far.
    pub(super) fn keep(&mut self, found: Moving) -> Result<(), MethodError> {
        let value = match self.task.aim {
            Aim::Time => found.period_s,
            Aim::Ports { limit_s } if found.period_s > limit_s => f64::INFINITY,
            Aim::Ports { .. } => found.ports(self.task.evaluator) as f64,
        };
        if value >= self.best_value {
            return Ok(());
        }
        self.best_value = value;
        self.best = Some(found.clone());
        self.watch.found(found, "box")
    }

    /// The two halves of a box with their bounds. Strong branching: chooses the split with the largest product of three
    /// factors: the gain of the bound of each half, and the width of the range that is split, relative to its highest
    /// count or, for an instant, to the width of this range in the root. Without the width, ranges of instants, of
    /// which one half can often be dropped, would be split again and again before the circuits that determine the
    /// bound.
    fn split(&mut self, what: &MoveBox, bound: f64) -> Vec<(f64, MoveBox)> {
        let end_s = self.end_s();
        let widest = match what.order {
            ReturnSide::Around => [end_s, self.task.delay_s],
            ReturnSide::Within => [end_s; 2],
        };
        let mut cuts = Vec::new();
        for (instant, widest) in widest.into_iter().enumerate() {
            let [early, late] = what.instants[instant];
            // Ranges below a few units in the last place of the period cannot be split.
            if late - early > 1e-14 * end_s {
                let middle = f64::midpoint(early, late);
                let half = |span: Instants| {
                    let mut half = what.clone();
                    half.instants[instant] = span;
                    half
                };
                cuts.push(((late - early) / widest, [half([early, middle]), half([middle, late])]));
            }
        }
        for state in 0..2 {
            let width = |link: &usize| what.high[state][*link] - what.low[state][*link];
            let Some(link) = (0..what.low[state].len()).max_by_key(width).filter(|link| width(link) > 0)
            else {
                continue;
            };
            let (low, high) = (what.low[state][link], what.high[state][link]);
            let middle = u32::midpoint(low, high);
            let mut halves = [what.clone(), what.clone()];
            halves[0].high[state][link] = middle;
            halves[1].low[state][link] = middle + 1;
            cuts.push((f64::from(high - low) / f64::from(high), halves));
        }
        let left = (self.best_value - bound).max(f64::MIN_POSITIVE);
        let mut chosen: Option<(f64, Vec<(f64, MoveBox)>)> = None;
        for (width, halves) in cuts {
            let halves = halves.map(|half| (self.bound(&half).max(bound), half));
            let gain = |half: &(f64, MoveBox)| ((half.0 - bound) / left).min(1.0) + LEAST_GAIN;
            let merit = gain(&halves[0]) * gain(&halves[1]) * width;
            if chosen.as_ref().is_none_or(|(known, _)| merit > *known) {
                chosen = Some((merit, halves.into()));
            }
        }
        chosen.map_or_else(Vec::new, |(_, halves)| halves)
    }
}
