//! The graph of tasks on a time axis: lanes, items, folded repeats, and the edge that decides the start of the selected
//! item.
//!
//! The time axis has parts: spans drawn to scale and folds that represent a steady state, with a count per lane. An
//! item shorter than a column still has one cell; if several items share a cell, the cell shows their number.

use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::StatefulWidget;

use crate::hit::Hits;
use crate::pen::{Label, Pen};
use crate::scroll;
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

mod draw;

/// One part of the time axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisPart {
    /// A part drawn to scale.
    Span {
        /// Start of the part, seconds.
        from_s: f64,
        /// End of the part, seconds.
        to_s: f64,
        /// Weight for the division of the width among spans.
        weight: u16,
    },
    /// An omitted steady state.
    Fold,
}

/// One lane: a pod pair and direction, or the gradients of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lane {
    /// Id of the lane, which is the `part` of a hit.
    pub id: u32,
    /// Name of the lane.
    pub name: Label,
    /// Number of rows of the lane; 0 counts as 1.
    pub rows: u16,
    /// `true` if a faint line is drawn through the lane.
    pub rail: bool,
    /// Number of items that each fold of the axis hides; 0 is not written.
    pub folded: Vec<u32>,
}

/// Shape of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemShape {
    /// `▸` and the name of the item.
    #[default]
    Forward,
    /// `◂` and the name of the item.
    Backward,
    /// A bar with the name of the item inside.
    Bar,
}

/// One item of the timeline: a task with its start and end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineItem {
    /// Id that is reported when the item is clicked, and kept as the selection.
    pub id: u32,
    /// Index of the item's lane.
    pub lane: usize,
    /// Row inside the lane.
    pub row: u16,
    /// Start of the item, seconds.
    pub start_s: f64,
    /// End of the item, seconds.
    pub end_s: f64,
    /// Name of the item.
    pub name: Label,
    /// Shape of the item.
    pub shape: ItemShape,
    /// `true` if the item is on the critical path: it is bold and marked with `*`.
    pub critical: bool,
}

/// An edge from the end of one item to the start of another, by index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edge {
    /// Index of the item at whose end the edge starts.
    pub from: usize,
    /// Index of the item at whose start the edge ends.
    pub to: usize,
    /// The delay between them (`+155.9 ms`).
    pub label: Label,
}

/// State of the timeline, kept from frame to frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimelineState {
    /// Id of the selected item.
    pub selected: Option<u32>,
    /// Index of the first row shown.
    pub offset: usize,
    /// Rows shown by the last draw.
    pub visible: Range<usize>,
    /// Clickable items: the `id` of a hit is the id of the item, `part` is the id of the lane.
    pub hits: Hits,
    /// First column and width of each part of the axis after the names; set by drawing.
    pub parts: Vec<(i32, i32)>,
    /// First row of each lane; set by drawing.
    pub lane_rows: Vec<i32>,
    /// Number of rows at the top that stay while the others scroll; set by drawing.
    pub pinned: i32,
}

impl TimelineState {
    /// Returns the line in which a row is drawn; `None` if the row is scrolled away above. For a row that is scrolled
    /// away below, the line is below the end of the area.
    fn y_of(&self, row: i32) -> Option<i32> {
        if row < self.pinned {
            return Some(row);
        }
        let y = row - self.offset as i32;
        (y >= self.pinned).then_some(y)
    }

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
    pinned: usize,
}

/// Number of columns of a fold: `⋯ ×46 ⋯` and a blank on both sides.
const FOLD: i32 = 10;

impl<'a> Timeline<'a> {
    /// Width below which only the selected item is named.
    pub const MIN_WIDTH: u16 = 24;
    /// Height below which only the selected item is named.
    pub const MIN_HEIGHT: u16 = 2;

    /// Creates a timeline with the parts of its axis, its lanes from the top, and its items; the items must be sorted
    /// by lane, row and start.
    pub const fn new(
        theme: &'a Theme,
        parts: &'a [AxisPart],
        lanes: &'a [Lane],
        items: &'a [TimelineItem],
    ) -> Self {
        Self { theme, parts, lanes, items, edges: &[], pinned: 0 }
    }

    /// Sets the edges of the selected item.
    #[must_use]
    pub const fn edges(mut self, edges: &'a [Edge]) -> Self {
        self.edges = edges;
        self
    }

    /// Pins the first lanes at the top while the others scroll, as long as there is room for the others.
    #[must_use]
    pub const fn pinned(mut self, lanes: usize) -> Self {
        self.pinned = lanes;
        self
    }

    fn name_width(&self, width: i32) -> i32 {
        let glyphs = self.theme.glyphs;
        let widest = self.lanes.iter().map(|lane| i32::from(text::width(&lane.name, glyphs))).max();
        widest.unwrap_or(0).min(width / 4)
    }

    /// Returns the first column of the plot, after mark, name and two blanks.
    fn left(&self, width: i32) -> i32 {
        self.name_width(width) + 3
    }

    /// Returns the columns of the axis in an area; `None` if the axis has several parts, or no room.
    pub fn axis_place(&self, area: Rect) -> Option<Rect> {
        let left = u16::try_from(self.left(i32::from(area.width))).ok()?;
        let width = area.width.checked_sub(left).filter(|width| *width > 0 && self.parts.len() == 1)?;
        Some(Rect { x: area.x + left, width, ..area })
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
        // Folds are omitted if they would leave no columns for the spans.
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

    /// Returns the seconds per column in the widest span, for the title (`columns are 33 ms`).
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

    /// Returns the column of a time inside span `index`, clamped to the span; `None` for a fold, or if the span has no
    /// columns.
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

    /// Returns the columns in which an item starts and ends in part `index` of the axis; equal if the item is shorter
    /// than a column. `None` if the item does not touch this part, or if the part is a fold.
    fn columns_in(&self, index: usize, places: &[(i32, i32)], item: &TimelineItem) -> Option<(i32, i32)> {
        let Some(AxisPart::Span { from_s, to_s, .. }) = self.parts.get(index) else { return None };
        if item.end_s < *from_s || item.start_s > *to_s {
            return None;
        }
        let &(x, width) = places.get(index)?;
        let from = self.column(index, places, item.start_s)?;
        let to = self.column(index, places, item.end_s)?;
        Some((from.min(x + width - 1), to))
    }

    /// Returns the index of the span that contains a time.
    fn span_of(&self, time_s: f64) -> Option<usize> {
        // The last one, so that a time on the boundary of two spans belongs to the later span.
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

    /// Chooses the visible rows: the pinned rows, and the selected row with its neighbours.
    fn scroll(&self, state: &mut TimelineState, at: Option<i32>, height: usize, total: usize) {
        let first = state.lane_rows.get(self.pinned).copied().unwrap_or(0);
        let pinned = usize::try_from(first).unwrap_or(0);
        let stays = total > height && pinned * 5 <= height * 3 && height >= pinned + 4;
        let pinned = if stays { pinned } else { 0 };
        state.pinned = pinned as i32;
        let (height, total) = (height - pinned, total - pinned);
        if let Some(at) = at.and_then(|at| usize::try_from(at).ok()?.checked_sub(pinned)) {
            if height >= 3 {
                for beside in [(at + 1).min(total.saturating_sub(1)), at.saturating_sub(1)] {
                    state.offset = scroll::follow(state.offset, Some(beside), height, total);
                }
            }
            state.offset = scroll::follow(state.offset, Some(at), height, total);
        } else {
            state.offset = scroll::follow(state.offset, None, height, total);
        }
        let from = pinned + state.offset;
        state.visible = from..(from + height).min(pinned + total);
    }

    fn item_row(&self, lane_rows: &[i32], item: &TimelineItem) -> Option<i32> {
        let height = self.lanes.get(item.lane)?.rows.max(1);
        Some(lane_rows.get(item.lane)? + i32::from(item.row.min(height - 1)))
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
        let at = selected.and_then(|item| self.item_row(&state.lane_rows, item));
        let height = (pen.height() - 1) as usize;
        self.scroll(state, at, height, total);
        self.draw_axis(&mut pen, left, &state.parts);
        let (width, rows) = (pen.width(), pen.height() - 1);
        let mut lanes = pen.part(0, 1, width, rows);
        let chosen = at.and_then(|at| state.y_of(at)).zip(selected);
        self.draw_lanes(&mut lanes, left, chosen.map(|(_, item)| item.lane), state);
        if let Some((y, item)) = chosen {
            lanes.glyph(0, y, ">", self.theme.style(Tone::Answer));
            // The lane of the selected item is named in its own row.
            let name = self.lanes.get(item.lane).map_or("", |lane| &lane.name);
            lanes.cut(1, y, left - 3, name, Cut::Middle, self.theme.style(Tone::Answer));
        }
        let mut plot = pen.part(left, 1, width - left, rows);
        self.draw_bars(&mut plot, state);
        self.draw_points(&mut plot, state);
    }
}
