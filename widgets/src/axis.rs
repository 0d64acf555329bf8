//! Axes: ticks at round values on linear and logarithmic scales, and the position of a value. Nothing allocates.

use crate::number::{self, Num};

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Linear scale: values are spaced evenly.
    #[default]
    Linear,
    /// Logarithmic scale; values that are not positive are gaps.
    Log,
    /// Scale of log(1 + x), for counts that start at 0, such as generations. Negative values are gaps.
    LogFromZero,
}

/// A range on a scale. `low < high` always holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Scale on which values are placed.
    pub scale: Scale,
}

impl Range {
    /// Returns the range of some values. A single value, or equal values, get room on both sides; without values the
    /// range is 0 to 1, on a logarithmic scale 1 to 10, and on a scale of log(1 + x) 0 to 10. Values that cannot be
    /// drawn are skipped.
    pub fn of(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| drawable(*value, scale)) {
            low = low.min(value);
            high = high.max(value);
        }
        Self::new(low, high, scale)
    }

    /// Returns the range between two values, widened if they are equal; the range of [`Self::of`] without values if
    /// `low` is above `high` or one of them cannot be drawn.
    pub fn new(low: f64, high: f64, scale: Scale) -> Self {
        if !(drawable(low, scale) && drawable(high, scale)) || low > high {
            return match scale {
                Scale::Linear => Self { low: 0.0, high: 1.0, scale },
                Scale::Log => Self { low: 1.0, high: 10.0, scale },
                Scale::LogFromZero => Self { low: 0.0, high: 10.0, scale },
            };
        }
        // Ticks that are closer than this could not be distinguished with twelve digits.
        let least = low.abs().max(high.abs()) * 1e-12;
        if high - low > least {
            return Self { low, high, scale };
        }
        match scale {
            Scale::Linear => {
                let room = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
                Self { low: low - room, high: high + room, scale }
            }
            Scale::Log => Self { low: low / 2.0, high: high * 2.0, scale },
            Scale::LogFromZero => Self { low: low / 2.0, high: high * 2.0 + 1.0, scale },
        }
    }

    /// Returns the position of `value`, 0 to 1 inside the range; `None` for a gap.
    pub fn share(&self, value: f64) -> Option<f64> {
        if !drawable(value, self.scale) {
            return None;
        }
        let share = match self.scale {
            // Halved first: the difference of two huge values may overflow.
            Scale::Linear => (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0),
            Scale::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            Scale::LogFromZero => (value.ln_1p() - self.low.ln_1p()) / (self.high.ln_1p() - self.low.ln_1p()),
        };
        share.is_finite().then_some(share)
    }

    /// Returns at most `most + 1` ticks at round values inside the range, in ascending order.
    pub fn ticks(&self, most: usize) -> Ticks {
        match self.scale {
            Scale::Linear => Ticks::linear(self.low, self.high, most),
            Scale::Log => Ticks::log(self.low, self.high, most, false),
            Scale::LogFromZero => {
                let zero = self.low <= 0.0;
                Ticks::log(
                    self.low.max(1.0),
                    self.high.max(1.0),
                    most.saturating_sub(usize::from(zero)),
                    zero,
                )
            }
        }
    }
}

fn drawable(value: f64, scale: Scale) -> bool {
    value.is_finite()
        && match scale {
            Scale::Linear => true,
            Scale::Log => value > 0.0,
            Scale::LogFromZero => value >= 0.0,
        }
}

/// Iterator over ticks at round values.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    kind: Kind,
    index: usize,
    count: usize,
    decimals: usize,
    /// `true` if a tick at zero precedes the first tick.
    zero: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// First value and step.
    Linear(f64, f64),
    /// Ticks of a logarithmic axis: lowest decade, multiples per decade, limits, and number of decades from one tick to
    /// the next.
    Log { decade: i32, multiples: &'static [f64], low: f64, high: f64, every: i32 },
    /// Ticks of a logarithmic axis at equal ratios: the first tick, and the ratio of a tick to the one before.
    Ratio(f64, f64),
}

/// Maximum number of ticks of an axis.
const MOST: usize = 64;

/// Minimum start and maximum end of a logarithmic axis with ticks at powers of two.
const POWERS_OF_TWO: (f64, f64) = (0.25, 16_384.0);

impl Ticks {
    /// Returns `count` ticks from `first` on, `step` apart.
    pub(crate) fn every(first: f64, step: f64, count: usize) -> Self {
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        Self { kind: Kind::Linear(first, step), index: 0, count, decimals, zero: false }
    }

    fn linear(low: f64, high: f64, most: usize) -> Self {
        let most = most.clamp(1, MOST);
        let rough = (high / 2.0 - low / 2.0) / most as f64 * 2.0;
        let power = 10f64.powf(rough.log10().floor());
        let ticks_of = |step: f64| (high / step + 1e-9).floor() - (low / step - 1e-9).ceil() + 1.0;
        // The finest step that gives at most one tick more than requested.
        let fits = |multiple: &f64| ticks_of(multiple * power) <= most as f64 + 1.0;
        let step = [0.5, 1.0, 2.0, 5.0].into_iter().find(fits).unwrap_or(10.0) * power;
        if !(step.is_finite() && step > 0.0) {
            return Self { kind: Kind::Linear(low, 0.0), index: 0, count: 1, decimals: 0, zero: false };
        }
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        let count = if last >= first { (last - first + 1.0).min(MOST as f64) as usize } else { 0 };
        Self::every(first * step, step, count)
    }

    fn log(low: f64, high: f64, most: usize, zero: bool) -> Self {
        let most = most.clamp(1, MOST);
        // Samples at powers of two, such as degrees and numbers of NICs, get their ticks where they are.
        let is_binary = !zero
            && low >= POWERS_OF_TWO.0
            && high <= POWERS_OF_TWO.1
            && [low, high].iter().all(|end| end.log2().fract() == 0.0);
        for ratio in [2.0, 4.0] {
            let count = ((high / low).log(ratio) + 1.0 + 1e-9) as usize;
            if is_binary && (3..=most).contains(&count) {
                return Self { kind: Kind::Ratio(low, ratio), index: 0, count, decimals: 0, zero };
            }
        }
        let decade = low.log10().floor() as i32;
        let decades = high.log10().ceil() as i32 - decade;
        let sets: [&'static [f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 5.0], &[1.0]];
        for multiples in sets {
            let kind = Kind::Log { decade, multiples, low, high, every: 1 };
            let count = multiples.len() * (decades as usize + 1);
            let ticks = Self { kind, index: 0, count, decimals: 0, zero };
            if ticks.clone().count() <= most + usize::from(zero) {
                return ticks;
            }
        }
        let every = (decades / most as i32 + 1).max(1);
        let kind = Kind::Log { decade, multiples: &[1.0], low, high, every };
        Self { kind, index: 0, count: decades as usize / every as usize + 1, decimals: 0, zero }
    }

    /// Returns the text of a tick at `value`.
    pub fn label(&self, value: f64) -> Num {
        match self.kind {
            Kind::Linear(..) => number::fixed(value, self.decimals),
            // 0.25, 0.5, 1, 2
            Kind::Ratio(..) => number::fixed(value, (-value.log2()).clamp(0.0, 2.0) as usize),
            Kind::Log { .. } if value <= 0.0 => number::fixed(0.0, 0),
            Kind::Log { .. } => {
                let decimals = (-value.log10().floor()).clamp(0.0, 12.0) as usize;
                number::fixed(value, decimals)
            }
        }
    }
}

impl Iterator for Ticks {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        if self.zero {
            self.zero = false;
            return Some(0.0);
        }
        while self.index < self.count {
            let index = self.index;
            self.index += 1;
            match self.kind {
                Kind::Linear(first, step) => return Some(first + step * index as f64),
                Kind::Ratio(first, ratio) => return Some(first * ratio.powi(index as i32)),
                Kind::Log { decade, multiples, low, high, every } => {
                    let decade = decade + (index / multiples.len()) as i32 * every;
                    let value = multiples[index % multiples.len()] * 10f64.powi(decade);
                    if value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                        return Some(value);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(range: Range, most: usize) -> Vec<String> {
        let ticks = range.ticks(most);
        ticks.clone().map(|value| ticks.label(value).to_string()).collect()
    }

    #[test]
    fn linear_ticks_are_one_two_five() {
        assert_eq!(
            values(Range::new(12.801, 12.889, Scale::Linear), 5),
            ["12.82", "12.84", "12.86", "12.88"]
        );
        assert_eq!(values(Range::new(0.0, 62.0, Scale::Linear), 4), ["0", "20", "40", "60"]);
        assert_eq!(values(Range::new(-1.0, 1.0, Scale::Linear), 4), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
    }

    #[test]
    fn log_ticks_thin_out_with_the_room() {
        let range = Range::new(20.0, 1000.0, Scale::Log);
        assert_eq!(values(range, 6), ["20", "50", "100", "200", "500", "1000"]);
        assert_eq!(values(range, 4), ["50", "100", "500", "1000"]);
        assert_eq!(values(Range::new(0.3, 9.0, Scale::Log), 5), ["0.5", "1", "2", "5"]);
        assert_eq!(values(Range::new(0.5, 16.0, Scale::Log), 6), ["0.5", "1", "2", "4", "8", "16"]);
        assert_eq!(values(Range::new(1.0, 256.0, Scale::Log), 6), ["1", "4", "16", "64", "256"]);
        assert_eq!(values(range, 2), ["100", "1000"]);
        assert_eq!(values(Range::new(0.02, 0.5, Scale::Log), 9), ["0.02", "0.05", "0.1", "0.2", "0.5"]);
    }

    #[test]
    fn degenerate_ranges_still_have_room() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [vec![], vec![f64::NAN], vec![3.0], vec![3.0, 3.0], vec![f64::INFINITY, 2.0]] {
                let range = Range::of(values.iter().copied(), scale);
                assert!(range.low < range.high, "{values:?} {range:?}");
                assert!(range.ticks(4).count() <= 6);
            }
        }
        let range = Range::new(-f64::MAX, f64::MAX, Scale::Linear);
        assert_eq!(range.share(0.0), Some(0.5));
        assert_eq!(Range::new(1.0, 100.0, Scale::Log).share(0.0), None);
        let middle = Range::new(1.0, 100.0, Scale::Log).share(10.0).unwrap();
        assert!((middle - 0.5).abs() < 1e-12);
    }
}
