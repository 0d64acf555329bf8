//! Integer programs of methods for other solvers, and conversion of their points to plans.

use super::session::compile;
use crate::Training;
use crate::plan::TrainingResult;
use crate::programs::circuit_bounds::useful_within;
use crate::scenario::instance::Instance;
use crate::search::baselines::Baseline;
use crate::search::circuits::Circuits;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::scenario::Scenario;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;

/// Feasibility tolerance for points that other solvers write with few digits.
const TOLERANCE: f64 = 1e-5;

/// An integer program that a method writes, see [`ProgramOf`].
pub(super) trait WrittenProgram: Send + Sync {
    /// A model with the meaning of its columns.
    type Written;

    /// Name of the method.
    fn name(&self) -> &'static str;

    /// The parameters that shape the model.
    fn params(&self) -> Vec<ParamInfo>;

    /// Writes the model.
    fn write(&self, input: &ModelInput, params: &Params) -> Result<Self::Written, MethodError>;

    /// Returns the model that was written.
    fn model(written: &Self::Written) -> &Model;

    /// Returns the plan that a point of the model represents.
    fn plan(
        evaluator: &Evaluator,
        written: &Self::Written,
        params: &Params,
        values: &[f64],
    ) -> Candidate<TrainingResult>;
}

/// Input of a program that is written without a search before it.
pub(super) struct ModelInput {
    pub evaluator: Evaluator,
    pub instance: Instance,
    /// The baselines at fair rates, in their order.
    pub baselines: Vec<Circuits>,
    /// Maximum number of circuits of every link that a plan as good as the best baseline can use.
    pub caps: Vec<u32>,
}

impl ModelInput {
    fn of(scenario: &Scenario<Training>) -> Result<Self, MethodError> {
        let built = scenario.body.build()?;
        let evaluator = compile(&built)?;
        if built.instance.tasks.is_empty() {
            return Err(MethodError::Failed(
                "nothing crosses pods, so there is nothing to decide".to_owned(),
            ));
        }
        let network = &evaluator.network;
        let mut scratch = Scratch::default();
        let mut judge = |baseline: Baseline| {
            let x = baseline.allocate(network);
            let makespan = evaluator.makespan(&x, Rates::Fair, &mut scratch);
            Circuits { ports: network.budget.total(&x), makespan, x }
        };
        let baselines = Baseline::ALL.map(&mut judge).to_vec();
        let fair_s = baselines.iter().map(|found| found.makespan).fold(f64::INFINITY, f64::min);
        let caps = useful_within(network, fair_s);
        Ok(Self { evaluator, instance: built.instance, baselines, caps })
    }
}

/// Adapter from a [`WrittenProgram`] to the contract of model files.
pub(super) struct ProgramOf<P>(pub P);

impl<P: WrittenProgram> Modelled<Training> for ProgramOf<P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn params(&self) -> Vec<ParamInfo> {
        self.0.params()
    }

    fn model(&self, scenario: &Scenario<Training>, params: &Params) -> Result<Model, MethodError> {
        let written = self.0.write(&ModelInput::of(scenario)?, params)?;
        Ok(P::model(&written).clone())
    }

    fn plan(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<TrainingResult>, MethodError> {
        let input = ModelInput::of(scenario)?;
        let written = self.0.write(&input, params)?;
        let model = P::model(&written);
        let columns = model.columns();
        if values.len() != columns {
            return Err(MethodError::Failed(format!(
                "the point has {} values, but the model has {columns} columns; use a point of the exported model",
                values.len()
            )));
        }
        if let Some(broken) = model.first_broken(values, TOLERANCE) {
            return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
        }
        Ok(P::plan(&input.evaluator, &written, params, values))
    }
}
