//! Numbers as other tools write them: accepts integers written as floats, and refuses values that would overflow.

/// Maximum byte count of one call: ten terabytes. The sum over a million rows still fits into 64 bits.
pub(crate) const MAX_BYTES: u64 = 10_000_000_000_000;

/// Reason that a text is not a valid number, as the second half of a sentence that starts with the text.
pub(crate) type Wrong = &'static str;

/// Reads an integer from `low` to `high`, also if written as a float (`12582912.0`, `1.2e7`).
pub(crate) fn whole(token: &str, low: u64, high: u64) -> Result<u64, Wrong> {
    let value = token.parse::<u64>().or_else(|_| whole_float(token))?;
    if value < low {
        return Err("is too small");
    }
    if value > high {
        return Err("is too large");
    }
    Ok(value)
}

fn whole_float(token: &str) -> Result<u64, Wrong> {
    let value: f64 = token.parse().map_err(|_| "is not a number")?;
    if !value.is_finite() {
        return Err("is not a finite number");
    }
    if value < 0.0 {
        return Err("is negative");
    }
    if value.fract() != 0.0 {
        return Err("is not a whole number");
    }
    // Above 2^53, a float does not identify a single integer.
    if value > 9_007_199_254_740_992.0 {
        return Err("is too large");
    }
    Ok(value as u64)
}

/// Reads a byte count of one call.
pub(crate) fn bytes(token: &str) -> Result<u64, Wrong> {
    whole(token, 0, MAX_BYTES)
}

/// Reads a finite and non-negative duration, at most `high`, in any unit.
pub(crate) fn duration(token: &str, high: f64) -> Result<f64, Wrong> {
    let value: f64 = token.parse().map_err(|_| "is not a number")?;
    if !value.is_finite() {
        return Err("is not a finite number");
    }
    if value < 0.0 {
        return Err("is negative");
    }
    if value > high {
        return Err("is too large");
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_that_are_integers_count() {
        assert_eq!(bytes("12582912.0"), Ok(12_582_912));
        assert_eq!(bytes("5e9"), Ok(5_000_000_000));
        assert_eq!(bytes("10000000000001"), Err("is too large"));
        assert_eq!(bytes("18446744073709551616"), Err("is too large"));
        assert_eq!(bytes("1.5"), Err("is not a whole number"));
        assert_eq!(bytes("-1"), Err("is negative"));
        assert_eq!(bytes("nan"), Err("is not a finite number"));
        assert_eq!(bytes("1e400"), Err("is not a finite number"));
        assert_eq!(bytes("12a"), Err("is not a number"));
        assert_eq!(whole("0", 1, 9), Err("is too small"));
        assert_eq!(duration("1.25", 10.0), Ok(1.25));
        assert_eq!(duration("-0.5", 10.0), Err("is negative"));
    }
}
