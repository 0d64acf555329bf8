//! Cells of a timeline: axis, lanes, bars, edges, points. The parent module computes their positions.

use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::{AxisPart, Edge, ItemShape, Timeline, TimelineItem, TimelineState};
use crate::axis;
use crate::number::Num;
use crate::pen::Pen;
use crate::text::{self, Cut};
use crate::theme::Tone;

impl Timeline<'_> {
    pub(super) fn draw_axis(&self, pen: &mut Pen<'_>, left: i32, places: &[(i32, i32)]) {
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
                    for value in ticks.clone() {
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

    /// Draws names, rails and counts of folded items of the lanes. The name of lane `named` is left out.
    pub(super) fn draw_lanes(
        &self,
        pen: &mut Pen<'_>,
        left: i32,
        named: Option<usize>,
        state: &TimelineState,
    ) {
        let glyphs = pen.glyphs();
        let (muted, faint) = (self.theme.style(Tone::Muted), self.theme.style(Tone::Faint));
        for (index, (lane, &row)) in self.lanes.iter().zip(&state.lane_rows).enumerate() {
            // The name is in the first visible row of the lane.
            let rows = row..row + i32::from(lane.rows.max(1));
            let Some(y) = rows.into_iter().find_map(|row| state.y_of(row)) else { continue };
            if y >= pen.height() {
                return;
            }
            if named != Some(index) {
                pen.cut(1, y, left - 3, &lane.name, Cut::Middle, muted);
            }
            let mut folds = lane.folded.iter();
            // A folded item that is selected marks the count.
            let is_chosen = |item: &TimelineItem| item.lane == index && state.selected == Some(item.id);
            let is_folded = |item: &&TimelineItem| self.moment(&state.parts, item.start_s).is_none();
            let chosen = self.items.iter().filter(|item| is_chosen(item)).find(is_folded).is_some();
            let ink = if chosen { self.theme.cursor() } else { muted };
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
                            pen.text(left + x + (width - size) / 2, y, &full, ink);
                        } else {
                            pen.cut(left + x, y, width, fold, Cut::End, ink);
                        }
                    }
                }
            }
        }
    }

    /// Draws the body of a bar in every span it touches, up to column `end`.
    fn draw_bar(&self, pen: &mut Pen<'_>, y: i32, item: &TimelineItem, end: i32, places: &[(i32, i32)]) {
        let glyphs = pen.glyphs();
        let thin = self.theme.ink(Tone::Gradient, item.critical);
        let (glyph, style) = if !self.theme.shades() {
            (glyphs.bar, thin)
        } else if item.critical {
            (" ", self.theme.style(Tone::GradientFull))
        } else {
            // A thin line stays free above the bar, so that bars of neighbouring rows are not one area.
            let dim = self.theme.style(Tone::GradientDim);
            if glyphs.eighths[6].is_ascii() {
                (" ", dim)
            } else {
                (glyphs.eighths[6], Style { fg: dim.bg, bg: None, ..dim })
            }
        };
        for index in 0..self.parts.len() {
            let columns = self.columns_in(index, places, item).filter(|columns| columns.0 < end);
            let Some((from, to)) = columns else { continue };
            if to > from {
                pen.line(from, y, to.min(end) - from, glyph, style);
            } else {
                // A bar shorter than a column is one cell with a special sign.
                pen.glyph(from, y, glyphs.square, thin);
            }
        }
    }

    /// Returns the first column of a bar's name. The name is inside the bar; if the bar is too short, after it; and if
    /// the space after it is too short, before it. A name that does not fit between the neighbouring
    /// bars of the row is left out. `room` contains the end of the previous bar and the start of the next one.
    fn bar_name_at(&self, item: &TimelineItem, (from, to): (i32, i32), room: (i32, i32)) -> Option<i32> {
        let size = self.bar_name_width(item);
        if size <= to - from {
            Some(from + i32::from(size < to - from))
        } else if to + 1 + size <= room.1 {
            Some(to + 1)
        } else {
            Some(from - 1 - size).filter(|x| *x > room.0)
        }
    }

    /// Returns the end of the bar before `item` in its row, and the start of the bar after it.
    fn room_beside(&self, item: &TimelineItem, width: i32, state: &TimelineState) -> (i32, i32) {
        let Some(own) = self.bar_columns(item, &state.parts) else { return (0, width) };
        let others = self.items.iter().filter(|other| {
            other.shape == ItemShape::Bar
                && other.id != item.id
                && (other.lane, other.row) == (item.lane, item.row)
        });
        others.filter_map(|other| self.bar_columns(other, &state.parts)).fold((0, width), |room, bar| {
            if bar.0 < own.0 { (room.0.max(bar.1), room.1) } else { (room.0, room.1.min(bar.0)) }
        })
    }

    fn bar_name_width(&self, item: &TimelineItem) -> i32 {
        i32::from(text::width(&item.name, self.theme.glyphs)) + i32::from(item.critical)
    }

    /// Writes the name of a bar.
    fn draw_bar_name(
        &self,
        pen: &mut Pen<'_>,
        y: i32,
        item: &TimelineItem,
        bar: (i32, i32),
        room: (i32, i32),
        state: &TimelineState,
    ) {
        let (from, to) = bar;
        let size = self.bar_name_width(item);
        let inside = size <= to - from;
        let selected = state.selected == Some(item.id);
        // A name beside its bar does not cover an edge and its label.
        let mut covers =
            |x: i32| (x..x + size).any(|at| pen.cell(at, y).is_some_and(|cell| cell.symbol() != " "));
        let Some(x) = self.bar_name_at(item, bar, room).filter(|x| inside || !covers(*x)) else {
            if selected {
                pen.paint(from, y, to - from, 1, Style::new().add_modifier(Modifier::UNDERLINED));
            }
            return;
        };
        let area = if item.critical { Tone::GradientFull } else { Tone::GradientDim };
        let mut style = if inside && self.theme.shades() {
            self.theme.style(area)
        } else {
            self.theme.ink(Tone::Gradient, item.critical)
        };
        if selected {
            style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        let used = pen.text(x, y, &item.name, style);
        if item.critical {
            pen.glyph(x + used, y, "*", style);
        }
    }

    /// Draws a point item and returns its cells. `room` is the column of the next item in the row of the drawn item.
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
        // Without room after the arrow, the mark replaces the arrow; the lane shows the direction.
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

    /// Iterates over the visible bars, with their rows.
    fn bars<'s>(
        &'s self,
        height: i32,
        state: &'s TimelineState,
    ) -> impl Iterator<Item = (&'s TimelineItem, i32)> {
        let bars = self.items.iter().filter(|item| item.shape == ItemShape::Bar);
        bars.filter_map(move |item| {
            let y = state.y_of(self.item_row(&state.lane_rows, item)?)?;
            (0..height).contains(&y).then_some((item, y))
        })
    }

    /// Draws all bars: bodies first, then edges, then names, so that lines never cover letters of names.
    pub(super) fn draw_bars(&self, pen: &mut Pen<'_>, state: &mut TimelineState) {
        let height = pen.height();
        let mut hits = std::mem::take(&mut state.hits);
        let mut bars: Vec<_> = self
            .bars(height, state)
            .filter_map(|(item, y)| Some((y, self.bar_columns(item, &state.parts)?, item)))
            .collect();
        bars.sort_by_key(|(y, bar, _)| (*y, *bar));
        // A column stays free between two bars that follow each other.
        for index in 1..bars.len() {
            let (y, next) = (bars[index].0, bars[index].1.0);
            let before = &mut bars[index - 1];
            before.1.1 -= i32::from(before.0 == y && before.1.1 == next && before.1.0 + 1 < next);
        }
        let width = pen.width();
        // The end of the bar before a bar in its row, and the start of the bar after it.
        let room = |index: usize| {
            let y = bars[index].0;
            let beside = |at: Option<usize>| at.and_then(|at| bars.get(at)).filter(|other| other.0 == y);
            let left = beside(index.checked_sub(1)).map_or(0, |other| other.1.1);
            (left, beside(Some(index + 1)).map_or(width, |other| other.1.0))
        };
        for &(y, (from, to), item) in &bars {
            self.draw_bar(pen, y, item, to, &state.parts);
            hits.push(pen.rect(from, y, to - from, 1), item.id, self.lane_id(item));
        }
        for edge in self.edges {
            self.draw_edge(pen, edge, state);
        }
        for (index, &(y, bar, item)) in bars.iter().enumerate() {
            self.draw_bar_name(pen, y, item, bar, room(index), state);
        }
        state.hits = hits;
    }

    /// Returns the first column of a bar over all spans, and the column after its last one; `None` if the bar is in no
    /// span.
    fn bar_columns(&self, item: &TimelineItem, places: &[(i32, i32)]) -> Option<(i32, i32)> {
        let spans = (0..self.parts.len()).filter_map(|index| self.columns_in(index, places, item));
        let (from, to) = spans.reduce(|all, span| (all.0.min(span.0), all.1.max(span.1)))?;
        Some((from, to.max(from + 1)))
    }

    fn lane_id(&self, item: &TimelineItem) -> u32 {
        self.lanes.get(item.lane).map_or(0, |lane| lane.id)
    }

    /// Returns the number of items from `first` on that fall into the same cell of the same row.
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

    pub(super) fn draw_points(&self, pen: &mut Pen<'_>, state: &mut TimelineState) {
        let mut index = 0;
        while let Some(item) = self.items.get(index) {
            let mut count = self.same_cell(index, &state.parts);
            let column = |item: Option<&TimelineItem>| self.moment(&state.parts, item?.start_s);
            let beside = self.items.get(index + count).filter(|next| next.shape != ItemShape::Bar);
            let beside = beside.filter(|next| (next.lane, next.row) == (item.lane, item.row));
            if count > 1
                && self.items[index..index + count].iter().any(|item| item.critical)
                && column(beside).zip(column(Some(item))).is_some_and(|(next, x)| next == x + 1)
            {
                // The mark of the critical path needs the next cell, so items in that cell are counted with it.
                count += self.same_cell(index + count, &state.parts);
            }
            let group = &self.items[index..index + count];
            let next = self.items.get(index + count);
            index += count;
            if item.shape == ItemShape::Bar {
                continue;
            }
            let row = self.item_row(&state.lane_rows, item);
            let (Some(row), Some(x)) = (row, self.moment(&state.parts, item.start_s)) else { continue };
            let Some(y) = state.y_of(row).filter(|y| *y < pen.height()) else { continue };
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
                // Two items in one cell are always marked.
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
        let ((Some(from_row), Some(to_row)), (Some(from_x), Some(to_x))) = (rows, columns) else { return };
        // An end that is scrolled away is drawn after the last pinned row.
        let [from_y, to_y] = [from_row, to_row].map(|row| state.y_of(row).unwrap_or(state.pinned - 1));
        let glyphs = pen.glyphs();
        let style = self.theme.style(Tone::Text);
        let down = to_y >= from_y;
        let height = pen.height();
        let between = if down { from_y + 1..to_y } else { to_y + 1..from_y };
        for y in between.start.max(0)..between.end.min(height) {
            pen.glyph(from_x, y, glyphs.vertical, style);
        }
        if !(0..height).contains(&to_y) {
            return;
        }
        // If the name of a bar is drawn in front of it, the arrow ends at the name instead of at the bar.
        let bar = self.bar_columns(to, &state.parts).filter(|_| to.shape == ItemShape::Bar);
        let to_x = bar.map_or(to_x, |bar| {
            let room = self.room_beside(to, pen.width(), state);
            to_x.min(self.bar_name_at(to, bar, room).unwrap_or(to_x))
        });
        let first = if from_y == to_y { from_x + 1 } else { from_x };
        for x in first..to_x - 1 {
            if self.bar_at(to, x, state) {
                continue;
            }
            let corner = if down { glyphs.corner_up } else { glyphs.corner_down };
            pen.glyph(x, to_y, if x == from_x { corner } else { glyphs.edge }, style);
        }
        if to_x > from_x + 1 {
            pen.glyph(to_x - 1, to_y, glyphs.forward, style);
        }
        let size = i32::from(text::width(&edge.label, glyphs));
        if size == 0 || from_y == to_y {
            return;
        }
        // The label is in front of the corner; if points or a fold are there, it is on the line before the arrow.
        let in_front = if to_x > from_x { from_x } else { to_x - 1 };
        let places = [(in_front - size, in_front), (to_x - 2 - size, to_x - 2)];
        let place = places.into_iter().enumerate().find(|&(index, (x, end))| {
            x > if index == 0 { -1 } else { from_x + 1 } && !self.points_in(to, x - 1..end + 1, state)
        });
        if let Some((_, (x, _))) = place {
            pen.text(x, to_y, &edge.label, style);
        }
    }

    /// Returns `true` if another bar of the row of `item` covers column `x`.
    fn bar_at(&self, item: &TimelineItem, x: i32, state: &TimelineState) -> bool {
        self.items.iter().any(|other| {
            other.shape == ItemShape::Bar
                && other.id != item.id
                && (other.lane, other.row) == (item.lane, item.row)
                && self.bar_columns(other, &state.parts).is_some_and(|(from, to)| (from..to).contains(&x))
        })
    }

    /// Returns `true` if the lane of `item` has a rail, and another item of the row of `item` or the count of a fold is
    /// in one of `columns`.
    fn points_in(&self, item: &TimelineItem, columns: std::ops::Range<i32>, state: &TimelineState) -> bool {
        if !self.lanes.get(item.lane).is_some_and(|lane| lane.rail) {
            return false;
        }
        let fold = self.parts.iter().zip(&state.parts).any(|(part, &(x, width))| {
            matches!(part, AxisPart::Fold) && x < columns.end && x + width > columns.start
        });
        fold || self.items.iter().any(|other| {
            let beside = other.id != item.id && (other.lane, other.row) == (item.lane, item.row);
            beside && self.moment(&state.parts, other.start_s).is_some_and(|x| columns.contains(&x))
        })
    }
}
