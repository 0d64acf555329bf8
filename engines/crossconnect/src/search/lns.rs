//! Large neighbourhoods (docs/methods/crossconnect.md, section 7): solves a few switches at a time again, exactly,
//! while the other switches keep their circuits.
//!
//! One switch is sampled with probability proportional to its removals, the other switches uniformly. The circuits of
//! these switches form a separate small task for the exact model of section 8. New circuits get random costs that
//! together weigh less than one removal, so ties are broken differently each time and the search moves along plateaus.
//! Equal or better solutions are accepted; the search stops after a number of tries without a strict improvement. For
//! plans that this search cannot improve further, [`circuits`] frees circuits across all switches.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};
use crate::programs::exact::{ExactProgram, Orientation};
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::solve_here;
use lightbay_highs::listener::RunListener;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use rand::RngExt;
use rand::seq::SliceRandom;

pub mod circuits;

#[cfg(test)]
mod tests;

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LnsSettings {
    /// Number of switches that are solved together.
    pub ocs: usize,
    /// `true` if pairs of pods may change their orientation among these switches.
    pub joint: bool,
    /// Number of tries without a strict improvement after which the search stops.
    pub patience: u64,
    /// Maximum number of branch-and-bound nodes per try.
    pub nodes: u32,
}

impl LnsSettings {
    /// Returns the default settings for K switches: 4 at a time, 3 K tries, fixed orientation.
    pub const fn usual(ocs_count: usize) -> Self {
        // Four switches keep a model small; 3 K tries visit each switch several times.
        Self { ocs: 4, joint: false, patience: 3 * ocs_count as u64, nodes: 200 }
    }
}

/// Returns the circuits that a group of switches carries, as a separate task.
pub fn part(task: &Task, plan: &Assignment, switches: &[usize]) -> Task {
    let pick = |table: &[Vec<u32>]| switches.iter().map(|&ocs| table[ocs].clone()).collect();
    let chosen = |plan: &Assignment| Assignment {
        ocs: switches.iter().map(|&ocs| plan.ocs.get(ocs).cloned().unwrap_or_default()).collect(),
    };
    let circuits = chosen(plan);
    Task {
        pods: task.pods,
        ocs_count: switches.len(),
        ports_a: pick(&task.ports_a),
        ports_b: pick(&task.ports_b),
        lost: Vec::new(),
        wanted: merged(circuits.ocs.iter().flatten().map(|cell| Cell {
            a: cell.a.min(cell.b),
            b: cell.a.max(cell.b),
            count: cell.count,
        })),
        installed: chosen(&task.installed),
        pinned: Assignment { ocs: vec![Vec::new(); switches.len()] },
        single_sided: task.single_sided,
        uniform: task.uniform,
    }
}

/// Improves a solution of the task. Calls `found` with every better plan and its removals, and ends when the removals
/// reach `bound`.
///
/// # Errors
/// The error of the watch or of `found`; [`MethodError::Failed`] if the solver fails.
pub fn lns<W: Watch>(
    task: &Task,
    start: &Assignment,
    bound: u64,
    settings: LnsSettings,
    stream: &mut Stream,
    watch: &mut W,
    found: &mut dyn FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, MethodError> {
    let mut best = start.clone();
    best.ocs.resize(task.ocs_count, Vec::new());
    let mut removals = task.removed_by_ocs(&best);
    let mut idle = 0;
    while removals.iter().sum::<u64>() > bound && idle < settings.patience && task.ocs_count > 1 {
        watch.checkpoint()?;
        let switches = draw(&removals, settings.ocs, stream);
        // Destroy: the circuits of these switches. Repair: the exact model.
        let sub = part(task, &best, &switches);
        let before: u64 = switches.iter().map(|&ocs| removals[ocs]).sum();
        let after = again(&sub, &best, &switches, settings, stream, watch)?;
        idle += 1;
        let Some(plan) = after else { continue };
        // Equal or better solutions are accepted (plateau moves); only the solver's tolerances can make a solution
        // invalid.
        let removed = sub.removed(&plan);
        if removed > before || sub.misfit(&plan).is_some() {
            continue;
        }
        for (&ocs, cells) in switches.iter().zip(plan.ocs) {
            best.ocs[ocs] = cells;
        }
        removals = task.removed_by_ocs(&best);
        if removed < before {
            idle = 0;
            found(watch, removals.iter().sum(), &best)?;
        }
    }
    Ok(best)
}

/// Chooses a switch with removals and some other switches; returns them in ascending order.
fn draw(removals: &[u64], count: usize, stream: &mut Stream) -> Vec<usize> {
    // Roulette wheel over removals.
    let mut ticket = stream.random_range(0..removals.iter().sum::<u64>().max(1));
    let first = removals.iter().position(|&removed| {
        let here = ticket < removed;
        ticket = ticket.saturating_sub(removed);
        here
    });
    let first = first.unwrap_or(0);
    let others = (count.max(2) - 1).min(removals.len() - 1);
    let mut switches: Vec<usize> = (0..removals.len()).filter(|&ocs| ocs != first).collect();
    switches.shuffle(stream);
    switches.truncate(others);
    switches.push(first);
    switches.sort_unstable();
    switches
}

/// Solves a group of switches again; `None` if the solver found no solution within its node limit.
fn again<W: Watch>(
    sub: &Task,
    plan: &Assignment,
    switches: &[usize],
    settings: LnsSettings,
    stream: &mut Stream,
    watch: &mut W,
) -> Result<Option<Assignment>, MethodError> {
    // The exact model of these switches (section 8); circuits on all other switches stay.
    let oriented = merged(switches.iter().flat_map(|&ocs| plan.ocs[ocs].iter().copied()));
    let joint = settings.joint || sub.single_sided;
    let orientation = if joint { Orientation::Joint } else { Orientation::Fixed(&oriented) };
    let program = ExactProgram::new(sub, orientation);
    let mut model = program.model().clone();
    // All random costs together weigh less than one half.
    let circuits: u64 = sub.wanted.iter().map(|cell| u64::from(cell.count)).sum();
    let noise = 0.5 / (circuits.max(1) as f64);
    for cost in model.costs.iter_mut().filter(|cost| **cost == 0.0) {
        *cost = noise * stream.random::<f64>();
    }
    let options = Options::new()
        .set("mip_max_nodes", i32::try_from(settings.nodes).unwrap_or(i32::MAX))
        .set("mip_rel_gap", 0.0)
        // Removals are whole, so with a gap below one half the solution is optimal up to ties.
        .set("mip_abs_gap", 0.45)
        .set("random_seed", stream.random_range(0..i32::MAX));
    let mut listener = RunListener::new(watch);
    let solution = solve_here(&model, &options, &Start::None, &mut listener);
    listener.finish()?;
    let solution = solution.map_err(|error| MethodError::Failed(error.to_string()))?;
    watch.count(solution.nodes.max(1));
    Ok(solution.values.map(|point| program.assignment(&point)))
}
