//! All-to-alls on networks without regional circuits, recomputed.

use super::demand::Dispatch;
use super::routes::{compare, total};
use super::sizes::Sizes;
use super::{Findings, code};
use crate::plan::{AllToAll, FabricKind, LayerPlan};

/// Number of ports of a server that TopoOpt gives to expert parallelism.
pub(super) const PATCHED: f64 = 6.0;

/// Checks a layer of a network without regional circuits: the layer has no circuits and no routes, and its times follow
/// from the network.
pub(super) fn check(
    sizes: &Sizes,
    fabric: FabricKind,
    layer: &LayerPlan,
    demand: &Dispatch,
    found: &mut Findings,
) {
    let name = format!("layer {}", layer.layer);
    if !layer.circuits.is_empty() || !layer.routes.is_empty() || !layer.other_exchanges.is_empty() {
        found.add(
            code::CIRCUIT,
            format!("{name}: the network '{}' has no circuits of a region", fabric.word()),
        );
    }
    if !layer.timeline.reconfigurations.is_empty() {
        found.add(code::CHANGE, format!("{name}: the network '{}' changes no circuits", fabric.word()));
    }
    match times(sizes, fabric, demand) {
        Some(exact) => compare(&name, &layer.all_to_all, &exact, found),
        None => found.add(code::TIMES, format!("{name}: some servers cannot reach each other")),
    }
}

/// Returns the times of an all-to-all; `None` if some servers cannot reach each other.
pub(super) fn times(sizes: &Sizes, fabric: FabricKind, demand: &Dispatch) -> Option<AllToAll> {
    // The longest time of bytes of servers at the rates of these servers.
    let longest = |loads: &[(usize, f64)], rate: &dyn Fn(usize) -> f64| {
        let loads = loads.iter().filter(|(_, bytes)| *bytes > 0.0);
        loads.map(|(server, bytes)| bytes / rate(*server)).fold(0.0, f64::max)
    };
    let per_gpu = |server| sizes.working(server) * sizes.link / sizes.gpus as f64;
    let steps = match fabric {
        FabricKind::Mfabric => return None,
        FabricKind::FatTree => [0.0, longest(&demand.by_server_gpu(), &per_gpu), 0.0, 0.0],
        FabricKind::Rail => {
            let loads = demand.by_rail();
            [0.0, longest(&loads, &per_gpu), longest(&loads, &|_| sizes.nvlink), 0.0]
        }
        FabricKind::Pooled => {
            let loads: Vec<(usize, f64)> = demand.busiest().into_iter().enumerate().collect();
            [0.0, longest(&loads, &|server| sizes.fastest(server)), 0.0, 0.0]
        }
        FabricKind::Topoopt => {
            let busiest = forwarded(sizes, demand)?;
            let hop = busiest / sizes.nvlink;
            [busiest / sizes.link, 0.0, hop, hop]
        }
    };
    Some(total(sizes, demand, steps))
}

/// Returns a lower bound on the time of an all-to-all, for any choice of the circuits of a region, ms: every server
/// uses its NICs in the best way, and the hops to and from the GPUs take at least the time for the average load of the
/// NICs. `exchange_ms` is a known lower bound on the time of the exchange.
pub(super) fn least_on_circuits(sizes: &Sizes, demand: &Dispatch, exchange_ms: f64) -> f64 {
    let average =
        |(server, bytes): (usize, f64)| if bytes > 0.0 { bytes / sizes.working(server) } else { 0.0 };
    let hop = demand.busiest().into_iter().enumerate().map(average).fold(0.0, f64::max) / sizes.nvlink;
    let n = demand.servers.len();
    let mut exchange = exchange_ms;
    for server in 0..n {
        let others = || (0..n).filter(move |other| *other != server);
        let sent = others().map(|other| demand.servers[server][other]).collect();
        let received = others().map(|other| demand.servers[other][server]).collect();
        for bytes in [sent, received] {
            exchange = exchange.max(alone(sizes, server, bytes));
        }
    }
    total(sizes, demand, [exchange, 0.0, hop, hop]).all_to_all_ms
}

/// Returns a lower bound on the time in which one server exchanges its bytes if all other servers are otherwise idle,
/// ms: the largest time that bisection finds to be too short; infinite if no time is long enough. Circuits are assigned
/// one by one, each to the server with the most bytes left, which is optimal for any time.
fn alone(sizes: &Sizes, server: usize, bytes: Vec<f64>) -> f64 {
    let sum: f64 = bytes.iter().sum();
    let suffices = |time: f64| {
        let mut left = bytes.clone();
        for _ in 0..sizes.nics[server][0] as usize {
            if let Some(most) = left.iter_mut().max_by(|a, b| a.total_cmp(b)) {
                *most = (*most - sizes.link * time).max(0.0);
            }
        }
        left.iter().sum::<f64>() <= sizes.packets(server) * time
    };
    let (mut short, mut long) = (0.0, if sum > 0.0 { sum / sizes.link } else { return 0.0 });
    while !suffices(long) {
        (short, long) = (long, 2.0 * long);
        if !long.is_finite() {
            return f64::INFINITY;
        }
    }
    // After these steps, both ends of the interval are adjacent in double precision.
    for _ in 0..100 {
        let middle = 0.5 * (short + long);
        if suffices(middle) { long = middle } else { short = middle }
    }
    short
}

/// Returns the number of links between each pair of servers in a ring with chords: offsets 1, 2, … are added in turn
/// until the ports are used.
fn links(n: usize, ports: u32) -> Vec<Vec<f64>> {
    let mut links = vec![vec![0.0; n]; n];
    let (mut left, mut offset, mut skipped) = (ports, 0, 0);
    while left > 0 && skipped < n / 2 {
        offset = offset % (n / 2) + 1;
        let half = offset * 2 == n;
        if !half && left < 2 {
            skipped += 1;
            continue;
        }
        skipped = 0;
        left -= if half { 1 } else { 2 };
        for server in 0..n {
            links[server][(server + offset) % n] += 1.0;
            if !half {
                links[(server + offset) % n][server] += 1.0;
            }
        }
    }
    links
}

/// Returns the bytes on the busiest link if pairs without a link use shortest paths. Each server divides the bytes
/// among the servers that are closer to the destination: in proportion to its links to these servers or, if the
/// destination is two hops away, in proportion to the smaller of the numbers of links of both hops. `None` if some
/// servers cannot reach each other.
fn forwarded(sizes: &Sizes, demand: &Dispatch) -> Option<f64> {
    let n = demand.servers.len();
    let links = links(n, PATCHED.min(sizes.built) as u32);
    let mut hops = vec![vec![usize::MAX; n]; n];
    for (server, row) in hops.iter_mut().enumerate() {
        row[server] = 0;
        for round in 0..n {
            let reached: Vec<usize> = (0..n).filter(|at| row[*at] == round).collect();
            for at in reached {
                for to in (0..n).filter(|to| links[at][*to] > 0.0) {
                    row[to] = row[to].min(round + 1);
                }
            }
        }
    }
    let mut loads = vec![vec![0.0; n]; n];
    // For each destination, farthest servers first: each forwards the bytes that it has.
    for to in 0..n {
        let mut held: Vec<f64> =
            (0..n).map(|from| if from == to { 0.0 } else { demand.servers[from][to] }).collect();
        let mut order: Vec<usize> = (0..n).filter(|from| *from != to).collect();
        order.sort_by_key(|from| std::cmp::Reverse(hops[*from][to]));
        for from in order {
            let bytes = std::mem::take(&mut held[from]);
            let far = hops[from][to];
            if bytes == 0.0 {
                continue;
            }
            if far == usize::MAX {
                return None;
            }
            let weight = |by: usize| {
                let onward = if far == 2 { links[by][to] } else { f64::INFINITY };
                if hops[by][to] + 1 == far { links[from][by].min(onward) } else { 0.0 }
            };
            let closer = (0..n).filter(|by| links[from][*by] > 0.0 && hops[*by][to] < far);
            let closer: Vec<(usize, f64)> = closer.map(|by| (by, weight(by))).collect();
            let sum: f64 = closer.iter().map(|(_, weight)| weight).sum();
            for (by, weight) in closer {
                loads[from][by] += bytes * weight / sum;
                held[by] += bytes * weight / sum;
            }
        }
    }
    let each = loads.iter().flatten().zip(links.iter().flatten()).filter(|(_, links)| **links > 0.0);
    Some(each.map(|(load, links)| load / links).fold(0.0, f64::max))
}
