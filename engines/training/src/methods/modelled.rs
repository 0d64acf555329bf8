//! The integer program of `delta-select` for other solvers, and the way back from their points.

use super::session::{candidate, compile};
use super::{knobs, select};
use crate::baselines::Baseline;
use crate::circuit_bounds::circuit_bounds;
use crate::evaluate::{Evaluator, Rates, Scratch};
use crate::instance::Instance;
use crate::kind::Training;
use crate::plan::TrainingResult;
use crate::selection::{Ask, Goal, Selection};
use crate::windows::Windows;
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::scenario::Scenario;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;

/// The model of `delta-select`, with the best baseline as what has to be beaten.
pub(super) struct Selected;

/// Feasibility of points that other solvers wrote with few digits.
const TOLERANCE: f64 = 1e-5;

impl Modelled<Training> for Selected {
    fn name(&self) -> &'static str {
        "delta-select"
    }

    fn params(&self) -> Vec<ParamInfo> {
        vec![knobs::writing()]
    }

    fn model(&self, scenario: &Scenario<Training>, params: &Params) -> Result<Model, MethodError> {
        let (evaluator, instance) = prepared(scenario)?;
        Ok(written(&evaluator, &instance, params)?.model().clone())
    }

    fn plan(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<TrainingResult>, MethodError> {
        let (evaluator, instance) = prepared(scenario)?;
        let selection = written(&evaluator, &instance, params)?;
        let columns = selection.model().columns();
        if values.len() != columns {
            return Err(MethodError::Failed(format!(
                "the point has {} values, the model {columns} columns; give a point of the model as it was exported",
                values.len()
            )));
        }
        if let Some(broken) = selection.model().first_broken(values, TOLERANCE) {
            return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
        }
        Ok(candidate(&evaluator, &selection.circuits(values), Rates::Best))
    }
}

fn prepared(scenario: &Scenario<Training>) -> Result<(Evaluator, Instance), MethodError> {
    let built = scenario.body.build()?;
    let evaluator = compile(&built)?;
    if built.instance.tasks.is_empty() {
        return Err(MethodError::Failed("nothing crosses pods, so there is nothing to decide".to_owned()));
    }
    Ok((evaluator, built.instance))
}

fn written(evaluator: &Evaluator, instance: &Instance, params: &Params) -> Result<Selection, MethodError> {
    let mut scratch = Scratch::default();
    let (mut fair, mut best) = (f64::INFINITY, f64::INFINITY);
    for baseline in Baseline::ALL {
        let x = baseline.allocate(&evaluator.network);
        fair = fair.min(evaluator.makespan(&x, Rates::Fair, &mut scratch));
        best = best.min(evaluator.makespan(&x, Rates::Best, &mut scratch));
    }
    let caps = circuit_bounds(&evaluator.network, &Windows::new(&evaluator.network, fair * (1.0 + 1e-4)));
    let limit_s = best * (1.0 + select::ROOM);
    let writing = knobs::writing_of(params);
    Selection::new(Ask { evaluator, instance, caps: &caps, limit_s, goal: Goal::Makespan, writing })
        .ok_or_else(|| MethodError::Failed("one circuit for every link does not fit the pods".to_owned()))
}
