//! Networks, demands and schedules explained as sections.
//!
//! | module | content |
//! |---|---|
//! | [`compact`] | links, trees and deliveries of plans with too many sends to list |
//! | [`input`] | network and demand |
//! | [`finish`] | the finish of a schedule and its lower bounds |
//! | [`occupancy`] | transmissions on links over time |
//! | [`places`] | positions of nodes in a drawn network |
//! | [`progress`] | chunks and deliveries over time, and every send |
//! | [`tree`] | the paths of one chunk |
//! | [`questions`] | steps of a run, and the feasibility problems that its models solved |
//! | [`sizes`] | bandwidth by buffer size |

mod compact;
mod finish;
mod input;
mod occupancy;
mod places;
mod progress;
mod questions;
mod sizes;
mod tree;

#[cfg(test)]
mod tests;

pub use finish::{latencies_left_out, not_reduced};

use crate::Collective;
use crate::compose::unfolded;
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::report::{Report, RunSort, Section, SectionInfo, Surroundings, Unavailable};
use lightbay_core::scenario::Scenario;
use std::borrow::Cow;

/// Maximum number of sends for which sections list the sends of a plan in compact form.
const MOST_SENDS: u64 = 1_000_000;

/// Number of rows of a long table that an overview shows.
const OVERVIEW: usize = 16;

/// Every section.
pub(crate) const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario("network", "Network", "Which GPUs, switches and links are there?")
        .place(1)
        .forms(input::FORMS),
    SectionInfo::of_scenario("demand", "Demand", "Who wants what?").place(8),
    SectionInfo::of_scenario(
        "sizes",
        "Bandwidth",
        "What bandwidth do the lower bound, trees and baselines give from 1 KB to 1 GB?",
    ).place(3)
    .forms(&["curves", "points", "ranges"]),
    SectionInfo::of_plan("finish", "Finish", "When is the last delivery, and how close is it to its lower \
         bound?").place(7),
    SectionInfo::of_plan(
        "bounds",
        "Bounds",
        "What are the lower bounds on the completion time, which schedules do they cover, and what proves them?",
    ),
    SectionInfo::of_plan("occupancy", "Occupancy", "Which link transmits which chunk at what time, and \
         which links determine the bound?")
        .place(2)
        .forms(&["links", "grid"]),
    SectionInfo::of_plan("links", "Links", "How much does each link carry?").place(6),
    SectionInfo::of_plan("chunks", "Chunks", "When does each chunk reach its destinations, and on which \
         paths?").place(4)
        .items("chunk"),
    SectionInfo::of_plan("deliveries", "Deliveries", "How much data is delivered by what time?")
        .place(9)
        .forms(&["curve", "points"]),
    SectionInfo::of_plan("sends", "Sends", "Which link starts which chunk in which epoch?"),
    SectionInfo::of_scenario(
        "questions",
        "Solver",
        "Which steps did the run take, what did each gain, and for which epoch counts is a schedule feasible?",
    ).place(5)
    .of_run(RunSort::OfPlan),
];

/// The report on a scenario, or on a plan for the scenario.
pub(crate) struct CollectiveReport<'a> {
    scenario: &'a CollectiveScenario,
    plan: Option<&'a Plan<Collective>>,
}

/// A plan to explain.
#[derive(Clone, Copy)]
struct ExplainedPlan<'a> {
    scenario: &'a CollectiveScenario,
    result: &'a CollectiveResult,
}

impl ExplainedPlan<'_> {
    fn node(&self, node: u32) -> String {
        let named = self.scenario.topology.nodes.get(node as usize);
        named.map_or_else(|| node.to_string(), |node| node.name.clone())
    }

    fn link(&self, from: u32, to: u32) -> String {
        format!("{}→{}", self.node(from), self.node(to))
    }
}

/// Returns the plan with every send, including sends that trees in compact form represent.
fn listed(subject: ExplainedPlan<'_>) -> Result<Cow<'_, CollectiveResult>, Unavailable> {
    if subject.result.trees.is_empty() {
        return Ok(Cow::Borrowed(subject.result));
    }
    unfolded(subject.scenario, subject.result, MOST_SENDS).map(Cow::Owned).map_err(|why| {
        let message = format!("the plan keeps its trees in compact form, without a list of sends: {why}");
        Unavailable::absent(message, "see the trees in section finish, or solve with a smaller most_pieces")
    })
}

/// Returns a section of a plan in compact form whose sends are not listed because of `why`.
fn compact_section(subject: ExplainedPlan<'_>, name: &str, why: Unavailable) -> Result<Section, Unavailable> {
    match name {
        "occupancy" => compact::occupancy(subject),
        "links" => compact::links(subject),
        "chunks" => compact::chunks(subject),
        "deliveries" => compact::deliveries(subject),
        _ => Err(why),
    }
}

impl<'a> CollectiveReport<'a> {
    pub(crate) fn new(scenario: &'a Scenario<Collective>, plan: Option<&'a Plan<Collective>>) -> Self {
        Self { scenario: &scenario.body, plan }
    }
}

impl CollectiveReport<'_> {
    /// Returns the plan with its scenario, if there is a plan.
    fn as_explained(&self) -> Option<ExplainedPlan<'_>> {
        self.plan.map(|plan| ExplainedPlan { scenario: &plan.scenario.body, result: &plan.result })
    }

    /// Returns the plan with its scenario, for sections that need a plan.
    fn explained(&self) -> Result<ExplainedPlan<'_>, Unavailable> {
        self.as_explained().ok_or_else(|| {
            Unavailable::absent("this section needs a plan", "solve the scenario and show the plan")
        })
    }
}

impl Report for CollectiveReport<'_> {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "network" => return Ok(input::network(self.scenario, self.as_explained())),
            "demand" => return Ok(input::demand(self.scenario)),
            "questions" => return questions::table(&Surroundings::default()),
            "sizes" => {
                return sizes::sizes(self.scenario, self.as_explained(), deadline);
            }
            _ => {}
        }
        let subject = self.explained()?;
        match name {
            "finish" => return Ok(finish::finish(subject)),
            "bounds" => return finish::bounds(subject),
            _ => {}
        }
        let result = match listed(subject) {
            Ok(result) => result,
            Err(why) => return compact_section(subject, name, why),
        };
        let subject = ExplainedPlan { result: &result, ..subject };
        match name {
            "occupancy" => occupancy::grid(subject),
            "links" => Ok(occupancy::links(subject)),
            "chunks" => Ok(progress::chunks(subject)),
            "deliveries" => Ok(progress::deliveries(subject)),
            "sends" => Ok(progress::sends(subject)),
            _ => Err(Unavailable::absent(format!("there is no section '{name}'"), "leave it out")),
        }
    }
    fn detail(&self, name: &str, item: u32, _deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "chunks" => {
                let subject = self.explained()?;
                let Ok(result) = listed(subject) else { return compact::of_tree(subject, item) };
                tree::of_chunk(ExplainedPlan { result: &result, ..subject }, item)
            }
            _ => Err(Unavailable::absent(format!("section '{name}' has no item {item}"), "omit the item")),
        }
    }

    fn in_session(
        &self,
        name: &str,
        beside: &Surroundings,
        deadline: Deadline,
    ) -> Result<Section, Unavailable> {
        if name == "questions" { questions::table(beside) } else { self.section(name, deadline) }
    }
}
