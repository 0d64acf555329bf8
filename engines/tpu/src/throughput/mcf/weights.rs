//! Multiplicative weights: the interval without a solver. Every phase sends all demands along shortest paths, then sets
//! the length of each class by its total load so far: the more load, the longer. The interval is narrow on tori and a
//! few per cent wide on unstructured pods.

use super::columns::Interval;
use super::network::Network;
use super::sweep::{Sweep, sweep};
use super::{Flow, FlowSettings, SAFETY, Tree, tell};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Maximum number of phases of multiplicative weights: their error decreases with the square root of the number of
/// phases (1 / sqrt(600) is 4 %).
const PHASES: u32 = 600;

/// Lengths grow exponentially with the loads of all phases so far, relative to the largest load. The factor in the
/// exponent is this number times the square root of the number of phases.
const FORCE: f64 = 2.0;

/// Number of phases between two evaluations of the mean of all metrics so far; this mean often proves a tighter bound
/// than each single metric.
const MEANS: u32 = 10;

/// Lengths from the total loads of classes so far.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Total load of each class per unit of capacity, over all phases.
    carried: Vec<f64>,
    /// Relative capacity of each class.
    room: Vec<f64>,
    phases: u32,
}

impl Weights {
    /// Creates the initial state, without loads.
    pub fn new(classes: usize) -> Self {
        Self::with_room(vec![1.0; classes])
    }

    /// Creates the initial state for classes of different capacities.
    pub fn with_room(room: Vec<f64>) -> Self {
        Self { carried: vec![0.0; room.len()], room, phases: 0 }
    }

    /// Adds the loads of a phase; returns the lengths of the next phase.
    pub fn next(&mut self, swept: &Sweep) -> Vec<u32> {
        // Sums the loads relative to the capacity of each class.
        for loads in swept.loads.chunks(self.carried.len()) {
            for ((sum, load), room) in self.carried.iter_mut().zip(loads).zip(&self.room) {
                *sum += load / room;
            }
        }
        self.phases += 1;
        // Lengths grow exponentially with the total load of a class, relative to the most loaded one. The strength of
        // these weights grows with the square root of the number of phases (regret bound of multiplicative weights).
        let (force, fullest) = (FORCE * f64::from(self.phases).sqrt(), self.fullest());
        let weight = |load: &f64| (force * (load / fullest - 1.0)).exp();
        Network::whole(&self.carried.iter().map(weight).collect::<Vec<f64>>())
    }

    /// Size of the flow that is the mean of all phases.
    pub fn value(&self, network: &Network) -> f64 {
        // The mean of all phases is a flow, and its most loaded class determines its size.
        f64::from(self.phases) * network.capacity() / self.fullest() * (1.0 - SAFETY)
    }

    /// Total load of the most loaded class, over all phases.
    fn fullest(&self) -> f64 {
        self.carried.iter().copied().fold(0.0, f64::max)
    }
}

/// Narrows the interval that contains the throughput, by one sweep per phase, until its relative width is at most the
/// gap of the settings, or the last phase has run.
///
/// # Errors
/// The reason to stop; the interval so far is kept.
pub fn narrow<W: Watch>(
    network: &Network,
    settings: &FlowSettings,
    start: &[f64],
    watch: &mut W,
    known: &mut Option<Interval>,
) -> Result<(), MethodError> {
    let mut phases = Phases { trees: Vec::new(), best: 0 };
    let outcome = phases.run(network, settings, start, watch, known);
    if let Some(interval) = known.as_mut().filter(|_| phases.best > 0) {
        let shares = vec![1.0 / phases.best as f64; network.groups()];
        phases.trees.truncate(phases.best);
        let trees =
            phases.trees.into_iter().map(|lengths| Tree { lengths, shares: shares.clone() }).collect();
        interval.flow = Flow { value: interval.lower, trees };
    }
    outcome
}

/// The mean of shortest path flows.
pub fn mean_flow(value: f64, trees: &[Vec<u32>], groups: usize) -> Flow {
    let shares = vec![1.0 / trees.len() as f64; groups];
    let tree = |lengths: &Vec<u32>| Tree { lengths: lengths.clone(), shares: shares.clone() };
    Flow { value, trees: trees.iter().map(tree).collect() }
}

struct Phases {
    /// Lengths of the classes in each phase.
    trees: Vec<Vec<u32>>,
    /// Number of phases whose mean is the flow of the lower end; 0 if the lower end comes from another source.
    best: usize,
}

impl Phases {
    fn run<W: Watch>(
        &mut self,
        network: &Network,
        settings: &FlowSettings,
        start: &[f64],
        watch: &mut W,
        known: &mut Option<Interval>,
    ) -> Result<(), MethodError> {
        let mut weights = Weights::new(network.class_count());
        let mut mean = vec![0.0; network.class_count()];
        let mut lengths = Network::whole(start);
        let phases = PHASES.min(settings.max_rounds.max(1));
        // One phase: a sweep at the current lengths gives a metric bound and a flow; the loads of the flow give the
        // next lengths.
        for phase in 1..=phases {
            let swept = sweep(network, &lengths, watch)?;
            let interval = known.get_or_insert_with(Interval::unknown);
            if !interval.metric(network, &lengths, swept.distance) {
                return Ok(());
            }
            let next = weights.next(&swept);
            // The lengths are normalised, so that every metric has equal weight in the mean.
            let sum: f64 = lengths.iter().map(|length| f64::from(*length)).sum();
            for (mean, length) in mean.iter_mut().zip(&lengths) {
                *mean += f64::from(*length) / sum;
            }
            self.trees.push(std::mem::replace(&mut lengths, next));
            let value = weights.value(network);
            if value > interval.lower {
                interval.lower = value;
                // The flow of the lower end is the mean of the phases so far.
                self.best = self.trees.len();
            }
            // The mean of all metrics is often a better bound than any single one.
            if phase % MEANS == 0 {
                let mean = Network::whole(&mean);
                let distance = sweep(network, &mean, watch)?.distance;
                interval.metric(network, &mean, distance);
            }
            let narrow = interval.gap() <= settings.gap;
            if narrow || phase == phases || phase % MEANS == 0 {
                tell(watch, interval.lower, interval.upper);
            }
            if narrow {
                break;
            }
        }
        Ok(())
    }
}
