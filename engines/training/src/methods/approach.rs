//! Common start of all methods: compiles the scenario, and makes the plan if nothing crosses pods.

use super::idle;
use super::session::{OpenedTask, Session};
use crate::Training;
use crate::scenario::TrainingScenario;
use crate::simulate::evaluate::Rates;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// A method that works on a compiled scenario, see [`InSession`].
pub(super) trait SessionMethod: Send + Sync {
    /// Returns the description of the method with its parameters.
    fn info(&self) -> MethodInfo;

    /// Rate rule under which the method evaluates circuits.
    fn rates(&self, _params: &Params) -> Rates {
        Rates::Best
    }

    /// Returns `true` if the method can change circuits within an iteration.
    fn moves(&self) -> bool {
        false
    }

    /// Returns a problem for each parameter that has no effect, either for this scenario or because of the values of
    /// other parameters.
    fn idle(&self, _scenario: &TrainingScenario, _params: &Params) -> Vec<Problem> {
        Vec::new()
    }

    /// Plans a scenario in which some transfer crosses pods.
    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError>;
}

/// Adapter that opens a [`Session`] and runs a [`SessionMethod`] in it.
pub(super) struct InSession<A>(pub A);

impl<A: SessionMethod> Method<Training> for InSession<A> {
    fn info(&self) -> MethodInfo {
        self.0.info()
    }

    fn idle(&self, scenario: &TrainingScenario, params: &Params) -> Vec<Problem> {
        let info = self.0.info();
        let mut idle = idle::nothing_to_plan(scenario, &info);
        idle.extend(idle::gap(&info));
        if !self.0.moves() {
            idle.extend(idle::moves(&info));
        }
        // If nothing is planned, all parameters are without effect, and further reasons do not matter.
        let own = self.0.idle(scenario, params);
        let known: Vec<String> = idle.iter().map(|problem| problem.path.clone()).collect();
        idle.extend(own.into_iter().filter(|problem| !known.contains(&problem.path)));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        cx: &mut Context<'_, Training>,
    ) -> Result<Outcome, MethodError> {
        if !self.0.moves() && scenario.body.reconfiguration().is_some() {
            return Err(MethodError::Invalid(stays(self.info().name).into()));
        }
        match Session::open(&scenario.body, self.0.rates(params), self.info().proves, cx)? {
            OpenedTask::Session(mut session) => self.0.run(&mut session, params),
            OpenedTask::Done(outcome) => Ok(outcome),
        }
    }
}

/// Returns the problem that the scenario lets circuits change within an iteration, which the method does not support.
fn stays(name: &str) -> Problem {
    Problem::new(
        "reconfiguration",
        format!("lets circuits change within an iteration, which `{name}` does not support"),
        "use the method `delta-phases`, or set switch=none",
    )
}
