//! Pane 2: circuits that the chosen switch keeps, adds and removes, pod by pod or port by port. If there is room, the
//! section of all switches is shown next to it.

use super::{ExplainedChange, MATRIX, SWITCHES, chosen_switch, step_through_switches};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::view::present::section::pane::{SectionPane, Wanted};
use crate::view::present::section::{SectionContent, SectionContext, Selection};
use crate::view::present::{PaneInput, body, other_plan};
use lightbay_core::clock::Deadline;
use lightbay_core::report::Unavailable;
use lightbay_widgets::Piece;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Number of blank columns between list and matrix.
const GAP: u16 = 2;

/// Minimum number of columns of a large matrix next to the list; the rest scrolls.
const ENOUGH: u16 = 48;

/// Minimum width at which the title shows the keys that step through the switches.
const HINT: u16 = 100;

/// Pane of the matrix of one switch, next to the list of all switches.
#[derive(Debug)]
pub struct MatrixPane {
    pane: SectionPane<(u64, usize)>,
    list: SectionContent,
}

impl MatrixPane {
    pub fn new() -> Self {
        Self { pane: SectionPane::new("the switch", MATRIX), list: SectionContent::default() }
    }

    /// Stores a result of a helper thread.
    ///
    /// # Errors
    /// Returns the result if it belongs to another pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.pane.accept(key, result)
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Arc<ExplainedChange>,
        area: Rect,
        buf: &mut Buffer,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
    ) {
        let chosen = chosen_switch(input.app, &plan.facts);
        let of = Arc::clone(plan);
        let work = move |deadline: Deadline| {
            of.plan.report().map_err(Unavailable::failed)?.detail("switches", chosen as u32, deadline)
        };
        let key = (plan.key, chosen);
        // The widths of the section divide the pane, so it is looked up before.
        self.pane.prepare(input, &key);
        let wanted = Wanted { key, plan: plan.key, work, detail: None, is_live: false };
        let inner = body(area, 1);
        let left = if input.large { self.columns(plan, inner.width) } else { 0 };
        let gap = if left > 0 { GAP } else { 0 };
        let mut before: Vec<Piece> =
            other_plan(input.app, plan.key).into_iter().flat_map(|plan| [plan, Piece::muted("  ")]).collect();
        let [back, forward] = ["step_back", "step_forward"].map(|action| input.app.keymap.hint(action));
        before.extend((inner.width >= HINT).then(|| Piece::muted(format!("{back} {forward} switch  "))));
        let context = SectionContext { before, left: left + gap, ..SectionContext::default() };
        self.pane.draw(input, Some(wanted), context, area, buf, (drawn, out));
        if left > 0 {
            let list = PaneInput { pane: SWITCHES, state: input.app.pane(SWITCHES).clone(), ..input.clone() };
            let place = Rect { width: left, height: self.pane.rows().min(inner.height), ..inner };
            self.list.draw(&list, Selection::of(chosen as u32), place, buf, out);
        }
        step_through_switches(drawn, &plan.facts, chosen);
    }

    /// Returns the number of columns of the list of all switches; 0 if it does not fit next to the matrix, or until the
    /// first matrix is ready.
    fn columns(&mut self, plan: &ExplainedChange, width: u16) -> u16 {
        let Some(switches) = plan.switches.as_ref().filter(|_| self.pane.wish() > 0) else { return 0 };
        self.list.fill(switches, &[], "");
        let (least, most) = self.list.widths();
        let beside = width.saturating_sub(least + GAP);
        let wish = self.pane.wish();
        // The bars of the list get the columns that the matrix leaves.
        if wish <= beside {
            return (width - wish - GAP).min(most);
        }
        // A matrix that would scroll next to the list but fits alone needs no list.
        let fits_alone = self.pane.close().is_some_and(|close| (beside + 1..=width).contains(&close));
        if fits_alone || beside < ENOUGH { 0 } else { least }
    }
}
