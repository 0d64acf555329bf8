//! Target circuits that the working ports can carry if ports have no sides (docs/methods/crossconnect.md, section 2).
//! Assigning circuits to switches is then a list edge colouring, which a flow cannot decide.
//!
//! A first assignment keeps installed circuits and puts every other circuit on the first switch with a free port at
//! both ends. The exact model, with fewer circuits allowed, then maximises the number of circuits; among the solutions
//! with this number, the model prefers solutions in which pairs of pods keep at least one circuit and installed
//! circuits stay.

use super::Kept;
use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};
use crate::programs::exact::{ExactProgram, Orientation};
use crate::search::orient::count;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

/// Maximum size of the model: number of pairs with target circuits times number of switches. A larger model would take
/// more than a few seconds.
const MOST_CELLS: usize = 20_000;
/// Maximum number of nodes of the solver's tree search: loading a scenario must not take long.
const NODES: i32 = 1000;

/// Returns, for a task without sides, the target circuits that fit the working ports. `None` if all target circuits
/// fit, if they would not all fit even with every port working, or if the scenario is too large for the model and
/// counting ports proves no loss.
pub(super) fn kept(task: &Task, sound: &Task) -> Option<Kept> {
    let all: u64 = task.wanted.iter().map(|cell| u64::from(cell.count)).sum();
    let best = most(task);
    let fits = |plan: &Assignment| plan.circuits() == all;
    if fits(&best) {
        return None;
    }
    // A large scenario is not solved, so only counting detects lost circuits. Counting proves a loss, but does not
    // detect every loss.
    let is_lost = if is_large(task) { by_counting(task) < all } else { fits(&most(sound)) };
    if !is_lost {
        return None;
    }
    let wanted = merged(best.ocs.iter().flatten().copied());
    let lost =
        task.wanted.iter().map(|cell| Cell { count: cell.count - count(&wanted, cell.a, cell.b), ..*cell });
    let lost = lost.filter(|cell| cell.count > 0).collect();
    Some(Kept { wanted, lost })
}

fn is_large(task: &Task) -> bool {
    task.wanted.len().saturating_mul(task.ocs_count) > MOST_CELLS
}

/// Returns an upper bound on the number of circuits, from counting the ports of every pod and every switch.
fn by_counting(task: &Task) -> u64 {
    let switches: u64 =
        task.ports_a.iter().map(|row| row.iter().map(|&p| u64::from(p)).sum::<u64>() / 2).sum();
    let ends: u64 = (0..task.pods as u32)
        .map(|pod| {
            let ports: u64 = task.ports_a.iter().map(|row| u64::from(row[pod as usize])).sum();
            let at = task.wanted.iter().filter(|cell| cell.a == pod || cell.b == pod);
            ports.min(at.map(|cell| u64::from(cell.count)).sum())
        })
        .sum();
    switches.min(ends / 2)
}

/// Returns the target circuits for which a place was found.
fn most(task: &Task) -> Assignment {
    let first = spread(task);
    // The greedy assignment is optimal if it meets the counting bound.
    if is_large(task) || first.circuits() >= by_counting(task) {
        return first;
    }
    let program = ExactProgram::new(task, Orientation::Joint).of_fewer_circuits();
    let options = Options::new()
        .set("mip_max_nodes", NODES)
        .set("mip_rel_gap", 0.0)
        // Numbers of circuits are integers, so improvements below 1 are impossible.
        .set("mip_abs_gap", 0.4)
        .set("random_seed", 1);
    let start = program.point(&first).map_or(Start::None, Start::Full);
    let found =
        solve_here(program.model(), &options, &start, &mut NoListener).ok().and_then(|found| found.values);
    let found = found.map(|point| program.assignment(&point));
    found.filter(|found| found.circuits() > first.circuits()).unwrap_or(first)
}

/// Returns the first assignment: it keeps installed circuits that the target contains and puts every other circuit on
/// the first switch with a free port at both ends.
fn spread(task: &Task) -> Assignment {
    // Installed circuits first, then each pair on the first switches with room (first fit).
    let mut free = task.ports_a.clone();
    let mut left: Vec<u32> = task.wanted.iter().map(|cell| cell.count).collect();
    let mut found = Assignment { ocs: vec![Vec::new(); task.ocs_count] };
    let mut put = |ocs: usize, pair: usize, most: u32, left: &mut u32| {
        let Cell { a, b, .. } = task.wanted[pair];
        let row = &mut free[ocs];
        let here = most.min(*left).min(row[a as usize]).min(row[b as usize]);
        if here > 0 {
            row[a as usize] -= here;
            row[b as usize] -= here;
            *left -= here;
            found.ocs[ocs].push(Cell { a, b, count: here });
        }
    };
    for (ocs, cells) in task.installed.ocs.iter().enumerate() {
        for cell in cells {
            if let Ok(pair) = task.wanted.binary_search_by_key(&(cell.a, cell.b), |pair| (pair.a, pair.b)) {
                put(ocs, pair, cell.count, &mut left[pair]);
            }
        }
    }
    for (pair, left) in left.iter_mut().enumerate() {
        for ocs in 0..task.ocs_count {
            put(ocs, pair, u32::MAX, left);
        }
    }
    Assignment { ocs: found.ocs.into_iter().map(merged).collect() }
}
