//! A report with the sections on runs. A run reports many times per second, so these sections build nothing expensive.

use super::{generations, of_scenario, search};
use crate::Training;
use lightbay_core::clock::Deadline;
use lightbay_core::plan::Plan;
use lightbay_core::problem::Problems;
use lightbay_core::report::{Report, Section, Surroundings, Unavailable};
use lightbay_core::scenario::Scenario;
use lightbay_core::standing::Standing;
use std::cell::OnceCell;

/// Report that adds the sections on runs to the sections on the scenario and the plan.
pub(super) struct WithRuns<'a> {
    scenario: &'a Scenario<Training>,
    plan: Option<&'a Plan<Training>>,
    built: OnceCell<Result<Box<dyn Report + 'a>, Problems>>,
    /// Result of the checker for the plan.
    standing: Option<Standing>,
}

impl<'a> WithRuns<'a> {
    pub(super) const fn new(scenario: &'a Scenario<Training>, plan: Option<&'a Plan<Training>>) -> Self {
        Self { scenario, plan, built: OnceCell::new(), standing: None }
    }

    fn built(&self) -> Result<&(dyn Report + 'a), Unavailable> {
        let build = || of_scenario(&self.scenario.body, self.plan.map(|plan| &plan.result));
        self.built.get_or_init(build).as_deref().map_err(Unavailable::failed)
    }
}

impl Report for WithRuns<'_> {
    fn section(&self, name: &str, deadline: Deadline) -> Result<Section, Unavailable> {
        match (name, self.plan) {
            ("search", Some(plan)) => Ok(search::of_plan(plan, self.standing.as_ref())),
            ("search" | "generations", _) => self.in_session(name, &Surroundings::default(), deadline),
            _ => self.built()?.section(name, deadline),
        }
    }

    fn in_session(
        &self,
        name: &str,
        beside: &Surroundings,
        deadline: Deadline,
    ) -> Result<Section, Unavailable> {
        match name {
            "search" => search::in_session(beside),
            "generations" => generations::in_session(beside),
            _ => self.built()?.in_session(name, beside, deadline),
        }
    }

    fn detail(&self, name: &str, item: u32, deadline: Deadline) -> Result<Section, Unavailable> {
        self.built()?.detail(name, item, deadline)
    }

    fn stand(&mut self, standing: Standing) {
        self.standing = Some(standing);
    }

    fn is_slow(&self, name: &str) -> bool {
        self.built().is_ok_and(|built| built.is_slow(name))
    }
}
