//! Annealing of pods without symmetry (docs/methods/tpu-search.md, section 5, step 6): a state consists of 48
//! permutations of the cubes. To score a state, the distances from the chips of all cubes are summed, one cube after
//! another.
//!
//! A move exchanges two entries of one switch, or sets one switch to its best response: the state with the largest
//! value of a cut while all other switches stay unchanged. As in [`super::anneal`], chains share the lanes of a
//! wavefront, and the result depends only on the seed and the settings.

use super::AnnealSettings;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::throughput::metrics::Lengths;
use crate::throughput::metrics::circuit_cuts::CircuitCut;
use crate::throughput::metrics::wavefront::Wavefront;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use rand::RngExt;
use rayon::prelude::*;

/// Score of pods without symmetry, corresponding to [`super::Objective`] for voltages.
#[derive(Clone, Debug)]
pub struct GeneralObjective {
    /// Link lengths that define the metrics; at least one.
    pub metrics: Vec<Lengths>,
    /// Bounds that are linear in the circuits.
    pub cuts: Vec<CircuitCut>,
    /// Weight of the mean of 1/λ over the metrics, which is added to the largest 1/λ.
    pub mean_share: f64,
}

/// A pod without symmetry and its value of the objective.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralDesign {
    /// `states[switch * cubes + cube]`: the far cube of the circuit that starts at the plus port of `cube`; the circuit
    /// ends at the minus port of the far cube.
    pub states: Vec<u16>,
    /// Score (smaller is better): about 1/λ by the worst bound.
    pub score: f64,
    /// The smallest bound on λ among the metrics and cuts.
    pub bound: f64,
}

impl GeneralDesign {
    /// The pod; `None` if a state is not a permutation.
    pub fn topology(&self) -> Option<Topology> {
        let states: Vec<Vec<u16>> =
            self.states.chunks(self.states.len() / SWITCHES).map(<[u16]>::to_vec).collect();
        Topology::general(&states).ok()
    }
}

/// Fraction of moves that set a switch to its best response to a cut. A response changes a switch completely: rare
/// responses open new directions, frequent responses would undo the refinement by exchanges.
const RESPONSES: f64 = 0.02;

/// Number of wavefront words that the chains of one wavefront process between two stop checks: about a millisecond of
/// work, as for a chain of `anneal`.
const SLICE_WORDS: u64 = 2_000_000;

/// Anneals chains from `start` and returns the best design of every chain, best first. Ignores `settings.swaps` and
/// `settings.exchanges`.
///
/// # Errors
/// The error of the watch.
pub fn anneal<W: Watch>(
    objective: &GeneralObjective,
    settings: &AnnealSettings,
    start: &Topology,
    stream: impl Fn(u64) -> Stream,
    watch: &mut W,
    mut progress: impl FnMut(&mut W, &GeneralDesign),
) -> Result<Vec<GeneralDesign>, MethodError> {
    let cubes = start.cubes();
    let (chains, together) = (settings.chains.max(1) as usize, Wavefront::best_pods(cubes));
    // Best responses depend only on the cut, so they are computed once (assignment problems).
    // `responses[cut * SWITCHES + switch]`.
    let responses: Vec<Vec<u16>> =
        objective.cuts.iter().flat_map(|cut| (0..SWITCHES).map(|switch| cut.best_response(switch))).collect();
    let mut crews: Vec<Crew<'_>> = (0..chains)
        .step_by(together)
        .map(|first| {
            let streams = (first..chains.min(first + together)).map(|chain| stream(chain as u64));
            Crew::new(objective, &responses, start, streams.collect())
        })
        .collect();
    watch.parallel(|| crews.par_iter_mut().for_each(Crew::start));
    let scale = crews.iter().flat_map(|crew| &crew.chains).map(|chain| chain.design.score);
    let scale = scale.fold(f64::INFINITY, f64::min);
    let ticks = 10 * objective.metrics.iter().map(|metric| u64::from(metric.longest())).sum::<u64>();
    // Sweeps start from all cubes, so their cost is the cost for symmetric pods times the number of cubes.
    let slice = (SLICE_WORDS / (6 * 64 * (cubes * cubes * together) as u64 * ticks)).max(1);
    let stop = watch.stop_test();
    let mut step = 0;
    // Annealing as for symmetric pods, without exchanges between chains.
    while step < settings.steps {
        let until = (step + slice).min(settings.steps);
        let (stop, from) = (&stop, step);
        watch.parallel(|| {
            crews.par_iter_mut().for_each(|crew| {
                for at in from..until {
                    if stop() {
                        return;
                    }
                    let through = at as f64 / settings.steps as f64;
                    crew.step(scale * settings.hot * (settings.cold / settings.hot).powf(through));
                }
            });
        });
        watch.count((until - step) * chains as u64);
        step = until;
        watch.checkpoint()?;
        let best = crews.iter().flat_map(|crew| &crew.chains).map(|chain| &chain.best);
        if let Some(best) = best.min_by(|a, b| a.score.total_cmp(&b.score)) {
            progress(watch, best);
        }
    }
    let mut designs: Vec<GeneralDesign> =
        crews.into_iter().flat_map(|crew| crew.chains).map(|chain| chain.best).collect();
    designs.sort_by(|a, b| a.score.total_cmp(&b.score).then_with(|| a.states.cmp(&b.states)));
    Ok(designs)
}

/// A proposed state of one switch, and the maximum score at which it is accepted.
#[derive(Clone, Debug)]
struct Trial {
    switch: usize,
    state: Vec<u16>,
    limit: f64,
}

struct GeneralChain {
    random: Stream,
    design: GeneralDesign,
    cuts: Vec<f64>,
    best: GeneralDesign,
    trial: Option<Trial>,
    trial_cuts: Vec<f64>,
    /// Largest value and sum of 1/λ over the metrics, for the current wiring.
    worst: f64,
    total: f64,
}

/// Chains in the lanes of one wavefront.
struct Crew<'a> {
    objective: &'a GeneralObjective,
    responses: &'a [Vec<u16>],
    cubes: usize,
    wavefront: Wavefront,
    chains: Vec<GeneralChain>,
    /// Lower bound on the 1/λ of every metric, with which moves are rejected before the metrics are evaluated.
    floor: f64,
}

impl<'a> Crew<'a> {
    fn new(
        objective: &'a GeneralObjective,
        responses: &'a [Vec<u16>],
        start: &Topology,
        streams: Vec<Stream>,
    ) -> Self {
        let cubes = start.cubes();
        let mut wavefront = Wavefront::new(cubes, streams.len());
        for which in 0..streams.len() {
            wavefront.wire(which, start);
        }
        let states: Vec<u16> = (0..SWITCHES).flat_map(|switch| start.state(switch).iter().copied()).collect();
        let cuts: Vec<f64> = objective.cuts.iter().map(|cut| cut.bound(start)).collect();
        let design = GeneralDesign { states, score: f64::INFINITY, bound: 0.0 };
        let chain = |random| GeneralChain {
            random,
            design: design.clone(),
            cuts: cuts.clone(),
            best: design.clone(),
            trial: None,
            trial_cuts: cuts.clone(),
            worst: 0.0,
            total: 0.0,
        };
        let chains = streams.into_iter().map(chain).collect();
        let floor = 1.0 / crate::throughput::metrics::cover_bound(start.nodes()).mcf;
        Self { objective, responses, cubes, wavefront, chains, floor }
    }

    /// Computes the score of the start design in every chain.
    fn start(&mut self) {
        self.measure();
        for chain in &mut self.chains {
            chain.design.score = score(self.objective, chain.worst, chain.total, &chain.cuts);
            chain.design.bound = bound(chain.worst, &chain.cuts);
            chain.best.clone_from(&chain.design);
        }
    }

    /// Evaluates at most one move of every chain; a chain whose move the cuts reject keeps its state.
    fn step(&mut self, temperature: f64) {
        let mut moved = false;
        for lane in 0..self.chains.len() {
            self.propose(lane, temperature);
            if let Some(trial) = &self.chains[lane].trial {
                moved = true;
                patch(&mut self.wavefront, lane, trial.switch, &trial.state);
            }
        }
        if !moved {
            return;
        }
        self.measure();
        for (lane, chain) in self.chains.iter_mut().enumerate() {
            let Some(trial) = chain.trial.take() else { continue };
            // Threshold form of Metropolis.
            let place = trial.switch * self.cubes..(trial.switch + 1) * self.cubes;
            let score = score(self.objective, chain.worst, chain.total, &chain.trial_cuts);
            if score > trial.limit {
                patch(&mut self.wavefront, lane, trial.switch, &chain.design.states[place]);
                continue;
            }
            chain.design.states[place].copy_from_slice(&trial.state);
            chain.cuts.clone_from(&chain.trial_cuts);
            chain.design.score = score;
            chain.design.bound = bound(chain.worst, &chain.cuts);
            if score < chain.best.score {
                chain.best.clone_from(&chain.design);
            }
        }
    }

    /// Draws a move of a chain and stores it in `trial`; stores `None` if nothing would change or the cuts reject the
    /// move.
    fn propose(&mut self, lane: usize, temperature: f64) {
        let GeneralChain { random, design, cuts, trial, trial_cuts, .. } = &mut self.chains[lane];
        *trial = None;
        let switch = random.random_range(0..SWITCHES);
        let now = &design.states[switch * self.cubes..(switch + 1) * self.cubes];
        // A best response to a random cut, or an exchange of two entries (both keep the state a permutation).
        let state = if !self.responses.is_empty() && random.random::<f64>() < RESPONSES {
            let cut = random.random_range(0..self.objective.cuts.len());
            self.responses[cut * SWITCHES + switch].clone()
        } else {
            let (one, other) = (random.random_range(0..self.cubes), random.random_range(0..self.cubes));
            let mut state = now.to_vec();
            state.swap(one, other);
            state
        };
        if state == now {
            return;
        }
        // The threshold is drawn first, so that most moves that the cuts reject are never measured.
        let limit = design.score - temperature * (1.0 - random.random::<f64>()).ln();
        for ((sum, before), cut) in trial_cuts.iter_mut().zip(&*cuts).zip(&self.objective.cuts) {
            // Incremental cuts: only the contribution of this switch changes.
            *sum = before + cut.of_state(switch, &state) - cut.of_state(switch, now);
        }
        let least = self.floor * self.objective.metrics.len() as f64;
        // The floor is a lower bound of the metrics, so this is a lower bound of the score.
        if score(self.objective, self.floor, least, trial_cuts) <= limit {
            *trial = Some(Trial { switch, state, limit });
        }
    }

    /// Evaluates the metrics of all lanes in their current wiring.
    fn measure(&mut self) {
        for chain in &mut self.chains {
            (chain.worst, chain.total) = (0.0, 0.0);
        }
        let mut sums = vec![Some(0u64); self.chains.len()];
        for metric in &self.objective.metrics {
            sums.fill(Some(0));
            // Without symmetry all cubes are sources.
            for source in 0..self.cubes {
                for (sum, found) in sums.iter_mut().zip(self.wavefront.run(metric, source)) {
                    *sum = sum.zip(*found).map(|(sum, found)| sum + found.sum);
                }
            }
            for (chain, sum) in self.chains.iter_mut().zip(&sums) {
                let mean = |sum: u64| sum as f64 / self.cubes as f64;
                let time = sum.map_or(f64::INFINITY, |sum| 1.0 / metric.bound(mean(sum)));
                chain.worst = chain.worst.max(time);
                chain.total += time;
            }
        }
    }
}

fn patch(wavefront: &mut Wavefront, lane: usize, switch: usize, state: &[u16]) {
    for (cube, &far) in state.iter().enumerate() {
        wavefront.patch(lane, switch, cube, usize::from(far));
    }
}

/// Score of a design from the largest value and the sum of 1/λ over the metrics and from the cuts; lower is better.
fn score(objective: &GeneralObjective, worst: f64, total: f64, cuts: &[f64]) -> f64 {
    let least_cut = cuts.iter().copied().fold(f64::INFINITY, f64::min);
    worst.max(1.0 / least_cut) + objective.mean_share * total / objective.metrics.len() as f64
}

fn bound(worst: f64, cuts: &[f64]) -> f64 {
    cuts.iter().copied().fold(1.0 / worst, f64::min)
}

#[cfg(test)]
mod tests;
