//! Panes that are sections of one job: of the only one of a plan, or of the one that is chosen.

use super::Facts;
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::plans::PlanRef;
use crate::view::present::desk::Desk;
use crate::view::present::explained::fail;
use crate::view::present::section::SectionView;
use crate::view::present::section::panes::{LONGEST, Outcome, ready};
use crate::view::present::{PaneInput, Title, frame};
use lightbay_core::clock::Deadline;
use lightbay_engines::training::report::of_job;
use lightbay_widgets::PaneState as Shown;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Results that are kept for plans looked at before.
const KEPT: usize = 6;

/// A section of one job as a pane.
#[derive(Debug)]
pub struct JobSection {
    name: &'static str,
    waits_for: &'static str,
    sort: u64,
    worked: Desk<(u64, PlanRef), Outcome>,
    /// The last one with its job: stays on the screen until the next of the same job is ready.
    last: Option<(Option<String>, Arc<Outcome>)>,
    view: SectionView,
}

impl JobSection {
    /// A section by its name, and the words for it while it is worked out; `sort` tells its jobs from those of others.
    pub fn new(name: &'static str, waits_for: &'static str, sort: u64) -> Self {
        let worked = Desk::new(sort, KEPT);
        Self { name, waits_for, sort, worked, last: None, view: SectionView::default() }
    }

    /// Takes in what a helper thread made; gives back what is of another pane.
    ///
    /// # Errors
    /// The result, if it is not for this pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.worked.accept(key, result)
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
        let nothing = Title { context: Vec::new(), value: Vec::new() };
        match self.look(input, facts, out) {
            None => frame(input, &nothing, Shown::Waiting(self.waits_for), area, buf),
            Some(Err(why)) => fail(input, &why, area, buf),
            Some(Ok(outcome)) => match &*outcome {
                Ok(section) => self.view.draw(input, section, facts.title(), area, buf, (drawn, out)),
                Err((what, remedy)) => frame(input, &nothing, Shown::Empty { what, remedy }, area, buf),
            },
        }
    }

    /// The section for the plan shown, or the last one of the job while it is worked out.
    fn look(
        &mut self,
        input: &PaneInput<'_>,
        facts: &Facts,
        out: &mut Drawn,
    ) -> Option<Result<Arc<Outcome>, String>> {
        let current = input.app.shown_plan().filter(|_| input.app.shown_key() == facts.plan);
        if let Some(plan) = current {
            let job = JobKey { pane: input.pane, plan: facts.key, size: (0, 0), variant: self.sort };
            let (of, name) = (Arc::clone(facts), self.name);
            let made = self.worked.look(&(facts.key, PlanRef(plan.clone())), job, &mut out.jobs, move || {
                Ok(ready(of_job(&of.scenario, &of.analysis, name, Deadline::after(LONGEST))))
            });
            match made {
                Some(Ok(made)) => self.last = Some((facts.job.clone(), made)),
                Some(Err(why)) => return Some(Err(why)),
                None => {}
            }
        }
        // That of one job says nothing about another.
        self.last.iter().find(|(job, _)| *job == facts.job).map(|(_, last)| Ok(Arc::clone(last)))
    }
}
