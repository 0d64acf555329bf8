//! The graph of tasks at true time: lanes, items, folded repeats, and the one edge that decides when the selected
//! item starts.
//!
//! The time axis has parts: spans drawn to scale and folds that stand for a steady state, with a count per lane. An
//! item shorter than a column still takes one cell; items that fall into the same cell are counted there.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
use ratatui_core::widgets::StatefulWidget;

use crate::axis;
use crate::hit::Hits;
use crate::number::Num;
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

/// One part of the time axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisPart {
    /// Drawn to scale.
    Span {
        /// First moment, seconds.
        from_s: f64,
        /// Last moment, seconds.
        to_s: f64,
        /// Share of the width, relative to the other spans.
        weight: u16,
    },
    /// A steady state, left out.
    Fold,
}

/// One lane: a pod pair and direction, or the gradients of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lane {
    /// Reported as part of a hit.
    pub id: u32,
    /// Its name.
    pub name: Label,
    /// Rows it takes; 0 counts as 1.
    pub rows: u16,
    /// A faint line through it.
    pub rail: bool,
    /// How many items each fold of the axis hides; 0 is not written.
    pub folded: Vec<u32>,
}

/// How an item is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemShape {
    /// `▸` and its name.
    #[default]
    Forward,
    /// `◂` and its name.
    Backward,
    /// A bar with its name inside.
    Bar,
}

/// One item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineItem {
    /// Reported when it is hit, and kept as the selection.
    pub id: u32,
    /// Index of its lane.
    pub lane: usize,
    /// Row inside the lane.
    pub row: u16,
    /// Start, seconds.
    pub start_s: f64,
    /// End, seconds.
    pub end_s: f64,
    /// Its name.
    pub name: Label,
    /// How it is drawn.
    pub shape: ItemShape,
    /// On the critical path: bold and `*`.
    pub critical: bool,
}

/// An edge from the end of one item to the start of another, by index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edge {
    /// Index of the item it leaves.
    pub from: usize,
    /// Index of the item it enters.
    pub to: usize,
    /// The delay between them (`+155.9 ms`).
    pub label: Label,
}

/// What the timeline keeps from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelineState {
    /// Id of the selected item.
    pub selected: Option<u32>,
    /// First row shown.
    pub offset: usize,
    /// Rows shown by the last draw.
    pub visible: Range<usize>,
    /// Items that can be hit: part is the id of the lane.
    pub hits: Hits,
    /// First column and width of each part of the axis, behind the names; filled by the draw.
    pub parts: Vec<(i32, i32)>,
    /// First row of each lane; filled by the draw.
    pub lane_rows: Vec<i32>,
}

impl TimelineState {
    /// Moves the selection by `steps` items in their order, stopping at the ends.
    pub fn step(&mut self, items: &[TimelineItem], steps: i32) {
        let at = items.iter().position(|item| Some(item.id) == self.selected);
        self.selected =
            scroll::stepped(at, items.len(), steps).and_then(|index| items.get(index)).map(|item| item.id);
    }
}

/// The timeline.
///
/// ```
/// # use lightbay_widgets::{AxisPart, GlyphSet, ItemShape, Lane, Theme, Timeline, TimelineItem, TimelineState, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::StatefulWidget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let parts = [AxisPart::Span { from_s: 0.0, to_s: 10.0, weight: 1 }];
/// let lanes = [
///     Lane { name: "p0>p1".into(), rows: 1, rail: true, ..Lane::default() },
///     Lane { name: "p0 dp".into(), rows: 1, ..Lane::default() },
/// ];
/// let items = [
///     TimelineItem { name: "1".into(), start_s: 2.0, end_s: 2.1, critical: true, ..TimelineItem::default() },
///     TimelineItem {
///         id: 1, lane: 1, name: "DP s1".into(), start_s: 4.0, end_s: 9.0, shape: ItemShape::Bar,
///         ..TimelineItem::default()
///     },
/// ];
/// let area = Rect::new(0, 0, 28, 3);
/// let mut buf = Buffer::empty(area);
/// let timeline = Timeline::new(&theme, &parts, &lanes, &items);
/// timeline.render(area, &mut buf, &mut TimelineState::default());
/// assert_eq!(text_of(&buf), "        0 s       5 s\n p0>p1  ....>1*.............\n p0 dp          =DP s1====");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Timeline<'a> {
    theme: &'a Theme,
    parts: &'a [AxisPart],
    lanes: &'a [Lane],
    items: &'a [TimelineItem],
    edges: &'a [Edge],
}

/// Columns of a fold: `⋯ ×46 ⋯` and a blank on both sides.
const FOLD: i32 = 10;

impl<'a> Timeline<'a> {
    /// Below this size only the selected item is named.
    pub const MIN_WIDTH: u16 = 24;
    /// Below this size only the selected item is named.
    pub const MIN_HEIGHT: u16 = 2;

    /// Axis, lanes from the top, and items sorted by lane, row and start.
    pub const fn new(
        theme: &'a Theme,
        parts: &'a [AxisPart],
        lanes: &'a [Lane],
        items: &'a [TimelineItem],
    ) -> Self {
        Self { theme, parts, lanes, items, edges: &[] }
    }

    /// The edges of the selected item.
    #[must_use]
    pub const fn edges(mut self, edges: &'a [Edge]) -> Self {
        self.edges = edges;
        self
    }

    fn name_width(&self, width: i32) -> i32 {
        let glyphs = self.theme.glyphs;
        let widest = self.lanes.iter().map(|lane| i32::from(text::width(&lane.name, glyphs))).max();
        widest.unwrap_or(0).min(width / 4)
    }

    /// First column of the plot: mark, name, two blanks.
    fn left(&self, width: i32) -> i32 {
        self.name_width(width) + 3
    }

    /// Divides the width among the parts of the axis.
    fn place_parts(&self, room: i32, places: &mut Vec<(i32, i32)>) {
        places.clear();
        let folds = self.parts.iter().filter(|part| matches!(part, AxisPart::Fold)).count() as i32;
        let weight = |part: &AxisPart| match part {
            AxisPart::Span { weight, .. } => i32::from((*weight).max(1)),
            AxisPart::Fold => 0,
        };
        let total: i32 = self.parts.iter().map(weight).sum();
        let spans = self.parts.len() as i32 - folds;
        // Folds give way when they would leave nothing for the spans.
        let fold = if folds > 0 && room - folds * FOLD < spans * 4 {
            3.min(room / (folds + spans).max(1))
        } else {
            FOLD
        };
        let shared = (room - folds * fold).max(0);
        let (mut x, mut before) = (0, 0);
        for part in self.parts {
            let width = match part {
                AxisPart::Fold => fold,
                AxisPart::Span { .. } => {
                    let from = i64::from(before) * i64::from(shared) / i64::from(total.max(1));
                    before += weight(part);
                    (i64::from(before) * i64::from(shared) / i64::from(total.max(1)) - from) as i32
                }
            };
            places.push((x, width));
            x += width;
        }
    }

    /// Seconds per column in the widest span, for the title (`columns are 33 ms`).
    pub fn column_s(&self, area_width: u16) -> Option<f64> {
        let mut places = Vec::new();
        let width = i32::from(area_width);
        self.place_parts(width - self.left(width), &mut places);
        let spans = self.parts.iter().zip(&places).filter_map(|(part, &(_, width))| match part {
            AxisPart::Span { from_s, to_s, .. } if width > 0 => {
                Some((width, (to_s - from_s) / f64::from(width)))
            }
            _ => None,
        });
        spans
            .max_by_key(|(width, _)| *width)
            .map(|(_, seconds)| seconds)
            .filter(|seconds| seconds.is_finite())
    }

    /// The column of a moment inside span `index`, clamped to it; `None` if the item does not touch the span.
    fn column(&self, index: usize, places: &[(i32, i32)], time_s: f64) -> Option<i32> {
        let (AxisPart::Span { from_s, to_s, .. }, &(x, width)) = (self.parts.get(index)?, places.get(index)?)
        else {
            return None;
        };
        let share = (time_s - from_s) / (to_s - from_s);
        if width <= 0 || !share.is_finite() {
            return None;
        }
        Some(x + (share.clamp(0.0, 1.0) * f64::from(width)) as i32)
    }

    /// The span a moment lies in.
    fn span_of(&self, time_s: f64) -> Option<usize> {
        // The last one, so that a moment on the edge of two spans begins the later one.
        let inside = |part: &AxisPart| match part {
            AxisPart::Span { from_s, to_s, .. } => (*from_s..=*to_s).contains(&time_s),
            AxisPart::Fold => false,
        };
        self.parts.iter().rposition(inside)
    }

    fn moment(&self, places: &[(i32, i32)], time_s: f64) -> Option<i32> {
        let index = self.span_of(time_s)?;
        let &(x, width) = places.get(index)?;
        self.column(index, places, time_s).map(|column| column.min(x + width - 1))
    }

    fn place_lanes(&self, rows: &mut Vec<i32>) -> i32 {
        rows.clear();
        let mut y = 0;
        for lane in self.lanes {
            rows.push(y);
            y += i32::from(lane.rows.max(1));
        }
        y
    }

    fn item_row(&self, lane_rows: &[i32], item: &TimelineItem) -> Option<i32> {
        let height = self.lanes.get(item.lane)?.rows.max(1);
        Some(lane_rows.get(item.lane)? + i32::from(item.row.min(height - 1)))
    }

    fn draw_axis(&self, pen: &mut Pen<'_>, left: i32, places: &[(i32, i32)]) {
        let muted = self.theme.style(Tone::Muted);
        let mut free_from = left;
        for (part, &(x, width)) in self.parts.iter().zip(places) {
            match part {
                AxisPart::Fold => {
                    if left + x + 1 >= free_from && width >= 8 {
                        free_from = left + x + 2 + pen.text(left + x + 1, 0, "folded", muted);
                    }
                }
                AxisPart::Span { from_s, to_s, .. } => {
                    let range = axis::Range::new(*from_s, *to_s, axis::Scale::Linear);
                    let ticks = range.ticks((width / 9).max(2) as usize);
                    for value in ticks {
                        let label = Num::of(format_args!("{} s", ticks.label(value)));
                        let Some(share) = range.share(value) else { continue };
                        let at = left + x + (share * f64::from(width)) as i32;
                        if at >= free_from && at + label.len() as i32 <= left + x + width {
                            free_from = at + 2 + pen.text(at, 0, &label, muted);
                        }
                    }
                }
            }
        }
    }

    fn draw_lanes(&self, pen: &mut Pen<'_>, left: i32, state: &TimelineState) {
        let glyphs = pen.glyphs();
        let (muted, faint) = (self.theme.style(Tone::Muted), self.theme.style(Tone::Faint));
        for (lane, &row) in self.lanes.iter().zip(&state.lane_rows) {
            let y = row - state.offset as i32;
            if y >= pen.height() {
                return;
            }
            pen.cut(1, y, left - 3, &lane.name, Cut::Middle, muted);
            let mut folds = lane.folded.iter();
            for (part, &(x, width)) in self.parts.iter().zip(&state.parts) {
                match part {
                    AxisPart::Span { .. } if lane.rail => pen.line(left + x, y, width, glyphs.lane, faint),
                    AxisPart::Span { .. } => {}
                    AxisPart::Fold => {
                        let count = folds.next().copied().unwrap_or(0);
                        if count == 0 {
                            continue;
                        }
                        let (fold, times) = (glyphs.fold, glyphs.times);
                        let full = Num::of(format_args!("{fold} {times}{count} {fold}"));
                        let size = i32::from(text::width(&full, glyphs));
                        if size < width {
                            pen.text(left + x + (width - size) / 2, y, &full, muted);
                        } else {
                            pen.cut(left + x, y, width, fold, Cut::End, muted);
                        }
                    }
                }
            }
        }
    }

    fn draw_bar(
        &self,
        pen: &mut Pen<'_>,
        y: i32,
        item: &TimelineItem,
        state: &TimelineState,
        selected: bool,
    ) -> Rect {
        let shades = self.theme.shades();
        let glyphs = pen.glyphs();
        let area = if item.critical { Tone::GradientFull } else { Tone::GradientDim };
        let style =
            if shades { self.theme.style(area) } else { self.theme.ink(Tone::Gradient, item.critical) };
        let glyph = if shades { " " } else { glyphs.bar };
        let mut drawn: Option<(i32, i32)> = None;
        for index in 0..self.parts.len() {
            let Some(AxisPart::Span { from_s, to_s, .. }) = self.parts.get(index) else { continue };
            if item.end_s < *from_s || item.start_s > *to_s {
                continue;
            }
            let from = self.column(index, &state.parts, item.start_s);
            let to = self.column(index, &state.parts, item.end_s);
            let (Some(from), Some(to), Some(&(x, width))) = (from, to, state.parts.get(index)) else {
                continue;
            };
            let from = from.min(x + width - 1);
            if to - from < 1 {
                // Shorter than a column: one cell, and a sign that it is.
                let style = self.theme.ink(Tone::Gradient, item.critical);
                pen.glyph(from, y, glyphs.square, style);
            } else {
                pen.line(from, y, to - from, glyph, style);
            }
            drawn = Some(drawn.map_or((from, to.max(from + 1)), |(first, _)| (first, to.max(from + 1))));
        }
        let Some((from, to)) = drawn else { return Rect::default() };
        let mut name_style = style;
        if selected {
            name_style = name_style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        let size = i32::from(text::width(&item.name, glyphs)) + i32::from(item.critical);
        let inside = size <= to - from;
        let x = if inside {
            from + i32::from(size < to - from)
        } else if to + 1 + size <= pen.width() {
            to + 1
        } else {
            from - 1 - size
        };
        if x >= 0 {
            if !inside {
                name_style = self.theme.ink(Tone::Gradient, item.critical || selected);
            }
            let used = pen.text(x, y, &item.name, name_style);
            if item.critical {
                pen.glyph(x + used, y, "*", name_style);
            }
        }
        pen.rect(from, y, to - from, 1)
    }

    /// Draws a point item and returns its cells. `room` is the column of the next item of its row.
    fn draw_point(
        &self,
        pen: &mut Pen<'_>,
        at: (i32, i32),
        item: &TimelineItem,
        room: i32,
        selected: bool,
    ) -> Rect {
        let (x, y) = at;
        let glyphs = pen.glyphs();
        let (glyph, tone) = match item.shape {
            ItemShape::Backward => (glyphs.backward, Tone::Backward),
            ItemShape::Forward | ItemShape::Bar => (glyphs.forward, Tone::Forward),
        };
        // Without room behind it the mark takes the place of the arrow: the lane says the direction.
        let glyph = if item.critical && x + 1 >= room { "*" } else { glyph };
        pen.glyph(x, y, glyph, self.theme.ink(tone, item.critical));
        let star = i32::from(item.critical);
        let size = i32::from(text::width(&item.name, glyphs));
        let mut used = 1;
        if x + 1 + size + star <= room && size > 0 {
            let mut style =
                if item.critical { self.theme.style(Tone::Answer) } else { self.theme.style(tone) };
            if selected {
                style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            }
            used += pen.text(x + 1, y, &item.name, style);
        } else if selected {
            pen.paint(x, y, 1, 1, self.theme.cursor());
        }
        if item.critical && x + used < room {
            pen.glyph(x + used, y, "*", self.theme.style(Tone::Answer));
            used += 1;
        }
        pen.rect(x, y, used, 1)
    }

    fn draw_bars(&self, pen: &mut Pen<'_>, state: &mut TimelineState) {
        for item in self.items.iter().filter(|item| item.shape == ItemShape::Bar) {
            let Some(row) = self.item_row(&state.lane_rows, item) else { continue };
            let y = row - state.offset as i32;
            if y < 0 || y >= pen.height() {
                continue;
            }
            let rect = self.draw_bar(pen, y, item, state, state.selected == Some(item.id));
            state.hits.push(rect, item.id, self.lane_id(item));
        }
    }

    fn lane_id(&self, item: &TimelineItem) -> u32 {
        self.lanes.get(item.lane).map_or(0, |lane| lane.id)
    }

    /// Items from `first` on that fall into the same cell of the same row.
    fn same_cell(&self, first: usize, places: &[(i32, i32)]) -> usize {
        let Some(item) = self.items.get(first) else { return 0 };
        let x = self.moment(places, item.start_s);
        let same = |other: &&TimelineItem| {
            other.shape != ItemShape::Bar
                && (other.lane, other.row) == (item.lane, item.row)
                && self.moment(places, other.start_s) == x
        };
        self.items[first..].iter().take_while(same).count().max(1)
    }

    fn draw_points(&self, pen: &mut Pen<'_>, state: &mut TimelineState) {
        let mut index = 0;
        while let Some(item) = self.items.get(index) {
            let count = self.same_cell(index, &state.parts);
            let group = &self.items[index..index + count];
            let next = self.items.get(index + count);
            index += count;
            if item.shape == ItemShape::Bar {
                continue;
            }
            let row = self.item_row(&state.lane_rows, item);
            let (Some(row), Some(x)) = (row, self.moment(&state.parts, item.start_s)) else { continue };
            let y = row - state.offset as i32;
            if y < 0 || y >= pen.height() {
                continue;
            }
            let span_end = self
                .span_of(item.start_s)
                .and_then(|span| state.parts.get(span))
                .map_or(pen.width(), |&(from, width)| from + width);
            let next = next.filter(|next| (next.lane, next.row) == (item.lane, item.row));
            let next = next.and_then(|next| self.moment(&state.parts, next.start_s)).filter(|next| *next > x);
            let room = next.unwrap_or(span_end).min(span_end);
            let selected = group.iter().any(|item| state.selected == Some(item.id));
            let rect = if count == 1 {
                self.draw_point(pen, (x, y), item, room, selected)
            } else {
                // Never two items in one cell without saying so.
                let digit = [if count > 9 { b'+' } else { b'0' + count as u8 }];
                let style = if selected { self.theme.cursor() } else { self.theme.style(Tone::Answer) };
                pen.text(x, y, std::str::from_utf8(&digit).unwrap_or("+"), style);
                if group.iter().any(|item| item.critical) && x + 1 < room {
                    pen.glyph(x + 1, y, "*", self.theme.style(Tone::Answer));
                }
                pen.rect(x, y, 1, 1)
            };
            for item in group {
                state.hits.push(rect, item.id, self.lane_id(item));
            }
        }
    }

    fn draw_edge(&self, pen: &mut Pen<'_>, edge: &Edge, state: &TimelineState) {
        let (Some(from), Some(to)) = (self.items.get(edge.from), self.items.get(edge.to)) else { return };
        let rows = (self.item_row(&state.lane_rows, from), self.item_row(&state.lane_rows, to));
        let columns = (self.moment(&state.parts, from.end_s), self.moment(&state.parts, to.start_s));
        let ((Some(from_y), Some(to_y)), (Some(from_x), Some(to_x))) = (rows, columns) else { return };
        let (from_y, to_y) = (from_y - state.offset as i32, to_y - state.offset as i32);
        let glyphs = pen.glyphs();
        let style = self.theme.style(Tone::Text);
        let down = to_y >= from_y;
        let height = pen.height();
        let between = if down { from_y + 1..to_y } else { to_y + 1..from_y };
        for y in between.start.max(0)..between.end.min(height) {
            pen.glyph(from_x, y, glyphs.vertical, style);
        }
        if from_y == to_y {
            pen.line(from_x + 1, to_y, to_x - from_x - 2, glyphs.edge, style);
        } else if to_x > from_x {
            pen.glyph(from_x, to_y, if down { glyphs.corner_up } else { glyphs.corner_down }, style);
            pen.line(from_x + 1, to_y, to_x - from_x - 2, glyphs.edge, style);
        }
        if to_x > from_x + 1 {
            pen.glyph(to_x - 1, to_y, glyphs.forward, style);
        }
        let size = i32::from(text::width(&edge.label, glyphs));
        if size > 0 && from_x - size >= 0 && from_y != to_y {
            pen.right(from_x, to_y, &edge.label, self.theme.style(Tone::Text));
        }
    }
}

impl StatefulWidget for &Timeline<'_> {
    type State = TimelineState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut TimelineState) {
        state.hits.clear();
        state.visible = 0..0;
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        let selected = self.items.iter().find(|item| Some(item.id) == state.selected);
        if area.width < Timeline::MIN_WIDTH || area.height < Timeline::MIN_HEIGHT {
            let name = selected.map_or("", |item| &item.name);
            pen.cut(0, 0, pen.width(), name, Cut::Middle, self.theme.style(Tone::Answer));
            return;
        }
        let left = self.left(pen.width());
        self.place_parts(pen.width() - left, &mut state.parts);
        let total = self.place_lanes(&mut state.lane_rows).max(0) as usize;
        let at = selected.and_then(|item| self.item_row(&state.lane_rows, item)).map(|row| row as usize);
        let height = (pen.height() - 1) as usize;
        state.offset = scroll::follow(state.offset, at, height, total);
        state.visible = state.offset..(state.offset + height).min(total);
        self.draw_axis(&mut pen, left, &state.parts);
        let (width, rows) = (pen.width(), pen.height() - 1);
        let mut lanes = pen.part(0, 1, width, rows);
        self.draw_lanes(&mut lanes, left, state);
        if let Some(at) = at {
            lanes.glyph(0, at as i32 - state.offset as i32, ">", self.theme.style(Tone::Answer));
        }
        let mut plot = pen.part(left, 1, width - left, rows);
        self.draw_bars(&mut plot, state);
        for edge in self.edges {
            self.draw_edge(&mut plot, edge, state);
        }
        self.draw_points(&mut plot, state);
    }
}
