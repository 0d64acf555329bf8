//! A first solution (docs/methods/crossconnect.md, sections 3 and 5): orientation and halving, several times if
//! requested, and alternatives if halving is stuck.

use crate::model::assignment::Assignment;
use crate::model::task::Task;
use crate::search::halving::{self, Bipartition};
use crate::search::orient::{Failure, Preference, Stuck, orient};
use crate::search::polish::feasible;
use crate::search::repair::repair;
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use rand::Rng;
use rand::seq::SliceRandom;

#[cfg(test)]
mod tests;

/// Number of tries of halving, and their settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    /// Split of a group of switches in two.
    pub bipartition: Bipartition,
    /// `true` if the first try also uses a random order of switches.
    pub random_order: bool,
    /// Number of tries. All tries except the first use a random order of switches and random choices among orientations
    /// and splits of equal cost.
    pub best_of: u64,
}

impl Default for Tries {
    fn default() -> Self {
        Self { bipartition: Bipartition::Best, random_order: false, best_of: 1 }
    }
}

/// Reason that there is no first solution.
#[derive(Debug)]
pub enum NoStart {
    /// No solution exists at all: the ports of these pods do not suffice on all switches together.
    Impossible(Stuck),
    /// No solution was found; only an exact model can decide whether one exists.
    Stuck(Stuck),
    /// The search was stopped.
    Ended(MethodError),
}

impl From<MethodError> for NoStart {
    fn from(error: MethodError) -> Self {
        Self::Ended(error)
    }
}

/// Number of random tries by halving and by repair if ports differ between switches.
const MORE_TRIES: u64 = 24;

/// Orients the circuits and splits them by halving, `tries.best_of` times, and returns the best solution; `found` is
/// called with every better solution. Stream n of `streams` belongs to try n.
///
/// # Errors
/// No try succeeded, or the run was stopped. If a solution exists, all tries can fail only for non-uniform tasks.
pub fn halved<W: Watch>(
    task: &Task,
    tries: Tries,
    streams: Streams,
    watch: &mut W,
    mut found: impl FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, NoStart> {
    let mut best: Option<(u64, Assignment)> = None;
    let mut stuck = None;
    // Randomised restarts: each try samples an order of the switches and a choice among orientations and splits of
    // equal cost.
    for number in 0..tries.best_of.max(1) {
        watch.checkpoint()?;
        let mut stream = streams.stream(number);
        let mut order: Vec<usize> = (0..task.ocs_count).collect();
        // The order determines which switches are split from each other; the first try keeps the order of the scenario
        // unless requested otherwise.
        if number > 0 || tries.random_order {
            order.shuffle(&mut stream);
        }
        let preference = (number > 0).then(|| stream.next_u64());
        let likes = if number > 0 { Preference::random(&mut stream) } else { Preference::none() };
        let demand = match orient(task, &order, &task.wanted, likes, watch) {
            Ok(demand) => demand,
            // No orientation for all switches together: a cut of the flow proves that no plan exists.
            Err(Failure::Stuck(stuck)) => return Err(NoStart::Impossible(stuck)),
            Err(Failure::Ended(error)) => return Err(error.into()),
        };
        let settings = halving::HalvingSettings { bipartition: tries.bipartition, preference };
        match halving::halve(task, demand, order, settings, watch) {
            Ok(assignment) => {
                let removed = task.removed(&assignment);
                if best.as_ref().is_none_or(|(least, _)| removed < *least) {
                    found(watch, removed, &assignment)?;
                    best = Some((removed, assignment));
                }
            }
            Err(Failure::Stuck(where_stuck)) => stuck = Some(where_stuck),
            Err(Failure::Ended(error)) => return Err(error.into()),
        }
    }
    match (best, stuck) {
        (Some((_, best)), _) => Ok(best),
        (None, stuck) => {
            let nowhere = || Stuck { switches: Vec::new(), pods: Vec::new() };
            Err(NoStart::Stuck(stuck.unwrap_or_else(nowhere)))
        }
    }
}

/// Finds a solution for tasks that are not uniform by variants of halving and repair: splits that keep switches with
/// equal ports together, other orientations, and other orders of the switches. `None` if all variants fail.
///
/// # Errors
/// If the run must stop.
pub fn anyhow(
    task: &Task,
    streams: Streams,
    watch: &mut impl Watch,
) -> Result<Option<Assignment>, MethodError> {
    let all: Vec<usize> = (0..task.ocs_count).collect();
    // The first try has no random preferences, so that it takes the cheapest flow as it is.
    for number in 0..MORE_TRIES {
        watch.checkpoint()?;
        let mut stream = streams.stream(number);
        let preference = (number > 0).then(|| stream.next_u64());
        let likes = if number > 0 { Preference::random(&mut stream) } else { Preference::none() };
        let Some(demand) = feasible(orient(task, &all, &task.wanted, likes, watch))? else { return Ok(None) };
        let mut order = all.clone();
        let bipartition = if number % 2 == 0 { Bipartition::Similar } else { Bipartition::EvenOdd };
        order.shuffle(&mut stream);
        let settings = halving::HalvingSettings { bipartition, preference };
        let found = match feasible(halving::halve(task, demand.clone(), order, settings, watch))? {
            // Chains exchange circuits between switches, which halving cannot do after it has split them.
            None => feasible(repair(task, &demand, &task.installed, watch))?,
            halved => halved,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Adapts an assignment to the task: circuits that are part of the demand and have ports stay, and missing circuits are
/// inserted around them. `None` if this fails, or if the assignment does not fit a task whose ports have no sides.
///
/// # Errors
/// If the run must stop.
pub fn fitted(
    task: &Task,
    assignment: &Assignment,
    watch: &mut impl Watch,
) -> Result<Option<Assignment>, MethodError> {
    if task.misfit(assignment).is_none() {
        return Ok(Some(assignment.clone()));
    }
    if task.single_sided {
        return Ok(None);
    }
    // The circuits of the assignment count as installed here, so orientation and repair keep as many of them as they
    // can.
    let like = Task { installed: assignment.clone(), ..task.clone() };
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let Some(demand) = feasible(orient(&like, &all, &task.wanted, Preference::none(), watch))? else {
        return Ok(None);
    };
    feasible(repair(&like, &demand, assignment, watch))
}
