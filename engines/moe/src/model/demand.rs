//! Demand of the all-to-alls of a layer: bytes between servers, and bytes that GPUs and rails send and receive
//! (docs/methods/moe-cost.md, section 1).

use crate::scenario::MoeScenario;
use crate::scenario::trace::GateHistory;
use std::ops::Range;

/// Returns the number of replicas of every expert, given the expert in every slot of all ranks.
pub fn copies(experts: usize, slots: &[u32]) -> Vec<u32> {
    let mut copies = vec![0; experts];
    for expert in slots {
        if let Some(count) = copies.get_mut(*expert as usize) {
            *count += 1;
        }
    }
    copies
}

/// Returns the experts of a rank if the experts are on the ranks in order, in blocks whose sizes differ by at most one.
pub fn block(experts: usize, ranks: usize, rank: usize) -> Range<usize> {
    let start = |rank: usize| (rank * experts).div_ceil(ranks.max(1));
    start(rank)..start(rank + 1)
}

/// Bytes of the dispatch of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerDemand {
    /// Number of servers.
    pub servers: usize,
    /// Bytes from server to server, row by row; bytes on the diagonal stay inside the server.
    pub bytes: Vec<f64>,
    /// Maximum bytes that one GPU of each server sends to, or receives from, other servers; empty if not needed.
    pub busiest_gpu: Vec<f64>,
    /// Maximum bytes that each server sends or receives over one rail, if all bytes for the n-th GPU of a server use
    /// rail n; empty if not needed.
    pub busiest_rail: Vec<f64>,
}

impl LayerDemand {
    /// Computes the demand of a layer in the last iteration of a history.
    pub fn of(scenario: &MoeScenario, history: &GateHistory, layer: usize) -> Self {
        let size = scenario.shape().token_bytes();
        let tokens = history.tokens(layer);
        Self::between_ranks(scenario, history.ranks, |from, to| {
            let block = block(history.experts, history.ranks, to);
            let (start, end) = (from * history.experts + block.start, from * history.experts + block.end);
            tokens.get(start..end).unwrap_or_default().iter().map(|count| count * size).sum()
        })
    }

    /// Computes the demand of a layer with experts in slots, rank by rank; replicas of an expert share its tokens
    /// evenly.
    pub fn placed(scenario: &MoeScenario, history: &GateHistory, layer: usize, slots: &[u32]) -> Self {
        let size = scenario.shape().token_bytes();
        let tokens = history.tokens(layer);
        let copies = copies(history.experts, slots);
        let per_rank = (slots.len() / history.ranks.max(1)).max(1);
        Self::between_ranks(scenario, history.ranks, |from, to| {
            let held = slots.get(to * per_rank..(to + 1) * per_rank).unwrap_or_default();
            let share = |expert: &u32| {
                let count = tokens.get(from * history.experts + *expert as usize).copied().unwrap_or(0.0);
                count * size / f64::from(copies[*expert as usize])
            };
            held.iter().map(share).sum()
        })
    }

    /// Computes the demand if all ranks send the same fractions of their tokens to the experts. This demand is a matrix
    /// of rank one.
    pub fn by_shares(scenario: &MoeScenario, shares: &[f64]) -> Self {
        let shape = scenario.shape();
        let all = shape.copies() * shape.token_bytes();
        let share = |expert: usize| shares.get(expert).copied().unwrap_or(0.0);
        let ranks = shape.ep as usize;
        Self::between_ranks(scenario, ranks, |_, to| {
            block(shares.len(), ranks, to).map(|expert| all * share(expert)).sum()
        })
    }

    /// Sums bytes from rank to rank over the ranks of a server. Slices of a token are sent between GPUs with equal
    /// tensor-parallel index.
    fn between_ranks(scenario: &MoeScenario, ranks: usize, bytes: impl Fn(usize, usize) -> f64) -> Self {
        let tp = scenario.shape().tp.max(1) as usize;
        let gpus = scenario.region.gpus_per_server.max(1) as usize;
        let servers = (ranks * tp).div_ceil(gpus).max(1);
        let mut demand = vec![0.0; servers * servers];
        let (mut sent, mut received) = (vec![0.0; servers * gpus], vec![0.0; servers * gpus]);
        let (mut rail_out, mut rail_in) = (vec![0.0; servers * gpus], vec![0.0; servers * gpus]);
        for from in 0..ranks {
            for to in 0..ranks {
                let all = bytes(from, to);
                for index in 0..tp {
                    let (source, target) = (from * tp + index, to * tp + index);
                    let (here, there) = (source / gpus, target / gpus);
                    let slice = all / tp as f64;
                    demand[here * servers + there] += slice;
                    if here != there {
                        sent[source] += slice;
                        received[target] += slice;
                        rail_out[here * gpus + target % gpus] += slice;
                        rail_in[target] += slice;
                    }
                }
            }
        }
        // By server, because servers differ in their working NICs.
        let most = |one: &[f64], other: &[f64]| -> Vec<f64> {
            let each = one.chunks(gpus).zip(other.chunks(gpus));
            each.map(|(one, other)| one.iter().chain(other).copied().fold(0.0, f64::max)).collect()
        };
        Self {
            servers,
            bytes: demand,
            busiest_gpu: most(&sent, &received),
            busiest_rail: most(&rail_out, &rail_in),
        }
    }

    /// Returns the bytes from the first server to the second.
    pub fn between(&self, from: usize, to: usize) -> f64 {
        self.bytes.get(from * self.servers + to).copied().unwrap_or(0.0)
    }

    /// Returns the bytes that a server sends to and receives from other servers.
    pub fn of_server(&self, server: usize) -> (f64, f64) {
        let others = || (0..self.servers).filter(move |other| *other != server);
        (
            others().map(|other| self.between(server, other)).sum(),
            others().map(|other| self.between(other, server)).sum(),
        )
    }

    /// Returns, for every server, the larger of two numbers: the bytes that it sends to other servers, and the bytes
    /// that it receives from other servers.
    pub fn leaving(&self) -> Vec<f64> {
        let most = |server| {
            let (sent, received): (f64, f64) = self.of_server(server);
            sent.max(received)
        };
        (0..self.servers).map(most).collect()
    }

    /// Returns the maximum number of bytes that stay inside one server.
    pub fn busiest_inside(&self) -> f64 {
        (0..self.servers).map(|server| self.between(server, server)).fold(0.0, f64::max)
    }

    /// Returns the matrix W: for each pair of servers, the bytes of both directions together, row by row.
    pub fn both_ways(&self) -> Vec<f64> {
        let n = self.servers;
        let mut sums = vec![0.0; n * n];
        for from in 0..n {
            for to in (0..n).filter(|to| *to != from) {
                sums[from * n + to] = self.bytes[from * n + to] + self.bytes[to * n + from];
            }
        }
        sums
    }

    /// Returns the bytes from server to server as rows, as files store them.
    pub fn rows(&self) -> Vec<Vec<f64>> {
        self.bytes.chunks(self.servers.max(1)).map(<[f64]>::to_vec).collect()
    }
}
