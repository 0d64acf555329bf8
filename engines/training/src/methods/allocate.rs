//! `prop-alloc`, `sqrt-alloc`, `iter-halve`: the traffic matrix decides, fair rates judge.

use super::session::{Opened, Session};
use crate::baselines::Baseline;
use crate::evaluate::Rates;
use crate::kind::Training;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::scenario::Scenario;

/// A traffic-matrix method.
pub(super) struct Allocate(pub Baseline);

impl Method<Training> for Allocate {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: self.0.name(),
            help: match self.0 {
                Baseline::Proportional => "Circuits in proportion to the traffic of the links.",
                Baseline::SquareRoot => "Circuits in proportion to the square root of the traffic.",
                Baseline::IterativeHalving => {
                    "Circuits one at a time to the link with most traffic, which then counts half."
                }
            },
            proves: false,
            hot_start: false,
            params: Vec::new(),
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Training>,
        _params: &Params,
        cx: &mut Context<'_, Training>,
    ) -> Result<Outcome, MethodError> {
        let mut session = match Session::open(&scenario.body, Rates::Fair, false, cx)? {
            Opened::Session(session) => session,
            Opened::Done(outcome) => return Ok(outcome),
        };
        session.cx.phase("allocation", self.0.name());
        let x = self.0.allocate(&session.evaluator.network);
        session.evaluate(x, self.0.name())?;
        Ok(Outcome::done(Status::Heuristic))
    }
}
