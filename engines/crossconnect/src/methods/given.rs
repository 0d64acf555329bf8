//! Scenarios whose circuits are given port by port: only one plan is possible then, every method returns it, and method
//! parameters have no effect.

use crate::Crossconnect;
use crate::model::assignment::Assignment;
use crate::rollout::assemble;
use crate::scenario::{CrossconnectScenario, GIVEN};
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problem, counted};
use lightbay_core::scenario::Scenario;

/// Wraps a method: if the circuits are given port by port, it returns the given plan instead of searching.
pub(super) struct UnlessGiven<M>(pub(super) M);

impl<M: Method<Crossconnect>> Method<Crossconnect> for UnlessGiven<M> {
    fn info(&self) -> MethodInfo {
        self.0.info()
    }

    fn idle(&self, scenario: &CrossconnectScenario, params: &Params) -> Vec<Problem> {
        if !scenario.is_placed() {
            return self.0.idle(scenario, params);
        }
        let info = self.0.info();
        let names = info.params.iter().map(|knob| &*knob.name).chain(["gap"]);
        let remedy = "leave it out, or create the scenario with keep_ports=false";
        without_effect(names, GIVEN, remedy).collect()
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        if !scenario.body.is_placed() {
            return self.0.solve(scenario, params, cx);
        }
        given(&self.0.info(), &scenario.body, cx)
    }
}

fn given(
    info: &MethodInfo,
    scenario: &CrossconnectScenario,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Outcome, MethodError> {
    let circuits = counted(scenario.placed.len() as u64, "circuit is", "circuits are");
    cx.phase("ports", "every circuit gets the ports that the scenario gives");
    cx.note(
        Severity::Info,
        format!("{circuits} given port by port: only one plan is possible, and the method only chooses its batches"),
    );
    let candidate = assemble::candidate(scenario, &Assignment::default());
    let removed = candidate.value;
    if info.proves {
        cx.bound(removed);
    }
    cx.incumbent(removed, 0.0, "given port by port", move || candidate)?;
    Ok(Outcome::done(if info.proves { Status::Optimal } else { Status::Heuristic }))
}
