//! Baselines of the methods: assignments that ignore the installed circuits, unchanged and with switches renamed
//! (docs/methods/crossconnect.md, section 3).

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::Task;
use crate::search::flow::{Arc, FlowError, FlowNetwork};
use crate::search::halving;
use crate::search::orient::{Failure, Preference, orient};
use crate::search::start::{NoStart, Tries};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use rand::seq::SliceRandom;

#[cfg(test)]
mod tests;

/// Computes the orientation of step O, then splits the switches by halving as if nothing were installed.
///
/// # Errors
/// No orientation exists, halving is stuck (only for tasks that are not uniform), or the run was stopped.
pub fn scratch(
    task: &Task,
    tries: Tries,
    streams: Streams,
    watch: &mut impl Watch,
) -> Result<Assignment, NoStart> {
    // Another order of the switches gives another plan of equal quality.
    let mut order: Vec<usize> = (0..task.ocs_count).collect();
    if tries.random_order {
        order.shuffle(&mut streams.stream(0));
    }
    let demand = match orient(task, &order, &task.wanted, Preference::none(), watch) {
        Ok(demand) => demand,
        Err(Failure::Stuck(stuck)) => return Err(NoStart::Impossible(stuck)),
        Err(Failure::Ended(error)) => return Err(error.into()),
    };
    // Without installed circuits all splits cost the same.
    let blind = Task { installed: Assignment { ocs: vec![Vec::new(); task.ocs_count] }, ..task.clone() };
    let settings = halving::HalvingSettings { bipartition: tries.bipartition, preference: None };
    halving::halve(&blind, demand, order, settings, watch).map_err(|failure| match failure {
        Failure::Stuck(stuck) => NoStart::Stuck(stuck),
        Failure::Ended(error) => error.into(),
    })
}

/// Renames the switches of an assignment so that the fewest circuits are removed. A group of circuits can only move to
/// a switch with enough ports. This assignment problem is solved as one minimum-cost flow.
///
/// # Errors
/// If the run must stop.
pub fn relabel(
    task: &Task,
    assignment: &Assignment,
    watch: &mut impl Watch,
) -> Result<Assignment, MethodError> {
    let ocs_count = task.ocs_count as u32;
    let mut network = FlowNetwork::new(2 * task.ocs_count);
    let mut names = Vec::new();
    for from in 0..ocs_count {
        // Every old name supplies one unit, and every new name receives one unit.
        network.add_supply(from, 1);
        network.add_supply(ocs_count + from, -1);
        watch.checkpoint()?;
        // One arc per pair of old and new name whose ports allow the circuits; cost: removals under that name.
        let cells = &assignment.ocs[from as usize];
        for to in 0..ocs_count {
            // A switch can always keep its name.
            if from != to && !fits(task, cells, to as usize) {
                continue;
            }
            let one = |cells: &Vec<Cell>| Assignment { ocs: vec![cells.clone()] };
            let cost = one(cells).lacks(&one(&task.installed.ocs[to as usize])) as i64;
            network.add_arc(Arc { from, to: ocs_count + to, lower: 0, upper: 1, cost });
            names.push((from as usize, to as usize));
        }
    }
    watch.count(1);
    // The flow is a matching, since all its capacities are 1.
    let flow = match network.minimize(&mut || watch.checkpoint()) {
        Ok(flow) => flow.flow,
        Err(FlowError::Ended(error)) => return Err(error),
        // Keeping the old names is always a solution.
        Err(FlowError::Infeasible(_)) => return Ok(assignment.clone()),
    };
    let mut renamed = Assignment { ocs: vec![Vec::new(); task.ocs_count] };
    for ((from, to), _) in names.into_iter().zip(flow).filter(|&(_, flow)| flow > 0) {
        renamed.ocs[to] = assignment.ocs[from].clone();
    }
    Ok(renamed)
}

/// Returns `true` if a switch has enough ports for the circuits of `cells`.
fn fits(task: &Task, cells: &[Cell], ocs: usize) -> bool {
    let (mut a, mut b) = (task.ports_a[ocs].clone(), task.ports_b[ocs].clone());
    // Cells of a pod share its ports, so the ports are subtracted cell by cell.
    cells.iter().all(|cell| {
        let (near, far) = (&mut a[cell.a as usize], &mut b[cell.b as usize]);
        let enough = *near >= cell.count && *far >= cell.count;
        *near = near.saturating_sub(cell.count);
        *far = far.saturating_sub(cell.count);
        enough
    })
}
