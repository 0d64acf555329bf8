//! Network files of ASTRA-sim's analytical backend: dimensions of rings, switches and full meshes, innermost first.

use super::builder::Builder;
use super::facts::LinkFacts;
use super::{FileLatency, FileRate, MOST_NODES, NodePart};
use lightbay_core::problem::{Problems, printable};

/// One dimension of the network.
struct Dimension {
    sort: DimensionSort,
    npus: usize,
    facts: LinkFacts,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DimensionSort {
    Ring,
    Switch,
    FullyConnected,
}

pub(super) fn read(text: &str) -> Builder {
    let mut builder = Builder::default();
    let dimensions = dimensions(text, &mut builder.problems);
    if !builder.problems.is_empty() {
        return builder;
    }
    let npus: usize = dimensions.iter().map(|dimension| dimension.npus).product();
    for npu in 0..npus {
        let node = builder.node(&format!("npu{npu}"));
        builder.plays(node, Some(NodePart::Gpu));
    }
    let mut step = 1;
    for (number, dimension) in dimensions.iter().enumerate() {
        let size = dimension.npus;
        // The members of a group differ only in this dimension.
        let firsts = (0..npus).filter(|npu| npu / step % size == 0);
        for (group, first) in firsts.enumerate() {
            let member = |at: usize| (first + at * step) as u32;
            match dimension.sort {
                DimensionSort::Ring => {
                    // Two NPUs are connected by one link, not two.
                    let links = if size == 2 { 1 } else { size };
                    for at in 0..links {
                        builder.link(member(at), member((at + 1) % size), dimension.facts, true, "");
                    }
                }
                DimensionSort::FullyConnected => {
                    for at in 0..size {
                        for other in at + 1..size {
                            builder.link(member(at), member(other), dimension.facts, true, "");
                        }
                    }
                }
                DimensionSort::Switch => {
                    let switch = builder.node(&format!("switch{number}.{group}"));
                    builder.plays(switch, Some(NodePart::Switch));
                    for at in 0..size {
                        builder.link(member(at), switch, dimension.facts, true, "");
                    }
                }
            }
            if builder.is_full() {
                return builder;
            }
        }
        step *= size;
    }
    builder
}

/// Returns the entries of the list after a key, without comments, each with its line, counted from 1.
fn list<'t>(text: &'t str, key: &str, problems: &mut Problems) -> Vec<(usize, &'t str)> {
    let mut lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, line.split('#').next().unwrap_or_default()));
    let found = lines.find_map(|(at, line)| {
        let rest = line.trim_start().strip_prefix(key)?.trim_start().strip_prefix(':')?;
        Some((at, rest.trim()))
    });
    let Some((at, rest)) = found else {
        problems.add(key, "is missing", "write one entry for each dimension");
        return Vec::new();
    };
    let Some(inner) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        problems.add(
            format!("line {at}"),
            format!("{key} is '{}', but must be a list on one line", printable(rest)),
            "write it as [a, b]",
        );
        return Vec::new();
    };
    inner.split(',').map(|entry| (at, entry.trim())).collect()
}

fn dimensions(text: &str, problems: &mut Problems) -> Vec<Dimension> {
    let [sorts, counts, rates, latencies] =
        ["topology", "npus_count", "bandwidth", "latency"].map(|key| list(text, key, problems));
    if !problems.is_empty() {
        return Vec::new();
    }
    let lengths = [&sorts, &counts, &rates, &latencies].map(Vec::len);
    if lengths.iter().any(|length| *length != lengths[0]) {
        let message = format!(
            "topology, npus_count, bandwidth and latency have {lengths:?} entries, but must have one for \
             each dimension"
        );
        problems.add("", message, "use the same length for all four lists");
        return Vec::new();
    }
    let mut wrong = |(line, entry): (usize, &str), dimension: usize, what: &str, valid: &str| {
        let message = format!("{what} of dimension {dimension} is '{}'", printable(entry));
        problems.add(format!("line {line}"), message, valid);
    };
    let mut all = Vec::new();
    let mut npus = 1_usize;
    for at in 0..sorts.len() {
        let sort = match sorts[at].1 {
            "Ring" => Some(DimensionSort::Ring),
            "Switch" => Some(DimensionSort::Switch),
            "FullyConnected" => Some(DimensionSort::FullyConnected),
            _ => None,
        };
        if sort.is_none() {
            wrong(sorts[at], at + 1, "topology", "choose Ring, Switch or FullyConnected");
        }
        let count = counts[at].1.parse::<usize>().ok().filter(|count| (2..=MOST_NODES).contains(count));
        if count.is_none() {
            wrong(counts[at], at + 1, "npus_count", "use an integer, 2 or more");
        }
        let positive =
            |entry: &str| entry.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let rate = positive(rates[at].1).filter(|rate| *rate > 0.0 && *rate <= 1e9);
        if rate.is_none() {
            wrong(rates[at], at + 1, "bandwidth", "use GB/s of one link in each direction, a number above 0");
        }
        let latency = positive(latencies[at].1).filter(|latency| *latency <= 1e12);
        if latency.is_none() {
            wrong(latencies[at], at + 1, "latency", "use ns of one link, a number of at least 0");
        }
        if let (Some(sort), Some(count), Some(rate), Some(latency_ns)) = (sort, count, rate, latency) {
            npus = npus.saturating_mul(count);
            let facts = LinkFacts {
                rate: Some(FileRate::GbytePerSOfTool(rate)),
                latency: Some(FileLatency::Us(latency_ns / 1e3)),
            };
            all.push(Dimension { sort, npus: count, facts });
        }
    }
    if npus > MOST_NODES {
        problems.add("npus_count", format!("has {npus} NPUs; the maximum is {MOST_NODES}"), "give fewer");
    }
    all
}
