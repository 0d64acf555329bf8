//! Intervals of time by lane, drawn to scale: one row per lane, one colour per interval.
//!
//! A cell shows the interval that covers most of it; the height of the glyph is the covered fraction. Every interval
//! has at least one mark. Intervals also differ by letters. In ASCII, a cell of which less than half is covered shows `-`.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::widgets::StatefulWidget;

use crate::axis::{Range, Scale};
use crate::hit::Hits;
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Background, Theme, Tone};

/// An interval of a lane.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpanBar {
    /// Id that is reported when the interval is clicked, and kept as the selection.
    pub id: u32,
    /// Start, in the unit of the axis.
    pub from: f64,
    /// End, in the unit of the axis.
    pub to: f64,
    /// Tone (meaning) of the interval, from which the theme chooses the colour.
    pub tone: Tone,
    /// Character with which the interval is drawn if colours are missing.
    pub letter: char,
    /// `true` if the interval is drawn as an underline.
    pub thin: bool,
    /// Fraction of the full height that the interval lacks.
    pub idle: f64,
}

/// A lane with its intervals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpanLane {
    /// Name of the lane.
    pub name: Label,
    /// Tone (meaning) of the name, from which the theme chooses the colour.
    pub tone: Tone,
    /// Words after the lane.
    pub words: Label,
    /// Intervals of the lane in ascending order of start; intervals do not overlap.
    pub bars: Vec<SpanBar>,
}

/// State of the lanes, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanLanesState {
    /// Id of the selected interval.
    pub selected: Option<u32>,
    /// Index of the first lane shown.
    pub offset: usize,
    /// Number of lanes shown by the last draw.
    pub rows_shown: usize,
    /// Clickable intervals: the `id` of a hit is the id of the interval, `part` is the index of the lane.
    pub hits: Hits,
}

/// The lanes.
///
/// ```
/// # use lightbay_widgets::{GlyphSet, SpanBar, SpanLane, SpanLanes, SpanLanesState, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let bar = |from, to, letter| SpanBar { from, to, letter, ..SpanBar::default() };
/// let lanes = [
///     SpanLane { name: "a".into(), bars: vec![bar(0.0, 4.0, 'x'), bar(4.0, 6.0, 'y')], ..SpanLane::default() },
///     SpanLane { name: "b".into(), bars: vec![bar(8.0, 10.0, 'x')], ..SpanLane::default() },
/// ];
/// let area = Rect::new(0, 0, 13, 3);
/// let mut buf = Buffer::empty(area);
/// SpanLanes::new(&theme, &lanes, (0.0, 10.0), "s").render(area, &mut buf, &mut SpanLanesState::default());
/// assert_eq!(text_of(&buf), "   0 s\n a xxxxyy....\n b ........xx");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SpanLanes<'a> {
    theme: &'a Theme,
    lanes: &'a [SpanLane],
    window: (f64, f64),
    unit: &'a str,
    words: &'a str,
    tall: u16,
    by_selection: bool,
}

/// Minimum number of columns of the intervals with words after the lanes.
const LEAST: i32 = 24;
/// Minimum number of columns of the intervals with whole names.
const SHORT: i32 = 14;
/// Minimum number of letters of a shortened name.
const NAME: i32 = 6;
/// Minimum number of columns of a bar that shows its letter.
const LETTERED: i32 = 2;
/// Minimum number of columns between ticks of the axis.
const TICK: i32 = 12;

impl<'a> SpanLanes<'a> {
    /// Creates a chart of these lanes that shows the part `window` of the axis, whose numbers have the unit `unit`.
    pub const fn new(theme: &'a Theme, lanes: &'a [SpanLane], window: (f64, f64), unit: &'a str) -> Self {
        Self { theme, lanes, window, unit, words: "", tall: 1, by_selection: false }
    }

    /// Sets the number of rows of each lane; of two or more rows, the last one separates the lane from the next.
    #[must_use]
    pub const fn tall(mut self, rows: u16) -> Self {
        self.tall = if rows == 0 { 1 } else { rows };
        self
    }

    /// Sets whether only the intervals with the letter of the selected one have a colour, because there are more letters
    /// than colours; all others have the grey of their tone.
    #[must_use]
    pub const fn by_selection(mut self, by_selection: bool) -> Self {
        self.by_selection = by_selection;
        self
    }

    /// Returns the number of rows of the bars of a lane.
    const fn bar_rows(&self) -> i32 {
        if self.tall > 1 { self.tall as i32 - 1 } else { 1 }
    }

    /// Sets the heading of the words after the lanes.
    #[must_use]
    pub const fn words(mut self, words: &'a str) -> Self {
        self.words = words;
        self
    }

    /// Returns the number of columns of the names and of the words.
    fn sides(&self, width: i32) -> (i32, i32) {
        let glyphs = self.theme.glyphs;
        let wide = |text: &str| i32::from(text::width(text, glyphs));
        let names = self.lanes.iter().map(|lane| wide(&lane.name)).max().unwrap_or(0);
        let words = self.lanes.iter().map(|lane| wide(&lane.words)).max().unwrap_or(0).max(wide(self.words));
        let words = if words > 0 { words + 2 } else { 0 };
        let words = if width - names - 2 - words >= LEAST { words } else { 0 };
        let names = names.min((width - 2 - words - SHORT).max(NAME));
        (names, words)
    }

    /// Returns the columns of the axis in an area; `None` if the area is too small.
    pub fn axis_place(&self, area: Rect) -> Option<Rect> {
        let (names, words) = self.sides(i32::from(area.width));
        let left = names + 2;
        let width = u16::try_from(i32::from(area.width) - left - words).ok().filter(|width| *width > 0)?;
        Some(Rect { x: area.x + u16::try_from(left).ok()?, width, ..area })
    }

    /// Returns the letter of the selected interval, if colours depend on it.
    fn letter_in_colour(&self, state: &SpanLanesState) -> Option<char> {
        let bars = || self.lanes.iter().flat_map(|lane| &lane.bars);
        state
            .selected
            .filter(|_| self.by_selection)
            .and_then(|id| bars().find(|bar| bar.id == id))
            .map(|bar| bar.letter)
    }

    /// Returns the tone of a bar.
    fn tone(bar: &SpanBar, selected: bool, in_colour: Option<char>) -> Tone {
        match in_colour {
            _ if selected => Tone::Answer,
            Some(letter) if letter == bar.letter => Tone::Series(0),
            _ => bar.tone,
        }
    }

    /// Returns the character of a bar that covers a fraction of a column, in row `row` of the bar from below; `None` if the
    /// bar does not reach this row.
    fn glyph<'t>(&self, bar: &SpanBar, share: f64, row: i32, letter: &'t mut [u8; 4]) -> Option<&'t str>
    where
        'a: 't,
    {
        let glyphs = self.theme.glyphs;
        let eighths = ((share * f64::from(8 * self.bar_rows())).round() as i32).max(1) - 8 * row;
        if eighths <= 0 || bar.thin && row > 0 {
            None
        } else if bar.thin {
            Some(glyphs.limit)
        } else if self.theme.is_ascii() {
            Some(if eighths < 4 { "-" } else { bar.letter.encode_utf8(letter) })
        } else if self.theme.shades() || eighths < 4 {
            Some(glyphs.eighths[eighths.min(8) as usize - 1])
        } else {
            Some(bar.letter.encode_utf8(letter))
        }
    }

    /// Draws a bar in a column that has one end of it: the part of the column that the bar covers.
    fn draw_end(
        &self,
        pen: &mut Pen<'_>,
        bar: &SpanBar,
        share: f64,
        is_start: bool,
        (x, lowest, style): (i32, i32, Style),
    ) {
        let glyphs = self.theme.glyphs;
        let eighths = ((share * 8.0).round() as usize).clamp(1, 8);
        let mut letter = [0; 4];
        let (glyph, style) = match (self.theme.shades(), is_start && eighths < 8) {
            (true, true) => (glyphs.left_eighths[7 - eighths], style.add_modifier(Modifier::REVERSED)),
            (false, _) if eighths >= 4 => (&*bar.letter.encode_utf8(&mut letter), style),
            _ => (glyphs.left_eighths[eighths - 1], style),
        };
        for row in 0..self.bar_rows() {
            pen.glyph(x, lowest - row, glyph, style);
        }
    }

    fn axis(&self, pen: &mut Pen<'_>, left: i32, plot: i32) {
        let muted = self.theme.style(Tone::Muted);
        let range = Range::new(self.window.0, self.window.1, Scale::Linear);
        let ticks = range.ticks((plot / TICK).max(1) as usize);
        let mut free = left;
        let mut is_first = true;
        for value in ticks.clone() {
            let Some(share) = range.share(value) else { continue };
            let x = left + (share * f64::from(plot)) as i32;
            let label = ticks.label(value);
            let text = if is_first { format!("{label} {}", self.unit) } else { label.to_string() };
            let wide = text.chars().count() as i32;
            if x < free || x + wide > left + plot {
                continue;
            }
            pen.text(x, 0, &text, muted);
            (free, is_first) = (x + wide + 1, false);
        }
    }

    /// Writes the letter of each series of equal bars in a row into its middle cell, so that bars of one colour are
    /// distinguishable. `drawn` has the bar of each column with its tone.
    fn write_letters(&self, pen: &mut Pen<'_>, drawn: &[Option<(&SpanBar, Tone)>], (left, y): (i32, i32)) {
        let (full, theme) = (pen.glyphs().eighths[7], self.theme);
        let is_light = theme.background == Background::Light;
        let of = |bar: Option<(&SpanBar, Tone)>| bar.map(|(bar, tone)| (bar.letter, tone));
        let mut x = left;
        for run in drawn.chunk_by(|a, b| of(*a) == of(*b)) {
            let (middle, wide) = (run.len() / 2, run.len() as i32);
            let is_lettered = |bar: &SpanBar| !bar.thin && bar.letter.is_ascii_alphanumeric();
            let of_run = run[middle].filter(|(bar, _)| wide >= LETTERED && is_lettered(bar));
            if let Some((bar, tone)) = of_run {
                // On a low bar the letter has the hue of the bar, on a dark or pale bar the colour of text.
                let is_full = pen.cell(x + middle as i32, y).is_some_and(|cell| cell.symbol() == full);
                let own = theme.style(tone);
                let style = match tone {
                    Tone::Rule if is_full => Style { bg: own.fg, ..theme.style(Tone::Text) },
                    Tone::SeriesDim(_) if is_full && is_light => {
                        Style { bg: own.fg, ..theme.style(Tone::Text) }
                    }
                    _ if is_full => own.add_modifier(Modifier::REVERSED),
                    Tone::Rule => theme.style(Tone::Muted),
                    Tone::SeriesDim(hue) => theme.style(Tone::Series(hue)),
                    _ => own,
                };
                pen.glyph(x + middle as i32, y, bar.letter.encode_utf8(&mut [0; 4]), style);
            }
            x += wide;
        }
    }

    fn lane(
        &self,
        pen: &mut Pen<'_>,
        (left, plot, y): (i32, i32, i32),
        (number, lane): (usize, &SpanLane),
        in_colour: Option<char>,
        state: &mut SpanLanesState,
    ) {
        let (from, to) = self.window;
        let step = (to - from) / f64::from(plot.max(1));
        let rule = self.theme.style(Tone::Faint);
        let rows = self.bar_rows();
        let lowest = y + rows - 1;
        pen.line(left, lowest, plot, pen.glyphs().inactive, rule);
        // The interval drawn last, and its first column.
        let mut run: Option<(&SpanBar, i32)> = None;
        let mut end = |run: &mut Option<(&SpanBar, i32)>, x: i32, pen: &mut Pen<'_>| {
            if let Some((bar, begin)) = run.take() {
                state.hits.push(pen.rect(begin, y, x - begin, rows), bar.id, number as u32);
            }
        };
        let mut first = lane.bars.partition_point(|bar| bar.to <= from);
        let mut drawn: Vec<Option<(&SpanBar, Tone)>> = Vec::with_capacity(plot.max(0) as usize);
        for column in 0..plot {
            let (low, high) = (from + step * f64::from(column), from + step * f64::from(column + 1));
            while lane.bars.get(first).is_some_and(|bar| bar.to <= low && bar.to > bar.from) {
                first += 1;
            }
            let inside = lane.bars[first..].iter().take_while(|bar| bar.from < high);
            let (mut covered, mut most, mut shown, mut count) = (0.0, -1.0, None::<&SpanBar>, 0);
            for bar in inside {
                let overlap = bar.to.min(high) - bar.from.max(low);
                covered += overlap.max(0.0) * (1.0 - bar.idle);
                count += i32::from(overlap >= 0.0);
                let is_selected = Some(bar.id) == state.selected;
                // The selected interval is visible even if it is very short.
                if overlap > most || is_selected {
                    most = if is_selected { f64::INFINITY } else { overlap };
                    shown = Some(bar);
                }
            }
            let x = left + column;
            if run.map(|run| run.0.id) != shown.map(|bar| bar.id) {
                end(&mut run, x, pen);
                run = shown.map(|bar| (bar, x));
            }
            let tone = |bar| Self::tone(bar, Some(bar.id) == state.selected, in_colour);
            drawn.push(shown.map(|bar| (bar, tone(bar))));
            if let Some(bar) = shown {
                let selected = Some(bar.id) == state.selected;
                let style = self.theme.style(tone(bar));
                let share = if selected { 1.0 - bar.idle } else { covered / step };
                // A column of several intervals shows by its height how much of it they cover, and so does a column whose
                // interval has another one close to it.
                let is_near = |other: &SpanBar| {
                    other.id != bar.id
                        && (bar.from > low && other.to <= bar.from && other.to > low - step
                            || bar.to < high && other.from >= bar.to && other.from < high + step)
                };
                let near = first.saturating_sub(1)..(first + 3).min(lane.bars.len());
                let is_end = count == 1 && share < 1.0 && bar.idle == 0.0 && !bar.thin;
                let is_end = is_end && !lane.bars[near].iter().any(is_near);
                if is_end && !selected && !self.theme.is_ascii() {
                    self.draw_end(pen, bar, share, bar.from > low && bar.to >= high, (x, lowest, style));
                    continue;
                }
                for row in 0..rows {
                    if let Some(glyph) = self.glyph(bar, share, row, &mut [0; 4]) {
                        // Without colours, a selected bar is reversed; a part of a block would show its complement.
                        let is_low = pen.glyphs().eighths[..7].contains(&glyph);
                        let is_reversed = selected && !self.theme.shades() && !is_low;
                        let style = if is_reversed { self.theme.cursor() } else { style };
                        pen.glyph(x, lowest - row, glyph, style);
                    }
                }
            }
        }
        end(&mut run, left + plot, pen);
        self.write_letters(pen, &drawn, (left, lowest));
    }
}

impl StatefulWidget for &SpanLanes<'_> {
    type State = SpanLanesState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut SpanLanesState) {
        state.hits.clear();
        state.rows_shown = 0;
        let mut pen = Pen::new(buf, area, self.theme);
        let is_wide = self.window.1 > self.window.0;
        if pen.is_empty() || !is_wide {
            return;
        }
        let (names, words) = self.sides(pen.width());
        let left = names + 2;
        let plot = pen.width() - left - words;
        if plot <= 0 {
            return;
        }
        let top = i32::from(pen.height() > 1);
        if top > 0 {
            self.axis(&mut pen, left, plot);
            if words > 0 {
                let right = pen.width();
                pen.right(right, 0, self.words, self.theme.style(Tone::Muted));
            }
        }
        let of = |bar: &SpanBar| Some(bar.id) == state.selected;
        let at = self.lanes.iter().position(|lane| lane.bars.iter().any(of));
        let tall = i32::from(self.tall);
        let height = ((pen.height() - top).max(0) / tall) as usize;
        state.offset = scroll::follow(state.offset, at, height, self.lanes.len());
        let in_colour = self.letter_in_colour(state);
        let end = self.lanes.len().min(state.offset + height);
        state.rows_shown = end - state.offset;
        for (row, number) in (0..).zip(state.offset..end) {
            let y = top + row * tall;
            let lane = &self.lanes[number];
            let chosen = at == Some(number);
            let tone = if chosen { Tone::Answer } else { lane.tone };
            let lowest = y + self.bar_rows() - 1;
            if chosen {
                pen.glyph(0, lowest, ">", self.theme.style(Tone::Answer));
            }
            pen.cut(1, lowest, names, &lane.name, Cut::Middle, self.theme.style(tone));
            if words > 0 {
                let right = pen.width();
                pen.right(right, lowest, &lane.words, self.theme.style(tone));
            }
            self.lane(&mut pen, (left, plot, y), (number, lane), in_colour, state);
        }
        self.cursor(&mut pen, (left, plot), (top, (end - state.offset) * tall as usize), state, at);
    }
}

impl SpanLanes<'_> {
    /// Draws a line through the other lanes at the start of the selected interval.
    fn cursor(
        &self,
        pen: &mut Pen<'_>,
        (left, plot): (i32, i32),
        (top, rows): (i32, usize),
        state: &SpanLanesState,
        lane: Option<usize>,
    ) {
        let Some(number) = lane else { return };
        let of = |bar: &&SpanBar| Some(bar.id) == state.selected;
        let Some(bar) = self.lanes[number].bars.iter().find(of) else { return };
        let share = (bar.from - self.window.0) / (self.window.1 - self.window.0);
        if !(0.0..1.0).contains(&share) {
            return;
        }
        let x = left + (share * f64::from(plot)) as i32;
        let (empty, line) = (pen.glyphs().inactive, pen.glyphs().vertical_dotted);
        let style = self.theme.style(Tone::Muted);
        for y in top..top + rows as i32 {
            if pen.cell(x, y).is_some_and(|cell| cell.symbol() == empty) {
                pen.glyph(x, y, line, style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::text_of;

    fn bar(id: u32, from: f64, to: f64) -> SpanBar {
        SpanBar { id, from, to, letter: char::from(b'a' + id as u8), ..SpanBar::default() }
    }

    fn drawn(theme: &Theme, lanes: &[SpanLane], width: u16, state: &mut SpanLanesState) -> String {
        let area = Rect::new(0, 0, width, lanes.len() as u16 + 1);
        let mut buf = Buffer::empty(area);
        (&SpanLanes::new(theme, lanes, (0.0, 100.0), "us").words("sum")).render(area, &mut buf, state);
        text_of(&buf)
    }

    #[test]
    fn a_short_interval_leaves_a_mark_and_a_cell_shows_how_much_of_it_is_covered() {
        let lanes = [SpanLane {
            name: "link".into(),
            bars: vec![bar(0, 0.0, 50.0), bar(1, 60.0, 60.001), bar(2, 75.0, 77.5)],
            ..SpanLane::default()
        }];
        let drawn = drawn(&Theme::default(), &lanes, 26, &mut SpanLanesState::default());
        assert_eq!(drawn.lines().nth(1), Some(" link █████a████··▏··▌····"));
    }

    #[test]
    fn tall_lanes_have_tall_bars_and_a_gap() {
        let lanes = [SpanLane {
            name: "link".into(),
            bars: vec![bar(0, 0.0, 50.0), bar(1, 75.0, 77.5)],
            ..SpanLane::default()
        }];
        let area = Rect::new(0, 0, 26, 4);
        let (mut buf, theme) = (Buffer::empty(area), Theme::default());
        let mut state = SpanLanesState::default();
        (&SpanLanes::new(&theme, &lanes, (0.0, 100.0), "us").tall(3)).render(area, &mut buf, &mut state);
        let drawn = text_of(&buf);
        let rows: Vec<&str> = drawn.lines().map(str::trim_end).collect();
        assert_eq!(rows[1..3], ["      ██████████     ▌", " link █████a████·····▌····"], "{drawn}");
        assert_eq!(state.hits.at(7, 1).map(|hit| hit.id), Some(0));
    }

    #[test]
    fn the_selection_is_marked_by_a_line_through_the_other_lanes() {
        let lane = |name: &'static str, bars| SpanLane { name: name.into(), bars, ..SpanLane::default() };
        let lanes = [lane("x", vec![bar(0, 0.0, 20.0)]), lane("y", vec![bar(1, 50.0, 60.0)])];
        let mut state = SpanLanesState { selected: Some(1), ..SpanLanesState::default() };
        let drawn = drawn(&Theme::mono(GlyphSet::Ascii), &lanes, 13, &mut state);
        assert_eq!(drawn, "   0 us\n x aa...:....\n>y .....b....");
        assert_eq!(state.hits.at(8, 2).map(|hit| hit.id), Some(1));
        assert_eq!(state.rows_shown, 2);
    }
}
