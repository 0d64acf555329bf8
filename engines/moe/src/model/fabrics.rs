//! All-to-alls on networks without regional circuits: the baselines of the paper and the bound
//! (docs/methods/moe-cost.md, sections 4 and 5).

use super::circulant::circulant;
use super::demand::LayerDemand;
use super::rates::RegionRates;
use crate::plan::{AllToAll, FabricKind};

/// Number of ports of a server that TopoOpt gives to expert parallelism; the remaining ports serve data and pipeline
/// parallelism.
pub const TOPOOPT_DEGREE: u32 = 6;

/// Returns the times of the dispatch of a layer on a network without regional circuits; `None` for networks with
/// regional circuits, and if some pair of servers has no path.
pub fn all_to_all(fabric: FabricKind, demand: &LayerDemand, rates: &RegionRates) -> Option<AllToAll> {
    let local_ms = demand.busiest_inside() / (f64::from(rates.gpus) * rates.nvlink);
    // The GPUs of a server share its working NICs evenly.
    let per_gpu = |server| rates.nics(server) * rates.circuit / f64::from(rates.gpus);
    let last = |bytes: &[f64]| rates.last(bytes, per_gpu);
    let most = |bytes: &[f64]| bytes.iter().copied().fold(0.0, f64::max);
    let steps = match fabric {
        FabricKind::Mfabric => return None,
        FabricKind::FatTree => AllToAll { step3_eps_ms: last(&demand.busiest_gpu), ..AllToAll::default() },
        FabricKind::Rail => AllToAll {
            step3_eps_ms: last(&demand.busiest_rail),
            // One hop inside the server to the GPU of the rail.
            gather_ms: most(&demand.busiest_rail) / rates.nvlink,
            ..AllToAll::default()
        },
        FabricKind::Topoopt => {
            // A failed NIC is taken from the ports for gradients, so the circuits stay.
            let degree = TOPOOPT_DEGREE.min(rates.built);
            let busiest = forwarded(demand, degree)?;
            let hop = busiest / rates.nvlink;
            AllToAll {
                step3_ocs_ms: busiest / rates.circuit,
                gather_ms: hop,
                scatter_ms: hop,
                ..AllToAll::default()
            }
        }
        FabricKind::Pooled => {
            // On a fat-tree no byte takes a hop inside a server, so the bound over all networks includes no hops.
            let exchange_ms = rates.last(&demand.leaving(), |server| rates.fastest(server));
            AllToAll { step3_eps_ms: exchange_ms, ..AllToAll::default() }
        }
    };
    Some(AllToAll { local_ms, ..steps }.totalled(rates.chunks))
}

/// Number of bisection steps; more would not improve the result in double precision.
const HALVINGS: usize = 60;

/// Returns a lower bound on the time in which one server exchanges `bytes` with the other servers, ms; `least_ms` is a
/// known lower bound. A circuit serves one other server, so with few ports most servers depend on the packet switches.
/// `None` if there are no packet switches and the ports do not suffice.
///
/// In time T, one circuit of rate B carries at most `T B` bytes. The bytes to each other server are therefore split
/// into pieces of at most `T B`, and `k` circuits carry the `k` largest pieces.
fn least_of_server(server: usize, bytes: &[f64], rates: &RegionRates, least_ms: f64) -> Option<f64> {
    let ports = rates.optical[server] as usize;
    let total: f64 = bytes.iter().sum();
    let is_done = |time: f64| {
        let piece = time * rates.circuit;
        let whole = |bytes: &f64| ((bytes / piece).floor() as usize).min(ports);
        let full = bytes.iter().map(whole).sum::<usize>().min(ports);
        let mut rests: Vec<f64> = bytes.iter().map(|bytes| bytes - whole(bytes) as f64 * piece).collect();
        rests.sort_by(|a, b| b.total_cmp(a));
        let carried = full as f64 * piece + rests.iter().take(ports - full).sum::<f64>();
        total - carried <= rates.eps[server] * time
    };
    if total == 0.0 || is_done(least_ms) {
        return Some(least_ms);
    }
    let mut late = (0..1000).scan(least_ms, |time, _| {
        *time *= 2.0;
        Some(*time)
    });
    let (mut low, mut high) = (least_ms, late.find(|time| is_done(*time))?);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_done(middle) { high = middle } else { low = middle }
    }
    Some(low)
}

/// Returns a lower bound on the time of the exchange between servers, for any choice of the circuits of the region, ms.
fn least_exchange_ms(demand: &LayerDemand, rates: &RegionRates) -> f64 {
    let n = demand.servers;
    let start = rates.last(&demand.leaving(), |server| rates.regional(server));
    if !start.is_finite() || start == 0.0 {
        return start;
    }
    let mut least = start;
    for server in 0..n {
        let others = || (0..n).filter(move |other| *other != server);
        let sent: Vec<f64> = others().map(|other| demand.between(server, other)).collect();
        let received: Vec<f64> = others().map(|other| demand.between(other, server)).collect();
        for bytes in [sent, received] {
            least = least_of_server(server, &bytes, rates, least).unwrap_or(f64::INFINITY);
        }
    }
    least
}

/// Returns a lower bound on the time of the dispatch of a layer, for any choice of the circuits of the region, ms. Each
/// server uses all its NICs, has circuits to at most as many servers as it has ports, and needs the hops to and from
/// the GPUs. `exchange_ms` is a tighter known lower bound on the exchange between servers, if there is one.
pub fn least_on_circuits_ms(demand: &LayerDemand, rates: &RegionRates, exchange_ms: f64) -> f64 {
    let leaving = demand.leaving();
    if leaving.iter().all(|bytes| *bytes == 0.0) {
        return demand.busiest_inside() / (f64::from(rates.gpus) * rates.nvlink);
    }
    let hop = rates.last(&leaving, |server| rates.nics(server)) / rates.nvlink;
    let steps = AllToAll {
        step3_ocs_ms: exchange_ms.max(least_exchange_ms(demand, rates)),
        gather_ms: hop,
        scatter_ms: hop,
        local_ms: demand.busiest_inside() / (f64::from(rates.gpus) * rates.nvlink),
        ..AllToAll::default()
    };
    steps.totalled(rates.chunks).all_to_all_ms
}

/// Returns the bytes on the busiest circuit of a circulant, in which servers forward the bytes of pairs without a
/// circuit: over two hops if possible, in proportion to the smaller of the numbers of circuits of both hops, otherwise
/// over shortest paths. `None` if some pair has no path.
fn forwarded(demand: &LayerDemand, degree: u32) -> Option<f64> {
    let n = demand.servers;
    let counts = circulant(n, degree);
    let hops = distances(n, &counts);
    let mut loads = vec![0.0; n * n];
    for from in 0..n {
        for to in (0..n).filter(|to| *to != from) {
            let bytes = demand.between(from, to);
            if bytes > 0.0 {
                send(n, &counts, &hops, &mut loads, (from, to), bytes)?;
            }
        }
    }
    let busy = loads.iter().zip(&counts).filter(|(_, count)| **count > 0);
    Some(busy.map(|(load, count)| load / f64::from(*count)).fold(0.0, f64::max))
}

/// Adds the bytes of a pair to the loads of all circuits on its path; returns `None` if the pair has no path.
fn send(
    n: usize,
    counts: &[u16],
    hops: &[u32],
    loads: &mut [f64],
    (from, to): (usize, usize),
    bytes: f64,
) -> Option<()> {
    let far = hops[from * n + to];
    if far == u32::MAX {
        return None;
    }
    if far <= 1 {
        loads[from * n + to] += bytes;
        return Some(());
    }
    let weight = |by: usize| {
        let first = counts[from * n + by];
        let closer = first > 0 && hops[by * n + to] + 1 == far;
        let second = if far == 2 { counts[by * n + to] } else { first };
        if closer { f64::from(first.min(second)) } else { 0.0 }
    };
    let sum: f64 = (0..n).map(weight).sum();
    for by in 0..n {
        let share = weight(by) / sum;
        if share > 0.0 {
            loads[from * n + by] += bytes * share;
            send(n, counts, hops, loads, (by, to), bytes * share)?;
        }
    }
    Some(())
}

/// Returns the number of circuits on the shortest path of every pair; `u32::MAX` if the pair has no path.
fn distances(n: usize, counts: &[u16]) -> Vec<u32> {
    let mut hops = vec![u32::MAX; n * n];
    for from in 0..n {
        hops[from * n + from] = 0;
        let mut reached = vec![from];
        let mut at = 0;
        while let Some(&here) = reached.get(at) {
            at += 1;
            let next = hops[from * n + here] + 1;
            for to in 0..n {
                if counts[here * n + to] > 0 && hops[from * n + to] == u32::MAX {
                    hops[from * n + to] = next;
                    reached.push(to);
                }
            }
        }
    }
    hops
}
