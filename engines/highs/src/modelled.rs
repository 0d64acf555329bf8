//! Methods that solve one integer program: export of the program for other solvers, and import of their solutions.

use crate::model::Model;
use lightbay_core::kind::{Candidate, Kind};
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::scenario::Scenario;
use std::sync::Arc;

/// A method whose problem is one model, and whose plan can be read from a point of the model.
pub trait Modelled<K: Kind>: Send + Sync {
    /// Returns the name of the method.
    fn name(&self) -> &'static str;

    /// Returns the parameters that change the model; a subset of the method's own parameters.
    fn params(&self) -> Vec<ParamInfo>;

    /// Returns the model of a scenario.
    ///
    /// # Errors
    /// If the method does not support the scenario or a parameter, or the run must stop.
    fn model(&self, scenario: &Scenario<K>, params: &Params) -> Result<Model, MethodError>;

    /// Returns the plan that a point of the model represents; a point has one value per column.
    ///
    /// # Errors
    /// If the point violates the model (the error names the constraint), or the method does not support the scenario.
    fn plan(
        &self,
        scenario: &Scenario<K>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<K::Result>, MethodError>;
}

/// A kind whose methods may be exported as models.
pub trait Models: Kind {
    /// Returns those methods of the kind that solve one model; other solvers can then solve this model too.
    fn models() -> Vec<Arc<dyn Modelled<Self>>> {
        Vec::new()
    }
}
