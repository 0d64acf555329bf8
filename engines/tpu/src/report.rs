//! Sections that explain pods, their routes and faults.
//!
//! | module | content |
//! |---|---|
//! | [`pod`] | size, wiring and requirements of a scenario |
//! | [`throughput`] | concurrent flow, compared with tori and with the bounds on any pod of the size |
//! | [`routes`] | hops on virtual channels, and the most loaded links |
//! | [`faults`], [`flows`] | load and hops for each failed switch, routes over the most loaded link |
//! | [`sizes`] | throughput per chip over sizes |
//! | [`simulation`] | delivered load and latency of simulated routes |
//! | [`differences`] | differences of two pods in addition to their figures |
//! | [`words`] | names of chips, links and switches |

pub(crate) mod differences;
mod faults;
mod flows;
mod pod;
mod routes;
mod simulation;
mod sizes;
#[cfg(test)]
mod tests;
mod throughput;
pub mod words;

use crate::Tpu;
use crate::analysis::{Yardsticks, estimate};
use crate::plan::{Routing, TpuResult};
use crate::scenario::TpuScenario;
use faults::{Exposure, FaultSweep};
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::problem::Problems;
use lightbay_core::report::{PlanBeside, Report, Section, SectionInfo, Surroundings, Unavailable};
use lightbay_core::scenario::Scenario;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;
use throughput::Compared;

/// Number of rows of long tables that an overview shows.
const OVERVIEW: usize = 6;
/// Note on claimed figures of routes that the plan does not list.
const STATED: &str = "Claimed, not checked: the routes are not in the plan.";

/// Reason that a plan has no routes although its method computes routes.
pub const NOT_ROUTED: &str = "the run of this plan ended without routes";

/// All sections of reports on TPU pods.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario(
        "pod",
        "Pod",
        "How large is the pod, how is it wired, and what must its routes satisfy?",
    )
    .forms(pod::FORMS),
    SectionInfo::of_scenario(
        "throughput",
        "Throughput",
        "How does the throughput compare with tori of the same size and with the upper bounds?",
    )
    .forms(throughput::FORMS)
    .in_session(),
    SectionInfo::of_plan(
        "channels",
        "Virtual channels",
        "How evenly are hops spread over the virtual channels?",
    ),
    SectionInfo::of_plan("hottest", "Fullest links", "Which links carry the most routes?").items("link"),
    SectionInfo::of_scenario("faults", "Failed switches", "What does each single failed switch cost?")
        .forms(faults::FORMS)
        .items("switch")
        .in_session(),
    SectionInfo::of_scenario("sizes", "Sizes", "How do designs compare with tori at each size?").in_session(),
    SectionInfo::of_plan(
        "simulation",
        "Simulation",
        "What load do the routes deliver, and at which latency?",
    )
    .in_session(),
];

/// The report of a scenario or of a plan for it.
pub(crate) struct TpuReport<'a> {
    scenario: &'a TpuScenario,
    result: Option<&'a TpuResult>,
    plan: Option<&'a Plan<Tpu>>,
    /// Name of the group of a symmetric pod.
    group: Option<String>,
    yardsticks: OnceCell<Arc<Yardsticks>>,
}

impl<'a> TpuReport<'a> {
    /// Prepares the data that all sections need.
    ///
    /// # Errors
    /// A topology or a group that is not valid.
    pub(crate) fn new(scenario: &'a Scenario<Tpu>, plan: Option<&'a Plan<Tpu>>) -> Result<Self, Problems> {
        let body = &scenario.body;
        let wired = match plan {
            Some(plan) => Some(plan.result.topology.topology()?),
            None => body.named_topology()?,
        };
        let group = match &wired {
            Some(wired) => wired.symmetry().map(|symmetry| symmetry.group.name().to_owned()),
            None if body.group.is_some() => Some(body.group()?.name().to_owned()),
            None => None,
        };
        let result = plan.map(|plan| &plan.result);
        Ok(Self { scenario: body, result, plan, group, yardsticks: OnceCell::new() })
    }

    fn yardsticks(&self) -> &Yardsticks {
        let scenario = self.scenario;
        self.yardsticks.get_or_init(|| Yardsticks::known(usize::from(scenario.cubes), scenario.job_shape))
    }

    fn result(&self) -> Result<&'a TpuResult, Unavailable> {
        self.result.ok_or_else(|| {
            Unavailable::absent("this section needs a plan", "solve the scenario and show the plan")
        })
    }

    /// The fault sweep of the plan, or the cases that a run has computed so far.
    fn faults(&self, beside: &Surroundings, deadline: Deadline) -> Result<Section, Unavailable> {
        let failed = &self.scenario.failed_ocs;
        let of_run = || FaultSweep::of_run(beside.run.as_ref()?, self.result, failed);
        if let Some(sweep) = self.result.and_then(|result| FaultSweep::of(result, failed)).or_else(of_run) {
            let settings = self.scenario.simulate.clone().unwrap_or_default();
            return Ok(sweep.section(&settings.allocator.named(settings.speedup)));
        }
        let asked = self.scenario.tolerated_ocs_faults > 0;
        // On a screen, the pane shows what each switch carries until a sweep is requested.
        let is_on_screen = !beside.plans.is_empty() || beside.run.is_some();
        let working = beside.run.as_ref().filter(|run| run.is_active);
        if (!asked || working.is_some()) && is_on_screen && self.result.is_some() {
            return Ok(self.exposure(deadline)?.section(asked));
        }
        Err(match working.filter(|_| asked) {
            Some(run) => {
                let phase = run.phases.last().map_or_else(String::new, |(_, phase)| phase.name.clone());
                Unavailable::absent("no failed switch was tried yet", format!("{} now: {phase}", run.method))
            }
            None if asked && self.plan.is_some() && !beside.plans.is_empty() => {
                let because = "the plan has no fault sweep; its run ended before the sweep";
                Unavailable::absent(because, "solve it again")
            }
            None if asked => {
                Unavailable::absent("no failed switch was tried yet", "a solve tries each switch in turn")
            }
            None => Unavailable::absent(
                "no fault sweep was requested",
                "solve with tolerated_ocs_faults=1 or with_faults=true",
            ),
        })
    }

    /// The hops over each switch.
    fn exposure(&self, deadline: Deadline) -> Result<Exposure, Unavailable> {
        let pod = self.result()?.topology.topology().map_err(Unavailable::failed)?;
        let (routing, _) = self.routing_or_estimate(deadline)?;
        let listed = Some(&*routing).filter(|routing| !routing.routes.is_empty());
        let routing = listed.ok_or_else(|| {
            Unavailable::absent("the plan does not list its routes", "solve with with_routes=true")
        })?;
        Ok(Exposure::of(&pod, routing, &self.scenario.failed_ocs))
    }

    /// Returns the plans and the run of the session; outside of a session, only the explained plan.
    fn or_alone<'b>(&self, beside: &'b Surroundings) -> Cow<'b, Surroundings> {
        match self.plan.filter(|_| beside.plans.is_empty()) {
            Some(plan) => {
                let plans = vec![PlanBeside::alone(&plan.header())];
                Cow::Owned(Surroundings { plans, run: beside.run.clone() })
            }
            None => Cow::Borrowed(beside),
        }
    }

    /// Returns `true` if the method of the plan computes routes.
    fn is_to_route(&self) -> bool {
        let routing = self.plan.and_then(|plan| plan.parameters.get("routing"));
        routing.is_none_or(|routing| routing.to_string() != "none")
    }

    fn routing(&self) -> Result<&'a Routing, Unavailable> {
        let remedy = if self.is_to_route() { "solve it again" } else { "solve with routing=at" };
        let because = if self.is_to_route() { NOT_ROUTED } else { "the plan has no routes" };
        self.result()?.routing.as_ref().ok_or_else(|| Unavailable::absent(because, remedy))
    }

    /// Returns the routes of the plan; if it has none, the dimension-order routes of a torus, else estimated routes (and
    /// `true`).
    fn routing_or_estimate(&self, deadline: Deadline) -> Result<(Cow<'a, Routing>, bool), Unavailable> {
        let missing = match self.routing() {
            Ok(routing) => return Ok((Cow::Borrowed(routing), false)),
            Err(missing) => missing,
        };
        let pod = self.result()?.topology.topology().map_err(Unavailable::failed)?;
        let estimated = estimate::routing(&pod, self.scenario, deadline).ok_or(missing)?;
        Ok((Cow::Owned(estimated.routing), !estimated.by_dimension))
    }
}

/// Returns the bound on the throughput of any pod that a screen names next to the explained plan: a verified bound before
/// a claimed one; before the first plan, the bound of the run.
fn named_bound(beside: &Surroundings) -> Option<f64> {
    let Some(plan) = beside.shown() else { return beside.run.as_ref()?.bound };
    let drawn = plan.standing.as_ref().and_then(|standing| standing.drawn());
    drawn.map(|bound| bound.value).or(plan.bound)
}

impl Report for TpuReport<'_> {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "pod" => Ok(pod::section(self.scenario, self.result, self.group.as_deref())),
            "channels" => self.routing().map(routes::channels),
            "hottest" => {
                let (routing, is_estimate) = self.routing_or_estimate(deadline)?;
                let section = routes::hottest(self.result()?, &routing)?;
                Ok(if is_estimate { routes::estimated(section) } else { section })
            }
            "faults" | "sizes" | "throughput" => self.in_session(name, &Surroundings::default(), deadline),
            "simulation" => match &self.result()?.simulation {
                Some(simulated) => {
                    let claims = self.routing().ok().map(|routing| &routing.claims);
                    let settings = self.scenario.simulate.clone().unwrap_or_default();
                    Ok(simulation::section((self.scenario.nodes(), &settings), claims, simulated))
                }
                None => Err(Unavailable::absent("the routes were not simulated", "solve with simulate=true")),
            },
            _ => Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out")),
        }
    }

    fn detail(&self, name: &str, item: u32, deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "faults" if self.result()?.faults.is_empty() => {
                Ok(self.exposure(deadline)?.detail(item as usize))
            }
            "faults" => faults::detail(self.result()?, item),
            "hottest" => routes::over(self.result()?, &self.routing_or_estimate(deadline)?.0, item),
            _ => Err(Unavailable::absent(format!("section '{name}' has no items"), "leave the item out")),
        }
    }

    fn in_session(
        &self,
        name: &str,
        beside: &Surroundings,
        deadline: Deadline,
    ) -> Result<Section, Unavailable> {
        match name {
            "faults" => self.faults(beside, deadline),
            "sizes" => Ok(sizes::section(usize::from(self.scenario.cubes), &self.or_alone(beside))),
            // On a screen, the pane shows the limit of the routes until a simulation is requested.
            "simulation" if !beside.plans.is_empty() => match (&self.result()?.simulation, self.routing()) {
                (None, Ok(routing)) => Ok(simulation::limit(self.scenario.nodes(), &routing.claims)),
                _ => self.section(name, deadline),
            },
            "throughput" => {
                let (yardsticks, beside) = (self.yardsticks(), self.or_alone(beside));
                let beside = &*beside;
                Ok(Compared { scenario: self.scenario, result: self.result, yardsticks, beside }.section())
            }
            _ => self.section(name, deadline),
        }
    }
}
