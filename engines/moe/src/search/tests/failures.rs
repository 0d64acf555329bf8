//! Circuits and routes with failed NICs: the worked example by hand, and what holds for any demand.

use super::*;
use crate::scenario::FailedNic;

/// The region of the worked example: optical NICs 0 and 2, packet-switched NICs 1 and 3, one NUMA node for each half.
fn region(failed: &str) -> MoeRegion {
    MoeRegion { failed_nics: FailedNic::list(failed).unwrap(), ..MoeRegion::usual(4, 4, 2) }
}

/// Rates of a region of the worked example: 50e6 bytes/ms per NIC.
fn rates_of(region: &MoeRegion) -> RegionRates {
    let count = |nics: Vec<u32>| nics.len() as u32;
    let electrical: Vec<u32> = (0..4).map(|server| count(region.packet_of(server))).collect();
    RegionRates {
        optical: (0..4).map(|server| count(region.optical_of(server))).collect(),
        eps: electrical.iter().map(|nics| f64::from(*nics) * 50e6).collect(),
        electrical,
        ..rates(4, 2, 2)
    }
}

fn close(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9 * other, "{one} {other}");
}

/// Server 0 has one circuit left: 0-1, 2-3 and 1-2 are set, then 0 and 2 are full. Server 0 sends 11 GB over one circuit
/// and two packet-switched NICs, which takes 11/0.15 ms; no other server is slower.
#[test]
fn a_failed_optical_nic_takes_one_circuit_of_the_worked_example() {
    let region = region("s0:0");
    let (demand, rates) = (example(), rates_of(&region));
    assert_eq!(rates.optical, [1, 2, 2, 2]);
    let circuits = greedy(&rates.optical, &demand.both_ways(), BlockedRule::Continue);
    assert_eq!(pairs(&circuits), [(0, 1, 1), (1, 2, 1), (2, 3, 1)]);
    let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
    close(exchange.time(&circuits), 11.0 / 0.15);
    // Sent and received: 11 and 9 GB; 9 and 10; 12 and 10; 7 and 10.
    let by_server = [11.0 / 0.15, 160.0 / 3.0, 10.0 / 0.15, 10.0 / 0.15];
    for (server, time) in by_server.into_iter().enumerate() {
        close(exchange.server_time(&circuits, server), time);
    }
    // All working NICs of server 0 as one give the same, so no circuits are better.
    close(exchange.pooled_time(&rates.optical), 11.0 / 0.15);
    close(Exchange::of(&demand, &rates, RoutingRule::Strict).time(&circuits), 180.0);
    let nics = mapped(&region, &circuits);
    assert_eq!((nics[0].server_a, nics[0].nic_a), (0, 2), "the working optical NIC of server 0");
}

/// Server 0 has one packet-switched NIC left. On the circuits 0-1, 0-3, 1-2, 2-3 it spills 3 GB of 8 to server 1 and 2 GB
/// to server 2 in 100 ms; two circuits 0-1 and two 2-3 need 11/0.15 ms, as all its NICs as one.
#[test]
fn a_failed_packet_switched_nic_lowers_the_rate_of_its_server() {
    let region = region("s0:1");
    let (demand, rates) = (example(), rates_of(&region));
    let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
    let circuits = greedy(&rates.optical, &demand.both_ways(), BlockedRule::Continue);
    assert_eq!(pairs(&circuits), [(0, 1, 1), (0, 3, 1), (1, 2, 1), (2, 3, 1)]);
    close(exchange.time(&circuits), 100.0);
    let (better, _) = swapped(&exchange, &rates.optical, &demand.both_ways());
    assert_eq!(pairs(&better), [(0, 1, 2), (2, 3, 2)]);
    close(exchange.time(&better), 11.0 / 0.15);
    close(exchange.pooled_time(&rates.optical), 11.0 / 0.15);
    // 2 GB from server 0 to server 2: from NIC 3 alone, evenly to NICs 1 and 3; 1 GB back in the same way.
    let all = routed(&region, &rates, &demand, &mapped(&region, &circuits), RoutingRule::Spill).unwrap();
    let found = &all.routes;
    let of = |from: u32, to: u32| -> Vec<(u32, u32, f64)> {
        let of = found
            .iter()
            .filter(|route| (route.src_server, route.dst_server, route.path) == (from, to, RoutePath::Eps));
        of.map(|route| (route.delegate_nic_src, route.delegate_nic_dst, route.bytes)).collect()
    };
    assert_eq!(of(0, 2), [(3, 1, 1e9), (3, 3, 1e9)]);
    assert_eq!(of(2, 0), [(1, 3, 0.5e9), (3, 3, 0.5e9)]);
    assert_eq!(of(1, 0).len(), 2);
    // Server 1 sends 6 GB to server 0, 5 GB of them over the circuit in 100 ms.
    close(of(1, 0).iter().map(|(_, _, bytes)| bytes).sum::<f64>(), 1e9);
    close(all.all_to_all.step3_eps_ms, 100.0);
}

/// With three optical NICs, the greedy algorithm joins server 1 to servers 0 and 2 only, because pair 1-3 has no bytes.
#[test]
fn a_failed_nic_that_no_circuit_uses_changes_nothing() {
    let weights = example().both_ways();
    let before = greedy(&[3; 4], &weights, BlockedRule::Continue);
    assert_eq!(before.free(1), 1);
    let after = greedy(&[3, 2, 3, 3], &weights, BlockedRule::Continue);
    assert_eq!(pairs(&after), pairs(&before));
}

/// Server 4 exchanges nothing, so no circuits are better with its NICs than without.
#[test]
fn a_failed_nic_of_a_server_without_bytes_leaves_the_best_circuits() {
    let mut bytes = vec![0.0; 25];
    for (at, sent) in example().bytes.iter().enumerate() {
        bytes[at / 4 * 5 + at % 4] = *sent;
    }
    let demand = demand(5, bytes);
    let best = |optical: u32| {
        let rates = RegionRates { optical: vec![3, 3, 3, 3, optical], ..rates(5, 3, 2) };
        let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
        let (known, _) = swapped(&exchange, &rates.optical, &demand.both_ways());
        best_circuits(&exchange, &known, &rates.optical, 10_000, &mut Unwatched::default()).unwrap().time
    };
    let time = best(3);
    (0..3).for_each(|optical| close(best(optical), time));
}

/// The server without a packet-switched NIC is named.
#[test]
fn bytes_that_no_working_nic_carries_are_refused_by_server() {
    let region = region("s2:1, s2:3");
    let (demand, rates) = (example(), rates_of(&region));
    let circuits = greedy(&rates.optical, &demand.both_ways(), BlockedRule::Continue);
    let none = routed(&region, &rates, &demand, &mapped(&region, &circuits), RoutingRule::Spill).unwrap_err();
    let text = none.to_string();
    assert!(text.contains("failed_nics leaves server 2 no NIC for packet switches"), "{text}");
}

/// Servers with random ports and packet rates of which one NIC fails.
fn failing(servers: usize, number: u64) -> (RegionRates, RegionRates) {
    let mut before = rates(servers, 3, 2);
    let server = number as usize % servers;
    for at in 0..servers {
        before.optical[at] = 1 + (number as u32 / 7 + at as u32) % 4;
    }
    let mut after = before.clone();
    if number.is_multiple_of(2) {
        after.optical[server] -= 1;
    } else {
        after.electrical[server] -= 1;
        after.eps[server] *= 0.5;
    }
    (before, after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_best_circuits_are_never_better_with_a_failed_nic(servers in 2usize..6, number in 0u64..1000, strict: bool) {
        let rule = if strict { RoutingRule::Strict } else { RoutingRule::Spill };
        let demand = dirichlet(servers, 0.5, number);
        let (before, after) = failing(servers, number);
        let [whole, less] = [&before, &after].map(|rates| {
            let exchange = Exchange::of(&demand, rates, rule);
            let (known, _) = swapped(&exchange, &rates.optical, &demand.both_ways());
            (0..servers).for_each(|server| assert!(known.row(server).iter().sum::<u16>() <= rates.optical[server] as u16));
            let best = best_circuits(&exchange, &known, &rates.optical, 100_000, &mut Unwatched::default()).unwrap();
            assert!(best.proven && exchange.pooled_time(&rates.optical) <= best.bound * (1.0 + 1e-9));
            best
        });
        prop_assert!(less.time >= whole.bound * (1.0 - 1e-9), "{} {}", less.time, whole.time);
        prop_assert!(less.bound >= whole.bound * (1.0 - 1e-5), "{} {}", less.bound, whole.bound);
    }

    #[test]
    fn circuits_never_use_a_failed_nic_and_stay_as_balanced_as_possible(
        servers in 2usize..7,
        degree in 1u32..8,
        number in 0u64..1000,
        failed in proptest::collection::btree_set((0u32..6, 0u32..8), 0..9),
    ) {
        let mut region = MoeRegion::usual(servers as u32, 8, degree);
        let failed = failed.into_iter().filter(|(server, _)| *server < servers as u32);
        region.failed_nics = failed.map(|(server, nic)| FailedNic { server, nic }).collect();
        let ports: Vec<u32> = (0..servers as u32).map(|server| region.optical_of(server).len() as u32).collect();
        let mut before: Vec<RegionCircuit> = Vec::new();
        for step in 0..3 {
            let circuits = greedy(&ports, &dirichlet(servers, 0.5, 4 * number + step).both_ways(), BlockedRule::Continue);
            for found in [mapped(&region, &circuits), changed(&region, &before, &circuits)] {
                let set: Vec<&RegionCircuit> = found.iter().filter(|c| c.action != CircuitAction::Remove).collect();
                prop_assert_eq!(set.len() as u32, circuits.total());
                for server in 0..servers as u32 {
                    let working = region.optical_of(server);
                    let ends = set.iter().flat_map(|c| {
                        [(c.server_a, c.nic_a, c.server_b), (c.server_b, c.nic_b, c.server_a)]
                    });
                    let mut of: Vec<(u32, u32)> = ends.filter(|end| end.0 == server).map(|end| (end.2, end.1)).collect();
                    prop_assert!(of.iter().all(|(_, nic)| working.contains(nic)));
                    // Every pair has half of its circuits on each node, as far as the working NICs suffice.
                    let node = |nic: &u32| region.numa(*nic) as usize;
                    let (mut halves, mut missing) = (0_usize, 0_usize);
                    for peer in 0..servers as u32 {
                        let mut nodes = [0, 0];
                        of.iter().filter(|(to, _)| *to == peer).for_each(|(_, nic)| nodes[node(nic)] += 1);
                        let all: usize = nodes.iter().sum();
                        halves += all / 2;
                        missing += all / 2 - nodes[0].min(nodes[1]);
                    }
                    let first = working.iter().filter(|nic| node(nic) == 0).count();
                    let fewer = first.min(working.len() - first);
                    prop_assert_eq!(missing, halves.saturating_sub(fewer));
                    of.sort_unstable_by_key(|(_, nic)| *nic);
                    prop_assert!(of.windows(2).all(|pair| pair[0].1 != pair[1].1));
                }
            }
            before = changed(&region, &before, &circuits);
            before.retain(|circuit| circuit.action != CircuitAction::Remove);
        }
    }
}
