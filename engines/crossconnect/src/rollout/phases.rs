//! The order of phases in which all GPUs of all pods exchange data (docs/methods/crossconnect.md, section 10).
//!
//! P pods of N GPUs; GPU n of pod p is number p·N + n. In phase t = 1..N·P every GPU sends to one GPU. Goal: in every
//! phase, every GPU receives from exactly one GPU and few flows run between two pods; over all phases, every ordered
//! pair occurs once.

use crate::plan::{PhaseOrder, PhaseRule};

/// Maximum number of GPUs of an order. Each phase lists a destination for every GPU, and there are as many phases as
/// GPUs. An order of n GPUs therefore has n² entries.
pub const MAX_GPUS: u32 = 2048;

/// Returns the GPU that GPU `n` of pod `p` sends to in phase `t` = 1..N·P, Op(p, n, t).
///
/// `printed`: (p(N+1) + N·n + t − 1) mod N·P. This rule gives a permutation only if P = N, or if N = 1 and P is odd.
/// `corrected`, with a = (t−1) div N and b = (t−1) mod N: N·((p + n + a) mod P) + ((n + b) mod N). For given a and b,
/// the receiver (q, m) determines n = m − b and then p = q − a − n, so the rule gives a permutation. For the N GPUs of
/// a pod, (p + n + a) mod P takes every value floor(N/P) or ceil(N/P) times, so flows are spread evenly over the pods.
/// And (a, b) takes all P·N shifts, so every ordered pair occurs once.
pub const fn destination(rule: PhaseRule, pods: u64, gpus: u64, (p, n): (u64, u64), t: u64) -> u64 {
    match rule {
        PhaseRule::Printed => (p * (gpus + 1) + gpus * n + t - 1) % (gpus * pods),
        PhaseRule::Corrected => {
            let (a, b) = ((t - 1) / gpus, (t - 1) % gpus);
            gpus * ((p + n + a) % pods) + (n + b) % gpus
        }
    }
}

/// Returns the destinations of all GPUs in phase `t` = 1..N·P.
pub fn phase(rule: PhaseRule, pods: u32, gpus_per_pod: u32, t: u32) -> Vec<u32> {
    let (pods, gpus) = (u64::from(pods), u64::from(gpus_per_pod));
    let senders = (0..pods).flat_map(|p| (0..gpus).map(move |n| (p, n)));
    senders.map(|sender| destination(rule, pods, gpus, sender, t.into()) as u32).collect()
}

/// Counters for the figures of a phase.
#[derive(Clone, Debug)]
pub struct Counter {
    pods: usize,
    gpus: usize,
    flows: Vec<u32>,
    received: Vec<u32>,
}

impl Counter {
    /// Creates counters for phases of this size.
    pub fn new(pods: u32, gpus_per_pod: u32) -> Self {
        let (pods, gpus) = (pods as usize, gpus_per_pod as usize);
        Self { pods, gpus, flows: vec![0; pods * pods], received: vec![0; pods * gpus] }
    }

    /// Returns the maximum number of flows from one pod to another or within a pod, and `true` if some GPU receives
    /// from more than one other GPU.
    pub fn count(&mut self, phase: &[u32]) -> (u32, bool) {
        // Counters are reused from phase to phase.
        self.flows.fill(0);
        self.received.fill(0);
        let (mut most, mut contended) = (0, false);
        for (from, &to) in phase.iter().enumerate() {
            let to = to as usize;
            // Data that a GPU keeps does not count as a flow.
            if from != to {
                self.received[to] += 1;
                contended |= self.received[to] > 1;
            }
            let flows = &mut self.flows[from / self.gpus * self.pods + to / self.gpus];
            *flows += 1;
            most = most.max(*flows);
        }
        (most, contended)
    }
}

/// Creates an order without phases; the caller appends them.
pub const fn empty(rule: PhaseRule, gpus_per_pod: u32) -> PhaseOrder {
    PhaseOrder { rule, gpus_per_pod, phases: Vec::new(), max_flows_per_pod_pair: 0, contended_phases: 0 }
}

#[cfg(test)]
mod tests;
