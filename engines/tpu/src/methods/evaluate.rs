//! `evaluate`: what a given pod is worth.

use super::finish::{self, Chosen, Torus};
use crate::kind::Tpu;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::context::Context;
use lightbay_core::event::HotStartFate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// Evaluation of the scenario's topology, or of that of the plan it is started from.
pub(super) struct Evaluate;

impl Method<Tpu> for Evaluate {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "evaluate",
            help: "Metrics, certified throughput and routes of the given topology, which stays as it is.",
            proves: false,
            hot_start: true,
            params: finish::params(false),
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Tpu>,
        _params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let body = &scenario.body;
        let chosen = match body.named_topology().map_err(finish::invalid)? {
            Some(pod) => Chosen { torus: torus(body)?, ..Chosen::new(pod, body.topology.word()) },
            None => of_plan(body, cx)?,
        };
        finish::announce(body, cx);
        finish::finish(chosen, body, cx)?;
        Ok(Outcome::done(Status::Heuristic))
    }
}

fn torus(scenario: &TpuScenario) -> Result<Option<Torus>, MethodError> {
    Ok(match scenario.topology {
        TopologyChoice::Pt => Some(Torus { shape: scenario.pt_shape(), twisted: false }),
        TopologyChoice::Pdtt => {
            Some(Torus { shape: scenario.pdtt_shape().map_err(finish::invalid)?, twisted: true })
        }
        TopologyChoice::Design | TopologyChoice::Given(_) => None,
    })
}

/// The topology of the plan that the run was started from.
fn of_plan(scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) -> Result<Chosen, MethodError> {
    let Some(hot) = finish::hot_start(scenario, cx) else {
        return Err(finish::invalid(Problem::new(
            "topology",
            "is 'design', and there is no plan to start from",
            "give 'pt', 'pdtt' or the topology of a plan, or a plan of as many cubes as hot start",
        )));
    };
    cx.hot_start_fate(HotStartFate::Accepted, "its topology is evaluated", Some(hot.value), None);
    Ok(Chosen { lengths: hot.lengths, ..Chosen::new(hot.topology, "hot start") })
}
