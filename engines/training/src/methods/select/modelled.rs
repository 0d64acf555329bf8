//! The integer program of `delta-select` for other solvers.

use super::ROOM;
use crate::methods::knobs;
use crate::methods::modelled::{ModelInput, WrittenProgram};
use crate::methods::session::candidate;
use crate::plan::TrainingResult;
use crate::programs::selection::{Goal, Selection, SelectionRequest};
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_highs::model::Model;

/// The model of `delta-select`, with the makespan of the best baseline as its limit.
pub(in crate::methods) struct SelectionProgram;

impl WrittenProgram for SelectionProgram {
    type Written = Selection;

    fn name(&self) -> &'static str {
        "delta-select"
    }

    fn params(&self) -> Vec<ParamInfo> {
        vec![knobs::writing()]
    }

    fn write(&self, input: &ModelInput, params: &Params) -> Result<Selection, MethodError> {
        let ModelInput { evaluator, instance, baselines, caps } = input;
        let mut scratch = Scratch::default();
        let best = baselines.iter().map(|found| evaluator.makespan(&found.x, Rates::Best, &mut scratch));
        let limit_s = best.fold(f64::INFINITY, f64::min) * (1.0 + ROOM);
        let writing = knobs::writing_of(params);
        Selection::new(SelectionRequest { evaluator, instance, caps, limit_s, goal: Goal::Makespan, writing })
            .ok_or_else(|| {
                MethodError::Failed(
                    "one circuit for every link does not fit the ports of the pods".to_owned(),
                )
            })
    }

    fn model(selection: &Selection) -> &Model {
        selection.model()
    }

    fn plan(
        evaluator: &Evaluator,
        selection: &Selection,
        _params: &Params,
        values: &[f64],
    ) -> Candidate<TrainingResult> {
        candidate(evaluator, &selection.circuits(values), Rates::Best)
    }
}
