//! Intervals of time of a section.

use super::phrase::Phrase;
use super::value::{Tone, Unit};

/// Number of numbers of intervals that a screen shows by colour; with a larger number, only the intervals with the number
/// of the selected one are coloured.
pub const HUES: u32 = 8;

/// Intervals of time by lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    /// The lanes, from top to bottom.
    pub lanes: Vec<Lane>,
    /// The same intervals in fewer lanes, for screens without room for all lanes; empty if all lanes are drawn on
    /// every screen.
    pub short: Vec<Lane>,
    /// Begin of the axis on a screen, s; earlier parts of the lanes are hidden there.
    pub begin_s: f64,
    /// End of the axis, s.
    pub end_s: f64,
    /// Unit in which a screen shows times; the data is in seconds.
    pub unit: Unit,
    /// Heading above the words of the lanes; empty for none.
    pub words: &'static str,
}

/// A lane with intervals of time, such as the lane of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Name of the lane.
    pub name: String,
    /// Intervals in the lane, by start.
    pub spans: Vec<Span>,
    /// Words after the lane on a screen, such as the total bytes of a link.
    pub words: String,
    /// Meaning, for the colour of the name: a link that limits the plan, or a chunk that ends last.
    pub tone: Tone,
}

/// An interval of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// Name of the event.
    pub name: String,
    /// Start of the interval, s.
    pub start_s: f64,
    /// End of the interval, s.
    pub end_s: f64,
    /// Meaning of the interval, for its colour.
    pub tone: Tone,
    /// Number of the object to which the interval belongs, such as a chunk; a screen shows it by colour, and by a letter
    /// if the interval has no tone.
    pub series: Option<u32>,
    /// Fraction of the resource that the interval leaves unused, from 0 to 1; a screen draws the interval lower.
    pub idle: f64,
    /// `true` if the interval does not extend the total time, such as a reconfiguration during a compute phase; a
    /// screen draws it as an underline.
    pub hidden: bool,
    /// The item that the interval selects.
    pub item: Option<u32>,
    /// One sentence on the interval; if it is empty, a screen derives one from the interval.
    pub sentence: Phrase,
}
