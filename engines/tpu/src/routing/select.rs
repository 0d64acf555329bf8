//! One route for every pair with a low maximum load (docs/methods/tpu-routes.md, section 7, step 4): flows are
//! repeatedly rerouted at prices that grow with the load.
//!
//! `price = exp(γ · load)` up to a common factor. γ grows over the passes from 4 / mean load, where prices behave like
//! a fourth power, to 1, where one more route on an arc almost triples the price of the arc. These steep prices remove
//! the last differences between loads. Flows go in random order, in small blocks: the routes of a block are proposed at
//! the same prices, on all threads, then accepted one after another if they are cheaper than the old routes at the
//! current prices. The result does not depend on the number of threads. Blocks must be small, because all flows of a
//! block see the same cheap arcs.

use super::frame::Frame;
use super::path::{Finder, LONGER};
use super::steps::{FAR, Reach, Steps};
use crate::series;
use lightbay_core::event::{EventBody, SeriesPoint};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// γ in the first pass, in units of 1 / mean load; low, because loads are far from their final values.
const FIRST_GROWTH: f64 = 4.0;

/// γ in the last passes, in which a single route changes the price noticeably.
const LAST_GROWTH: f64 = 1.0;

/// Fraction of passes after which γ stays at its final value, so that the loads settle.
const RAMP: f64 = 0.8;

/// Logarithm of the highest price, so that sums of prices stay finite.
const DEAREST: f64 = 60.0;

/// Fraction of passes that are skipped if the selection starts from other routes, because these routes are mostly
/// balanced already.
const SAVED_BY_START: f64 = 0.55;

/// Added to the price of every arc, so that a detour over arcs with little load is not free; the price of the most
/// loaded arc is about 1.
const EMPTY_PRICE: f64 = 1e-9;

/// Fraction of passes that reroute all flows; later passes reroute only flows over the most loaded arcs.
const WHOLE_PASSES: f64 = 0.65;

/// Maximum number of flows whose routes are proposed at the same prices.
const LARGEST_BLOCK: usize = 64;

/// Minimum number of blocks of a pass, so that a block is a small part of all flows.
const BLOCKS: usize = 2048;

/// Minimum number of flows of a block per thread.
const SHARE: usize = 4;

/// Minimum number of chips for which several threads per block are worthwhile.
const PARALLEL_FROM_NODES: usize = 512;

/// Number of consecutive passes without improvement after which the selection ends, but not during the passes that
/// reroute all flows.
const STALL: u32 = 4;

/// Settings of the selection of routes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectionEffort {
    /// Maximum number of hops by which a route may exceed the shortest allowed route.
    pub slack: u16,
    /// Number of passes over the flows.
    pub passes: u32,
    /// Number of the random stream for the order of flows.
    pub stream: u64,
    /// `true` to report the progress of the passes.
    pub speak: bool,
}

/// One route for each pair, and the resulting loads.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedRoutes {
    sources: usize,
    nodes: usize,
    stride: usize,
    lengths: Vec<u16>,
    ports: Vec<u8>,
    /// Number of routes over the arcs of each class.
    pub loads: Vec<u32>,
    /// Total hops of all routes from the sources.
    pub hop_sum: u64,
}

impl SelectedRoutes {
    fn empty(frame: &Frame, stride: usize) -> Self {
        let flows = frame.sources() * frame.nodes();
        Self {
            sources: frame.sources(),
            nodes: frame.nodes(),
            stride,
            lengths: vec![0; flows],
            // All routes are stored in one array with the same capacity for each route, instead of a separate list for
            // each.
            ports: vec![0; flows * stride],
            loads: vec![0; frame.classes()],
            hop_sum: 0,
        }
    }

    /// Load of the most loaded class.
    pub fn max_load(&self) -> u32 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// Out ports of a route; empty for a pair without a route.
    pub fn route(&self, source: u32, target: u32) -> &[u8] {
        self.of(self.flow(source, target))
    }

    fn flow(&self, source: u32, target: u32) -> usize {
        source as usize * self.nodes + target as usize
    }

    fn of(&self, flow: usize) -> &[u8] {
        &self.ports[flow * self.stride..][..usize::from(self.lengths[flow])]
    }

    /// Pairs that have routes: source, target, out ports.
    pub fn routes(&self) -> impl Iterator<Item = (u32, u32, &[u8])> {
        (0..self.sources * self.nodes)
            .filter(|flow| self.lengths[*flow] > 0)
            .map(|flow| ((flow / self.nodes) as u32, (flow % self.nodes) as u32, self.of(flow)))
    }

    fn set(&mut self, flow: usize, ports: &[u8]) {
        self.lengths[flow] = ports.len() as u16;
        self.ports[flow * self.stride..][..ports.len()].copy_from_slice(ports);
    }

    /// Reroutes a flow (`source * nodes + target`). The new route must not have more hops than a selection stores for
    /// one route.
    pub(super) fn replace(&mut self, frame: &Frame, flow: usize, ports: &[u8]) {
        let source = (flow / self.nodes) as u32;
        let old = self.of(flow).to_vec();
        // Moves the load of the flow from the old route to the new one.
        frame.follow(source, &old, |arc| self.loads[frame.class(arc)] -= 1);
        frame.follow(source, ports, |arc| self.loads[frame.class(arc)] += 1);
        self.hop_sum = self.hop_sum - old.len() as u64 + ports.len() as u64;
        self.set(flow, ports);
    }

    /// Returns the quality (smaller is better): the maximum load, then the total hops.
    pub fn rank(&self) -> (u32, u64) {
        (self.max_load(), self.hop_sum)
    }
}

/// Allowed turns and distances by which routes are selected.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    /// Arcs and arc classes of the pod.
    pub frame: &'a Frame,
    /// The allowed turns.
    pub steps: &'a Steps,
    /// Distances from every source.
    pub reaches: &'a [Reach],
}

impl Ways<'_> {
    /// Returns the first `at_most` pairs that no allowed walk connects, and the number of all such pairs.
    pub fn missing(&self, at_most: usize) -> (Vec<(u32, u32)>, usize) {
        let (mut named, mut total) = (Vec::new(), 0);
        for (source, reach) in self.reaches.iter().enumerate() {
            for target in (0..self.frame.nodes() as u32).filter(|target| *target != source as u32) {
                if reach.to(self.frame, self.steps, target) == FAR {
                    total += 1;
                    if named.len() < at_most {
                        named.push((source as u32, target));
                    }
                }
            }
        }
        (named, total)
    }

    /// Sum of the hops of the shortest allowed walks of all pairs.
    pub fn hop_sum(&self) -> u64 {
        let mut sum = 0;
        for (source, reach) in self.reaches.iter().enumerate() {
            for target in (0..self.frame.nodes() as u32).filter(|target| *target != source as u32) {
                let hops = reach.to(self.frame, self.steps, target);
                sum += if hops == FAR { 0 } else { u64::from(hops) };
            }
        }
        sum
    }

    /// Largest number of hops of the shortest allowed walk of a pair.
    fn longest(&self) -> u16 {
        let pairs = self.reaches.iter().flat_map(|reach| {
            (0..self.frame.nodes() as u32).map(|target| reach.to(self.frame, self.steps, target))
        });
        pairs.filter(|hops| *hops != FAR).max().unwrap_or(0)
    }
}

/// Distances of all states from all sources of a frame.
///
/// # Errors
/// The watch requests a stop.
pub fn reaches(frame: &Frame, steps: &Steps, watch: &mut impl Watch) -> Result<Vec<Reach>, MethodError> {
    let sources: Vec<u32> = (0..frame.sources() as u32).collect();
    let mut all = Vec::with_capacity(sources.len());
    let found = |source: &u32| {
        let mut reach = Reach::default();
        steps.distances(frame, *source, &mut reach);
        reach.sealed()
    };
    // Each batch has one source for every thread.
    for group in sources.chunks(watch.threads().max(1)) {
        watch.checkpoint()?;
        if group.len() == 1 {
            all.extend(group.iter().map(found));
        } else {
            all.extend(watch.parallel(|| group.par_iter().map(found).collect::<Vec<_>>()));
        }
    }
    Ok(all)
}

/// Routes proposed by one thread.
struct Proposer {
    finder: Finder,
    /// Length of each proposed route; `ports` has the ports of these routes one after the other.
    lengths: Vec<u16>,
    ports: Vec<u8>,
}

/// Selects one route for every pair; starts from another selection of the same pod if one is given, and replaces its
/// routes over failed switches. Pairs without a simple allowed route have no route in the result.
///
/// # Errors
/// The watch requests a stop.
pub fn select(
    ways: Ways<'_>,
    effort: SelectionEffort,
    start: Option<&SelectedRoutes>,
    watch: &mut impl Watch,
) -> Result<SelectedRoutes, MethodError> {
    // Maximum length of a route.
    let stride = usize::from(ways.longest() + effort.slack + LONGER);
    let mut run = SelectionRun {
        ways,
        effort,
        now: SelectedRoutes::empty(ways.frame, stride),
        prices: vec![1.0; ways.frame.classes()],
        ladder: Vec::new(),
        proposers: Vec::new(),
        saved: if start.is_some() { SAVED_BY_START } else { 0.0 },
    };
    let threads = if ways.frame.nodes() < PARALLEL_FROM_NODES { 1 } else { watch.threads().max(1) };
    for _ in 0..threads {
        // Each thread has a finder with its own tables.
        let finder = Finder::new(ways.steps.states(ways.frame));
        run.proposers.push(Proposer { finder, lengths: Vec::new(), ports: Vec::new() });
    }
    if let Some(start) = start {
        run.adopt(start);
    }
    run.passes(watch)
}

struct SelectionRun<'a> {
    ways: Ways<'a>,
    effort: SelectionEffort,
    now: SelectedRoutes,
    /// Current price of an arc of each class.
    prices: Vec<f64>,
    /// Price of an arc for each load.
    ladder: Vec<f64>,
    proposers: Vec<Proposer>,
    /// Fraction of all passes that this run skips.
    saved: f64,
}

impl SelectionRun<'_> {
    /// Copies the routes of another selection that do not cross failed switches.
    fn adopt(&mut self, start: &SelectedRoutes) {
        for (source, target, ports) in start.routes() {
            // Routes over failed switches are left out; their flows get new routes in the first pass.
            if ports.len() <= self.now.stride && is_open(self.ways.frame, source, ports) {
                let flow = self.now.flow(source, target);
                self.now.set(flow, ports);
                self.carry(flow, 1);
            }
        }
    }

    /// Adds the route of a flow to the loads (`sign` 1), or removes it (`sign` -1).
    fn carry(&mut self, flow: usize, sign: i32) {
        let length = usize::from(self.now.lengths[flow]);
        let mut node = (flow / self.now.nodes) as u32;
        for at in 0..length {
            let arc = Frame::arc(node, self.now.ports[flow * self.now.stride + at]);
            let class = self.ways.frame.class(arc);
            let load = &mut self.now.loads[class];
            *load = load.wrapping_add_signed(sign);
            // Updates the price of the class to its new load.
            self.prices[class] =
                self.ladder.get(*load as usize).or(self.ladder.last()).copied().unwrap_or(1.0);
            node = self.ways.frame.head(arc);
        }
        self.now.hop_sum = self.now.hop_sum.wrapping_add_signed(i64::from(sign) * length as i64);
    }

    /// Current price of a route.
    fn price(&self, flow: usize, ports: &[u8]) -> f64 {
        let mut node = (flow / self.now.nodes) as u32;
        let mut sum = 0.0;
        for port in ports {
            let arc = Frame::arc(node, *port);
            sum += self.prices[self.ways.frame.class(arc)];
            node = self.ways.frame.head(arc);
        }
        sum
    }

    /// Sets prices for loads up to twice the highest load; `share` is the fraction of all passes that is done.
    fn set_prices(&mut self, share: f64) {
        // Mean load of the shortest routes, the unit of the first γ.
        let mean = (self.ways.hop_sum() as f64 / self.now.loads.len() as f64).max(8.0);
        let top = f64::from(self.now.max_load()).max(mean);
        let first = (FIRST_GROWTH / mean).min(LAST_GROWTH);
        // Prices are flat at first, so that flows spread, and steep at the end, so that only the most loaded classes
        // count. γ grows geometrically over the passes.
        let growth = first * (LAST_GROWTH / first).powf((share / RAMP).min(1.0));
        // Prices are relative to the price of the top load, so that exponents stay within range.
        let price = |load: u32| EMPTY_PRICE + (growth * (f64::from(load) - top)).min(DEAREST).exp();
        self.ladder.clear();
        self.ladder.extend((0..=(2.0 * top) as u32).map(price));
        // Prices at the current loads.
        for (price, load) in self.prices.iter_mut().zip(&self.now.loads) {
            *price = self.ladder[*load as usize];
        }
    }

    fn passes(mut self, watch: &mut impl Watch) -> Result<SelectedRoutes, MethodError> {
        let streams = Streams::new(self.effort.stream);
        let mut best: Option<SelectedRoutes> = None;
        let nodes = self.now.nodes;
        let mut stalled = 0;
        // Loads are minimised by repeated best responses at rising prices.
        for pass in 0..self.effort.passes.max(1) {
            // Fraction of all passes that is done; a start from other routes skips the first passes.
            let share = f64::from(pass) / f64::from((self.effort.passes.max(2)) - 1);
            let share = self.saved + (1.0 - self.saved) * share;
            self.set_prices(share);
            let whole = share <= WHOLE_PASSES;
            let mut flows: Vec<usize> =
                (0..self.now.lengths.len()).filter(|flow| flow / nodes != flow % nodes).collect();
            // First routes all flows without a route, then all flows again, and at the end only those that cross one of
            // the most loaded classes.
            if pass == 0 {
                flows.retain(|flow| self.now.lengths[*flow] == 0);
            } else if !whole {
                // Keeps the flows over classes whose load is the maximum or one less.
                let hot = self.now.max_load().saturating_sub(1);
                flows.retain(|flow| self.crosses(*flow, hot));
            }
            flows.shuffle(&mut streams.stream(u64::from(pass)));
            // The flows of a block are routed at the same prices, on any number of threads; blocks are small, so that
            // prices follow the loads.
            let block = (flows.len() / BLOCKS).clamp(1, LARGEST_BLOCK);
            for flows in flows.chunks_mut(block) {
                watch.checkpoint()?;
                // Flows are sorted by source, because consecutive flows of a source use the same distances.
                flows.sort_unstable();
                self.block(flows, watch);
            }
            watch.count(flows.len() as u64);
            if self.effort.speak {
                watch.report(EventBody::Series(SeriesPoint {
                    name: series::ROUTE_MAX_LOAD.to_owned(),
                    x: f64::from(pass),
                    y: f64::from(self.now.max_load()),
                }));
            }
            // The best pass is kept, because later passes may be worse.
            if best.as_ref().is_none_or(|best| self.now.rank() < best.rank()) {
                best = Some(self.now.clone());
                stalled = 0;
            } else {
                stalled += 1;
                // Only the late passes may end early.
                if !whole && stalled >= STALL {
                    break;
                }
            }
        }
        Ok(best.unwrap_or(self.now))
    }

    /// Returns `true` if a flow's route crosses a class with at least this load.
    fn crosses(&self, flow: usize, load: u32) -> bool {
        let mut node = (flow / self.now.nodes) as u32;
        self.now.of(flow).iter().any(|port| {
            let arc = Frame::arc(node, *port);
            node = self.ways.frame.head(arc);
            self.now.loads[self.ways.frame.class(arc)] >= load
        })
    }

    /// Reroutes the flows of a block.
    fn block(&mut self, flows: &[usize], watch: &impl Watch) {
        // The flows of a block are first removed from the loads, so that prices do not include them.
        for &flow in flows {
            self.carry(flow, -1);
        }
        // A few flows are routed faster than they are sent to another thread. Proposals at equal prices may be computed
        // in parallel; they are accepted one after another.
        let share = flows.len().div_ceil(self.proposers.len()).max(SHARE);
        let (ways, nodes, slack) = (self.ways, self.now.nodes, self.effort.slack);
        // All proposals of the block see the same prices.
        let prices = &self.prices;
        let propose = |(proposer, flows): (&mut Proposer, &[usize])| {
            proposer.lengths.clear();
            proposer.ports.clear();
            for &flow in flows {
                let (source, target) = ((flow / nodes) as u32, (flow % nodes) as u32);
                let reach = &ways.reaches[source as usize];
                let found =
                    proposer.finder.cheapest(ways.frame, ways.steps, reach, source, target, slack, prices);
                let ports = found.unwrap_or_default();
                proposer.lengths.push(ports.len() as u16);
                proposer.ports.extend_from_slice(ports);
            }
        };
        let proposers = &mut self.proposers;
        if share >= flows.len() {
            proposers.iter_mut().zip(flows.chunks(share)).for_each(propose);
        } else {
            watch.parallel(|| proposers.par_iter_mut().zip(flows.par_chunks(share)).for_each(propose));
        }
        // Proposals are accepted in order of flows, so that the result does not depend on the number of threads.
        let proposers = std::mem::take(&mut self.proposers);
        for (proposer, flows) in proposers.iter().zip(flows.chunks(share)) {
            let mut at = 0;
            for (&flow, &length) in flows.iter().zip(&proposer.lengths) {
                let ports = &proposer.ports[at..at + usize::from(length)];
                at += usize::from(length);
                // Prices have changed since the proposal, so it is accepted only if it does not cost more than the old
                // route.
                if !ports.is_empty()
                    && (self.now.lengths[flow] == 0
                        || self.price(flow, ports) <= self.price(flow, self.now.of(flow)))
                {
                    self.now.set(flow, ports);
                }
                self.carry(flow, 1);
            }
        }
        self.proposers = proposers;
    }
}

/// Returns `true` if no hop of a route crosses a failed switch.
fn is_open(frame: &Frame, source: u32, ports: &[u8]) -> bool {
    let mut node = source;
    ports.iter().all(|port| {
        let arc = Frame::arc(node, *port);
        node = frame.head(arc);
        frame.is_open(arc)
    })
}
