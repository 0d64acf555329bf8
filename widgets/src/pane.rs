//! The open frame of a pane: one title line, no side borders, and messages for the states without a normal body.
//!
//! ```text
//! ═ 2 Activity DP tail ═════════════════════════════ 13 of 214 intervals ═
//! ```
//!
//! If the pane has the focus, the rule is doubled and the text is bold, so the focus is visible without colour.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::number;
use crate::pen::{Pen, Piece, pieces_width};
use crate::sentence::whole_clauses;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// State of a pane's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PaneState<'a> {
    /// The caller draws the body.
    #[default]
    Ready,
    /// There is no content yet: the missing content and the remedy (`no plan yet`, `press r`).
    Empty {
        /// Sentence that names the missing content.
        what: &'a str,
        /// Sentence about the remedy.
        remedy: &'a str,
    },
    /// The pane waits for its first data; the name of the data follows the words "waiting for".
    Waiting(&'a str),
    /// The body shows older data, with a note on its plan. The caller draws the body.
    Stale(&'a str),
    /// The content could not be made: the failure and the remedy.
    Failed {
        /// Sentence about the failure.
        what: &'a str,
        /// Sentence about the remedy.
        remedy: &'a str,
    },
}

/// Frame of a pane.
///
/// ```
/// # use lightbay_widgets::{Pane, Piece, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let value = [Piece::answer("gap 2.1 % NCT")];
/// let area = Rect::new(0, 0, 40, 1);
/// let mut buf = Buffer::empty(area);
/// Pane::new(&theme, "Search").number(5).value(&value).render(area, &mut buf);
/// assert_eq!(text_of(&buf), "─ 5 Search ───────────── gap 2.1 % NCT ─");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Pane<'a> {
    theme: &'a Theme,
    number: Option<u8>,
    name: &'a str,
    context: &'a [Piece],
    value: &'a [Piece],
    sight: &'a str,
    focused: bool,
    state: PaneState<'a>,
}

/// Minimum number of columns of a subject that is cut.
const LEAST_CONTEXT: i32 = 12;

/// Minimum number of columns of the name of the shown part: six letters and the mark of cut text.
const LEAST_PART: i32 = 7;

impl<'a> Pane<'a> {
    /// Width below which the title shows the name only.
    pub const MIN_WIDTH: u16 = 16;

    /// Creates the frame of a pane with a name.
    pub const fn new(theme: &'a Theme, name: &'a str) -> Self {
        let state = PaneState::Ready;
        Self { theme, number: None, name, context: &[], value: &[], sight: "", focused: false, state }
    }

    /// Sets the key that opens the pane, 1 to 9.
    #[must_use]
    pub const fn number(mut self, number: u8) -> Self {
        self.number = Some(number);
        self
    }

    /// Sets the subject of the body, after the name. The subject is omitted first when space is short.
    #[must_use]
    pub const fn context(mut self, context: &'a [Piece]) -> Self {
        self.context = context;
        self
    }

    /// Sets the most important number, at the right end. The number is never cut.
    #[must_use]
    pub const fn value(mut self, value: &'a [Piece]) -> Self {
        self.value = value;
        self
    }

    /// Sets the visible part of the body, such as `4 of 8`, left of the number; words around the number are omitted first.
    #[must_use]
    pub const fn sight(mut self, sight: &'a str) -> Self {
        self.sight = sight;
        self
    }

    /// Sets whether the pane has the focus: the rule is then doubled.
    #[must_use]
    pub const fn focused(mut self, focused: bool) -> Self {
        self.focused = focused;
        self
    }

    /// Sets the state of the body.
    #[must_use]
    pub const fn state(mut self, state: PaneState<'a>) -> Self {
        self.state = state;
        self
    }

    /// Returns the area of the body: below the title, one column in from both sides of the rule.
    pub const fn inner(area: Rect) -> Rect {
        let top = if area.height < 1 { area.height } else { 1 };
        let left = if area.width < 2 { 0 } else { 1 };
        Rect {
            x: area.x.saturating_add(left),
            y: area.y.saturating_add(top),
            width: area.width - 2 * left,
            height: area.height - top,
        }
    }

    fn title(&self, pen: &mut Pen<'_>) {
        let glyphs = pen.glyphs();
        let (rule, rule_style) = if self.focused {
            (glyphs.rule_focus, pen.style(Tone::Text))
        } else {
            (glyphs.rule, pen.style(Tone::Rule))
        };
        let width = pen.width();
        let number = self.number.map(|number| number::count(number.into()));
        let number_width = number.map_or(0, |number| number.len() as i32 + 1);
        let name_width = i32::from(text::width(self.name, glyphs));
        // A mark, such as that of another plan, precedes the context and is shown rather than the number, which may be of
        // that plan.
        let is_mark = |piece: &&Piece| piece.tone == Tone::Changed;
        let marks = self.context.iter().take_while(is_mark).count();
        let stale_width = if matches!(self.state, PaneState::Stale(_)) { 2 } else { 0 };
        let mark_width =
            i32::from(pieces_width(&self.context[..marks], glyphs)) + i32::from(marks > 0) + stale_width;
        let sight_width = i32::from(text::width(self.sight, glyphs));
        // Two blanks separate the visible part from the number.
        let sight_width = if sight_width > 0 { sight_width + 2 } else { 0 };
        // Unimportant words around the number are omitted before the name is cut.
        let mut value = self.value;
        while let [first, .., last] = value
            && width - 7 - number_width - name_width - mark_width
                < i32::from(pieces_width(value, glyphs)) + sight_width
        {
            value = match (first.tone, last.tone) {
                (_, Tone::Muted) => &value[..value.len() - 1],
                (Tone::Muted, _) => &value[1..],
                // The first number says most.
                _ => {
                    let words = |piece: &Piece| piece.tone == Tone::Muted;
                    let kept = value[..value.len() - 1].iter().rposition(|piece| !words(piece));
                    &value[..=kept.unwrap_or(0)]
                }
            };
        }
        // A value of such words alone is omitted too.
        if let [only] = value
            && only.tone == Tone::Muted
            && width - 7 - number_width - name_width < i32::from(pieces_width(value, glyphs))
            && width >= i32::from(Self::MIN_WIDTH)
        {
            value = &[];
        }
        let value_width = i32::from(pieces_width(value, glyphs));
        // Further words of the name give way to the visible part.
        let is_close = width - 7 - number_width - name_width - mark_width < value_width + sight_width;
        let name = self.name.split(" and ").next().filter(|_| is_close && sight_width > 0);
        let name = name.unwrap_or(self.name);
        let name_width = i32::from(text::width(name, glyphs));
        if width < i32::from(Self::MIN_WIDTH) {
            // Headline only: the number if it fits, else the name.
            if value_width > 0 && value_width <= width {
                pen.pieces(0, 0, width, value);
            } else {
                pen.cut(0, 0, width, self.name, Cut::Middle, self.theme.style(Tone::Answer));
            }
            return;
        }
        pen.line(0, 0, width, rule, rule_style);
        // ` name value ` with one rule glyph at both ends and between them.
        let mut end = width - 1;
        let room_for_value = width - 6 - number_width - name_width.min(8) - mark_width;
        if value_width > 0 && value_width <= room_for_value {
            let start = end - value_width - 2;
            pen.line(start, 0, value_width + 2, " ", self.theme.style(Tone::Text));
            pen.pieces(start + 1, 0, value_width, value);
            end = start - 1;
        }
        // The name of the shown part, such as a job, is the last context to go; it keeps six letters.
        let name_of_part = self.context.first().filter(|first| first.tone == Tone::Text);
        let part_width =
            name_of_part.map_or(0, |name| i32::from(text::width(&name.text, glyphs)).min(LEAST_PART + 1));
        // The name of the pane is not cut for the visible part.
        let room_for_sight = room_for_value - (name_width - 8).max(0) - i32::from(value_width > 0);
        if sight_width > 0 && value_width + sight_width + part_width <= room_for_sight {
            let start = end + 1 - sight_width - i32::from(value_width == 0);
            pen.line(start, 0, sight_width, " ", self.theme.style(Tone::Text));
            pen.text(start + 1, 0, self.sight, self.theme.style(Tone::Muted));
            end = start - 1;
        }
        let mut x = 1;
        pen.glyph(x, 0, " ", rule_style);
        x += 1;
        if let Some(number) = number {
            let tone = if self.focused { Tone::Answer } else { Tone::Muted };
            x += pen.text(x, 0, &number, self.theme.style(tone));
            pen.glyph(x, 0, " ", rule_style);
            x += 1;
        }
        x += pen.cut(x, 0, end - x - 1 - stale_width, name, Cut::Middle, self.theme.style(Tone::Answer));
        pen.glyph(x, 0, " ", rule_style);
        x += 1;
        let room = end - x - 1;
        let name_of_part = name_of_part.filter(|_| room >= LEAST_PART);
        if let PaneState::Stale(from) = self.state {
            // The number of a plan is omitted before it is cut.
            let mark = if i32::from(text::width(from, glyphs)) <= room { from } else { "*" };
            if room > 0 {
                x += pen.cut(x, 0, room, mark, Cut::End, self.theme.style(Tone::Changed));
                pen.glyph(x, 0, " ", rule_style);
            }
        } else if marks > 0
            || name_of_part.is_some()
            || room >= i32::from(pieces_width(self.context, glyphs)).min(LEAST_CONTEXT)
        {
            // Clauses that do not fit are omitted as a whole.
            let columns = room.clamp(0, i32::from(u16::MAX)) as u16;
            let clauses = whole_clauses(self.context, columns, glyphs);
            let context = match clauses.as_deref() {
                Some(clauses) => clauses,
                None if pieces_width(self.context, glyphs) <= columns => self.context,
                None => &self.context[..marks],
            };
            let blanks = context.last().map_or(0, |last| last.text.len() - last.text.trim_end().len());
            let used = pen.pieces(x, 0, room, context) - blanks as i32;
            if used > 0 {
                pen.glyph(x + used, 0, " ", rule_style);
                pen.line(x + used + 1, 0, blanks as i32, rule, rule_style);
            } else if let Some(name) = name_of_part {
                let used =
                    pen.cut(x, 0, room, name.text.trim_end(), Cut::Middle, self.theme.style(name.tone));
                pen.glyph(x + used, 0, " ", rule_style);
            }
        }
    }

    fn message(&self, pen: &mut Pen<'_>) {
        let waiting;
        let (what, tone, remedy) = match self.state {
            PaneState::Ready | PaneState::Stale(_) => return,
            PaneState::Empty { what, remedy } => (what, Tone::Muted, remedy),
            PaneState::Waiting(what) => {
                waiting = format!("waiting for {what}");
                (waiting.as_str(), Tone::Muted, "")
            }
            PaneState::Failed { what, remedy } => (what, Tone::Bad, remedy),
        };
        // Placed in the upper third, because a message in the middle of a tall pane is easily overlooked.
        let failed = matches!(self.state, PaneState::Failed { .. });
        let mut y = 1 + (pen.height() - 1).max(0) / 5;
        let x = if failed { 4 } else { 2 };
        let room = pen.width() - x - 1;
        let rows =
            [what, remedy].map(|text| wrap(&mut pen.part(0, 0, pen.width(), 0), x, 0, room, text, tone));
        // In a low pane, the remedy is more important than its reason.
        if y + rows[0] + rows[1] > pen.height() {
            y = 1;
        }
        let what = if y + rows[0] + rows[1] > pen.height() && rows[1] > 0 { "" } else { what };
        if failed {
            pen.text(x - 2, y, "! ", self.theme.ink(Tone::Bad, true));
        }
        y += wrap(pen, x, y, room, what, tone);
        wrap(pen, x, y, room, remedy, Tone::Text);
    }
}

/// Writes `text` in rows of at most `room` columns, broken at spaces. Returns the number of rows.
pub(crate) fn wrap(pen: &mut Pen<'_>, x: i32, y: i32, room: i32, text: &str, tone: Tone) -> i32 {
    let glyphs = pen.glyphs();
    let style = pen.style(tone);
    let (mut at, mut row) = (0, 0);
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let width = i32::from(text::width(word, glyphs));
        // A number stays in the row of its unit.
        let is_number = word.ends_with(|last: char| last.is_ascii_digit());
        let unit = words.peek().filter(|unit| is_number && unit.len() <= 2);
        let whole = width + unit.map_or(0, |unit| 1 + i32::from(text::width(unit, glyphs)));
        if at > 0 && at + 1 + whole > room {
            if y + row + 1 == pen.height() {
                pen.text(x + at.min(room - 1), y + row, glyphs.ellipsis, style);
                break;
            }
            row += 1;
            at = 0;
        }
        if at > 0 {
            at += 1;
        }
        at += pen.cut(x + at, y + row, room - at, word, Cut::End, style);
    }
    if at > 0 { row + 1 } else { row }
}

impl Widget for &Pane<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        self.title(&mut pen);
        self.message(&mut pen);
    }
}
