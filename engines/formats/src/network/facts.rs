//! Interprets the attributes of a link or node by their names and units.

use super::{FileLatency, FileRate, NodePart};

/// Rate and latency of a link, if given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LinkFacts {
    pub rate: Option<FileRate>,
    pub latency: Option<FileLatency>,
}

impl LinkFacts {
    /// Reads an attribute. Ignores attributes that are neither a rate nor a latency.
    ///
    /// # Errors
    /// A rate that is not above 0, a latency below 0, or an unknown unit; the error text states the problem.
    pub fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let name = name.trim().to_ascii_lowercase();
        let number = |factor: f64, most: f64| {
            let number = value.trim().parse::<f64>().ok().map(|number| number * factor);
            number.filter(|number| number.is_finite() && (0.0..=most).contains(number))
        };
        let wrong = |what: &str| format!("{name} is '{value}', but must be {what}");
        let rate = |factor: f64| {
            let rate = number(factor, MOST_GBYTE_PER_S).filter(|rate| *rate > 0.0);
            rate.map(FileRate::GbytePerS)
                .ok_or_else(|| wrong(&format!("a number above 0 and up to {:e}", MOST_GBYTE_PER_S / factor)))
        };
        let latency = |factor: f64| {
            number(factor, MOST_US)
                .map(FileLatency::Us)
                .ok_or_else(|| wrong(&format!("a number from 0 to {:e}", MOST_US / factor)))
        };
        let unit = name.rsplit('_').next().unwrap_or_default();
        match name.as_str() {
            "capacity_gbyte_per_s" | "gbyte_per_s" | "bandwidth_gbyte_per_s" | "rate_gbyte_per_s" => {
                self.rate = Some(rate(1.0)?);
            }
            // Bits per second, as in the Internet Topology Zoo.
            "linkspeedraw" => self.rate = Some(rate(1.0 / 8e9)?),
            "capacity" | "cap" | "bandwidth" | "bw" | "rate" => {
                let given =
                    rate_of(value).ok_or_else(|| wrong("a rate, such as 400Gbps, 50GB/s or a number"))?;
                self.rate = Some(given);
            }
            "latency" | "delay" | "alpha" => {
                let given = time_us(value).ok_or_else(|| {
                    wrong("a time with its unit, such as 500ns (for a plain number, use the name latency_us or latency_ns)")
                })?;
                self.latency = Some(FileLatency::Us(given));
            }
            _ if unit == "gbps" => self.rate = Some(rate(0.125)?),
            _ if is_latency(&name) && unit == "us" => self.latency = Some(latency(1.0)?),
            _ if is_latency(&name) && unit == "ns" => self.latency = Some(latency(1e-3)?),
            _ if is_latency(&name) && unit == "ms" => self.latency = Some(latency(1e3)?),
            _ => {}
        }
        Ok(())
    }
}

/// Maximum rate, GB/s.
const MOST_GBYTE_PER_S: f64 = 1e9;
/// Maximum latency, µs.
const MOST_US: f64 = 1e9;

fn is_latency(name: &str) -> bool {
    ["latency", "delay", "alpha"].iter().any(|word| name.starts_with(word))
}

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
