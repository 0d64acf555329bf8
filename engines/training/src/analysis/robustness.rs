//! Robustness of a plan: compute that is not as fast as planned, and circuits or ports that fail.
//!
//! The circuits stay as planned, while the rates adapt. Every case is therefore simulated again, at scheduled (joint)
//! and at max-min fair rates. Compute times vary independently for every stage, micro-batch, direction and replica;
//! gradients are exchanged when the slowest replica is ready.
//!
//! In a job whose replicas are planned as one, a circuit fails in a single replica. The other replicas wait for this
//! replica, so the failure costs as much as the same failure in all replicas.

mod failures;
mod shake;

use crate::analysis::Setting;
use crate::scenario::TrainingScenario;
use crate::search::circuits::Proposal;
use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
pub use failures::{CircuitFailure, PortCase, PortFailure, Together};
use lightbay_core::method::MethodError;
use lightbay_core::random::Streams;
use lightbay_core::watch::{StopOnly, Watch};
use rand::RngExt;
use shake::Shaker;

/// Settings of the trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trials {
    /// Maximum relative change of every compute time, from 0 to 1.
    pub jitter: f64,
    /// Number of random samples of all compute times.
    pub draws: u32,
    /// Seed of the random samples.
    pub seed: u64,
    /// Factor on the compute times of one slow place. Each place is slow in turn; places are stages, or pods of an
    /// instance.
    pub slow_factor: f64,
    /// Maximum number of circuits that fail at the same time.
    pub failures: u32,
}

impl Default for Trials {
    fn default() -> Self {
        Self { jitter: 0.1, draws: 100, seed: 1, slow_factor: 1.1, failures: 2 }
    }
}

/// Makespan of one case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends {
    /// At scheduled rates, seconds.
    pub joint_s: f64,
    /// At max-min fair rates, seconds.
    pub fair_s: f64,
}

impl Ends {
    /// Makespans of circuits at scheduled and at max-min fair rates.
    fn of(evaluator: &Evaluator, x: &[u32], scratch: &mut Scratch) -> Self {
        Self {
            joint_s: evaluator.makespan(x, Rates::Best, scratch),
            fair_s: evaluator.makespan(x, Rates::Fair, scratch),
        }
    }

    fn max(self, other: Self) -> Self {
        Self { joint_s: self.joint_s.max(other.joint_s), fair_s: self.fair_s.max(other.fair_s) }
    }
}

/// Distribution of makespans over random samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean of the makespans, seconds.
    pub mean_s: f64,
    /// 95th percentile of the makespans, seconds.
    pub p95_s: f64,
    /// Longest makespan, seconds.
    pub worst_s: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let worst_s = *values.last()?;
        let at = (values.len() * 19).div_ceil(20).max(1) - 1;
        Some(Self { mean_s: values.iter().sum::<f64>() / values.len() as f64, p95_s: values[at], worst_s })
    }
}

/// A stage, or a pod of an instance, that computes more slowly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slow {
    /// Stage or pod, from 0.
    pub place: u32,
    /// Makespans if this stage or pod computes more slowly.
    pub ends: Ends,
}

/// Results of all trials of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Robustness {
    /// Settings of the trials.
    pub trials: Trials,
    /// Makespans if compute is as fast as planned and nothing fails.
    pub planned: Ends,
    /// Makespans with random compute times, at scheduled and at fair rates; `None` without samples.
    pub jitter: Option<(Spread, Spread)>,
    /// `true` if compute times are known by stage; in an instance, they are known by pod only.
    pub by_stage: bool,
    /// Results for each slow stage (or pod), in order of stages (or pods).
    pub slow: Vec<Slow>,
    /// Results for one failed circuit on each link, in link order.
    pub circuits: Vec<CircuitFailure>,
    /// Results for one failed port in each real pod, in pod order.
    pub ports: Vec<PortFailure>,
    /// Results for one, two and more circuits that fail together, up to the maximum number tried.
    pub together: Vec<Together>,
}

impl Robustness {
    /// Evaluates the circuits `x` of a plan of `scenario`; `setting` must be built from that scenario.
    ///
    /// # Errors
    /// The reason to stop; a scenario whose graph cannot be built.
    pub fn new<W: Watch<Proposal>>(
        scenario: &TrainingScenario,
        setting: &Setting,
        x: &[u32],
        trials: Trials,
        watch: &mut W,
    ) -> Result<Self, MethodError> {
        let watch = &mut StopOnly(watch);
        let evaluator = &setting.evaluator;
        let planned = Ends::of(evaluator, x, &mut Scratch::default());
        let mut shaker = Shaker::new(scenario, setting, x)?;
        let (mut joint, mut fair) = (Vec::new(), Vec::new());
        for draw in 0..trials.draws {
            let mut random = Streams::new(trials.seed).stream(u64::from(draw));
            let mut factor = |_place: u32| 1.0 + trials.jitter * (2.0 * random.random::<f64>() - 1.0);
            let ends = shaker.ends(true, &mut factor, watch)?;
            joint.push(ends.joint_s);
            fair.push(ends.fair_s);
        }
        let jitter = Spread::of(joint).zip(Spread::of(fair));
        let mut slow = Vec::new();
        for place in shaker.places() {
            let mut factor = |other: u32| if other == place { trials.slow_factor } else { 1.0 };
            slow.push(Slow { place, ends: shaker.ends(false, &mut factor, watch)? });
        }
        let (circuits, ports) = failures::single(evaluator, x, planned, watch)?;
        let mut together = Vec::new();
        for count in 1..=trials.failures {
            match failures::together(evaluator, x, count, watch)? {
                Some(cases) => together.push(cases),
                None => break,
            }
        }
        Ok(Self { trials, planned, jitter, by_stage: shaker.by_stage(), slow, circuits, ports, together })
    }
}

#[cfg(test)]
mod tests;
