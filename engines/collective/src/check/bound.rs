//! The bound of a plan, recomputed for the path, cut or sum over links that the plan names.

use super::lanes::{Lanes, LinkLane};
use super::links::{CheckedLink, CheckedLinks};
use super::{Findings, code, words};
use crate::plan::{CollectiveResult, Discipline};
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort, SwitchHop};

/// Distance to unreachable nodes.
pub(super) const FAR: u64 = u64::MAX / 8;

/// Returns a text that names the plans that a bound in epochs covers.
pub(super) fn covers(result: &CollectiveResult) -> String {
    let time = &result.time;
    crate::plan::covers(time.epoch_us, time.discipline, time.pieces_per_chunk, result.claims.bounds.len() > 1)
}

/// Returns `true` if `said` is a text that states which plans a bound in epochs covers. Their epochs may have another
/// length than the epochs of this plan, and they may send parts of chunks, because a bound for parts also holds for
/// whole chunks. Bounds for such other plans are not recomputed here.
pub(super) fn may_cover(result: &CollectiveResult, said: &str) -> bool {
    let in_parts = result.claims.bounds.len() > 1;
    let lengths = said.split_whitespace().filter_map(|word| word.trim_end_matches(',').parse::<f64>().ok());
    let disciplines = [Discipline::WholeChunk, Discipline::Fluid];
    lengths.filter(|length| length.is_finite() && *length > 0.0).any(|length| {
        disciplines.iter().any(|discipline| {
            [1, result.time.pieces_per_chunk]
                .iter()
                .any(|pieces| said == crate::plan::covers(length, *discipline, *pieces, in_parts))
        })
    })
}

/// Returns the claimed bound in µs if the path, cut or sum that the claim names proves this bound; bounds with other
/// proofs, and bounds for parts of chunks, count as unproven (`None`).
pub(super) fn prove(
    scenario: &CollectiveScenario,
    chunks: &ChunkList,
    result: &CollectiveResult,
    links: &CheckedLinks,
    found: &mut Findings,
) -> Option<f64> {
    result.claims.lower_bound_epochs?;
    let whole = result.time.discipline == Discipline::WholeChunk;
    let sort = scenario.demand.collective;
    let turned: &[bool] = match sort {
        CollectiveSort::AllReduce => &[true, false],
        sort if sort.starts_backwards() => &[true],
        _ => &[false],
    };
    let mut sum = 0u64;
    for (claim, &turned) in result.claims.bounds.iter().zip(turned) {
        let proof = BoundProof::new(scenario, chunks, links, turned);
        if let Some(right) = words::wrong(scenario, &proof, claim, turned, whole) {
            found.add_with(code::BOUND, || {
                format!(
                    "'{}' does not prove a bound of {} epochs; a proof needs {right}",
                    claim.because, claim.epochs
                )
            });
            return None;
        }
        if !whole {
            continue;
        }
        let mut best = proof.path();
        if best < u64::from(claim.epochs) && !claim.inside.is_empty() {
            best = best.max(proof.cut(&claim.inside, u64::from(claim.epochs)));
        }
        if best < u64::from(claim.epochs) {
            best = best.max(proof.metric(false)).max(proof.metric(true));
        }
        if best < u64::from(claim.epochs) {
            found.add_with(code::BOUND, || {
                format!("'{}' proves {best} epochs, not {}", claim.because, claim.epochs)
            });
            return None;
        }
        sum += u64::from(claim.epochs);
    }
    whole.then_some(sum as f64 * result.time.epoch_us)
}

/// Network of a part of the collective, on which paths, cuts and sums over links are recomputed.
pub(super) struct BoundProof<'a> {
    chunks: &'a ChunkList,
    /// The lanes of all links, reversed if the collective is planned backwards.
    lanes: Lanes<'a>,
}

/// Links into a set of nodes.
struct Entries<'a> {
    links: Vec<&'a CheckedLink>,
    /// For each link and node, the minimum number of epochs that a chunk takes from the node until the link can begin
    /// to transmit it.
    before: Vec<Vec<u64>>,
    /// For each link and node, the minimum number of epochs from the time at which the link begins to transmit a chunk
    /// to the arrival of this chunk at the node.
    after: Vec<Vec<u64>>,
}

impl Entries<'_> {
    fn behind(&self, at: usize, target: u32) -> u64 {
        self.after[at][target as usize]
    }
}

/// A chunk that must cross into a set of nodes.
pub(super) struct CrossingChunk {
    source: u32,
    /// Destination inside the set that the chunk reaches last.
    target: u32,
    /// Minimum number of epochs until the chunk reaches the set.
    pub(super) head: u64,
    /// Minimum number of epochs from the start of the chunk on a link into the set to its arrival at `target`.
    pub(super) tail: u64,
}

impl<'a> BoundProof<'a> {
    fn new(
        scenario: &CollectiveScenario,
        chunks: &'a ChunkList,
        links: &'a CheckedLinks,
        turned: bool,
    ) -> Self {
        let in_order = |link: &&CheckedLink| !scenario.failed_links.contains(&[link.from, link.to]);
        let ends = |link: &'a CheckedLink| {
            if turned { (link.to, link.from, link) } else { (link.from, link.to, link) }
        };
        let links_in_order: Vec<_> = links.links.iter().filter(in_order).map(ends).collect();
        let cuts_through = scenario.topology.switch_model.hop == SwitchHop::CutThrough;
        Self { chunks, lanes: Lanes::new(&links_in_order, &links.is_switch, cuts_through) }
    }

    fn path(&self) -> u64 {
        let mut longest = 0;
        let mut row: Option<(u32, Vec<u64>)> = None;
        for chunk in 0..self.chunks.len() {
            let source = self.chunks.source(chunk);
            if row.as_ref().is_none_or(|(known, _)| *known != source) {
                row = Some((source, self.latency_from(source)));
            }
            let row = row.as_ref().map_or(&[][..], |(_, row)| row);
            longest = self.chunks.dests(chunk).map(|dest| row[dest as usize]).fold(longest, u64::max);
        }
        longest
    }

    /// Returns the links into a set, with the minimum number of epochs from every node to each link and from each link
    /// to every node.
    fn entries(&self, inside: &[u32]) -> Entries<'_> {
        let is_in = |node: u32| inside.binary_search(&node).is_ok();
        let crosses = |(tail, head, lanes): &&'_ (u32, u32, Vec<LinkLane<'a>>)| {
            !lanes.is_empty() && !is_in(*tail) && is_in(*head)
        };
        let entries: Vec<&Vec<LinkLane<'_>>> =
            self.lanes.links.iter().filter(crosses).map(|(.., lanes)| lanes).collect();
        // Starts on the lanes of a link are comparable only after their shifts are subtracted, because this gives the
        // epochs in which the link transmits.
        let least = |lanes: &Vec<LinkLane<'_>>, row: &dyn Fn(&LinkLane<'_>) -> Vec<u64>| {
            let rows: Vec<Vec<u64>> = lanes.iter().map(row).collect();
            (0..self.lanes.count).map(|node| rows.iter().map(|row| row[node]).min().unwrap_or(FAR)).collect()
        };
        let before = |lane: &LinkLane<'_>| -> Vec<u64> {
            let row = self.lanes.distances(lane.tail, true, |lane| lane.latency);
            row.into_iter().map(|way| way.saturating_sub(if way < FAR { lane.shift } else { 0 })).collect()
        };
        let after = |lane: &LinkLane<'_>| -> Vec<u64> {
            let row = self.lanes.distances(lane.head, false, |lane| lane.latency);
            row.into_iter().map(|way| way + lane.latency + lane.shift).collect()
        };
        Entries {
            links: entries.iter().map(|lanes| lanes[0].link).collect(),
            before: entries.iter().map(|lanes| least(lanes, &before)).collect(),
            after: entries.iter().map(|lanes| least(lanes, &after)).collect(),
        }
    }

    /// Returns the chunks that must cross into a set, each with its head (epochs until it can start to cross) and its
    /// tail (epochs from this start to its last delivery).
    pub(super) fn items(&self, inside: &[u32]) -> Vec<CrossingChunk> {
        self.crossing(inside, &self.entries(inside))
    }

    fn crossing(&self, inside: &[u32], entries: &Entries<'_>) -> Vec<CrossingChunk> {
        let is_in = |node: u32| inside.binary_search(&node).is_ok();
        let least = |of: &dyn Fn(usize) -> u64| (0..entries.links.len()).map(of).min().unwrap_or(FAR);
        let mut items = Vec::new();
        for chunk in (0..self.chunks.len()).filter(|chunk| !is_in(self.chunks.source(*chunk))) {
            let source = self.chunks.source(chunk);
            let tails = self.chunks.dests(chunk).filter(|dest| is_in(*dest));
            let last = tails.map(|dest| (least(&|at| entries.behind(at, dest)), dest)).max();
            if let Some((tail, target)) = last {
                let head = least(&|at| entries.before[at][source as usize]);
                items.push(CrossingChunk { source, target, head, tail });
            }
        }
        items
    }

    /// Returns the smallest number of epochs from a node to every node.
    pub(super) fn latency_from(&self, node: u32) -> Vec<u64> {
        self.lanes.distances(node as usize, false, |lane| lane.latency)
    }

    /// Returns source and destination of every delivery.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.chunks.len()).flat_map(move |chunk| {
            self.chunks.dests(chunk).map(move |dest| (self.chunks.source(chunk), dest))
        })
    }

    /// Returns the bound, in epochs, from the number of chunks that must cross into a set and the number of starts that
    /// the links into the set allow; ends as soon as a bound reaches `claimed`.
    fn cut(&self, inside: &[u32], claimed: u64) -> u64 {
        let entries = self.entries(inside);
        let items = self.crossing(inside, &entries);
        let each = 0..entries.links.len();
        let mut heads: Vec<u64> = items.iter().map(|item| item.head).collect();
        let mut tails: Vec<u64> = items.iter().map(|item| item.tail).collect();
        for values in [&mut heads, &mut tails] {
            values.sort_unstable();
            values.dedup();
        }
        let mut best = 0;
        for &head in &heads {
            for &tail in &tails {
                let taken: Vec<_> =
                    items.iter().filter(|item| item.head >= head && item.tail >= tail).collect();
                if taken.is_empty() {
                    continue;
                }
                let limits: Vec<(u64, u64)> = each
                    .clone()
                    .map(|at| {
                        let first = taken
                            .iter()
                            .map(|item| entries.before[at][item.source as usize])
                            .min()
                            .unwrap_or(FAR);
                        (first, taken.iter().map(|item| entries.behind(at, item.target)).min().unwrap_or(FAR))
                    })
                    .collect();
                let room = |finish: u64| -> u64 {
                    let of = |at: usize| starts(entries.links[at], finish + 1, limits[at].0 + limits[at].1);
                    each.clone().map(of).sum()
                };
                best = best.max(first_with_room(taken.len() as u64, room));
                if best >= claimed {
                    return best;
                }
            }
        }
        best
    }

    /// Returns a bound in epochs: the smallest finish by which all links together have the capacity that the chunks
    /// need on their shortest paths or, if chunks have several destinations, the capacity for one transmission into a
    /// GPU for each delivery.
    pub(super) fn metric(&self, weighed: bool) -> u64 {
        let unicast = self.chunks.is_unicast();
        // Lengths are rounded to multiples of 1/256, as the claims round them.
        let length = |link: &CheckedLink| match (unicast, weighed) {
            (true, true) => u64::from(link.window) * 256 / (link.limit as u64).max(1),
            _ => 256,
        };
        let mut needed = 0u64;
        if unicast {
            let mut row: Option<(u32, Vec<u64>)> = None;
            for chunk in 0..self.chunks.len() {
                let source = self.chunks.source(chunk);
                if row.as_ref().is_none_or(|(known, _)| *known != source) {
                    let of_lane = |lane: &LinkLane<'_>| length(lane.link);
                    row = Some((source, self.lanes.distances(source as usize, false, of_lane)));
                }
                let row = row.as_ref().map_or(&[][..], |(_, row)| row);
                needed += self.chunks.dests(chunk).map(|dest| row[dest as usize]).sum::<u64>();
            }
        } else {
            needed = self.chunks.deliveries() as u64 * 256;
        }
        let counts = |head: u32| unicast || !self.lanes.is_switch(head);
        let room = |finish: u64| -> u64 {
            let links = self.lanes.links.iter().filter(|(_, head, _)| counts(*head));
            let of_link = |(.., lanes): &(u32, u32, Vec<LinkLane<'_>>)| {
                let after = lanes.iter().map(|lane| lane.latency + lane.shift).min();
                lanes
                    .first()
                    .zip(after)
                    .map_or(0, |(lane, after)| length(lane.link) * starts(lane.link, finish + 1, after))
            };
            links.map(of_link).sum()
        };
        first_with_room(needed, room)
    }
}

/// Returns the maximum number of starts on a link in `end - less` consecutive epochs.
fn starts(link: &CheckedLink, end: u64, less: u64) -> u64 {
    end.saturating_sub(less).div_ceil(u64::from(link.window)).saturating_mul(link.limit as u64)
}

/// Returns the smallest finish for which `room` returns a capacity of at least `needed`; 0 if the capacity never
/// suffices.
fn first_with_room(needed: u64, room: impl Fn(u64) -> u64) -> u64 {
    let (mut low, mut high) = (0u64, 1u64);
    while room(high) < needed {
        if high > 1 << 32 {
            return 0;
        }
        (low, high) = (high, high * 2);
    }
    while low < high {
        let middle = low.midpoint(high);
        if room(middle) >= needed { high = middle } else { low = middle + 1 }
    }
    high
}
