//! Conversion of points of the solver to plans.

use crate::Training;
use crate::methods::{session, solver};
use crate::programs::interval::Shaped;
use crate::search::carry;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use crate::simulate::iteration::Trace;
use lightbay_core::context::Context;
use lightbay_core::method::MethodError;
use lightbay_highs::solve::Reader;
use std::sync::Arc;

/// Objective of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ModelGoal {
    /// The makespan.
    Makespan,
    /// Ports, at a makespan of at most this number of seconds.
    Ports(f64),
}

/// Converts the points of the solver to schedules, and reports the bounds of its search.
pub(super) struct IntervalReader<'s> {
    evaluator: &'s Arc<Evaluator>,
    rates: Rates,
    shaped: &'s Shaped,
    pub goal: ModelGoal,
    /// Plans that the bound covers; `None` if it covers all plans.
    pub covers: Option<&'static str>,
    pub best: &'s mut Circuits,
    trace: &'s mut Arc<Trace>,
    scratch: Scratch,
}

impl<'s> IntervalReader<'s> {
    pub fn new(
        evaluator: &'s Arc<Evaluator>,
        rates: Rates,
        shaped: &'s Shaped,
        best: &'s mut Circuits,
        trace: &'s mut Arc<Trace>,
    ) -> Self {
        let scratch = Scratch::default();
        Self { evaluator, rates, shaped, goal: ModelGoal::Makespan, covers: None, best, trace, scratch }
    }

    /// Reports a schedule if it is better than the best plan so far; returns the makespan of the schedule, and `true`
    /// if it was accepted.
    fn judge(
        &mut self,
        cx: &mut Context<'_, Training>,
        x: Vec<u32>,
        trace: Trace,
        source: &str,
    ) -> Result<(f64, bool), MethodError> {
        let makespan = trace.makespan;
        let found = Circuits { ports: self.evaluator.network.budget.total(&x), makespan, x };
        cx.count_work(1);
        let better = match self.goal {
            ModelGoal::Makespan => found.better_than(self.best),
            ModelGoal::Ports(limit_s) => found.ports < self.best.ports && makespan <= limit_s,
        };
        if better {
            let trace = Arc::new(trace);
            let (evaluator, x, run) = (Arc::clone(self.evaluator), found.x.clone(), Arc::clone(&trace));
            let control = self.rates.control();
            let build = move || session::planned(&evaluator, &x, control, &run);
            match self.goal {
                ModelGoal::Makespan => session::hand_over(cx, &found, source, build)?,
                ModelGoal::Ports(_) => cx.supersede(makespan, found.ports as f64, source, build)?,
            }
            *self.best = found;
            *self.trace = trace;
        }
        Ok((makespan, better))
    }
}

/// The schedule of a point: either the events and volumes of the point at their earliest times, or a simulation of the
/// circuits of the point, whichever ends first. At fair rates the schedule is always simulated, because the network
/// determines the rates.
pub(super) fn schedule(
    evaluator: &Evaluator,
    shaped: &Shaped,
    rates: Rates,
    values: &[f64],
    scratch: &mut Scratch,
) -> (Vec<u32>, Trace) {
    let grid = shaped.model.grid(&evaluator.network, values);
    let own = (rates != Rates::Fair).then(|| grid.trace(&evaluator.network)).flatten();
    let ruled = evaluator.trace(&grid.circuits, rates, scratch);
    let trace = match own {
        Some(own) if own.makespan < ruled.makespan * (1.0 - 1e-12) => own,
        _ => ruled,
    };
    (grid.circuits, trace)
}

impl Reader<Training> for IntervalReader<'_> {
    fn incumbent(
        &mut self,
        cx: &mut Context<'_, Training>,
        _objective: f64,
        values: &[f64],
        source: &str,
    ) -> Result<(), MethodError> {
        let (x, trace) = schedule(self.evaluator, self.shaped, self.rates, values, &mut self.scratch);
        self.judge(cx, x, trace, source).map(|_| ())
    }

    fn bound(&mut self, cx: &mut Context<'_, Training>, bound: f64) -> Result<(), MethodError> {
        if self.goal != ModelGoal::Makespan {
            return Ok(());
        }
        // The model excludes schedules that are longer than the starting schedule, so the bound is at most the makespan
        // of that schedule.
        let value = (bound * self.shaped.model.unit_s * (1.0 - solver::TOLERANCE)).min(self.best.makespan);
        match (self.covers, self.rates) {
            (Some(only), _) => cx.partial_bound(value, only),
            (None, rates) => session::state_bound(cx, rates, value),
        }
        Ok(())
    }

    fn meaning(&self, objective: f64) -> Option<f64> {
        (self.goal == ModelGoal::Makespan).then_some(objective * self.shaped.model.unit_s)
    }

    fn better(&mut self, cx: &mut Context<'_, Training>) -> Option<Vec<f64>> {
        if self.goal != ModelGoal::Makespan {
            return None;
        }
        let plan = cx.offered()?;
        let network = &self.evaluator.network;
        let mut x = carry::listed(&plan.plan().result, network.links())?;
        session::repair(cx, self.evaluator, &mut x);
        let trace = self.evaluator.trace(&x, self.rates, &mut self.scratch);
        let point = self.shaped.point_of(&self.shaped.model.model, network, &trace, &x).ok();
        let (makespan, taken) = self.judge(cx, x, trace, "offer").ok()?;
        cx.offer_fate(&plan, Some(makespan), taken);
        point.filter(|_| taken)
    }
}
