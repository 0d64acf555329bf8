//! Curves over one axis, as content of a block of a section.

use super::value::{Tone, Unit};

/// Curves over one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Name of the axis in JSON and CSV, with its unit.
    pub axis: &'static str,
    /// Heading of the axis.
    pub axis_label: &'static str,
    /// Unit of the axis.
    pub axis_unit: Unit,
    /// Ends of the axis on a screen; `None`: the ends of the curves. On an axis of the parameter of the section's slider,
    /// both have one scale.
    pub axis_range: Option<(f64, f64)>,
    /// Parameter that the axis shows: a screen offers to set it to the selected position. Empty for none.
    pub axis_knob: &'static str,
    /// `true` for a logarithmic axis.
    pub axis_is_log: bool,
    /// `true` for logarithmic values.
    pub values_are_log: bool,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Reference values for the curves that have the unit of the first curve, best first.
    pub lines: Vec<Line>,
    /// Named points on the axis.
    pub marks: Vec<Mark>,
    /// Smallest and largest value that a screen shows of the curves with the unit of the first curve; `None`: all
    /// values.
    pub range: Option<(f64, f64)>,
}

/// A reference value for curves or bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the value in JSON.
    pub name: String,
    /// Name of the value for people.
    pub label: String,
    /// The reference value.
    pub value: f64,
}

/// A named point on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Position on the axis.
    pub at: f64,
    /// Name of the point.
    pub name: String,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name in JSON and CSV, with its unit.
    pub name: String,
    /// Name of the curve for people.
    pub label: String,
    /// Unit of the curve's values.
    pub unit: Unit,
    /// Points of the curve, in ascending order on the axis.
    pub points: Vec<Point>,
    /// Meaning of the curve, for its colour.
    pub tone: Tone,
    /// `true` if the curve keeps its value until the next point, instead of a straight line between points.
    pub steps: bool,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position on the axis.
    pub at: f64,
    /// Value of the curve at this position.
    pub value: f64,
}
