//! Panes that are sections of one job: of the only one of a plan, or of the one that is chosen.

use super::Facts;
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::plans::PlanRef;
use crate::view::present::PaneInput;
use crate::view::present::section::pane::{SectionPane, Wanted};
use lightbay_core::clock::Deadline;
use lightbay_engines::training::report::of_job;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// A section of one job as a pane.
#[derive(Debug)]
pub struct JobSection {
    name: &'static str,
    pane: SectionPane<(u64, PlanRef)>,
    /// The job shown last.
    job: Option<String>,
}

impl JobSection {
    /// A section by its name, and the words for it while it is worked out; `sort` tells its jobs from those of others.
    pub fn new(name: &'static str, waits_for: &'static str, sort: u64) -> Self {
        Self { name, pane: SectionPane::new(waits_for, sort), job: None }
    }

    /// Takes in what a helper thread made; gives back what is of another pane.
    ///
    /// # Errors
    /// The result, if it is not for this pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.pane.accept(key, result)
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &Facts,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        if self.job != facts.job {
            // That of one job says nothing about another.
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
        self.pane.draw(input, wanted, facts.title(), area, buf, (drawn, out));
    }
}
