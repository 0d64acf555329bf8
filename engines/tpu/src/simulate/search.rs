//! Runs at one rate, and the search for the rate at which the network saturates.

use super::crossbar::CrossbarSimulator;
use super::engine::{Counts, Simulator};
use super::network::SimulatedPod;
use crate::model::pod::PORTS;
use crate::model::router::Allocator;
use crate::model::topology::Topology;
use crate::plan::{Routing, Simulation};
use crate::scenario::SimulationSettings;
use crate::series;
use lightbay_core::event::{EventBody, Phase, SeriesPoint};
use lightbay_core::method::MethodError;
use lightbay_core::problem::Problem;
use lightbay_core::watch::Watch;
use rayon::prelude::*;

/// Ratio of delivered to offered flits below which a run counts as saturated.
const DELIVERED_SHARE: f64 = 0.985;
/// Number of flit-hops between two stop checks: about 4 ms.
const HOPS_PER_LOOK: usize = 160_000;
/// Number of equally spaced rates that are simulated before the interval is narrowed.
const CURVE_POINTS: u32 = 10;
/// Highest simulated rate divided by the ideal rate, at which the most loaded link is always busy.
const BEYOND_IDEAL: f64 = 1.1;

/// Figures of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Generated flits per cycle and node: the offered rate.
    pub offered: f64,
    /// Flits that left the network within the window, per cycle and node.
    pub delivered: f64,
    /// Mean time from generation to the last flit's departure, of packets that left within the window.
    pub mean_latency_cycles: f64,
    /// `true` if fewer than 98.5 % of the flits generated in the window left, or if a source queue overflowed.
    pub saturated: bool,
}

/// Search for the saturation point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaturationSearch {
    /// Simulates every multiple of the rate step in ascending order, until the network saturates.
    Steps,
    /// Simulates ten rates up to 1.1 times the ideal rate, at which the most loaded link is always busy. Then
    /// repeatedly divides the interval between the last unsaturated rate and the next simulated rate into thirds.
    Bisection,
}

/// The state of one run, by allocator.
enum RouterRun<'a> {
    Ideal(Box<Simulator<'a>>),
    Crossbar(Box<CrossbarSimulator<'a>>),
}

impl RouterRun<'_> {
    fn reset_counts(&mut self) {
        match self {
            Self::Ideal(run) => run.reset_counts(),
            Self::Crossbar(run) => run.reset_counts(),
        }
    }

    /// Simulates a number of cycles; returns `true` if a source queue has overflowed since the last reset.
    fn run(&mut self, cycles: u32) -> bool {
        match self {
            Self::Ideal(run) => {
                run.run(cycles);
                run.overflowed()
            }
            Self::Crossbar(run) => {
                run.run(cycles);
                run.overflowed()
            }
        }
    }

    /// Cycles since the start, and counts since the last reset.
    fn figures(&self) -> (u32, Counts) {
        match self {
            Self::Ideal(run) => (run.now(), run.counts()),
            Self::Crossbar(run) => (run.now(), run.counts()),
        }
    }
}

/// Makes one run: warm-up, then the measured window. `None` if the run stops.
pub fn measure(net: &SimulatedPod, rate: f64, seed: u64, stop: &(dyn Fn() -> bool + Sync)) -> Option<Point> {
    let settings = net.settings();
    let stream = (rate / settings.rate_step).round() as u64;
    let mut simulator = match settings.allocator {
        Allocator::Ideal => RouterRun::Ideal(Box::new(Simulator::new(net, rate, seed, stream))),
        _ => RouterRun::Crossbar(Box::new(CrossbarSimulator::new(net, rate, seed, stream))),
    };
    let chunk = (HOPS_PER_LOOK / (PORTS * net.nodes())).max(1) as u32;
    // An overflow during the warm-up also counts as saturation.
    let mut overflowed = false;
    for cycles in [settings.warmup_cycles, settings.measure_cycles] {
        simulator.reset_counts();
        let mut left = cycles;
        while left > 0 && !overflowed {
            if stop() {
                return None;
            }
            let now = left.min(chunk);
            overflowed = simulator.run(now);
            left -= now;
        }
    }
    let (now, counts) = simulator.figures();
    let measured = f64::from(now.saturating_sub(settings.warmup_cycles)).max(1.0);
    let short = (counts.delivered as f64) < DELIVERED_SHARE * counts.offered as f64;
    Some(Point {
        offered: rate,
        delivered: counts.delivered as f64 / (measured * net.nodes() as f64),
        mean_latency_cycles: counts.latency_cycles as f64 / counts.packets.max(1) as f64,
        saturated: overflowed || short,
    })
}

/// Searches for the saturation point of a routed pod; also returns the curve of delivered rate and latency against the
/// offered rate.
///
/// # Errors
/// Settings or routes that cannot be simulated, or the reason to stop.
pub fn simulate(
    topology: &Topology,
    routing: &Routing,
    settings: &SimulationSettings,
    search: SaturationSearch,
    seed: u64,
    watch: &mut impl Watch,
) -> Result<Simulation, MethodError> {
    let net = SimulatedPod::new(topology, routing, settings).map_err(invalid)?;
    watch.report(EventBody::Phase(Phase {
        name: "simulate".to_owned(),
        detail: format!(
            "{} chips, {} virtual channels, {}, {} cycles",
            net.nodes(),
            settings.vc_count,
            settings.allocator.named(settings.speedup),
            u64::from(settings.warmup_cycles) + u64::from(settings.measure_cycles)
        ),
    }));
    let mut runs = Runs { net: &net, seed, points: Vec::new() };
    let last_good = match search {
        SaturationSearch::Steps => runs.step_up(watch)?,
        SaturationSearch::Bisection => runs.bisect(watch)?,
    };
    runs.points.sort_unstable_by_key(|&(step, _)| step);
    let curve = runs
        .points
        .iter()
        .map(|(_, point)| (point.offered, point.delivered, point.mean_latency_cycles))
        .collect();
    Ok(Simulation {
        saturation_flits_per_cycle_per_node: rate(&net, last_good),
        allocator: settings.allocator,
        speedup: settings.speedup,
        curve,
    })
}

fn invalid(problem: Problem) -> MethodError {
    MethodError::Invalid(problem.into())
}

/// Rate of `step` steps, without the rounding error of a product.
fn rate(net: &SimulatedPod, step: u32) -> f64 {
    let size = net.settings().rate_step;
    let per_unit = (1.0 / size).round();
    if (per_unit * size - 1.0).abs() < 1e-9 { f64::from(step) / per_unit } else { f64::from(step) * size }
}

/// Runs so far, by rate in steps.
struct Runs<'a> {
    net: &'a SimulatedPod,
    seed: u64,
    points: Vec<(u32, Point)>,
}

impl Runs<'_> {
    /// Makes runs at several rates in parallel; returns `true` for each rate at which the network saturates.
    fn all(&mut self, steps: &[u32], watch: &mut impl Watch) -> Result<Vec<bool>, MethodError> {
        watch.checkpoint()?;
        let (net, seed) = (self.net, self.seed);
        let stop = watch.stop_test();
        let found: Vec<Option<Point>> = watch.parallel(|| {
            steps.par_iter().map(|&step| measure(net, rate(net, step), seed, stop.as_ref())).collect()
        });
        watch.checkpoint()?;
        let mut saturated = Vec::with_capacity(steps.len());
        for (&step, point) in steps.iter().zip(found) {
            let Some(point) = point else {
                return Err(MethodError::Failed("the simulation was abandoned".to_owned()));
            };
            watch.count(1);
            for (name, value) in
                [(series::DELIVERED, point.delivered), (series::LATENCY_CYCLES, point.mean_latency_cycles)]
            {
                watch.report(EventBody::Series(SeriesPoint {
                    name: name.to_owned(),
                    x: point.offered,
                    y: value,
                }));
            }
            saturated.push(point.saturated);
            self.points.push((step, point));
        }
        Ok(saturated)
    }

    fn step_up(&mut self, watch: &mut impl Watch) -> Result<u32, MethodError> {
        let mut step = 0;
        // Rates are tried one at a time, because a run beyond saturation costs as much as all previous runs.
        while !self.all(&[step + 1], watch)?[0] {
            step += 1;
        }
        Ok(step)
    }

    fn bisect(&mut self, watch: &mut impl Watch) -> Result<u32, MethodError> {
        let top = (self.net.ideal_rate() * BEYOND_IDEAL / self.net.settings().rate_step).ceil() as u32;
        let mut steps: Vec<u32> = (1..=CURVE_POINTS)
            .map(|index| (u64::from(top.max(1)) * u64::from(index)).div_ceil(u64::from(CURVE_POINTS)) as u32)
            .collect();
        steps.dedup();
        let mut low = 0;
        let mut high;
        loop {
            let saturated = self.all(&steps, watch)?;
            if let Some(first) = saturated.iter().position(|&saturated| saturated) {
                high = steps[first];
                low = if first > 0 { steps[first - 1] } else { low };
                break;
            }
            // The ideal rate bounds the delivered rate, so the loop ends.
            let last = steps.last().copied().unwrap_or(1);
            low = last;
            steps = vec![last + last.div_ceil(4)];
        }
        while high - low > 1 {
            let gap = high - low;
            let mut inner = vec![low + gap.div_ceil(3), low + (2 * gap).div_ceil(3)];
            inner.retain(|&step| step > low && step < high);
            inner.dedup();
            let saturated = self.all(&inner, watch)?;
            for (&step, saturated) in inner.iter().zip(saturated) {
                if saturated {
                    high = step;
                    break;
                }
                low = step;
            }
        }
        Ok(low)
    }
}
