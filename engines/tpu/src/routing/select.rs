//! One route for every pair such that no arc carries many: flows are routed again and again at prices that grow
//! with the load.
//!
//! `price = (load + 1)^β` up to a factor that all share, with β from 4 to 40 over the passes. Flows go in random
//! order, in blocks: the routes of a block are proposed at the same prices, on as many threads as there are, then
//! taken one after another if they are cheaper than the old ones at the prices of that moment. The result does not
//! depend on the number of threads.

use super::frame::Frame;
use super::path::{Finder, LONGER};
use super::steps::{FAR, Reach, Steps};
use crate::watch::Watch;
use lightbay_core::event::{EventBody, SeriesPoint};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Exponents of prices in the first and in the last pass.
const EXPONENTS: [f64; 2] = [4.0, 40.0];

/// Share of passes that look at all flows; the later ones only at those over the fullest arcs.
const WHOLE_PASSES: f64 = 0.65;

/// Flows whose routes are proposed at the same prices.
const BLOCK: usize = 64;

/// Pass without improvement after which the rest is not done.
const STALL: u32 = 4;

/// How routes are selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Hops by which a route may be longer than the shortest allowed.
    pub slack: u16,
    /// Passes over the flows.
    pub passes: u32,
    /// Stream of the order of flows.
    pub stream: u64,
    /// Whether to say how the passes go.
    pub speak: bool,
}

/// One route for each pair, and the loads that follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    sources: usize,
    nodes: usize,
    stride: usize,
    lengths: Vec<u16>,
    ports: Vec<u8>,
    /// Routes over the arcs of each class.
    pub loads: Vec<u32>,
    /// Hops of all routes from the sources.
    pub hop_sum: u64,
}

impl Selection {
    fn empty(frame: &Frame, stride: usize) -> Self {
        let flows = frame.sources() * frame.nodes();
        Self {
            sources: frame.sources(),
            nodes: frame.nodes(),
            stride,
            lengths: vec![0; flows],
            ports: vec![0; flows * stride],
            loads: vec![0; frame.classes()],
            hop_sum: 0,
        }
    }

    /// The fullest class.
    pub fn max_load(&self) -> u32 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    /// Out ports of a route; empty for a pair without one.
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

    /// How good it is: smaller is better.
    pub fn rank(&self) -> (u32, u64) {
        (self.max_load(), self.hop_sum)
    }
}

/// What routes are selected from.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    /// The pod.
    pub frame: &'a Frame,
    /// The allowed turns.
    pub steps: &'a Steps,
    /// Distances from every source.
    pub reaches: &'a [Reach],
}

impl Ways<'_> {
    /// Pairs that no allowed walk connects: the first `at_most`, and how many there are.
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

    /// The longest of the shortest allowed walks.
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
/// The watch says stop.
pub fn reaches(frame: &Frame, steps: &Steps, watch: &mut impl Watch) -> Result<Vec<Reach>, MethodError> {
    let sources: Vec<u32> = (0..frame.sources() as u32).collect();
    let mut all = Vec::with_capacity(sources.len());
    let found = |source: &u32| {
        let mut reach = Reach::default();
        steps.distances(frame, *source, &mut reach);
        reach.sealed()
    };
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
    /// Length and ports of one route after the other.
    lengths: Vec<u16>,
    ports: Vec<u8>,
}

/// Selects one route for every pair; starts from another selection of the same pod if there is one, whose routes
/// over failed switches are replaced. Pairs without a simple allowed route have none in the result.
///
/// # Errors
/// The watch says stop.
pub fn select(
    ways: Ways<'_>,
    effort: Effort,
    start: Option<&Selection>,
    watch: &mut impl Watch,
) -> Result<Selection, MethodError> {
    let stride = usize::from(ways.longest() + effort.slack + LONGER);
    let mut run = Run {
        ways,
        effort,
        now: Selection::empty(ways.frame, stride),
        prices: vec![1.0; ways.frame.classes()],
        ladder: Vec::new(),
        proposers: Vec::new(),
    };
    for _ in 0..watch.threads().max(1) {
        let finder = Finder::new(ways.steps.states(ways.frame));
        run.proposers.push(Proposer { finder, lengths: Vec::new(), ports: Vec::new() });
    }
    if let Some(start) = start {
        run.adopt(start);
    }
    run.passes(watch)
}

struct Run<'a> {
    ways: Ways<'a>,
    effort: Effort,
    now: Selection,
    /// By class.
    prices: Vec<f64>,
    /// Price by load.
    ladder: Vec<f64>,
    proposers: Vec<Proposer>,
}

impl Run<'_> {
    /// Takes the routes of another selection that are open here.
    fn adopt(&mut self, start: &Selection) {
        for (source, target, ports) in start.routes() {
            if ports.len() <= self.now.stride && is_open(self.ways.frame, source, ports) {
                let flow = self.now.flow(source, target);
                self.now.set(flow, ports);
                self.carry(flow, 1);
            }
        }
    }

    /// Adds a flow's route to the loads, or takes it away.
    fn carry(&mut self, flow: usize, sign: i32) {
        let length = usize::from(self.now.lengths[flow]);
        let mut node = (flow / self.now.nodes) as u32;
        for at in 0..length {
            let arc = Frame::arc(node, self.now.ports[flow * self.now.stride + at]);
            let class = self.ways.frame.class(arc);
            let load = &mut self.now.loads[class];
            *load = load.wrapping_add_signed(sign);
            self.prices[class] = self.ladder.get(*load as usize).copied().unwrap_or(f64::MAX);
            node = self.ways.frame.head(arc);
        }
        self.now.hop_sum = self.now.hop_sum.wrapping_add_signed(i64::from(sign) * length as i64);
    }

    /// Price of a route as things are.
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

    /// Sets prices for loads up to twice the highest.
    fn set_prices(&mut self, exponent: f64) {
        let top = self.now.max_load().max(8);
        let price = |load: u32| (f64::from(load + 1) / f64::from(top + 1)).powf(exponent);
        self.ladder.clear();
        self.ladder.extend((0..=2 * top + 2 * BLOCK as u32).map(price));
        for (price, load) in self.prices.iter_mut().zip(&self.now.loads) {
            *price = self.ladder[*load as usize];
        }
    }

    fn passes(mut self, watch: &mut impl Watch) -> Result<Selection, MethodError> {
        let streams = Streams::new(self.effort.stream);
        let mut best: Option<Selection> = None;
        let nodes = self.now.nodes;
        let mut stalled = 0;
        for pass in 0..self.effort.passes.max(1) {
            let share = f64::from(pass) / f64::from((self.effort.passes.max(2)) - 1);
            self.set_prices(EXPONENTS[0] * (EXPONENTS[1] / EXPONENTS[0]).powf(share));
            let whole = share <= WHOLE_PASSES;
            let mut flows: Vec<usize> =
                (0..self.now.lengths.len()).filter(|flow| flow / nodes != flow % nodes).collect();
            if pass == 0 {
                flows.retain(|flow| self.now.lengths[*flow] == 0);
            } else if !whole {
                let hot = self.now.max_load().saturating_sub(1);
                flows.retain(|flow| self.crosses(*flow, hot));
            }
            flows.shuffle(&mut streams.stream(u64::from(pass)));
            for block in flows.chunks_mut(BLOCK) {
                watch.checkpoint()?;
                block.sort_unstable();
                self.block(block, watch);
            }
            watch.count(flows.len() as u64);
            if self.effort.speak {
                watch.report(EventBody::Series(SeriesPoint {
                    name: "route_max_load".to_owned(),
                    x: f64::from(pass),
                    y: f64::from(self.now.max_load()),
                }));
            }
            if best.as_ref().is_none_or(|best| self.now.rank() < best.rank()) {
                best = Some(self.now.clone());
                stalled = 0;
            } else {
                stalled += 1;
                if !whole && stalled >= STALL {
                    break;
                }
            }
        }
        Ok(best.unwrap_or(self.now))
    }

    /// Whether a flow's route crosses a class with at least this load.
    fn crosses(&self, flow: usize, load: u32) -> bool {
        let mut node = (flow / self.now.nodes) as u32;
        self.now.of(flow).iter().any(|port| {
            let arc = Frame::arc(node, *port);
            node = self.ways.frame.head(arc);
            self.now.loads[self.ways.frame.class(arc)] >= load
        })
    }

    /// Routes the flows of a block again.
    fn block(&mut self, flows: &[usize], watch: &impl Watch) {
        for &flow in flows {
            self.carry(flow, -1);
        }
        let share = flows.len().div_ceil(self.proposers.len());
        let (ways, nodes, slack) = (self.ways, self.now.nodes, self.effort.slack);
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
        if proposers.len() == 1 {
            proposers.iter_mut().zip(flows.chunks(share)).for_each(propose);
        } else {
            watch.parallel(|| proposers.par_iter_mut().zip(flows.par_chunks(share)).for_each(propose));
        }
        let proposers = std::mem::take(&mut self.proposers);
        for (proposer, flows) in proposers.iter().zip(flows.chunks(share)) {
            let mut at = 0;
            for (&flow, &length) in flows.iter().zip(&proposer.lengths) {
                let ports = &proposer.ports[at..at + usize::from(length)];
                at += usize::from(length);
                if !ports.is_empty()
                    && (self.now.lengths[flow] == 0
                        || self.price(flow, ports) < self.price(flow, self.now.of(flow)))
                {
                    self.now.set(flow, ports);
                }
                self.carry(flow, 1);
            }
        }
        self.proposers = proposers;
    }
}

/// Whether no hop of a route goes over a failed switch.
fn is_open(frame: &Frame, source: u32, ports: &[u8]) -> bool {
    let mut node = source;
    ports.iter().all(|port| {
        let arc = Frame::arc(node, *port);
        node = frame.head(arc);
        frame.is_open(arc)
    })
}
