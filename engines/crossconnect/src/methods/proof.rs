//! Proofs by the exact model.

use super::session::{FirstPlan, TaskSession, best_bound, outcome};
use crate::Crossconnect;
use crate::model::assignment::Cell;
use crate::programs::bound::whole;
use crate::programs::exact::reason::infeasible;
use crate::programs::exact::{ExactProgram, Orientation};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, ModelSize};
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Status};
use lightbay_highs::solution::{Start as Point, Status as Ending};
use lightbay_highs::solve::{self, Reader};
use rand::Rng;
use std::sync::Arc;

/// Number of the random stream that seeds the solver.
const STREAM: u64 = 31;

/// Solves the exact model, from a solution if there is one, with at most `nodes` nodes; returns the outcome of the run.
pub(super) fn prove(
    session: &Arc<TaskSession>,
    start: Option<&FirstPlan>,
    oriented: Option<&[Cell]>,
    params: &Params,
    nodes: Option<usize>,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Outcome, MethodError> {
    // Nothing is left to prove.
    if start.is_some_and(|start| start.removed <= best_bound(cx)) {
        return Ok(Outcome::done(Status::Optimal));
    }
    let orientation = oriented.map_or(Orientation::Joint, Orientation::Fixed);
    let program = ExactProgram::watched(&session.task, orientation, cx)?;
    if program.model().columns() == 0 {
        // There are no target circuits, or no switch has ports at both pods of any target circuit.
        if session.circuits() > 0 {
            return Ok(Outcome::Infeasible(infeasible(&session.task, orientation, None)));
        }
        let nothing = program.assignment(&[]);
        session.offer(cx, session.task.removed(&nothing), &nothing, "nothing is wanted")?;
        return Ok(outcome(cx, Limit::Work));
    }
    let size = program.model().size();
    let which = if oriented.is_some() { "orientation fixed" } else { "all orientations" };
    cx.phase(
        "exact",
        format!("{} circuits on {} switches, {which}", session.circuits(), session.task.ocs_count),
    );
    cx.report(EventBody::Model(ModelSize {
        after: "written in full".to_owned(),
        columns: u64::from(size.columns),
        rows: u64::from(size.rows),
        nonzeros: u64::from(size.nonzeros),
        integers: u64::from(size.integers),
    }));
    // A start that the model does not contain is ignored.
    let point = start.and_then(|start| program.point(&start.plan)).map_or(Point::None, Point::Full);
    let seed = cx.stream(STREAM).next_u64();
    let mut options = solve::options_of(params, seed);
    if let Some(nodes) = nodes {
        options = options.set("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX));
    }
    // The number of removed circuits is an integer, so branch and bound may stop at a gap below 1.
    options = options.set("mip_abs_gap", 1.0 - 1e-4);
    let mut reading = PlanReader { session: Arc::clone(session), program, fixed: oriented.is_some() };
    let program = reading.program.clone();
    let asked = solve::SolveRequest {
        model: program.model(),
        options,
        start: point,
        isolated: solve::isolated(params),
    };
    let solution = solve::run(asked, &mut reading, cx)?;
    Ok(match solution.status {
        // The scenario is infeasible only if no plan exists; otherwise the solver's tolerances caused this status.
        Ending::Infeasible | Ending::InfeasibleOrUnbounded if cx.best().is_none() => {
            let conflict = solve::why_infeasible(program.model(), solve::isolated(params), cx)?;
            Outcome::Infeasible(infeasible(&session.task, orientation, conflict.as_ref()))
        }
        Ending::Optimal => match outcome(cx, Limit::Work) {
            // The optimum of a reduced target proves nothing about plans that set other target circuits.
            Outcome::Done { status: Status::Feasible, .. } if !session.task.lost.is_empty() => {
                Outcome::done(Status::Feasible)
            }
            // The solver stopped at the requested gap.
            Outcome::Done { status: Status::Feasible, .. } => Outcome::done(Status::GapReached),
            outcome => outcome,
        },
        Ending::Trouble => Outcome::done(Status::NumericalTrouble),
        _ => outcome(cx, Limit::Work),
    })
}

/// Converts the solver's points to plans.
struct PlanReader {
    session: Arc<TaskSession>,
    program: ExactProgram,
    /// `true` if the model has a fixed orientation.
    fixed: bool,
}

impl Reader<Crossconnect> for PlanReader {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Crossconnect>,
        _objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        let plan = self.program.assignment(values);
        let removed = self.session.task.removed(&plan);
        self.session.offer(cx, removed, &plan, source)
    }

    fn bound(&mut self, cx: &mut Context<'_, Crossconnect>, bound: f64) -> Result<(), MethodError> {
        // The bound is rounded up, because removals are whole numbers.
        self.session.bound(cx, whole(bound), self.fixed);
        Ok(())
    }

    fn better(&mut self, cx: &mut Context<'_, Crossconnect>) -> Option<Vec<f64>> {
        let plan = self.session.offered(cx)?;
        self.program.point(&plan)
    }
}
