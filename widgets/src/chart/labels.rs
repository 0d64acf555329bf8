//! Labels of curves and baselines: at the right end of the plot, or where a curve leaves the plot.

use super::dots::{cell_of, dots_of};
use super::heights::Heights;
use super::{Chart, ChartParts, Series};
use crate::axis::Range;
use crate::number::{self, Num};
use crate::pen::Pen;
use crate::text::{self, Cut};
use crate::theme::Tone;

/// Maximum number of labels at the right end.
const MAX_LABELS: usize = 16;

/// A label at the right end: row of the label, height of its line, and its series or baseline.
#[derive(Clone, Copy, Default)]
struct EndLabel {
    row: i32,
    share: f64,
    index: usize,
    baseline: bool,
}

impl EndLabel {
    fn at(share: f64, y: &Heights, index: usize, baseline: bool) -> Self {
        Self { row: y.row(share), share, index, baseline }
    }

    const fn is(&self, other: &Self) -> bool {
        self.index == other.index && self.baseline == other.baseline
    }
}

/// Labels of a chart.
#[derive(Clone, Copy, Default)]
pub(super) struct Labels {
    ends: [EndLabel; MAX_LABELS],
    count: usize,
    /// `true` if letters join curves and labels: without colours, or if a label is in the row of another curve
    /// or far from its curve, or not in the row of its curve and curves have equal colours.
    pub letters: bool,
}

impl Labels {
    /// Places the labels at the right end by row, curves first. The label of a baseline is left out if it would be more
    /// than one row away from its line (two in a high plot), or if it would move another label by more than one row.
    pub fn of(chart: &Chart<'_>, x: Range, y: &Heights) -> Self {
        let room = MAX_LABELS.min(y.rows().max(0) as usize);
        let mut labels = Self::default();
        for (index, series) in chart.series.iter().enumerate() {
            // A curve outside the plot has no label.
            let mut seen =
                series.points.iter().rev().filter(|point| x.share(point.0).is_none_or(|at| at <= 1.0));
            let last = seen.find_map(|point| y.share(point.1)).filter(|share| (-0.01..=1.01).contains(share));
            let is_inside = exit(series, x, y).or_else(|| early_end(series, x, y)).is_some();
            if let Some(share) = last.filter(|_| labels.count < room && !is_inside) {
                labels.ends[labels.count] = EndLabel::at(share, y, index, false);
                labels.count += 1;
            }
        }
        spread(&mut labels.ends[..labels.count], y);
        for (index, line) in chart.baselines.iter().enumerate() {
            let inside = y.share(line.value).filter(|share| (0.0..=1.0).contains(share));
            let Some(share) = inside.filter(|_| labels.count < room) else { continue };
            let mut tried = labels.ends;
            tried[labels.count] = EndLabel::at(share, y, index, true);
            spread(&mut tried[..=labels.count], y);
            let row_before =
                |curve: &EndLabel| labels.all().iter().find(|l| l.is(curve)).map_or(curve.row, |l| l.row);
            let keeps = |label: &EndLabel| {
                let from = if label.baseline { y.row(label.share) } else { row_before(label) };
                (label.row - from).abs() <= 1 + i32::from(label.baseline && y.rows() >= HIGH)
            };
            if tried[..=labels.count].iter().all(keeps) {
                labels.ends = tried;
                labels.count += 1;
            }
        }
        let is_moved = |label: &EndLabel| !label.baseline && label.row != y.row(label.share);
        let tones = || chart.series.iter().enumerate();
        let is_like =
            |(at, series): (usize, &Series)| chart.series[..at].iter().any(|s| s.tone == series.tone);
        let is_away = |label: &EndLabel| {
            let mut others = labels.all().iter().filter(|other| !other.baseline && !other.is(label));
            let mut is_at_other = || others.any(|other| y.row(other.share) == label.row);
            is_moved(label) && ((label.row - y.row(label.share)).abs() > 1 || is_at_other())
        };
        let is_unclear = !chart.theme.shades()
            || tones().any(is_like) && labels.all().iter().any(is_moved)
            || labels.all().iter().any(is_away);
        labels.letters = chart.series.len() > 1 && is_unclear;
        labels
    }

    /// Returns `true` if a curve has a label at the right end, or ends inside the plot. Of more curves than rows, the last ones have no label and
    /// are not drawn.
    pub fn names(&self, chart: &Chart<'_>, index: usize, x: Range, y: &Heights) -> bool {
        self.all().iter().any(|label| !label.baseline && label.index == index)
            || chart.series.get(index).is_some_and(|s| exit(s, x, y).or_else(|| early_end(s, x, y)).is_some())
    }

    fn all(&self) -> &[EndLabel] {
        &self.ends[..self.count]
    }

    /// Returns the number of columns of the labels at the right end, with the gap in front of them.
    pub fn width(&self, chart: &Chart<'_>, x: Range, y: &Heights) -> i32 {
        let glyphs = chart.theme.glyphs;
        let width = |label: &EndLabel| {
            let series = chart.series.get(label.index).filter(|_| !label.baseline);
            let gaps = if series.is_some_and(|series| Chart::gaps(series, x, y) > 0) { 12 } else { 0 };
            let letter = 2 * i32::from(series.is_some_and(|series| self.letter_before(series).is_some()));
            i32::from(text::width(chart.label_of(label).0, glyphs)) + gaps + letter
        };
        self.all().iter().map(width).max().map_or(0, |width| width + 1)
    }

    /// Returns the letter that precedes the name of a curve, unless the name starts with it.
    fn letter_before(&self, series: &Series) -> Option<char> {
        let letter = series.letter;
        let starts = series.name.chars().next().is_some_and(|first| first.eq_ignore_ascii_case(&letter));
        (self.letters && letter.is_ascii_graphic() && !starts).then_some(letter)
    }
}

/// Assigns every label a row of its own in the order of the lines: moves labels down if two need the same row, then up
/// again from the bottom.
fn spread(labels: &mut [EndLabel], y: &Heights) {
    for label in &mut *labels {
        label.row = y.row(label.share);
    }
    labels.sort_by(|a, b| {
        let lines = b.share.total_cmp(&a.share);
        lines.then(a.baseline.cmp(&b.baseline)).then(a.index.cmp(&b.index))
    });
    let mut next = 0;
    for label in &mut *labels {
        label.row = label.row.max(next);
        next = label.row + 1;
    }
    centre(labels, y);
    let mut limit = y.rows() - 1;
    for label in labels.iter_mut().rev() {
        label.row = label.row.min(limit).max(0);
        limit = label.row - 1;
    }
}

/// Moves each run of labels, of which all but the first were moved down, up by half of the rows by which a label of it is
/// below its line. A baseline at the top of its run rather keeps its row.
fn centre(labels: &mut [EndLabel], y: &Heights) {
    let mut free = 0;
    for run in labels.chunk_by_mut(|_, b| b.row > y.row(b.share)) {
        let below = run.iter().map(|label| label.row - y.row(label.share)).max().unwrap_or(0);
        let below = below - i32::from(run.first().is_some_and(|label| label.baseline));
        let above = run.first().map_or(0, |label| label.row - free);
        let up = (below / 2).clamp(0, above.max(0));
        for label in &mut *run {
            label.row -= up;
        }
        free = run.last().map_or(free, |label| label.row + 1);
    }
}

/// Fraction of the width before which the end of a curve has its label next to it.
const EARLY: f64 = 0.7;

/// Maximum number of columns between the end of a curve and its name, and between a mark and its name in the same row.
const AWAY: i32 = 8;
const AWAY_IN_ROW: i32 = 24;

/// Minimum number of rows of a plot with names next to the ends of curves.
const HIGH: i32 = 5;

/// Returns the end of a curve, as fractions of width and height, if it is far from the right end of the plot,
/// or the only point of a curve.
fn early_end(series: &Series, x: Range, y: &Heights) -> Option<(f64, f64)> {
    let place = |point: &(f64, f64)| Some((x.share(point.0)?, y.share(point.1)?));
    let end = series.points.iter().rev().find_map(place)?;
    // In a low plot, the names at the right end are easier to find.
    let is_apart = series.points.len() == 1 || y.rows() >= HIGH && end.0 < EARLY;
    let is_inside = (0.0..=1.0).contains(&end.0) && (0.0..=1.0).contains(&end.1);
    (is_apart && is_inside && !series.name.is_empty()).then_some(end)
}

/// Returns the place, as fractions of width and height, at which a curve leaves the plot through its top or bottom for
/// good; `None` if the curve ends inside the plot or has no point inside.
fn exit(series: &Series, x: Range, y: &Heights) -> Option<(f64, f64)> {
    let place = |point: &(f64, f64)| Some((x.share(point.0)?, y.share(point.1)?));
    let inside = |share: &f64| (0.0..=1.0).contains(share);
    let mut later: Option<(f64, f64)> = None;
    for (at, high) in series.points.iter().rev().filter_map(place).filter(|(at, _)| inside(at)) {
        let crosses = later.is_some_and(|(_, above)| (above > 1.0) != (high > 1.0));
        if inside(&high) || crosses {
            let (next, above) = later?;
            let edge = if above > 1.0 { 1.0 } else { 0.0 };
            return Some((at + (next - at) * (edge - high) / (above - high), edge));
        }
        later = Some((at, high));
    }
    None
}

impl Chart<'_> {
    fn label_of(&self, label: &EndLabel) -> (&str, Tone, bool) {
        if label.baseline {
            (self.baselines.get(label.index).map_or("", |line| &line.name), Tone::Muted, false)
        } else {
            self.series.get(label.index).map_or(("", Tone::Muted, false), |s| (&s.name, s.tone, s.bold))
        }
    }

    /// Draws the labels into the rows of the plot.
    pub(super) fn draw_labels(&self, pen: &mut Pen<'_>, parts: &ChartParts) {
        let ChartParts { x, y, labels, left, width, .. } = parts;
        for label in labels.all() {
            let (name, tone, bold) = self.label_of(label);
            let style = self.theme.ink(tone, bold);
            let series = self.series.get(label.index).filter(|_| !label.baseline);
            let mut column = left + width + 1;
            if let Some(letter) = series.and_then(|series| labels.letter_before(series)) {
                pen.text(column, label.row, letter.encode_utf8(&mut [0; 4]), self.theme.ink(tone, true));
                column += 2;
            }
            let room = pen.width() - column;
            let used = pen.cut(column, label.row, room, name, Cut::Middle, style);
            let gaps = series.map_or(0, |series| Self::gaps(series, *x, y));
            if gaps > 0 {
                let text = Num::of(format_args!(" {} {}", number::short(gaps as u64), "gaps"));
                pen.cut(
                    column + used,
                    label.row,
                    room - used,
                    &text,
                    Cut::Whole,
                    self.theme.style(Tone::Muted),
                );
            }
        }
        for series in self.series {
            if let Some(place) = exit(series, *x, y).or_else(|| early_end(series, *x, y)) {
                self.draw_exit_label(pen, parts, series, place);
            }
        }
    }

    /// Writes the name of a curve into empty cells next to the place at which the curve leaves the plot or ends; omits the
    /// name if it does not fit. Lines behind the curves may be covered.
    fn draw_exit_label(
        &self,
        pen: &mut Pen<'_>,
        parts: &ChartParts,
        series: &Series,
        (at, edge): (f64, f64),
    ) {
        let ChartParts { y, labels, left, width, .. } = parts;
        let is_mark = series.points.len() == 1;
        // A name beside its mark needs no letter.
        let letter = labels.letter_before(series).filter(|_| !is_mark);
        let wide = i32::from(text::width(&series.name, self.theme.glyphs)) + 2 * i32::from(letter.is_some());
        let column = left + cell_of(at, *width, dots_of(self.theme.glyphs.set).0);
        let from_edge = if edge > 0.5 { 1 } else { -1 };
        let away = (0..(y.rows() / 2).max(1)).flat_map(|row| [from_edge * row, -from_edge * row]);
        let away = away.filter(|away| !is_mark || away.abs() <= 1);
        let rows = away.map(|away| y.row(edge) + away).filter(|row| (0..y.rows()).contains(row));
        let beside = |far: i32| move |row: i32| [(column + 2 + far, row), (column - 1 - wide - far, row)];
        // The name of a mark keeps its row, if it can; two rows away, it would be read as that of another curve.
        let own = (0..AWAY_IN_ROW).filter(|_| is_mark).flat_map(|far| beside(far)(y.row(edge)));
        let farther = (1..AWAY).flat_map(|far| rows.clone().flat_map(beside(far)));
        let mut places = own.chain(rows.clone().flat_map(beside(0))).chain(farther);
        let behind = [" ", self.theme.glyphs.vertical_dotted, self.theme.glyphs.baseline];
        let apart = 1 + i32::from(is_mark);
        let mut is_free = |&(from, row): &(i32, i32)| {
            let inside = from > *left && from + wide <= pen.width();
            let mut cells = from - apart..from + wide + apart;
            let is_own = |x: i32| is_mark && (x, row) == (column, y.row(edge));
            let mut is_blank = |x: i32| pen.cell(x, row).is_none_or(|cell| behind.contains(&cell.symbol()));
            inside && cells.all(|x| is_own(x) || is_blank(x))
        };
        let Some((mut from, row)) = places.find(|place| is_free(place)) else { return };
        if let Some(letter) = letter {
            pen.text(from, row, letter.encode_utf8(&mut [0; 4]), self.theme.ink(series.tone, true));
            from += 2;
        }
        pen.text(from, row, &series.name, self.theme.ink(series.tone, series.bold));
    }
}
