//! Numbers as text in a buffer on the stack: rounded, never cut, `-` for an unknown value.
//!
//! Digits are grouped by thin gaps above 9 999 (`12 829.85`). A number that does not fit loses decimals first, then
//! becomes `12.8 k`, `4.1 M`; a number is never cut off.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Deref;

const CAPACITY: usize = 40;

/// A short text on the stack. Dereferences to `str`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Num {
    bytes: [u8; CAPACITY],
    len: u8,
}

impl Default for Num {
    fn default() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }
}

impl Num {
    /// Formats any arguments; text beyond 40 bytes is left out.
    pub fn of(args: fmt::Arguments<'_>) -> Self {
        let mut num = Self::default();
        // Overflow is the only error, and the text that fitted is kept.
        let _ = num.write_fmt(args);
        num
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or("?")
    }

    /// Inserts thin gaps between groups of three digits in front of the decimal point, for magnitudes above 9 999.
    fn grouped(self) -> Self {
        let text = self.as_str();
        let digits_from = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (sign, rest) = text.split_at(digits_from);
        let point = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, fraction) = rest.split_at(point);
        if whole.len() < 5 {
            return self;
        }
        let mut out = Self::default();
        let _ = out.write_str(sign);
        for (i, c) in whole.char_indices() {
            if i > 0 && (whole.len() - i).is_multiple_of(3) {
                let _ = out.write_char(' ');
            }
            let _ = out.write_char(c);
        }
        let _ = out.write_str(fraction);
        out
    }
}

impl Write for Num {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let at = usize::from(self.len);
            let Some(room) = self.bytes.get_mut(at..at + c.len_utf8()) else {
                return Err(fmt::Error);
            };
            c.encode_utf8(room);
            self.len += c.len_utf8() as u8;
        }
        Ok(())
    }
}

impl Deref for Num {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Num {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<Num> for String {
    fn from(num: Num) -> Self {
        num.as_str().to_owned()
    }
}

impl From<Num> for Cow<'static, str> {
    fn from(num: Num) -> Self {
        Cow::Owned(num.into())
    }
}

/// Inserts thin gaps between groups of three digits in front of the decimal point of a number above 9 999; text after
/// the number is unchanged.
pub fn grouped(number: &str) -> String {
    let from = number.find(|c: char| c.is_ascii_digit()).unwrap_or(number.len());
    let (sign, rest) = number.split_at(from);
    let point = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (whole, behind) = rest.split_at(point);
    let mut text = sign.to_owned();
    for (at, digit) in whole.char_indices() {
        if whole.len() > 4 && at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text + behind
}

/// Text for an unknown value.
pub const UNKNOWN: &str = "-";

fn unknown() -> Num {
    Num::of(format_args!("{UNKNOWN}"))
}

/// Magnitude above which a number without exponent is not readable.
const LARGEST_FIXED: f64 = 1e15;

/// Formats `value` with a fixed number of decimals, grouped above 9 999. A value that is not finite is `-`; minus zero
/// is zero.
pub fn fixed(value: f64, decimals: usize) -> Num {
    if !value.is_finite() {
        return unknown();
    }
    let decimals = decimals.min(12);
    if value.abs() >= LARGEST_FIXED {
        return Num::of(format_args!("{value:.3e}"));
    }
    let num = Num::of(format_args!("{value:.decimals$}"));
    let zero = num.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    let num = if zero { Num::of(format_args!("{:.decimals$}", 0.0)) } else { num };
    num.grouped()
}

/// Formats a value of any size and unit: whole numbers without decimals, values with a magnitude below 0.1 with six
/// significant digits (at most twelve decimals), others with six decimals.
pub fn plain(value: f64) -> Num {
    match value.abs() {
        _ if value.fract() == 0.0 => fixed(value, 0),
        small if small < 0.1 => fixed(value, (5.0 - small.log10().floor()).clamp(6.0, 12.0) as usize),
        _ => fixed(value, 6),
    }
}

/// Formats like [`fixed`] with `+` in front of positive values, for differences. Zero is plain `0`.
pub fn signed(value: f64, decimals: usize) -> Num {
    let num = fixed(value, decimals);
    if !value.is_finite() || num.starts_with('-') {
        return num;
    }
    if num.bytes().all(|b| matches!(b, b'0' | b'.')) {
        return Num::of(format_args!("0"));
    }
    Num::of(format_args!("+{num}"))
}

/// Formats seconds with six decimals, for wide places.
pub fn seconds6(value_s: f64) -> Num {
    fixed(value_s, 6)
}

/// Formats seconds with three decimals, for narrow places.
pub fn seconds3(value_s: f64) -> Num {
    fixed(value_s, 3)
}

/// Formats a time in seconds as milliseconds.
pub fn millis(value_s: f64, decimals: usize) -> Num {
    fixed(value_s * 1e3, decimals)
}

/// Formats a normalised completion time with four decimals.
pub fn nct(value: f64) -> Num {
    fixed(value, 4)
}

/// Formats a fraction as a percentage without the per cent sign; `Large` from 9 999 % on.
pub fn percent(share: f64, decimals: usize) -> Num {
    if share.is_finite() && share * 100.0 >= 9_999.0 {
        return Num::of(format_args!("Large"));
    }
    fixed(share * 100.0, decimals)
}

/// Formats a count, grouped above 9 999.
pub fn count(value: u64) -> Num {
    Num::of(format_args!("{value}")).grouped()
}

/// Formats a count in at most six columns: `4 657` up to 99 999, then `461 k`, `12 M`.
pub fn short(value: u64) -> Num {
    if value < 1_000 {
        return Num::of(format_args!("{value}"));
    }
    if value < 100_000 {
        let (thousands, rest) = (value / 1_000, value % 1_000);
        return Num::of(format_args!("{thousands} {rest:03}"));
    }
    let mut scaled = value as f64 / 1e3;
    for unit in ["k", "M", "G", "T", "P"] {
        if scaled < 999.5 {
            return Num::of(format_args!("{scaled:.0} {unit}"));
        }
        scaled /= 1e3;
    }
    Num::of(format_args!("{scaled:.0} E"))
}

/// Formats a size in bytes with a decimal prefix: `64 KB`, `1.5 MB`.
pub fn bytes(value: f64) -> Num {
    let steps = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    let (scale, unit) = steps.into_iter().find(|(scale, _)| value.abs() >= *scale).unwrap_or((1.0, "B"));
    let scaled = (value / scale * 1e3).round() / 1e3;
    Num::of(format_args!("{scaled} {unit}"))
}

/// Formats a time in seconds with a suitable unit: `10 ns`, `25 ms`, `5.7 s`.
pub fn time(value_s: f64) -> Num {
    let steps = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    let (scale, unit) = steps.into_iter().find(|(scale, _)| value_s >= 0.999 * scale).unwrap_or((1e-9, "ns"));
    let scaled = (value_s / scale * 1e3).round() / 1e3;
    Num::of(format_args!("{scaled} {unit}"))
}

/// Formats an elapsed time: `mm:ss`, for an hour or more `h:mm:ss`.
pub fn duration(value_s: f64) -> Num {
    if !value_s.is_finite() || value_s < 0.0 {
        return unknown();
    }
    let total = value_s.min(3.6e9) as u64;
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    if hours == 0 {
        Num::of(format_args!("{minutes:02}:{seconds:02}"))
    } else {
        Num::of(format_args!("{hours}:{minutes:02}:{seconds:02}"))
    }
}

/// Formats the time of a log line: `mm:ss.t`, for an hour or more `h:mm:ss`.
pub fn clock(value_s: f64) -> Num {
    if !value_s.is_finite() || value_s < 0.0 {
        return unknown();
    }
    if value_s >= 3600.0 {
        return duration(value_s);
    }
    let tenths = (value_s * 10.0) as u64;
    Num::of(format_args!("{:02}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10))
}

/// Formats `value` in at most `width` columns: fewer decimals first, then `k`, `M`, `G`, `T`, then a power of ten. A
/// value that does not fit in any form is written in full; a number is never cut off.
pub fn fit(value: f64, decimals: usize, width: usize) -> Num {
    let full = fixed(value, decimals);
    if full.len() <= width || !value.is_finite() {
        return full;
    }
    for fewer in (0..decimals).rev() {
        let num = fixed(value, fewer);
        if num.len() <= width {
            return num;
        }
    }
    for (scale, unit) in [(1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")] {
        for decimals in [1, 0] {
            if value.abs() >= scale {
                let num = Num::of(format_args!("{:.decimals$}{unit}", value / scale));
                if num.len() <= width {
                    return num;
                }
            }
        }
    }
    let power = Num::of(format_args!("{value:.0e}"));
    if power.len() <= width { power } else { full }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_text_are_grouped_in_front_of_the_point() {
        let read = [("40468.750", "40 468.750"), ("-11625472", "-11 625 472"), ("9999", "9999"), ("-", "-")];
        for (text, shown) in read {
            assert_eq!(grouped(text), shown);
        }
        assert_eq!(grouped("+12345.5, claimed"), "+12 345.5, claimed");
    }

    #[test]
    fn rounds_and_groups() {
        assert_eq!(&*seconds6(12.829_851_9), "12.829852");
        assert_eq!(&*seconds3(12.829_852), "12.830");
        assert_eq!(&*fixed(12_829.852, 2), "12 829.85");
        assert_eq!(&*fixed(9_999.0, 0), "9999");
        assert_eq!(&*fixed(-1_234_567.0, 1), "-1 234 567.0");
        assert_eq!(&*count(1_000_000), "1 000 000");
        assert_eq!(&*nct(1.06914), "1.0691");
        assert_eq!(&*percent(0.021, 1), "2.1");
        assert_eq!(&*percent(100.0, 1), "Large");
    }

    #[test]
    fn plain_values_have_as_many_digits_as_tell_them_apart() {
        assert_eq!(&*plain(8.0), "8");
        assert_eq!(&*plain(12.829_851_9), "12.829852");
        assert_eq!(&*plain(0.000_109_461_56), "0.000109462");
        assert_eq!(&*plain(f64::NAN), "-");
    }

    #[test]
    fn unknown_is_a_dash_and_zero_has_no_sign() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(&*fixed(value, 3), "-");
            assert_eq!(&*signed(value, 3), "-");
            assert_eq!(&*duration(value), "-");
        }
        assert_eq!(&*fixed(-0.0001, 2), "0.00");
        assert_eq!(&*signed(0.0, 2), "0");
        assert_eq!(&*signed(12.58, 2), "+12.58");
        assert_eq!(&*signed(-0.32, 2), "-0.32");
        assert_eq!(&*duration(-1.0), "-");
    }

    #[test]
    fn durations_and_clocks() {
        assert_eq!(&*duration(62.9), "01:02");
        assert_eq!(&*duration(3_723.0), "1:02:03");
        assert_eq!(&*clock(49.96), "00:49.9");
        assert_eq!(&*clock(4_000.0), "1:06:40");
        assert_eq!(
            [1e-8, 7e-6, 0.025, 5.7].map(|value| time(value).to_string()),
            ["10 ns", "7 us", "25 ms", "5.7 s"]
        );
    }

    #[test]
    fn short_counts() {
        let cases =
            [(999, "999"), (4_657, "4 657"), (99_999, "99 999"), (461_000, "461 k"), (12_300_000, "12 M")];
        for (value, text) in cases {
            assert_eq!(&*short(value), text);
        }
        assert_eq!(&*short(999_600), "1 M");
        assert_eq!(&*short(u64::MAX), "18 E");
    }

    #[test]
    fn fit_drops_decimals_then_scales_and_never_cuts_digits() {
        assert_eq!(&*fit(12.829_852, 6, 9), "12.829852");
        assert_eq!(&*fit(12.829_852, 6, 6), "12.830");
        assert_eq!(&*fit(12_829.85, 2, 6), "12 830");
        assert_eq!(&*fit(12_829.85, 2, 5), "12.8k");
        assert_eq!(&*fit(12_829.85, 2, 3), "13k");
        assert_eq!(&*fit(12_829.85, 2, 1), "12 829.85");
        assert_eq!(&*fixed(1e300, 6), "1.000e300");
    }
}
