//! `simulate`: what given circuits are worth.

use super::carry;
use super::session::{Opened, Session};
use crate::evaluate::Rates;
use crate::kind::Training;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;

/// Simulation of one circuit vector.
pub(super) struct Simulate;

impl Method<Training> for Simulate {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "simulate",
            help: "One iteration on given circuits.",
            proves: false,
            hot_start: true,
            params: vec![
                ParamInfo::int_list(
                    "topology",
                    1,
                    1_000_000,
                    "Circuits of every link in link order; those of the hot start if not given.",
                ),
                ParamInfo::choice(
                    "rates",
                    &["fair", "level"],
                    "fair",
                    "Rates: max-min fair, or the task that dictates the end first.",
                ),
            ],
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Training>,
        params: &Params,
        cx: &mut Context<'_, Training>,
    ) -> Result<Outcome, MethodError> {
        let rates = if params.text("rates") == Some("level") { Rates::Level } else { Rates::Fair };
        let mut session = match Session::open(&scenario.body, rates, false, cx)? {
            Opened::Session(session) => session,
            Opened::Done(outcome) => return Ok(outcome),
        };
        let x = circuits(&session, params)?;
        session.cx.phase("simulation", format!("{x:?}"));
        session.evaluate(x, "given circuits")?;
        Ok(Outcome::done(Status::Heuristic))
    }
}

/// The circuits asked for, or everything that is wrong with them.
fn circuits(session: &Session<'_, '_>, params: &Params) -> Result<Vec<u32>, Problems> {
    let network = &session.evaluator.network;
    let links = network.links();
    let given: Option<Vec<u32>> = params
        .ints("topology")
        .map(|values| values.into_iter().map(|value| u32::try_from(value).unwrap_or(0)).collect());
    let of_plan = || carry::circuits(&session.cx.hot_start()?.plan.plan().result, links);
    let Some(x) = given.or_else(of_plan) else {
        let example = vec!["1"; links].join(",");
        return Err(Problem::new(
            "topology",
            "is missing",
            format!("give the circuits of all {links} links, such as topology={example}, or a plan of this scenario to start from"),
        )
        .into());
    };
    let mut problems = Problems::new();
    if x.len() != links {
        problems.add(
            "topology",
            format!("has {} entries, the scenario has {links} links", x.len()),
            "give one number for each link, in link order",
        );
        return Err(problems);
    }
    for (link, _) in x.iter().enumerate().filter(|(_, circuits)| **circuits == 0) {
        problems.add(format!("topology[{link}]"), "is 0", "give every link at least 1 circuit");
    }
    for (pod, free) in network.budget.free(&x).into_iter().enumerate().filter(|(_, free)| *free < 0) {
        let ports = network.budget.ports(pod).unwrap_or(0);
        problems.add(
            "topology",
            format!("takes {} ports of pod {pod}, which has {ports}", i64::from(ports) - free),
            format!("take circuits from the links of pod {pod}"),
        );
    }
    problems.into_result(x)
}
