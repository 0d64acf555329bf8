//! The search for the largest bound from growing cuts.
//!
//! Starts with the end of the schedule at a known lower bound. For this end, an LP model weighs the known cuts, and
//! flows find cuts that the resulting spread of the data violates (column generation). The cuts are sought at a point
//! between that spread and the mean of the spreads so far: at the spread itself, most links carry nothing, and the cuts
//! would exclude little else. As soon as the cuts exclude a later end, the search continues from there.

use super::program::{CutProgram, SlotTimes};
use super::proven::proven_us;
use super::question::SpreadQuestion;
use super::separate::UnrolledNetwork;
use crate::floors::proof::spread_of;
use crate::model::task::CollectiveTasks;
use crate::plan::{FloorProof, GrowingCut, GrowingCuts, floor_words};
use crate::scenario::CollectiveScenario;
use crate::scenario::network::LinkNetwork;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use rustc_hash::FxHashMap;

/// Maximum number of rows of a model: larger models take seconds for each of the up to [`ROUNDS`] solutions.
const MOST_ROWS: usize = 1_500;
/// Maximum number of pairs of source and link, before they are divided by the symmetries: orbits of more pairs take
/// longer to compute than the floors of single cuts.
const MOST_PAIRS: usize = 200_000;
/// Maximum number of solutions of models for one size.
const ROUNDS: u32 = 60;
/// Maximum number of solutions of models for all sizes together: some seconds for the largest models.
const ALL_ROUNDS: u32 = 120;
/// Maximum number of slots in the smallest latency of a link.
const FINEST: u32 = 4;
/// Share of the last spread in the point at which cuts are sought.
const SOUGHT: f64 = 0.4;
/// Share of the last spread by which the mean moves.
const MOVED: f64 = 0.3;
/// A cut is added if its data exceeds what crosses it by this fraction.
const VIOLATED: f64 = 1e-3;
/// A bound must exceed the end of the model by this fraction before the model is built for a later end.
const FARTHER: f64 = 0.02;
/// A bound that is larger by less than this fraction is not worth another model.
const WORTH: f64 = 2e-3;
/// Number of cuts, besides those with weights, that are kept for the next model.
const KEPT: usize = 200;
/// Number of slots before the end that is before the start in any model.
const BEFORE: u32 = 1 << 20;

/// A search for bounds of one collective, for any number of sizes. Cuts that were found for one size are the first ones
/// for the next size.
pub struct GrowingSearch<'n> {
    /// The data of single sources, which the cuts of a plan refer to.
    single: SpreadQuestion<'n>,
    /// The data for which cuts are sought: of single sources or, on large networks, of all sources of a group.
    question: SpreadQuestion<'n>,
    /// For every source, a symmetry that maps the source that represents it to this source.
    ways: FxHashMap<u32, Vec<u32>>,
    pool: Vec<GrowingCut>,
    /// Solutions of models that are left for all further sizes.
    rounds_left: u32,
}

impl<'n> GrowingSearch<'n> {
    /// Prepares a search; `None` if the collective does not spread equal data to all destinations, or if the network is
    /// so large that even the coarsest model for `end_us` has too many rows.
    pub fn of(scenario: &CollectiveScenario, tasks: &'n CollectiveTasks, end_us: f64) -> Option<Self> {
        let (sources, destinations) = spread_of(scenario, tasks)?;
        let network = &tasks.tasks.last()?.real;
        if sources.len() * network.links().len() > MOST_PAIRS {
            return None;
        }
        let each: Vec<Vec<u32>> = sources.iter().map(|source| vec![*source]).collect();
        let single = SpreadQuestion::of(network, &each, &destinations);
        let (question, ways) = (single.clone(), single.ways());
        let mut search = Self { single, question, ways, pool: Vec::new(), rounds_left: ALL_ROUNDS };
        if search.times(end_us).is_none() {
            search.question = SpreadQuestion::of(network, &groups(network, &sources)?, &destinations);
            search.times(end_us)?;
        }
        search.pool = search.first_cuts();
        Some(search)
    }

    /// Returns the finest slots with which a model for `end_us` is small enough; a slot is a fraction of the smallest
    /// latency. `None` if no model is small enough.
    fn times(&self, end_us: f64) -> Option<SlotTimes> {
        let latencies = self.question.network.links().iter().map(|link| link.alpha_us);
        let least_us = latencies.filter(|us| *us > 0.0).fold(f64::INFINITY, f64::min);
        if !least_us.is_finite() || end_us / least_us > MOST_ROWS as f64 {
            return None;
        }
        let finest = (1..=FINEST).rev().map(|parts| least_us / f64::from(parts));
        finest
            .map(|slot_us| SlotTimes::new(&self.question, end_us, slot_us))
            .find(|times| times.rows(&self.question) <= MOST_ROWS)
    }

    /// Returns, for each source and target, the cut around the source, the cut around the target, and the cuts around
    /// the groups of the network that separate the two.
    fn first_cuts(&self) -> Vec<GrowingCut> {
        let nodes = self.question.network.nodes();
        let mut cuts = Vec::new();
        let of_source = |at: usize| self.question.destinations.iter().map(move |target| (at, *target));
        for (at, target) in (0..self.question.sources.len()).flat_map(of_source) {
            let set = &self.question.sources[at].nodes;
            if set[..] == [target] {
                continue;
            }
            let source = set[0];
            let mut add = |inside: &dyn Fn(usize) -> bool| {
                let slots = (0..nodes.len()).map(|node| if inside(node) { BEFORE } else { 0 }).collect();
                cuts.push(GrowingCut { source, target, weight: 0.0, slots });
            };
            add(&|node| node != target as usize);
            if set.contains(&target) {
                continue;
            }
            add(&|node| set.contains(&(node as u32)));
            let (own, other) = (nodes[source as usize].group, nodes[target as usize].group);
            if own != other {
                add(&|node| nodes[node].group == own);
                add(&|node| nodes[node].group != other);
            }
        }
        cuts
    }

    /// Searches for a floor above `from` for `bytes` of data per source, at most `limit_us`. Returns `None` if no
    /// better floor is found.
    ///
    /// # Errors
    /// If the run must stop, or if the solver fails.
    pub fn raise<W: Watch>(
        &mut self,
        from: &FloorProof,
        bytes: f64,
        limit_us: f64,
        watch: &mut W,
    ) -> Result<Option<FloorProof>, MethodError> {
        let mut best: (f64, Option<GrowingCuts>) = (from.floor_us, None);
        let most = self.rounds_left.min(ROUNDS);
        let (mut end_us, mut rounds) = (from.floor_us, most);
        // One model for each end.
        while rounds > 0 && best.0 < limit_us * (1.0 - WORTH) {
            let Some(times) = self.times(end_us) else { break };
            self.improve(times, (bytes, limit_us), &mut best, &mut rounds, watch)?;
            if best.0 <= end_us * (1.0 + WORTH) {
                break;
            }
            end_us = best.0;
            self.keep(best.1.as_ref());
        }
        self.rounds_left -= most - rounds;
        self.keep(best.1.as_ref());
        let (floor_us, because) = (best.0, floor_words::GROWING.to_owned());
        Ok(best.1.map(|growing| FloorProof {
            floor_us,
            because,
            growing: Some(self.apart(&growing)),
            ..FloorProof::default()
        }))
    }

    /// Returns cuts of single sources whose sum equals the given cuts: a cut of a set of sources is a cut of each of
    /// these sources, and each source is mapped to the one that represents it.
    fn apart(&self, cuts: &GrowingCuts) -> GrowingCuts {
        let mut all = Vec::new();
        for cut in &cuts.cuts {
            let Some(at) = self.question.place(cut.source) else { continue };
            for node in self.question.sources[at].nodes.iter().filter(|node| **node != cut.target) {
                let Some(way) = self.ways.get(node) else { continue };
                let before =
                    |image: u32| way.iter().position(|other| *other == image).map(|place| place as u32);
                let (Some(source), Some(target)) = (before(*node), before(cut.target)) else { continue };
                let slots = way.iter().map(|image| cut.slots[*image as usize]).collect();
                all.push(GrowingCut { source, target, weight: cut.weight, slots });
            }
        }
        GrowingCuts { slot_us: cuts.slot_us, symmetries: self.single.symmetries.clone(), cuts: all }
    }

    /// Keeps the cuts with weights, the first cuts, and some of the last cuts.
    fn keep(&mut self, best: Option<&GrowingCuts>) {
        let mut pool = self.first_cuts();
        pool.extend(best.into_iter().flat_map(|best| &best.cuts).cloned());
        let known = pool.len().max(self.pool.len().saturating_sub(KEPT));
        pool.extend(self.pool.drain(..).skip(known));
        self.pool = pool;
    }

    /// Adds cuts to the model of one end until the spread violates none, until the cuts exclude a later end, or until
    /// no `rounds` are left.
    fn improve<W: Watch>(
        &mut self,
        times: SlotTimes,
        (bytes, limit_us): (f64, f64),
        best: &mut (f64, Option<GrowingCuts>),
        rounds: &mut u32,
        watch: &mut W,
    ) -> Result<(), MethodError> {
        let (question, end_us) = (&self.question, times.end_us);
        let of_set = question.sources.first().map_or(0, |source| source.nodes.len()) as f64 * bytes;
        let mut program = CutProgram::new(question, of_set, times)?;
        program.add(&self.pool)?;
        let mut unrolled: Vec<UnrolledNetwork> = question
            .sources
            .iter()
            .map(|source| {
                let times = program.times();
                UnrolledNetwork::new(question, source, &times.delays, times.count)
            })
            .collect();
        let mut mean = program.equal().clone();
        while *rounds > 0 {
            *rounds -= 1;
            watch.count(1);
            let Some((allowed, cuts, spread)) = program.solve(watch)? else { return Ok(()) };
            let proven = proven_us(&self.single, &self.apart(&cuts), bytes, (best.0, limit_us));
            if let Some(us) = proven.filter(|us| *us > best.0) {
                *best = (us, Some(cuts));
            }
            if best.0 > end_us * (1.0 + FARTHER) || best.0 >= limit_us {
                return Ok(());
            }
            let sought = mean.towards(&spread, SOUGHT);
            mean = mean.towards(&spread, MOVED);
            let mut new = Vec::new();
            for (at, unrolled) in unrolled.iter_mut().enumerate() {
                unrolled.set(|link, slot| sought.of(question, at, link, slot));
                for (_, target) in question.pairs().filter(|(other, _)| *other == at) {
                    watch.checkpoint()?;
                    // Cuts that the sought point satisfies may still be violated by the spread.
                    let found = unrolled.cut(question.sources[at].nodes[0], target, 3.0 * allowed);
                    let is_violated =
                        |cut: &GrowingCut| program.crossing(cut, &spread) < allowed * (1.0 - VIOLATED);
                    new.extend(found.filter(is_violated));
                }
            }
            if new.is_empty() {
                return Ok(());
            }
            program.add(&new)?;
            self.pool.extend(new);
        }
        Ok(())
    }
}

/// Returns the sources by group; `None` unless there are at least two groups with equally many sources.
fn groups(network: &LinkNetwork, sources: &[u32]) -> Option<Vec<Vec<u32>>> {
    let mut sets: Vec<Vec<u32>> = vec![Vec::new(); network.group_count()];
    for source in sources {
        sets[network.nodes()[*source as usize].group? as usize].push(*source);
    }
    sets.retain(|set| !set.is_empty());
    (sets.len() > 1 && sets.iter().all(|set| set.len() == sets[0].len())).then_some(sets)
}
