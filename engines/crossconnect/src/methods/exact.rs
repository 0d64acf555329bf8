//! `lumos-exact`: the exact model by branch and bound; and the model for other solvers.

use super::anneal::anneal;
use super::ground::{Ground, Start, best_bound, outcome};
use super::{idle, knobs};
use crate::Crossconnect;
use crate::model::assignment::Cell;
use crate::plan::CrossconnectResult;
use crate::programs::bound::whole;
use crate::programs::exact::{Orientation, Program, infeasible};
use crate::rollout::assemble;
use crate::scenario::CrossconnectScenario;
use crate::search::orient::{Failure, Taste, orient};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, ModelSize};
use lightbay_core::kind::Candidate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Unwatched;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;
use lightbay_highs::solution::{Start as Point, Status as Ending};
use lightbay_highs::solve::{self, Reader};
use rand::Rng;
use std::sync::Arc;

/// Branch and bound on the exact model.
pub(super) struct Exact;

/// The model for other solvers.
pub(super) struct Written;

/// Number of the random stream that seeds the solver.
const STREAM: u64 = 31;

/// Rounds of annealing before the solver begins.
const ROUNDS: i64 = 3;

/// Feasibility of points that other solvers wrote with few digits.
const TOLERANCE: f64 = 1e-5;

/// What a bound covers if orientations are chosen first.
const COVERS: &str = "plans with the orientation that was chosen first";

impl Method<Crossconnect> for Exact {
    fn info(&self) -> MethodInfo {
        let mut params = vec![knobs::orientation()];
        params.extend(knobs::anneal(ROUNDS));
        params.extend(solve::knobs());
        MethodInfo {
            name: "lumos-exact",
            help: "The exact integer program by branch and bound, from an annealed start; proves how few circuits must go.",
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
        let ground = Ground::open(scenario, cx);
        let joint = knobs::joint(params) || ground.task.single_sided;
        if joint {
            let mut best = super::auto::start(&ground, true, cx)?;
            if let Some(best) = &mut best
                && !ground.task.single_sided
            {
                anneal(&ground, best, &knobs::anneal_settings(params, true), cx)?;
            }
            return prove(&ground, best.as_ref(), None, params, None, cx);
        }
        let Some(oriented) = ground.oriented(cx)? else {
            let words = "no orientation of the circuits fits the ports: some pods together want more circuits than \
                         their A and B ports allow";
            return Ok(Outcome::Infeasible(words.to_owned()));
        };
        let hot = ground.hot_start(cx)?;
        let mut best = ground.starts(&oriented, cx)?.into_iter().next();
        if let Some(best) = &mut best {
            anneal(&ground, best, &knobs::anneal_settings(params, false), cx)?;
        }
        // A hot start may have another orientation; the model then has no such point.
        let fits = |start: &Start| {
            let found = crate::model::task::merged(start.plan.ocs.iter().flatten().copied());
            found == oriented
        };
        let start = [hot.filter(fits), best].into_iter().flatten().min_by_key(|start| start.removed);
        prove(&ground, start.as_ref(), Some(&oriented), params, None, cx)
    }
}

/// Solves the exact model from a solution, if there is one, with at most so many nodes.
pub(super) fn prove(
    ground: &Arc<Ground>,
    start: Option<&Start>,
    oriented: Option<&[Cell]>,
    params: &Params,
    nodes: Option<usize>,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Outcome, MethodError> {
    if start.is_some_and(|start| start.removed <= best_bound(cx)) {
        return Ok(Outcome::done(Status::Optimal));
    }
    let orientation = oriented.map_or(Orientation::Joint, Orientation::Fixed);
    let program = Program::watched(&ground.task, orientation, cx)?;
    if program.model().columns() == 0 {
        // Nothing is wanted, or no circuit that is has two ports on one switch.
        if ground.circuits() > 0 {
            return Ok(Outcome::Infeasible(infeasible(&ground.task, orientation)));
        }
        let nothing = program.assignment(&[]);
        ground.offer(cx, ground.task.removed(&nothing), &nothing, "nothing is wanted")?;
        return Ok(outcome(cx, Limit::Work));
    }
    let size = program.model().size();
    let which = if oriented.is_some() { "orientation fixed" } else { "all orientations" };
    cx.phase(
        "exact",
        format!("{} circuits on {} switches, {which}", ground.circuits(), ground.task.ocs_count),
    );
    cx.report(EventBody::Model(ModelSize {
        after: "written in full".to_owned(),
        columns: u64::from(size.columns),
        rows: u64::from(size.rows),
        nonzeros: u64::from(size.nonzeros),
        integers: u64::from(size.integers),
    }));
    let point = start.and_then(|start| program.point(&start.plan)).map_or(Point::None, Point::Full);
    let seed = cx.stream(STREAM).next_u64();
    let mut options = solve::options_of(params, seed);
    if let Some(nodes) = nodes {
        options = options.set("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX));
    }
    // Removed circuits are whole: what is less than one better is not better.
    options = options.set("mip_abs_gap", 1.0 - 1e-4);
    let mut reading = Reading { ground: Arc::clone(ground), program, fixed: oriented.is_some() };
    let program = reading.program.clone();
    let asked =
        solve::Ask { model: program.model(), options, start: point, isolated: solve::isolated(params) };
    let solution = solve::run(asked, &mut reading, cx)?;
    Ok(match solution.status {
        Ending::Infeasible | Ending::InfeasibleOrUnbounded if cx.best().is_none() => {
            Outcome::Infeasible(infeasible(&ground.task, orientation))
        }
        Ending::Optimal => match outcome(cx, Limit::Work) {
            // The solver stopped at the gap that was asked for.
            Outcome::Done { status: Status::Feasible, .. } => Outcome::done(Status::GapReached),
            outcome => outcome,
        },
        Ending::Trouble => Outcome::done(Status::NumericalTrouble),
        _ => outcome(cx, Limit::Work),
    })
}

/// Makes plans of the solver's points.
struct Reading {
    ground: Arc<Ground>,
    program: Program,
    /// Whether the model has one orientation only.
    fixed: bool,
}

impl Reader<Crossconnect> for Reading {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Crossconnect>,
        _objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        let plan = self.program.assignment(values);
        let removed = self.ground.task.removed(&plan);
        self.ground.offer(cx, removed, &plan, source)
    }

    fn bound(&mut self, cx: &mut Context<'_, Crossconnect>, bound: f64) -> Result<(), MethodError> {
        let bound = whole(bound) as f64;
        if self.fixed {
            cx.bound_over(bound, COVERS);
        } else {
            cx.bound(bound);
        }
        Ok(())
    }

    fn better(&mut self, cx: &mut Context<'_, Crossconnect>) -> Option<Vec<f64>> {
        let plan = self.ground.offered(cx)?;
        self.program.point(&plan)
    }
}

impl Modelled<Crossconnect> for Written {
    fn name(&self) -> &'static str {
        "lumos-exact"
    }

    fn params(&self) -> Vec<ParamInfo> {
        vec![knobs::orientation()]
    }

    fn model(&self, scenario: &Scenario<Crossconnect>, params: &Params) -> Result<Model, MethodError> {
        Ok(written(&Ground::of(scenario), params)?.model().clone())
    }

    fn plan(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<CrossconnectResult>, MethodError> {
        let ground = Ground::of(scenario);
        let program = written(&ground, params)?;
        let columns = program.model().columns();
        if values.len() != columns {
            return Err(MethodError::Failed(format!(
                "the point has {} values, the model {columns} columns; give a point of the model as it was exported",
                values.len()
            )));
        }
        if let Some(broken) = program.model().first_broken(values, TOLERANCE) {
            return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
        }
        let plan = program.assignment(values);
        Ok(assemble::candidate(&ground.scenario, &ground.task.assignment(&plan)))
    }
}

fn written(ground: &Ground, params: &Params) -> Result<Program, MethodError> {
    if ground.scenario.is_placed() {
        return Err(MethodError::Invalid(Problems::one(Problem::new(
            "placed",
            "gives the circuits port by port, so that there is no model to solve",
            "solve the scenario by any method, or make it with keep_ports=false",
        ))));
    }
    let task = &ground.task;
    if knobs::joint(params) || task.single_sided {
        return Ok(Program::new(task, Orientation::Joint));
    }
    let switches: Vec<usize> = (0..task.ocs_count).collect();
    match orient(task, &switches, &task.wanted, Taste::none(), &mut Unwatched::default()) {
        Ok(oriented) => Ok(Program::new(task, Orientation::Fixed(&oriented))),
        Err(Failure::Ended(error)) => Err(error),
        Err(Failure::Stuck(stuck)) => {
            Err(MethodError::Failed(format!("no orientation fits: {}; set orientation=joint", stuck.words())))
        }
    }
}
