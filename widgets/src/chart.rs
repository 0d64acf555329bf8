//! Line charts with axes; curves are labelled at their ends instead of in a legend.
//!
//! The points in a column of dots become one line from minimum to maximum, so that spikes stay; of a dotted curve
//! without steps, only their mean is drawn. Values that cannot be drawn (NaN, infinite, not positive on a logarithmic
//! axis) are gaps and counted in the label.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::Widget;

use crate::axis::{Range, Scale};
use crate::number;
use crate::pen::{Label, Pen};
use crate::text::{self, Cut};
use crate::theme::{Theme, Tone};

mod dots;
mod events;
mod graph;
mod heights;
mod labels;

use dots::{Dots, Ink};
pub(crate) use dots::{cell_of, dots_of};
pub use graph::{GraphEdge, GraphNode, NetworkGraph};
use heights::Heights;
use labels::Labels;

/// One curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Name of the curve, written where it ends, with its last value (`best 1.069`).
    pub name: Label,
    /// Points with ascending x.
    pub points: Vec<(f64, f64)>,
    /// Tone (meaning) of the curve, from which the theme chooses the colour.
    pub tone: Tone,
    /// `true` if the label is in bold, for the answer.
    pub bold: bool,
    /// Character that draws the curve in ASCII: `*` best, `m` mean, `L` lower, `U` upper bound.
    pub letter: char,
    /// `true` if a value is constant until the next point.
    pub step: bool,
    /// `true` if only every second dot is drawn, so that the curve differs from others without colour.
    pub dotted: bool,
    /// `true` if the points are samples, and each is marked.
    pub marked: bool,
}

impl Series {
    /// Creates a curve without points.
    pub fn new(name: impl Into<Label>, letter: char, tone: Tone) -> Self {
        Self { name: name.into(), letter, tone, ..Self::default() }
    }

    /// Sets the points of the curve.
    #[must_use]
    pub fn points(mut self, points: Vec<(f64, f64)>) -> Self {
        self.points = points;
        self
    }

    /// Makes each value constant until the next point.
    #[must_use]
    pub const fn step(mut self) -> Self {
        self.step = true;
        self
    }

    /// Draws only every second dot.
    #[must_use]
    pub const fn dotted(mut self) -> Self {
        self.dotted = true;
        self
    }

    /// Marks each point of the curve as a sample.
    #[must_use]
    pub const fn marked(mut self) -> Self {
        self.marked = true;
        self
    }

    /// Draws the label in bold.
    #[must_use]
    pub const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }
}

/// A reference value, drawn as a grey line over the whole width.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baseline {
    /// Name of the value, written at the right end.
    pub name: Label,
    /// Value on the y axis.
    pub value: f64,
}

/// An event that is marked on the x axis: a hot start, an offer, a change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Position on the x axis.
    pub at: f64,
    /// Name of the event, written at the top if there is room.
    pub name: Label,
    /// `true` for the cursor, which is drawn as a solid line.
    pub cursor: bool,
}

/// Scale, unit and range of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Axis<'a> {
    /// Scale of the values.
    pub scale: Scale,
    /// Unit or name (`ms`, `generation`).
    pub unit: &'a str,
    /// The range to show; `None` for the range of the data.
    pub bounds: Option<(f64, f64)>,
    /// `true` if ticks are at whole numbers only.
    pub whole: bool,
    /// `true` if ticks have decimal prefixes of bytes (1 KB, 2 MB) instead of a unit.
    pub bytes: bool,
    /// `true` if ticks are times in seconds with their units (10 ns, 1 ms) instead of a unit.
    pub times: bool,
}

impl<'a> Axis<'a> {
    /// Creates a linear axis with a unit.
    pub const fn linear(unit: &'a str) -> Self {
        Self { scale: Scale::Linear, unit, bounds: None, whole: false, bytes: false, times: false }
    }

    /// Creates a logarithmic axis with a unit.
    pub const fn log(unit: &'a str) -> Self {
        Self { scale: Scale::Log, unit, bounds: None, whole: false, bytes: false, times: false }
    }

    /// Creates a logarithmic axis that starts at zero, with a unit.
    pub const fn log_from_zero(unit: &'a str) -> Self {
        Self { scale: Scale::LogFromZero, unit, bounds: None, whole: false, bytes: false, times: false }
    }

    /// Sets the range to show.
    #[must_use]
    pub const fn bounds(mut self, low: f64, high: f64) -> Self {
        self.bounds = Some((low, high));
        self
    }

    /// Sets whether ticks are at whole numbers only, for counts.
    #[must_use]
    pub const fn whole(mut self, whole: bool) -> Self {
        self.whole = whole;
        self
    }

    /// Sets whether ticks have decimal prefixes of bytes instead of a unit.
    #[must_use]
    pub const fn bytes(mut self, bytes: bool) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets whether ticks are times in seconds with their units instead of a unit.
    #[must_use]
    pub const fn times(mut self, times: bool) -> Self {
        self.times = times;
        self
    }

    fn range(&self, values: impl Iterator<Item = f64>) -> Range {
        match self.bounds {
            Some((low, high)) => Range::new(low, high, self.scale),
            None => Range::of(values, self.scale),
        }
    }
}

/// The chart.
///
/// ```
/// # use lightbay_widgets::{Axis, Chart, GlyphSet, Series, Theme, Tone, text_of};
/// # use ratatui_core::{buffer::Buffer, layout::Rect, widgets::Widget};
/// let theme = Theme::mono(GlyphSet::Ascii);
/// let series = [Series::new("best 1", '*', Tone::Answer).points(vec![(0.0, 3.0), (1.0, 1.0)]).step()];
/// let area = Rect::new(0, 0, 20, 3);
/// let mut buf = Buffer::empty(area);
/// Chart::new(&theme, &series, Axis::linear("s"), Axis::linear("ms")).render(area, &mut buf);
/// assert_eq!(text_of(&buf), " 3 **********\nms          *\n 1          * best 1");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    theme: &'a Theme,
    series: &'a [Series],
    baselines: &'a [Baseline],
    events: &'a [Event],
    x: Axis<'a>,
    y: Axis<'a>,
    margins: (u16, u16),
}

/// Returns `true` for a curve in grey, which other curves cover.
const fn is_muted(series: &Series) -> bool {
    matches!(series.tone, Tone::Muted | Tone::Faint | Tone::Rule)
}

/// Number of columns between two letters of a curve.
const LETTERS_APART: i32 = 24;

/// Division of a chart: names of events above, the plot with its axes, labels at the right.
struct ChartParts {
    x: Range,
    y: Heights,
    labels: Labels,
    /// First column and number of columns of the plot.
    left: i32,
    width: i32,
    /// Number of rows above the plot.
    above: i32,
}

impl<'a> Chart<'a> {
    /// Width below which only the label of the first curve is drawn.
    pub const MIN_WIDTH: u16 = 20;
    /// Height below which only the label of the first curve is drawn.
    pub const MIN_HEIGHT: u16 = 2;
    /// Minimum height at which there is an axis below.
    pub const AXIS_HEIGHT: u16 = 4;

    /// Creates a chart of these curves. The first curve is the most important one and is drawn on top.
    pub const fn new(theme: &'a Theme, series: &'a [Series], x: Axis<'a>, y: Axis<'a>) -> Self {
        Self { theme, series, baselines: &[], events: &[], x, y, margins: (0, 0) }
    }

    /// Sets the reference values with which the curves are compared.
    #[must_use]
    pub const fn baselines(mut self, baselines: &'a [Baseline]) -> Self {
        self.baselines = baselines;
        self
    }

    /// Sets the events that are marked.
    #[must_use]
    pub const fn events(mut self, events: &'a [Event]) -> Self {
        self.events = events;
        self
    }

    /// Sets the minimum numbers of columns left and right of the plot, so that the axes of several charts are aligned.
    #[must_use]
    pub const fn margins(mut self, left: u16, right: u16) -> Self {
        self.margins = (left, right);
        self
    }

    fn ranges(&self) -> (Range, Range) {
        let points = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let x = self.x.range(points().map(|point| point.0));
        let y =
            self.y.range(points().map(|point| point.1).chain(self.baselines.iter().map(|line| line.value)));
        (x, y)
    }

    /// Returns the number of points of a series that cannot be drawn.
    fn gaps(series: &Series, x: Range, y: &Heights) -> usize {
        series.points.iter().filter(|point| x.share(point.0).is_none() || y.share(point.1).is_none()).count()
    }

    /// Divides an area of `width` columns and `height` rows.
    fn parts(&self, width: i32, height: i32) -> ChartParts {
        let (x, y) = self.ranges();
        let rows = height - i32::from(height >= i32::from(Chart::AXIS_HEIGHT));
        let below = |above: i32| {
            let y = Heights::new(&self.y, y, rows - above, self.theme);
            let labels = Labels::of(self, x, &y);
            let left = y.width(self.y.unit, self.theme).max(i32::from(self.margins.0)).min(width / 3);
            // The plot gets at least two fifths of the width; labels are cut rather than the curve.
            let ends = labels.width(self, x, &y).max(i32::from(self.margins.1)).min((width - left) * 3 / 5);
            // A short unit of the axis below gets room right of the plot.
            let unit = i32::from(text::width(self.x.unit, self.theme.glyphs)) + 1;
            let ends = if unit <= width / 8 { ends.max(unit) } else { ends };
            ChartParts { x, labels, left, width: width - left - ends, above, y }
        };
        let parts = below(0);
        match self.rows_of_names(&parts, width, rows) {
            0 => parts,
            above => below(above),
        }
    }

    /// Returns the columns of the horizontal axis in an area; `None` if the area is too small.
    pub fn axis_place(&self, area: Rect) -> Option<Rect> {
        if area.width < Chart::MIN_WIDTH || area.height < Chart::MIN_HEIGHT {
            return None;
        }
        let parts = self.parts(i32::from(area.width), i32::from(area.height));
        let (left, width) = (u16::try_from(parts.left).ok()?, u16::try_from(parts.width).ok()?);
        (width > 0).then_some(Rect { x: area.x + left, width, ..area })
    }

    /// Returns the positions of the samples, in ascending order, if all curves consist of samples at `most` positions or
    /// fewer, which have at most three decimals; their positions are the ticks. Otherwise returns nothing.
    fn samples(&self, most: usize) -> Vec<f64> {
        if self.series.iter().any(|series| !series.marked && series.points.len() > 1) {
            return Vec::new();
        }
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let has_unit = self.x.bytes || self.x.times;
        let is_short = |at: &f64| has_unit || (at * 1e3 - (at * 1e3).round()).abs() < 1e-6;
        if (2..=most).contains(&places.len()) && places.iter().all(is_short) { places } else { Vec::new() }
    }

    fn draw_x_axis(&self, pen: &mut Pen<'_>, x: Range, left: i32, width: i32, row: i32) {
        let muted = self.theme.style(Tone::Muted);
        let across = dots_of(self.theme.glyphs.set).0;
        // Counts from zero have short labels, and the first ticks are far apart.
        let apart = match x.scale {
            Scale::LogFromZero => 5,
            _ if self.x.times => 10,
            _ => 8,
        };
        let most = (width / apart).max(1) as usize;
        // At most one tick per whole number: the distance of ticks is at least one.
        let whole = (x.high - x.low).floor().max(1.0) as usize;
        let ticks = x.ticks(if self.x.whole { most.min(whole) } else { most });
        let samples = self.samples(most);
        let places = if samples.is_empty() { ticks.clone().collect() } else { samples.clone() };
        let label = |value: f64| {
            if self.x.bytes {
                number::bytes(value)
            } else if self.x.times {
                number::time(value)
            } else if samples.is_empty() {
                ticks.label(value)
            } else {
                number::plain(value)
            }
        };
        let column = |value: f64| {
            let share = x.share(value).filter(|share| (0.0..=1.0).contains(share))?;
            Some(left + cell_of(share, width, across))
        };
        // The unit is drawn right of the plot, or else at the end of the plot, where ticks are omitted for the unit; of a
        // name, the part before the comma is enough, if then no tick is omitted.
        let wide = |unit: &str| i32::from(text::width(unit, self.theme.glyphs));
        let (right, columns) = (left + width, pen.width());
        let last =
            places.iter().rev().find_map(|value| Some(column(*value)? + label(*value).len() as i32 / 2));
        let last = last.unwrap_or(left);
        let fits = |unit: &&str| right + 1 + wide(unit) <= columns || last + 2 + wide(unit) <= right;
        let names = [self.x.unit, self.x.unit.split(',').next().unwrap_or_default()];
        let name = names.into_iter().find(fits).unwrap_or(self.x.unit);
        let unit = wide(name);
        let beside = right + 1 + unit <= columns;
        let until = if beside || unit * 2 > width { right } else { right - unit - 1 };
        let mut free_from = left;
        for value in places {
            let Some(at) = column(value) else { continue };
            // A label is centred below its value, but stays below the plot.
            let label = label(value);
            let size = label.len() as i32;
            let start = (at - size / 2).min(until - size).max(left);
            if start >= free_from && start + size <= until && at < start + size {
                pen.text(start, row, &label, muted);
                free_from = start + size + 1;
            }
        }
        // With room for one tick only, the end of the axis is labelled too.
        let power = 10_f64.powf(x.high.abs().log10().floor());
        let end = number::bytes((x.high / power).round() * power);
        let at = left + width - end.len() as i32;
        if self.x.bytes && most < 2 && at >= free_from {
            pen.text(at, row, &end, muted);
        }
        let at = (left + width + 1).max(free_from);
        if at + unit <= pen.width() {
            pen.text(at, row, name, muted);
        } else if free_from + unit <= right {
            pen.right(right, row, name, muted);
        }
    }

    /// Marks samples, each on the dot of its curve. A curve of one point is drawn as a mark, because a single dot would
    /// not be visible. In the ASCII set, and if labels have letters, the mark of a curve is its letter. If labels have
    /// letters, this letter is also drawn at some places of a curve without marked samples, except in the ASCII set.
    fn draw_marks(&self, plot: &mut Pen<'_>, number: usize, series: &Series, parts: &ChartParts) {
        let (x, y) = (parts.x, &parts.y);
        let (style, letter) = (self.theme.ink(series.tone, true), &mut [0; 4]);
        let own = if series.letter.is_ascii_graphic() { series.letter } else { '*' };
        let is_letter = self.theme.is_ascii() || parts.labels.letters;
        let mark = if is_letter { &*own.encode_utf8(letter) } else { plot.glyphs().dot };
        let (width, across) = (plot.width(), dots_of(self.theme.glyphs.set).0);
        let place = |(at, value): (f64, f64)| {
            let (at, high) = (x.share(at)?, y.share(value)?);
            let inside = (0.0..=1.0).contains(&at) && (0.0..=1.0).contains(&high);
            inside.then(|| (cell_of(at, width, across), y.row(high)))
        };
        if series.marked || series.points.len() == 1 {
            for (column, row) in series.points.iter().filter_map(|point| place(*point)) {
                plot.glyph(column, row, mark, style);
            }
        } else if parts.labels.letters && !self.theme.is_ascii() {
            let mut next = LETTERS_APART / 4 * (number as i32 % 4 + 1);
            let mut places = series.points.iter().filter_map(|point| place(*point)).peekable();
            while let Some((from, row)) = places.next() {
                // A letter between two steps hides neither of them.
                let until = places.peek().map_or(from, |(column, _)| *column);
                let column = if series.step { i32::midpoint(from, until) } else { from };
                let is_free = !series.step || until == from || until - from > 2;
                // The letter of a muted curve does not cover another curve.
                let is_free = is_free && !(is_muted(series) && self.meets(number, (column, row), place));
                if column >= next && is_free {
                    plot.glyph(column, row, mark, style);
                    next = column + LETTERS_APART;
                }
            }
        }
    }

    /// Returns `true` if another curve has a point in a cell of the plot; `place` returns the cell of a point.
    fn meets(
        &self,
        number: usize,
        cell: (i32, i32),
        place: impl Fn((f64, f64)) -> Option<(i32, i32)>,
    ) -> bool {
        let others = self.series.iter().enumerate().filter(|(other, _)| *other != number);
        others.flat_map(|(_, series)| &series.points).any(|point| place(*point) == Some(cell))
    }

    fn draw_curve(&self, dots: &mut Dots<'_, '_>, (number, series): (usize, &Series), x: Range, y: &Heights) {
        let ink = Ink {
            style: self.theme.ink(series.tone, false),
            letter: series.letter,
            dotted: series.dotted,
            turn: (series.tone != Tone::Answer).then_some(number),
        };
        if series.step && dots.draws_lines() {
            let (width, across) = (dots.cells().0, dots_of(self.theme.glyphs.set).0);
            let cell = |point: &(f64, f64)| {
                let at = cell_of(x.share(point.0)?.clamp(0.0, 1.0), width, across);
                Some((at, y.row(y.share(point.1)?)))
            };
            dots.steps(series.points.iter().map(cell), ink);
            return;
        }
        let (width, height) = (f64::from(dots.width() - 1), f64::from(dots.height() - 1));
        let place = |point: &(f64, f64)| {
            let (share_x, share_y) = (x.share(point.0)?, y.share(point.1)?);
            // Points outside the plot are moved to one dot outside, where they are clipped later; dots further outside
            // would only cost time.
            let at = (share_x.clamp(-1.0, 2.0) * width).round().clamp(-1.0, width + 1.0) as i32;
            let dot = ((1.0 - share_y.clamp(-1.0, 2.0)) * height).round().clamp(-1.0, height + 1.0) as i32;
            Some((at, dot))
        };
        if series.dotted && !series.step {
            dots.scatter(series.points.iter().map(place), ink);
            return;
        }
        // One column of dots at a time: its extent and the height of its last point.
        let mut column: Option<(i32, i32, i32, i32)> = None;
        for point in &series.points {
            let Some((at, dot)) = place(point) else {
                if let Some((at, low, high, _)) = column.take() {
                    dots.vertical(at, low, high, ink);
                }
                continue;
            };
            column = match column {
                Some((now, low, high, _)) if now == at => Some((at, low.min(dot), high.max(dot), dot)),
                Some((now, low, high, last)) => {
                    dots.vertical(now, low, high, ink);
                    if series.step {
                        dots.horizontal(now, at, last, ink);
                        Some((at, last.min(dot), last.max(dot), dot))
                    } else {
                        dots.line((now, last), (at, dot), ink);
                        Some((at, dot, dot, dot))
                    }
                }
                None => Some((at, dot, dot, dot)),
            };
        }
        if let Some((at, low, high, _)) = column {
            dots.vertical(at, low, high, ink);
        }
    }
}

impl Widget for &Chart<'_> {
    fn render(self, area: Rect, buf: &mut Buffer) {
        let mut pen = Pen::new(buf, area, self.theme);
        if pen.is_empty() {
            return;
        }
        if area.width < Chart::MIN_WIDTH || area.height < Chart::MIN_HEIGHT {
            let name = self.series.first().map_or("", |series| &series.name);
            pen.cut(0, 0, pen.width(), name, Cut::End, self.theme.style(Tone::Answer));
            return;
        }
        let parts = self.parts(pen.width(), pen.height());
        let ChartParts { x, y, left, width, above, .. } = &parts;
        let (x, left, width, rows) = (*x, *left, *width, y.rows());
        self.draw_event_names(&mut pen, &parts);
        let (columns, height) = (pen.width(), pen.height() - above);
        let mut pen = pen.part(0, *above, columns, height);
        y.draw(&mut pen, self.y.unit, left);
        if height > rows {
            self.draw_x_axis(&mut pen, x, left, width, rows);
        }
        let glyphs = pen.glyphs();
        for line in self.baselines {
            if let Some(share) = y.share(line.value).filter(|share| (0.0..=1.0).contains(share)) {
                pen.line(left, y.row(share), width, glyphs.baseline, self.theme.style(Tone::Rule));
            }
        }
        self.draw_events(&mut pen, &parts);
        let mut plot = pen.part(left, 0, width, rows);
        let mut dots = Dots::new(&mut plot);
        // The most important curve comes first and is drawn on top; muted curves never cover others.
        let order = || {
            let of =
                |muted: bool| self.series.iter().enumerate().rev().filter(move |s| is_muted(s.1) == muted);
            of(true).chain(of(false)).filter(|(index, _)| parts.labels.names(self, *index, x, y))
        };
        for numbered in order() {
            self.draw_curve(&mut dots, numbered, x, y);
        }
        for (number, series) in order() {
            self.draw_marks(&mut plot, number, series, &parts);
        }
        self.draw_labels(&mut pen, &parts);
    }
}

#[cfg(test)]
mod tests;
