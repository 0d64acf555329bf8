//! Panes that are sections of one job: the only job of a plan, or the chosen job.

use super::choice::Choice;
use super::{JobFacts, RATES_BELOW};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::plans::PlanRef;
use crate::view::present::PaneInput;
use crate::view::present::section::pane::{SectionPane, Wanted};
use crate::view::present::section::{PointedItem, SectionContext};
use lightbay_core::clock::Deadline;
use lightbay_engines::training::report::{of_job, slack, task};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Type of the items that a pane shares with other panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedItems {
    Nothing,
    /// Tasks, with a sentence about tasks without a row in the section.
    Tasks,
    /// Directed links, by their index in the list `ways` of the explained job.
    Ways,
}

/// A section of one job as a pane.
#[derive(Debug)]
pub struct JobSection {
    name: &'static str,
    shares: SharedItems,
    pane: SectionPane<(u64, PlanRef)>,
    /// Name of the job shown last.
    job: Option<String>,
}

impl JobSection {
    /// Creates the pane of the section with this name; the pane shows `waits_for` while the section is computed; `sort`
    /// distinguishes the jobs of the section from other jobs.
    pub fn new(name: &'static str, waits_for: &'static str, sort: u64, shares: SharedItems) -> Self {
        let pane = SectionPane::new(waits_for, sort);
        let pane = match shares {
            SharedItems::Nothing => pane,
            SharedItems::Tasks => pane.linked("task"),
            SharedItems::Ways => pane.linked("direction"),
        };
        Self { name, shares, pane, job: None }
    }

    /// Stores a result of a helper thread.
    ///
    /// # Errors
    /// Returns the result if it belongs to another pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.pane.accept(key, result)
    }

    /// Returns the rows of `area` that the section drawn last leaves to another picture.
    pub fn rest(&self, area: Rect) -> Rect {
        self.pane.rest(area)
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &JobFacts,
        choice: Choice,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) {
        if self.job != facts.job {
            // The figures of one job do not apply to another.
            self.job.clone_from(&facts.job);
            self.pane.forget();
        }
        let current = input.app.shown_plan().filter(|_| input.app.shown_key() == facts.plan);
        let wanted = current.map(|plan| {
            let (of, name) = (Arc::clone(facts), self.name);
            let work = move |deadline: Deadline| of_job(&of.scenario, &of.analysis, name, deadline);
            let key = (facts.key, PlanRef(plan.clone()));
            Wanted { key, plan: facts.key, work, detail: None, is_live: false }
        });
        let pointed = self.pointed(facts, choice);
        let before = facts.title();
        let context = SectionContext { before, pointed, leaves: RATES_BELOW, ..SectionContext::default() };
        self.pane.draw(input, wanted, context, area, buf, (drawn, out));
        if let (SharedItems::Tasks, true, Some(chosen)) = (self.shares, input.focused, choice.task) {
            let mut details = task::details(&facts.analysis, chosen);
            details.push(String::new());
            details.append(&mut drawn.details);
            drawn.details = details;
        }
    }

    /// Returns the item that this pane shares with other panes.
    fn pointed(&self, facts: &JobFacts, choice: Choice) -> Option<PointedItem> {
        let analysis = &facts.analysis;
        let by_person = choice.by_person;
        match self.shares {
            SharedItems::Nothing => None,
            SharedItems::Ways => {
                let place = choice.way.and_then(|way| facts.place_of(way));
                Some(PointedItem { item: place.map(|place| place as u32), by_person, sentence: None })
            }
            SharedItems::Tasks => {
                let chains = [Some(&analysis.chain), analysis.second.as_ref()];
                let mut on_chains = chains.into_iter().flatten().flat_map(|chain| &chain.tasks);
                let sentence = match (self.name, choice.task) {
                    ("slack", Some(task)) => Some(slack::on_task(analysis, task)),
                    (_, Some(task)) if on_chains.all(|own| own.task != task) => {
                        Some(task::timing(analysis, task).muted("  not on the path"))
                    }
                    _ => None,
                };
                Some(PointedItem { item: choice.task, by_person, sentence })
            }
        }
    }
}
