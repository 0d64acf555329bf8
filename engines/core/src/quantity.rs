//! Named figures for people: `makespan_s` 12.5 becomes "makespan" "12.5 s".

/// Endings of names that are units, with what is written behind the number.
const UNITS: [(&str, &str); 9] = [
    ("_flits_per_cycle_per_node", "flits/cycle/node"),
    ("_s", "s"),
    ("_ms", "ms"),
    ("_us", "us"),
    ("_bytes", "B"),
    ("_gb", "GB"),
    ("_gbps", "Gb/s"),
    ("_percent", "%"),
    ("_usd", "USD"),
];

/// The name in words, without its unit.
pub fn label(name: &str) -> String {
    let bare = UNITS.iter().find_map(|(ending, _)| name.strip_suffix(ending)).unwrap_or(name);
    // Letters are an abbreviation only where the field says so.
    let words = bare.split('_').map(|word| match word {
        "nct" | "mcf" | "vc" => word.to_uppercase(),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The unit that a name ends with, empty if it has none.
pub fn unit(name: &str) -> &'static str {
    UNITS.iter().find(|(ending, _)| name.ends_with(ending)).map_or("", |(_, unit)| unit)
}

/// A value with the unit of its name.
pub fn value(name: &str, value: f64) -> String {
    let number = number(value);
    match unit(name) {
        "" => number,
        unit => format!("{number} {unit}"),
    }
}

/// Name and value in one phrase.
pub fn phrase(name: &str, amount: f64) -> String {
    format!("{} {}", label(name), value(name, amount))
}

/// At most eight significant digits, no exponent where it can be avoided, no trailing zeros.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !value.is_finite() || !(-7.0..15.0).contains(&magnitude) {
        return format!("{value:e}");
    }
    let decimals = (7.0 - magnitude).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Seconds of a clock, of which three digits are enough.
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

/// A share as per cent.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_names() {
        assert_eq!(phrase("makespan_s", 12.829852), "makespan 12.829852 s");
        assert_eq!(phrase("total_ports", 96.0), "total ports 96");
        assert_eq!(phrase("nct", 1.0234), "NCT 1.0234");
        assert_eq!(phrase("iteration_ms", 0.5), "iteration 0.5 ms");
        assert_eq!(phrase("mcf_lower", 0.014), "MCF lower 0.014");
        assert_eq!(phrase("saturation_flits_per_cycle_per_node", 1.25), "saturation 1.25 flits/cycle/node");
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
