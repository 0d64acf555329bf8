//! Search, without a proof, for plans with two reconfigurations within an iteration.
//!
//! Every decided link changes its circuits once, at one of two instants. So the state between the two instants has the
//! first circuits on some links and the second circuits on the others. The return to the first circuits is at the end
//! of the iteration, or up to a dark time earlier if a return at the end would delay the first transfers. Instants are
//! tried at the ends of transfers with successors, because the circuits of these transfers are free afterwards. For the
//! shortest iteration, instants are also tried a dark time before these ends and before the starts of last transfers,
//! and the best schedules are then improved.

use super::grow::{CLIMBED, WORSE, climb};
use super::steps::{Course, Stepped, Steps, carrying};
use super::{Aim, MoveTask, Moving};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Maximum number of ends of transfers that are tried as instants: the last ends of transfers with successors.
const INSTANTS: usize = 14;
/// Up to this number of possible first states, all of them are tried; if there are more, only those near the first
/// state of the best plan with one reconfiguration.
const MOST_STATES: usize = 5_000;
/// Maximum number of decided links; with more links, there are too many ways to assign the links to the two instants.
const MOST_DECIDED: usize = 6;
/// Maximum number of schedules that are evaluated for the shortest iteration; this takes seconds on the largest
/// built-in jobs.
const GUESSES: u64 = 30_000;
/// Times of an early return before the end of the iteration, as fractions of the dark time.
const EARLY: [f64; 3] = [0.0, 0.5, 1.0];

/// Searches for plans with two reconfigurations that are better than `task.known`. `one` is the best plan with one
/// reconfiguration.
///
/// # Errors
/// The reason to stop; plans found until then have been reported to `watch`.
pub fn search_two<W: Watch<Stepped>>(
    task: MoveTask<'_>,
    one: Option<&Moving>,
    watch: &mut W,
) -> Result<Option<Stepped>, MethodError> {
    let mut steps = Steps::new(task, 2);
    if !(2..=MOST_DECIDED).contains(&steps.movable.decided.len()) {
        return Ok(None);
    }
    let mut guesses = Vec::new();
    if task.aim == Aim::Time {
        steps.stretch = WORSE;
    }
    guess(&mut steps, one, &mut guesses, watch)?;
    steps.stretch = 1.0;
    guesses.sort_by(|a, b| a.0.total_cmp(&b.0));
    for guess in guesses.into_iter().take(CLIMBED) {
        climb(&mut steps, guess, watch)?;
    }
    Ok(steps.best)
}

/// Evaluates schedules with two instants. For the shortest iteration, collects the best schedule of every combination
/// of states in `guesses`.
fn guess<W: Watch<Stepped>>(
    steps: &mut Steps<'_>,
    one: Option<&Moving>,
    guesses: &mut Vec<(f64, Course)>,
    watch: &mut W,
) -> Result<(), MethodError> {
    let links = steps.movable.decided.len();
    let decided =
        |state: &Vec<u32>| -> Vec<u32> { steps.movable.decided.iter().map(|link| state[*link]).collect() };
    let known = one.map(|one| [decided(&one.first), decided(&one.second)]);
    let starts = steps.starts();
    let most = if steps.task.aim == Aim::Time { GUESSES.min(steps.task.boxes) } else { steps.task.boxes };
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
                let counts = [first.clone(), middle, second.clone()];
                if !steps.is_worth(&counts) {
                    continue;
                }
                // Only the best course of each split is kept, because the other courses of the split are similar.
                let mut own: Option<(f64, Course)> = None;
                for (at, go) in instants.iter().enumerate() {
                    for until in &instants[at + 1..] {
                        for start in &starts {
                            if steps.looked >= most {
                                return Ok(());
                            }
                            let from_s = [*start, *go, *until];
                            let value = steps.offer((&counts, &from_s), "two instants", watch)?;
                            if let Some(value) = value.filter(|_| steps.task.aim == Aim::Time) {
                                let course = (counts.to_vec(), from_s.to_vec());
                                own = own
                                    .into_iter()
                                    .chain([(value, course)])
                                    .min_by(|a, b| a.0.total_cmp(&b.0));
                            }
                        }
                    }
                }
                guesses.extend(own);
            }
        }
    }
    Ok(())
}

impl Steps<'_> {
    /// Times at which the first state begins: also before the end of the previous iteration, if a return at the end
    /// would delay the first transfers.
    fn starts(&self) -> Vec<f64> {
        let delay_s = self.task.delay_s;
        if self.task.aim != Aim::Time || delay_s <= self.task.evaluator.network.ready_s() {
            return vec![0.0];
        }
        EARLY.iter().map(|share| -share * delay_s).collect()
    }

    /// Circuit counts of the decided links at the start of the iteration: all counts that fit the ports, or counts near
    /// the first counts of the best plan with one reconfiguration.
    fn first_states(&self, known: Option<&Vec<u32>>) -> Vec<Vec<u32>> {
        let most = self.movable.most();
        let network = &self.task.evaluator.network;
        // For the shortest iteration, states near the best ones with one reconfiguration are enough, because later
        // steps improve them.
        let all = known.is_none() || self.task.aim != Aim::Time;
        let mut states = if all { self.movable.vectors(MOST_STATES).unwrap_or_default() } else { Vec::new() };
        if states.is_empty()
            && let Some(known) = known
        {
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
        if all {
            states.sort_by_key(|counts| counts.iter().sum::<u32>());
        }
        states
    }

    /// Returns the instants to try after the first state `first`, ascending: the last ends of transfers with successors
    /// and, for the shortest iteration, also the times one dark time before these ends and before the starts of last
    /// transfers. Empty if the iteration ends too late.
    fn instants(&mut self, first: &[u32]) -> Vec<f64> {
        let network = &self.task.evaluator.network;
        let mut state = Vec::new();
        if self.movable.widest(network, first, first, &mut state).is_none() {
            return Vec::new();
        }
        carrying(&[state], &[0.0], (0.0, f64::INFINITY), &mut self.lit);
        let model = &self.task.evaluator.model;
        if model.start_over(&self.lit, &mut self.scratch.model) > self.end_s() {
            return Vec::new();
        }
        let mut ends = model.inner_ends(&self.scratch.model).to_vec();
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        let mut ends = ends.split_off(ends.len().saturating_sub(INSTANTS));
        if self.task.aim == Aim::Time {
            let ready = model.last_starts(&self.scratch.model).iter().chain(&ends);
            let early: Vec<f64> = ready.map(|ready_s| ready_s - self.task.delay_s).collect();
            ends.extend(early.into_iter().filter(|early_s| *early_s > 0.0));
            ends.sort_unstable_by(f64::total_cmp);
            ends.dedup();
        }
        ends
    }
}
