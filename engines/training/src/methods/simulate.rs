//! `simulate`: evaluates given circuits.

use super::approach::SessionMethod;
use super::session::Session;
use super::{given, idle};
use crate::scenario::TrainingScenario;
use crate::search::carry;
use crate::simulate::evaluate::Rates;
use lightbay_core::event::HotStartFate;
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problem, Problems};

/// The method `simulate`: simulation of one circuit allocation.
pub(super) struct Simulate;

impl SessionMethod for Simulate {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "simulate",
            help: "Simulates one iteration on given circuits.",
            proves: false,
            hot_start: true,
            params: vec![
                ParamInfo::int_list(
                    "topology",
                    1,
                    1_000_000,
                    "Circuits of every link, in link order. Default: the circuits of the hot start.",
                ),
                ParamInfo::choice(
                    "rates",
                    &["fair", "level"],
                    "fair",
                    "Rates of transfers: max-min fair, or priority for the task that determines the end.",
                ),
            ],
        }
    }

    fn rates(&self, params: &Params) -> Rates {
        if params.text("rates") == Some("level") { Rates::Level } else { Rates::Fair }
    }

    fn idle(&self, _scenario: &TrainingScenario, _params: &Params) -> Vec<Problem> {
        idle::seed(&self.info())
    }

    fn run(&self, session: &mut Session<'_, '_>, params: &Params) -> Result<Outcome, MethodError> {
        let x = match given::circuits(&session.evaluator.network, &session.instance, params, "topology")? {
            Some(x) => {
                if session.cx.hot_start().is_some() {
                    let why = "the parameter `topology` gives the circuits".to_owned();
                    session.cx.hot_start_fate(HotStartFate::Rejected, why, None, None);
                }
                x
            }
            None => of_plan(session)?,
        };
        session.cx.phase("simulation", format!("{x:?}"));
        session.evaluate(x, "given circuits")?;
        Ok(Outcome::done(Status::Heuristic))
    }
}

/// Returns the circuits of the hot-start plan.
fn of_plan(session: &Session<'_, '_>) -> Result<Vec<u32>, Problems> {
    let links = session.evaluator.network.links();
    let hot = session.cx.hot_start().and_then(|hot| carry::listed(&hot.plan.plan().result, links));
    hot.map_or_else(
        || {
            let example = vec!["1"; links].join(",");
            Err(Problem::new(
                "topology",
                "is missing",
                format!("give the circuits of all {links} links, such as topology={example}, or a plan of this scenario to start from"),
            )
            .into())
        },
        |x| given::sound(&session.evaluator.network, &session.instance, x, "topology"),
    )
}
