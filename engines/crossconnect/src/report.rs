//! Halls, changes and phase orders explained as sections.
//!
//! | room | what |
//! |---|---|
//! | [`hall`] | what is there before anything is solved |
//! | [`changes`] | what a plan changes, by switch, batch and pair of pods |
//! | [`order`] | the phases of an all-to-all |

mod changes;
mod hall;
mod order;
#[cfg(test)]
mod tests;

use crate::Crossconnect;
use crate::plan::{Changes, CrossconnectResult, PhaseOrder};
use crate::scenario::CrossconnectScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::report::{Report, Section, SectionInfo, Unavailable};
use lightbay_core::scenario::Scenario;

/// Rows that an overview shows of long tables.
const OVERVIEW: usize = 16;

/// Every section.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario(
        "hall",
        "Hall",
        "Which pods, switches and circuits are there, and how many have to go?",
    ),
    SectionInfo::of_plan("totals", "Changes", "How many circuits does the plan keep, add and remove?"),
    SectionInfo::of_plan("switches", "Switches", "What does the plan change on each switch?"),
    SectionInfo::of_plan(
        "batches",
        "Batches",
        "In which steps is the change made, and what is dark meanwhile?",
    ),
    SectionInfo::of_plan(
        "pairs",
        "Pairs of pods",
        "How many circuits does each pair of pods have before and after?",
    ),
    SectionInfo::of_plan(
        "phases",
        "Phases",
        "To which GPU does each GPU send in each phase of the all-to-all?",
    ),
];

/// The report of a scenario or of a plan of it.
pub(crate) struct CrossconnectReport<'a> {
    scenario: &'a CrossconnectScenario,
    result: Option<&'a CrossconnectResult>,
}

impl<'a> CrossconnectReport<'a> {
    pub(crate) fn new(scenario: &'a Scenario<Crossconnect>, plan: Option<&'a Plan<Crossconnect>>) -> Self {
        Self { scenario: &scenario.body, result: plan.map(|plan| &plan.result) }
    }

    fn changes(&self) -> Result<&'a Changes, Unavailable> {
        match self.result {
            Some(CrossconnectResult::Changes(changes)) => Ok(changes),
            Some(CrossconnectResult::Order(_)) => Err(Unavailable::absent(
                "the plan orders the phases of an all-to-all and changes no circuit",
                "show a plan of another method",
            )),
            None => Err(no_plan()),
        }
    }

    fn order(&self) -> Result<&'a PhaseOrder, Unavailable> {
        match self.result {
            Some(CrossconnectResult::Order(order)) => Ok(order),
            Some(CrossconnectResult::Changes(_)) => Err(Unavailable::absent(
                "the plan changes circuits and orders no phases",
                format!("solve with method {}", crate::methods::ORDER),
            )),
            None => Err(no_plan()),
        }
    }
}

fn no_plan() -> Unavailable {
    Unavailable::absent("it is a section of plans", "solve the scenario and show the plan")
}

impl Report for CrossconnectReport<'_> {
    fn section(&self, name: &str, _deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "hall" => Ok(hall::section(self.scenario, self.result)),
            "totals" => self.changes().map(|changes| changes::totals(self.scenario, changes)),
            "switches" => self.changes().map(changes::switches),
            "batches" => {
                let changes = self.changes()?;
                if changes.batches.is_empty() {
                    return Err(Unavailable::absent("the plan changes nothing", "nothing is to be done"));
                }
                Ok(changes::batches(self.scenario, changes))
            }
            "pairs" => self.changes().map(|changes| changes::pairs(self.scenario, changes)),
            "phases" => self.order().map(order::section),
            _ => Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out")),
        }
    }
}
