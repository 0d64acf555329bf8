//! The integer program of `delta-fixed-step` for other solvers.

use super::{shape_knobs, write};
use crate::methods::modelled::{ModelInput, WrittenProgram};
use crate::methods::session::candidate;
use crate::methods::start;
use crate::plan::TrainingResult;
use crate::programs::fixed_step::FixedStep;
use crate::programs::interval::Names;
use crate::simulate::evaluate::{Evaluator, Rates};
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_highs::model::Model;

/// The model of `delta-fixed-step`, with the schedule of the best baseline as its horizon.
pub(in crate::methods) struct FixedStepModel;

impl WrittenProgram for FixedStepModel {
    type Written = FixedStep;

    fn name(&self) -> &'static str {
        "delta-fixed-step"
    }

    fn params(&self) -> Vec<ParamInfo> {
        shape_knobs()
    }

    fn write(&self, input: &ModelInput, params: &Params) -> Result<FixedStep, MethodError> {
        let best = input.baselines.iter().min_by(|a, b| a.makespan.total_cmp(&b.makespan));
        let x = best.map(|found| found.x.clone()).unwrap_or_default();
        let mut caps = input.caps.clone();
        start::admit(&mut caps, &x);
        let names = Names::new(&input.instance);
        write(&input.evaluator.network, &names, &caps, &x, params).map(|(model, _)| model)
    }

    fn model(written: &FixedStep) -> &Model {
        &written.model
    }

    fn plan(
        evaluator: &Evaluator,
        written: &FixedStep,
        _params: &Params,
        values: &[f64],
    ) -> Candidate<TrainingResult> {
        candidate(evaluator, &written.circuits(values), Rates::Best)
    }
}
