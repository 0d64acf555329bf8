//! Cells by row and column: shaded by amount if the section requests it, and scrolled if they do not fit.

use super::graph::GraphView;
use super::panels::rows_of;
use super::{item_id, pieces, report_hits, tone};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use crate::view::present::rows::{InSight, in_sight, line};
use lightbay_core::report::text::{self, in_column};
use lightbay_core::report::{Matrix, Phrase, Tone as Meaning};
use lightbay_widgets::{
    Label, Piece, SignRows, Signs, SignsState, Theme, Tile, TileFlag, Tiles, TilesState, Tone, pieces_width,
    scroll,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::collections::BTreeMap;

/// Name of the form in which a matrix is drawn as a network, if its rows have positions.
const DRAWN: &str = "drawn";

/// Width of a heading if not all columns fit.
const HEAD: u16 = 8;

/// Minimum number of columns of a network next to a list.
const NETWORK: u16 = 40;

/// Maximum number of screen rows for each row of shaded cells, for each of a few rows, and for each row of signs, in a
/// large pane.
const TALL: u16 = 4;
const TALL_FEW: u16 = 8;
const TALL_SIGNS: u16 = 3;

/// Number of rows up to which cells are taller.
const FEW_ROWS: usize = 6;

/// Maximum number of screen rows for each row of cells in groups.
const TALL_GROUPS: u16 = 2;

/// Maximum number of different amounts that are shaded without the darkest and the brightest shades.
const FEW: usize = 3;

/// Maximum number of columns to which a shaded cell of several rows is widened, per row of the cell.
const ASPECT: u16 = 3;

/// A matrix on the screen.
#[derive(Debug)]
pub struct MatrixView {
    block: usize,
    matrix: Matrix,
    rows: Vec<Label>,
    heads: Vec<Label>,
    tiles: Vec<Tile>,
    /// The visible columns, padded to the same width.
    window: Vec<Tile>,
    /// First visible column, number of visible columns, and width of a column, for which `window` was filled.
    window_of: (usize, usize, u16),
    /// Headings over the columns.
    groups: Vec<Vec<Piece>>,
    /// Index of the cell of each item, if cells have items of their own.
    places: BTreeMap<ItemId, usize>,
    state: TilesState,
    /// Signs that are drawn instead of the texts of the cells, and the words after each row.
    signs: Option<SignsView>,
    /// The network, if the matrix is drawn as one.
    graph: Option<GraphView>,
    /// `true` if the network is too small to be drawn.
    plain: bool,
}

/// Signs of a matrix on the screen.
#[derive(Debug, Default)]
struct SignsView {
    rows: SignRows,
    words: Vec<Vec<Piece>>,
    state: SignsState,
}

impl SignsView {
    fn of(matrix: &Matrix) -> Option<Self> {
        if matrix.signs.is_empty() {
            return None;
        }
        let rows = rows_of(&matrix.signs, matrix.columns.len());
        let words = matrix.words.iter().map(pieces).collect();
        Some(Self { rows, words, state: SignsState::default() })
    }

    fn widget<'a>(&'a self, theme: &'a Theme, columns: usize) -> Signs<'a> {
        Signs::new(theme, &self.rows, columns).words(&self.words)
    }
}

impl MatrixView {
    /// Prepares the matrix of a block, given by its index.
    pub fn new(block: usize, matrix: &Matrix) -> Self {
        // Differences are shaded by their magnitude.
        let amount = |cell: &lightbay_core::report::Cell| {
            let value = cell.value.as_f64().filter(|_| cell.tone != Meaning::Muted)?;
            Some(if matrix.unit.signed { value.abs() } else { value })
        };
        let mut amounts: Vec<f64> = matrix.cells.iter().filter_map(amount).collect();
        amounts.sort_by(f64::total_cmp);
        amounts.dedup();
        let [low, high] = [amounts.first(), amounts.last()].map(|end| end.copied().unwrap_or(0.0));
        // A few amounts differ clearly without the darkest and the brightest shades.
        let (first, range) = if amounts.len() <= FEW { (0.25, 0.5) } else { (0.0, 1.0) };
        let tile = |cell: &lightbay_core::report::Cell| {
            let shade = amount(cell).filter(|_| matrix.shaded && high > low);
            // On shaded cells, style or sign shows the meaning: bold for the answer, a mark for a cell that needs
            // attention.
            let flag = match cell.tone {
                _ if shade.is_none() => TileFlag::Plain,
                Meaning::Answer | Meaning::Good => TileFlag::Differs,
                Meaning::Changed => TileFlag::Changed,
                Meaning::Warn | Meaning::Bad => TileFlag::Bad,
                Meaning::Text | Meaning::Muted => TileFlag::Plain,
            };
            Tile {
                text: in_column(cell, matrix.unit).into(),
                tone: shade.map_or_else(
                    || tone(cell.tone),
                    |value| Tone::Heat(Theme::heat_level(first + range * (value - low) / (high - low))),
                ),
                flag,
            }
        };
        Self {
            block,
            rows: matrix.rows.iter().map(|name| name.clone().into()).collect(),
            heads: matrix.columns.iter().map(|name| name.clone().into()).collect(),
            tiles: matrix.cells.iter().map(tile).collect(),
            groups: matrix.groups.iter().map(|name| vec![Piece::answer(name.clone())]).collect(),
            places: matrix
                .about
                .iter()
                .enumerate()
                .filter_map(|(at, about)| Some((about.item?, at)))
                .collect(),
            matrix: matrix.clone(),
            window: Vec::new(),
            window_of: (0, 0, 0),
            state: TilesState::default(),
            signs: SignsView::of(matrix),
            graph: None,
            plain: false,
        }
    }

    /// Prepares the matrix for a form of its section; the form [`DRAWN`] shows a matrix whose rows have positions as a
    /// network.
    pub fn in_form(mut self, form: &str) -> Self {
        self.graph = if form == DRAWN { GraphView::of(&self.matrix) } else { None };
        self
    }

    /// Returns `true` if the matrix is drawn as a network.
    pub fn is_network(&self) -> bool {
        self.graph().is_some()
    }

    /// Sets whether cells are drawn in place of the network, because there is little room.
    pub const fn set_plain(&mut self, plain: bool) {
        self.plain = plain;
    }

    fn graph(&self) -> Option<&GraphView> {
        self.graph.as_ref().filter(|_| !self.plain)
    }

    /// Returns `true` if a pane has room for the matrix or its network.
    pub fn fits(&self, pane: Rect) -> bool {
        self.graph().is_none_or(|graph| graph.fits(pane))
    }

    /// Returns `true` if the matrix has a network in its form.
    pub const fn has_network(&self) -> bool {
        self.graph.is_some()
    }

    /// Returns the minimum number of rows of a network; 0 for a matrix.
    pub fn least_rows(&self) -> u16 {
        self.graph().map_or(0, GraphView::least_rows)
    }

    /// Returns the number of rows, including headings.
    pub fn rows(&self) -> u16 {
        if self.graph().is_some() {
            return u16::MAX / 2;
        }
        self.rows.len() as u16 + 1 + u16::from(!self.groups.is_empty())
    }

    /// Returns the number of rows of the matrix, which are the nodes of its network.
    pub const fn names(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of rows of cells; 1 for a network, whose rows cannot be counted.
    pub fn count(&self) -> u16 {
        if self.graph().is_some() { 1 } else { self.rows.len() as u16 }
    }

    /// Returns the maximum number of rows that the matrix can use in a large pane, including headings.
    pub fn most_rows(&self, theme: &Theme) -> u16 {
        let tall = match (&self.signs, self.graph()) {
            (_, Some(_)) => 1,
            (Some(_), None) => TALL_SIGNS,
            // Without shades, tall cells would be blank rows.
            (None, None) if self.has_shades() && theme.shades() && !self.groups.is_empty() => TALL_GROUPS,
            (None, None) if self.has_shades() && theme.shades() && self.rows.len() <= FEW_ROWS => TALL_FEW,
            (None, None) if self.has_shades() && theme.shades() => TALL,
            (None, None) => 1,
        };
        self.rows().saturating_add((self.rows.len() as u16).saturating_mul(tall - 1))
    }

    /// Returns `true` if cells are shaded by amount; equal amounts have no shades.
    fn has_shades(&self) -> bool {
        self.tiles.iter().any(|tile| matches!(tile.tone, Tone::Heat(_)))
    }

    /// Returns the number of rows of the screen for each row of cells.
    fn tall(&self, theme: &Theme, height: u16) -> u16 {
        let count = (self.rows.len() as u16).max(1);
        let most = 1 + (self.most_rows(theme) - self.rows()) / count;
        let heads = self.rows() - count;
        (height.saturating_sub(heads) / count).clamp(1, most)
    }

    /// Returns the maximum number of columns that the matrix can use.
    pub fn wish(&self) -> u16 {
        if let Some(signs) = &self.signs {
            return signs.widget(&Theme::default(), self.width()).wished();
        }
        let widest = |labels: &[Label]| labels.iter().map(|label| columns_of(label)).max().unwrap_or(0);
        let tiles = self.tiles.iter().map(|tile| columns_of(&tile.text)).max().unwrap_or(1);
        let gaps = 2 * self.groups.len().saturating_sub(1) as u16;
        let words = self.words_wide();
        let pitch =
            if self.groups.is_empty() { tiles.max(widest(&self.heads).min(HEAD)) + 1 } else { tiles + 3 };
        widest(&self.rows) + 1 + self.width() as u16 * pitch + gaps + words
    }

    /// Returns the number of columns of all signs without gaps, with or without the words after them; `None` for a
    /// matrix without signs.
    pub fn close(&self, words: bool) -> Option<u16> {
        let signs = self.signs.as_ref()?;
        Some(signs.widget(&Theme::default(), self.width()).close(words))
    }

    /// Returns the minimum number of columns of the matrix next to a list.
    pub fn least_wide(&self) -> u16 {
        if self.graph().is_some() { NETWORK.max(self.wish()) } else { self.wish() }
    }

    /// Returns the room for the words that follow each row: the width of the longest words and a gap; 0 without words.
    fn words_wide(&self) -> u16 {
        let wide = self.matrix.words.iter().map(|phrase| columns_of(&phrase.to_string())).max();
        wide.filter(|wide| *wide > 0).map_or(0, |wide| wide.max(columns_of(self.matrix.words_heading)) + 2)
    }

    fn width(&self) -> usize {
        self.heads.len().max(1)
    }

    /// Iterates over the items; `first` is the row of the first item.
    pub fn items(&self, first: u32) -> impl Iterator<Item = Item> {
        let (width, block) = (self.width(), self.block);
        let own: Vec<Option<ItemId>> = self.matrix.about.iter().map(|about| about.item).collect();
        (0..self.tiles.len()).filter_map(move |at| {
            let id = own.get(at).map_or_else(|| Some(item_id(block, at)), |own| *own)?;
            Some(Item { id, row: first + (at / width) as u32, place: (at % width) as f32 })
        })
    }

    fn place_of(&self, id: ItemId) -> Option<usize> {
        if let Some(at) = self.places.get(&id) {
            return Some(*at);
        }
        (id.checked_sub(item_id(self.block, 0))).map(|at| at as usize).filter(|at| *at < self.tiles.len())
    }

    /// Returns the first visible row, and the first visible column if signs scroll.
    pub fn offset(&self) -> (usize, Option<usize>) {
        match &self.signs {
            Some(signs) => (signs.state.row_offset, Some(signs.state.column_offset)),
            None => (self.state.row_offset, None),
        }
    }

    /// Returns the number of visible rows.
    pub fn page(&self) -> usize {
        let rows = self.signs.as_ref().map_or(self.state.rows_shown, |signs| signs.state.rows_shown);
        rows.max(1)
    }

    /// Returns the visible rows and columns, if some are hidden.
    pub fn in_sight(&self) -> Option<InSight> {
        if self.graph().is_some() {
            return None;
        }
        let (row, column, rows, columns) = if let Some(signs) = &self.signs {
            let state = &signs.state;
            (state.row_offset, state.column_offset, state.rows_shown, state.columns_shown)
        } else if !self.groups.is_empty() {
            // The headings name hidden groups.
            (self.state.row_offset, 0, self.state.rows_shown, self.width())
        } else {
            let (column, columns, _) = self.window_of;
            (self.state.row_offset, column, self.state.rows_shown, columns)
        };
        in_sight((row, rows, self.rows.len()), (column, columns, self.width()))
    }

    /// Returns the row of the cell with index `id`, for a cell without an item; `None` for a matrix without signs.
    pub fn row_of(&self, id: ItemId) -> Option<u32> {
        let at = id as usize;
        (self.signs.is_some() && at < self.tiles.len()).then(|| (at / self.width()) as u32)
    }

    /// Returns the sentence about a cell.
    pub fn sentence(&self, id: ItemId) -> Option<Phrase> {
        let at = self.place_of(id)?;
        if let Some(about) = self.matrix.about.get(at).filter(|about| !about.sentence.is_empty()) {
            return Some(about.sentence.clone());
        }
        let (row, column) = (at / self.width(), at % self.width());
        let name = format!("> {} x {}", self.matrix.rows.get(row)?, self.matrix.columns.get(column)?);
        let value = text::cell(self.matrix.cells.get(at)?, self.matrix.unit);
        Some(Phrase::new().answer(name).text(format!("  {value}")))
    }

    /// Returns lines about a cell.
    pub fn details(&self, id: ItemId) -> Vec<String> {
        let about = self.place_of(id).and_then(|at| self.matrix.about.get(at));
        about.map_or_else(Vec::new, |about| about.details.clone())
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        chosen: Option<ItemId>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let selected = chosen.and_then(|id| self.place_of(id));
        if let Some(graph) = self.graph() {
            return graph.draw(input, selected, area, buf);
        }
        if !self.groups.is_empty() {
            return self.draw_groups(input, selected, area, buf, out);
        }
        if self.signs.is_some() {
            return self.draw_signs(input, selected, area, buf, out);
        }
        let width = self.width();
        let at = selected.map(|at| (at / width, at % width));
        // As many columns as fit next to the names, with one blank each.
        let label = |label: &Label| pieces_width(&[Piece::text(label.clone())], theme.glyphs);
        let names = self.rows.iter().map(label).max().unwrap_or(0);
        let digits = self.tiles.iter().map(|tile| label(&tile.text)).max().unwrap_or(1);
        let heads = self.heads.iter().map(label).max().unwrap_or(1);
        // Words after the rows stay as long as they leave space for all columns.
        let all = names + 1 + width as u16 * (digits.max(heads.min(HEAD)).max(1) + 1);
        let words = Some(self.words_wide()).filter(|words| *words > 0 && all + *words <= area.width);
        let area = Rect { width: area.width - words.unwrap_or(0), ..area };
        let fitting = |pitch: u16| usize::from(area.width.saturating_sub(names + 1) / pitch);
        // Full names if all columns then fit, else names cut to the room that the numbers leave.
        let whole = digits.max(heads).max(1) + 1;
        let pitch = if fitting(whole) >= width { whole } else { digits.max(heads.min(HEAD)).max(1) + 1 };
        let room = fitting(pitch).clamp(1, width);
        // Tall cells are wider too, if all columns fit.
        let tall = if room == width { self.tall(theme, area.height) } else { 1 };
        let widest = area.width.saturating_sub(names + 1) / width.min(usize::from(u16::MAX)) as u16;
        let pitch = if tall > 1 { widest.min(ASPECT * tall).max(pitch) } else { pitch };
        let first = scroll::follow(input.state.column, at.map(|at| at.1), room, width);
        if self.window_of != (first, room, pitch) {
            self.window_of = (first, room, pitch);
            self.window.clear();
            for row in self.tiles.chunks(width) {
                self.window.extend(row[first..first + room].iter().map(|tile| Tile {
                    text: centred(&format!("{:>1$}", tile.text.as_ref(), usize::from(digits)), pitch, tall),
                    ..tile.clone()
                }));
            }
        }
        self.state.selected = at.map(|(row, column)| (row, column.saturating_sub(first)));
        // If words follow the rows, the columns keep their minimum distance.
        let close = names + 1 + room as u16 * pitch;
        let area = if words.is_some() { Rect { width: close.min(area.width), ..area } } else { area };
        self.state.row_offset = scroll::follow(
            input.state.offset,
            at.map(|at| at.0),
            usize::from(area.height.saturating_sub(1) / tall).max(1),
            self.rows.len(),
        );
        let heads = self.heads[first..first + room].iter();
        let heads: Vec<Label> = heads
            .map(|head| ending(head, usize::from(pitch - 1)))
            .map(|head| if tall > 1 { centred(&head, pitch, tall) } else { head })
            .collect();
        let tiles = Tiles::new(theme, &self.rows, room, &self.window).heads(&heads).tall(tall);
        (&tiles).render(area, buf, &mut self.state);
        if let Some(words) = words {
            let x = area.x + (names + 1 + room as u16 * pitch).min(area.width) + 1;
            let top = area.bottom().saturating_sub(self.state.rows_shown as u16 * tall).max(area.y);
            let top = top.min(area.y + 1) + (tall - 1) / 2;
            let heading = Piece::muted(self.matrix.words_heading);
            line(
                theme,
                &[heading],
                Rect { x, y: area.y, width: words, height: u16::from(top > area.y) },
                buf,
            );
            let rows = self.matrix.words.iter().skip(self.state.row_offset).take(self.state.rows_shown);
            for (y, phrase) in (top..area.bottom()).step_by(usize::from(tall)).zip(rows) {
                line(theme, &pieces(phrase), Rect { x, y, width: words, height: 1 }, buf);
            }
        }
        let id = |row: u32, column: u32| self.id(row as usize * width + first + column as usize);
        report_hits(input, &self.state.hits, id, out);
    }

    /// Draws signs instead of texts, with as much distance as fits.
    fn draw_signs(
        &mut self,
        input: &PaneInput<'_>,
        selected: Option<usize>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let width = self.width();
        let theme = &input.app.look.theme;
        let tall = self.tall(theme, area.height);
        let Some(mut signs) = self.signs.take() else { return };
        let mut state = std::mem::take(&mut signs.state);
        state.selected = selected.map(|at| (at / width, at % width));
        // A default cell differs from plan to plan, so only a cell that the user chose moves the columns.
        state.still = input.state.selected.is_none();
        (state.row_offset, state.column_offset) = (input.state.offset, input.state.column);
        // The tallest cells whose columns fit.
        let widget = |tall: u16| signs.widget(theme, width).tall(tall);
        let fitting = (2..=tall).rev().map(widget).find(|widget| widget.wished() <= area.width);
        let widget = fitting.unwrap_or_else(|| widget(1));
        (&widget).render(area, buf, &mut state);
        let id = |row: u32, column: u32| self.id(row as usize * width + column as usize);
        report_hits(input, &state.hits, id, out);
        signs.state = state;
        self.signs = Some(signs);
    }

    /// Returns the item of the cell with this index.
    fn id(&self, at: usize) -> ItemId {
        let own = self.matrix.about.get(at).and_then(|about| about.item);
        own.unwrap_or_else(|| item_id(self.block, at))
    }

    /// Draws the columns in groups, without individual names: all groups if they fit, else as many as fit.
    fn draw_groups(
        &mut self,
        input: &PaneInput<'_>,
        selected: Option<usize>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let width = self.width();
        self.state.selected = selected.map(|at| (at / width, at % width));
        self.state.row_offset = input.state.offset;
        let tall = self.tall(theme, area.height);
        let tiles = Tiles::new(theme, &self.rows, width, &self.tiles).tall(tall).groups(&self.groups);
        let headings = area.height > self.rows.len() as u16;
        (&tiles.headings(headings)).render(area, buf, &mut self.state);
        let id = |row: u32, column: u32| self.id(row as usize * width + column as usize);
        report_hits(input, &self.state.hits, id, out);
    }
}

/// Pads a text to the width of a cell: the text is at the right end, or in the middle of a cell of several rows.
fn centred(text: &str, pitch: u16, tall: u16) -> Label {
    let columns = usize::from(pitch - 1);
    let length = text.chars().count();
    let right = columns.saturating_sub(length);
    // The gap after a cell is a part of its area.
    let left = if tall > 1 { right.min((right + 1).div_ceil(2)) } else { right };
    format!("{:left$}{text:<1$}", "", columns - left.min(columns)).into()
}

/// Returns the width of a text in columns.
fn columns_of(text: &str) -> u16 {
    pieces_width(&[Piece::text(text.to_owned())], Theme::default().glyphs)
}

/// Shortens a name that is too long to its end, because the end distinguishes it from other names.
fn ending(name: &str, columns: usize) -> Label {
    let letters = name.chars().count();
    if letters <= columns {
        return name.to_owned().into();
    }
    let kept: String = name.chars().skip(letters - columns.saturating_sub(1)).collect();
    format!("…{kept}").into()
}
