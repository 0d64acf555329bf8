//! `prop-alloc`, `sqrt-alloc`, `iter-halve`: circuits from the traffic matrix, evaluated at fair rates.

use super::approach::SessionMethod;
use super::idle;
use super::session::Session;
use crate::scenario::TrainingScenario;
use crate::search::baselines::Baseline;
use crate::simulate::evaluate::Rates;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;

/// A method that allocates circuits from the traffic matrix.
pub(super) struct Allocate(pub Baseline);

impl SessionMethod for Allocate {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: self.0.name(),
            help: match self.0 {
                Baseline::Proportional => "Sets circuits in proportion to the traffic of the links.",
                Baseline::SquareRoot => "Sets circuits in proportion to the square root of the traffic.",
                Baseline::IterativeHalving => {
                    "Gives each circuit to the link with the largest weight; a weight starts at the traffic of its link and halves with each of its circuits."
                }
            },
            proves: false,
            hot_start: false,
            params: Vec::new(),
        }
    }

    fn rates(&self, _params: &Params) -> Rates {
        Rates::Fair
    }

    fn idle(&self, _scenario: &TrainingScenario, _params: &Params) -> Vec<Problem> {
        idle::seed(&self.info())
    }

    fn run(&self, session: &mut Session<'_, '_>, _params: &Params) -> Result<Outcome, MethodError> {
        session.cx.phase("allocation", self.0.name());
        let x = self.0.allocate(&session.evaluator.network);
        session.evaluate(x, self.0.name())?;
        Ok(Outcome::done(Status::Heuristic))
    }
}
