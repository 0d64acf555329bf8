//! Simulated annealing of voltages with several metrics at once (docs/methods/tpu-search.md, section 5, step 2).
//!
//! Chains run in parallel: several chains share one bit-parallel breadth-first search (a wavefront), one in each lane.
//! Chains exchange their states at fixed steps, so the result depends only on the seed and the settings, not on the
//! threads.

use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::throughput::metrics::Lengths;
use crate::throughput::metrics::cuts::LinearCut;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use rayon::prelude::*;

mod chain;
pub mod families;
pub mod general;
mod meter;
pub mod ties;
pub mod tournament;

use chain::Crew;
use meter::Meter;
use ties::Ties;

/// Score of designs (smaller is better): each metric and each cut gives a bound λ on the throughput. The score is the
/// largest 1/λ plus a fraction of the mean of 1/λ over the metrics.
#[derive(Clone, Debug)]
pub struct Objective {
    /// Group by whose elements the cubes are numbered.
    pub group: Group,
    /// Voltages that move together.
    pub ties: Ties,
    /// Link lengths that define the metrics; at least one.
    pub metrics: Vec<Lengths>,
    /// Bounds that are linear in the voltages.
    pub cuts: Vec<LinearCut>,
    /// Weight of the mean of 1/λ over the metrics, which is added to the largest 1/λ.
    pub mean_share: f64,
}

/// Length and temperatures of annealing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnealSettings {
    /// Number of parallel chains.
    pub chains: u32,
    /// Number of evaluations of each chain.
    pub steps: u64,
    /// Number of exchanges of states between the chains.
    pub exchanges: u32,
    /// Initial temperature, as a fraction of the best initial score.
    pub hot: f64,
    /// Final temperature, as a fraction of the best initial score.
    pub cold: f64,
    /// Fraction of moves that exchange two voltages instead of drawing a new voltage.
    pub swaps: f64,
}

impl Default for AnnealSettings {
    fn default() -> Self {
        // Temperatures are fractions of the best initial score, so they fit every size.
        Self { chains: 4, steps: 20_000, exchanges: 16, hot: 0.002, cold: 0.000_04, swaps: 0.3 }
    }
}

/// A symmetric pod and its value of the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// One group element for each switch.
    pub voltage: [u16; SWITCHES],
    /// Score (smaller is better): about 1/λ by the worst bound.
    pub score: f64,
    /// The smallest bound on λ among the metrics and cuts.
    pub bound: f64,
}

/// Progress of the chains, between two slices of work.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of evaluations of each chain so far.
    pub step: u64,
    /// The best design so far.
    pub best: Design,
}

/// Number of wavefront words that a chain processes between two stop checks: about a millisecond. Shorter slices would
/// spend their time on stop checks; longer slices would exceed the 5 ms between two checkpoints.
const SLICE_WORDS: u64 = 2_000_000;

/// Anneals from `starts`, one for each chain in turn (random designs if there are none), and returns the best
/// design of every chain, best first.
///
/// # Errors
/// The error of the watch.
pub fn anneal<W: Watch>(
    objective: &Objective,
    settings: &AnnealSettings,
    starts: &[[u16; SWITCHES]],
    stream: impl Fn(u64) -> Stream,
    watch: &mut W,
    mut progress: impl FnMut(&mut W, &Progress),
) -> Result<Vec<Design>, MethodError> {
    let cubes = objective.group.order();
    let (chains, together) = (settings.chains.max(1) as usize, Meter::pods(cubes));
    // A crew shares one wavefront: as many chains as fill a vector are measured for the cost of one.
    let mut crews: Vec<Crew<'_>> = (0..chains)
        .step_by(together)
        .map(|first| {
            // Each chain has the stream of its number, so its random numbers do not depend on the size of the crews.
            let streams = (first..chains.min(first + together)).map(|chain| (chain, stream(chain as u64)));
            Crew::new(objective, streams.collect(), starts)
        })
        .collect();
    watch.parallel(|| crews.par_iter_mut().for_each(Crew::start));
    // Temperatures are relative to the best initial score, so that settings fit every size.
    let scale = crews.iter().map(Crew::least_score).fold(f64::INFINITY, f64::min);
    // Number of ticks of one sweep with every metric: per metric about ten times its longest link, slightly more than
    // the diameter.
    let ticks = 10 * objective.metrics.iter().map(|metric| u64::from(metric.longest())).sum::<u64>();
    let slice = (SLICE_WORDS / (6 * 64 * (cubes * together) as u64 * ticks)).max(1);
    let epoch = settings.steps.div_ceil(u64::from(settings.exchanges.max(1))).max(1);
    let stop = watch.stop_test();
    let mut step = 0;
    // Simulated annealing with a geometric schedule; slices end at exchanges, so that the result depends only on the
    // steps.
    while step < settings.steps {
        // A slice never crosses an exchange.
        let until = (step + slice).min(settings.steps).min((step / epoch + 1) * epoch);
        let (stop, from) = (&stop, step);
        watch.parallel(|| {
            crews.par_iter_mut().for_each(|crew| {
                for at in from..until {
                    // Every step of the slice checks whether to stop.
                    if stop() {
                        return;
                    }
                    // The temperature decreases geometrically with the completed fraction of the run.
                    let through = at as f64 / settings.steps as f64;
                    let temperature = scale * settings.hot * (settings.cold / settings.hot).powf(through);
                    crew.step(temperature, settings.swaps);
                }
            });
        });
        watch.count((until - step) * chains as u64);
        step = until;
        // The worst chains continue from the states of the best ones, so that most of the work is spent on promising
        // states.
        if step % epoch == 0 && step < settings.steps {
            exchange(&mut crews);
        }
        watch.checkpoint()?;
        if let Some(best) = best(&crews) {
            // The best so far, for a screen or an early stop.
            progress(watch, &Progress { step, best });
        }
    }
    // Best first; equal scores in the order of their voltages, so that the order does not depend on the chains.
    let mut designs: Vec<Design> = crews.iter().flat_map(Crew::best).collect();
    designs.sort_by(|a, b| a.score.total_cmp(&b.score).then(a.voltage.cmp(&b.voltage)));
    Ok(designs)
}

fn best(crews: &[Crew<'_>]) -> Option<Design> {
    crews.iter().flat_map(Crew::best).min_by(|a, b| a.score.total_cmp(&b.score))
}

/// Sets the worst quarter of the chains to the states of the best quarter.
fn exchange(crews: &mut [Crew<'_>]) {
    let mut ranks: Vec<(f64, usize, usize)> = crews
        .iter()
        .enumerate()
        .flat_map(|(crew, chains)| chains.scores().enumerate().map(move |(lane, score)| (score, crew, lane)))
        .collect();
    // Equal scores are ordered by crew and lane, so that the exchange is deterministic.
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    // At most half of the chains move, so that no chain is source and target at once.
    for quarter in 0..ranks.len().div_ceil(4).min(ranks.len() / 2) {
        // The worst quarter gets the states of the best quarter.
        let (_, from, from_lane) = ranks[quarter];
        let (_, to, to_lane) = ranks[ranks.len() - 1 - quarter];
        let state = crews[from].state(from_lane);
        crews[to].take_over(to_lane, state);
    }
}

#[cfg(test)]
mod tests;
