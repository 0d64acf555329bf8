//! Values over one axis as a chart.

use super::tone;
use crate::view::present::PaneInput;
use lightbay_core::report::{Curves, Tone as Meaning, Unit};
use lightbay_widgets::{Axis, Chart, Series, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Room above and below the curves, as a share of their range.
const ROOM: f64 = 0.05;

/// Curves on the screen.
#[derive(Debug)]
pub struct CurvesView {
    series: Vec<Series>,
    axis_unit: String,
    unit: String,
    axis_is_log: bool,
    values_are_log: bool,
}

impl CurvesView {
    pub fn new(curves: &Curves) -> Self {
        let series = |(at, curve): (usize, &lightbay_core::report::Curve)| {
            // Curves without a meaning of their own are told apart by number.
            let tone = match curve.tone {
                Meaning::Text => Tone::Series(at as u8),
                meaning => tone(meaning),
            };
            let letter = curve.label.chars().find(char::is_ascii_alphanumeric).unwrap_or('*');
            let points = curve
                .points
                .iter()
                .map(|point| (point.at * curves.axis_unit.scale, point.value * curve.unit.scale));
            let series = Series::new(curve.label.clone(), letter, tone).points(points.collect());
            let series = if curve.steps { series.step() } else { series };
            if curve.tone == Meaning::Answer { series.bold() } else { series }
        };
        let unit = curves.curves.first().map_or(Unit::NUMBER, |curve| curve.unit);
        let axis_unit = match (curves.axis_label, curves.axis_unit.symbol) {
            (label, "") => label.to_owned(),
            (_, symbol) => symbol.to_owned(),
        };
        Self {
            series: curves.curves.iter().enumerate().map(series).collect(),
            axis_unit,
            unit: unit.symbol.to_owned(),
            axis_is_log: curves.axis_is_log,
            values_are_log: curves.values_are_log,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    /// Values with room above and below, so that no curve runs on the edge.
    fn values(&self) -> Option<(f64, f64)> {
        let values = self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let room = ROOM * (high - low).max(high.abs() * 1e-3);
        (room.is_finite() && room > 0.0).then_some((low - room, high + room))
    }

    pub fn draw(&self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer) {
        let x = if self.axis_is_log { Axis::log(&self.axis_unit) } else { Axis::linear(&self.axis_unit) };
        let y = if self.values_are_log { Axis::log(&self.unit) } else { Axis::linear(&self.unit) };
        let y = match self.values().filter(|_| !self.values_are_log) {
            Some((low, high)) => y.bounds(low, high),
            None => y,
        };
        (&Chart::new(&input.app.look.theme, &self.series, x, y)).render(area, buf);
    }
}
