//! Floors of collectives by name: in time, with what binds them and whether they can be reached
//! (docs/methods/collective.md, section 5).

use super::cut::cut_words;
use super::exchange::exchange_rate;
use super::floor::network_floor;
use super::latency::{LatencyQuestion, latency_floor};
use super::scale::Overflow;
use super::spread::SpreadFloor;
use crate::scenario::CollectiveSort;
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// A collective whose floor is asked for.
#[derive(Clone, Copy, Debug)]
pub struct FloorQuestion<'n> {
    /// The network.
    pub network: &'n LinkNetwork,
    /// Collective by name.
    pub collective: CollectiveSort,
    /// GPUs that take part.
    pub ranks: &'n [u32],
    /// GPU that sends or receives everything, where there is one.
    pub root: Option<u32>,
    /// Data of one rank: what it spreads, sums or has for each other rank; all data of a Broadcast. Bytes.
    pub shard_bytes: f64,
}

/// Time that no schedule of any chunks and epochs can beat.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveFloor {
    /// Floor without latencies, µs; infinite if some data cannot arrive.
    pub floor_us: f64,
    /// Time that suffices without latencies, if it is another one or known: of the interval of AllReduce the upper end.
    pub upper_us: Option<f64>,
    /// Floor with latencies, µs.
    pub alpha_floor_us: f64,
    /// Binding cut, in words.
    pub binding_cut: Option<String>,
    /// `true` if enough chunks are known to reach the floor without latencies; if not, that is unknown.
    pub achievable: bool,
}

/// Nodes up to which smallest cuts between all pairs are looked for: every one is a maximum flow.
const PLAIN_NODES: usize = 150;

/// Returns the floor of a collective by name; `None` for lists of chunks and several tenants.
///
/// # Errors
/// Numbers beyond 128 bits, the reason of the run to stop, or what the solver says.
pub fn collective_floor<W: Watch>(
    question: &FloorQuestion<'_>,
    watch: &mut W,
) -> Result<Option<CollectiveFloor>, MethodError> {
    // Data that is spread is planned on the network, data that is reduced on the reversed one.
    let network = question.network;
    let floor = match question.collective {
        CollectiveSort::AllGather | CollectiveSort::Broadcast | CollectiveSort::Gather => {
            spread(question, network)?
        }
        CollectiveSort::ReduceScatter | CollectiveSort::Scatter => spread(question, &network.reversed())?,
        CollectiveSort::AllToAll => exchange(question, watch)?,
        CollectiveSort::AllReduce => all_reduce(question)?,
        CollectiveSort::Custom | CollectiveSort::MultiTenant => return Ok(None),
    };
    Ok(Some(floor))
}

fn failed(overflow: Overflow) -> MethodError {
    MethodError::Failed(overflow.to_string())
}

/// Time for a shard at a rate in GB/s, µs.
fn time_us(shard_bytes: f64, rate: f64) -> f64 {
    if rate > 0.0 { shard_bytes / (1000.0 * rate) } else { f64::INFINITY }
}

/// Sources and destinations of data that is spread (or, on the network turned round, gathered and summed).
fn ends(question: &FloorQuestion<'_>) -> (Vec<u32>, Vec<u32>) {
    let all = question.ranks.to_vec();
    match (question.collective, question.root) {
        (CollectiveSort::Broadcast, Some(root)) => (vec![root], all),
        (CollectiveSort::Gather | CollectiveSort::Scatter, Some(root)) => (all, vec![root]),
        _ => (all.clone(), all),
    }
}

fn spread_rate(
    network: &LinkNetwork,
    sources: &[u32],
    destinations: &[u32],
) -> Result<Option<SpreadFloor>, MethodError> {
    let mut shards = vec![0; network.node_count()];
    for source in sources {
        shards[*source as usize] = 1;
    }
    let all = network.gpus().len();
    let symmetric = sources.len() == all && destinations.len() == all;
    network_floor(network, &shards, destinations, symmetric).map_err(failed)
}

fn spread(question: &FloorQuestion<'_>, network: &LinkNetwork) -> Result<CollectiveFloor, MethodError> {
    let (sources, destinations) = ends(question);
    let Some(found) = spread_rate(network, &sources, &destinations)? else {
        return Ok(nothing());
    };
    // One shard at the rate of the binding cut.
    let floor_us = time_us(question.shard_bytes, found.rate.as_f64());
    let units: Vec<(u32, f64)> = sources.iter().map(|source| (*source, 1.0)).collect();
    let asked = LatencyQuestion { network, sources: &units, destinations: &destinations, copies: true };
    // The binding cut is tried with latencies as well.
    let latency = latency_floor(&asked, std::slice::from_ref(&found.cut));
    let (with_latency, cut) = latency.at(question.shard_bytes);
    let cut = cut.map_or(&found.cut, |cut| &cut.inside);
    // On the network turned round what leaves a set is what enters it.
    let turned = matches!(question.collective, CollectiveSort::ReduceScatter | CollectiveSort::Scatter);
    let words = if turned {
        let outside: Vec<bool> = cut.iter().map(|inside| !inside).collect();
        cut_words(question.network, &outside)
    } else {
        cut_words(network, cut)
    };
    // One destination is a flow; else trees need balanced switches and no relays that are not ranks.
    let achievable = destinations.len() == 1 || packs(network, question.ranks);
    Ok(CollectiveFloor {
        floor_us,
        upper_us: achievable.then_some(floor_us),
        // Both are valid, so the larger one is.
        alpha_floor_us: with_latency.max(floor_us),
        binding_cut: Some(words),
        achievable,
    })
}

const fn nothing() -> CollectiveFloor {
    CollectiveFloor {
        floor_us: 0.0,
        upper_us: Some(0.0),
        alpha_floor_us: 0.0,
        binding_cut: None,
        achievable: true,
    }
}

/// Returns `true` if trees are known to reach every floor of spread data: every GPU is a rank, and every switch has
/// equal capacity in and out.
fn packs(network: &LinkNetwork, ranks: &[u32]) -> bool {
    let capacity = |links: &[u32]| {
        links.iter().try_fold(crate::scenario::rational::Rational::ZERO, |sum, link| {
            sum.plus(network.links()[*link as usize].capacity)
        })
    };
    let balanced = |node: u32| {
        let (into, out) = (capacity(network.in_links(node)), capacity(network.out_links(node)));
        into.is_some() && into == out
    };
    // Every GPU a rank, every switch balanced: the trees of Edmonds exist.
    ranks.len() == network.gpus().len()
        && (0..network.node_count() as u32).all(|node| !network.is_switch(node) || balanced(node))
}

fn exchange<W: Watch>(question: &FloorQuestion<'_>, watch: &mut W) -> Result<CollectiveFloor, MethodError> {
    let network = question.network;
    let Some(rate) = exchange_rate(network, question.ranks, watch)? else { return Ok(nothing()) };
    let floor_us = time_us(question.shard_bytes, rate);
    let units: Vec<(u32, f64)> = question.ranks.iter().map(|rank| (*rank, 1.0)).collect();
    let asked = LatencyQuestion { network, sources: &units, destinations: question.ranks, copies: false };
    let latency = latency_floor(&asked, &[]);
    let (with_latency, cut) = latency.at(question.shard_bytes);
    Ok(CollectiveFloor {
        floor_us,
        upper_us: Some(floor_us),
        alpha_floor_us: with_latency.max(floor_us),
        binding_cut: cut.filter(|_| with_latency >= floor_us).map(|cut| cut_words(network, &cut.inside)),
        achievable: true,
    })
}

/// The interval of AllReduce: all data leaves and enters every set that has a rank on both sides; where switches do not
/// add up, every byte needs `2(m-1)` transfers between `m` parts; both halves one after the other suffice.
fn all_reduce(question: &FloorQuestion<'_>) -> Result<CollectiveFloor, MethodError> {
    let network = question.network;
    let turned = network.reversed();
    let all_bytes = question.shard_bytes * question.ranks.len() as f64;
    // A single rank has nothing to exchange.
    let Some(first) = question.ranks.first().copied().filter(|_| question.ranks.len() > 1) else {
        return Ok(nothing());
    };
    let mut lower = (0.0_f64, None);
    let mut take = |floor_us: f64, cut: Option<Vec<bool>>| {
        if floor_us > lower.0 {
            lower = (floor_us, cut);
        }
    };
    for (graph, outwards) in [(network, true), (&turned, false)] {
        // From one rank to all others, in both directions: each set with a rank on both sides is such a cut of one of
        // them.
        if network.node_count() <= PLAIN_NODES {
            if let Some(found) = spread_rate(graph, &[first], question.ranks)? {
                let cut = if outwards { found.cut } else { found.cut.iter().map(|inside| !inside).collect() };
                take(time_us(all_bytes, found.rate.as_f64()), Some(cut));
            }
        } else {
            // Large networks: cuts around single ranks.
            for rank in question.ranks {
                let mut inside = vec![false; network.node_count()];
                inside[*rank as usize] = true;
                let rate: f64 = graph
                    .out_links(*rank)
                    .iter()
                    .map(|link| graph.links()[*link as usize].capacity_gbyte_per_s)
                    .sum();
                take(time_us(all_bytes, rate), Some(inside));
            }
        }
    }
    // Sums over all links between the parts.
    for (per_byte_us, _) in partition_floors(network, question.ranks) {
        take(all_bytes * per_byte_us, None);
    }
    let halves = [(network, packs(network, question.ranks)), (&turned, packs(&turned, question.ranks))];
    let mut upper = Some(0.0);
    // The upper end: reduce, then gather, each at the rate of its trees.
    for (graph, achievable) in halves {
        let half = spread_rate(graph, question.ranks, question.ranks)?.filter(|_| achievable);
        let half = half.map(|found| time_us(question.shard_bytes, found.rate.as_f64()));
        upper = upper.zip(half).map(|(sum, half)| sum + half);
    }
    let units: Vec<(u32, f64)> = question.ranks.iter().map(|rank| (*rank, 1.0)).collect();
    let asked = LatencyQuestion { network, sources: &units, destinations: question.ranks, copies: true };
    let path_us = latency_floor(&asked, &[]).path_us;
    let (floor_us, cut) = lower;
    Ok(CollectiveFloor {
        floor_us,
        upper_us: upper,
        alpha_floor_us: floor_us.max(path_us),
        binding_cut: cut.map(|cut| cut_words(network, &cut)),
        achievable: upper.is_some_and(|upper| upper <= floor_us * (1.0 + 1e-9)),
    })
}

/// Floors of AllReduce for a byte that every rank has, µs: each byte needs `2(m-1)` transfers between the `m` parts of a
/// partition. `true` beside those of groups.
pub(super) fn partition_floors(network: &LinkNetwork, ranks: &[u32]) -> Vec<(f64, bool)> {
    let mut floors = Vec::new();
    // Parts are single GPUs, then groups.
    for (groups, parts) in [false, true].into_iter().zip(partitions(network, ranks)) {
        let count = parts.iter().copied().max().map_or(0, |part| part + 1);
        // Switches outside all parts can copy or reduce for several of them at once.
        let loose = (0..network.node_count()).any(|node| parts[node] == OUTSIDE);
        let crossing = |enters: bool| -> f64 {
            let counted = |link: &&crate::scenario::network::NetworkLink| {
                let (from, to) = (parts[link.from as usize], parts[link.to as usize]);
                from != to && if enters { to != OUTSIDE } else { from != OUTSIDE }
            };
            network.links().iter().filter(counted).map(|link| link.capacity_gbyte_per_s).sum()
        };
        // m - 1 transfers to sum, m - 1 to spread.
        let needed = 2.0 * f64::from(count.max(1) - 1);
        // Links into the parts count if nothing outside reduces; links out of them if nothing outside copies.
        if !(loose && network.switch_reduces()) {
            floors.push((time_us(needed, crossing(true)), groups));
            if !(loose && network.switch_copies()) {
                floors.push((time_us(needed, crossing(false)), groups));
            }
        }
    }
    floors
}

/// Part of nodes outside all parts.
const OUTSIDE: i32 = -1;

/// Partitions of the ranks: single GPUs, and groups; none if some GPU is no rank, for it could add up on the way.
fn partitions(network: &LinkNetwork, ranks: &[u32]) -> Vec<Vec<i32>> {
    if ranks.len() != network.gpus().len() {
        return Vec::new();
    }
    // Every GPU is a part; switches are outside.
    let mut single = vec![OUTSIDE; network.node_count()];
    for (part, gpu) in (0..).zip(network.gpus()) {
        single[*gpu as usize] = part;
    }
    let mut partitions = vec![single];
    let groups: Option<Vec<u32>> =
        network.gpus().iter().map(|gpu| network.nodes()[*gpu as usize].group).collect();
    if let Some(mut groups) = groups {
        // Groups that hold all GPUs.
        groups.sort_unstable();
        groups.dedup();
        if groups.len() > 1 {
            let part = |group: u32| groups.binary_search(&group).map_or(OUTSIDE, |part| part as i32);
            partitions.push(network.nodes().iter().map(|node| node.group.map_or(OUTSIDE, part)).collect());
        }
    }
    partitions
}

#[cfg(test)]
mod tests;
