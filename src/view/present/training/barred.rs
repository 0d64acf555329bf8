//! A table with a bar behind every row, scrolled as one list.

use crate::app::drawn::{Item, PaneDrawn};
use crate::view::present::PaneInput;
use crate::view::present::rows::beside;
use lightbay_widgets::{Column, Meter, Part, RowKind, Table, TableRow, TableState, Tone, scroll};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};

/// Least columns of the bars; without them the table stands alone.
const BAR: u16 = 8;

/// A row and the value of its bar; rows without a bar have none.
#[derive(Debug)]
pub struct Barred {
    pub row: TableRow,
    pub bar: Option<(f64, Tone)>,
}

impl Barred {
    /// A heading.
    pub fn heading(text: impl Into<lightbay_widgets::Label>) -> Self {
        Self { row: TableRow::heading(text), bar: None }
    }
}

/// Draws the rows and says which of them can be selected. `full` is the value at the right end of the bars.
pub fn draw(
    input: &PaneInput<'_>,
    columns: &[Column],
    rows: &[Barred],
    full: f64,
    state: &mut TableState,
    (area, buf): (Rect, &mut Buffer),
    drawn: &mut PaneDrawn,
) {
    let theme = &input.app.look.theme;
    // The selection and marks stand in the first three columns.
    let wanted = 3 + columns
        .iter()
        .enumerate()
        .map(|(at, column)| column.width + if at > 0 { column.gap } else { 0 })
        .sum::<u16>();
    let (left, right) =
        if area.width >= wanted + 2 + BAR { beside(area, wanted, 2) } else { (area, Rect::ZERO) };
    let shown = usize::from(area.height.saturating_sub(1)).max(1);
    let at = input.state.selected.and_then(|id| rows.iter().position(|row| is(row, id)));
    let offset = scroll::follow(input.state.offset, at, shown, rows.len());
    let visible = &rows[offset..rows.len().min(offset + shown)];
    let table: Vec<TableRow> = visible.iter().map(|row| row.row.clone()).collect();
    state.selected = input.state.selected.filter(|_| input.focused);
    state.offset = 0;
    (&Table::new(theme, columns, &table)).render(left, buf, state);
    state.offset = offset;
    for (y, row) in (right.y + 1..right.bottom()).zip(visible) {
        if let Some((value, tone)) = row.bar.filter(|(value, _)| *value > 0.0) {
            let place = Rect { y, height: 1, ..right };
            (&Meter::new(theme, &[Part::new(value, tone, '#')], full)).render(place, buf);
        }
    }
    drawn.items = (0..)
        .zip(rows)
        .filter(|(_, row)| row.row.kind == RowKind::Item)
        .map(|(at, row)| Item { id: row.row.id, row: at, place: 0.0 })
        .collect();
    drawn.page = shown;
    drawn.offset = offset;
}

fn is(row: &Barred, id: u32) -> bool {
    row.row.kind == RowKind::Item && row.row.id == id
}
