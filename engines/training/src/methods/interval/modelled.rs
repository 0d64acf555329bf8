//! The integer program of `delta-interval` for other solvers.

use super::{ask, reading};
use crate::methods::modelled::{ModelInput, WrittenProgram};
use crate::methods::session::planned;
use crate::methods::{given, start};
use crate::plan::TrainingResult;
use crate::programs::interval::{Names, Scope, ShapeSubject, Shaped};
use crate::search::ga;
use crate::simulate::evaluate::{Evaluator, Scratch};
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use lightbay_highs::model::Model;

/// The model of `delta-interval`, with windows around the schedule of a genetic search with a fixed seed.
pub(in crate::methods) struct IntervalProgram;

/// Seed of the genetic search; it is fixed so that the same model can be rebuilt when a point of it is read back.
const SEED: u64 = 1;

impl WrittenProgram for IntervalProgram {
    type Written = Shaped;

    fn name(&self) -> &'static str {
        "delta-interval"
    }

    fn params(&self) -> Vec<ParamInfo> {
        ask::shape_knobs()
    }

    fn write(&self, input: &ModelInput, params: &Params) -> Result<Shaped, MethodError> {
        let rates = ask::rates(params);
        let evaluator = &input.evaluator;
        let mut caps = input.caps.clone();
        let fixed = given::circuits(&evaluator.network, &input.instance, params, "circuits")?;
        let x = if let Some(fixed) = &fixed {
            fixed.clone()
        } else {
            let settings = ask::genetic(params.int("start_generations").unwrap_or(0));
            let seeds: Vec<Vec<u32>> =
                input.baselines.iter().map(|found| start::within(&found.x, &caps)).collect();
            let task = ga::GaTask { evaluator, rates, caps: &caps, target: None };
            let streams = Streams::new(SEED);
            ga::evolve(task, &settings, &seeds, |island| streams.stream(island), &mut Unwatched::default())?
                .best
                .x
        };
        start::admit(&mut caps, &x);
        let trace = std::sync::Arc::new(evaluator.trace(&x, rates, &mut Scratch::default()));
        let anchor = ask::anchor(params, evaluator, &x, &trace);
        let names = &Names::new(&input.instance);
        let subject = ShapeSubject {
            scope: Scope { evaluator, names, caps: &caps, fixed: fixed.as_deref(), least_s: 0.0 },
            circuits: &x,
            start: &trace,
            anchor: &anchor,
        };
        ask::shape(params).write(subject, &mut |_| Ok(()))
    }

    fn model(shaped: &Shaped) -> &Model {
        &shaped.model.model
    }

    fn plan(
        evaluator: &Evaluator,
        shaped: &Shaped,
        params: &Params,
        values: &[f64],
    ) -> Candidate<TrainingResult> {
        let rates = ask::rates(params);
        let (x, trace) = reading::schedule(evaluator, shaped, rates, values, &mut Scratch::default());
        planned(evaluator, &x, rates.control(), &trace)
    }
}
