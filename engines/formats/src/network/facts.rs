//! Interprets the attributes of a link or node by their names and units.

use super::{FileLatency, FileRate, NodePart};

/// Rate and latency of a link, if given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LinkFacts {
    pub rate: Option<FileRate>,
    pub latency: Option<FileLatency>,
}

/// Attributes of a link while they are read.
#[derive(Debug, Default)]
pub(super) struct LinkReader {
    /// Rate and latency so far.
    pub facts: LinkFacts,
    /// Names of attributes that are neither a rate nor a latency.
    pub passed_over: Vec<String>,
    rate_name: String,
    latency_name: String,
}

impl LinkReader {
    /// Reads an attribute. Attributes that are neither a rate nor a latency only add their name to `passed_over`.
    ///
    /// # Errors
    /// A rate that is not above 0, a latency below 0, an unknown unit, or two attributes with different rates or
    /// latencies; the error text states the problem.
    pub fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let spelled = spelled_out(name.trim());
        let name = name.trim().to_ascii_lowercase();
        let number = |factor: f64, most: f64| {
            let number = value.trim().parse::<f64>().ok().map(|number| number * factor);
            number.filter(|number| number.is_finite() && (0.0..=most).contains(number))
        };
        let wrong = |what: &str| format!("{name} is '{value}', but must be {what}");
        let rate = match name.as_str() {
            // Bits per second, as in the Internet Topology Zoo.
            "linkspeedraw" => Some(BITS_PER_S),
            "capacity" | "cap" | "bandwidth" | "bw" | "rate" | "speed" => {
                let given =
                    rate_of(value).ok_or_else(|| wrong("a rate, such as 400Gbps, 50GB/s or a number"))?;
                return self.set_rate(name, given);
            }
            _ => in_unit(&spelled, &RATE_UNITS, |word| RATE_WORDS.contains(&word)),
        };
        if let Some(factor) = rate {
            let rate = number(factor, MOST_GBYTE_PER_S).filter(|rate| *rate > 0.0);
            let limit = || wrong(&format!("a number above 0 and up to {:e}", MOST_GBYTE_PER_S / factor));
            let rate = rate.map(FileRate::GbytePerS).ok_or_else(limit)?;
            return self.set_rate(name, rate);
        }
        if LATENCY_WORDS.contains(&name.as_str()) {
            let given = time_us(value).ok_or_else(|| {
                wrong("a time with its unit, such as 500ns (for a plain number, use the name latency_us or latency_ns)")
            })?;
            return self.set_latency(name, given);
        }
        if let Some(factor) = in_unit(&name, &TIME_UNITS, |word| {
            LATENCY_WORDS.iter().any(|known| word.starts_with(known)) || RATE_WORDS.contains(&word)
        }) && LATENCY_WORDS.iter().any(|known| name.contains(known))
        {
            let given = number(factor, MOST_US)
                .ok_or_else(|| wrong(&format!("a number from 0 to {:e}", MOST_US / factor)))?;
            return self.set_latency(name, given);
        }
        self.passed_over.push(name);
        Ok(())
    }

    fn set_rate(&mut self, name: String, rate: FileRate) -> Result<(), String> {
        if self.facts.rate.is_some_and(|known| !same_rate(known, rate)) {
            return Err(two("rates", &self.rate_name, &name));
        }
        (self.facts.rate, self.rate_name) = (Some(rate), name);
        Ok(())
    }

    fn set_latency(&mut self, name: String, us: f64) -> Result<(), String> {
        let differs = |known| !matches!(known, FileLatency::Us(known) if close(known, us));
        if self.facts.latency.is_some_and(differs) {
            return Err(two("latencies", &self.latency_name, &name));
        }
        (self.facts.latency, self.latency_name) = (Some(FileLatency::Us(us)), name);
        Ok(())
    }
}

/// Returns the problem of two attributes that give different values for the same quantity.
fn two(what: &str, one: &str, other: &str) -> String {
    format!("gives two different {what}: {one} and {other}; only one of them can count")
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

fn same_rate(one: FileRate, other: FileRate) -> bool {
    match (one, other) {
        (FileRate::Plain(one), FileRate::Plain(other))
        | (FileRate::GbytePerS(one), FileRate::GbytePerS(other)) => close(one, other),
        _ => false,
    }
}

/// Bits per second, GB/s.
const BITS_PER_S: f64 = 1.0 / 8e9;
/// Units of rates at the end of a name, each with its size in GB/s.
const RATE_UNITS: [(&str, f64); 9] = [
    ("tbyte_per_s", 1e3),
    ("gbyte_per_s", 1.0),
    ("mbyte_per_s", 1e-3),
    ("kbyte_per_s", 1e-6),
    ("tbps", 125.0),
    ("gbps", 0.125),
    ("mbps", 1.25e-4),
    ("kbps", 1.25e-7),
    ("bps", BITS_PER_S),
];
/// Units of bytes at the end of a name, which the capital `B` distinguishes from bits, each with its long form.
const BYTE_UNITS: [(&str, &str); 8] = [
    ("TBps", "tbyte_per_s"),
    ("GBps", "gbyte_per_s"),
    ("MBps", "mbyte_per_s"),
    ("kBps", "kbyte_per_s"),
    ("TB/s", "tbyte_per_s"),
    ("GB/s", "gbyte_per_s"),
    ("MB/s", "mbyte_per_s"),
    ("kB/s", "kbyte_per_s"),
];

/// Returns a name in lower case, with a unit of bytes in its long form: `bandwidth_gbyte_per_s` for `bandwidth_GBps`.
fn spelled_out(name: &str) -> String {
    let long = BYTE_UNITS.iter().find_map(|(unit, long)| Some(format!("{}{long}", name.strip_suffix(unit)?)));
    long.unwrap_or_else(|| name.to_owned()).to_ascii_lowercase()
}

/// Words of which the name of a rate consists before its unit; others, such as `used`, name another quantity.
const RATE_WORDS: [&str; 12] =
    ["capacity", "cap", "bandwidth", "bw", "rate", "speed", "link", "line", "port", "nic", "edge", "max"];
/// Units of times at the end of a name, each with its length in µs.
const TIME_UNITS: [(&str, f64); 5] = [("us", 1.0), ("ns", 1e-3), ("ms", 1e3), ("ps", 1e-6), ("s", 1e6)];
/// Names of latencies.
const LATENCY_WORDS: [&str; 3] = ["latency", "delay", "alpha"];

/// Returns the factor of the unit at the end of a name, if every word before the unit is accepted.
fn in_unit(name: &str, units: &[(&str, f64)], accepts: impl Fn(&str) -> bool) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| {
        let before = name.strip_suffix(unit)?;
        let words = before.strip_suffix('_').or_else(|| before.is_empty().then_some(before))?;
        words.split('_').all(|word| word.is_empty() || accepts(word)).then_some(*factor)
    })
}

/// Maximum rate, GB/s.
const MOST_GBYTE_PER_S: f64 = 1e9;
/// Maximum latency, µs.
const MOST_US: f64 = 1e9;

/// Splits a number from the unit after it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(at, sign)| {
            let exponent = matches!(sign, 'e' | 'E')
                && text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '-');
            !(sign.is_ascii_digit() || matches!(sign, '.' | '-' | '+') || exponent)
        })
        .map_or(text.len(), |(at, _)| at);
    let number = text[..end].parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some((number, text[end..].trim()))
}

/// Reads a rate such as `400Gbps`, `50GB/s` or a plain number.
pub(super) fn rate_of(text: &str) -> Option<FileRate> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "" => return (number > 0.0 && number <= MOST_GBYTE_PER_S).then_some(FileRate::Plain(number)),
        "Tbps" | "Tb/s" | "Tbit/s" => 125.0,
        "Gbps" | "Gb/s" | "Gbit/s" | "G" => 0.125,
        "Mbps" | "Mb/s" | "Mbit/s" => 1.25e-4,
        "TB/s" | "TBps" => 1e3,
        "GB/s" | "GBps" => 1.0,
        "MB/s" | "MBps" => 1e-3,
        _ => return None,
    };
    let rate = number * factor;
    (rate > 0.0 && rate <= MOST_GBYTE_PER_S).then_some(FileRate::GbytePerS(rate))
}

/// Reads a time such as `0.0005ms`; returns µs.
pub(super) fn time_us(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "s" => 1e6,
        "ms" => 1e3,
        "us" | "µs" | "μs" => 1.0,
        "ns" => 1e-3,
        "ps" => 1e-6,
        _ => return None,
    };
    let time = number * factor;
    (0.0..=MOST_US).contains(&time).then_some(time)
}

/// Returns the type of the node for an attribute, such as a switch for `type` with the value `switch`.
pub(super) fn part_of(name: &str, value: &str) -> Option<NodePart> {
    let name = name.to_ascii_lowercase();
    if !["kind", "type", "sort", "role", "node_type"].contains(&name.as_str()) {
        return None;
    }
    let value = value.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| value.contains(word));
    if has(&["switch", "router", "leaf", "spine", "tor", "core", "aggregation", "ocs"]) {
        Some(NodePart::Switch)
    } else if has(&["gpu", "npu", "xpu", "tpu", "accelerator", "chip", "host", "server", "endpoint", "rank"])
    {
        Some(NodePart::Gpu)
    } else {
        None
    }
}
