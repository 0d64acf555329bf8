//! Checks the routes, which use circuits or packet switches and carry the demand, and the times, which follow from the
//! loads of the NICs.

use super::demand::Dispatch;
use super::sizes::Sizes;
use super::{Findings, code, compare_figure};
use crate::plan::{AllToAll, CircuitAction, LayerPlan, RegionCircuit, RegionRoute, RoutePath};
use crate::scenario::{MoeRegion, MoeScenario};
use lightbay_core::checked::same;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum relative difference of the bytes of a pair that counts as rounding.
const ROUNDING: f64 = 1e-12;

/// Checks all exchanges of a layer.
pub(super) fn check(
    scenario: &MoeScenario,
    sizes: &Sizes,
    layer: &LayerPlan,
    demand: &Dispatch,
    found: &mut Findings,
) {
    let name = format!("layer {}", layer.layer);
    exchange(scenario, sizes, &name, (&layer.circuits, &layer.routes, &layer.all_to_all), demand, found);
    for other in &layer.other_exchanges {
        let name = format!("{name}, {}", other.phase.word());
        exchange(scenario, sizes, &name, (&other.circuits, &other.routes, &other.all_to_all), demand, found);
    }
}

fn exchange(
    scenario: &MoeScenario,
    sizes: &Sizes,
    name: &str,
    (circuits, routes, times): (&[RegionCircuit], &[RegionRoute], &AllToAll),
    demand: &Dispatch,
    found: &mut Findings,
) {
    let region = &scenario.region;
    let ends: BTreeSet<[(u32, u32); 2]> = circuits
        .iter()
        .filter(|circuit| circuit.action != CircuitAction::Remove)
        .flat_map(|circuit| {
            let (a, b) = ((circuit.server_a, circuit.nic_a), (circuit.server_b, circuit.nic_b));
            [[a, b], [b, a]]
        })
        .collect();
    let packets = |server: u32| working(region, server);
    let key = |route: &RegionRoute| {
        (route.src_server, route.dst_server, route.path, route.delegate_nic_src, route.delegate_nic_dst)
    };
    if !routes.is_sorted_by(|one, other| key(one) < key(other)) {
        found.add(code::ROUTE, format!("{name}: routes are not sorted, or a route is listed twice"));
    }
    let mut carried: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    // Bytes by path, direction, server and NIC.
    let mut loads: BTreeMap<(RoutePath, bool, u32, u32), f64> = BTreeMap::new();
    for route in routes {
        let pair = (route.src_server, route.dst_server);
        let nics = [(pair.0, route.delegate_nic_src), (pair.1, route.delegate_nic_dst)];
        let fits = match route.path {
            RoutePath::Ocs => ends.contains(&nics),
            RoutePath::Eps => {
                nics.iter().all(|(server, nic)| *server < region.servers && packets(*server).contains(nic))
            }
        };
        if !fits || pair.0 == pair.1 || route.bytes < 0.0 {
            found.add(
                code::ROUTE,
                format!(
                    "{name}: the {} route of {} bytes from NIC {} of server {} to NIC {} of server {} must carry 0 bytes or more between two servers, over {}",
                    route.path.word(),
                    route.bytes,
                    nics[0].1,
                    nics[0].0,
                    nics[1].1,
                    nics[1].0,
                    match route.path {
                        RoutePath::Ocs => "a circuit",
                        RoutePath::Eps => "working packet-switched NICs",
                    }
                ),
            );
        }
        *carried.entry(pair).or_default() += route.bytes;
        for (sends, (server, nic)) in [true, false].into_iter().zip(nics) {
            *loads.entry((route.path, sends, server, nic)).or_default() += route.bytes;
        }
    }
    spread(scenario, &ends, name, routes, found);
    for (from, row) in demand.servers.iter().enumerate() {
        for (to, &bytes) in row.iter().enumerate().filter(|(to, _)| *to != from) {
            let carried = carried.get(&(from as u32, to as u32)).copied().unwrap_or(0.0);
            if (carried - bytes).abs() > ROUNDING * bytes {
                let text = format!(
                    "{name}: routes carry {carried} bytes from server {from} to server {to}, but the demand is {bytes}"
                );
                found.add(code::BYTES, text);
            }
        }
    }
    let most = |path: RoutePath| {
        let of = loads.iter().filter(|((known, ..), _)| *known == path);
        of.map(|(_, bytes)| *bytes).fold(0.0, f64::max)
    };
    let (ocs, eps) = (most(RoutePath::Ocs), most(RoutePath::Eps));
    let by_nic = if eps > 0.0 { eps / sizes.packet } else { 0.0 };
    let hop = ocs.max(eps) / sizes.nvlink;
    let exact = total(sizes, demand, [ocs / sizes.link, by_nic, hop, hop]);
    compare(name, times, &exact, found);
}

/// Returns the times of an all-to-all, given the times of its steps: circuits, packet switches, gathering, scattering.
pub(super) fn total(sizes: &Sizes, demand: &Dispatch, steps: [f64; 4]) -> AllToAll {
    let [ocs, eps, gather, scatter] = steps;
    let local = demand.inside() / (sizes.gpus as f64 * sizes.nvlink);
    AllToAll {
        step3_ocs_ms: ocs,
        step3_eps_ms: eps,
        gather_ms: gather,
        scatter_ms: scatter,
        local_ms: local,
        all_to_all_ms: ocs.max(eps).max(local) + (gather + scatter) / sizes.chunks,
    }
}

/// Compares claimed times with recomputed times.
pub(super) fn compare(name: &str, claimed: &AllToAll, exact: &AllToAll, found: &mut Findings) {
    let pairs = [
        ("step3_ocs_ms", claimed.step3_ocs_ms, exact.step3_ocs_ms),
        ("step3_eps_ms", claimed.step3_eps_ms, exact.step3_eps_ms),
        ("gather_ms", claimed.gather_ms, exact.gather_ms),
        ("scatter_ms", claimed.scatter_ms, exact.scatter_ms),
        ("local_ms", claimed.local_ms, exact.local_ms),
        ("all_to_all_ms", claimed.all_to_all_ms, exact.all_to_all_ms),
    ];
    for (step, claimed, exact) in pairs {
        compare_figure(found, code::TIMES, format!("{name}: {step}"), claimed, exact);
    }
}

/// Returns the packet-switched NICs of a server that have not failed.
fn working(region: &MoeRegion, server: u32) -> Vec<u32> {
    let has_failed =
        |nic: u32| region.failed_nics.iter().any(|failed| (failed.server, failed.nic) == (server, nic));
    region.eps_nics.iter().copied().filter(|nic| !has_failed(*nic)).collect()
}

/// Checks that the bytes of a pair on each network are spread evenly: over all its circuits, or over all working
/// packet-switched NICs, each to the NIC with the same number. Servers with different working NICs use all pairs of
/// their NICs.
fn spread(
    scenario: &MoeScenario,
    ends: &BTreeSet<[(u32, u32); 2]>,
    name: &str,
    routes: &[RegionRoute],
    found: &mut Findings,
) {
    let mut groups: BTreeMap<(u32, u32, RoutePath), Vec<&RegionRoute>> = BTreeMap::new();
    for route in routes {
        groups.entry((route.src_server, route.dst_server, route.path)).or_default().push(route);
    }
    for ((from, to, path), group) in groups {
        let nics = [from, to].map(|server| working(&scenario.region, server));
        let is_alike = nics[0] == nics[1];
        let ways = match path {
            RoutePath::Ocs => ends.iter().filter(|[a, b]| (a.0, b.0) == (from, to)).count(),
            RoutePath::Eps if is_alike => nics[0].len(),
            RoutePath::Eps => nics[0].len() * nics[1].len(),
        };
        let crossed = is_alike && group.iter().any(|route| route.delegate_nic_src != route.delegate_nic_dst);
        let uneven = group.iter().any(|route| !same(route.bytes, group[0].bytes));
        if group.len() != ways || uneven || (path == RoutePath::Eps && crossed) {
            let alike = if path == RoutePath::Eps && is_alike {
                ", each between NICs with the same number"
            } else {
                ""
            };
            let text = format!(
                "{name}: the {} routes from server {from} to server {to} must carry equal bytes over {ways} paths{alike}",
                path.word()
            );
            found.add(code::ROUTE, text);
        }
    }
}
