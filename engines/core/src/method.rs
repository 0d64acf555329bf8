//! The trait of a method: a blocking computation that gets a scenario, parameters and a context, and nothing else.

use crate::checked::Violation;
use crate::context::{Context, Stop};
use crate::kind::Kind;
use crate::param::{ParamInfo, Params};
use crate::plan::{Limit, Status};
use crate::problem::{Problem, Problems};
use crate::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;

/// Description of a method, with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MethodInfo {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// Description, in one sentence.
    pub help: &'static str,
    /// `true` if the method can prove a bound.
    pub proves: bool,
    /// `true` if the method can start from a plan and adopt better plans from other runs.
    pub hot_start: bool,
    /// Parameters that only this method has (limits, seed and threads are common to all methods).
    pub params: Vec<ParamInfo>,
}

/// Outcome of a method that ended by itself. The best plan of the method is the best incumbent of the context.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The method is done, with the best plan found, if there is one.
    Done {
        /// Status of the best plan.
        status: Status,
        /// Limit of the method itself that ended the search (work, stall).
        limit: Option<Limit>,
    },
    /// No plan exists; contains the reason, in terms of the problem.
    Infeasible(String),
    /// The objective is unbounded; contains the reason, in terms of the problem.
    Unbounded(String),
}

impl Outcome {
    /// Creates an outcome with this status and without a limit.
    pub const fn done(status: Status) -> Self {
        Self::Done { status, limit: None }
    }
}

/// Reason that a method did not end by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// The run was stopped. This is not a failure: the best plan is kept.
    #[error("stopped")]
    Stopped(Stop),
    /// An external event ended the work, such as a killed solver process; the text describes it. The best plan is kept,
    /// as after a stop; without a plan the run has failed.
    #[error("{0}")]
    CutShort(String),
    /// The method does not support the scenario or a parameter.
    #[error("{0}")]
    Invalid(Problems),
    /// The scenario has no plan; contains the reason, in terms of the problem. Ends the run like
    /// [`Outcome::Infeasible`].
    #[error("{0}")]
    Infeasible(String),
    /// The checker refused a plan of the method: a defect of the method.
    #[error("the checker found {} violations in a candidate", .0.len())]
    Rejected(Vec<Violation>),
    /// Any other failure; contains the reason and the remedy.
    #[error("{0}")]
    Failed(String),
}

impl From<Stop> for MethodError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<Problems> for MethodError {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

/// Returns, for [`Method::idle`], a problem for each parameter in `names`: the parameter has no effect. `why` follows
/// the words "has no effect" in the message.
pub fn without_effect<'a>(
    names: impl IntoIterator<Item = &'a str>,
    why: &'a str,
    remedy: &'a str,
) -> impl Iterator<Item = Problem> + 'a {
    let names: Vec<&str> = names.into_iter().collect();
    names.into_iter().map(move |name| Problem::new(name, format!("has no effect {why}"), remedy))
}

/// An algorithm of kind `K`.
pub trait Method<K: Kind>: Send + Sync {
    /// Returns the description of the method, with its parameters.
    fn info(&self) -> MethodInfo;

    /// Returns a problem for each parameter of the method or of the scenario that has no effect, because of the values
    /// of other parameters or because of the scenario. Its path is the name of the parameter, its message gives the
    /// reason. `params` contains all values, including defaults.
    fn idle(&self, _scenario: &K::Scenario, _params: &Params) -> Vec<Problem> {
        Vec::new()
    }

    /// Runs the method until it is done or must stop. Calls [`Context::checkpoint`] at least every 5 ms of work and
    /// passes every better plan to [`Context::incumbent`].
    ///
    /// # Errors
    /// [`MethodError`]; a stop is passed on with `?`.
    fn solve(
        &self,
        scenario: &Scenario<K>,
        params: &Params,
        cx: &mut Context<'_, K>,
    ) -> Result<Outcome, MethodError>;
}
