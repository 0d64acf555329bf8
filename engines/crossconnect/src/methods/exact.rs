//! `lumos-exact`: the exact model by branch and bound (docs/methods/crossconnect.md, section 8); also exports the model
//! for other solvers.

use super::anneal::anneal;
use super::finish::impossible;
use super::first::start;
use super::proof::prove;
use super::session::{FirstPlan, TaskSession};
use super::{idle, knobs};
use crate::Crossconnect;
use crate::plan::CrossconnectResult;
use crate::programs::exact::{ExactProgram, Orientation};
use crate::rollout::assemble;
use crate::scenario::CrossconnectScenario;
use crate::search::orient::{Failure, Preference, orient};
use lightbay_core::context::Context;
use lightbay_core::kind::Candidate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Unwatched;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;
use lightbay_highs::solve;

/// The method `lumos-exact`: branch and bound on the exact model.
pub(super) struct Exact;

/// The exact model, for export to other solvers.
pub(super) struct ExactModel;

/// Default number of annealing rounds before the solver starts. They only provide a start point, which the solver
/// improves.
const ROUNDS: i64 = 3;

/// Feasibility tolerance for points that other solvers wrote with few digits.
const TOLERANCE: f64 = 1e-5;

impl Method<Crossconnect> for Exact {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::orientation()];
        params.extend(knobs::anneal(ROUNDS));
        params.extend(solve::knobs());
        MethodInfo {
            name: "lumos-exact",
            help: "Solves the exact integer program by branch and bound from an annealed plan; proves the \
                 minimum number of removed circuits.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
        idle::annealing(scenario, params)
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let session = TaskSession::open(scenario, cx);
        // Ports without sides have no orientation to fix.
        let joint = knobs::joint(params) || session.task.single_sided;
        if joint {
            let mut best = start(&session, true, cx)?;
            if let Some(best) = &mut best
                && !session.task.single_sided
            {
                anneal(&session, best, &knobs::anneal_settings(params, true), cx)?;
            }
            return prove(&session, best.as_ref(), None, params, None, cx);
        }
        let switches: Vec<usize> = (0..session.task.ocs_count).collect();
        let oriented = match orient(&session.task, &switches, &session.task.wanted, Preference::none(), cx) {
            Ok(oriented) => oriented,
            Err(Failure::Ended(error)) => return Err(error),
            Err(Failure::Stuck(stuck)) => return Ok(impossible(&stuck)),
        };
        let hot = session.hot_start(cx)?;
        let mut best = session.starts(&oriented, cx)?.into_iter().next();
        if let Some(best) = &mut best {
            anneal(&session, best, &knobs::anneal_settings(params, false), cx)?;
        }
        // A hot start may have another orientation; the model then does not contain its point.
        let fits = |start: &FirstPlan| {
            let found = crate::model::task::merged(start.plan.ocs.iter().flatten().copied());
            found == oriented
        };
        // Starts from the hot start, if it has this orientation, or from the first solution, whichever removes fewer
        // circuits.
        let best = [hot.filter(fits), best].into_iter().flatten().min_by_key(|start| start.removed);
        prove(&session, best.as_ref(), Some(&oriented), params, None, cx)
    }
}

impl Modelled<Crossconnect> for ExactModel {
    fn name(&self) -> &'static str {
        "lumos-exact"
    }

    fn params(&self) -> Vec<ParamInfo> {
        vec![knobs::orientation()]
    }

    fn model(&self, scenario: &Scenario<Crossconnect>, params: &Params) -> Result<Model, MethodError> {
        Ok(written(&TaskSession::of(scenario), params)?.model().clone())
    }

    fn plan(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<CrossconnectResult>, MethodError> {
        let session = TaskSession::of(scenario);
        let program = written(&session, params)?;
        let columns = program.model().columns();
        if values.len() != columns {
            return Err(MethodError::Failed(format!(
                "the point has {} values, but the model has {columns} columns; give a point of the exported model",
                values.len()
            )));
        }
        // Points of other solvers are verified before they become plans.
        if let Some(broken) = program.model().first_broken(values, TOLERANCE) {
            return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
        }
        let plan = program.assignment(values);
        Ok(assemble::candidate(&session.scenario, &session.task.assignment(&plan)))
    }
}

fn written(session: &TaskSession, params: &Params) -> Result<ExactProgram, MethodError> {
    if session.scenario.is_placed() {
        return Err(MethodError::Invalid(Problems::one(Problem::new(
            "placed",
            "gives the target circuits port by port, so no choice is left to a model",
            "solve the scenario with any method, or create it with keep_ports=false",
        ))));
    }
    let task = &session.task;
    // The exported model is the model that the method solves.
    if knobs::joint(params) || task.single_sided {
        return Ok(ExactProgram::new(task, Orientation::Joint));
    }
    let switches: Vec<usize> = (0..task.ocs_count).collect();
    match orient(task, &switches, &task.wanted, Preference::none(), &mut Unwatched::default()) {
        Ok(oriented) => Ok(ExactProgram::new(task, Orientation::Fixed(&oriented))),
        Err(Failure::Ended(error)) => Err(error),
        // If this flow is infeasible, no orientation and no split over the switches is feasible.
        Err(Failure::Stuck(stuck)) => Err(MethodError::Invalid(Problems::one(Problem::new(
            "logical_circuits",
            format!("exceed the ports in every orientation, because {}", stuck.words()),
            "set fewer circuits between these pods, or give the pods more ports on both sides",
        )))),
    }
}
