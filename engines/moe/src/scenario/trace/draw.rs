//! Synthetic traces: popularity of experts over iterations and layers, and the rows of the ranks.
//!
//! The transition matrix from layer to layer drifts as `Z' = 0.999 Z + 0.05 N(0,1)`. Every [`KNOT`]-th state (a knot)
//! is sampled from the previous knot, and the states between two knots as a bridge of this process. Any iteration is
//! therefore reached in one step per knot and fewer than [`KNOT`] further steps.

use super::super::MoeScenario;
use super::sample::Normal;
use super::{GateHistory, SyntheticTrace};
use lightbay_core::random::Streams;
use rayon::prelude::*;
use std::sync::Arc;

/// Fraction of the drift that remains per iteration.
const KEPT: f64 = 0.999;
/// Drift that is added per iteration.
const ADDED: f64 = 0.05;
/// Number of iterations between knots.
const KNOT: u32 = 32;
/// Number of entries of transition matrices below which a step is too short for another thread.
const SMALLEST_PART: usize = 1 << 14;

/// Purpose of a random stream.
#[derive(Clone, Copy)]
enum StreamUse {
    Popularity = 1,
    Passage,
    Knot,
    Bridge,
    Rows,
}

/// Random streams of a trace, by purpose, layer and iteration.
struct TraceStreams(Streams);

impl TraceStreams {
    fn of(&self, usage: StreamUse, layer: usize, number: u32) -> Normal {
        let number = ((usage as u64) << 56) | ((layer as u64) << 32) | u64::from(number);
        Normal::new(self.0.stream(number))
    }
}

/// Returns the variance that `steps` iterations add to the drift.
fn added(steps: u32) -> f64 {
    let kept = KEPT * KEPT;
    ADDED * ADDED * (1.0 - kept.powi(steps as i32)) / (1.0 - kept)
}

/// The drift of one layer, moved from iteration to iteration.
#[derive(Clone)]
struct Drift {
    layer: usize,
    /// State in the present iteration, which is the field `at`.
    state: Vec<f64>,
    /// State at the next knot.
    knot: Vec<f64>,
    at: u32,
}

impl Drift {
    /// Returns the drift of a layer at the last knot up to an iteration.
    fn before(streams: &TraceStreams, layer: usize, size: usize, iteration: u32) -> Self {
        let mut drift = Self { layer, state: vec![0.0; size], knot: vec![0.0; size], at: 0 };
        drift.leap(streams);
        while drift.at + KNOT <= iteration {
            drift.next_knot(streams);
        }
        drift
    }

    /// Advances from a knot to the next knot.
    fn next_knot(&mut self, streams: &TraceStreams) {
        self.at += KNOT;
        self.state.copy_from_slice(&self.knot);
        self.leap(streams);
    }

    /// Samples the knot after the present one.
    fn leap(&mut self, streams: &TraceStreams) {
        let mut normal = streams.of(StreamUse::Knot, self.layer, self.at / KNOT);
        let (kept, spread) = (KEPT.powi(KNOT as i32), added(KNOT).sqrt());
        for (knot, state) in self.knot.iter_mut().zip(&self.state) {
            *knot = kept * state + spread * normal.normal();
        }
    }

    /// Advances by one iteration.
    fn step(&mut self, streams: &TraceStreams) {
        let left = KNOT - self.at % KNOT;
        self.at += 1;
        if left == 1 {
            self.state.copy_from_slice(&self.knot);
            self.leap(streams);
            return;
        }
        // Samples the next state, given the present state and the next knot.
        let (kept, spread) = (KEPT.powi(left as i32 - 1), added(left - 1));
        let precision = 1.0 / added(1) + kept * kept / spread;
        let (ahead, back) = (KEPT / added(1) / precision, kept / spread / precision);
        let noise = precision.sqrt().recip();
        let mut normal = streams.of(StreamUse::Bridge, self.layer, self.at);
        for (state, knot) in self.state.iter_mut().zip(&self.knot) {
            *state = ahead * *state + back * knot + noise * normal.normal();
        }
    }
}

/// Popularity of the experts of layer 0: a fixed part and a part that drifts.
struct Popularity {
    fixed: Vec<f64>,
    wandering: Vec<f64>,
    at: u32,
}

impl Popularity {
    fn new(streams: &TraceStreams, experts: usize) -> Self {
        let mut normal = streams.of(StreamUse::Popularity, 1, 0);
        let fixed = (0..experts).map(|_| normal.normal()).collect();
        let mut normal = streams.of(StreamUse::Popularity, 0, 0);
        Self { fixed, wandering: (0..experts).map(|_| normal.normal()).collect(), at: 0 }
    }

    fn step(&mut self, streams: &TraceStreams, memory: f64) {
        self.at += 1;
        let mut normal = streams.of(StreamUse::Popularity, 0, self.at);
        let noise = (1.0 - memory * memory).max(0.0).sqrt();
        for wandering in &mut self.wandering {
            *wandering = memory * *wandering + noise * normal.normal();
        }
    }

    fn shares(&self, scale: f64, shares: &mut [f64]) {
        for (share, (fixed, wandering)) in shares.iter_mut().zip(self.fixed.iter().zip(&self.wandering)) {
            *share = scale * (fixed + wandering);
        }
        softmax(shares);
    }
}

fn softmax(values: &mut [f64]) {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = (*value - top).exp();
        sum += *value;
    }
    for value in values {
        *value /= sum;
    }
}

/// Limits each share to `most`, because a token goes to different experts, and spreads the rest over the other shares in
/// proportion.
fn cap(shares: &mut [f64], most: f64) {
    // Each pass caps at least one more share, or ends.
    for _ in 0..shares.len() {
        if shares.iter().all(|share| *share <= most * (1.0 + 1e-12)) {
            break;
        }
        for share in shares.iter_mut() {
            *share = share.min(most);
        }
        let full = shares.iter().filter(|share| **share >= most).count() as f64 * most;
        let open: f64 = shares.iter().filter(|share| **share < most).sum();
        if open <= 0.0 {
            // The other shares are zero, so the rest is spread evenly.
            let count = shares.iter().filter(|share| **share < most).count().max(1) as f64;
            let even = (1.0 - full) / count;
            shares.iter_mut().filter(|share| **share < most).for_each(|share| *share = even);
            break;
        }
        let factor = (1.0 - full) / open;
        shares.iter_mut().filter(|share| **share < most).for_each(|share| *share *= factor);
    }
}

/// Transition of tokens from the experts of a layer to the experts of the next layer: logits by source expert, then
/// destination expert.
#[derive(Clone)]
struct ExpertTransitions {
    fixed: Arc<Vec<f64>>,
    drift: Drift,
}

impl ExpertTransitions {
    /// Writes to `shares` the shares of the next layer that follow from the shares `load` of this layer.
    fn shares(&self, load: &[f64], column: &mut [f64], shares: &mut [f64]) {
        shares.fill(0.0);
        let experts = load.len();
        let columns = self.fixed.chunks_exact(experts).zip(self.drift.state.chunks_exact(experts));
        for ((fixed, moved), share) in columns.zip(load) {
            for (value, (fixed, moved)) in column.iter_mut().zip(fixed.iter().zip(moved)) {
                *value = fixed + moved;
            }
            softmax(column);
            for (sum, value) in shares.iter_mut().zip(column.iter()) {
                *sum += share * value;
            }
        }
    }
}

/// Returns the results of `work` for all items, in their order; on a thread of a pool, all threads of the pool take items.
fn each<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    if rayon::current_thread_index().is_some() {
        items.into_par_iter().map(work).collect()
    } else {
        items.into_iter().map(work).collect()
    }
}

/// A synthetic trace of a scenario.
struct TraceSource<'t> {
    trace: &'t SyntheticTrace,
    streams: TraceStreams,
    experts: usize,
    ranks: usize,
    layers: usize,
    /// Copies of tokens that a rank sends.
    copies: f64,
    /// Largest share of an expert.
    most: f64,
}

/// Iterations between two knots, which need nothing from other iterations.
struct TraceBlock {
    first: u32,
    last: u32,
    /// Transitions at the knot before these iterations.
    passages: Vec<ExpertTransitions>,
    /// Shares of the experts of layer 0, by iteration.
    popular: Vec<Vec<f64>>,
}

impl TraceSource<'_> {
    /// Changes the transitions of all layers.
    fn move_all(&self, passages: &mut [ExpertTransitions], change: impl Fn(&mut Drift) + Sync) {
        if rayon::current_thread_index().is_some() && self.experts * self.experts >= SMALLEST_PART {
            passages.par_iter_mut().for_each(|passage| change(&mut passage.drift));
        } else {
            for passage in passages.iter_mut() {
                change(&mut passage.drift);
            }
        }
    }

    /// Returns the loads of a block by iteration, layer and expert, and the tokens of its last iteration.
    fn loads(&self, block: TraceBlock) -> (Vec<f64>, Vec<f64>) {
        let TraceBlock { first, last, mut passages, popular } = block;
        let (experts, ranks) = (self.experts, self.ranks);
        let mut loads = Vec::with_capacity(popular.len() * self.layers * experts);
        let mut tokens = vec![0.0; self.layers * ranks * experts];
        let (mut shares, mut column) = (vec![0.0; experts], vec![0.0; experts]);
        let (mut load, mut row) = (vec![0.0; experts], vec![0.0; experts]);
        for (at, popular) in (first..=last).zip(&popular) {
            self.move_all(&mut passages, |drift| {
                while drift.at < at {
                    drift.step(&self.streams);
                }
            });
            let even = self.trace.balance * (1.0 - (-f64::from(at) / self.trace.balance_iterations).exp());
            for layer in 0..self.layers {
                match layer.checked_sub(1).and_then(|before| passages.get(before)) {
                    Some(passage) => passage.shares(&load, &mut column, &mut shares),
                    None => shares.copy_from_slice(popular),
                }
                for share in &mut shares {
                    *share = (1.0 - even) * *share + even / experts as f64;
                }
                let mut normal = self.streams.of(StreamUse::Rows, layer, at);
                load.fill(0.0);
                for rank in 0..ranks {
                    let weights = shares.iter().map(|share| self.trace.kappa * experts as f64 * share);
                    normal.dirichlet(weights, &mut row);
                    cap(&mut row, self.most);
                    for (sum, share) in load.iter_mut().zip(&row) {
                        *sum += share / ranks as f64;
                    }
                    if at == last {
                        let place = (layer * ranks + rank) * experts;
                        for (token, share) in tokens.iter_mut().skip(place).zip(&row) {
                            *token = share * self.copies;
                        }
                    }
                }
                loads.extend_from_slice(&load);
            }
        }
        (loads, tokens)
    }
}

/// Returns the loads of the iterations up to `iteration`, with the tokens of that iteration. On a thread of a pool, other
/// threads of the pool take some of the blocks and layers; the result is the same.
pub(super) fn history(
    scenario: &MoeScenario,
    trace: &SyntheticTrace,
    iteration: u32,
    before: u32,
) -> GateHistory {
    let shape = scenario.shape();
    let source = TraceSource {
        trace,
        streams: TraceStreams(Streams::new(trace.seed)),
        experts: shape.experts as usize,
        ranks: shape.ep as usize,
        layers: scenario.stage_layers() as usize,
        copies: shape.copies(),
        most: 1.0 / f64::from(shape.top_k.max(1)),
    };
    let TraceSource { streams, experts, ranks, layers, .. } = &source;
    let (experts, ranks, layers) = (*experts, *ranks, *layers);
    let first = iteration.saturating_sub(before);
    let iterations = (iteration - first) as usize + 1;
    let mut history = GateHistory {
        first,
        iterations,
        layers,
        experts,
        ranks,
        loads: Vec::with_capacity(iterations * layers * experts),
        tokens: Vec::new(),
    };
    let mut popularity = Popularity::new(streams, experts);
    while popularity.at < first {
        popularity.step(streams, trace.popularity_memory);
    }
    let squares = experts * experts;
    let mut passages: Vec<ExpertTransitions> = each((1..layers).collect(), |layer| {
        let mut normal = streams.of(StreamUse::Passage, layer, 0);
        let fixed: Vec<f64> = (0..squares).map(|_| trace.passage_std * normal.normal()).collect();
        ExpertTransitions { fixed: Arc::new(fixed), drift: Drift::before(streams, layer, squares, first) }
    });
    // As many blocks at once as there are threads: each has its own transitions, which need memory.
    let threads = if rayon::current_thread_index().is_some() { rayon::current_num_threads() } else { 1 };
    let mut next = first;
    while next <= iteration {
        let mut blocks = Vec::with_capacity(threads);
        while blocks.len() < threads && next <= iteration {
            let last = iteration.min(next / KNOT * KNOT + KNOT - 1);
            let popular = (next..=last).map(|at| {
                if at > popularity.at {
                    popularity.step(streams, trace.popularity_memory);
                }
                let mut shares = vec![0.0; experts];
                popularity.shares(trace.popularity_scale, &mut shares);
                shares
            });
            let popular = popular.collect();
            blocks.push(TraceBlock { first: next, last, passages: passages.clone(), popular });
            if last < iteration {
                source.move_all(&mut passages, |drift| drift.next_knot(streams));
            }
            next = last + 1;
        }
        for (loads, tokens) in each(blocks, |block| source.loads(block)) {
            history.loads.extend(loads);
            history.tokens = tokens;
        }
    }
    history
}
