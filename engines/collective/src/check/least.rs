//! Minimum time to move data into and out of single GPUs and groups, recomputed for every plan, independently of the
//! bounds that the plan claims.

use super::links::{CheckedLink, CheckedLinks};
use super::{Findings, code};
use crate::plan::CollectiveResult;
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};

/// Tolerance within which finish and floor count as equal.
const ROUNDING: f64 = 1e-9;

/// Checks that the links into or out of every GPU and group can carry the data of the GPU or the group within the
/// finish, and within the completion time of the replay.
pub(super) fn check(
    scenario: &CollectiveScenario,
    chunks: &ChunkList,
    result: &CollectiveResult,
    links: &CheckedLinks,
    found: &mut Findings,
) {
    let nodes = &scenario.topology.nodes;
    let mut least = least(scenario, chunks, links, Some, nodes.len());
    let groups = nodes.iter().filter_map(|node| node.group).max().map_or(0, |group| group as usize + 1);
    let group = |node: u32| nodes.get(node as usize).and_then(|node| node.group);
    let of_groups = self::least(scenario, chunks, links, group, groups);
    let is_group = of_groups.us > least.us;
    if is_group {
        least = of_groups;
    }
    let claims = &result.claims;
    let times = [("finish_us", Some(claims.finish_us)), ("replay_us", claims.replay_us)];
    for (name, said) in times.into_iter().filter_map(|(name, said)| said.map(|said| (name, said))) {
        if said < least.us * (1.0 - ROUNDING) {
            found.add_with(code::BOUND, || {
                let part = match nodes.get(least.part).filter(|_| !is_group) {
                    Some(node) => node.name.clone(),
                    None => format!("group {}", least.part),
                };
                let way = if least.enters { "into" } else { "out of" };
                format!(
                    "{name} is {said}, but the links {way} {part} need {} us for the data that must cross \
                     them",
                    least.us
                )
            });
        }
    }
}

/// Time that the links into or out of a part of the network need for the data that must cross these links, µs.
#[derive(Clone, Copy, Debug, Default)]
struct PartTime {
    us: f64,
    part: usize,
    enters: bool,
}

/// Returns the part whose links need the most time; `part` gives the number of the part of each node (below `count`),
/// or `None` for a node outside all parts.
fn least(
    scenario: &CollectiveScenario,
    chunks: &ChunkList,
    links: &CheckedLinks,
    part: impl Fn(u32) -> Option<u32>,
    count: usize,
) -> PartTime {
    let sort = scenario.demand.collective;
    // Rates and bytes into every part, and out of it.
    let (mut rates, mut bytes) = (vec![[0.0f64; 2]; count], vec![[0.0f64; 2]; count]);
    let works = |link: &&CheckedLink| !scenario.failed_links.contains(&[link.from, link.to]);
    for link in links.links.iter().filter(works) {
        let (from, to) = (part(link.from), part(link.to));
        if from != to {
            if let Some(to) = to {
                rates[to as usize][0] += link.bytes_per_us;
            }
            if let Some(from) = from {
                rates[from as usize][1] += link.bytes_per_us;
            }
        }
    }
    if sort == CollectiveSort::AllReduce {
        let ranks = scenario.demand.rank_nodes(&scenario.topology);
        let all = links.chunk_bytes * f64::from(scenario.demand.chunks_per_rank) * ranks.len() as f64;
        let mut members = vec![0usize; count];
        ranks.iter().filter_map(|rank| part(*rank)).for_each(|part| members[part as usize] += 1);
        for (part, bytes) in bytes.iter_mut().enumerate() {
            if (1..ranks.len()).contains(&members[part]) {
                *bytes = [all, all];
            }
        }
    } else {
        // Reduced data goes from its destinations to its source.
        let (enters, leaves) = if sort.starts_backwards() { (1, 0) } else { (0, 1) };
        let mut last = vec![usize::MAX; count];
        for chunk in 0..chunks.len() {
            let source = part(chunks.source(chunk));
            let mut crosses = false;
            for dest in chunks.dests(chunk).map(&part).filter(|dest| *dest != source) {
                crosses = true;
                if let Some(dest) = dest.map(|dest| dest as usize)
                    && std::mem::replace(&mut last[dest], chunk) != chunk
                {
                    bytes[dest][enters] += links.chunk_bytes;
                }
            }
            if let (Some(source), true) = (source, crosses) {
                bytes[source as usize][leaves] += links.chunk_bytes;
            }
        }
    }
    let mut least = PartTime::default();
    for (part, (rates, bytes)) in rates.iter().zip(&bytes).enumerate() {
        for (way, enters) in [(0, true), (1, false)] {
            let us = bytes[way] / rates[way];
            if bytes[way] > 0.0 && us > least.us {
                least = PartTime { us, part, enters };
            }
        }
    }
    least
}
