//! `evaluate`: metrics, throughput and routes of a given pod.

use super::finish::{self, Chosen, Torus};
use super::idle;
use super::{begin, settings};
use crate::Tpu;
use crate::model::pod::{MAX_CUBES, SWITCHES};
use crate::model::topology::Topology;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::context::Context;
use lightbay_core::event::HotStartFate;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// Evaluates the topology of the scenario, or of the plan that the run is started from.
pub(super) struct Evaluate;

impl Method<Tpu> for Evaluate {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "evaluate",
            help: "Metrics, certified throughput and routes of the given topology, without changing it.",
            proves: false,
            hot_start: true,
            params: params(),
        }
    }

    fn idle(&self, scenario: &TpuScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::finishing(scenario, params);
        idle.extend(idle::without_torus("evaluate", scenario));
        idle.extend(idle::without_group("evaluate"));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Tpu>,
        params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let body = &scenario.body;
        let chosen = match body.named_topology().map_err(begin::invalid)? {
            Some(pod) => Chosen { torus: torus(body)?, ..Chosen::new(pod, body.topology.word()) },
            None => of_plan(body, cx)?,
        };
        let chosen = match params.ints("voltages") {
            Some(_) if body.topology != TopologyChoice::Design => {
                return Err(begin::invalid(Problem::new(
                    "voltages",
                    format!(
                        "are given, but the topology of the scenario ('{}') fixes the wiring",
                        body.topology.word()
                    ),
                    "set topology=design and start from a plan of that scenario, or omit the voltages",
                )));
            }
            Some(voltages) => edited(chosen, &voltages).map_err(begin::invalid)?,
            None => chosen,
        };
        begin::announce(body, cx);
        finish::finish(chosen, body, cx)?;
        Ok(Outcome::done(Status::Heuristic))
    }
}

fn params() -> Vec<ParamInfo> {
    let mut params = settings::params(false);
    let most = MAX_CUBES as i64 - 1;
    params.push(
        ParamInfo::int_list(
            "voltages",
            0,
            most,
            "Group elements of the 48 switches, to try changes of a symmetric topology by hand.",
        )
        .effect(Effect::Warm),
    );
    params
}

/// Replaces the voltages of a symmetric pod; its group stays the same.
fn edited(chosen: Chosen, voltages: &[i64]) -> Result<Chosen, Problem> {
    let refuse = |what: String, remedy: &str| Problem::new("voltages", what, remedy.to_owned());
    let Some(symmetry) = chosen.topology.symmetry() else {
        return Err(refuse(
            "are given for a topology without symmetry".to_owned(),
            "start from a symmetric pod, or give the states of the switches as topology",
        ));
    };
    let order = symmetry.group.order();
    let mut voltage = [0; SWITCHES];
    if voltages.len() != SWITCHES {
        return Err(refuse(
            format!("has {} entries", voltages.len()),
            "give one entry for each of the 48 switches",
        ));
    }
    for (switch, (to, &given)) in voltage.iter_mut().zip(voltages).enumerate() {
        *to = u16::try_from(given).ok().filter(|&given| usize::from(given) < order).ok_or_else(|| {
            refuse(
                format!("gives switch {switch} the element {given}"),
                &format!("the group has the elements 0 to {}", order - 1),
            )
        })?;
    }
    if voltage == symmetry.voltage {
        return Ok(chosen);
    }
    let topology = Topology::symmetric(symmetry.group.clone(), voltage);
    // With other voltages the pod is not a torus, but the lengths of the original pod are still a good start.
    Ok(Chosen { lengths: chosen.lengths, ..Chosen::new(topology, "edit") })
}

/// The torus that the scenario names, if its topology is a torus.
pub(super) fn torus(scenario: &TpuScenario) -> Result<Option<Torus>, MethodError> {
    Ok(match scenario.topology {
        TopologyChoice::Pt => Some(Torus { shape: scenario.pt_shape(), twisted: false }),
        TopologyChoice::Pdtt => {
            Some(Torus { shape: scenario.pdtt_shape().map_err(begin::invalid)?, twisted: true })
        }
        TopologyChoice::Design | TopologyChoice::Given(_) => None,
    })
}

/// The topology of the plan that the run was started from.
fn of_plan(scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) -> Result<Chosen, MethodError> {
    let Some(hot) = begin::hot_start(scenario, cx) else {
        return Err(begin::invalid(Problem::new(
            "topology",
            "is 'design', and there is no plan to start from",
            "set the topology to 'pt', 'pdtt' or the topology of a plan, or start from a plan with the same \
             number of cubes",
        )));
    };
    cx.hot_start_fate(HotStartFate::Accepted, "the topology of the plan is evaluated", Some(hot.value), None);
    Ok(Chosen { lengths: hot.lengths, ..Chosen::new(hot.topology, "hot start") })
}

#[cfg(test)]
mod tests;
