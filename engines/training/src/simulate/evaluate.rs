//! Evaluation of a circuit allocation, the single entry point of searches.
//!
//! If [`PathModel`] is exact at the given rates (see [`Evaluator::exact`]; for all presets but one), the makespan
//! follows from longest paths and the sinks of each link; otherwise the general simulator runs. For every scenario,
//! [`PathModel`] also gives a lower bound on the makespan of every schedule.

mod model;

use crate::model::network::{Network, NetworkError};
use crate::plan::RateControl;
use crate::scenario::instance::Instance;
use crate::simulate::contention::Contention;
use crate::simulate::iteration::{IdealRun, Rule, Simulator, Trace, ideal};
pub use model::{Lit, PathModel};

/// Rate rule for the comparison of circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rates {
    /// Max-min fair rates per flow.
    Fair,
    /// Level-first: the joint optimum on tail-exact scenarios, a good joint schedule elsewhere.
    Level,
    /// The shorter of level-first and fair, because a plan may also choose fair rates.
    Best,
}

/// An instance prepared for evaluation. Immutable and shared between threads; see [`Scratch`].
#[derive(Clone, Debug)]
pub struct Evaluator {
    /// The compiled instance.
    pub network: Network,
    /// Competition between the tasks.
    pub contention: Contention,
    /// The ideal network, the reference of NCT.
    pub ideal: IdealRun,
    /// The network, compiled for the computation of longest paths.
    pub model: PathModel,
}

/// Buffers of one thread, reused between evaluations.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) model: model::ModelScratch,
    simulator: Simulator,
}

impl Evaluator {
    /// Prepares an instance for evaluation.
    pub fn new(instance: &Instance) -> Result<Self, NetworkError> {
        let network = Network::new(instance)?;
        let contention = Contention::new(&network);
        let ideal = ideal(&network, &contention);
        let model = PathModel::new(&network, &contention);
        Ok(Self { network, contention, ideal, model })
    }

    /// Returns an evaluator of the same transfers with other numbers of ports for the real pods, in pod order.
    #[must_use]
    pub fn with_ports(&self, ports: &[u32]) -> Self {
        let mut changed = self.clone();
        let budget = &mut changed.network.budget;
        // Mirror pods have no port limit.
        let real: Vec<usize> = (0..budget.pods()).filter(|pod| budget.ports(*pod).is_some()).collect();
        for (pod, ports) in real.into_iter().zip(ports) {
            *budget = budget.with_ports(pod, *ports);
        }
        changed
    }

    /// Returns an evaluator for joint rates on circuits within the ports, without NIC limits that the ports imply.
    #[must_use]
    pub fn within_ports(&self) -> Self {
        let network = self.network.without_implied_nics();
        let contention = Contention::new(&network);
        let model = PathModel::new(&network, &contention);
        Self { network, contention, model, ideal: self.ideal.clone() }
    }

    /// Returns `true` if the makespan under these rates is exactly what [`PathModel`] computes.
    pub fn exact(&self, rates: Rates) -> bool {
        match rates {
            Rates::Fair => self.contention.sinks_only(),
            Rates::Level | Rates::Best => self.contention.tail_exact(),
        }
    }

    /// Returns the makespan of circuits `x` at the given rates, seconds.
    pub fn makespan(&self, x: &[u32], rates: Rates, scratch: &mut Scratch) -> f64 {
        // If the path model is exact, it gives the same makespan as the simulator in a fraction of the time.
        if self.exact(rates) {
            return self.model.makespan(x, rates, &mut scratch.model);
        }
        let mut run = |rule| scratch.simulator.run(&self.network, &self.contention, x, rule, None);
        match rates {
            Rates::Fair => run(Rule::Fair),
            Rates::Level => run(Rule::Level),
            Rates::Best => run(Rule::Level).min(run(Rule::Fair)),
        }
    }

    /// Returns the schedule of circuits `x` at the given rates.
    pub fn trace(&self, x: &[u32], rates: Rates, scratch: &mut Scratch) -> Trace {
        if self.exact(rates) {
            return self.model.trace(&self.network, x, rates, &mut scratch.model);
        }
        let mut run = |rule| {
            let mut trace = Trace::default();
            scratch.simulator.run(&self.network, &self.contention, x, rule, Some(&mut trace));
            trace
        };
        match rates {
            Rates::Fair => run(Rule::Fair),
            Rates::Level => run(Rule::Level),
            Rates::Best => {
                // Ties go to level-first.
                let (level, fair) = (run(Rule::Level), run(Rule::Fair));
                if fair.makespan < level.makespan { fair } else { level }
            }
        }
    }

    /// Lower bound on the makespan of every schedule on these circuits, or on fewer circuits, seconds. On tail-exact
    /// scenarios, this bound is the joint optimum.
    pub fn bound(&self, x: &[u32], scratch: &mut Scratch) -> f64 {
        // Level-first without contention bounds every rule from below.
        self.model.makespan(x, Rates::Level, &mut scratch.model)
    }
}

impl Rates {
    /// Returns the rate control of a plan made at these rates.
    pub const fn control(self) -> RateControl {
        match self {
            Self::Fair => RateControl::Fair,
            Self::Level | Self::Best => RateControl::Joint,
        }
    }
}

#[cfg(test)]
mod tests;
