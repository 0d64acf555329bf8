//! Pattern search for plans with more reconfigurations, starting from a plan with fewer.
//!
//! A state is split in two, and one of the two new states gets other circuits. From the best of these guesses, the
//! circuit counts of one or two links in a state are changed by 1, or an instant is moved (by a step or to the end of a
//! transfer). A change is kept if the iteration gets shorter; steps are halved if no change helps.

use super::steps::{Course, Stepped, Steps, carrying};
use super::{Aim, MoveTask};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::collections::BTreeSet;

/// States are split until there are this many reconfigurations, because on all built-in jobs the gain decreased with
/// every further reconfiguration.
const GROWN: u32 = 4;
/// Limit on the value of a guess, as a multiple of the best value; a climb shortens guesses.
pub(super) const WORSE: f64 = 1.02;
/// Number of guesses to improve.
pub(super) const CLIMBED: usize = 12;
/// Number of ends of transfers near which states are inserted: the last ones of the iteration.
const NEAR: usize = 10;
/// Maximum number of states to try between two given states; if there are more, only states are tried in which every
/// link has its count of one of the two given states.
const MOST_BETWEEN: u64 = 64;
/// Maximum number of changing links for which all subsets are tried.
const MOST_LINKS: usize = 4;
/// A state that is inserted at an instant begins before, and ends after, this instant by one of these fractions of the
/// dark time.
const SPREAD: [f64; 5] = [0.02, 0.05, 0.1, 0.15, 0.25];
/// Maximum product of the numbers of states and tasks; above it a climb would take minutes.
const MOST_WORK: usize = 100_000;
/// Smallest step of instants, relative to the period, at which a climb ends.
const FINEST: f64 = 1e-9;
/// Smallest step like [`FINEST`], for a climb that only decides whether a change of a circuit count shortens the
/// iteration.
const ROUGH: f64 = 1e-6;
/// If a round of changes of circuit counts gains less than this, relative to the period, no further round follows.
const LEAST_GAIN: f64 = 1e-9;

/// Searches for plans with at most `most` reconfigurations that are shorter than `task.known`, from a plan of that
/// period.
///
/// # Errors
/// The reason to stop; plans found until then have been reported to `watch`.
pub fn search_more<W: Watch<Stepped>>(
    task: MoveTask<'_>,
    from: &Stepped,
    most: u32,
    watch: &mut W,
) -> Result<Option<Stepped>, MethodError> {
    let mut steps = Steps::new(task, most);
    if task.aim != Aim::Time || steps.movable.decided.is_empty() {
        return Ok(None);
    }
    let best = steps.course(from);
    let known = steps.best_value;
    climb(&mut steps, (known, best), watch)?;
    let grown = most.min(GROWN) as usize;
    loop {
        let before = steps.best_value;
        let best = steps.course(steps.best.as_ref().unwrap_or(from));
        if best.0.len() > grown {
            return Ok(steps.best);
        }
        let mut guesses: Vec<(f64, Course)> = Vec::new();
        for guess in steps.splits(&best) {
            steps.stretch = WORSE;
            if let Some(value) = steps.offer((&guess.0, &guess.1), "more instants", watch)? {
                guesses.push((value, guess));
            }
        }
        // One guess of every sequence of states, because climbs from others lead to the same plan.
        guesses.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut known: BTreeSet<Vec<Vec<u32>>> = BTreeSet::new();
        guesses.retain(|(_, (counts, _))| known.insert(counts.clone()));
        for guess in guesses.into_iter().take(CLIMBED) {
            climb(&mut steps, guess, watch)?;
        }
        alternate(&mut steps, from, watch)?;
        if steps.best_value >= before - task.close || !steps.goes_on() {
            return Ok(steps.best);
        }
    }
}

/// What a climb may change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    All,
    Instants,
}

/// Improves a course (states and their start times), given with its period, as long as the period gets shorter.
pub(super) fn climb<W: Watch<Stepped>>(
    steps: &mut Steps<'_>,
    guess: (f64, Course),
    watch: &mut W,
) -> Result<(), MethodError> {
    climb_by(steps, guess, (Moves::All, FINEST), watch)
}

/// Improves the best plan by changes of counts that shorten the iteration only with other instants: after every change
/// of counts, a climb changes only the instants.
fn alternate<W: Watch<Stepped>>(
    steps: &mut Steps<'_>,
    from: &Stepped,
    watch: &mut W,
) -> Result<(), MethodError> {
    loop {
        let before = steps.best_value;
        let best = steps.course(steps.best.as_ref().unwrap_or(from));
        for guess in steps.recounted(&best) {
            steps.stretch = WORSE;
            if let Some(value) = steps.offer((&guess.0, &guess.1), "more instants", watch)? {
                climb_by(steps, (value, guess), (Moves::Instants, ROUGH), watch)?;
            }
        }
        steps.stretch = 1.0;
        if steps.best_value >= before * (1.0 - LEAST_GAIN) || !steps.goes_on() {
            return Ok(());
        }
        let best = steps.course(steps.best.as_ref().unwrap_or(from));
        climb(steps, (steps.best_value, best), watch)?;
    }
}

fn climb_by<W: Watch<Stepped>>(
    steps: &mut Steps<'_>,
    (mut value, mut course): (f64, Course),
    (moves, finest): (Moves, f64),
    watch: &mut W,
) -> Result<(), MethodError> {
    if course.0.len() * steps.task.evaluator.network.tasks() > MOST_WORK {
        return Ok(());
    }
    let mut step = 0.5 * steps.task.delay_s.max(0.01 * steps.best_value);
    while step > finest * steps.best_value && steps.goes_on() {
        let mut better = None;
        let mut next = if moves == Moves::All { steps.recounted(&course) } else { Vec::new() };
        next.extend(steps.retimed(&course, step));
        for next in next {
            // Keep only courses that are shorter than the present one.
            steps.stretch = (value / steps.best_value).max(1.0);
            match steps.offer((&next.0, &next.1), "more instants", watch)? {
                Some(own) if own < value * (1.0 - 1e-12) => (value, better) = (own, Some(next)),
                _ => {}
            }
        }
        match better {
            Some(next) => course = next,
            None => step *= 0.5,
        }
    }
    steps.stretch = 1.0;
    Ok(())
}

/// States between two given states, without these two: on every link, the count is between the counts of the two
/// states.
fn between(own: &[u32], later: &[u32]) -> Vec<Vec<u32>> {
    let widths = own.iter().zip(later).map(|(own, later)| u64::from(own.abs_diff(*later)) + 1);
    let count = widths.fold(1_u64, u64::saturating_mul);
    let mut states = vec![Vec::new()];
    for (link, (own, later)) in own.iter().zip(later).enumerate() {
        let choices: Vec<u32> = if count <= MOST_BETWEEN {
            (*own.min(later)..=*own.max(later)).collect()
        } else if own == later || link >= MOST_LINKS {
            vec![*own]
        } else {
            vec![*own, *later]
        };
        let longer = |state: &Vec<u32>, choice: u32| state.iter().copied().chain([choice]).collect();
        states = choices
            .iter()
            .flat_map(|choice| states.iter().map(|state| longer(state, *choice)).collect::<Vec<Vec<u32>>>())
            .collect();
    }
    states.retain(|state| state != own && state != later);
    states
}

impl Steps<'_> {
    /// Courses with one more state: either a state is split in two, one of which has a circuit more, a circuit fewer or
    /// none on a link; or a state is inserted between two states. On every link, the inserted state has a number of
    /// circuits between the numbers of the two states. It lies around the instant between them, or begins or ends at
    /// the end of a transfer or a dark time before this end.
    fn splits(&mut self, course: &Course) -> Vec<Course> {
        let most = self.movable.most();
        let delay_s = self.task.delay_s;
        let ends = self.ends(course);
        let (counts, from_s) = course;
        let with = |at: usize, state: Vec<u32>, time_s: f64| {
            let (mut counts, mut from_s) = (counts.clone(), from_s.clone());
            counts.insert(at, state);
            from_s.insert(at, time_s);
            (counts, from_s)
        };
        let mut splits = Vec::new();
        for (at, own) in counts.iter().enumerate() {
            let begin_s = from_s[at].max(0.0);
            let end_s = from_s.get(at + 1).copied().unwrap_or(self.best_value);
            for link in 0..most.len() {
                for other in [own[link].saturating_sub(1), (own[link] + 1).min(most[link]), 0] {
                    let mut state = own.clone();
                    state[link] = other;
                    for share in [0.1, 0.5, 0.9] {
                        let time_s = begin_s + share * (end_s - begin_s);
                        splits.push(with(at + 1, state.clone(), time_s));
                        let mut early = with(at + 1, own.clone(), time_s);
                        early.0[at] = state.clone();
                        splits.push(early);
                    }
                }
            }
            let Some(later) = counts.get(at + 1) else { continue };
            let until_s = from_s.get(at + 2).copied().unwrap_or(self.best_value);
            let near = ends.iter().rev().take(NEAR).flat_map(|end| [*end, end - delay_s]);
            let times: Vec<f64> = near.filter(|time_s| *time_s > begin_s && *time_s < until_s).collect();
            for state in between(own, later) {
                // Both instants moved away from the present one.
                for early in SPREAD {
                    for late in SPREAD {
                        let (go_s, next_s) = (end_s - early * delay_s, end_s + late * delay_s);
                        if go_s > begin_s && next_s < until_s {
                            let mut spread = with(at + 1, state.clone(), go_s);
                            spread.1[at + 2] = next_s;
                            splits.push(spread);
                        }
                    }
                }
                for &time_s in times.iter().filter(|time_s| **time_s != end_s) {
                    if time_s < end_s {
                        splits.push(with(at + 1, state.clone(), time_s));
                    } else {
                        let mut late = with(at + 2, later.clone(), time_s);
                        late.0[at + 1] = state.clone();
                        splits.push(late);
                    }
                }
            }
        }
        splits
    }

    /// Courses in which, in one state, one link has one circuit more or fewer, or one link has one more and another one
    /// fewer.
    fn recounted(&self, course: &Course) -> Vec<Course> {
        let most = self.movable.most();
        let mut next = Vec::new();
        for (state, counts) in course.0.iter().enumerate() {
            let mut add = |changes: &[(usize, i64)]| {
                let mut other = course.clone();
                for (link, change) in changes {
                    let count = i64::from(counts[*link]) + change;
                    let Some(count) = u32::try_from(count).ok().filter(|count| *count <= most[*link]) else {
                        return;
                    };
                    other.0[state][*link] = count;
                }
                next.push(other);
            };
            for link in 0..counts.len() {
                add(&[(link, 1)]);
                add(&[(link, -1)]);
                for other in 0..link {
                    add(&[(link, 1), (other, -1)]);
                    add(&[(link, -1), (other, 1)]);
                }
            }
        }
        next
    }

    /// Courses in which one instant is moved by a step. For every instant but the first, also courses in which this
    /// instant is moved to the next or previous end of a transfer, or together with all later instants by a step.
    fn retimed(&mut self, course: &Course, step: f64) -> Vec<Course> {
        let mut next = Vec::new();
        let ends = self.ends(course);
        for at in 0..course.1.len() {
            let mut add = |time_s: f64| {
                let mut other = course.clone();
                other.1[at] = time_s;
                next.push(other);
            };
            let own = course.1[at];
            add(own + step);
            add(own - step);
            if at > 0 {
                let after = ends.partition_point(|end| *end <= own);
                add(ends.get(after).copied().unwrap_or(own));
                add(ends[..after].iter().rev().find(|end| **end < own).copied().unwrap_or(own));
            }
        }
        // Shift all later instants together.
        for at in 1..course.1.len() {
            for by in [step, -step] {
                let mut other = course.clone();
                other.1[at..].iter_mut().for_each(|time_s| *time_s += by);
                next.push(other);
            }
        }
        next
    }

    /// Ends of transfers with successors, ascending.
    fn ends(&mut self, (counts, from_s): &Course) -> Vec<f64> {
        let Some(states) = self.filled(counts) else { return Vec::new() };
        carrying(&states, from_s, (self.task.delay_s, self.best_value), &mut self.lit);
        let model = &self.task.evaluator.model;
        model.start_over(&self.lit, &mut self.scratch.model);
        let mut ends = model.inner_ends(&self.scratch.model).to_vec();
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn states_between_two_others_have_counts_between_theirs() {
        // 3 * 1 * 2 vectors, without the two ends.
        let mut states = between(&[6, 5, 1], &[8, 5, 0]);
        states.sort();
        assert_eq!(states, [[6, 5, 0], [7, 5, 0], [7, 5, 1], [8, 5, 1]]);
        assert!(between(&[3, 1], &[3, 1]).is_empty());
        // 9 * 9 vectors are too many: the counts of one of the two.
        let mut states = between(&[0, 8], &[8, 0]);
        states.sort();
        assert_eq!(states, [[0, 0], [8, 8]]);
    }
}
