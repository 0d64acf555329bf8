//! Time of the exchange between servers, which is step 3 of an all-to-all, server by server (docs/methods/moe.md,
//! section 4).
//!
//! A server finishes when it has sent and received its last byte. Bytes of a pair beyond its circuits spill to the
//! packet switches, so the time of a row `D` of the demand is the smallest T with `sum_j max(0, D_j - C_j B T) <= E T`,
//! where C are the circuits, B is the rate of a circuit, and E is the rate of the working packet-switched NICs of the
//! server. This T is the root of a decreasing, convex, piecewise linear function. Newton's method from 0 reaches the
//! root exactly from below, with one step per linear piece that it crosses.

use super::circuits::CircuitCounts;
use crate::model::demand::LayerDemand;
use crate::model::rates::RegionRates;
use schemars::JsonSchema;
use serde::Serialize;

/// Use of packet switches by pairs with circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingRule {
    /// Pairs with circuits use only circuits: the rule of the paper.
    Strict,
    /// Bytes that circuits do not carry in time go over packet switches.
    Spill,
}

/// A demand, prepared for computing its exchange time on many sets of circuits.
#[derive(Clone, Debug)]
pub struct Exchange {
    servers: usize,
    /// Bytes from server to server without the diagonal, row by row, with the sender as the row.
    out: Vec<f64>,
    /// Bytes from server to server without the diagonal, row by row, with the receiver as the row.
    into: Vec<f64>,
    circuit: f64,
    /// Packet-switched rate of every server.
    eps: Vec<f64>,
    rule: RoutingRule,
}

impl Exchange {
    /// Prepares the exchange of a layer.
    pub fn of(demand: &LayerDemand, rates: &RegionRates, rule: RoutingRule) -> Self {
        let n = demand.servers;
        // Both directions are stored row by row, so rows of a receiver are as contiguous in memory as those of a
        // sender.
        let (mut out, mut into) = (vec![0.0; n * n], vec![0.0; n * n]);
        for a in 0..n {
            for b in (0..n).filter(|b| *b != a) {
                out[a * n + b] = demand.between(a, b);
                into[b * n + a] = demand.between(a, b);
            }
        }
        Self { servers: n, out, into, circuit: rates.circuit, eps: rates.eps.clone(), rule }
    }

    /// Returns the number of servers.
    pub const fn servers(&self) -> usize {
        self.servers
    }

    /// Returns the time of the exchange on circuits, ms; infinite if some pair has no path.
    pub fn time(&self, circuits: &CircuitCounts) -> f64 {
        // Servers are timed independently, so a move is timed only at the servers that it changes.
        (0..self.servers).map(|server| self.server_time(circuits, server)).fold(0.0, f64::max)
    }

    /// Returns the time after which a server has sent and received all its bytes, ms.
    pub fn server_time(&self, circuits: &CircuitCounts, server: usize) -> f64 {
        let row = circuits.row(server);
        let (out, into, eps) = (self.sent(server), self.received(server), self.eps[server]);
        match self.rule {
            // Sending and receiving do not share capacity.
            RoutingRule::Spill => self.spill_time(out, row, eps).max(self.spill_time(into, row, eps)),
            RoutingRule::Strict => self.strict_time(out, row, eps).max(self.strict_time(into, row, eps)),
        }
    }

    /// Returns `true` if a server has finished by `time`.
    pub fn is_done(&self, circuits: &CircuitCounts, server: usize, time: f64) -> bool {
        let row = circuits.row(server);
        // One pass without a Newton step: the condition of section 4 at a given time.
        let (carried, budget) = (self.circuit * time, self.eps[server] * time);
        let done = |bytes: &[f64]| {
            let mut left = 0.0;
            for (bytes, count) in bytes.iter().zip(row) {
                // Bytes that the circuits of the pair do not carry in that time.
                let over = bytes - f64::from(*count) * carried;
                if over > 0.0 {
                    // With strict routing, such bytes have no other path.
                    if *count > 0 && self.rule == RoutingRule::Strict {
                        return false;
                    }
                    left += over;
                }
            }
            left <= budget
        };
        done(self.sent(server)) && done(self.received(server))
    }

    /// Returns a lower bound on the time of the exchange, for any choice of circuits, ms: all NICs of a server count as
    /// one NIC.
    pub fn pooled_time(&self, ports: &[u32]) -> f64 {
        let time = |(server, ports): (usize, &u32)| {
            // Every byte of a server leaves over one of its NICs.
            let rate = f64::from(*ports) * self.circuit + self.eps[server];
            let bytes = self.sent(server).iter().sum::<f64>().max(self.received(server).iter().sum());
            // Zero bytes need no time, even without a NIC.
            if bytes > 0.0 { bytes / rate } else { 0.0 }
        };
        ports.iter().enumerate().map(time).fold(0.0, f64::max)
    }

    /// Returns the bytes that a server sends to each other server.
    pub fn sent(&self, server: usize) -> &[f64] {
        &self.out[server * self.servers..(server + 1) * self.servers]
    }

    /// Returns the bytes that a server receives from each other server.
    pub fn received(&self, server: usize) -> &[f64] {
        &self.into[server * self.servers..(server + 1) * self.servers]
    }

    /// Returns the rate of a circuit, bytes/ms.
    pub const fn circuit_rate(&self) -> f64 {
        self.circuit
    }

    /// Returns the rate of the working packet-switched NICs of a server, bytes/ms.
    pub fn eps_rate(&self, server: usize) -> f64 {
        self.eps[server]
    }

    /// Returns the rule for the use of packet switches by pairs with circuits.
    pub const fn rule(&self) -> RoutingRule {
        self.rule
    }

    fn spill_time(&self, bytes: &[f64], row: &[u16], eps: f64) -> f64 {
        // At time 0 all pairs with bytes spill.
        let mut time = 0.0;
        // Each step crosses at least one piece of the function, so this number of steps always suffices.
        for _ in 0..=row.len() {
            // The piece of the pairs that still spill: left = (E + C B) T.
            let (mut left, mut rate) = (0.0, eps);
            for (bytes, count) in bytes.iter().zip(row) {
                let carried = f64::from(*count) * self.circuit;
                if *bytes > carried * time {
                    left += bytes;
                    rate += carried;
                }
            }
            // No pair spills, so the circuits suffice.
            if left == 0.0 {
                break;
            }
            let next = left / rate;
            // Newton's method from below only increases the time, so a time that does not increase is the root.
            if next <= time {
                break;
            }
            time = next;
        }
        time
    }

    fn strict_time(&self, bytes: &[f64], row: &[u16], eps: f64) -> f64 {
        let (mut time, mut left) = (0.0_f64, 0.0);
        for (bytes, count) in bytes.iter().zip(row) {
            // Pairs with circuits wait for their circuits; all others share the packet switches.
            if *count > 0 {
                time = time.max(bytes / (f64::from(*count) * self.circuit));
            } else {
                left += bytes;
            }
        }
        if left > 0.0 { time.max(left / eps) } else { time }
    }
}
