//! Sections that explain scenarios, changes of switches, and orders of phases.
//!
//! | module | content |
//! |---|---|
//! | [`hall`] | pods, switches, ports and circuits of the scenario |
//! | [`changes`] | changes of a plan in total and by pair of pods |
//! | [`switches`] | changes of each switch |
//! | [`switch`] | changes of one switch, by pod and by port |
//! | [`batches`] | the batches in which the changes are made |
//! | [`port_map`] | every port of every switch with its state |
//! | [`run_sheet`] | steps for the operators: links that are down, verification, rollback |
//! | [`rewiring`] | comparison of the removals with other methods and with the bound |
//! | [`from_scratch`] | plans of the baselines for this comparison |
//! | [`order`] | the phases of an all-to-all |
//! | [`differences`] | differences of two plans in addition to their figures |
//! | [`words`] | names of ports and circuits |

mod batches;
mod changes;
pub(crate) mod differences;
mod from_scratch;
mod hall;
mod order;
mod port_map;
mod rewiring;
mod run_sheet;
pub mod switch;
mod switches;
#[cfg(test)]
mod tests;
pub mod words;

use crate::Crossconnect;
use crate::plan::{Changes, CrossconnectResult, PhaseOrder};
use crate::rollout::explained::ChangeFacts;
use crate::scenario::CrossconnectScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::report::{PlanBeside, Report, Section, SectionInfo, Surroundings, Unavailable};
use lightbay_core::scenario::Scenario;
use lightbay_core::standing::Standing;
use rewiring::Ranked;
use std::cell::OnceCell;

/// Maximum number of rows of a long table that an overview shows.
const OVERVIEW: usize = 16;

/// Every section.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario(
        "hall",
        "Fabric",
        "Which pods, switches and circuits does the scenario have, and how many circuits must be removed?",
    ),
    SectionInfo::of_scenario(
        "port_map",
        "Port map",
        "Which port of which switch belongs to which pod, and what is it joined to?",
    ),
    SectionInfo::of_plan("totals", "Changes", "How many circuits does the plan keep, add and remove?"),
    SectionInfo::of_plan(
        "rewiring",
        "Rewiring",
        "How close is the number of removals to its bound, and how do other methods compare?",
    )
    .in_session(),
    SectionInfo::of_plan("switches", "Switches", "What does the plan change on each switch?").items("switch"),
    SectionInfo::of_plan(
        "batches",
        "Batches",
        "In which steps is the change made, and which circuits are dark during each?",
    )
    .items("batch"),
    SectionInfo::of_plan(
        "run_sheet",
        "Run sheet",
        "What does each step change, what is down during it, and how do you roll it back?",
    )
    .items("step"),
    SectionInfo::of_plan(
        "pairs",
        "Pairs of pods",
        "How many circuits does each pair of pods have before and after?",
    ),
    SectionInfo::of_plan(
        "phases",
        "Phases",
        "To which GPU does each GPU send in each phase of the all-to-all?",
    )
    .forms(order::FORMS)
    .items("phase")
    .off_objective(),
];

/// The report on a scenario, or on a plan for the scenario.
pub(crate) struct CrossconnectReport<'a> {
    scenario: &'a CrossconnectScenario,
    result: Option<&'a CrossconnectResult>,
    plan: Option<&'a Plan<Crossconnect>>,
    facts: OnceCell<ChangeFacts>,
    /// Result of checking the plan.
    standing: Option<Standing>,
}

impl<'a> CrossconnectReport<'a> {
    pub(crate) fn new(scenario: &'a Scenario<Crossconnect>, plan: Option<&'a Plan<Crossconnect>>) -> Self {
        Self { plan, ..Self::of(&scenario.body, plan.map(|plan| &plan.result)) }
    }

    fn of(scenario: &'a CrossconnectScenario, result: Option<&'a CrossconnectResult>) -> Self {
        Self { scenario, result, plan: None, facts: OnceCell::new(), standing: None }
    }

    /// Returns the changes with their counts, or the reason that there are none.
    fn counted(&self) -> Result<(&'a Changes, &ChangeFacts), Unavailable> {
        let changes = self.changes()?;
        Ok((changes, self.facts.get_or_init(|| ChangeFacts::of(self.scenario, changes))))
    }

    /// Returns the comparison with other methods; `beside` has the plans of a session, if there is one.
    fn rewiring(&self, beside: Option<&Surroundings>, deadline: Deadline) -> Result<Section, Unavailable> {
        let (changes, facts) = self.counted()?;
        let (in_session, alone) = (beside.is_some(), Surroundings::default());
        let beside = beside.unwrap_or(&alone);
        let plan = self.plan.ok_or_else(no_plan)?;
        let own = PlanBeside { standing: self.standing.clone(), ..PlanBeside::alone(&plan.header()) };
        let shown = beside.shown().unwrap_or(&own);
        let baselines = from_scratch::from_scratch(self.scenario, deadline);
        let scenario = self.scenario;
        Ok(Ranked { scenario, changes, facts, shown, beside, in_session, baselines: &baselines }.section())
    }

    fn changes(&self) -> Result<&'a Changes, Unavailable> {
        match self.result {
            Some(CrossconnectResult::Changes(changes)) => Ok(changes),
            Some(CrossconnectResult::Order(_)) => Err(Unavailable::absent(
                "the plan divides an all-to-all into phases and changes no circuit",
                "show a plan of another method",
            )),
            None => Err(no_plan()),
        }
    }

    fn order(&self) -> Result<&'a PhaseOrder, Unavailable> {
        match self.result {
            Some(CrossconnectResult::Order(order)) => Ok(order),
            Some(CrossconnectResult::Changes(_)) => Err(Unavailable::absent(
                "a change of circuits has no phases",
                format!(":solve {} orders an all-to-all between the pods", crate::methods::ORDER),
            )),
            None => Err(Unavailable::absent(
                "no order of phases has been computed yet",
                format!(":solve {} orders an all-to-all between the pods", crate::methods::ORDER),
            )),
        }
    }
}

fn no_plan() -> Unavailable {
    Unavailable::absent("only plans have this section", "solve the scenario and show the plan")
}

impl Report for CrossconnectReport<'_> {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "hall" => Ok(hall::section(self.scenario, self.result)),
            "port_map" => {
                let changes = self.result.and_then(CrossconnectResult::changes);
                Ok(port_map::section(self.scenario, changes))
            }
            "totals" => self.changes().map(|changes| changes::totals(self.scenario, changes)),
            "rewiring" => self.rewiring(None, deadline),
            "switches" => {
                self.counted().map(|(changes, facts)| switches::section(self.scenario, changes, facts))
            }
            "batches" | "run_sheet" => {
                let (changes, facts) = self.counted()?;
                if changes.batches.is_empty() {
                    let because = if facts.switches.iter().all(|switch| switch.keep == 0) {
                        "there are no circuits, so nothing changes"
                    } else if self.scenario.strays.is_empty() {
                        "nothing changes: the circuits that the plan sets are installed already"
                    } else {
                        "no circuit changes, but exports delete the connections that belong to no circuit"
                    };
                    return Err(Unavailable::absent(because, "change the target circuits"));
                }
                Ok(if name == "batches" {
                    batches::section(self.scenario, changes, facts)
                } else {
                    run_sheet::section(self.scenario, changes)
                })
            }
            "pairs" => self.changes().map(|changes| changes::pairs(self.scenario, changes)),
            "phases" => self.order().map(order::section),
            _ => Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out")),
        }
    }

    fn detail(&self, name: &str, item: u32, _deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "switches" => {
                let (changes, facts) = self.counted()?;
                switch::section(self.scenario, changes, facts, item)
            }
            "batches" => batches::detail(self.scenario, self.changes()?, item),
            "run_sheet" => run_sheet::detail(self.scenario, self.changes()?, item),
            "phases" => order::detail(self.order()?, item),
            _ => Err(Unavailable::absent(format!("section '{name}' has no items"), "leave the item out")),
        }
    }

    fn in_session(
        &self,
        name: &str,
        beside: &Surroundings,
        deadline: Deadline,
    ) -> Result<Section, Unavailable> {
        if name == "rewiring" { self.rewiring(Some(beside), deadline) } else { self.section(name, deadline) }
    }

    fn stand(&mut self, standing: Standing) {
        self.standing = Some(standing);
    }
}
