//! Solver for programs of event orders, each solved from the basis of a neighbour.

use super::competition::Competition;
use super::events::EventOrder;
use super::program::{OrderProgram, Part};
use lightbay_core::method::MethodError;
use lightbay_core::watch::StopTest;
use lightbay_highs::instance::Instance;
use lightbay_highs::listener::RunListener;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Basis, BasisStatus, Solution, Status};
use rustc_hash::FxHashMap;

/// Violation of rows or bounds up to which a point counts as feasible; times are about 1000, so this is 1e-12 of an
/// iteration.
const TOLERANCE: f64 = 1e-9;

/// A basis of a program; its columns and rows are identified by their meaning instead of their numbers.
pub(super) type BasisRows = FxHashMap<Part, BasisStatus>;

/// The best schedule of one event order.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Order of the events.
    pub order: EventOrder,
    /// Makespan, in the units of the competition.
    pub makespan: f64,
    /// Time of every event.
    pub times: Vec<f64>,
    /// Volume of each task in each of its intervals.
    pub sent: Vec<Vec<f64>>,
    /// Amount by which the makespan would be shorter if a task had one unit of volume less, for each task.
    pub worth: Vec<f64>,
    /// Price of a unit of length, before the first event and then in every interval: the amount by which the makespan
    /// would be shorter if the rows of this interval contained one more unit of length.
    pub prices: Vec<f64>,
    /// The basis from which the program of a neighbouring order can start.
    pub standing: BasisRows,
}

/// Numbers of solved programs and simplex iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effort {
    /// Number of programs solved.
    pub lps: u64,
    /// Number of simplex iterations.
    pub iterations: u64,
}

/// Solves programs and counts them.
pub(super) struct Solver {
    /// Numbers of programs and iterations so far.
    pub effort: Effort,
    /// The stop check of the run; most programs are so small that they end before the first call of the check.
    stop: StopTest,
}

impl Solver {
    /// Creates a solver that abandons programs if `stop` returns `true`.
    pub fn new(stop: StopTest) -> Self {
        Self { effort: Effort::default(), stop }
    }

    /// The best schedule of an order, from the basis of a neighbour if there is one; `None` if the solver failed
    /// numerically or was stopped.
    pub fn solve(
        &mut self,
        competition: &Competition,
        order: EventOrder,
        near: Option<&BasisRows>,
    ) -> Result<Option<Point>, MethodError> {
        let program = OrderProgram::new(competition, &order);
        // A basis of another order may be singular here; without it the program is solved from the beginning.
        let mut solution = self.run(&program, near)?;
        if !matches!(solution.status, Status::Optimal | Status::Interrupted) && near.is_some() {
            solution = self.run(&program, None)?;
        }
        Ok(point(&program, competition, order, solution))
    }

    fn run(&mut self, program: &OrderProgram, near: Option<&BasisRows>) -> Result<Solution, MethodError> {
        let failed = |error: lightbay_highs::error::Error| MethodError::Failed(error.to_string());
        let mut instance = Instance::new(&program.model).map_err(failed)?;
        let mut options = Options::new()
            .set("primal_feasibility_tolerance", TOLERANCE)
            .set("dual_feasibility_tolerance", TOLERANCE);
        if let Some(near) = near {
            // Presolve would discard the basis.
            options = options.set("presolve", "off");
            instance.apply(&options).map_err(failed)?;
            instance.set_basis(&carried(program, near)).map_err(failed)?;
        } else {
            instance.apply(&options).map_err(failed)?;
        }
        let solution = instance.run(&mut RunListener::new(&mut self.stop)).map_err(failed)?;
        self.effort.lps += 1;
        self.effort.iterations += solution.simplex_iterations;
        Ok(solution)
    }
}

/// The basis of a neighbouring program for the columns and rows of `program`; basic columns or rows are added or
/// removed until the basis has the right size.
// Warm start by meaning: columns and rows that both programs have keep their status.
fn carried(program: &OrderProgram, near: &BasisRows) -> Basis {
    let known = |part: &Part, otherwise| near.get(part).copied().unwrap_or(otherwise);
    let columns = program.columns.iter().map(|part| known(part, BasisStatus::Lower)).collect();
    let rows = program.rows.iter().map(|part| known(part, BasisStatus::Basic)).collect();
    let mut basis = Basis { columns, rows };
    let is_basic = |status: &&BasisStatus| **status == BasisStatus::Basic;
    // A basis has as many basic members as rows; surplus members leave, missing ones enter.
    let basic = basis.columns.iter().filter(is_basic).count() + basis.rows.iter().filter(is_basic).count();
    let wanted = program.rows.len();
    if basic > wanted {
        // Rows that the neighbour does not have leave the basis first, then volumes.
        let mut surplus = basic - wanted;
        for (part, status) in program.rows.iter().zip(&mut basis.rows) {
            if surplus > 0 && *status == BasisStatus::Basic && !near.contains_key(part) {
                *status = BasisStatus::Lower;
                surplus -= 1;
            }
        }
        for (part, status) in program.columns.iter().zip(&mut basis.columns) {
            if surplus > 0 && *status == BasisStatus::Basic && matches!(part, Part::Volume(..)) {
                *status = BasisStatus::Lower;
                surplus -= 1;
            }
        }
    } else {
        // Slacks of rates and shares enter first: their columns are unit vectors, so the basis stays regular.
        let mut missing = wanted - basic;
        for (part, status) in program.rows.iter().zip(&mut basis.rows) {
            if missing > 0
                && *status != BasisStatus::Basic
                && matches!(part, Part::Rate(..) | Part::Share(..))
            {
                *status = BasisStatus::Basic;
                missing -= 1;
            }
        }
        for status in &mut basis.rows {
            if missing > 0 && *status != BasisStatus::Basic {
                *status = BasisStatus::Basic;
                missing -= 1;
            }
        }
    }
    basis
}

/// Converts a solution of the program to a point; `None` if the solution is not optimal.
fn point(
    program: &OrderProgram,
    competition: &Competition,
    order: EventOrder,
    solution: Solution,
) -> Option<Point> {
    if solution.status != Status::Optimal {
        return None;
    }
    let (values, makespan) = (solution.values?, solution.objective?);
    let times = program.times.iter().map(|column| values[column.index()]).collect();
    let mut sent = vec![Vec::new(); competition.rivals.len()];
    for &(column, rival, _) in &program.volumes {
        sent[rival as usize].push(values[column.index()].max(0.0));
    }
    // Duals in the units of the competition; negative values are rounding, because the program minimises with rows of
    // the form >= 0.
    let dual = |row: usize| solution.row_duals.get(row).copied().unwrap_or(0.0);
    let worth = program.sent.iter().map(|row| dual(row.index()).max(0.0)).collect();
    // Price of an interval: what one unit of its length gives to all rows that contain it.
    let mut prices = vec![0.0; order.events.len() + 1];
    for &(row, interval, gives) in &program.lengths {
        prices[interval as usize + 1] += dual(row.index()) * gives;
    }
    let basis = solution.basis.unwrap_or_default();
    let columns = program.columns.iter().copied().zip(basis.columns);
    let standing = columns.chain(program.rows.iter().copied().zip(basis.rows)).collect();
    Some(Point { order, makespan, times, sent, worth, prices, standing })
}
