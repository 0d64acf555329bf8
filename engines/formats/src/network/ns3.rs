//! Topologies of SimAI's ns-3 backend: a line of counts, a line of switches, then `src dst rate latency errors`.

use super::builder::Builder;
use super::facts::{LinkFacts, rate_of, time_us};
use super::{FileLatency, FileRate, MOST_NODES, NodePart};
use lightbay_core::problem::printable;

/// Reads the counts of the first line: nodes, GPUs per server, NVSwitches, other switches and links; the last word, the
/// type of the GPUs, is ignored.
fn counts(line: &str) -> Option<[usize; 5]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (_, numbers) = words.split_last().filter(|_| words.len() == 6)?;
    let numbers: Vec<usize> = numbers.iter().map_while(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().and_then(counts).is_some();
    let switches =
        lines.next().is_some_and(|line| line.split_whitespace().all(|word| word.parse::<u32>().is_ok()));
    first && switches && lines.next().is_none_or(|line| line.trim().is_empty() || link(line).is_some())
}

/// Reads ends, rate and latency of a link from a line.
fn link(line: &str) -> Option<(usize, usize, LinkFacts)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [from, to, rate, latency, _errors] = words.as_slice() else { return None };
    let rate = rate_of(rate).filter(|rate| matches!(rate, FileRate::GbytePerS(_)))?;
    let latency = FileLatency::Us(time_us(latency)?);
    Some((from.parse().ok()?, to.parse().ok()?, LinkFacts { rate: Some(rate), latency: Some(latency) }))
}

pub(super) fn read(text: &str) -> Builder {
    let mut builder = Builder::default();
    let mut lines = text.lines().enumerate().map(|(at, line)| (format!("line {}", at + 1), line));
    let Some([nodes, _per_server, nvswitches, switches, links]) =
        lines.next().and_then(|(_, line)| counts(line))
    else {
        let remedy = "write nodes, GPUs per server, NVSwitches, switches, links and the type of the GPU";
        builder.problems.add("line 1", "is not five whole numbers and a name", remedy);
        return builder;
    };
    if nodes > MOST_NODES || nvswitches.saturating_add(switches) > nodes {
        let message = format!(
            "has {nodes} nodes, {nvswitches} NVSwitches and {switches} switches; the maximum is \
             {MOST_NODES} nodes, including switches"
        );
        builder.problems.add("line 1", message, "correct the counts");
        return builder;
    }
    let gpus = nodes - nvswitches - switches;
    for node in 0..nodes {
        let (letter, part) = match node {
            gpu if gpu < gpus => ("gpu", NodePart::Gpu),
            nv if nv < gpus + nvswitches => ("nvswitch", NodePart::Switch),
            _ => ("switch", NodePart::Switch),
        };
        let id = builder.node(&format!("{letter}{node}"));
        builder.plays(id, Some(part));
    }
    if let Some((place, line)) = lines.next() {
        for word in line.split_whitespace() {
            if word.parse::<usize>().ok().is_none_or(|id| !(gpus..nodes).contains(&id)) {
                let message = format!(
                    "lists '{}' as a switch, but line 1 reserves the numbers {gpus} to {} for switches",
                    printable(word),
                    nodes.saturating_sub(1)
                );
                builder.problems.add(
                    place.as_str(),
                    message,
                    "correct the counts of line 1 or the number of the switch",
                );
            }
        }
    }
    let mut found = 0;
    for (place, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        found += 1;
        match link(line) {
            Some((from, to, facts)) if from < nodes && to < nodes => {
                builder.link(from as u32, to as u32, facts, true, &place);
            }
            Some((from, to, _)) => {
                let message = format!(
                    "connects nodes {from} and {to}, but the nodes are numbered 0 to {}",
                    nodes.saturating_sub(1)
                );
                builder.problems.add(place, message, "correct the number");
            }
            None => {
                let remedy = "write source, destination, rate (400Gbps), latency (0.0005ms) and error rate";
                builder.problems.add(place, format!("is '{}', which is not a link", printable(line)), remedy);
            }
        }
        if builder.is_full() {
            break;
        }
    }
    if found != links && builder.problems.is_empty() {
        let message = format!("announces {links} links, but {found} follow");
        builder.problems.add("line 1", message, "correct the count; was the file cut off?");
    }
    builder
}
