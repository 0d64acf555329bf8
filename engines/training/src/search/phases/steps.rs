//! Schedules with several states, and the evaluation of such schedules.

use super::{Aim, Movable, MoveTask, MovedCircuits, Moving};
use crate::plan::{PhaseEvent, Phases};
use crate::simulate::evaluate::{Evaluator, Lit, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Maximum number of steps to find the shortest period that is at least the makespan for this period; each step at
/// least halves the interval that contains this period.
const HALVINGS: usize = 50;

/// Several states of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// Circuits of every link, by state.
    pub states: Vec<Vec<u32>>,
    /// Moments at which the states begin, ascending, seconds. The first is 0, or, if the return is before the end of
    /// the iteration, between minus the dark time and 0.
    pub from_s: Vec<f64>,
    /// Time of one iteration, seconds.
    pub period_s: f64,
}

impl MovedCircuits for Stepped {
    fn period_s(&self) -> f64 {
        self.period_s
    }

    fn events(&self) -> Vec<PhaseEvent> {
        let event = |(time_s, circuits): (&f64, &Vec<u32>)| PhaseEvent {
            time_s: *time_s,
            circuits: circuits.clone(),
        };
        let mut events: Vec<PhaseEvent> = self.from_s.iter().zip(&self.states).map(event).collect();
        if let Some(first) = events.first_mut().filter(|first| first.time_s < 0.0) {
            first.time_s += self.period_s;
            events.rotate_left(1);
        }
        // If the first state equals the last one, it continues from the previous iteration and needs no event.
        if events.len() > 2
            && events.first().map(|event| &event.circuits) == events.last().map(|event| &event.circuits)
        {
            events.remove(0);
        }
        events
    }

    fn ports(&self, evaluator: &Evaluator) -> u64 {
        let mut peak: Vec<u32> = Vec::new();
        for state in &self.states {
            let used = evaluator.network.budget.used(state);
            peak.resize(used.len(), 0);
            for (peak, used) in peak.iter_mut().zip(used) {
                *peak = u32::max(*peak, used);
            }
        }
        peak.into_iter().map(u64::from).sum()
    }

    fn lit(&self, delay_s: f64) -> Lit {
        let mut lit = Lit::default();
        carrying(&self.states, &self.from_s, (delay_s, self.period_s), &mut lit);
        lit
    }
}

/// Evaluates a plan of another scenario or for another dark time; `None` if the plan is not valid there, or not better
/// than `task.known`.
pub fn revalued(task: MoveTask<'_>, plan: &Stepped, most: u32) -> Option<Stepped> {
    let mut steps = Steps::new(task, most);
    let (counts, from_s) = steps.course(plan);
    steps.value(&counts, &from_s).map(|(_, found)| found)
}

impl Stepped {
    /// Converts a plan with one reconfiguration and its return to states.
    pub fn of(moving: &Moving, delay_s: f64) -> Self {
        let Moving { first, second, go_s, back_s, period_s } = moving;
        let period_s = *period_s;
        // The dark time of the return spans the end of the iteration.
        if back_s + delay_s > period_s {
            let from_s = vec![(back_s - period_s).min(0.0), *go_s];
            return Self { states: vec![first.clone(), second.clone()], from_s, period_s };
        }
        let states = vec![first.clone(), second.clone(), first.clone()];
        Self { states, from_s: vec![0.0, *go_s, *back_s], period_s }
    }

    /// Removes states that equal the previous one.
    fn shortened(mut self) -> Self {
        let mut at = 1;
        while at < self.states.len() {
            if self.states[at] == self.states[at - 1] {
                self.states.remove(at);
                self.from_s.remove(at);
            } else {
                at += 1;
            }
        }
        self
    }

    /// Number of instants at which circuits are set up, not counting the return to the first state.
    pub fn switchings(&self) -> u32 {
        Phases::new(self.events()).switchings
    }
}

/// Writes the carrying circuits to `out`: the circuits that were set in all states within the dark time before a
/// moment, including states of the previous iteration. The period may be infinite if the first state begins at 0,
/// because then only the last state of the previous iteration extends over its end.
pub(super) fn carrying(states: &[Vec<u32>], from_s: &[f64], (delay_s, period_s): (f64, f64), out: &mut Lit) {
    out.times.clear();
    out.circuits.clear();
    let Some((first_s, last)) = from_s.first().zip(states.len().checked_sub(1)) else { return };
    let end_s = if *first_s < 0.0 { period_s + first_s } else { f64::INFINITY };
    let until = |state: usize| from_s.get(state + 1).copied().unwrap_or(end_s);
    // Begin, end and state; states that end before the dark time of the first moment do not matter.
    let mut spans: Vec<(f64, f64, usize)> = Vec::with_capacity(states.len() + 3);
    if period_s.is_finite() {
        let shifted = (0..=last).map(|state| {
            let end_s = if state == last { *first_s } else { until(state) - period_s };
            (from_s[state] - period_s, end_s, state)
        });
        spans.extend(shifted.filter(|(_, end_s, _)| end_s + delay_s > 0.0));
    } else {
        spans.push((f64::NEG_INFINITY, *first_s, last));
    }
    spans.extend((0..=last).map(|state| (from_s[state], until(state), state)));
    if end_s.is_finite() {
        spans.push((end_s, f64::INFINITY, 0));
    }
    out.times.push(0.0);
    let moments = spans.iter().flat_map(|(begin_s, ..)| [*begin_s, begin_s + delay_s]);
    out.times.extend(moments.filter(|moment| *moment > 0.0 && moment.is_finite()));
    out.times.sort_unstable_by(f64::total_cmp);
    out.times.dedup();
    let (mut oldest, mut next) = (0, 0);
    for &time_s in &out.times {
        while spans.get(next).is_some_and(|(begin_s, ..)| *begin_s <= time_s) {
            next += 1;
        }
        // The end of the dark time is computed exactly like the time points, so that a state that ended one dark time
        // earlier does not count.
        while spans[oldest].1 + delay_s <= time_s {
            oldest += 1;
        }
        let begin = out.circuits.len();
        out.circuits.extend_from_slice(&states[spans[next - 1].2]);
        for (_, _, state) in &spans[oldest..next - 1] {
            for (carries, set) in out.circuits[begin..].iter_mut().zip(&states[*state]) {
                *carries = (*carries).min(*set);
            }
        }
    }
}

/// Circuit counts of the decided links in every state, and the start times of the states.
pub(super) type Course = (Vec<Vec<u32>>, Vec<f64>);

/// Evaluates schedules of several states, and keeps the best one.
pub(super) struct Steps<'a> {
    pub task: MoveTask<'a>,
    pub movable: Movable,
    /// Maximum number of reconfigurations, not counting the return to the first state.
    pub most: u32,
    pub best_value: f64,
    pub best: Option<Stepped>,
    /// Limit on the value of schedules to keep, as a multiple of the best value.
    pub stretch: f64,
    pub scratch: Scratch,
    pub lit: Lit,
    pub looked: u64,
}

impl<'a> Steps<'a> {
    pub fn new(task: MoveTask<'a>, most: u32) -> Self {
        Self {
            best_value: task.known,
            movable: Movable::new(task),
            task,
            most,
            best: None,
            stretch: 1.0,
            scratch: Scratch::default(),
            lit: Lit::default(),
            looked: 0,
        }
    }

    /// Returns the circuit counts of the decided links of a plan, and the start times of its states.
    pub fn course(&self, plan: &Stepped) -> Course {
        let decided =
            |state: &Vec<u32>| self.movable.decided.iter().map(|link| state[*link]).collect::<Vec<u32>>();
        (plan.states.iter().map(decided).collect(), plan.from_s.clone())
    }

    /// Maximum length of an iteration that the search accepts, seconds.
    pub fn end_s(&self) -> f64 {
        match self.task.aim {
            Aim::Time => self.best_value * self.stretch,
            Aim::Ports { limit_s } => limit_s,
        }
    }

    /// Returns `false` if the limit of schedules is reached.
    pub fn goes_on(&self) -> bool {
        self.looked < self.task.boxes
    }

    /// Evaluates the schedule with the given circuit counts of the decided links, and keeps the schedule if it is the
    /// best so far. Returns the value of the schedule if it is below the best value times [`Steps::stretch`].
    ///
    /// # Errors
    /// The reason to stop.
    pub fn offer<W: Watch<Stepped>>(
        &mut self,
        (counts, from_s): (&[Vec<u32>], &[f64]),
        source: &str,
        watch: &mut W,
    ) -> Result<Option<f64>, MethodError> {
        self.looked += 1;
        watch.count(1);
        watch.checkpoint()?;
        let Some((value, found)) = self.value(counts, from_s) else { return Ok(None) };
        if value < self.best_value {
            self.best_value = value;
            self.best = Some(found.clone());
            watch.found(found, source)?;
        }
        Ok(Some(value))
    }

    /// Returns `false` if ports are minimised and the decided links alone need at least as many ports as the best plan.
    pub fn is_worth(&self, counts: &[Vec<u32>]) -> bool {
        if self.task.aim == Aim::Time {
            return true;
        }
        let network = &self.task.evaluator.network;
        let mut peak = vec![0; network.budget.pods()];
        let mut used = Vec::new();
        for counts in counts {
            self.movable.used(network, counts, &mut used);
            for (peak, used) in peak.iter_mut().zip(&used) {
                *peak = u32::max(*peak, *used);
            }
        }
        f64::from(peak.iter().sum::<u32>()) < self.best_value
    }

    /// Circuits of every link in every state, where other links get the remaining ports; `None` if the circuits do not
    /// fit the ports.
    pub fn filled(&self, counts: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
        let network = &self.task.evaluator.network;
        let mut states = vec![Vec::new(); counts.len()];
        for (counts, state) in counts.iter().zip(&mut states) {
            self.movable.widest(network, counts, counts, state)?;
        }
        Some(states)
    }

    /// Value and plan of a schedule; `None` if the schedule is not valid, has too many reconfigurations, or has a value
    /// that is not below the best value times [`Steps::stretch`].
    pub fn value(&mut self, counts: &[Vec<u32>], from_s: &[f64]) -> Option<(f64, Stepped)> {
        let delay_s = self.task.delay_s;
        let (first_s, last_s) = (*from_s.first()?, *from_s.last()?);
        let ascends = from_s.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascends || !(-delay_s..=0.0).contains(&first_s) || from_s.get(1).is_some_and(|next| *next <= 0.0)
        {
            return None;
        }
        let mut states = self.filled(counts)?;
        let least_s = last_s + delay_s - first_s;
        if least_s > self.end_s() {
            return None;
        }
        if let Aim::Ports { limit_s } = self.task.aim {
            self.fewest(counts, &mut states, from_s, limit_s)?;
        }
        let period_s = self.period_s(&states, from_s, least_s);
        if period_s > self.end_s() {
            return None;
        }
        let found = Stepped { states, from_s: from_s.to_vec(), period_s }.shortened();
        let value = match self.task.aim {
            Aim::Time => period_s,
            Aim::Ports { .. } => found.ports(self.task.evaluator) as f64,
        };
        (value < self.best_value * self.stretch && found.switchings() <= self.most).then_some((value, found))
    }

    /// The shortest period of at least `least_s`; a value above [`Steps::end_s`] means that the plan is of no use.
    fn period_s(&mut self, states: &[Vec<u32>], from_s: &[f64], least_s: f64) -> f64 {
        let limit_s = self.end_s();
        let (delay_s, lit, scratch) = (self.task.delay_s, &mut self.lit, &mut self.scratch.model);
        let model = &self.task.evaluator.model;
        let mut run = |period_s: f64| {
            carrying(states, from_s, (delay_s, period_s), lit);
            model.makespan_over(lit, scratch)
        };
        if from_s.first().is_none_or(|first_s| *first_s >= 0.0) {
            return run(f64::INFINITY).max(least_s);
        }
        // With a return before the end, a longer period never reduces the carrying circuits, so the end falls as the
        // period grows.
        let mut high = limit_s;
        let end_s = run(high);
        if end_s > high {
            return f64::INFINITY;
        }
        let mut low = least_s.max(end_s);
        for _ in 0..HALVINGS {
            if high - low <= 1e-13 * high {
                break;
            }
            let middle = f64::midpoint(low, high);
            let end_s = run(middle);
            if end_s > middle {
                low = middle;
            } else {
                high = middle;
                low = low.max(end_s);
            }
        }
        high
    }

    /// Lowers the circuits of links that get the remaining ports of a pod to the minimum with which an iteration ends
    /// by `limit_s`; `None` if no number of circuits suffices.
    fn fewest(
        &mut self,
        counts: &[Vec<u32>],
        states: &mut [Vec<u32>],
        from_s: &[f64],
        limit_s: f64,
    ) -> Option<()> {
        let (network, model) = (&self.task.evaluator.network, &self.task.evaluator.model);
        let (times, scratch) = ((self.task.delay_s, limit_s), &mut self.scratch.model);
        carrying(states, from_s, times, &mut self.lit);
        if model.start_over(&self.lit, scratch) > limit_s {
            return None;
        }
        if self.movable.decided.iter().any(|link| model.link_end_over(*link, &self.lit, scratch) > limit_s) {
            return None;
        }
        let mut used = vec![Vec::new(); counts.len()];
        for (counts, used) in counts.iter().zip(&mut used) {
            self.movable.used(network, counts, used);
        }
        for pod in 0..network.budget.pods() {
            let (Some(ports), Some(rest)) = (self.movable.ports(pod), self.movable.rest_at(pod)) else {
                continue;
            };
            let least = used.iter().map(|used| used[pod]).max().unwrap_or(0);
            let mut ends_with = |ports: u32| {
                for (state, used) in states.iter_mut().zip(&used) {
                    state[rest.0] = self.movable.rest_circuits(rest, ports - used[pod]);
                }
                carrying(states, from_s, times, &mut self.lit);
                model.link_end_over(rest.0, &self.lit, scratch) <= limit_s
            };
            // More ports never make the end later, so bisection finds the fewest ports.
            let (mut fails, mut serves) = (least, ports);
            if ends_with(least) {
                serves = least;
            } else if !ends_with(ports) {
                return None;
            }
            while serves > fails + 1 {
                let middle = u32::midpoint(fails, serves);
                if ends_with(middle) { serves = middle } else { fails = middle }
            }
            ends_with(serves);
        }
        Some(())
    }
}
