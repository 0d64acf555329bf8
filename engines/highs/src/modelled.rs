//! Methods that solve one integer program: the program itself, for other solvers, and the way back.

use crate::model::Model;
use lightbay_core::kind::{Candidate, Kind};
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// A method whose question can be written as one model and whose answer can be read from a point of it.
pub trait Modelled<K: Kind>: Send + Sync {
    /// Name of the method.
    fn name(&self) -> &'static str;

    /// The parameters that shape the model; a subset of the method's own.
    fn params(&self) -> Vec<ParamInfo>;

    /// The model of a scenario.
    ///
    /// # Errors
    /// If the scenario or a parameter does not suit the method, or the run was asked to stop.
    fn model(&self, scenario: &Scenario<K>, params: &Params) -> Result<Model, MethodError>;

    /// The plan that a point of that model represents: one value per column.
    ///
    /// # Errors
    /// If the point is none of the model (what it breaks is named), or the scenario does not suit the method.
    fn plan(
        &self,
        scenario: &Scenario<K>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<K::Result>, MethodError>;
}

/// A kind that says which of its methods can be written as models.
pub trait Models: Kind {
    /// Its methods whose question is one model, for other solvers.
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        Vec::new()
    }
}
