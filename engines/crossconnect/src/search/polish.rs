//! Improves a solution by merging two switches and splitting them again at minimum cost (docs/methods/crossconnect.md,
//! section 4).
//!
//! For two switches, one flow finds the best split of their circuits. With `reorient`, the circuits of each switch and
//! of each pair of switches may also change orientation: another flow orients them before the split.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};
use crate::search::halving::{self, Bipartition, Part, split};
use crate::search::orient::{Failure, Preference, orient};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

#[cfg(test)]
mod tests;

/// Improves a feasible assignment until no pair of switches yields an improvement; the result is never worse. Calls
/// `found` with every better assignment.
///
/// # Errors
/// If the run must stop, or the error of `found`.
pub fn polish<W: Watch>(
    task: &Task,
    start: &Assignment,
    reorient: bool,
    watch: &mut W,
    mut found: impl FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, MethodError> {
    let mut best = start.clone();
    let mut removed = task.removed_by_ocs(&best);
    // A pair is tried again only if one of its switches changed since.
    let mut changed = vec![1u64; task.ocs_count];
    let mut tried = vec![0u64; task.ocs_count * task.ocs_count];
    let mut now = 1;
    loop {
        let before = now;
        for one in 0..task.ocs_count {
            for other in one..task.ocs_count {
                let seen = &mut tried[one * task.ocs_count + other];
                let alone = one == other;
                // A pair without removals cannot improve; a single switch can improve only by orientation.
                let hopeless = removed[one] + removed[other] == 0 || (alone && !reorient);
                if hopeless || changed[one].max(changed[other]) <= *seen {
                    continue;
                }
                *seen = now;
                watch.checkpoint()?;
                let pair = if alone { vec![one] } else { vec![one, other] };
                let Some(better) = resolved(task, &best, &pair, reorient, watch)? else { continue };
                now += 1;
                for &switch in &pair {
                    changed[switch] = now;
                    best.ocs[switch] = better.ocs[switch].clone();
                }
                removed = task.removed_by_ocs(&best);
                found(watch, removed.iter().sum(), &best)?;
            }
        }
        // After a full pass without gain, the solution is a local optimum with regard to all pairs.
        if now == before {
            return Ok(best);
        }
    }
}

/// Returns the number of removed circuits on some switches.
fn removed_on(task: &Task, assignment: &Assignment, switches: &[usize]) -> u64 {
    let on =
        |all: &Assignment| Assignment { ocs: switches.iter().map(|&ocs| all.ocs[ocs].clone()).collect() };
    on(assignment).lacks(&on(&task.installed))
}

/// Returns an assignment in which the circuits of a group of switches are redistributed among these switches; `None` if
/// the redistributed circuits do not need fewer removals than before.
fn resolved(
    task: &Task,
    assignment: &Assignment,
    switches: &[usize],
    reorient: bool,
    watch: &mut impl Watch,
) -> Result<Option<Assignment>, MethodError> {
    let before = removed_on(task, assignment, switches);
    let carried = merged(switches.iter().flat_map(|&ocs| assignment.ocs[ocs].iter().copied()));
    // The split is optimal for this pair and orientation.
    if let [one, other] = *switches {
        let (first, second) = ([one], [other]);
        let (first, second) = (Part::of(task, &first), Part::of(task, &second));
        watch.count(1);
        let halves = split(task, &carried, &first, &second, Preference::none(), &mut || watch.checkpoint());
        if let Some((here, there)) = feasible(halves)? {
            let mut found = Assignment { ocs: vec![Vec::new(); task.ocs_count] };
            (found.ocs[one], found.ocs[other]) = (here, there);
            if removed_on(task, &found, switches) < before {
                return Ok(Some(found));
            }
        }
    }
    if !reorient {
        return Ok(None);
    }
    // Orientation first, then the split; the two flows together need not be optimal.
    let pairs = merged(carried.iter().map(|cell| Cell {
        a: cell.a.min(cell.b),
        b: cell.a.max(cell.b),
        count: cell.count,
    }));
    let Some(demand) = feasible(orient(task, switches, &pairs, Preference::none(), watch))? else {
        return Ok(None);
    };
    if demand == carried {
        return Ok(None);
    }
    let settings = halving::HalvingSettings { bipartition: Bipartition::EvenOdd, preference: None };
    let found = feasible(halving::halve(task, demand, switches.to_vec(), settings, watch))?;
    Ok(found.filter(|found| removed_on(task, found, switches) < before))
}

/// Returns the result of a search, or `None` if the search got stuck; an error only if the run was stopped.
pub(crate) fn feasible<T>(found: Result<T, Failure>) -> Result<Option<T>, MethodError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Stuck(_)) => Ok(None),
        Err(Failure::Ended(error)) => Err(error),
    }
}
