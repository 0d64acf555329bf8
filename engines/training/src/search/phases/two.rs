//! Two switchings within an iteration: plans, without a proof.
//!
//! Every decided link changes its circuits once, at one of two instants; the return is at the end of the iteration. So
//! the state between the instants has the first circuits on some links and the second ones on the others. Instants are
//! ends of transfers that others wait for: circuits of such transfers are free after them.

use super::{Aim, Movable, MoveTask, MovedCircuits, Moving};
use crate::plan::PhaseEvent;
use crate::simulate::evaluate::{Evaluator, Lit, Scratch};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Last ends of transfers at which circuits may change.
const INSTANTS: usize = 14;
/// First states that are all tried; beyond this number only those near the best with one switching.
const MOST_STATES: usize = 5_000;
/// Links whose circuits are decided, beyond which the ways to split them over the instants are too many.
const MOST_DECIDED: usize = 6;

/// Several states of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// Circuits of every link, by state.
    pub states: Vec<Vec<u32>>,
    /// Moments at which the states begin, ascending from 0, seconds.
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
        self.from_s.iter().zip(&self.states).map(event).collect()
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
        carrying(&self.states, &self.from_s, delay_s, &mut lit);
        lit
    }
}

/// The circuits that carry: those that stood in all states of the dark time before a moment. The last state lasts longer
/// than the dark time, so that no earlier one reaches over the end of the iteration.
fn carrying(states: &[Vec<u32>], from_s: &[f64], delay_s: f64, out: &mut Lit) {
    out.times.clear();
    out.circuits.clear();
    out.times.extend(from_s.iter().flat_map(|from_s| [*from_s, from_s + delay_s]));
    out.times.sort_unstable_by(f64::total_cmp);
    out.times.dedup();
    for &time_s in &out.times {
        let since_s = time_s - delay_s;
        let ended = |state: usize| from_s.get(state + 1).copied().unwrap_or(f64::INFINITY);
        let stood = |state: &usize| from_s[*state] <= time_s && ended(*state) > since_s;
        let now = from_s.partition_point(|from_s| *from_s <= time_s).saturating_sub(1);
        let begin = out.circuits.len();
        out.circuits.extend_from_slice(&states[now]);
        let last = (since_s < 0.0).then_some(states.len() - 1);
        for state in (0..states.len()).filter(stood).chain(last) {
            for (carries, set) in out.circuits[begin..].iter_mut().zip(&states[state]) {
                *carries = (*carries).min(*set);
            }
        }
    }
}

/// A search under way.
struct Steps<'a> {
    task: MoveTask<'a>,
    movable: Movable,
    best_value: f64,
    scratch: Scratch,
    lit: Lit,
    looked: u64,
}

/// Searches plans with two switchings that are better than `task.known`. `one` is the best with one.
///
/// # Errors
/// The reason to stop; what was found until then has been handed to `watch`.
pub fn search_two<W: Watch<Stepped>>(
    task: MoveTask<'_>,
    one: Option<&Moving>,
    watch: &mut W,
) -> Result<Option<Stepped>, MethodError> {
    let movable = Movable::new(task);
    let links = movable.decided.len();
    if !(2..=MOST_DECIDED).contains(&links) {
        return Ok(None);
    }
    let mut steps = Steps {
        best_value: task.known,
        task,
        movable,
        scratch: Scratch::default(),
        lit: Lit::default(),
        looked: 0,
    };
    let decided =
        |state: &Vec<u32>| -> Vec<u32> { steps.movable.decided.iter().map(|link| state[*link]).collect() };
    let known = one.map(|one| [decided(&one.first), decided(&one.second)]);
    let mut best = None;
    for first in steps.first_states(known.as_ref().map(|known| &known[0])) {
        watch.checkpoint()?;
        let instants = steps.instants(&first);
        if instants.is_empty() {
            continue;
        }
        let mut seconds =
            vec![vec![0; links], first.iter().map(|count| (*count).min(1)).collect::<Vec<u32>>()];
        seconds.extend(known.iter().map(|known| known[1].clone()));
        seconds.dedup();
        for second in &seconds {
            for split in 1..(1_u32 << links) - 1 {
                let pick = |link: usize| if split >> link & 1 == 1 { second[link] } else { first[link] };
                let middle: Vec<u32> = (0..links).map(pick).collect();
                if middle == first || middle == *second {
                    continue;
                }
                let counts = [&first, &middle, second];
                if !steps.is_worth(&counts) {
                    continue;
                }
                for (at, go) in instants.iter().enumerate() {
                    watch.checkpoint()?;
                    for until in &instants[at + 1..] {
                        steps.looked += 1;
                        watch.count(1);
                        if steps.looked > task.boxes {
                            return Ok(best);
                        }
                        if let Some((value, found)) = steps.value(&counts, vec![0.0, *go, *until]) {
                            steps.best_value = value;
                            best = Some(found.clone());
                            watch.found(found, "two instants")?;
                        }
                    }
                }
            }
        }
    }
    Ok(best)
}

impl Steps<'_> {
    /// Counts of decided links at the start: all that fit the ports, or those near the best with one switching.
    fn first_states(&self, known: Option<&Vec<u32>>) -> Vec<Vec<u32>> {
        let most = self.movable.most();
        let network = &self.task.evaluator.network;
        let all = most.iter().map(|most| *most as usize).try_fold(1_usize, usize::checked_mul);
        let mut states = Vec::new();
        if all.is_some_and(|all| all <= MOST_STATES) {
            let mut counts = vec![1; most.len()];
            loop {
                states.push(counts.clone());
                let Some(link) = (0..counts.len()).find(|link| counts[*link] < most[*link]) else { break };
                counts[..link].fill(1);
                counts[link] += 1;
            }
        } else if let Some(known) = known {
            states.push(known.clone());
            for link in 0..known.len() {
                for count in [known[link].saturating_sub(1), known[link] + 1] {
                    let mut other = known.clone();
                    other[link] = count.clamp(1, most[link]);
                    states.push(other);
                }
            }
            states.dedup();
        }
        states.retain(|counts| self.movable.fitting(network, counts, counts).is_some());
        states.sort_by_key(|counts| counts.iter().sum::<u32>());
        states
    }

    /// The longest iteration that matters, seconds.
    fn end_s(&self) -> f64 {
        match self.task.aim {
            Aim::Time => self.best_value,
            Aim::Ports { limit_s } => limit_s,
        }
    }

    /// Last ends of transfers that others wait for on these circuits, ascending; none if they end too late.
    fn instants(&mut self, first: &[u32]) -> Vec<f64> {
        let network = &self.task.evaluator.network;
        let mut state = Vec::new();
        if self.movable.widest(network, first, first, &mut state).is_none() {
            return Vec::new();
        }
        carrying(&[state], &[0.0], 0.0, &mut self.lit);
        let model = &self.task.evaluator.model;
        if model.start_over(&self.lit, &mut self.scratch.model) > self.end_s() {
            return Vec::new();
        }
        let mut ends = model.inner_ends(&self.scratch.model).to_vec();
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        ends.split_off(ends.len().saturating_sub(INSTANTS))
    }

    /// `false` if the decided links alone need as many ports as the best plan.
    fn is_worth(&self, counts: &[&Vec<u32>; 3]) -> bool {
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

    /// Value and plan of three states if they are better than the best.
    fn value(&mut self, counts: &[&Vec<u32>; 3], from_s: Vec<f64>) -> Option<(f64, Stepped)> {
        let network = &self.task.evaluator.network;
        let delay_s = self.task.delay_s;
        let mut states = vec![Vec::new(); 3];
        for (counts, state) in counts.iter().zip(&mut states) {
            self.movable.widest(network, counts, counts, state)?;
        }
        let least_s = from_s.last().map_or(0.0, |last| last + delay_s);
        if least_s > self.end_s() {
            return None;
        }
        if let Aim::Ports { limit_s } = self.task.aim {
            self.fewest(counts, &mut states, &from_s, limit_s)?;
        }
        carrying(&states, &from_s, delay_s, &mut self.lit);
        let model = &self.task.evaluator.model;
        let period_s = model.makespan_over(&self.lit, &mut self.scratch.model).max(least_s);
        let found = Stepped { states, from_s, period_s };
        let value = match self.task.aim {
            Aim::Time => period_s,
            Aim::Ports { limit_s } if period_s > limit_s => return None,
            Aim::Ports { .. } => found.ports(self.task.evaluator) as f64,
        };
        (value < self.best_value).then_some((value, found))
    }

    /// Lowers the circuits that take what is left in a pod to the fewest with which an iteration ends by `limit_s`; `None`
    /// if it does not.
    fn fewest(
        &mut self,
        counts: &[&Vec<u32>; 3],
        states: &mut [Vec<u32>],
        from_s: &[f64],
        limit_s: f64,
    ) -> Option<()> {
        let (network, model) = (&self.task.evaluator.network, &self.task.evaluator.model);
        let scratch = &mut self.scratch.model;
        carrying(states, from_s, self.task.delay_s, &mut self.lit);
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
                carrying(states, from_s, self.task.delay_s, &mut self.lit);
                model.link_end_over(rest.0, &self.lit, scratch) <= limit_s
            };
            // The end never grows with the ports.
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
