//! Routes of the bytes of an all-to-all, and its five steps (docs/methods/moe-cost.md, section 2).
//!
//! Every circuit has a delegation GPU at each end, the GPU of its NIC. Bytes of a pair are gathered there over
//! NVSwitch, spread evenly over parallel circuits, and scattered at the other end. Bytes that circuits do not carry are
//! spread evenly over the working packet-switched NICs of both servers.

use super::circuits::CircuitCounts;
use super::exchange::{Exchange, RoutingRule};
use crate::model::demand::LayerDemand;
use crate::model::rates::RegionRates;
use crate::plan::{AllToAll, CircuitAction, RegionCircuit, RegionRoute, RoutePath};
use crate::scenario::{MoeRegion, NoPackets};
use std::fmt;

/// Fraction of a pair's bytes below which the remainder counts as rounding.
const ROUNDING: f64 = 1e-12;

/// A pair of servers without a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The server that sends.
    pub from: usize,
    /// The server that receives.
    pub to: usize,
    /// Reason why packet switches cannot carry the bytes.
    pub because: NoPackets,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, because } = self;
        write!(
            f,
            "server {from} cannot send its bytes to server {to}: no circuit joins them, and {because}; {}",
            because.remedy()
        )
    }
}

/// Routes of a dispatch with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Routed {
    /// Routes of the dispatch.
    pub routes: Vec<RegionRoute>,
    /// Times of the all-to-all.
    pub all_to_all: AllToAll,
}

/// Routes the demand of a layer over circuits that have NICs; returns the routes and the times.
///
/// # Errors
/// A pair with bytes has neither a circuit nor packet switches.
pub fn routed(
    region: &MoeRegion,
    rates: &RegionRates,
    demand: &LayerDemand,
    circuits: &[RegionCircuit],
    rule: RoutingRule,
) -> Result<Routed, Unreachable> {
    let n = demand.servers;
    let set = || circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove);
    // Counts parallel circuits of a pair together.
    let mut counts = CircuitCounts::none(&rates.optical);
    set().for_each(|circuit| counts.add(circuit.server_a as usize, circuit.server_b as usize));
    let exchange = Exchange::of(demand, rates, rule);
    // A pair spills only the bytes that its circuits cannot carry within the time of the whole exchange, so pairs that
    // are faster do not use packet switches.
    let time = exchange.time(&counts);
    let packets: Vec<Vec<u32>> = (0..n).map(|server| region.packet_of(server as u32)).collect();
    let mut routes = Vec::new();
    for from in 0..n {
        for to in (0..n).filter(|to| *to != from) {
            let bytes = demand.between(from, to);
            if bytes <= 0.0 {
                continue;
            }
            let count = f64::from(counts.between(from, to));
            // Bytes over circuits: all of them, none, or the bytes that the circuits carry by the end of the exchange.
            let carried = match rule {
                RoutingRule::Strict if count > 0.0 => bytes,
                _ if count == 0.0 => 0.0,
                _ => bytes.min(count * exchange.circuit_rate() * time),
            };
            // A remainder from rounding is not sent over packet switches, because it would create routes of a few
            // bytes.
            let left = if bytes - carried > ROUNDING * bytes { bytes - carried } else { 0.0 };
            let by_circuit = if left > 0.0 { carried / count } else { bytes / count };
            if carried > 0.0 {
                // Spreads the bytes evenly over parallel circuits, each oriented in the direction of the bytes.
                for circuit in set() {
                    let ends = (circuit.server_a as usize, circuit.server_b as usize);
                    let (source, target) = match ends {
                        ends if ends == (from, to) => (circuit.nic_a, circuit.nic_b),
                        ends if ends == (to, from) => (circuit.nic_b, circuit.nic_a),
                        _ => continue,
                    };
                    routes.push(route((from, to), RoutePath::Ocs, (source, target), by_circuit));
                }
            }
            if left > 0.0 {
                if let Some(because) = [from, to].into_iter().find_map(|at| region.no_packets_at(at as u32)) {
                    return Err(Unreachable { from, to, because });
                }
                spread((from, to), [&packets[from], &packets[to]], left, &mut routes);
            }
        }
    }
    // Routes in one order, so that equal plans have equal files.
    routes.sort_unstable_by_key(|route| {
        (route.src_server, route.dst_server, route.path, route.delegate_nic_src, route.delegate_nic_dst)
    });
    let all_to_all = steps(rates, demand, &routes);
    Ok(Routed { routes, all_to_all })
}

/// Spreads bytes evenly over the packet-switched NICs of both servers. If both servers have the same working NICs,
/// every NIC sends to the NIC with the same number; otherwise every working NIC of one server sends to every working
/// NIC of the other server.
fn spread(pair: (usize, usize), nics: [&[u32]; 2], bytes: f64, routes: &mut Vec<RegionRoute>) {
    let [sources, targets] = nics;
    if sources == targets {
        let share = bytes / sources.len() as f64;
        routes.extend(sources.iter().map(|nic| route(pair, RoutePath::Eps, (*nic, *nic), share)));
        return;
    }
    let share = bytes / (sources.len() * targets.len()) as f64;
    let ends = sources.iter().flat_map(|source| targets.iter().map(move |target| (*source, *target)));
    routes.extend(ends.map(|ends| route(pair, RoutePath::Eps, ends, share)));
}

const fn route(pair: (usize, usize), path: RoutePath, nics: (u32, u32), bytes: f64) -> RegionRoute {
    RegionRoute {
        src_server: pair.0 as u32,
        dst_server: pair.1 as u32,
        path,
        delegate_nic_src: nics.0,
        delegate_nic_dst: nics.1,
        bytes,
    }
}

/// Returns the times of the five steps, from the loads of the NICs.
fn steps(rates: &RegionRates, demand: &LayerDemand, routes: &[RegionRoute]) -> AllToAll {
    let nics = routes.iter().map(|route| route.delegate_nic_src.max(route.delegate_nic_dst) + 1).max();
    let nics = nics.unwrap_or(0) as usize;
    // Bytes by path, direction, server and NIC. The loads over circuits fill the first half, the loads over packet
    // switches the second half.
    let mut loads = vec![0.0; 4 * demand.servers * nics];
    for route in routes {
        let path = 2 * usize::from(route.path == RoutePath::Eps);
        let ends = [(route.src_server, route.delegate_nic_src), (route.dst_server, route.delegate_nic_dst)];
        for (direction, (server, nic)) in ends.into_iter().enumerate() {
            loads[((path + direction) * demand.servers + server as usize) * nics + nic as usize] +=
                route.bytes;
        }
    }
    let most = |loads: &[f64]| loads.iter().copied().fold(0.0, f64::max);
    let (ocs, eps) = loads.split_at(loads.len() / 2);
    let (ocs, eps) = (most(ocs), most(eps));
    // Gather and scatter move the bytes of the most loaded NIC over NVSwitch.
    let hop = ocs.max(eps) / rates.nvlink;
    AllToAll {
        step3_ocs_ms: ocs / rates.circuit,
        step3_eps_ms: if eps > 0.0 { eps / rates.eps_nic } else { 0.0 },
        gather_ms: hop,
        scatter_ms: hop,
        // The exchange inside the busiest server uses the links of all of its GPUs.
        local_ms: demand.busiest_inside() / (f64::from(rates.gpus) * rates.nvlink),
        all_to_all_ms: 0.0,
    }
    .totalled(rates.chunks)
}
