//! Numbers with a unit after them, as people type them: `400Gb/s`, `1GB`, `25us`.

/// The units of one kind of quantity, each with its value in a common base unit.
type Family = &'static [(&'static str, f64)];

/// Families of units: rates in bit/s, sizes in bytes, times in ns, speeds of computation in FLOP/s, and frequencies in
/// Hz.
const FAMILIES: [Family; 5] = [
    &[
        ("Tb/s", 1e12),
        ("Tbit/s", 1e12),
        ("Tbps", 1e12),
        ("Gb/s", 1e9),
        ("Gbit/s", 1e9),
        ("Gbps", 1e9),
        ("Mb/s", 1e6),
        ("Mbit/s", 1e6),
        ("Mbps", 1e6),
        ("TB/s", 8e12),
        ("TBps", 8e12),
        ("GB/s", 8e9),
        ("GBps", 8e9),
        ("MB/s", 8e6),
        ("MBps", 8e6),
    ],
    &[
        ("bytes", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ],
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)],
    &[
        ("GFLOP/s", 1e9),
        ("TFLOP/s", 1e12),
        ("Tflop/s", 1e12),
        ("TFLOPS", 1e12),
        ("PFLOP/s", 1e15),
        ("PFLOPS", 1e15),
    ],
    &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
];

/// Unit abbreviations after link rates: `400G` is 400 Gb/s.
const SHORT: [(&str, &str); 2] = [("G", "Gb/s"), ("T", "Tb/s")];

/// Multiples of a count.
const MULTIPLES: [(&str, f64); 5] = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("Ki", 1024.0), ("Mi", 1_048_576.0)];

/// Reads a count with a multiple after it, such as `4k` or `4Ki`; `None` if the text has no multiple, or if `unit` is a
/// physical unit, with which the text must have a unit instead. Tokens accept only `Ki` and `Mi`, because `4k` tokens
/// can mean 4000 or 4096.
pub(super) fn count(text: &str, unit: &str) -> Option<f64> {
    if FAMILIES.iter().any(|family| family.iter().any(|(known, _)| *known == unit)) {
        return None;
    }
    let end = text.rfind(|sign: char| sign.is_ascii_digit() || sign == '.').map_or(0, |at| at + 1);
    let (number, given) = text.split_at(end);
    let (_, factor) = MULTIPLES.iter().find(|(name, _)| *name == given)?;
    let value = number.parse::<f64>().ok()? * factor;
    (unit != "tokens" || given.ends_with('i')).then_some(value).filter(|value| value.is_finite())
}

/// Reads a number with a unit as a number of `unit`s; `None` if there is no unit, or a unit of another quantity.
pub(super) fn in_unit(text: &str, unit: &str) -> Option<f64> {
    let end = text.rfind(|sign: char| sign.is_ascii_digit() || sign == '.').map_or(0, |at| at + 1);
    let (number, given) = text.split_at(end);
    let given =
        SHORT.iter().find(|(short, _)| *short == given && unit == "Gb/s").map_or(given, |(_, long)| long);
    let family = FAMILIES.iter().find(|family| family.iter().any(|(known, _)| *known == unit))?;
    let of = |name: &str| family.iter().find(|(known, _)| *known == name).map(|(_, base)| *base);
    let value = number.parse::<f64>().ok()? * of(given)? / of(unit)?;
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::{count, in_unit};

    #[test]
    fn counts_have_multiples_where_they_are_clear() {
        for (text, unit, value) in [
            ("4k", "", 4000.0),
            ("1.5M", "circuits", 1.5e6),
            ("4Ki", "tokens", 4096.0),
            ("2Mi", "", 2_097_152.0),
        ] {
            assert_eq!(count(text, unit), Some(value), "{text} as {unit}");
        }
        for (text, unit) in
            [("4k", "tokens"), ("4k", "Gb/s"), ("4k", "bytes"), ("k", ""), ("4x", ""), ("4", "")]
        {
            assert_eq!(count(text, unit), None, "{text} as {unit}");
        }
    }

    #[test]
    fn quantities_are_brought_to_the_unit_of_the_parameter() {
        for (text, unit, value) in [
            ("400Gb/s", "Gb/s", 400.0),
            ("400G", "Gb/s", 400.0),
            ("1.6Tbps", "Gb/s", 1600.0),
            ("50GB/s", "Gb/s", 400.0),
            ("400Gbps", "GB/s", 50.0),
            ("1GB", "bytes", 1e9),
            ("64MiB", "bytes", 67_108_864.0),
            ("25us", "s", 2.5e-5),
            ("25ms", "s", 0.025),
            ("1.5us", "us", 1.5),
            ("1e3us", "ms", 1.0),
            ("2min", "s", 120.0),
            ("1PFLOPS", "TFLOP/s", 1000.0),
            ("940MHz", "GHz", 0.94),
        ] {
            assert_eq!(in_unit(text, unit), Some(value), "{text} as {unit}");
        }
        for (text, unit) in [
            ("400", "Gb/s"),
            ("400G", "GB/s"),
            ("1GB", "Gb/s"),
            ("25us", "bytes"),
            ("4k", "tokens"),
            ("G", "Gb/s"),
            ("", "s"),
            ("x s", "s"),
        ] {
            assert_eq!(in_unit(text, unit), None, "{text} as {unit}");
        }
    }
}
