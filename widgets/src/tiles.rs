//! Groups of short marks on shades: switches by cube, failed switches by face. The mark has the information, the shade
//! is decoration.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::number::Num;
use crate::pen::{Label, Pen, Piece};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Background, HEAT_STEPS, Theme, Tone};

/// Special state of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TileFlag {
    /// The tile has no special state.
    #[default]
    Plain,
    /// The tile was changed by hand and the change is not kept yet: `*`.
    Changed,
    /// The tile is marked with an error: `!`.
    Bad,
    /// The tile differs from the plan of the comparison: its text is bold.
    Differs,
}

/// One tile: a short mark on a shade.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tile {
    /// Mark of the tile: a digit or two.
    pub text: Label,
    /// Background of the tile, usually a heat step (strength of the shade).
    pub tone: Tone,
    /// Special state of the tile.
    pub flag: TileFlag,
}

/// State of tiles, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TilesState {
    /// Selected row and column.
    pub selected: Option<(usize, usize)>,
    /// Index of the first row shown.
    pub row_offset: usize,
    /// Number of rows shown.
    pub rows_shown: usize,
    /// Clickable tiles: the `id` of a hit is the index of the row, `part` is the index of the column.
    pub hits: Hits,
}

/// Rows and columns of tiles; columns form groups with a gap between them.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, Label, Piece, Theme, Tile, Tiles, TilesState, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let tiles: Vec<Tile> = "1234".chars().map(|c| Tile { text: c.to_string().into(), ..Tile::default() }).collect();
/// let (rows, groups) = ([Label::from("0")], [vec![Piece::answer("X")], vec![Piece::answer("Y")]]);
/// let area = Rect::new(0, 0, 9, 2);
/// let mut buf = Buffer::empty(area);
/// Tiles::new(&theme, &rows, 4, &tiles).groups(&groups).render(area, &mut buf, &mut TilesState::default());
/// assert_eq!(text_of(&buf), "  X   Y\n0 12  34");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Tiles<'a> {
    theme: &'a Theme,
    rows: &'a [Label],
    columns: usize,
    all: &'a [Tile],
    groups: &'a [Vec<Piece>],
    heads: &'a [Label],
    editing: bool,
    whole_columns: bool,
    headings: bool,
    tall: u16,
}

/// Number of columns between two groups, in the wide and in the narrow form.
const GAPS: [i32; 2] = [2, 1];

/// Layout of the tiles.
#[derive(Clone, Copy)]
struct TilePlaces {
    left: i32,
    pitch: i32,
    gap: i32,
    digits: i32,
}

impl<'a> Tiles<'a> {
    /// Creates a grid of tiles, given row by row, with names of the rows.
    pub const fn new(theme: &'a Theme, rows: &'a [Label], columns: usize, tiles: &'a [Tile]) -> Self {
        Self {
            theme,
            rows,
            columns,
            all: tiles,
            groups: &[],
            heads: &[],
            editing: false,
            whole_columns: false,
            headings: true,
            tall: 1,
        }
    }

    /// Sets headings of the groups, which share the columns evenly.
    #[must_use]
    pub const fn groups(mut self, groups: &'a [Vec<Piece>]) -> Self {
        self.groups = groups;
        self
    }

    /// Sets headings of the columns, which are shown above every column if each heading fits, otherwise above every
    /// fourth column of a group.
    #[must_use]
    pub const fn heads(mut self, heads: &'a [Label]) -> Self {
        self.heads = heads;
        self
    }

    /// Sets that the edit layer is open: the selected tile is in brackets.
    #[must_use]
    pub const fn editing(mut self, editing: bool) -> Self {
        self.editing = editing;
        self
    }

    /// Sets whether a selection marks its whole column.
    #[must_use]
    pub const fn whole_columns(mut self, whole: bool) -> Self {
        self.whole_columns = whole;
        self
    }

    /// Sets whether the headings are drawn.
    #[must_use]
    pub const fn headings(mut self, headings: bool) -> Self {
        self.headings = headings;
        self
    }

    /// Sets the number of rows of the screen for each row of tiles.
    #[must_use]
    pub const fn tall(mut self, rows: u16) -> Self {
        self.tall = if rows == 0 { 1 } else { rows };
        self
    }

    fn group_size(&self) -> usize {
        self.columns.div_ceil(self.groups.len().max(1)).max(1)
    }

    /// Returns the number of rows of headings.
    pub fn heading_rows(&self) -> u16 {
        if !self.headings {
            return 0;
        }
        u16::from(!self.groups.is_empty()) + u16::from(!self.heads.is_empty())
    }

    /// Computes the layout in columns: width of the names, distance from one tile to the next, gap between groups, and
    /// width of the digits.
    fn places(&self, width: i32) -> TilePlaces {
        let glyphs = self.theme.glyphs;
        let names = self.rows.iter().map(|name| i32::from(text::width(name, glyphs))).max().unwrap_or(0);
        let left = if names > 0 { names + 1 } else { 0 };
        let digits =
            self.all.iter().map(|tile| i32::from(text::width(&tile.text, glyphs))).max().unwrap_or(1).max(1);
        let gaps = self.groups.len().max(1) as i32 - 1;
        let columns = (self.columns as i32).max(1);
        // Numbers of several digits have a blank between them.
        let least = digits + i32::from(digits > 1);
        let gap = GAPS.into_iter().find(|gap| left + gaps * gap + columns * least <= width);
        let gap = gap.unwrap_or(GAPS[1]);
        let room = (width - left - gaps * gap) / columns;
        // Wider tiles are easier to read, up to a blank on each side for each row of a tile.
        let most = digits + 2 * i32::from(self.tall);
        TilePlaces { left, pitch: room.clamp(least, most.max(least)), gap, digits }
    }

    fn x_of(&self, column: usize, places: TilePlaces) -> i32 {
        places.left + column as i32 * places.pitch + (column / self.group_size()) as i32 * places.gap
    }

    /// Returns `true` if all columns fit into a width.
    pub fn fits(&self, width: u16) -> bool {
        let places = self.places(i32::from(width));
        self.columns == 0 || self.x_of(self.columns - 1, places) + places.pitch <= i32::from(width)
    }

    /// Returns the number of groups that fit into a width. If not all fit, those around the selection are drawn.
    pub fn groups_in(&self, width: u16) -> usize {
        (1..=self.groups.len()).rev().find(|shown| self.of_groups(0, *shown).fits(width)).unwrap_or(0)
    }

    /// Returns the layout of `shown` groups from group `first` on.
    fn of_groups(&self, first: usize, shown: usize) -> Self {
        let size = self.group_size();
        let (start, end) = (first * size, ((first + shown) * size).min(self.columns));
        let heads = self.heads.get(start..end).unwrap_or(self.heads);
        Self { columns: end - start, groups: &self.groups[first..first + shown], heads, ..*self }
    }

    fn draw_headings(
        &self,
        pen: &mut Pen<'_>,
        places: TilePlaces,
        selected: Option<usize>,
        all: usize,
    ) -> i32 {
        let mut y = 0;
        let pitch = places.pitch;
        if !self.groups.is_empty() {
            let size = self.group_size();
            for (group, pieces) in self.groups.iter().enumerate() {
                let x = self.x_of(group * size, places);
                pen.pieces(x, y, size as i32 * pitch, pieces);
            }
            if self.groups.len() < all {
                let hidden = Num::of(format_args!("{} of {all}", self.groups.len()));
                pen.right(pen.width(), y, &hidden, self.theme.style(Tone::Muted));
            }
            y += 1;
        }
        if !self.heads.is_empty() {
            let widest =
                self.heads.iter().map(|head| i32::from(text::width(head, pen.glyphs()))).max().unwrap_or(1);
            // Every heading if there is room, else every fourth.
            let every = if widest < pitch || widest == 1 { 1 } else { 4 };
            for (column, head) in self.heads.iter().enumerate() {
                let chosen = selected == Some(column);
                if !(column % self.group_size()).is_multiple_of(every) {
                    continue;
                }
                // A wide name is aligned with the end of the digits; a short name is centred.
                let wide = i32::from(text::width(head, pen.glyphs()));
                let offset = if every == 1 && wide > 1 {
                    (pitch + places.digits).div_euclid(2).max(places.digits).min(pitch) - wide
                } else {
                    (pitch - 1) / 2
                };
                let x = self.x_of(column, places) + offset.max(0);
                let tone = if chosen { Tone::Answer } else { Tone::Muted };
                pen.cut(x, y, widest, head, Cut::End, self.theme.style(tone));
            }
            y += 1;
        }
        y
    }

    #[expect(clippy::too_many_arguments, reason = "where it goes and how it looks")]
    fn tile(&self, pen: &mut Pen<'_>, x: i32, y: i32, pitch: i32, digits: i32, tile: &Tile, chosen: bool) {
        let style = match tile.tone {
            Tone::Heat(_) if !self.theme.shades() => self.theme.style(Tone::Text),
            tone => self.theme.style(tone),
        };
        // The text is in the middle row.
        let (top, tall) = (y, i32::from(self.tall));
        for y in top..top + tall {
            pen.line(x, y, pitch, " ", style);
        }
        let y = top + (tall - 1) / 2;
        let end = x + (pitch + digits).div_euclid(2).max(digits).min(pitch);
        let bold = if tile.flag == TileFlag::Differs { Theme::bold() } else { style };
        let start = pen.right(end, y, &tile.text, style.patch(bold));
        if chosen {
            // Outside the edit layer, the shade around the text of a roomy tile stays visible.
            let is_roomy = pitch >= digits + 2;
            if self.editing {
                pen.paint(x, top, pitch, tall, self.theme.cursor());
            } else if !is_roomy {
                pen.paint(x, y, pitch, 1, self.theme.cursor());
            }
            if is_roomy {
                pen.paint(start - 1, y, end - start + 2, 1, self.theme.cursor());
                pen.glyph(start - 1, y, "[", self.theme.cursor());
                pen.glyph(end, y, "]", self.theme.cursor());
            }
        }
        let mark = match tile.flag {
            TileFlag::Changed => Some(("*", Tone::Changed)),
            TileFlag::Bad => Some(("!", Tone::Bad)),
            TileFlag::Plain | TileFlag::Differs => None,
        };
        if let Some((mark, tone)) = mark {
            // If a tile has only room for its digits, the sign is shown by colour only.
            if pitch > digits {
                // Where the colour of the mark is hard to read, the mark is drawn like the digits.
                let is_light = self.theme.background == Background::Light;
                let is_hard = matches!(tile.tone, Tone::Heat(level) if is_light || level >= HEAT_STEPS / 2);
                let ink = if is_hard && self.theme.shades() { style } else { self.theme.style(tone) };
                let ink = if chosen { self.theme.cursor() } else { ink };
                // The mark does not hide the bracket of the cursor: it follows the digits, or replaces the first bracket.
                let is_bracketed = chosen && pitch >= digits + 2;
                let at = match end + 1 < x + pitch {
                    true if is_bracketed => {
                        pen.glyph(end + 1, y, "]", self.theme.cursor());
                        end
                    }
                    false if is_bracketed => start - 1,
                    _ => x + pitch - 1,
                };
                pen.glyph(at, y, mark, ink.patch(Theme::bold()));
            } else if self.theme.shades() {
                pen.paint(x, y, pitch, 1, self.theme.ink(tone, true));
            }
        }
    }
}

impl StatefulWidget for &Tiles<'_> {
    type State = TilesState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut TilesState) {
        state.hits.clear();
        state.rows_shown = 0;
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() || self.columns == 0 {
            return;
        }
        // Of more groups than fit, those around the selected column.
        let shown = self.groups_in(area.width);
        let (size, count) = (self.group_size(), self.groups.len());
        let (first, part) = if (1..count).contains(&shown) {
            let group = scroll::follow(0, state.selected.map(|at| at.1 / size), shown, count);
            (group * size, self.of_groups(group, shown))
        } else {
            (0, *self)
        };
        let places = part.places(pen.width());
        let TilePlaces { left, pitch, digits, .. } = places;
        let top = if self.headings && pen.height() > i32::from(self.heading_rows()) {
            let selected = state.selected.and_then(|at| at.1.checked_sub(first));
            part.draw_headings(&mut pen, places, selected, count)
        } else {
            0
        };
        let tall = i32::from(self.tall);
        let height = ((pen.height() - top).max(0) / tall) as usize;
        state.row_offset =
            scroll::follow(state.row_offset, state.selected.map(|at| at.0), height, self.rows.len());
        let end = self.rows.len().min(state.row_offset + height);
        state.rows_shown = end.saturating_sub(state.row_offset);
        for row in state.row_offset..end {
            let y = top + (row - state.row_offset) as i32 * tall;
            let in_row = state.selected.is_some_and(|(selected, _)| selected == row);
            let tone = if in_row && !self.whole_columns { Tone::Answer } else { Tone::Muted };
            pen.cut(0, y + (tall - 1) / 2, left - 1, &self.rows[row], Cut::Middle, self.theme.style(tone));
            for column in first..first + part.columns {
                let Some(tile) = self.all.get(row * self.columns + column) else { continue };
                let in_column = state.selected.is_some_and(|(_, selected)| selected == column);
                let chosen = in_column && (in_row || self.whole_columns);
                let x = part.x_of(column - first, places);
                self.tile(&mut pen, x, y, pitch, digits, tile, chosen);
                state.hits.push(pen.rect(x, y, pitch, tall), row as u32, column as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    fn tiles(count: usize) -> Vec<Tile> {
        (0..count).map(|at| Tile { text: (at % 10).to_string().into(), ..Tile::default() }).collect()
    }

    #[test]
    fn tiles_grow_with_the_room_and_stay_in_their_groups() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let (rows, all) = ([Label::from("0"), Label::from("1")], tiles(8));
        let groups = [vec![Piece::answer("X")], vec![Piece::answer("Y")]];
        let heads: Vec<Label> = ["0", "1", "0", "1"].map(Label::from).to_vec();
        let drawn = |width: u16| {
            let area = Rect::new(0, 0, width, 4);
            let mut buf = Buffer::empty(area);
            let mut state = TilesState { selected: Some((1, 2)), ..TilesState::default() };
            let tiles = Tiles::new(&theme, &rows, 4, &all).groups(&groups).heads(&heads).editing(true);
            (&tiles).render(area, &mut buf, &mut state);
            (text_of(&buf), state.hits.len(), tiles.fits(width))
        };
        assert_eq!(drawn(8), ("  X   Y\n  01  01\n0 01  23\n1 45  67".to_owned(), 8, true));
        assert_eq!(drawn(7), ("  X  Y\n  01 01\n0 01 23\n1 45 67".to_owned(), 8, true));
        let (wide, hits, _) = drawn(40);
        assert_eq!(wide, "  X       Y\n   0  1    0  1\n0  0  1    2  3\n1  4  5   [6] 7");
        assert_eq!(hits, 8);
        assert!(!drawn(6).2);
    }

    #[test]
    fn of_more_groups_than_fit_those_around_the_selection_are_drawn() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let numbers = (100..106).map(|value: i32| value.to_string().into());
        let all: Vec<Tile> = numbers.map(|text| Tile { text, ..Tile::default() }).collect();
        let (rows, groups) = ([Label::from("")], ["X", "Y", "Z"].map(|name| vec![Piece::answer(name)]));
        let area = Rect::new(0, 0, 24, 2);
        let mut buf = Buffer::empty(area);
        let mut state = TilesState { selected: Some((0, 5)), ..TilesState::default() };
        let tiles = Tiles::new(&theme, &rows, 6, &all).groups(&groups);
        assert_eq!((tiles.groups_in(24), tiles.groups_in(40), tiles.groups_in(5)), (2, 3, 0));
        (&tiles).render(area, &mut buf, &mut state);
        let drawn = text_of(&buf);
        assert!(drawn.starts_with('Y') && drawn.contains('Z') && drawn.contains("2 of 3"), "{drawn}");
        assert!(drawn.contains("102") && drawn.contains("105") && !drawn.contains("101"), "{drawn}");
        assert_eq!(state.hits.at(1, 1).map(|hit| hit.part), Some(2));
    }

    #[test]
    fn tall_tiles_have_their_text_in_the_middle() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let (rows, all) = ([Label::from("a"), Label::from("b")], tiles(4));
        let area = Rect::new(0, 0, 8, 6);
        let mut buf = Buffer::empty(area);
        let mut state = TilesState::default();
        (&Tiles::new(&theme, &rows, 2, &all).tall(3)).render(area, &mut buf, &mut state);
        assert_eq!(text_of(&buf).trim_end(), "\na  0  1\n\n\nb  2  3");
        assert_eq!((state.rows_shown, state.hits.at(3, 5).map(|hit| (hit.id, hit.part))), (2, Some((1, 0))));
    }

    #[test]
    fn the_selected_row_is_scrolled_to() {
        let theme = Theme::mono(GlyphSet::Ascii);
        let rows: Vec<Label> = (0..9).map(|row: i32| row.to_string().into()).collect();
        let all = tiles(9);
        let area = Rect::new(0, 0, 8, 3);
        let mut buf = Buffer::empty(area);
        let mut state = TilesState { selected: Some((5, 0)), ..TilesState::default() };
        (&Tiles::new(&theme, &rows, 1, &all)).render(area, &mut buf, &mut state);
        assert_eq!((state.row_offset, state.rows_shown), (3, 3));
        assert!(text_of(&buf).starts_with('3'));
    }
}
