//! Messages of the solver itself, line by line, the newest at the bottom.

use super::hit;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::app::runs::{Run, SolverLine};
use lightbay_core::event::RunId;
use lightbay_widgets::{Column, Cut, Piece, Table, TableRow, TableState, Theme, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Columns that the solver's own tables take.
const TABLE_WIDTH: u16 = 98;

/// The lines, refilled when there are new ones.
#[derive(Debug, Default)]
pub struct SolverLog {
    filled: Option<(RunId, u32, bool)>,
    rows: Vec<TableRow>,
    items: Arc<[Item]>,
    table: TableState,
}

impl SolverLog {
    /// The line that is selected, if it is still there.
    pub fn selected(run: &Run, id: Option<ItemId>) -> Option<&SolverLine> {
        run.lines.iter().find(|line| Some(line.number) == id)
    }

    pub fn draw(&mut self, theme: &Theme, run: &Run, selected: Option<ItemId>, area: Rect, buf: &mut Buffer) {
        // Where the solver's tables do not fit, more of their figures does without the blanks that align them.
        let aligned = area.width >= TABLE_WIDTH + 3;
        let newest = run.lines.back().map(|line| (run.id, line.number, aligned));
        if self.filled != newest {
            self.filled = newest;
            self.rows.clear();
            self.rows.extend(run.lines.iter().map(|line| {
                let at = number::clock(line.at_ms as f64 / 1e3);
                let text = if aligned { line.text.clone() } else { squeezed(&line.text) };
                TableRow::item(line.number, vec![Piece::muted(String::from(at)), Piece::text(text)])
            }));
            let numbers = run.lines.iter().zip(0..);
            self.items = numbers.map(|(line, row)| Item { id: line.number, row, place: 0.0 }).collect();
        }
        self.table.selected = selected;
        if Self::selected(run, selected).is_none() {
            self.table.offset = self.rows.len().saturating_sub(usize::from(area.height));
        }
        // They are worth more than the time where both do not fit.
        let least = TABLE_WIDTH.min(area.width.saturating_sub(3));
        let columns = [Column::right("", 7).priority(1), Column::left("", least).cut(Cut::End).grow()];
        (&Table::new(theme, &columns, &self.rows).header(false)).render(area, buf, &mut self.table);
    }

    /// Reports the places that can be selected and clicked.
    pub fn report(&self, pane: PaneId, drawn: &mut PaneDrawn, out: &mut Drawn, height: u16) {
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(height).max(1);
        out.hits.extend(self.table.hits.iter().map(|found| hit(pane, found.rect, found.id)));
    }

    /// A line whole, without the blanks that align it with others.
    pub fn sentence(line: &SolverLine) -> Vec<Piece> {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        vec![Piece::answer("> "), Piece::text(words.join(" "))]
    }
}

/// A line with at most two blanks between its words.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut blanks = 0;
    for c in text.trim_start().chars() {
        blanks = if c == ' ' { blanks + 1 } else { 0 };
        if blanks <= 2 {
            squeezed.push(c);
        }
    }
    squeezed
}
