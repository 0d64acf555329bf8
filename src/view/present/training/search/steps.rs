//! The table of the search: only what changed something, with the figures of that moment.

use super::{GapOf, hit, unit_of};
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::app::runs::{Run, SearchRow};
use crate::view::figures::open_percent;
use crate::view::present::PaneInput;
use lightbay_widgets::{Column, Cut, Piece, Table, TableRow, TableState, Theme, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Figures that a search may count, each a column of its own if any row has it.
const COUNTED: [(&str, u16, u8, Count); 4] = [
    ("open", 6, 4, |row| row.stats.open),
    ("pruned", 7, 6, |row| row.stats.pruned),
    ("cuts", 6, 5, |row| row.stats.cuts),
    ("LP it", 7, 3, |row| row.stats.lp_iterations),
];

type Count = fn(&SearchRow) -> Option<u64>;

/// The rows, refilled when there is a new one.
#[derive(Debug, Default)]
pub struct Steps {
    rows: Vec<TableRow>,
    known: Vec<SearchRow>,
    counted: Vec<usize>,
    items: Arc<[Item]>,
    table: TableState,
}

fn seconds(value: Option<f64>) -> String {
    value.map_or_else(|| number::UNKNOWN.to_owned(), |value| number::seconds6(value).into())
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(|| number::UNKNOWN.to_owned(), |value| number::short(value).into())
}

fn gap_of(input: &PaneInput<'_>, run: &Run, row: &SearchRow) -> Option<GapOf> {
    row.best.zip(row.bound).map(|(best, bound)| GapOf::of(input, run, best, bound))
}

/// Source of a new best; for a new bound that word.
fn source(row: &SearchRow) -> &str {
    if row.source.is_empty() { row.what } else { &row.source }
}

impl Steps {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row that is selected, if it is still there.
    pub fn selected(&self, id: Option<ItemId>) -> Option<&SearchRow> {
        self.known.iter().find(|row| Some(row.number) == id)
    }

    pub fn fill(&mut self, input: &PaneInput<'_>, run: &Run) {
        self.known.clone_from(&run.rows);
        self.counted.clear();
        let used = |index: &usize| run.rows.iter().any(|row| COUNTED[*index].3(row).is_some());
        self.counted.extend((0..COUNTED.len()).filter(used));
        // As many decimals as tell the rows of a short search apart.
        let decimals = match run.rows.last().map_or(0.0, |row| row.at_s) {
            at if at < 0.1 => 4,
            at if at < 10.0 => 3,
            _ => 1,
        };
        self.rows.clear();
        self.rows.extend(run.rows.iter().map(|row| table_row(input, run, row, &self.counted, decimals)));
        let items =
            run.rows.iter().zip(0..).map(|(row, index)| Item { id: row.number, row: index, place: 0.0 });
        self.items = items.collect();
    }

    pub fn draw(
        &mut self,
        theme: &Theme,
        counted: &str,
        selected: Option<ItemId>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        self.table.hits.clear();
        if area.height < 2 {
            return;
        }
        let fits = usize::from(area.height - 1);
        self.table.selected = selected;
        if self.selected(selected).is_none() {
            // The newest rows matter; older ones are reached by going there.
            self.table.offset = self.rows.len().saturating_sub(fits);
        }
        (&Table::new(theme, &self.columns(counted), &self.rows)).render(area, buf, &mut self.table);
    }

    /// Reports the places that can be selected and clicked.
    pub fn report(&self, pane: PaneId, drawn: &mut PaneDrawn, out: &mut Drawn, height: u16) {
        if height < 2 {
            return;
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(height - 1);
        out.hits.extend(self.table.hits.iter().map(|found| hit(pane, found.rect, found.id)));
    }

    fn columns(&self, counted: &str) -> Vec<Column> {
        let mut columns = vec![
            Column::left("source", 16).cut(Cut::End),
            Column::right(counted.to_owned(), (counted.len() as u16).max(8)),
        ];
        let figures = self.counted.iter().map(|index| {
            let (name, width, priority, _) = COUNTED[*index];
            Column::right(name, width).priority(priority)
        });
        columns.extend(figures);
        columns.extend([
            Column::right("best bound", 10).priority(1),
            Column::right("best sol", 10),
            Column::right("gap %", 6),
            Column::right("of comm.", 8).priority(2),
            Column::right("time s", 7),
        ]);
        columns
    }
}

fn table_row(
    input: &PaneInput<'_>,
    run: &Run,
    row: &SearchRow,
    counted: &[usize],
    decimals: usize,
) -> TableRow {
    let gap = gap_of(input, run, row);
    let unknown = || number::UNKNOWN.to_owned();
    let nct = gap.and_then(|gap| gap.nct).map_or_else(unknown, |gap| format!("{} %", open_percent(gap, 1)));
    let share = gap.map_or_else(unknown, |gap| open_percent(gap.share, 2));
    let (bound, best) =
        if row.what == "bound" { (Tone::Good, Tone::Muted) } else { (Tone::Muted, Tone::Answer) };
    let mut cells =
        vec![Piece::muted(source(row).to_owned()), Piece::text(String::from(number::short(row.stats.done)))];
    cells.extend(counted.iter().map(|index| Piece::muted(count(COUNTED[*index].3(row)))));
    cells.extend([
        Piece::new(seconds(row.bound), bound),
        Piece::new(seconds(row.best), best),
        Piece::text(share),
        Piece::muted(nct),
        Piece::muted(String::from(number::fixed(row.at_s, decimals))),
    ]);
    TableRow::item(row.number, cells)
}

/// A row in words, whole.
pub fn sentence(input: &PaneInput<'_>, run: &Run, row: &SearchRow) -> Vec<Piece> {
    let (what, value) = if row.what == "bound" { ("bound ", row.bound) } else { ("", row.best) };
    let mut line = vec![Piece::answer(format!("> {what}{} s", seconds(value)))];
    if !row.source.is_empty() {
        line.push(Piece::text(format!("  from {}", row.source)));
    }
    line.push(Piece::muted(format!("  at {} s", number::fixed(row.at_s, 1))));
    line.push(Piece::muted(format!("  {} {}", unit_of(run), number::count(row.stats.done))));
    if let Some(gap) = gap_of(input, run, row) {
        line.push(Piece::text(format!("  gap {}", gap.long())));
    }
    for (name, .., of) in COUNTED {
        if let Some(value) = of(row) {
            line.push(Piece::muted(format!("  {name} {}", number::short(value))));
        }
    }
    line
}
