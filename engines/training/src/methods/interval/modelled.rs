//! The integer program of `delta-interval` for other solvers, and the way back from their points.

use super::{ask, reading};
use crate::baselines::Baseline;
use crate::circuit_bounds::circuit_bounds;
use crate::evaluate::{Evaluator, Rates, Scratch};
use crate::ga;
use crate::interval::{Names, Shaped, Subject};
use crate::kind::Training;
use crate::methods::given;
use crate::methods::session::{compile, planned};
use crate::plan::{RateControl, TrainingResult};
use crate::search::Unwatched;
use crate::windows::Windows;
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::random::Streams;
use lightbay_core::scenario::Scenario;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;

/// The model of `delta-interval`, around the run that a genetic search from the same random numbers every time
/// finds.
pub(in crate::methods) struct Written;

/// Feasibility of points that other solvers wrote with few digits.
const TOLERANCE: f64 = 1e-5;

/// Seed of the genetic search, so that a model can be written again when a point of it comes back.
const SEED: u64 = 1;

impl Modelled<Training> for Written {
    fn name(&self) -> &'static str {
        "delta-interval"
    }

    fn params(&self) -> Vec<ParamInfo> {
        ask::shape_knobs()
    }

    fn model(&self, scenario: &Scenario<Training>, params: &Params) -> Result<Model, MethodError> {
        Ok(written(scenario, params)?.1.model.model)
    }

    fn plan(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<TrainingResult>, MethodError> {
        let (evaluator, shaped) = written(scenario, params)?;
        let columns = shaped.model.model.columns();
        if values.len() != columns {
            return Err(MethodError::Failed(format!(
                "the point has {} values, the model {columns} columns; give a point of the model as it was exported",
                values.len()
            )));
        }
        if let Some(broken) = shaped.model.model.first_broken(values, TOLERANCE) {
            return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
        }
        let rates = ask::rates(params);
        let (x, trace) = reading::schedule(&evaluator, &shaped, rates, values, &mut Scratch::default());
        let control = if rates == Rates::Fair { RateControl::Fair } else { RateControl::Joint };
        Ok(planned(&evaluator, &x, control, &trace))
    }
}

fn written(scenario: &Scenario<Training>, params: &Params) -> Result<(Evaluator, Shaped), MethodError> {
    let built = scenario.body.build()?;
    let evaluator = compile(&built)?;
    if built.instance.tasks.is_empty() {
        return Err(MethodError::Failed("nothing crosses pods, so there is nothing to decide".to_owned()));
    }
    let rates = ask::rates(params);
    let network = &evaluator.network;
    let mut scratch = Scratch::default();
    let seeds: Vec<Vec<u32>> = Baseline::ALL.into_iter().map(|baseline| baseline.allocate(network)).collect();
    let limit = seeds.iter().map(|x| evaluator.makespan(x, Rates::Fair, &mut scratch));
    let limit = limit.fold(f64::INFINITY, f64::min);
    let mut caps = circuit_bounds(network, &Windows::new(network, limit * (1.0 + 1e-4)));
    let fixed = given::circuits(network, params, "circuits")?;
    let x = if let Some(fixed) = &fixed {
        fixed.clone()
    } else {
        let settings = ask::genetic(params.int("start_generations").unwrap_or(0));
        let seeds: Vec<Vec<u32>> = seeds
            .iter()
            .map(|x| x.iter().zip(&caps).map(|(circuits, cap)| *circuits.min(cap)).collect())
            .collect();
        let task = ga::Task { evaluator: &evaluator, rates, caps: &caps, target: None };
        let streams = Streams::new(SEED);
        ga::evolve(task, &settings, &seeds, |island| streams.stream(island), &mut Unwatched::default())?
            .best
            .x
    };
    for (cap, circuits) in caps.iter_mut().zip(&x) {
        *cap = (*cap).max(*circuits);
    }
    let trace = std::sync::Arc::new(evaluator.trace(&x, rates, &mut scratch));
    let anchor = ask::anchor(params, &evaluator, &x, &trace);
    let shaped = ask::shape(params).write(Subject {
        evaluator: &evaluator,
        names: &Names::new(&built.instance),
        caps: &caps,
        fixed: fixed.as_deref(),
        least_s: 0.0,
        circuits: &x,
        start: &trace,
        anchor: &anchor,
    });
    Ok((evaluator, shaped))
}
