//! Pods, their routes and faults explained as sections.
//!
//! | room | what |
//! |---|---|
//! | [`pod`] | size, wiring and questions of a scenario |
//! | [`throughput`] | concurrent flow beside what tori and any pod of the size reach |
//! | [`routes`] | hops on virtual channels, and the fullest links |
//! | [`faults`] | what each failed switch costs |
//! | [`simulation`] | delivered load and latency of simulated routes |

mod faults;
mod pod;
mod routes;
mod simulation;
#[cfg(test)]
mod tests;
mod throughput;

use crate::Tpu;
use crate::analysis::Yardsticks;
use crate::plan::{Routing, TpuResult};
use crate::scenario::TpuScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::problem::Problems;
use lightbay_core::report::{Report, Section, SectionInfo, Unavailable};
use lightbay_core::scenario::Scenario;
use std::cell::OnceCell;

/// Rows that an overview shows of long tables.
const OVERVIEW: usize = 6;
/// Note on figures of routes that the plan does not list.
const STATED: &str = "Claimed, not checked: the routes are not in the plan.";

/// Every section.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario(
        "pod",
        "Pod",
        "How large is the pod, how is it wired, and what is asked of its routes?",
    ),
    SectionInfo::of_scenario(
        "throughput",
        "Throughput",
        "How much does the pod carry beside tori of its size and beside what no pod can exceed?",
    ),
    SectionInfo::of_plan(
        "channels",
        "Virtual channels",
        "How evenly are hops spread over the virtual channels?",
    ),
    SectionInfo::of_plan("hottest", "Fullest links", "Which links carry most routes?"),
    SectionInfo::of_plan("faults", "Failed switches", "What does each single failed switch cost?"),
    SectionInfo::of_plan(
        "simulation",
        "Simulation",
        "What load do the routes deliver, and at which latency?",
    ),
];

/// The report of a scenario or of a plan of it.
pub(crate) struct TpuReport<'a> {
    scenario: &'a TpuScenario,
    result: Option<&'a TpuResult>,
    /// Name of the group of a symmetric pod.
    group: Option<String>,
    yardsticks: OnceCell<Yardsticks>,
}

impl<'a> TpuReport<'a> {
    /// Prepares what all sections need.
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
        Ok(Self { scenario: body, result, group, yardsticks: OnceCell::new() })
    }

    fn yardsticks(&self) -> &Yardsticks {
        let scenario = self.scenario;
        self.yardsticks.get_or_init(|| Yardsticks::of(usize::from(scenario.cubes), scenario.job_shape))
    }

    fn result(&self) -> Result<&'a TpuResult, Unavailable> {
        self.result.ok_or_else(|| {
            Unavailable::absent("it is a section of plans", "solve the scenario and show the plan")
        })
    }

    fn routing(&self) -> Result<&'a Routing, Unavailable> {
        self.result()?.routing.as_ref().ok_or_else(|| {
            Unavailable::absent("the plan has no routes", "solve with routing=at, or give the plan routes")
        })
    }
}

impl Report for TpuReport<'_> {
    fn section(&self, name: &str, _deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "pod" => Ok(pod::section(self.scenario, self.result, self.group.as_deref())),
            "throughput" => Ok(throughput::section(self.scenario, self.result, self.yardsticks())),
            "channels" => self.routing().map(routes::channels),
            "hottest" => routes::hottest(self.result()?, self.routing()?),
            "faults" => {
                let cases = &self.result()?.faults;
                if cases.is_empty() {
                    return Err(Unavailable::absent(
                        "no failed switch was tried",
                        "solve with tolerated_ocs_faults=1",
                    ));
                }
                Ok(faults::section(cases))
            }
            "simulation" => match &self.result()?.simulation {
                Some(simulated) => Ok(simulation::section(simulated)),
                None => Err(Unavailable::absent("the routes were not simulated", "solve with simulate=true")),
            },
            _ => Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out")),
        }
    }
}
