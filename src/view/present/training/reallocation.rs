//! Pane 11: ports that jobs give to each other. If several jobs share a set of pods, the other panes show the job
//! chosen here.

use super::RATES_BELOW;
use super::explained::Whole;
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::plans::PlanRef;
use crate::view::present::PaneInput;
use crate::view::present::section::pane::{SectionPane, Wanted};
use crate::view::present::section::{PointedItem, SectionContext};
use lightbay_core::clock::Deadline;
use lightbay_core::report::Unavailable;
use lightbay_engines::training::report::of_job;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Number of the pane, whose selection decides which job the other panes show.
pub const NUMBER: u8 = 11;

/// Name of the section.
const SECTION: &str = "reallocation";

/// The section of the plan as a pane, with the displayed job.
#[derive(Debug)]
pub struct ReallocationPane {
    pane: SectionPane<(u64, PlanRef)>,
    /// The job that was chosen last; rows of pods do not choose a job.
    chosen: Option<u32>,
}

impl Default for ReallocationPane {
    fn default() -> Self {
        let pane =
            SectionPane::new("the fewest ports that keep the makespan", u64::from(NUMBER)).linked("job");
        Self { pane, chosen: None }
    }
}

impl ReallocationPane {
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

    /// Stores the selected job, and returns it.
    pub fn choose(&mut self, whole: &Whole, selected: Option<u32>) -> Option<u32> {
        let is_job = |job: u32| (job as usize) < whole.parts.len();
        if selected.is_none_or(is_job) {
            self.chosen = selected;
        }
        self.chosen.filter(|job| is_job(*job))
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        whole: &Arc<Whole>,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) {
        let current = input.app.shown_plan().filter(|_| input.app.shown_key() == whole.key);
        let wanted = current.map(|plan| {
            let (of, plan) = (Arc::clone(whole), PlanRef(plan.clone()));
            let key = (whole.key, plan.clone());
            let work = move |deadline: Deadline| match of.parts.as_slice() {
                // For a plan of one job, all data of the section is available.
                [only] if only.job.is_none() => of_job(&only.scenario, &only.analysis, SECTION, deadline),
                _ => plan.0.report().map_err(Unavailable::failed)?.section(SECTION, deadline),
            };
            Wanted { key, plan: whole.key, work, detail: None, is_live: false }
        });
        let several = whole.parts.first().is_some_and(|first| first.job.is_some());
        let pointed = several.then(|| PointedItem {
            item: u32::try_from(whole.chosen(self.chosen)).ok(),
            by_person: self.chosen.is_some(),
            sentence: None,
        });
        self.pane.draw(
            input,
            wanted,
            SectionContext { pointed, leaves: RATES_BELOW, ..SectionContext::default() },
            area,
            buf,
            (drawn, out),
        );
    }
}
