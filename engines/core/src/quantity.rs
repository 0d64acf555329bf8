//! Formatting of numbers for people.

use crate::kind::Sense;
use crate::report::Unit;
use crate::report::text;

/// Formats a value in base units with its unit, as a person reads it.
pub fn with_unit(value: f64, unit: Unit) -> String {
    let number = text::number(value, unit);
    if unit.symbol.is_empty() { number } else { format!("{number} {}", unit.symbol) }
}

/// Formats a bound in base units with its unit, as a person reads it: rounded to the safe side.
pub fn bound_with_unit(bound: f64, unit: Unit, sense: Sense) -> String {
    with_unit(bound, unit.bounding(sense))
}

/// Rounds a bound to decimals so that the rounded number is also a bound: down if smaller values of the objective are
/// better, up if larger values are better. Floating-point noise is ignored.
pub fn safe_bound(bound: f64, decimals: usize, sense: Sense) -> f64 {
    /// Relative difference that checkers treat as equal.
    const NOISE: f64 = 1e-9;
    let step = 10f64.powi(decimals as i32);
    let (scaled, nearest) = (bound * step, (bound * step).round());
    if !scaled.is_finite() || (nearest - scaled).abs() <= NOISE * scaled.abs() {
        return bound;
    }
    match sense {
        Sense::Min => scaled.floor() / step,
        Sense::Max => scaled.ceil() / step,
    }
}

/// Returns the number of decimals with which a number has eight significant digits, from 0 to 12.
pub fn eight_digits(value: f64) -> usize {
    if value == 0.0 { 0 } else { (7.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize }
}

/// Formats a number with at most eight significant digits, no exponent where it can be avoided, and no trailing zeros.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !value.is_finite() || !(-7.0..15.0).contains(&magnitude) {
        return format!("{value:e}");
    }
    let decimals = eight_digits(value);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a count with a blank between groups of three digits: `57 310`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Formats the size of a file: `9999 bytes`, `12.3 kB`, `45.6 MB`.
pub fn file_size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Formats a time in seconds, rounded to three significant digits or to whole seconds, whichever is finer; at most six
/// decimals.
pub fn elapsed(seconds: f64) -> String {
    if seconds <= 0.0 || !seconds.is_finite() {
        return "0 s".to_owned();
    }
    let decimals = (2.0 - seconds.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{seconds:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text.as_str() };
    format!("{text} s")
}

/// Formats a fraction as a percentage.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text = if percent != 0.0 && percent.abs() < 0.01 {
        format!("{percent:.1e}")
    } else {
        format!("{percent:.2}")
    };
    let text =
        if text.contains('e') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() };
    format!("{text} %")
}

/// Formats a gap as a percentage, without the per cent sign. A gap above [`crate::plan::OPTIMAL_GAP`] is never printed
/// as zero, because zero means proven optimal.
pub fn open_percent(share: f64, decimals: usize) -> String {
    let least = 0.5 * 10f64.powi(-(decimals as i32)) / 100.0;
    if share > crate::plan::OPTIMAL_GAP && share < least {
        format!("<{:.decimals$}", least * 200.0)
    } else if share.is_finite() {
        format!("{:.decimals$}", share * 100.0)
    } else {
        "-".to_owned()
    }
}

/// Formats a gap as a percentage, with the per cent sign: two decimals, or one decimal from 9.95 % on.
pub fn gap(share: f64) -> String {
    format!("{} %", open_percent(share, if share < 0.0995 { 2 } else { 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_scaled_to_their_unit() {
        assert_eq!(with_unit(12.829852, Unit::SECONDS), "12.829852 s");
        assert_eq!(with_unit(0.028_61, Unit::MILLISECONDS), "28.610 ms");
        assert_eq!(with_unit(96.0, Unit::COUNT), "96");
        assert_eq!(with_unit(0.0255, Unit::PERCENT), "2.55 %");
        assert_eq!(with_unit(-0.0000001, Unit::MILLISECONDS), "0.000 ms", "nothing has no sign");
        assert_eq!(with_unit(0.0003371, Unit::NUMBER), "0.0003371");
    }

    #[test]
    fn sizes_of_files_have_the_unit_that_suits_them() {
        assert_eq!([9_999, 12_345, 45_600_000].map(file_size), ["9999 bytes", "12.3 kB", "45.6 MB"]);
    }

    #[test]
    fn bounds_round_to_the_safe_side() {
        let microseconds = Unit::new("us", 1.0, Some(3));
        let (min, max) = (Sense::Min, Sense::Max);
        // Below a finish of 12.72857, and above a rate of it.
        assert_eq!(bound_with_unit(12.728_57, microseconds, min), "12.728 us");
        assert_eq!(bound_with_unit(12.728_41, microseconds, max), "12.729 us");
        // A value that equals the rounded number up to noise is not rounded further.
        assert_eq!(bound_with_unit(12.729 - 1e-12, microseconds, min), "12.729 us");
        assert_eq!(bound_with_unit(0.1 + 0.2, Unit::NUMBER, max), "0.3");
        assert_eq!(bound_with_unit(2.0 / 3.0, Unit::NUMBER, min), "0.66666666");
        assert_eq!(bound_with_unit(1.0 / 3.0, Unit::NUMBER, max), "0.33333334");
        assert_eq!(bound_with_unit(0.028_616_9, Unit::MILLISECONDS, min), "28.616 ms");
        assert_eq!(bound_with_unit(-1.5, Unit::COUNT, min), "-2");
        assert_eq!(bound_with_unit(0.0, Unit::NUMBER, min), "0");
    }

    #[test]
    fn numbers_keep_eight_digits_and_no_noise() {
        for (value, text) in [
            (0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (12.829852, "12.829852"),
            (1.0 / 3.0, "0.33333333"),
            (1e9, "1000000000"),
            (-2.5, "-2.5"),
            (1e-9, "1e-9"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn counts_are_grouped_from_the_right() {
        assert_eq!(
            [0, 999, 1000, 57_310, 1_234_567].map(grouped),
            ["0", "999", "1 000", "57 310", "1 234 567"]
        );
    }

    #[test]
    fn clocks_need_three_digits() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.004747121, "0.00475 s"),
            (0.00014482, "0.000145 s"),
            (12.3456, "12.3 s"),
            (1234.5, "1234 s"),
        ] {
            assert_eq!(elapsed(seconds), text);
        }
    }

    #[test]
    fn tiny_shares_do_not_look_like_nothing() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.0255), "2.55 %");
        assert_eq!(percent(1e-8), "1.0e-6 %");
    }
}
