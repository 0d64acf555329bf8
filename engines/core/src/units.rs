//! Quantities and identifiers as distinct types, so that bytes are never added to seconds.
//!
//! File fields keep their unit in the key (`_s`, `_bytes`, `_gbps`); the conversion to these types happens once, when a
//! file is read or written. Hot loops may use the raw number `.0` inside one function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// Zero of this unit.
            pub const ZERO: Self = Self(0.0);

            /// Compares two values in the total order of floats, NaN last.
            pub fn total_cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.0.total_cmp(&other.0)
            }

            /// Returns the larger of two values.
            #[must_use]
            pub const fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// Returns the smaller of two values.
            #[must_use]
            pub const fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }
        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }
        impl Div for $name {
            type Output = f64;
            fn div(self, divisor: Self) -> f64 {
                self.0 / divisor.0
            }
        }
        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                Self(values.map(|value| value.0).sum())
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)?;
                f.write_str(concat!(" ", $unit))
            }
        }
    };
}

quantity!(
    /// A time or duration in seconds.
    Seconds,
    "s"
);
quantity!(
    /// An amount of data in bytes. Importers count bytes in `u64`; plans and simulators need fractions, because they
    /// divide amounts.
    Bytes,
    "B"
);
quantity!(
    /// A rate in decimal gigabits per second.
    Gbps,
    "Gb/s"
);

impl Gbps {
    /// Converts the rate to bytes per second; one gigabit per second is 1.25e8 bytes per second.
    pub fn bytes_per_second(self) -> f64 {
        self.0 * 1.25e8
    }
}

impl Div<Gbps> for Bytes {
    type Output = Seconds;
    /// Returns the time that a transfer of this amount takes at a rate.
    fn div(self, rate: Gbps) -> Seconds {
        Seconds(self.0 / rate.bytes_per_second())
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the identifier as an index into a dense table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the identifier of the entry at an index.
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

identifier!(
    /// A pod: GPUs joined by a local electrical network. Numbered from 0 without gaps.
    PodId
);
identifier!(
    /// An unordered pair of pods that may get circuits. Numbered from 0 without gaps.
    LinkId
);
identifier!(
    /// A task of a dependency graph. Numbered from 0 without gaps.
    TaskId
);
identifier!(
    /// A chip of a torus pod. Numbered from 0 without gaps.
    ChipId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_hundred_gigabits_are_fifty_billion_bytes_a_second() {
        assert_eq!(Gbps(400.0).bytes_per_second(), 5e10);
        assert_eq!(Bytes(1e9) / Gbps(400.0), Seconds(0.02));
    }

    #[test]
    fn quantities_are_written_as_plain_numbers() {
        let json = serde_json::to_string(&(Seconds(0.5), PodId(3)));
        assert_eq!(json.ok().as_deref(), Some("[0.5,3]"));
    }
}
