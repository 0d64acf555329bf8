//! Scenarios whose circuits are given port by port: every method then has one plan to hand over, and no knob of it acts.

use crate::assemble;
use crate::assignment::Assignment;
use crate::kind::Crossconnect;
use crate::scenario::CrossconnectScenario;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problems, counted};
use lightbay_core::scenario::Scenario;

/// A method of choice: where nothing is left to choose it hands over what is given.
pub(super) struct UnlessGiven<M>(pub(super) M);

impl<M: Method<Crossconnect>> Method<Crossconnect> for UnlessGiven<M> {
    fn info(&self) -> MethodInfo {
        self.0.info()
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
        let info = self.0.info();
        idle(&info, params)?;
        given(&info, &scenario.body, cx)
    }
}

/// Refuses knobs of a method that has nothing to choose.
fn idle(info: &MethodInfo, params: &Params) -> Result<(), Problems> {
    let mut problems = Problems::new();
    for knob in &info.params {
        if params.get(&knob.name) != knob.default.as_ref() {
            problems.add(
                knob.name.to_string(),
                "has no effect: the scenario gives its circuits port by port, so that nothing is left to choose",
                "leave it out, or make the scenario with keep_ports=false",
            );
        }
    }
    problems.into_result(())
}

fn given(
    info: &MethodInfo,
    scenario: &CrossconnectScenario,
    cx: &mut Context<'_, Crossconnect>,
) -> Result<Outcome, MethodError> {
    let circuits = counted(scenario.placed.len() as u64, "circuit is", "circuits are");
    cx.phase("ports", "every circuit goes where the scenario gives it");
    cx.note(
        Severity::Info,
        format!("{circuits} given port by port: one plan is possible, and only its batches are chosen"),
    );
    let candidate = assemble::candidate(scenario, &Assignment::default());
    let removed = candidate.value;
    if info.proves {
        cx.bound(removed);
    }
    cx.incumbent(removed, 0.0, "given port by port", move || candidate)?;
    Ok(Outcome::done(if info.proves { Status::Optimal } else { Status::Heuristic }))
}
