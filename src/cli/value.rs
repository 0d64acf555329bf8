//! Values as people type them: durations and gaps.

/// Reads a duration in seconds from `90`, `90s`, `1.5m`, `1h30m`, `250ms`.
///
/// # Errors
/// Returns a sentence with examples of valid durations.
pub fn duration_s(text: &str) -> Result<f64, String> {
    let refuse = || format!("'{text}' is not a duration; write 90, 90s, 5m or 1h30m");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(refuse());
    }
    let mut total_s = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let unit_s = match unit {
            "" | "s" => 1.0,
            "ms" => 1e-3,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(refuse()),
        };
        total_s += number.parse::<f64>().map_err(|_| refuse())? * unit_s;
        rest = after;
    }
    if total_s <= 1e8 {
        Ok(total_s)
    } else {
        Err(format!("'{text}' is longer than three years; leave the limit out"))
    }
}

/// Reads a fraction from `1%` or `0.01`.
///
/// # Errors
/// Returns a sentence with examples of valid gaps.
pub fn gap(text: &str) -> Result<f64, String> {
    let refuse = || format!("'{text}' is not a gap; write 1% or 0.01, at most 100%");
    let text_only = text.trim();
    let share = match text_only.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|value| value / 100.0),
        None => text_only.parse::<f64>(),
    };
    share.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_units_and_sums() {
        for (text, seconds) in [
            ("90", 90.0),
            ("90s", 90.0),
            ("5m", 300.0),
            ("1h30m", 5400.0),
            ("250ms", 0.25),
            ("0.5", 0.5),
            ("1d", 86_400.0),
        ] {
            assert_eq!(duration_s(text), Ok(seconds), "{text}");
        }
        for text in ["", "s", "-1", "5 m", "1x", "1..2", "inf", "1e999", "99999d"] {
            assert!(duration_s(text).is_err(), "{text}");
        }
    }

    #[test]
    fn gaps_are_shares_or_per_cents() {
        for (text, share) in [("0.01", 0.01), ("1%", 0.01), ("0", 0.0), ("100%", 1.0), ("1 %", 0.01)] {
            assert_eq!(gap(text), Ok(share), "{text}");
        }
        for text in ["", "%", "-1%", "1.5", "101%", "NaN", "inf"] {
            assert!(gap(text).is_err(), "{text}");
        }
    }
}
