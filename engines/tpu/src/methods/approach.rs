//! First steps of every method on the optimisation model: checks that the method supports the scenario, chooses the
//! group whose elements are the voltages of the switches, and reports the bounds that are known in advance.

use super::{begin, idle};
use crate::Tpu;
use crate::model::group::Group;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// A method on the optimisation model, see [`OnModel`].
pub(super) trait ModelMethod: Send + Sync {
    /// Name of the method.
    const NAME: &'static str;

    /// Maximum number of cubes of the pods that the method designs.
    const MOST_CUBES: usize;

    /// Returns the description of the method with its parameters.
    fn info(&self) -> MethodInfo;

    /// Designs a pod of the scenario's size, symmetric under the group.
    ///
    /// # Errors
    /// As [`Method::solve`].
    fn run(
        &self,
        group: Group,
        scenario: &TpuScenario,
        params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError>;
}

/// Adapter that makes a [`Method`] of a [`ModelMethod`]: prepares the group and runs the model method with it.
pub(super) struct OnModel<A>(pub A);

impl<A: ModelMethod> Method<Tpu> for OnModel<A> {
    fn info(&self) -> MethodInfo {
        self.0.info()
    }

    fn idle(&self, scenario: &TpuScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::finishing(scenario, params);
        idle.extend(idle::without_torus(A::NAME, scenario));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Tpu>,
        params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let body = &scenario.body;
        let group = group_of::<A>(body)?;
        begin::announce(body, cx);
        self.0.run(group, body, params, cx)
    }
}

/// Checks that a method supports a scenario and returns its group.
///
/// # Errors
/// The scenario names a topology, so there is nothing to design; the pod is too large; or the order of the group is not
/// the number of cubes.
pub(super) fn group_of<A: ModelMethod>(scenario: &TpuScenario) -> Result<Group, MethodError> {
    if scenario.topology != TopologyChoice::Design {
        return Err(begin::other_topology(A::NAME, scenario));
    }
    if usize::from(scenario.cubes) > A::MOST_CUBES {
        return Err(begin::invalid(Problem::new(
            "cubes",
            format!("is {}, but '{}' supports at most {}", scenario.cubes, A::NAME, A::MOST_CUBES),
            "use 'tons-fast', or fewer cubes",
        )));
    }
    scenario.group().map_err(begin::invalid)
}
