//! Events of a chart: vertical lines with names.

use super::dots::{cell_of, dots_of};
use super::{Chart, Event};
use crate::axis::Range;
use crate::pen::Pen;
use crate::text;
use crate::theme::Tone;

/// Minimum number of rows of a chart that names its events, and that names them in several rows.
const NAMED_ROWS: i32 = 5;
const STAGGERED_ROWS: i32 = 12;

impl Chart<'_> {
    /// Iterates over the visible events: event, its column, and the column of the next event (or the right end).
    fn event_places(&self, x: Range, left: i32, width: i32) -> impl Iterator<Item = (&Event, i32, i32)> {
        let across = dots_of(self.theme.glyphs.set).0;
        let place = move |event: &Event| {
            let share = x.share(event.at).filter(|share| (0.0..=1.0).contains(share))?;
            Some(left + cell_of(share, width, across))
        };
        self.events.iter().enumerate().filter_map(move |(number, event)| {
            let next = self.events[number + 1..].iter().find_map(place).unwrap_or(left + width);
            Some((event, place(event)?, next))
        })
    }

    /// Draws vertical lines at the events, behind the curves.
    pub(super) fn draw_events(&self, pen: &mut Pen<'_>, x: Range, left: i32, width: i32, rows: i32) {
        for (event, at, _) in self.event_places(x, left, width) {
            let (line, tone) = if event.cursor {
                (pen.glyphs().vertical, Tone::Answer)
            } else {
                (pen.glyphs().vertical_dotted, Tone::Rule)
            };
            let style = self.theme.style(tone);
            for row in 0..rows {
                pen.glyph(at, row, line, style);
            }
        }
    }

    /// Draws the names of the events, in front of the curves. A name that would reach the next line or name is drawn in a
    /// lower row of a high chart, else left of its line, else omitted.
    pub(super) fn draw_event_names(&self, pen: &mut Pen<'_>, x: Range, left: i32, width: i32, rows: i32) {
        if rows < NAMED_ROWS {
            return;
        }
        let glyphs = pen.glyphs();
        let mut free = [left; 3];
        let lower = if rows >= STAGGERED_ROWS { free.len() } else { 1 };
        for (event, at, next) in
            self.event_places(x, left, width).filter(|(event, ..)| !event.name.is_empty())
        {
            let wide = i32::from(text::width(&event.name, glyphs));
            let right = |row: usize| if row == 0 { next } else { left + width };
            let fits = |row: &usize| free[*row] <= at + 1 && at + 1 + wide <= right(*row);
            let place = match (0..lower).find(fits) {
                Some(row) => Some((row, at + 1)),
                None => (0..lower).find(|row| free[*row] <= at - wide).map(|row| (row, at - wide)),
            };
            if let Some((row, from)) = place {
                pen.text(from, row as i32, &event.name, self.theme.style(Tone::Muted));
                free[row] = from + wide + 1;
            }
        }
    }
}
