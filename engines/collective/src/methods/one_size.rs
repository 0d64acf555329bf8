//! Methods that plan only the buffer size that a scenario sets, and refuse lists of sizes.

use crate::Collective;
use crate::scenario::CollectiveScenario;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;

/// Refuses a scenario that lists sizes.
pub(super) fn refuse_sizes(scenario: &CollectiveScenario, method: &str) -> Result<(), Problems> {
    match scenario.demand.sizes_bytes.len() {
        0 => Ok(()),
        sizes => {
            let message = format!("lists {sizes} sizes, but {method} plans only one");
            Err(Problem::new("demand.sizes_bytes", message, "solve with auto, or set sizes=none").into())
        }
    }
}

/// A method for a single size.
pub(super) struct OneSize<M>(pub(super) M);

impl<M: Method<Collective>> Method<Collective> for OneSize<M> {
    fn info(&self) -> MethodInfo {
        self.0.info()
    }

    fn idle(&self, scenario: &CollectiveScenario, params: &Params) -> Vec<Problem> {
        let listed = (!scenario.demand.sizes_bytes.is_empty()).then_some("sizes");
        let why = format!("for {}, which plans only the size output_buffer_bytes", self.0.info().name);
        let mut idle: Vec<Problem> = without_effect(listed, &why, "omit it, or solve with auto").collect();
        idle.extend(self.0.idle(scenario, params));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        refuse_sizes(&scenario.body, self.0.info().name)?;
        self.0.solve(scenario, params, cx)
    }
}
