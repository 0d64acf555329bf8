//! Dots finer than cells: Braille (2 x 4), quadrants (2 x 2) or one letter per cell. Quadrants are half a row thick, so
//! step curves in that set are drawn as lines of one cell.
//!
//! The dots that are already set are read from the buffer, so a separate store is not needed.

use ratatui_core::style::Style;

use crate::glyphs::GlyphSet;
use crate::pen::Pen;

/// Style and character of a curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink {
    pub style: Style,
    pub letter: char,
    pub dotted: bool,
    /// The cells of other curves that the curve takes: every third column from this one; `None` for all.
    pub turn: Option<usize>,
}

/// Quadrant glyphs, indexed by bits: 1 upper left, 2 upper right, 4 lower left, 8 lower right.
const QUADRANTS: [&str; 16] =
    [" ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█"];

/// Bits of the dots of a Braille cell, by row and column.
const BRAILLE: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Number of curves that take turns in the columns in which they coincide.
const TURNS: usize = 3;

/// Returns the number of dots of a cell across and down.
pub(crate) const fn dots_of(set: GlyphSet) -> (i32, i32) {
    match set {
        GlyphSet::Braille => (2, 4),
        GlyphSet::Block => (2, 2),
        GlyphSet::Ascii => (1, 1),
    }
}

/// Returns the cell in which the dot at a fraction of `cells` cells lies; a place far outside becomes a nearer one outside,
/// so that sums of cells do not overflow.
pub(crate) fn cell_of(share: f64, cells: i32, dots: i32) -> i32 {
    (share.clamp(-2.0, 3.0) * f64::from(cells * dots - 1)).round() as i32 / dots.max(1)
}

/// A grid of dots that covers an area.
pub(super) struct Dots<'p, 'b> {
    pen: &'p mut Pen<'b>,
    set: GlyphSet,
}

impl<'p, 'b> Dots<'p, 'b> {
    pub fn new(pen: &'p mut Pen<'b>) -> Self {
        let set = pen.glyphs().set;
        Self { pen, set }
    }

    const fn per_cell(&self) -> (i32, i32) {
        dots_of(self.set)
    }

    pub fn width(&self) -> i32 {
        self.pen.width() * self.per_cell().0
    }

    pub fn height(&self) -> i32 {
        self.pen.height() * self.per_cell().1
    }

    /// Returns the number of columns and rows in cells.
    pub fn cells(&self) -> (i32, i32) {
        (self.pen.width(), self.pen.height())
    }

    /// Returns `true` if step curves are drawn as lines instead of dots.
    pub fn draws_lines(&self) -> bool {
        self.set == GlyphSet::Block
    }

    /// Draws a step curve through cells: the curve stays in the row of a point until the cell of the next point; `None`
    /// is a gap.
    pub fn steps(&mut self, points: impl Iterator<Item = Option<(i32, i32)>>, ink: Ink) {
        // The current column: its number, the row at which the line enters (if it does), the first row and the last
        // row.
        let mut column: Option<(i32, Option<i32>, i32, i32)> = None;
        for point in points {
            let Some((at, row)) = point else {
                if let Some(column) = column.take() {
                    self.step(column, ink);
                }
                continue;
            };
            column = match column {
                Some((now, enters, first, _)) if now == at => Some((now, enters, first, row)),
                Some(done) => {
                    self.step(done, ink);
                    for x in done.0 + 1..at {
                        self.stroke(x, done.3, "─", ink.style);
                    }
                    Some((at, Some(done.3), row, row))
                }
                None => Some((at, None, row, row)),
            };
        }
        if let Some(column) = column {
            self.step(column, ink);
        }
    }

    fn step(&mut self, (x, enters, first, last): (i32, Option<i32>, i32, i32), ink: Ink) {
        let from = enters.unwrap_or(first);
        if from == last {
            return self.stroke(x, last, "─", ink.style);
        }
        let (upper, lower) = match (from < last, enters) {
            (true, Some(_)) => ("┐", "└"),
            (true, None) => ("│", "└"),
            (false, Some(_)) => ("┌", "┘"),
            (false, None) => ("┌", "│"),
        };
        self.stroke(x, from.min(last), upper, ink.style);
        for y in from.min(last) + 1..from.max(last) {
            self.stroke(x, y, "│", ink.style);
        }
        self.stroke(x, from.max(last), lower, ink.style);
    }

    /// Draws the piece of a line in one cell. If the cell already has a horizontal piece of another line, draws a
    /// double line.
    fn stroke(&mut self, x: i32, y: i32, glyph: &'static str, style: Style) {
        let Some(cell) = self.pen.cell(x, y) else { return };
        let both = glyph == "─" && matches!(cell.symbol(), "─" | "═");
        cell.set_symbol(if both { "═" } else { glyph }).set_style(style);
    }

    /// Draws the mean of the points of every column of dots, and joins the means by lines; `None` is a gap.
    pub fn scatter(&mut self, points: impl Iterator<Item = Option<(i32, i32)>>, ink: Ink) {
        let mut before: Option<(i32, i32)> = None;
        // The current column, the sum of its heights, and the number of heights.
        let mut column: Option<(i32, i64, i64)> = None;
        for point in points {
            match (point, &mut column) {
                (Some((at, y)), Some((now, sum, count))) if *now == at => {
                    *sum += i64::from(y);
                    *count += 1;
                }
                (point, _) => {
                    if let Some(done) = column.take() {
                        before = Some(self.mean(before, done, ink));
                    }
                    match point {
                        Some((at, y)) => column = Some((at, i64::from(y), 1)),
                        None => before = None,
                    }
                }
            }
        }
        if let Some(done) = column {
            self.mean(before, done, ink);
        }
    }

    fn mean(&mut self, before: Option<(i32, i32)>, (x, sum, count): (i32, i64, i64), ink: Ink) -> (i32, i32) {
        let point = (x, (sum as f64 / count as f64).round() as i32);
        self.line(before.unwrap_or(point), point, ink);
        point
    }

    fn dot(&mut self, x: i32, y: i32, ink: Ink) {
        if x < 0 || y < 0 || (ink.dotted && self.set != GlyphSet::Ascii && x % 2 == 1) {
            return;
        }
        let (across, down) = self.per_cell();
        let set = self.set;
        let column = (x / across) as usize;
        let Some(cell) = self.pen.cell(x / across, y / down) else { return };
        // Where curves coincide, their colours or letters alternate.
        let is_taken = match set {
            GlyphSet::Ascii => cell.symbol().starts_with(|sign: char| sign.is_ascii_alphanumeric()),
            GlyphSet::Block => QUADRANTS[1..].contains(&cell.symbol()),
            GlyphSet::Braille => {
                cell.symbol().starts_with(|sign: char| ('\u{2801}'..='\u{28ff}').contains(&sign))
            }
        };
        let keeps = is_taken && ink.turn.is_some_and(|turn| column % TURNS != turn % TURNS);
        match set {
            GlyphSet::Ascii if keeps => return,
            GlyphSet::Ascii => {
                let letter = if ink.letter.is_ascii_graphic() { ink.letter } else { '*' };
                cell.set_char(letter);
            }
            GlyphSet::Block => {
                let old = QUADRANTS.iter().position(|glyph| *glyph == cell.symbol()).unwrap_or(0);
                let bit = 1usize << (x % 2 + 2 * (y % 2));
                cell.set_symbol(QUADRANTS[(old | bit) & 15]);
            }
            GlyphSet::Braille => {
                let now = cell.symbol().chars().next().map_or(0, u32::from);
                let old = if (0x2800..=0x28ff).contains(&now) { now - 0x2800 } else { 0 };
                let bit = BRAILLE[(y % 4) as usize][(x % 2) as usize];
                cell.set_char(char::from_u32(0x2800 + (old | bit)).unwrap_or(' '));
            }
        }
        if !keeps {
            cell.set_style(ink.style);
        }
    }

    /// Draws all dots of a column between two heights.
    pub fn vertical(&mut self, x: i32, from: i32, to: i32, ink: Ink) {
        for y in from..=to {
            // The dots of a jump are never omitted.
            self.dot(x, y, Ink { dotted: ink.dotted && from == to, ..ink });
        }
    }

    /// Draws all dots of a row from `from` to `to`, both included.
    pub fn horizontal(&mut self, from: i32, to: i32, y: i32, ink: Ink) {
        for x in from..=to {
            self.dot(x, y, ink);
        }
    }

    /// Draws a straight line (Bresenham).
    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink) {
        let (dx, dy) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
        let (step_x, step_y) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
        let (mut x, mut y) = from;
        let mut error = dx + dy;
        loop {
            self.dot(x, y, ink);
            if (x, y) == to {
                return;
            }
            let twice = 2 * error;
            if twice >= dy {
                error += dy;
                x += step_x;
            }
            if twice <= dx {
                error += dx;
                y += step_y;
            }
        }
    }
}
