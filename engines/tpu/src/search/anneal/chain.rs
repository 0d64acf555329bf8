//! Chains of simulated annealing whose metrics are computed together: one bit-parallel breadth-first search (a
//! wavefront) measures the trial designs of all these chains, one in each lane.

use super::meter::Meter;
use super::{Design, Objective};
use crate::model::pod::SWITCHES;
use lightbay_core::random::Stream;
use rand::RngExt;

/// Maximum number of moves that the cuts may refuse before a chain keeps its state for one step.
/// The cuts may refuse every move of a state, so the loop needs an end; a refused move costs no evaluation of a metric.
const CHEAP_TRIES: u32 = 64;

/// The state of a chain, which another chain can copy.
#[derive(Clone, Debug)]
pub(super) struct State {
    chosen: Vec<u16>,
    design: Design,
    cuts: Vec<f64>,
}

/// A move under consideration.
#[derive(Clone, Copy, Debug)]
struct Move {
    tie: usize,
    to: u16,
    /// If the move exchanges the voltages of two ties: the second tie and its new voltage.
    other: Option<(usize, u16)>,
}

struct Chain {
    random: Stream,
    state: State,
    best: Option<Design>,
    /// A move, and the maximum score at which it is accepted.
    trial: Option<(Move, f64)>,
    trial_cuts: Vec<f64>,
    /// Largest value and sum of 1/λ over the evaluated metrics, for the trial.
    worst: f64,
    total: f64,
}

/// Chains that share one wavefront, one lane for each chain.
pub(super) struct Crew<'a> {
    objective: &'a Objective,
    meter: Meter,
    chains: Vec<Chain>,
    /// `parts[((tie * order) + chosen) * cuts + cut]`: the contribution of a choice to each cut.
    parts: Vec<f64>,
    constants: Vec<f64>,
    /// Lower bound on the 1/λ of every metric, with which moves are rejected before all metrics are evaluated.
    floor: f64,
}

impl<'a> Crew<'a> {
    /// Creates chains with their numbers and random streams; chain i begins from start i modulo the number of starts.
    pub(super) fn new(
        objective: &'a Objective,
        streams: Vec<(usize, Stream)>,
        starts: &[[u16; SWITCHES]],
    ) -> Self {
        let order = objective.group.order();
        let ties = objective.ties.all();
        let cuts = &objective.cuts;
        let mut parts = vec![0.0; ties.len() * order * cuts.len()];
        // Linear parts are summed once per tie and element: evaluating a move then takes one look-up per cut.
        for (index, tie) in ties.iter().enumerate() {
            for chosen in 0..order {
                for (cut, linear) in cuts.iter().enumerate() {
                    parts[(index * order + chosen) * cuts.len() + cut] = tie
                        .switches
                        .iter()
                        .map(|(switch, voltage)| linear.part(*switch, usize::from(voltage[chosen])))
                        .sum();
                }
            }
        }
        // One lane for each chain.
        let meter = Meter::new(&objective.group, streams.len(), &objective.ties);
        let chains = streams
            .into_iter()
            .map(|(number, mut random)| {
                // The start is random, except that elements of the given start are used where they are choices of the
                // ties.
                let mut chosen: Vec<u16> =
                    ties.iter().map(|tie| tie.choices[random.random_range(0..tie.choices.len())]).collect();
                if !starts.is_empty() {
                    let start = &starts[number % starts.len()];
                    for (chosen, tie) in chosen.iter_mut().zip(ties) {
                        let first = tie.switches[0].0;
                        if tie.choices.contains(&start[first]) {
                            *chosen = start[first];
                        }
                    }
                }
                let design = Design { voltage: [0; SWITCHES], score: f64::INFINITY, bound: 0.0 };
                let state = State { chosen, design, cuts: vec![0.0; cuts.len()] };
                Chain {
                    random,
                    state,
                    best: None,
                    trial: None,
                    trial_cuts: vec![0.0; cuts.len()],
                    worst: 0.0,
                    total: 0.0,
                }
            })
            .collect();
        // The hop bound of every pod of this size gives at least this 1/λ, so this value is a lower bound for metrics
        // that are not evaluated.
        let floor = 1.0 / crate::throughput::metrics::cover_bound(64 * order).mcf;
        // The constant part of a cut.
        let constants = cuts.iter().map(crate::throughput::metrics::cuts::LinearCut::constant).collect();
        Self { objective, meter, chains, parts, constants, floor }
    }

    /// Computes the score of the first state of every chain.
    pub(super) fn start(&mut self) {
        for lane in 0..self.chains.len() {
            self.rewire(lane);
        }
        let all: Vec<bool> = vec![true; self.chains.len()];
        // Without a limit on the score, all metrics of the start are measured.
        self.measure(&all, f64::INFINITY);
        for chain in &mut self.chains {
            chain.state.cuts.clone_from(&chain.trial_cuts);
            // The first score is always accepted.
            let score = score(self.objective, chain.worst, chain.total, &chain.trial_cuts);
            chain.state.design.score = score;
            chain.state.design.bound = bound(chain.worst, &chain.trial_cuts);
            chain.best = score.is_finite().then_some(chain.state.design);
        }
    }

    /// Sets the voltages of a chain, its lane of the wavefront and the values of its cuts from the elements chosen for
    /// the ties.
    fn rewire(&mut self, lane: usize) {
        let (order, cuts) = (self.objective.group.order(), self.constants.len());
        let chain = &mut self.chains[lane];
        chain.trial_cuts.clone_from(&self.constants);
        for (index, tie) in self.objective.ties.all().iter().enumerate() {
            let chosen = usize::from(chain.state.chosen[index]);
            for (switch, voltage) in &tie.switches {
                chain.state.design.voltage[*switch] = voltage[chosen];
                // The meter measures the current wiring.
                self.meter.set(lane, *switch, &self.objective.group, usize::from(voltage[chosen]));
            }
            let parts = &self.parts[(index * order + chosen) * cuts..][..cuts];
            for (sum, part) in chain.trial_cuts.iter_mut().zip(parts) {
                *sum += part;
            }
        }
    }

    /// Evaluates at most one move of every chain; a chain whose moves the cuts reject keeps its state.
    pub(super) fn step(&mut self, temperature: f64, swaps: f64) {
        let mut active = vec![false; self.chains.len()];
        for (lane, active) in active.iter_mut().enumerate() {
            // Proposals that the cuts reject cost no evaluation; after CHEAP_TRIES of them, the chain keeps its state
            // for this step.
            *active = (0..CHEAP_TRIES).any(|_| self.propose(lane, temperature, swaps));
        }
        // All chains keep their states in this step.
        if !active.contains(&true) {
            return;
        }
        for (lane, &active) in active.iter().enumerate() {
            if let (true, Some((change, _))) = (active, self.chains[lane].trial) {
                self.wire(lane, change.tie, change.to);
                if let Some((other, to)) = change.other {
                    self.wire(lane, other, to);
                }
            }
        }
        // One wavefront run per metric measures the moves of all chains.
        self.measure(&active, 0.0);
        for (lane, &active) in active.iter().enumerate() {
            if !active {
                continue;
            }
            let chain = &mut self.chains[lane];
            let Some((change, limit)) = chain.trial.take() else { continue };
            let score = score(self.objective, chain.worst, chain.total, &chain.trial_cuts);
            // Threshold form of Metropolis: accepted exactly if the score is at most the drawn limit.
            if score <= limit {
                self.accept(lane, change, score);
            } else {
                // Rejected: the switches are reset.
                let back = chain.state.chosen[change.tie];
                let other = change.other.map(|(other, _)| (other, chain.state.chosen[other]));
                self.wire(lane, change.tie, back);
                if let Some((other, back)) = other {
                    self.wire(lane, other, back);
                }
            }
        }
    }

    fn wire(&mut self, lane: usize, tie: usize, chosen: u16) {
        for (switch, voltage) in &self.objective.ties.all()[tie].switches {
            let voltage = usize::from(voltage[usize::from(chosen)]);
            self.meter.set(lane, *switch, &self.objective.group, voltage);
        }
    }

    /// Draws a move of a chain; returns `false` if the move changes nothing, is not allowed by the ties, or is rejected
    /// by the cuts.
    fn propose(&mut self, lane: usize, temperature: f64, swaps: f64) -> bool {
        let ties = self.objective.ties.all();
        let (order, cuts) = (self.objective.group.order(), self.constants.len());
        let Chain { random, state, trial, trial_cuts, .. } = &mut self.chains[lane];
        let tie = random.random_range(0..ties.len());
        // Moves (docs/methods/tpu-search.md, section 5, step 2): exchange two voltages, or change one.
        let change = if random.random::<f64>() < swaps {
            let other = random.random_range(0..ties.len());
            let (here, there) = (state.chosen[tie], state.chosen[other]);
            // A swap must be valid for the choices of both ties.
            if here == there || !ties[tie].choices.contains(&there) || !ties[other].choices.contains(&here) {
                return false;
            }
            Move { tie, to: there, other: Some((other, here)) }
        } else {
            let choices = &ties[tie].choices;
            let to = choices[random.random_range(0..choices.len())];
            if to == state.chosen[tie] {
                return false;
            }
            Move { tie, to, other: None }
        };
        // The threshold is drawn first (score - temperature ln u, equal in law to Metropolis): most moves that the cuts
        // reject are never measured.
        let limit = state.design.score - temperature * (1.0 - random.random::<f64>()).ln();
        if cuts > 0 {
            // Cuts of the new design: only the contributions of the moved ties change.
            trial_cuts.clone_from(&state.cuts);
            let moved = [Some((change.tie, change.to)), change.other];
            for (tie, to) in moved.into_iter().flatten() {
                let old = &self.parts[(tie * order + usize::from(state.chosen[tie])) * cuts..][..cuts];
                let new = &self.parts[(tie * order + usize::from(to)) * cuts..][..cuts];
                for ((sum, old), new) in trial_cuts.iter_mut().zip(old).zip(new) {
                    *sum += new - old;
                }
            }
            let metrics = self.objective.metrics.len() as f64;
            // Evaluating the cuts takes microseconds, so they are tested first (docs/methods/tpu-search.md, section 5,
            // step 2). Together with the lower bound of the metrics, this is a lower bound of the score.
            if score(self.objective, self.floor, self.floor * metrics, trial_cuts) > limit {
                return false;
            }
        }
        *trial = Some((change, limit));
        true
    }

    /// Evaluates the metrics of all lanes in their current wiring. Skips metrics that cannot change whether an active
    /// lane is accepted.
    fn measure(&mut self, active: &[bool], unlimited: f64) {
        for chain in &mut self.chains {
            (chain.worst, chain.total) = (0.0, 0.0);
        }
        // Metrics are evaluated one after the other; the worst value so far and the floor of the remaining metrics
        // bound the score from below.
        let metrics = self.objective.metrics.len();
        for (index, metric) in self.objective.metrics.iter().enumerate() {
            let found = self.meter.run(metric);
            let mut open = false;
            for ((chain, &found), &active) in self.chains.iter_mut().zip(&found).zip(active) {
                // 1/λ by this metric: the time to send all data.
                let time = found.map_or(f64::INFINITY, |sum| 1.0 / metric.bound(sum as f64));
                chain.worst = chain.worst.max(time);
                chain.total += time;
                let rest = self.floor * (metrics - 1 - index) as f64;
                let least = score(self.objective, chain.worst, chain.total + rest, &chain.trial_cuts);
                let limit = chain.trial.map_or(f64::INFINITY, |(_, limit)| limit).max(unlimited);
                open |= active && least <= limit;
            }
            if !open {
                // All active moves are rejected already, because the remaining metrics can only increase the score.
                for chain in &mut self.chains {
                    chain.worst = f64::INFINITY;
                }
                return;
            }
        }
    }

    fn accept(&mut self, lane: usize, change: Move, score: f64) {
        // The trial becomes the state; its cuts are copied, not summed again.
        let ties = self.objective.ties.all();
        let chain = &mut self.chains[lane];
        for (tie, to) in [Some((change.tie, change.to)), change.other].into_iter().flatten() {
            chain.state.chosen[tie] = to;
            for (switch, voltage) in &ties[tie].switches {
                chain.state.design.voltage[*switch] = voltage[usize::from(to)];
            }
        }
        chain.state.cuts.clone_from(&chain.trial_cuts);
        chain.state.design.score = score;
        chain.state.design.bound = bound(chain.worst, &chain.trial_cuts);
        if chain.best.is_none_or(|best| score < best.score) {
            chain.best = Some(chain.state.design);
        }
    }

    /// The best design of every chain.
    pub(super) fn best(&self) -> impl Iterator<Item = Design> {
        self.chains.iter().filter_map(|chain| chain.best)
    }

    /// Current scores of the chains.
    pub(super) fn scores(&self) -> impl Iterator<Item = f64> {
        self.chains.iter().map(|chain| chain.state.design.score)
    }

    /// Minimum of the current scores of the chains.
    pub(super) fn least_score(&self) -> f64 {
        self.scores().fold(f64::INFINITY, f64::min)
    }

    /// The state of a chain.
    pub(super) fn state(&self, lane: usize) -> State {
        self.chains[lane].state.clone()
    }

    /// Sets a chain to the state of another chain.
    pub(super) fn take_over(&mut self, lane: usize, state: State) {
        self.chains[lane].state = state;
        // Rewiring sums the cuts again, so rounding errors of many moves do not accumulate.
        self.rewire(lane);
        let chain = &mut self.chains[lane];
        chain.state.cuts.clone_from(&chain.trial_cuts);
    }
}

/// Score of a state from the largest value and the sum of 1/λ over the metrics and from the cuts; lower is better.
fn score(objective: &Objective, worst: f64, total: f64, cuts: &[f64]) -> f64 {
    let least_cut = cuts.iter().copied().fold(f64::INFINITY, f64::min);
    // The worst of metrics and cuts decides; the mean breaks ties between designs with the same worst metric.
    worst.max(1.0 / least_cut) + objective.mean_share * total / objective.metrics.len() as f64
}

fn bound(worst: f64, cuts: &[f64]) -> f64 {
    cuts.iter().copied().fold(1.0 / worst, f64::min)
}
