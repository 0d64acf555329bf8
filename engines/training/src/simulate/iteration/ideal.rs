//! The ideal network: unlimited circuits, real NICs.

use super::{Rule, Simulator, Trace};
use crate::model::network::Network;
use crate::simulate::contention::Contention;
use crate::simulate::critical_path::{CriticalPath, critical_path};

/// Run on the ideal network, the reference of the normalised completion time (NCT).
#[derive(Clone, Debug)]
pub struct IdealRun {
    /// Schedule on the ideal network.
    pub trace: Trace,
    /// Critical path of this schedule.
    pub path: CriticalPath,
}

impl IdealRun {
    /// Ideal makespan, seconds.
    pub fn makespan(&self) -> f64 {
        self.trace.makespan
    }

    /// 1 + (makespan - ideal) / communication on the ideal critical path; `None` without communication.
    pub fn nct(&self, makespan: f64) -> Option<f64> {
        (self.path.comm > 0.0).then(|| 1.0 + (makespan - self.trace.makespan) / self.path.comm)
    }

    /// A difference of makespans in units of NCT; `None` without communication.
    pub fn in_nct(&self, seconds: f64) -> Option<f64> {
        (self.path.comm > 0.0).then(|| seconds / self.path.comm)
    }
}

/// Simulates an iteration on the ideal network.
pub fn ideal(network: &Network, contention: &Contention) -> IdealRun {
    let circuits = vec![1; network.links()];
    let mut trace = Trace::default();
    Simulator::new().run(network, contention, &circuits, Rule::Ideal, Some(&mut trace));
    let path = critical_path(network, &trace);
    IdealRun { trace, path }
}
