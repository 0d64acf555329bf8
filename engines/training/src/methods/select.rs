//! `delta-select`: the best circuits at joint rates by an integer program over circuit counts.

mod modelled;

use super::approach::SessionMethod;
use super::session::{self, Session, candidate};
use super::{knobs, solver, start, topo};
use crate::Training;
use crate::programs::selection::{Goal, Selection, SelectionRequest, Writing};
use crate::search::carry;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::{Limit, Status, gap};
use lightbay_highs::solution::{Start, Status as Ending};
use lightbay_highs::solve::Reader;
pub(super) use modelled::SelectionProgram;
use std::sync::Arc;

/// The method `delta-select`: the integer program with proof.
pub(super) struct Select;

/// Relative margin of the search limit above the best known makespan, because a starting point must lie strictly below
/// the limit.
const ROOM: f64 = 1e-6;

/// A plan counts as proven if its relative distance from the bound exceeds the requested gap by at most this number,
/// which is larger than the tolerances of the solver (5e-10).
const SLIP: f64 = 1e-8;

/// Number of the random stream that seeds the solver; streams 0, 1, ... belong to the islands of the genetic search.
const SOLVER_STREAM: u64 = (1 << 32) + 2;

impl SessionMethod for Select {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::min_ports(), knobs::writing()];
        params.extend(knobs::solver(&["mip_gap", "solver_process", "presolve", "lp_method"]));
        MethodInfo {
            name: "delta-select",
            help: "Finds the best circuits and rates together by an integer program over circuit counts.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        if let Some(reason) = session.evaluator.contention.loose.first() {
            session.cx.note(
                Severity::Warning,
                format!("the scenario is not tail-exact ({reason}), so the bound is only a relaxation"),
            );
        }
        let start = start::start(session)?;
        // A good plan bounds the program from above.
        let mut best = start.best;
        topo::climb(session, &start.caps, &mut best)?;
        let proven = prove(session, params, &mut best, &start.caps)?;
        session.fewest_ports(&mut best, &start.caps)?;
        Ok(proven.ending(session.cx))
    }
}

/// Outcome of the integer program.
pub(super) struct Proven {
    /// `true` if the best plan is proven optimal.
    pub complete: bool,
    /// `true` if a limit of the solver ended the solution of the program.
    pub limited: bool,
}

impl Proven {
    /// Returns the outcome of a method that ends with this program.
    fn ending(&self, cx: &Context<'_, Training>) -> Outcome {
        let closed = match (cx.best(), cx.best_bound()) {
            (Some((value, _)), Some(bound)) => gap(value, bound) <= 2.0 * solver::TOLERANCE,
            _ => false,
        };
        let status = if self.complete || closed { Status::Optimal } else { Status::Feasible };
        Outcome::Done { status, limit: self.limited.then_some(Limit::Work) }
    }
}

/// Runs the integer program as a phase of a method: improves `best` and reports the bound.
pub(super) fn prove(
    session: &mut Session<'_, '_>,
    params: &Params,
    best: &mut Circuits,
    caps: &[u32],
) -> Result<Proven, MethodError> {
    let detail = format!("numbers of circuits by an integer program, starting from {:.6} s", best.makespan);
    session.cx.phase("selection", detail);
    let writing = knobs::writing_of(params);
    // Plans slightly longer than the best one stay in the model, so that the solver has a start.
    let limit_s = best.makespan * (1.0 + ROOM);
    let evaluator = Arc::clone(&session.evaluator);
    let ask = |instance, writing| SelectionRequest {
        evaluator: &evaluator,
        instance,
        caps,
        limit_s,
        goal: Goal::Makespan,
        writing,
    };
    let full = Selection::new(ask(&session.instance, Writing::Full));
    // The full model is built only to report its size, unless it was requested.
    if let Some(full) = &full {
        solver::report_size(session.cx, full.model(), "written in full");
    }
    let selection = match writing {
        Writing::Full => full,
        Writing::Reduced => Selection::new(ask(&session.instance, Writing::Reduced)),
    };
    let Some(selection) = selection else {
        // The longest paths alone end too late for every allocation.
        session.cx.bound(best.makespan);
        return Ok(Proven { complete: true, limited: false });
    };
    if writing == Writing::Reduced {
        solver::report_size(session.cx, selection.model(), "without columns that cannot affect the optimum");
    }
    let ending = run(session, params, &selection, (Goal::Makespan, limit_s), best)?;
    // The gap requested from the solver, plus rounding.
    let close_enough = params.float("mip_gap").unwrap_or(0.0).max(SLIP) + SLIP;
    let closed = session.cx.best_bound().is_some_and(|bound| gap(best.makespan, bound) <= close_enough);
    let ended = matches!(ending, Ending::Optimal | Ending::Infeasible);
    // A proof needs a finished search, a closed gap and an exact model.
    Ok(Proven { complete: ended && closed && selection.exact(), limited: !ended })
}

/// Minimises the ports of plans with a makespan of at most `limit_s`, by the integer program with ports as objective;
/// returns whether the result is proven. This phase runs only if the method has the solver's parameters and the program
/// is exact.
pub(super) fn fewest_ports(
    session: &mut Session<'_, '_>,
    best: &mut Circuits,
    caps: &[u32],
    limit_s: f64,
) -> Result<bool, MethodError> {
    let params = session.cx.params().clone();
    // Port counts are proven only where the model is exact.
    if session.rates == Rates::Fair
        || !session.evaluator.exact(session.rates)
        || params.float("mip_gap").is_none()
    {
        return Ok(false);
    }
    session
        .cx
        .phase("ports", format!("fewest ports by an integer program, starting from {} ports", best.ports));
    let evaluator = Arc::clone(&session.evaluator);
    let writing = Writing::Reduced;
    let instance = &session.instance;
    let ask = SelectionRequest { evaluator: &evaluator, instance, caps, limit_s, goal: Goal::Ports, writing };
    let Some(selection) = Selection::new(ask) else { return Ok(false) };
    solver::report_size(session.cx, selection.model(), "without columns that cannot affect the optimum");
    let ending = run(session, &params, &selection, (Goal::Ports, limit_s), best)?;
    let counted = selection.range().low.iter().enumerate();
    // No plan has fewer ports than the lower ends of all ranges.
    let least: u64 = counted.map(|(link, low)| evaluator.network.budget.cost(link) * u64::from(*low)).sum();
    Ok(selection.exact() && (ending == Ending::Optimal || best.ports == least))
}

/// Solves a program, starting from the best plan, and improves this plan.
fn run(
    session: &mut Session<'_, '_>,
    params: &Params,
    selection: &Selection,
    (goal, limit_s): (Goal, f64),
    best: &mut Circuits,
) -> Result<Ending, MethodError> {
    let mut reading = SelectionReader {
        evaluator: Arc::clone(&session.evaluator),
        rates: session.rates,
        selection,
        goal,
        limit_s,
        best,
        scratch: Scratch::default(),
    };
    if selection.model().size().integers == 0 {
        // A single allocation remains.
        let x = selection.range().low.clone();
        let value = selection.vector_s(&x);
        reading.judge(session.cx, x, "the only remaining circuits")?;
        if let (Goal::Makespan, Some(value)) = (goal, value) {
            reading.state(session.cx, value);
        }
        return Ok(Ending::Optimal);
    }
    // The solver gets the best plan as its first incumbent, if it satisfies all rows.
    let start = match selection.checked_point(&reading.best.x) {
        Ok(point) => Start::Full(point),
        Err(broken) => {
            let text = format!("the solver cannot start from the best plan: {broken}");
            session.cx.note(Severity::Info, text);
            Start::None
        }
    };
    let solution = solver::run(session.cx, params, SOLVER_STREAM, (selection.model(), start), &mut reading)?;
    Ok(solution.status)
}

/// Converts points of the solver to plans.
struct SelectionReader<'s> {
    evaluator: Arc<Evaluator>,
    rates: Rates,
    selection: &'s Selection,
    goal: Goal,
    /// Maximum makespan while ports are minimised, seconds.
    limit_s: f64,
    best: &'s mut Circuits,
    scratch: Scratch,
}

impl SelectionReader<'_> {
    /// Evaluates the circuits `x` and reports them if they are better than the best plan so far.
    fn judge(
        &mut self,
        cx: &mut Context<'_, Training>,
        x: Vec<u32>,
        source: &str,
    ) -> Result<(f64, bool), MethodError> {
        // Points are evaluated without the model, so plans never rely on the solver's values.
        let makespan = self.evaluator.makespan(&x, self.rates, &mut self.scratch);
        cx.count_work(1);
        let found = Circuits { ports: self.evaluator.network.budget.total(&x), makespan, x };
        let better = match self.goal {
            Goal::Makespan => found.makespan < self.best.makespan,
            Goal::Ports => found.ports < self.best.ports && found.makespan <= self.limit_s,
        };
        if better {
            let (evaluator, x, rates) = (Arc::clone(&self.evaluator), found.x.clone(), self.rates);
            let build = move || candidate(&evaluator, &x, rates);
            match self.goal {
                Goal::Makespan => session::hand_over(cx, &found, source, build)?,
                Goal::Ports => cx.supersede(found.makespan, found.ports as f64, source, build)?,
            }
            *self.best = found;
        }
        Ok((makespan, better))
    }

    /// Reports the lower bound `makespan_s`, which the program proves, minus the tolerance of the solver.
    fn state(&self, cx: &mut Context<'_, Training>, makespan_s: f64) {
        // The bound is reduced by the tolerance of the solver.
        cx.bound((makespan_s * (1.0 - solver::TOLERANCE)).min(self.best.makespan));
    }
}

impl Reader<Training> for SelectionReader<'_> {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Training>,
        _objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        let x = self.selection.circuits(values);
        self.judge(cx, x, source).map(|_| ())
    }

    fn bound(&mut self, cx: &mut Context<'_, Training>, bound: f64) -> Result<(), MethodError> {
        if self.goal == Goal::Makespan {
            // Plans beyond the limit are not in the program.
            // The objective is in ms.
            self.state(cx, 1e-3 * bound);
        }
        Ok(())
    }

    fn meaning(&self, objective: f64) -> Option<f64> {
        (self.goal == Goal::Makespan).then_some(1e-3 * objective)
    }

    fn better(&mut self, cx: &mut Context<'_, Training>) -> Option<Vec<f64>> {
        if self.goal == Goal::Ports {
            return None;
        }
        let plan = cx.offered()?;
        let mut x = carry::listed(&plan.plan().result, self.evaluator.network.links())?;
        // Circuits of another run are repaired to fit the ports of this scenario.
        session::repair(cx, &self.evaluator, &mut x);
        let (makespan, taken) = self.judge(cx, x.clone(), "offer").ok()?;
        cx.offer_fate(&plan, Some(makespan), taken);
        taken.then(|| self.selection.checked_point(&x).ok()).flatten()
    }
}
