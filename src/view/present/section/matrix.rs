//! Cells by row and column: shaded by amount where the section asks for it, scrolled where they do not fit.

use super::{item_id, report_hits, tone};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use lightbay_core::report::text::{self, in_column};
use lightbay_core::report::{Matrix, Phrase, Tone as Meaning};
use lightbay_widgets::{Label, Theme, Tile, TileFlag, Tiles, TilesState, Tone, pieces_width, scroll};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Columns of a heading where not all columns fit.
const HEAD: u16 = 8;

/// A matrix on the screen.
#[derive(Debug)]
pub struct MatrixView {
    block: usize,
    matrix: Matrix,
    rows: Vec<Label>,
    heads: Vec<Label>,
    tiles: Vec<Tile>,
    /// The columns in sight, padded to the same width.
    window: Vec<Tile>,
    /// First column, columns and width that the window was made for.
    window_of: (usize, usize, u16),
    state: TilesState,
}

impl MatrixView {
    /// Prepares the matrix of a block, given by its index.
    pub fn new(block: usize, matrix: &Matrix) -> Self {
        let amounts = || matrix.cells.iter().filter_map(|cell| cell.value.as_f64());
        let (low, high) = amounts()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let tile = |cell: &lightbay_core::report::Cell| {
            let shade =
                cell.value.as_f64().filter(|_| matrix.shaded && high > low && cell.tone == Meaning::Text);
            Tile {
                text: in_column(cell, matrix.unit).into(),
                tone: shade.map_or_else(
                    || tone(cell.tone),
                    |value| Tone::Heat(Theme::heat_level((value - low) / (high - low))),
                ),
                flag: TileFlag::Plain,
            }
        };
        Self {
            block,
            rows: matrix.rows.iter().map(|name| name.clone().into()).collect(),
            heads: matrix.columns.iter().map(|name| name.clone().into()).collect(),
            tiles: matrix.cells.iter().map(tile).collect(),
            matrix: matrix.clone(),
            window: Vec::new(),
            window_of: (0, 0, 0),
            state: TilesState::default(),
        }
    }

    /// Rows that it takes with its headings.
    pub fn rows(&self) -> u16 {
        self.rows.len() as u16 + 1
    }

    fn width(&self) -> usize {
        self.heads.len().max(1)
    }

    /// Its items; `first` is the row of the first of them.
    pub fn items(&self, first: u32) -> impl Iterator<Item = Item> {
        let (width, block) = (self.width(), self.block);
        (0..self.tiles.len()).map(move |at| Item {
            id: item_id(block, at),
            row: first + (at / width) as u32,
            place: (at % width) as f32,
        })
    }

    fn place_of(&self, id: ItemId) -> Option<usize> {
        (id.checked_sub(item_id(self.block, 0))).map(|at| at as usize).filter(|at| *at < self.tiles.len())
    }

    /// The sentence on a cell.
    pub fn sentence(&self, id: ItemId) -> Option<Phrase> {
        let at = self.place_of(id)?;
        let (row, column) = (at / self.width(), at % self.width());
        let name = format!("> {} x {}", self.matrix.rows.get(row)?, self.matrix.columns.get(column)?);
        let value = text::cell(self.matrix.cells.get(at)?, self.matrix.unit);
        Some(Phrase::new().answer(name).text(format!("  {value}")))
    }

    pub fn draw(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let theme = &input.app.look.theme;
        let selected = input.state.selected.and_then(|id| self.place_of(id));
        let width = self.width();
        let at = selected.map(|at| (at / width, at % width));
        // As many columns as fit beside the names, with one blank each.
        let label =
            |label: &Label| pieces_width(&[lightbay_widgets::Piece::text(label.clone())], theme.glyphs);
        let names = self.rows.iter().map(label).max().unwrap_or(0);
        let digits = self.tiles.iter().map(|tile| label(&tile.text)).max().unwrap_or(1);
        let heads = self.heads.iter().map(label).max().unwrap_or(1);
        let fitting = |pitch: u16| usize::from(area.width.saturating_sub(names + 1) / pitch);
        // Whole names where all columns fit with them, else as much of them as numbers leave.
        let whole = digits.max(heads).max(1) + 1;
        let pitch = if fitting(whole) >= width { whole } else { digits.max(heads.min(HEAD)).max(1) + 1 };
        let room = fitting(pitch).clamp(1, width);
        let first = scroll::follow(input.state.column, at.map(|at| at.1), room, width);
        if self.window_of != (first, room, pitch) {
            self.window_of = (first, room, pitch);
            self.window.clear();
            for row in self.tiles.chunks(width) {
                self.window.extend(row[first..first + room].iter().map(|tile| Tile {
                    text: format!("{:>1$}", tile.text.as_ref(), usize::from(pitch - 1)).into(),
                    ..tile.clone()
                }));
            }
        }
        self.state.selected = at.filter(|_| input.focused).map(|(row, column)| (row, column - first));
        self.state.row_offset = scroll::follow(
            input.state.offset,
            at.map(|at| at.0),
            usize::from(area.height.saturating_sub(1)).max(1),
            self.rows.len(),
        );
        let heads: Vec<Label> =
            self.heads[first..first + room].iter().map(|head| ending(head, usize::from(pitch - 1))).collect();
        (&Tiles::new(theme, &self.rows, room, &self.window).heads(&heads)).render(area, buf, &mut self.state);
        let block = self.block;
        let id = |row: u32, column: u32| item_id(block, row as usize * width + first + column as usize);
        report_hits(input, &self.state.hits, id, out);
    }
}

/// The end of a name, which tells it apart, where the whole is too long.
fn ending(name: &str, columns: usize) -> Label {
    let letters = name.chars().count();
    if letters <= columns {
        return name.to_owned().into();
    }
    let kept: String = name.chars().skip(letters - columns.saturating_sub(1)).collect();
    format!("…{kept}").into()
}
