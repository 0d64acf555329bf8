//! Lower bounds (floors) of a plan, each recomputed for the path, cut or sum over links that its proof names.

use super::growing::{GrowingCheck, GrowingLink};
use super::links::{CheckedLink, CheckedLinks};
use super::{Findings, code, words};
use crate::plan::{AT_FLOOR, CollectiveResult, FloorClaim, FloorProof, GrowingCuts, floor_words};
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort};
use lightbay_core::checked::same;
use rustc_hash::FxHashMap;

/// Checks each floor against its proof, and the finish and the replay against the floors. Returns the claimed floor of
/// the finish, µs, if the proofs of both floors hold: without latencies, and with latencies.
pub(super) fn check(
    scenario: &CollectiveScenario,
    chunks: &ChunkList,
    result: &CollectiveResult,
    links: &CheckedLinks,
    found: &mut Findings,
) -> Option<f64> {
    let claim = result.claims.floor.as_ref()?;
    let sort = scenario.demand.collective;
    let turned = sort.starts_backwards() && sort != CollectiveSort::AllReduce;
    let proof = FloorCheck::new(scenario, chunks, links, turned);
    let mut holds = true;
    let both =
        [("without_latency", &claim.without_latency, false), ("with_latency", &claim.with_latency, true)];
    for (name, floor, latency) in both {
        let exact = proof.floor_us(floor, latency);
        if !exact.is_some_and(|exact| same(exact, floor.floor_us)) {
            holds = false;
            found.add_with(code::BOUND, || match exact {
                Some(exact) => {
                    format!("floor.{name} is {} us, but '{}' gives {exact}", floor.floor_us, floor.because)
                }
                None => format!("floor.{name} cannot be recomputed from its reason '{}'", floor.because),
            });
        }
    }
    if claim.with_latency.floor_us < claim.without_latency.floor_us {
        found.add_with(code::CLAIM, || {
            "the floor with latencies is below the floor without latencies".to_owned()
        });
    }
    beside(result, claim, found);
    holds.then(|| claim.under_finish(result.time.alpha_threshold).floor_us)
}

/// Returns the floor with latencies that a proof gives for `scale` times the data of the scenario, µs; `None` if the
/// text of the proof is wrong or such a proof does not apply to the collective.
pub(super) fn proven_us(
    scenario: &CollectiveScenario,
    chunks: &ChunkList,
    links: &CheckedLinks,
    proof: &FloorProof,
    scale: f64,
) -> Option<f64> {
    let sort = scenario.demand.collective;
    let turned = sort.starts_backwards() && sort != CollectiveSort::AllReduce;
    let mut check = FloorCheck::new(scenario, chunks, links, turned);
    check.chunk_bytes *= scale;
    check.floor_us(proof, true)
}

/// Checks the gap between finish and floor, and that the finish and the replay are not below their floors.
fn beside(result: &CollectiveResult, claim: &FloorClaim, found: &mut Findings) {
    let (without, with) = (claim.without_latency.clone(), claim.with_latency.clone());
    let right = FloorClaim::of(without, with, result.claims.finish_us, result.time.alpha_threshold);
    if !same(right.gap_to_floor, claim.gap_to_floor) {
        found.add_with(code::CLAIM, || {
            format!(
                "'gap_to_floor' is {}, but finish and floor give {}",
                claim.gap_to_floor, right.gap_to_floor
            )
        });
    }
    let claims = &result.claims;
    let under_finish = claim.under_finish(result.time.alpha_threshold);
    let replay = claims.replay_us.map(|replay_us| (&claim.with_latency, "replay", replay_us));
    for (floor, what, reached_us) in std::iter::once((under_finish, "finish", claims.finish_us)).chain(replay)
    {
        if reached_us < floor.floor_us * (1.0 - AT_FLOOR) {
            found.add_with(code::BOUND, || {
                format!("the floor {} us is above the {what} at {reached_us} us", floor.floor_us)
            });
        }
    }
}

/// Cuts, paths and sums on the network, in the direction in which the collective is planned.
struct FloorCheck<'a> {
    scenario: &'a CollectiveScenario,
    chunks: &'a ChunkList,
    /// Tail, head and the link; reversed if the collective is planned backwards.
    links: Vec<(u32, u32, &'a CheckedLink)>,
    is_switch: &'a [bool],
    turned: bool,
    chunk_bytes: f64,
    ranks: Vec<u32>,
}

impl<'a> FloorCheck<'a> {
    fn new(
        scenario: &'a CollectiveScenario,
        chunks: &'a ChunkList,
        links: &'a CheckedLinks,
        turned: bool,
    ) -> Self {
        let in_order = |link: &&CheckedLink| !scenario.failed_links.contains(&[link.from, link.to]);
        let ends = |link: &'a CheckedLink| {
            if turned { (link.to, link.from, link) } else { (link.from, link.to, link) }
        };
        Self {
            scenario,
            chunks,
            links: links.links.iter().filter(in_order).map(ends).collect(),
            is_switch: &links.is_switch,
            turned,
            chunk_bytes: links.chunk_bytes,
            ranks: scenario.demand.rank_nodes(&scenario.topology),
        }
    }

    fn sums_for_all(&self) -> bool {
        self.scenario.demand.collective == CollectiveSort::AllReduce
    }

    /// Returns the size of the buffer that an AllReduce reduces, bytes: the chunks of all ranks.
    fn all_bytes(&self) -> f64 {
        self.chunk_bytes * f64::from(self.scenario.demand.chunks_per_rank) * self.ranks.len() as f64
    }

    /// Returns the floor that a proof gives, µs; `None` if the text of the proof is wrong or such a proof does not
    /// apply to the collective.
    fn floor_us(&self, proof: &FloorProof, latency: bool) -> Option<f64> {
        let inside = &proof.inside;
        if let Some(growing) = &proof.growing {
            let is_named = latency && inside.is_empty() && proof.because == floor_words::GROWING;
            return (is_named && proof.target.is_none() && self.excludes(growing, proof.floor_us))
                .then_some(proof.floor_us);
        }
        if !inside.is_empty() {
            let into = if self.turned { "cut out of " } else { "cut into " };
            let fits = inside.is_sorted_by(|a, b| a < b)
                && inside.iter().all(|node| (*node as usize) < self.is_switch.len())
                && proof.because.strip_prefix(into)? == words::set_name(self.scenario, inside);
            let plain = self.cut_us(inside);
            // A floor with latencies may equal the floor without them.
            let is_plain = !latency || self.sums_for_all() || same(plain, proof.floor_us);
            // A floor that covers all destinations names none.
            let fits = fits && !(is_plain && proof.target.is_some());
            return fits.then(|| if is_plain { plain } else { self.latency_cut_us(inside, proof.target) });
        }
        match proof.because.as_str() {
            floor_words::NOTHING => Some(0.0),
            floor_words::HOPS => {
                let rate: f64 = self.links.iter().map(|(_, _, link)| link.bytes_per_us).sum();
                self.chunks.is_unicast().then(|| self.ways(|_| 1.0) / rate)
            }
            floor_words::TIMES => {
                let links = self.links.len() as f64;
                self.chunks.is_unicast().then(|| self.ways(|link| 1.0 / link.bytes_per_us) / links)
            }
            floor_words::GPUS => self.partition_us(false),
            floor_words::GROUPS => self.partition_us(true),
            text => latency.then(|| self.path_us(text)).flatten(),
        }
    }

    /// Returns the time that the links into a set need for the data that must cross into it, µs.
    fn cut_us(&self, inside: &[u32]) -> f64 {
        let is_in = |node: u32| inside.binary_search(&node).is_ok();
        let bytes = if self.sums_for_all() {
            let within = self.ranks.iter().filter(|rank| is_in(**rank)).count();
            if within > 0 && within < self.ranks.len() { self.all_bytes() } else { 0.0 }
        } else {
            let crosses =
                |chunk: &usize| !is_in(self.chunks.source(*chunk)) && self.chunks.dests(*chunk).any(is_in);
            (0..self.chunks.len()).filter(crosses).count() as f64 * self.chunk_bytes
        };
        let entries = self.links.iter().filter(|(tail, head, _)| !is_in(*tail) && is_in(*head));
        let rate: f64 = entries.map(|(_, _, link)| link.bytes_per_us).sum();
        if bytes == 0.0 { 0.0 } else { bytes / rate }
    }

    /// Returns the smallest sum of link lengths from a node to every node, or (with `into`) from every node to this
    /// node.
    fn shortest(&self, node: u32, into: bool, length: impl Fn(&CheckedLink) -> f64) -> Vec<f64> {
        let mut best = vec![f64::INFINITY; self.is_switch.len()];
        best[node as usize] = 0.0;
        // Rounds over all links until nothing changes (Bellman and Ford).
        loop {
            let mut changed = false;
            for (tail, head, link) in &self.links {
                let (near, far) = if into { (*head, *tail) } else { (*tail, *head) };
                let reached = best[near as usize] + length(link);
                if reached < best[far as usize] {
                    best[far as usize] = reached;
                    changed = true;
                }
            }
            if !changed {
                return best;
            }
        }
    }

    /// Returns the floor for the data that must cross into a set, µs: the data for the destination `target`, or,
    /// without `target`, for all destinations inside the set. A link into the set is useful from the earliest time at
    /// which data can reach it until the latest time at which data can leave it and still arrive before the finish.
    /// Computes the floor for the data of the farthest sources alone, then with nearer sources added, and returns the
    /// largest floor.
    fn latency_cut_us(&self, inside: &[u32], target: Option<u32>) -> f64 {
        let is_in = |node: u32| inside.binary_search(&node).is_ok();
        let entries: Vec<_> =
            self.links.iter().filter(|(tail, head, _)| !is_in(*tail) && is_in(*head)).collect();
        let wanted = |dest: u32| target.map_or_else(|| is_in(dest), |target| target == dest && is_in(dest));
        let mut amounts: Vec<f64> = vec![0.0; self.is_switch.len()];
        let mut tails = vec![f64::INFINITY; self.is_switch.len()];
        for chunk in (0..self.chunks.len()).filter(|chunk| !is_in(self.chunks.source(*chunk))) {
            let mut dests = self.chunks.dests(chunk).filter(|dest| wanted(*dest)).peekable();
            if dests.peek().is_some() {
                amounts[self.chunks.source(chunk) as usize] += self.chunk_bytes;
            }
            dests.for_each(|dest| tails[dest as usize] = 0.0);
        }
        // Time from the head of a link to the nearest destination: all destinations are treated as one node.
        loop {
            let mut changed = false;
            for (tail, head, link) in &self.links {
                let reached = tails[*head as usize] + link.alpha_us;
                if reached < tails[*tail as usize] {
                    tails[*tail as usize] = reached;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let sources: Vec<u32> =
            (0..self.is_switch.len() as u32).filter(|node| amounts[*node as usize] > 0.0).collect();
        let rows: Vec<Vec<f64>> =
            sources.iter().map(|source| self.shortest(*source, false, |link| link.alpha_us)).collect();
        let head_of = |row: &Vec<f64>| {
            entries.iter().map(|(tail, ..)| row[*tail as usize]).fold(f64::INFINITY, f64::min)
        };
        let heads: Vec<f64> = rows.iter().map(head_of).collect();
        let mut thresholds = heads.clone();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let mut best = 0.0_f64;
        for least in thresholds {
            let taken: Vec<usize> = (0..sources.len()).filter(|at| heads[*at] >= least).collect();
            let bytes: f64 = taken.iter().map(|at| amounts[sources[*at] as usize]).sum();
            let mut links: Vec<(f64, f64)> = entries
                .iter()
                .map(|(tail, head, link)| {
                    let first =
                        taken.iter().map(|at| rows[*at][*tail as usize]).fold(f64::INFINITY, f64::min);
                    (first + link.alpha_us + tails[*head as usize], link.bytes_per_us)
                })
                .filter(|(offset, _)| offset.is_finite())
                .collect();
            links.sort_by(|one, other| one.0.total_cmp(&other.0));
            best = best.max(filled_us(&links, bytes));
        }
        best
    }

    /// Returns `true` if growing cuts prove that no schedule completes in `end_us`.
    fn excludes(&self, growing: &GrowingCuts, end_us: f64) -> bool {
        // In an AllReduce, data is not delivered from one source.
        if self.sums_for_all() {
            return false;
        }
        let mut bytes: FxHashMap<(u32, u32), f64> = FxHashMap::default();
        for chunk in 0..self.chunks.len() {
            for dest in self.chunks.dests(chunk) {
                *bytes.entry((self.chunks.source(chunk), dest)).or_default() += self.chunk_bytes;
            }
        }
        let links = self.links.iter().map(|(tail, head, link)| GrowingLink {
            from: *tail,
            to: *head,
            bytes_per_us: link.bytes_per_us,
            alpha_us: link.alpha_us,
        });
        GrowingCheck::new(self.is_switch.len(), links.collect(), bytes).excludes(growing, end_us)
    }

    /// Returns the bytes of every delivery times the length of its shortest path, summed over all deliveries.
    fn ways(&self, length: impl Fn(&CheckedLink) -> f64) -> f64 {
        let mut sum = 0.0;
        let mut row: Option<(u32, Vec<f64>)> = None;
        for chunk in 0..self.chunks.len() {
            let source = self.chunks.source(chunk);
            if row.as_ref().is_none_or(|(known, _)| *known != source) {
                row = Some((source, self.shortest(source, false, &length)));
            }
            let row = row.as_ref().map_or(&[][..], |(_, row)| row);
            sum += self.chunks.dests(chunk).map(|dest| row[dest as usize]).sum::<f64>();
        }
        sum * self.chunk_bytes
    }

    /// Returns the smallest latency from the source to the destination that the text names; `None` if no chunk goes
    /// from this source to this destination.
    fn path_us(&self, text: &str) -> Option<f64> {
        let name = |node: u32| self.scenario.topology.nodes.get(node as usize).map_or("", |node| &node.name);
        let rest = text.strip_prefix("path ")?;
        (0..self.chunks.len()).find_map(|chunk| {
            let source = self.chunks.source(chunk);
            let is_named = |dest: &u32| {
                let (from, to) = if self.turned { (*dest, source) } else { (source, *dest) };
                rest.strip_prefix(name(from)).and_then(|rest| rest.strip_prefix("->")) == Some(name(to))
            };
            let dest = self.chunks.dests(chunk).find(is_named)?;
            Some(self.shortest(source, false, |link| link.alpha_us)[dest as usize])
        })
    }

    /// Returns the floor of an AllReduce from a partition into single GPUs or groups, µs: with `m` parts, every reduced
    /// byte takes `2(m-1)` transfers. `None` if the partition does not exist or gives no bound.
    fn partition_us(&self, groups: bool) -> Option<f64> {
        let nodes = &self.scenario.topology.nodes;
        let model = &self.scenario.topology.switch_model;
        let gpus = self.is_switch.iter().filter(|is_switch| !**is_switch).count();
        if !self.sums_for_all() || self.ranks.len() != gpus {
            return None;
        }
        let part = |node: u32| match (groups, self.is_switch[node as usize]) {
            (true, _) => nodes[node as usize].group,
            (false, false) => Some(node),
            (false, true) => None,
        };
        let mut parts: Vec<u32> = self.ranks.iter().filter_map(|rank| part(*rank)).collect();
        parts.sort_unstable();
        parts.dedup();
        let every = self.ranks.iter().all(|rank| part(*rank).is_some());
        let part = |node: u32| part(node).filter(|part| parts.binary_search(part).is_ok());
        let loose = (0..self.is_switch.len() as u32).any(|node| part(node).is_none());
        if !every || parts.len() < 2 || loose && model.reduce {
            return None;
        }
        let rate = |enters: bool| -> f64 {
            let crosses = |(tail, head, _): &&(u32, u32, &CheckedLink)| {
                part(*tail) != part(*head) && part(if enters { *head } else { *tail }).is_some()
            };
            self.links.iter().filter(crosses).map(|(_, _, link)| link.bytes_per_us).sum()
        };
        let needed = 2.0 * (parts.len() - 1) as f64 * self.all_bytes();
        let into = needed / rate(true);
        // If switches outside all parts copy, one transmission out of a part may feed several transmissions into parts,
        // so links out of the parts give no bound.
        Some(if loose && model.copy { into } else { into.max(needed / rate(false)) })
    }
}

/// Returns the time at which links have carried `bytes`, µs. Each link is given by the time from which it carries
/// useful data, and by its rate; links are sorted by this time.
fn filled_us(links: &[(f64, f64)], bytes: f64) -> f64 {
    let (mut rate, mut weighed) = (0.0, 0.0);
    for (at, (offset, bytes_per_us)) in links.iter().enumerate() {
        rate += bytes_per_us;
        weighed += bytes_per_us * offset;
        let time = (bytes + weighed) / rate;
        if links.get(at + 1).is_none_or(|next| time <= next.0) {
            return time;
        }
    }
    0.0
}
