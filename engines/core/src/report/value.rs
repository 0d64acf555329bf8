//! Cells of a report: text and numbers with units, and what they mean.

use crate::kind::Sense;
use std::cmp::Ordering;

/// Unit of a number, and how stored data is converted for display. The name of a field ends with the base unit of its
/// data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Written after the number; empty for counts and ratios.
    pub symbol: &'static str,
    /// Factor from the data to the printed number: 1000 for seconds printed as milliseconds.
    pub scale: f64,
    /// Decimals; `None` for at most eight significant digits without trailing zeros.
    pub decimals: Option<u8>,
    /// `true` to print a `+` before positive numbers, for differences.
    pub signed: bool,
    /// For a bound: direction of the objective, so that the number is rounded to the safe side.
    pub bounds: Option<Sense>,
}

impl Unit {
    /// Unit of a number without a unit symbol and without a fixed number of decimals.
    pub const NUMBER: Self = Self::new("", 1.0, None);
    /// Unit of a count.
    pub const COUNT: Self = Self::new("", 1.0, Some(0));
    /// Unit of a ratio with four decimals.
    pub const RATIO: Self = Self::new("", 1.0, Some(4));
    /// Unit of a time in seconds.
    pub const SECONDS: Self = Self::new("s", 1.0, Some(6));
    /// Unit of a time that is stored in seconds and printed in milliseconds.
    pub const MILLISECONDS: Self = Self::new("ms", 1e3, Some(3));
    /// Unit of a time that is stored in seconds and printed in microseconds.
    pub const MICROSECONDS: Self = Self::new("µs", 1e6, Some(3));
    /// Unit of an amount that is stored in bytes and printed in gigabytes.
    pub const GIGABYTES: Self = Self::new("GB", 1e-9, Some(2));
    /// Unit of a rate in gigabits per second.
    pub const GBPS: Self = Self::new("Gb/s", 1.0, None);
    /// Unit of a fraction that is printed in per cent.
    pub const PERCENT: Self = Self::new("%", 100.0, Some(2));
    /// Unit of a throughput in flits per cycle and chip.
    pub const FLITS: Self = Self::new("flits/cycle/chip", 1.0, Some(3));

    /// Creates a unit with its symbol, the factor from the data to the printed number, and the number of decimals.
    pub const fn new(symbol: &'static str, scale: f64, decimals: Option<u8>) -> Self {
        Self { symbol, scale, decimals, signed: false, bounds: None }
    }

    /// Returns the same unit for bounds on an objective, which are rounded to the safe side.
    #[must_use]
    pub const fn bounding(self, sense: Sense) -> Self {
        Self { bounds: Some(sense), ..self }
    }

    /// Returns the same unit with another number of decimals.
    #[must_use]
    pub const fn with_decimals(self, decimals: u8) -> Self {
        Self { decimals: Some(decimals), ..self }
    }

    /// Returns the same unit for differences: with a `+` above zero.
    #[must_use]
    pub const fn signed(self) -> Self {
        Self { signed: true, ..self }
    }
}

impl Default for Unit {
    fn default() -> Self {
        Self::NUMBER
    }
}

/// Content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Unknown or not applicable.
    None,
    /// Words. The writer escapes control characters in text from files.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number in the base unit of its name.
    Float(f64),
    /// Yes or no.
    Flag(bool),
}

impl Value {
    /// Returns the number, if the value is a number.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::None | Self::Text(_) | Self::Flag(_) => None,
        }
    }

    /// Compares two values of a column: empty values come first, then truth values, then numbers, then words.
    pub fn order(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::None => 0,
            Self::Flag(_) => 1,
            Self::Int(_) | Self::Float(_) => 2,
            Self::Text(_) => 3,
        };
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Flag(a), Self::Flag(b)) => a.cmp(b),
            (a, b) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => rank(self).cmp(&rank(other)),
            },
        }
    }
}

macro_rules! value_from {
    ($($type:ty => $variant:ident as $as:ty),* $(,)?) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value as $as)
            }
        })*
    };
}

value_from!(
    i64 => Int as i64,
    i32 => Int as i64,
    u8 => Int as i64,
    u16 => Int as i64,
    u32 => Int as i64,
    u64 => Int as i64,
    usize => Int as i64,
    f64 => Float as f64,
);

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// Meaning of a cell, for colours and marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Words and numbers without a special meaning.
    #[default]
    Text,
    /// Low priority: labels and units.
    Muted,
    /// The answer to the question of the section.
    Answer,
    /// Something that is as intended.
    Good,
    /// Something that the user has changed, or that is out of date because of a change.
    Changed,
    /// Something that needs attention.
    Warn,
    /// Something that is broken or lost.
    Bad,
}

/// A value with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Content of the cell.
    pub value: Value,
    /// Meaning, which decides the colour.
    pub tone: Tone,
    /// Words after the value: `claimed, not checked`; empty for most.
    pub note: String,
}

impl Cell {
    /// Creates a plain cell.
    pub fn new(value: impl Into<Value>) -> Self {
        Self { value: value.into(), tone: Tone::Text, note: String::new() }
    }

    /// Creates an empty cell.
    pub const fn none() -> Self {
        Self { value: Value::None, tone: Tone::Muted, note: String::new() }
    }

    /// Sets the meaning of the cell, which decides its colour.
    #[must_use]
    pub const fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// Adds words after the value.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

impl<T: Into<Value>> From<T> for Cell {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
