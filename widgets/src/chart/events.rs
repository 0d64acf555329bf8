//! Events of a chart: vertical lines in the plot, with names above it.

use super::dots::{cell_of, dots_of};
use super::{Chart, ChartParts, Event};
use crate::pen::Pen;
use crate::text;
use crate::theme::Tone;

/// Minimum number of rows of a chart that names its events, and that names them in several rows.
const NAMED_ROWS: i32 = 6;
const STAGGERED_ROWS: i32 = 12;

/// Maximum number of rows with names.
const MOST_ROWS: usize = 3;

/// Name of an event above the plot: row, first column, and column of the line of the event.
struct NamePlace {
    row: usize,
    from: i32,
    line: i32,
}

impl Chart<'_> {
    /// Iterates over the visible events, each with its column.
    fn event_places(&self, parts: &ChartParts) -> impl Iterator<Item = (&Event, i32)> {
        let across = dots_of(self.theme.glyphs.set).0;
        let (x, left, width) = (parts.x, parts.left, parts.width);
        self.events.iter().filter_map(move |event| {
            let share = x.share(event.at).filter(|share| (0.0..=1.0).contains(share))?;
            Some((event, left + cell_of(share, width, across)))
        })
    }

    /// Places the names of the events in `most` rows of `columns` columns, in the order of the events: right of the line of
    /// the event, else left of it. No line crosses a name. A name without room is omitted.
    fn name_places(&self, parts: &ChartParts, columns: i32, most: usize) -> Vec<(&Event, NamePlace)> {
        let (mut free, mut last) = ([parts.left; MOST_ROWS], parts.left - 1);
        let mut named: Vec<(&Event, i32)> =
            self.event_places(parts).filter(|(event, _)| !event.name.is_empty()).collect();
        named.sort_by_key(|(_, line)| *line);
        let mut place = |event: &Event, line: i32| {
            let wide = i32::from(text::width(&event.name, self.theme.glyphs));
            let fits = |row: usize, from: i32| {
                let crosses = free[row + 1..most].iter().any(|free| *free > line);
                !crosses && free[row] <= from.min(line) && from > last && from + wide <= columns
            };
            let sides = [line + 1, line - wide];
            let found =
                (0..most).flat_map(|row| sides.map(|from| (row, from))).find(|at| fits(at.0, at.1))?;
            (free[found.0], last) = (line.max(found.1 + wide) + 1, line);
            Some(NamePlace { row: found.0, from: found.1, line })
        };
        named.into_iter().filter_map(|(event, line)| Some((event, place(event, line)?))).collect()
    }

    /// Returns the number of rows of names above the plot of a chart with `rows` rows.
    pub(super) fn rows_of_names(&self, parts: &ChartParts, columns: i32, rows: i32) -> i32 {
        let most = match rows {
            ..NAMED_ROWS => return 0,
            NAMED_ROWS..STAGGERED_ROWS => 1,
            _ => MOST_ROWS,
        };
        let places = self.name_places(parts, columns, most);
        places.iter().map(|(_, place)| place.row as i32 + 1).max().unwrap_or(0)
    }

    /// Draws vertical lines at the events, behind the curves. An event whose name has no room has only a short line.
    pub(super) fn draw_events(&self, pen: &mut Pen<'_>, parts: &ChartParts) {
        let named = self.name_places(parts, pen.width(), parts.above as usize);
        for (event, at) in self.event_places(parts) {
            let is_whole = event.name.is_empty() || named.iter().any(|(_, place)| place.line == at);
            let top = if is_whole { 0 } else { parts.y.rows() - 1 };
            let (line, tone) = if event.cursor {
                (pen.glyphs().vertical, Tone::Answer)
            } else {
                (pen.glyphs().vertical_dotted, Tone::Rule)
            };
            let style = self.theme.style(tone);
            for row in top..parts.y.rows() {
                pen.glyph(at, row, line, style);
            }
        }
    }

    /// Draws the names of the events above the plot, each with its line.
    pub(super) fn draw_event_names(&self, pen: &mut Pen<'_>, parts: &ChartParts) {
        let (columns, line) = (pen.width(), pen.glyphs().vertical_dotted);
        for (event, place) in self.name_places(parts, columns, parts.above as usize) {
            for row in place.row as i32..parts.above {
                pen.glyph(place.line, row, line, self.theme.style(Tone::Rule));
            }
            pen.text(place.from, place.row as i32, &event.name, self.theme.style(Tone::Muted));
        }
    }
}
