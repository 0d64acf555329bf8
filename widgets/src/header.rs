//! Line 0: identity, answer, and state in words. The header never scrolls, and its parts have the same order at every
//! size.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::pen::{Label, Pen, Piece, pieces_width};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One part of the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Segment {
    /// Label in grey in front of the value.
    pub label: Label,
    /// The value, in bold unless `plain`.
    pub value: Label,
    /// Text in grey after the value.
    pub suffix: Label,
    /// Order of omission when space is short: higher values are omitted earlier. A segment with 0 stays at any width
    /// and is cut only as the last resort.
    pub priority: u8,
    /// `true` if the value is ordinary text.
    pub plain: bool,
}

impl Segment {
    /// Creates a part with label and value.
    pub fn new(label: impl Into<Label>, value: impl Into<Label>) -> Self {
        Self { label: label.into(), value: value.into(), ..Self::default() }
    }

    /// Sets the priority; see [`Segment::priority`].
    #[must_use]
    pub const fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Makes the value ordinary text instead of bold text.
    #[must_use]
    pub const fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Adds text in grey after the value.
    #[must_use]
    pub fn suffix(mut self, suffix: impl Into<Label>) -> Self {
        self.suffix = suffix.into();
        self
    }
}

/// Number of blank columns between two segments.
const GAP: i32 = 2;

/// Parts of the header that are shown.
#[derive(Clone, Copy)]
struct ShownParts {
    brand: bool,
    /// Segments above this priority are left out.
    highest: u8,
    /// Segments above `highest` that are shown all the same: bit `i` stands for segment `i`.
    extra: u64,
}

/// The header line.
///
/// ```
/// # use lightbay_widgets::{Header, Piece, Segment, Theme, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::default();
/// let segments = [Segment::new("", "tiny4"), Segment::new("NCT", "1.0691")];
/// let state = [Piece::answer("RUNNING 01:02")];
/// let area = Rect::new(0, 0, 48, 1);
/// let mut buf = Buffer::empty(area);
/// Header::new(&theme, &segments, &state).brand("lightbay").render(area, &mut buf);
/// assert_eq!(text_of(&buf), " lightbay  tiny4  NCT 1.0691      RUNNING 01:02");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    theme: &'a Theme,
    brand: &'a str,
    segments: &'a [Segment],
    state: &'a [Piece],
    state_columns: u16,
}

impl<'a> Header<'a> {
    /// Width below which only the first segment and the state are drawn.
    pub const MIN_WIDTH: u16 = 40;

    /// Creates a header of segments from the left and a state at the right end.
    pub const fn new(theme: &'a Theme, segments: &'a [Segment], state: &'a [Piece]) -> Self {
        Self { theme, brand: "", segments, state, state_columns: 0 }
    }

    /// Adds the name of the program, in grey at the left end.
    #[must_use]
    pub const fn brand(mut self, brand: &'a str) -> Self {
        self.brand = brand;
        self
    }

    /// Keeps at least this number of columns for the state, so that a longer state does not move the segments.
    #[must_use]
    pub const fn state_columns(mut self, columns: u16) -> Self {
        self.state_columns = columns;
        self
    }

    fn segment_width(&self, segment: &Segment) -> i32 {
        let glyphs = self.theme.glyphs;
        let part = |text: &str| match text::width(text, glyphs) {
            0 => 0,
            width => i32::from(width) + 1,
        };
        part(&segment.label) + i32::from(text::width(&segment.value, glyphs)) + part(&segment.suffix)
    }

    fn width(&self, room: ShownParts) -> i32 {
        let brand = match text::width(self.brand, self.theme.glyphs) {
            width if room.brand && width > 0 => i32::from(width) + GAP,
            _ => 0,
        };
        let (count, sum) = self
            .shown(room)
            .fold((0, 0), |(count, sum), segment| (count + 1, sum + self.segment_width(segment)));
        brand + sum + (count - 1).max(0) * GAP
    }

    fn shown(&self, room: ShownParts) -> impl Iterator<Item = &Segment> {
        let is_shown = move |at: usize, segment: &Segment| {
            segment.priority <= room.highest || room.extra & Self::bit(at) != 0
        };
        self.segments
            .iter()
            .enumerate()
            .filter(move |(at, segment)| is_shown(*at, segment))
            .map(|(_, segment)| segment)
    }

    const fn bit(at: usize) -> u64 {
        1 << (at & 63)
    }

    /// Adds every omitted segment that still fits: low priorities first, from the left.
    fn with_extra(&self, mut room: ShownParts, available: i32) -> ShownParts {
        let is_omitted = |at: &usize| self.segments[*at].priority > room.highest;
        let mut omitted: Vec<usize> = (0..self.segments.len()).filter(is_omitted).collect();
        omitted.sort_by_key(|at| self.segments[*at].priority);
        for at in omitted {
            let extra = room.extra | Self::bit(at);
            if self.width(ShownParts { extra, ..room }) <= available {
                room.extra = extra;
            }
        }
        room
    }

    fn choose(&self, available: i32) -> ShownParts {
        let highest = self.segments.iter().map(|segment| segment.priority).max().unwrap_or(0);
        let mut room = ShownParts { brand: true, highest, extra: 0 };
        if self.width(room) <= available {
            return room;
        }
        // The brand goes first, then the segments with the highest priority.
        room.brand = false;
        while room.highest > 0 && self.width(room) > available {
            room.highest -= 1;
        }
        if self.width(room) > available { room } else { self.with_extra(room, available) }
    }
}

impl Widget for &Header<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, Rect { height: area.height.min(1), ..area }, self.theme);
        if pen.is_empty() {
            return;
        }
        pen.clear(0, 0, pen.width(), 1, self.theme.header());
        let glyphs = pen.glyphs();
        let state_width = i32::from(pieces_width(self.state, glyphs));
        let right = if state_width + 2 <= pen.width() {
            let kept = pen.width() - 1 - i32::from(self.state_columns);
            pen.pieces_right(pen.width() - 1, 0, self.state).min(kept) - 2
        } else {
            pen.width() - 1
        };
        let room = self.choose(right - 1);
        let mut x = 1;
        if room.brand {
            let used = pen.cut(x, 0, right - x, self.brand, Cut::End, self.theme.style(Tone::Muted));
            x += if used > 0 { used + GAP } else { 0 };
        }
        for segment in self.shown(room) {
            if x >= right {
                break;
            }
            let muted = self.theme.style(Tone::Muted);
            if !segment.label.is_empty() {
                x += pen.cut(x, 0, right - x, &segment.label, Cut::End, muted) + 1;
            }
            let tone = if segment.plain { Tone::Text } else { Tone::Answer };
            x += pen.cut(x, 0, right - x, &segment.value, Cut::Middle, self.theme.style(tone));
            if !segment.suffix.is_empty() {
                x += 1 + pen.cut(x + 1, 0, right - x - 1, &segment.suffix, Cut::End, muted);
            }
            x += GAP;
        }
    }
}
