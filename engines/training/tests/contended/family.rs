//! Random DAGs in which any transfer may compete with any other of its link.
#![allow(dead_code, reason = "tests and benchmarks use different parts")]

#[path = "../support/parts.rs"]
mod parts;

use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::Unwatched;
use lightbay_training::scenario::instance::{GpuSet, Instance, LinkKind, Task};
use lightbay_training::search::circuits::Circuits;
use lightbay_training::search::event_orders::{Closed, ProofLimits, TreeSearch};
use lightbay_training::simulate::evaluate::{Evaluator, Rates, Scratch};
use parts::{edge, instance, link, pod, transfer};
use rand::RngExt;

/// Parameters of random instances. Pods stand in a row, with a link between neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Minimum and maximum number of transfers.
    pub tasks: (u32, u32),
    /// Links.
    pub links: u32,
    /// Circuits of every link if ports are shared out evenly.
    pub circuits: u32,
    /// Probability of an edge between two transfers.
    pub edges: f64,
    /// Longest delay of an edge, seconds.
    pub delay_s: f64,
    /// `true` if transfers go both ways.
    pub both_ways: bool,
    /// `true` if pods between two links may split their ports unevenly.
    pub free: bool,
    /// Share of transfers that use network cards which others use too.
    pub cards: f64,
}

/// 8 to 16 transfers on two links of three circuits: the only choice that the ports leave.
pub const TWO_LINKS: Family = Family {
    tasks: (8, 16),
    links: 2,
    circuits: 3,
    edges: 0.2,
    delay_s: 0.01,
    both_ways: false,
    free: false,
    cards: 0.0,
};

impl Family {
    /// The instance of a seed.
    pub fn instance(&self, seed: u64) -> Instance {
        let mut random = Streams::new(seed).stream(0);
        let n = random.random_range(self.tasks.0..=self.tasks.1);
        let mut tasks = Vec::new();
        let mut edges = Vec::new();
        for id in 0..n {
            tasks.push(self.task(id, &mut random));
            for pred in 0..id {
                if random.random_bool(self.edges) {
                    let delay_s = random.random_range(0.0..=self.delay_s);
                    edges.push(edge(pred, id, delay_s));
                }
            }
        }
        let pods = (0..=self.links)
            .map(|id| {
                let inner = id > 0 && id < self.links;
                // With free ports the ends of the row have enough for any split in between.
                let ports = match (inner, self.free) {
                    (true, _) | (false, true) => 2 * self.circuits,
                    (false, false) => self.circuits,
                };
                pod(id, ports)
            })
            .collect();
        let links = (0..self.links).map(|id| link(id, LinkKind::Mixed)).collect();
        instance(pods, links, tasks, edges)
    }

    fn task(&self, id: u32, random: &mut Stream) -> Task {
        let link = random.random_range(0..self.links);
        let forward = !self.both_ways || random.random_bool(0.5);
        let (src, dst) = if forward { (link, link + 1) } else { (link + 1, link) };
        let flows = random.random_range(1..=4);
        let own = self.cards == 0.0 || !random.random_bool(self.cards);
        let mut task = transfer(id, (src, dst), flows, random.random_range(1e8..1e9), 0.0);
        if !own {
            task.src_gpus = GpuSet::Range { first: 90_000 + 8 * src, count: flows };
        }
        task
    }

    /// Circuits shared out evenly.
    pub fn even(&self) -> Vec<u32> {
        vec![self.circuits; self.links as usize]
    }
}

/// Results of the search on an instance, beginning from circuits `x` under the usual rules.
pub struct Solved {
    /// The relaxation without competition before the last transfers, seconds.
    pub plain: f64,
    /// The best of fair and level-first, seconds.
    pub rules: f64,
    /// The best plan, seconds.
    pub best: f64,
    /// Result of the proof.
    pub closed: Closed,
}

impl Solved {
    /// Relative gap of a bound.
    pub fn gap(&self, bound: f64) -> f64 {
        ((self.best - bound) / self.best).max(0.0)
    }
}

/// Solves an instance with at most `caps` circuits per link.
pub fn solve(instance: &Instance, x: &[u32], caps: &[u32], nodes: u64) -> Solved {
    let evaluator = Evaluator::new(instance).unwrap();
    let mut scratch = Scratch::default();
    let plain = evaluator.bound(caps, &mut scratch);
    let rules = evaluator.makespan(x, Rates::Best, &mut scratch);
    let ports = evaluator.network.budget.total(x);
    let known = Circuits { x: x.to_vec(), makespan: rules, ports };
    let settings = ProofLimits { nodes, ..ProofLimits::default() };
    let closed =
        TreeSearch::new(&evaluator, caps, known, plain * (1.0 - 1e-12), settings, &mut Unwatched::default())
            .run()
            .unwrap();
    let best = closed.best.as_ref().map_or(rules, |best| best.makespan);
    Solved { plain, rules, best, closed }
}

/// Gaps over the first seeds of a family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gaps {
    /// Mean of (best plan - relaxation) / best plan.
    pub plain: f64,
    /// Mean of (best plan - bound) / best plan.
    pub ours: f64,
    /// Instances whose gap is at most 1e-9.
    pub closed: u64,
    /// Instances whose bound is looser than the relaxation.
    pub looser: u64,
    /// Nodes looked at.
    pub nodes: u64,
}

/// Solves the first `count` seeds with ports shared out evenly, each with at most `nodes`.
pub fn gaps(family: Family, count: u64, nodes: u64) -> Gaps {
    let mut gaps = Gaps::default();
    let x = family.even();
    for seed in 0..count {
        let solved = solve(&family.instance(seed), &x, &x, nodes);
        let (plain, ours) = (solved.gap(solved.plain), solved.gap(solved.closed.bound));
        gaps.plain += plain / count as f64;
        gaps.ours += ours / count as f64;
        gaps.closed += u64::from(ours <= 1e-9);
        gaps.looser += u64::from(ours > plain + 1e-9);
        gaps.nodes += solved.closed.nodes;
    }
    gaps
}
