//! Neighbourhoods across all switches (docs/methods/crossconnect.md, section 7): most kept circuits are fixed, and all
//! other circuits are placed again exactly.
//!
//! All new circuits and a random fraction of the kept circuits are free, which means that the program chooses their
//! places. Fixed circuits occupy their ports and their part of the demand. The remaining circuits fit in few places, so
//! the exact model is small although it covers all switches and both orientations. The fraction grows after a try that
//! is solved to optimality without an improvement, and shrinks after a try that the solver did not finish, or if the
//! model is too large for a try.

use crate::model::assignment::{Assignment, Cell};
use crate::model::task::{Task, merged};
use crate::programs::exact::{ExactProgram, Orientation};
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use lightbay_highs::instance::solve_here;
use lightbay_highs::listener::RunListener;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Solution, Start, Status};
use rand::RngExt;

/// Settings of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircuitLnsSettings {
    /// Fraction of the kept circuits that the first try frees.
    pub share: f64,
    /// Number of tries without an improvement after which the search stops.
    pub patience: u64,
    /// Maximum number of branch-and-bound nodes per try.
    pub nodes: u32,
}

impl Default for CircuitLnsSettings {
    fn default() -> Self {
        Self { share: 0.1, patience: 24, nodes: 100 }
    }
}

/// Maximum number of columns of a try: the solver cannot be stopped during the first relaxation, so this relaxation
/// must be short.
const MOST_COLUMNS: usize = 800;

/// Factor by which the fraction changes from try to try; close to 1, so that the model stays near the size that can be
/// solved in time.
const GROWTH: f64 = 1.1;

/// Minimum fraction of the kept circuits to free: of several hundred circuits, a few are then free and can be
/// exchanged.
const LEAST: f64 = 0.01;

/// Returns the rest of a task when some circuits of a solution are fixed.
pub(crate) fn without(task: &Task, fixed: &Assignment) -> Task {
    let mut rest = task.clone();
    for (ocs, cells) in fixed.ocs.iter().enumerate() {
        for &Cell { a, b, count } in cells {
            rest.ports_a[ocs][a as usize] -= count;
            let far = if task.single_sided { &mut rest.ports_a } else { &mut rest.ports_b };
            far[ocs][b as usize] -= count;
        }
        rest.installed.ocs[ocs] = minus(&rest.installed.ocs[ocs], cells);
    }
    let pairs = fixed.ocs.iter().flatten().map(|cell| Cell {
        a: cell.a.min(cell.b),
        b: cell.a.max(cell.b),
        count: cell.count,
    });
    // Target circuits are counted per unordered pair, so fixed circuits are converted before they are subtracted.
    rest.wanted = minus(&task.wanted, &merged(pairs));
    rest.uniform = false;
    rest
}

/// Returns the cells of the first list minus the cells of the second list; both lists are sorted.
pub(crate) fn minus(all: &[Cell], some: &[Cell]) -> Vec<Cell> {
    let left = all.iter().map(|cell| {
        let found = some.binary_search_by_key(&(cell.a, cell.b), |other| (other.a, other.b));
        Cell { count: cell.count.saturating_sub(found.map_or(0, |at| some[at].count)), ..*cell }
    });
    left.filter(|cell| cell.count > 0).collect()
}

/// Returns the kept circuits of a solution that are fixed in this try: each kept circuit is freed with probability
/// `share`.
fn fixed(task: &Task, plan: &Assignment, share: f64, stream: &mut Stream) -> Assignment {
    let mut stay = |(cells, old): (&Vec<Cell>, &Vec<Cell>)| -> Vec<Cell> {
        let kept = cells.iter().map(|cell| {
            let found = old.binary_search_by_key(&(cell.a, cell.b), |other| (other.a, other.b));
            let kept = cell.count.min(found.map_or(0, |at| old[at].count));
            Cell { count: (0..kept).filter(|_| !stream.random_bool(share)).count() as u32, ..*cell }
        });
        kept.filter(|cell| cell.count > 0).collect()
    };
    Assignment { ocs: plan.ocs.iter().zip(&task.installed.ocs).map(&mut stay).collect() }
}

/// Improves a solution of the task over all orientations. Calls `found` with every better plan and its removals, and
/// ends when the removals reach `bound`.
///
/// # Errors
/// The error of the watch or of `found`; [`MethodError::Failed`] if the solver fails.
pub fn search<W: Watch>(
    task: &Task,
    start: &Assignment,
    bound: u64,
    settings: CircuitLnsSettings,
    stream: &mut Stream,
    watch: &mut W,
    found: &mut dyn FnMut(&mut W, u64, &Assignment) -> Result<(), MethodError>,
) -> Result<Assignment, MethodError> {
    let mut best = start.clone();
    best.ocs.resize(task.ocs_count, Vec::new());
    let mut removed = task.removed(&best);
    let mut share = settings.share.clamp(LEAST, 1.0);
    let mut idle = 0;
    while removed > bound && idle < settings.patience {
        watch.checkpoint()?;
        // Destroy: new circuits and the sampled fraction. Repair: the exact model over all switches.
        let stay = fixed(task, &best, share, stream);
        let rest = without(task, &stay);
        let program = ExactProgram::watched(&rest, Orientation::Joint, watch)?;
        // The model is too large to be stopped in time, so the fraction shrinks without a try.
        if program.model().columns() > MOST_COLUMNS && share > LEAST {
            share = (share / GROWTH).max(LEAST);
            idle += 1;
            continue;
        }
        let free =
            Assignment { ocs: best.ocs.iter().zip(&stay.ocs).map(|(all, some)| minus(all, some)).collect() };
        let solution = solve(&program, &free, settings.nodes, stream, watch)?;
        idle += 1;
        // After a try that was solved to optimality, the next try frees more circuits; after an interrupted try, fewer.
        share = match solution.status {
            Status::Optimal if share >= 1.0 => {
                // All circuits were free, so this is the optimum.
                idle = settings.patience;
                share
            }
            Status::Optimal => (share * GROWTH).min(1.0),
            _ => (share / GROWTH).max(LEAST),
        };
        let Some(point) = solution.values else { continue };
        let again = program.assignment(&point);
        let plan = Assignment {
            ocs: stay
                .ocs
                .iter()
                .zip(&again.ocs)
                .map(|(one, two)| merged(one.iter().chain(two).copied()))
                .collect(),
        };
        // Only a strict gain counts: the model is solved to a gap below 1, so equal plans prove nothing.
        let value = task.removed(&plan);
        if value < removed && task.misfit(&plan).is_none() {
            (best, removed, idle) = (plan, value, 0);
            found(watch, removed, &best)?;
        }
    }
    Ok(best)
}

/// Places the free circuits again with the exact model, which starts from their present places.
fn solve<W: Watch>(
    program: &ExactProgram,
    free: &Assignment,
    nodes: u32,
    stream: &mut Stream,
    watch: &mut W,
) -> Result<Solution, MethodError> {
    let options = Options::new()
        .set("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX))
        .set("mip_rel_gap", 0.0)
        // The number of removed circuits is an integer, so improvements below 1 are impossible.
        .set("mip_abs_gap", 1.0 - 1e-4)
        .set("random_seed", stream.random_range(0..i32::MAX));
    let start = program.point(free).map_or(Start::None, Start::Full);
    let mut listener = RunListener::new(watch);
    let solution = solve_here(program.model(), &options, &start, &mut listener);
    listener.finish()?;
    let solution = solution.map_err(|error| MethodError::Failed(error.to_string()))?;
    watch.count(solution.nodes.max(1));
    Ok(solution)
}
