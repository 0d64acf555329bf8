//! The demand of every layer, recomputed from the tokens of the trace.

use super::sizes::Sizes;
use super::{Findings, code};
use crate::plan::MoeResult;
use crate::scenario::MoeScenario;

/// Maximum relative difference of bytes that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// Bytes of one dispatch.
#[derive(Clone, Debug)]
pub(super) struct Dispatch {
    /// Bytes from server to server.
    pub(super) servers: Vec<Vec<f64>>,
    /// Bytes from GPU to GPU; GPUs are numbered across the region.
    gpus: Vec<Vec<f64>>,
    per_server: usize,
}

impl Dispatch {
    /// Returns, for every GPU, its server and the larger of two numbers: the bytes that the GPU sends to other servers,
    /// and the bytes that it receives from other servers.
    pub(super) fn by_server_gpu(&self) -> Vec<(usize, f64)> {
        let each = self.by_gpu().into_iter().enumerate();
        each.map(|(gpu, [sent, received])| (gpu / self.per_server, sent.max(received))).collect()
    }

    /// Returns, for every GPU, the bytes that it sends to other servers and the bytes that it receives from other
    /// servers.
    fn by_gpu(&self) -> Vec<[f64; 2]> {
        let far = |from: usize, to: usize| from / self.per_server != to / self.per_server;
        (0..self.gpus.len())
            .map(|gpu| {
                let others = || (0..self.gpus.len()).filter(move |other| far(gpu, *other));
                let sent = others().map(|other| self.gpus[gpu][other]).sum();
                [sent, others().map(|other| self.gpus[other][gpu]).sum()]
            })
            .collect()
    }

    /// Returns loads of rails in bytes, each with its server: first what every server sends over each rail, then what
    /// every GPU receives over its rail.
    pub(super) fn by_rail(&self) -> Vec<(usize, f64)> {
        let mut loads = Vec::new();
        for server in 0..self.servers.len() {
            for rail in 0..self.per_server {
                let mut sent = 0.0;
                for from in server * self.per_server..(server + 1) * self.per_server {
                    for other in (0..self.servers.len()).filter(|other| *other != server) {
                        let to = other * self.per_server + rail;
                        sent += self.gpus.get(from).and_then(|row| row.get(to)).copied().unwrap_or(0.0);
                    }
                }
                loads.push((server, sent));
            }
        }
        let received = self.by_gpu().into_iter().enumerate();
        loads.extend(received.map(|(gpu, [_, received])| (gpu / self.per_server, received)));
        loads
    }

    /// Returns, for every server, the bytes that it sends to other servers and the bytes that it receives from other
    /// servers.
    fn by_server(&self) -> Vec<[f64; 2]> {
        let n = self.servers.len();
        (0..n)
            .map(|server| {
                let others = || (0..n).filter(move |other| *other != server);
                let sent = others().map(|other| self.servers[server][other]).sum();
                [sent, others().map(|other| self.servers[other][server]).sum()]
            })
            .collect()
    }

    /// Returns, for every server, the larger of two numbers: the bytes that it sends to other servers, and the bytes
    /// that it receives from other servers.
    pub(super) fn busiest(&self) -> Vec<f64> {
        self.by_server().into_iter().map(|[sent, received]| sent.max(received)).collect()
    }

    /// Returns the maximum, over all servers, of the bytes that stay inside the server.
    pub(super) fn inside(&self) -> f64 {
        (0..self.servers.len()).map(|server| self.servers[server][server]).fold(0.0, f64::max)
    }
}

/// Returns the ranks that hold an expert in a layer; a rank with several replicas of the expert occurs once for each
/// replica.
fn homes(result: &MoeResult, layer: usize, (expert, experts): (usize, usize), ranks: usize) -> Vec<usize> {
    let placed = result.layers.get(layer).and_then(|layer| layer.placement.as_ref());
    // Without a placement, experts are on the ranks in order.
    let Some(placed) = placed else { return vec![expert * ranks / experts.max(1)] };
    let slots = &placed.physical_to_logical;
    let each = (slots.len() / ranks.max(1)).max(1);
    (0..slots.len()).filter(|slot| slots[*slot] as usize == expert).map(|slot| slot / each).collect()
}

/// Computes the demand of every layer of the planned iteration, with the experts where the plan puts them.
pub(super) fn of(scenario: &MoeScenario, sizes: &Sizes, result: &MoeResult) -> Vec<Dispatch> {
    let history = scenario.history(0);
    let (ranks, tp) = (history.ranks, sizes.model.tp as usize);
    let experts = history.experts;
    let count = ranks * tp;
    (0..history.layers)
        .map(|layer| {
            let mut gpus = vec![vec![0.0; count]; count];
            let mut servers = vec![vec![0.0; sizes.servers]; sizes.servers];
            let targets: Vec<Vec<usize>> =
                (0..experts).map(|expert| homes(result, layer, (expert, experts), ranks)).collect();
            for (at, tokens) in history.tokens(layer).iter().enumerate() {
                let (rank, targets) = (at / history.experts, &targets[at % history.experts]);
                let bytes =
                    tokens * 2.0 * f64::from(sizes.model.hidden) / tp as f64 / targets.len().max(1) as f64;
                for (target, slice) in targets.iter().flat_map(|to| (0..tp).map(move |slice| (to, slice))) {
                    let (from, to) = (rank * tp + slice, target * tp + slice);
                    gpus[from][to] += bytes;
                    servers[from / sizes.gpus][to / sizes.gpus] += bytes;
                }
            }
            Dispatch { servers, gpus, per_server: sizes.gpus }
        })
        .collect()
}

/// Checks that the plan has all layers of the stage, and that these layers carry the demand of the trace.
pub(super) fn compare(result: &MoeResult, demands: &[Dispatch], found: &mut Findings) {
    if result.layers.len() != demands.len() {
        let text =
            format!("the plan has {} layers, but the stage has {}", result.layers.len(), demands.len());
        found.add(code::LAYERS, text);
        return;
    }
    for (number, (layer, demand)) in result.layers.iter().zip(demands).enumerate() {
        if layer.layer as usize != number {
            found.add(code::LAYERS, format!("the layer at position {number} has the number {}", layer.layer));
        }
        let rows = &layer.demand_bytes;
        if rows.len() != demand.servers.len() || rows.iter().any(|row| row.len() != rows.len()) {
            let text = format!(
                "layer {number}: demand_bytes must have {0} rows of {0} entries",
                demand.servers.len()
            );
            found.add(code::DEMAND, text);
            continue;
        }
        for (from, (claimed, exact)) in rows.iter().zip(&demand.servers).enumerate() {
            for (to, (claimed, exact)) in claimed.iter().zip(exact).enumerate() {
                if (claimed - exact).abs() > ROUNDING * exact.abs() {
                    found.add(
                        code::DEMAND,
                        format!(
                            "layer {number}: server {from} sends {claimed} bytes to server {to}, but the trace gives {exact} bytes"
                        ),
                    );
                }
            }
        }
    }
}
