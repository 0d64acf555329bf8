//! Circuits that change within an iteration, as stored in a plan.

use crate::scenario::instance::Instance;
use schemars::JsonSchema;
use serde::Serialize;

/// Circuits of every link over one iteration. The iteration repeats, so before the first event the circuits of the last
/// event are set.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Phases {
    /// Number of instants at which circuits are set up, not counting the return to the initial circuits.
    pub switchings: u32,
    /// The changes, in time order.
    pub events: Vec<PhaseEvent>,
}

/// Circuits that are set from a given time on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseEvent {
    /// Time in the iteration, seconds.
    pub time_s: f64,
    /// Circuits of every link, in link order; 0 is allowed.
    pub circuits: Vec<u32>,
}

impl Phases {
    /// Builds the phases from events, and counts the instants at which circuits are set up, except for the return.
    pub fn new(events: Vec<PhaseEvent>) -> Self {
        let before = events.iter().cycle().skip(events.len().saturating_sub(1));
        let rises = |(old, new): (&PhaseEvent, &PhaseEvent)| {
            old.circuits.iter().zip(&new.circuits).any(|(old, new)| new > old)
        };
        let count = before.zip(&events).filter(|pair| rises(*pair)).count();
        Self { switchings: u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX), events }
    }

    /// Maximum number of circuits that each link has at a time, at least 1.
    pub fn peak_circuits(&self) -> Vec<u32> {
        let mut peak = Vec::new();
        for event in &self.events {
            peak.resize(event.circuits.len(), 1);
            for (peak, circuits) in peak.iter_mut().zip(&event.circuits) {
                *peak = u32::max(*peak, *circuits);
            }
        }
        peak
    }

    /// Maximum number of ports that each pod uses at a time, 0 for mirrors.
    pub fn peak_ports(&self, instance: &Instance) -> Vec<u64> {
        let mut peak = vec![0_u64; instance.pods.len()];
        for event in &self.events {
            for (peak, used) in peak.iter_mut().zip(event.ports(instance)) {
                *peak = (*peak).max(used);
            }
        }
        peak
    }
}

impl PhaseEvent {
    /// Ports that each pod uses, 0 for mirrors.
    pub fn ports(&self, instance: &Instance) -> Vec<u64> {
        let mut used = vec![0_u64; instance.pods.len()];
        for (link, circuits) in instance.links.iter().zip(&self.circuits) {
            for (pod, cost) in [(link.pod_a, link.ports_a), (link.pod_b, link.ports_b)] {
                if !instance.pods[pod.index()].mirror {
                    used[pod.index()] += u64::from(*circuits) * u64::from(cost);
                }
            }
        }
        used
    }
}
