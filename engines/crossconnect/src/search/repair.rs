//! The start that keeps installed circuits (docs/methods/crossconnect.md, section 5): drops surplus circuits and
//! inserts missing ones by alternating chains.
//!
//! A missing circuit `i -> j` needs a switch `a` where i has a free A port and a switch `b` where j has a free B port.
//! If both are the same switch, the circuit goes there. Otherwise it goes to `a`, and circuits are exchanged between
//! `a` and `b` along an alternating chain until the free B port is used. Of all pairs (a, b), the one with the fewest
//! new removals is chosen; ties go to the shortest chain.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::Task;
use crate::search::board::Board;
use crate::search::orient::{Failure, Stuck, count};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;

#[cfg(test)]
mod tests;

/// Maximum number of new removals for an insertion in each pass; the last pass has no limit. Cheap insertions come
/// first, because expensive insertions would use the ports that cheap ones need.
const PASSES: [i64; 4] = [0, 1, 2, i64::MAX];
/// Number of random chains that are tried for a circuit whose chain does not end, which happens only if ports differ
/// between switches.
const TRIES: u64 = 20;

/// Makes an assignment fit an oriented demand (sorted cells). The circuits of `start` may be too many, too few or
/// exceed the ports; usually they are the installed circuits or the plan for another demand.
///
/// # Errors
/// A circuit cannot be inserted (never if the task is uniform and the demand fits all ports together), or the run was
/// stopped.
pub fn repair(
    task: &Task,
    demand: &[Cell],
    start: &Assignment,
    watch: &mut impl Watch,
) -> Result<Assignment, Failure> {
    let (board, nowhere) = inserted(task, demand, start, true, watch)?;
    if let Some(&circuit) = nowhere.first() {
        let [a, b] = board.ends_of(circuit);
        let switches = (0..task.ocs_count).collect();
        return Err(Failure::Stuck(Stuck { switches, pods: vec![a.min(b), a.max(b)] }));
    }
    Ok(board.assignment())
}

/// Does the same as [`repair`], but leaves out circuits that cannot be inserted; returns the assignment and the number
/// of circuits left out.
///
/// # Errors
/// The run was stopped.
pub fn repair_most(
    task: &Task,
    demand: &[Cell],
    start: &Assignment,
    watch: &mut impl Watch,
) -> Result<(Assignment, usize), MethodError> {
    match inserted(task, demand, start, false, watch) {
        Ok((board, nowhere)) => Ok((board.assignment(), nowhere.len())),
        Err(Failure::Ended(error)) => Err(error),
        // Does not occur here: only `repair` stops at the first circuit without a place.
        Err(Failure::Stuck(_)) => Ok((Assignment { ocs: vec![Vec::new(); task.ocs_count] }, demand.len())),
    }
}

/// Returns a board with all circuits that could be placed, and the other circuits (at most one if the search ends at
/// the first circuit that cannot be placed).
fn inserted<'t>(
    task: &'t Task,
    demand: &[Cell],
    start: &Assignment,
    end_at_first: bool,
    watch: &mut impl Watch,
) -> Result<(Board<'t>, Vec<u32>), Failure> {
    let mut board = Board::empty(task);
    let mut missing = kept(task, demand, start, &mut board, watch)?;
    // Greedy insertion by increasing cost.
    for limit in PASSES {
        let mut rest = Vec::new();
        for circuit in missing {
            watch.checkpoint()?;
            // Insertions are tried on the board and undone; the best one is made.
            match cheapest(&mut board, task, circuit, limit, watch)? {
                Some((one, other)) => {
                    board.insert(circuit, one, other, i64::MAX, None);
                    board.settle();
                }
                None => rest.push(circuit),
            }
        }
        missing = rest;
    }
    let mut nowhere = Vec::new();
    for circuit in missing {
        if !inserted_somehow(&mut board, task, circuit, watch)? {
            nowhere.push(circuit);
            if end_at_first {
                break;
            }
        }
    }
    Ok((board, nowhere))
}

/// Places the circuits of `start` that are part of the demand and fit; returns the missing circuits, which are not
/// placed yet.
fn kept(
    task: &Task,
    demand: &[Cell],
    start: &Assignment,
    board: &mut Board<'_>,
    watch: &mut impl Watch,
) -> Result<Vec<u32>, Failure> {
    // Counts of the demand that are not placed yet.
    let mut left: Vec<u32> = demand.iter().map(|cell| cell.count).collect();
    let place_of = |a: u32, b: u32| demand.binary_search_by_key(&(a, b), |cell| (cell.a, cell.b)).ok();
    // Installed circuits first, so that the surplus is dropped from the circuits that `start` adds.
    let mut surplus: Vec<(u32, Cell)> = Vec::new();
    for installed in [true, false] {
        for (ocs, cells) in (0u32..).zip(&start.ocs).take(task.ocs_count) {
            watch.checkpoint()?;
            for &Cell { a, b, count: present } in cells {
                let old = count(&task.installed.ocs[ocs as usize], a, b).min(present);
                let present = if installed { old } else { present - old };
                let Some(place) = place_of(a, b) else { continue };
                let here = present.min(left[place]);
                let free = board.free(false, ocs, a).min(board.free(true, ocs, b));
                let here = here.min(u32::try_from(free).unwrap_or(0));
                for _ in 0..here {
                    board.set(a, b, ocs);
                }
                left[place] -= here;
                if installed && here < present {
                    surplus.push((ocs, Cell { a, b, count: present - here }));
                }
            }
        }
    }
    let mut missing = Vec::new();
    for (cell, &left) in demand.iter().zip(&left) {
        for _ in 0..left {
            missing.push(board.add(cell.a, cell.b));
        }
    }
    exchange_surplus(board, &surplus, &missing, watch)?;
    Ok(missing)
}

/// Chooses which installed circuits to remove for pairs that have more than their target: preferably circuits whose
/// ports a missing circuit can use directly.
fn exchange_surplus(
    board: &mut Board<'_>,
    surplus: &[(u32, Cell)],
    missing: &[u32],
    watch: &mut impl Watch,
) -> Result<(), Failure> {
    // A surplus pair may remove any of its circuits, so it removes the circuit whose ports help most.
    for &(ocs, Cell { a, b, count }) in surplus {
        for _ in 0..count {
            watch.checkpoint()?;
            if board.free(false, ocs, a) <= 0 || board.free(true, ocs, b) <= 0 {
                break;
            }
            let useful = |board: &Board<'_>, ocs: u32| {
                let fits = |&&circuit: &&u32| {
                    let [from, to] = board.ends_of(circuit);
                    (from == a && board.free(true, ocs, to) > 0)
                        || (to == b && board.free(false, ocs, from) > 0)
                };
                missing.iter().filter(fits).count()
            };
            // The circuit moves to `ocs`, so its present place becomes free instead.
            let here = useful(board, ocs);
            let elsewhere = board.circuits_of(a, b).into_iter().filter_map(|circuit| {
                let at = board.ocs_of(circuit)?;
                (at != ocs).then(|| (useful(board, at), circuit))
            });
            let Some((gain, circuit)) =
                elsewhere.max_by_key(|&(gain, circuit)| (gain, std::cmp::Reverse(circuit)))
            else {
                break;
            };
            if gain <= here {
                break;
            }
            board.shift(circuit, ocs, i64::MAX, None);
            board.settle();
        }
    }
    Ok(())
}

/// Returns the two switches for an insertion with the fewest new removals, at most `limit`; `None` if no insertion is
/// possible.
fn cheapest(
    board: &mut Board<'_>,
    task: &Task,
    circuit: u32,
    limit: i64,
    watch: &mut impl Watch,
) -> Result<Option<(u32, u32)>, Failure> {
    let [a, b] = board.ends_of(circuit);
    let free = |side_b: bool, pod: u32| -> Vec<u32> {
        (0..task.ocs_count as u32).filter(|&ocs| board.free(side_b, ocs, pod) > 0).collect()
    };
    let (ones, others) = (free(false, a), free(true, b));
    let before = board.removed();
    // Best by new removals, then by the length of the chain.
    let mut best: Option<(i64, usize, u32, u32)> = None;
    for &one in &ones {
        watch.checkpoint()?;
        for &other in &others {
            // Bound: a chain that already costs more than the best is not followed.
            let most = best.map_or(limit, |best| best.0);
            let ceiling = before.saturating_add(most);
            if board.insert(circuit, one, other, ceiling, None) {
                let found = (board.removed() - before, board.moves(), one, other);
                if best.is_none_or(|best| found < best) {
                    best = Some(found);
                }
            }
            board.undo();
        }
    }
    Ok(best.map(|(_, _, one, other)| (one, other)))
}

/// Inserts a circuit along random chains, after its cheapest chains did not end; returns `true` if a chain ended.
fn inserted_somehow(
    board: &mut Board<'_>,
    task: &Task,
    circuit: u32,
    watch: &mut impl Watch,
) -> Result<bool, Failure> {
    let [a, b] = board.ends_of(circuit);
    let ocs_count = task.ocs_count as u32;
    // Random walks of the chain; only needed where ports differ between switches.
    for attempt in 0..TRIES {
        let mut stream = Streams::new(u64::from(circuit)).stream(attempt);
        for one in (0..ocs_count).filter(|&ocs| board.free(false, ocs, a) > 0).collect::<Vec<_>>() {
            watch.checkpoint()?;
            for other in 0..ocs_count {
                if board.free(true, other, b) > 0
                    && board.insert(circuit, one, other, i64::MAX, Some(&mut stream))
                {
                    board.settle();
                    return Ok(true);
                }
                board.undo();
            }
        }
    }
    Ok(false)
}
