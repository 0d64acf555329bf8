//! Annealing of voltages against several metrics at once (docs/methods/tpu.md, section 5, step 2).
//!
//! Chains run side by side in the lanes of a few wavefronts and exchange their states at fixed steps, so the
//! result depends on the seed and the settings, never on the threads.

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

/// Score of designs, smaller is better: the largest of the times 1/λ by several bounds, and a share of their mean.
#[derive(Clone, Debug)]
pub struct Objective {
    /// Numbers the cubes.
    pub group: Group,
    /// Voltages that move together.
    pub ties: Ties,
    /// Lengths of links that every design is measured with; at least one.
    pub metrics: Vec<Lengths>,
    /// Bounds that are linear in the voltages.
    pub cuts: Vec<LinearCut>,
    /// Share of the mean of 1/λ over the metrics that is added to the largest.
    pub mean_share: f64,
}

/// Length and temperatures of annealing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnealSettings {
    /// Chains side by side.
    pub chains: u32,
    /// Evaluations of each chain.
    pub steps: u64,
    /// Number of exchanges of states between the chains.
    pub exchanges: u32,
    /// First temperature, as a share of the score at the start.
    pub hot: f64,
    /// Last temperature, likewise.
    pub cold: f64,
    /// Share of moves that exchange two voltages instead of drawing a new one.
    pub swaps: f64,
}

impl Default for AnnealSettings {
    fn default() -> Self {
        // Temperatures are shares of the first score, so they suit every size.
        Self { chains: 4, steps: 20_000, exchanges: 16, hot: 0.002, cold: 0.000_04, swaps: 0.3 }
    }
}

/// A symmetric pod and what the objective says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// One group element for each switch.
    pub voltage: [u16; SWITCHES],
    /// Less is better: about 1/λ by the worst bound.
    pub score: f64,
    /// The least bound on λ of the objective.
    pub bound: f64,
}

/// Progress of the chains, between two slices of work.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Evaluations of each chain so far.
    pub step: u64,
    /// The best design so far.
    pub best: Design,
}

/// Words of wavefronts that a chain works through between two stop checks: about a millisecond. Shorter slices would
/// spend their time on the watch; longer ones would miss the 5 ms between two checkpoints.
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
    // A crew shares one wavefront: as many chains as fill a vector are measured for the price of one.
    let mut crews: Vec<Crew<'_>> = (0..chains)
        .step_by(together)
        .map(|first| {
            // Streams by number of the chain: lanes of any crew draw the same numbers.
            let streams = (first..chains.min(first + together)).map(|chain| (chain, stream(chain as u64)));
            Crew::new(objective, streams.collect(), starts)
        })
        .collect();
    watch.parallel(|| crews.par_iter_mut().for_each(Crew::start));
    // Temperatures are relative to the best first score, so that settings suit every size.
    let scale = crews.iter().map(Crew::least_score).fold(f64::INFINITY, f64::min);
    // Ticks of a sweep: about ten times the longest link, a little more than the diameter.
    let ticks = 10 * objective.metrics.iter().map(|metric| u64::from(metric.longest())).sum::<u64>();
    let slice = (SLICE_WORDS / (6 * 64 * (cubes * together) as u64 * ticks)).max(1);
    let epoch = settings.steps.div_ceil(u64::from(settings.exchanges.max(1))).max(1);
    let stop = watch.stop_test();
    let mut step = 0;
    // Simulated annealing with a geometric schedule; slices end at exchanges, so that the result depends on steps
    // alone.
    while step < settings.steps {
        // A slice never crosses an exchange.
        let until = (step + slice).min(settings.steps).min((step / epoch + 1) * epoch);
        let (stop, from) = (&stop, step);
        watch.parallel(|| {
            crews.par_iter_mut().for_each(|crew| {
                for at in from..until {
                    // Checked at every step of the slice.
                    if stop() {
                        return;
                    }
                    // Share of the whole run that is done: the temperature falls from hot to cold geometrically.
                    let through = at as f64 / settings.steps as f64;
                    let temperature = scale * settings.hot * (settings.cold / settings.hot).powf(through);
                    crew.step(temperature, settings.swaps);
                }
            });
        });
        watch.count((until - step) * chains as u64);
        step = until;
        // Chains that fell behind continue from the leaders: most of the work goes where it pays.
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

/// The worse quarter of the chains continues from the states of the better quarter.
fn exchange(crews: &mut [Crew<'_>]) {
    let mut ranks: Vec<(f64, usize, usize)> = crews
        .iter()
        .enumerate()
        .flat_map(|(crew, chains)| chains.scores().enumerate().map(move |(lane, score)| (score, crew, lane)))
        .collect();
    // Ties by crew and lane: the exchange is deterministic.
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    // At most half of the chains move, so that no chain is source and target at once.
    for quarter in 0..ranks.len().div_ceil(4).min(ranks.len() / 2) {
        // The best quarter gives, the worst takes.
        let (_, from, from_lane) = ranks[quarter];
        let (_, to, to_lane) = ranks[ranks.len() - 1 - quarter];
        let state = crews[from].state(from_lane);
        crews[to].take_over(to_lane, state);
    }
}

#[cfg(test)]
mod tests;
