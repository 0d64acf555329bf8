//! BookSim's `anynet`: routers become switches, nodes become GPUs.

use super::builder::Builder;
use super::facts::LinkFacts;
use super::{FileLatency, NodePart};
use crate::anynet;
use lightbay_core::problem::Problems;

pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(8).peekable();
    let is_router = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("router")
            && words.next().is_some_and(|word| word.parse::<u32>().is_ok())
            && words.next().is_none_or(|word| matches!(word, "router" | "node"))
    };
    lines.peek().is_some() && lines.all(is_router)
}

pub(super) fn read(text: &str) -> Result<Builder, Problems> {
    let net = anynet::read(text)?;
    let mut builder = Builder::default();
    for (node, (router, cycles)) in &net.nodes {
        let gpu = builder.node(&format!("n{node}"));
        builder.plays(gpu, Some(NodePart::Gpu));
        let switch = builder.node(&format!("r{router}"));
        let facts = LinkFacts { rate: None, latency: Some(FileLatency::Cycles(f64::from(*cycles))) };
        builder.link(gpu, switch, facts, true, "");
        if builder.is_full() {
            break;
        }
    }
    for ((from, to), cycles) in &net.links {
        let [from, to] = [from, to].map(|router| builder.node(&format!("r{router}")));
        let facts = LinkFacts { rate: None, latency: Some(FileLatency::Cycles(f64::from(*cycles))) };
        builder.link(from, to, facts, false, "");
        if builder.is_full() {
            break;
        }
    }
    let routers: Vec<u32> = net
        .links
        .keys()
        .flat_map(|(from, to)| [*from, *to])
        .chain(net.nodes.values().map(|(router, _)| *router))
        .collect();
    for router in routers {
        let node = builder.node(&format!("r{router}"));
        builder.plays(node, Some(NodePart::Switch));
    }
    Ok(builder)
}
