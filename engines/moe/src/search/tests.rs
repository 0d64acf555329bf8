//! Reference numbers, and what holds for any demand.

use super::circuits::CircuitCounts;
use super::exact::best_circuits;
use super::exchange::{Exchange, RoutingRule};
use super::greedy::{BlockedRule, greedy};
use super::mapping::{changed, mapped};
use super::routes::routed;
use super::swap::{improve, swapped};
use crate::model::circulant::circulant;
use crate::model::demand::LayerDemand;
use crate::model::rates::RegionRates;
use crate::plan::{CircuitAction, RegionCircuit, RoutePath};
use crate::scenario::MoeRegion;
use crate::scenario::trace::sample::Normal;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use proptest::prelude::*;

mod failures;

fn demand(servers: usize, bytes: Vec<f64>) -> LayerDemand {
    LayerDemand { servers, bytes, busiest_gpu: Vec::new(), busiest_rail: Vec::new() }
}

fn rates(servers: usize, optical: u32, electrical: u32) -> RegionRates {
    RegionRates {
        servers,
        optical: vec![optical; servers],
        electrical: vec![electrical; servers],
        built: optical + electrical,
        gpus: 8,
        circuit: 50e6,
        eps: vec![f64::from(electrical) * 50e6; servers],
        eps_nic: 50e6,
        nvlink: 450e6,
        chunks: 8.0,
    }
}

/// Four servers, in GB; pair 1-3 has no demand, so it never gets a circuit.
fn example() -> LayerDemand {
    let gigabytes = [5., 8., 2., 1., 6., 4., 3., 0., 1., 2., 7., 9., 2., 0., 5., 3.];
    demand(4, gigabytes.map(|bytes| bytes * 1e9).to_vec())
}

fn pairs(circuits: &CircuitCounts) -> Vec<(usize, usize, u16)> {
    circuits.pairs().collect()
}

#[test]
fn the_worked_example_comes_out_as_printed() {
    let (demand, two) = (example(), rates(4, 2, 2));
    let weights = demand.both_ways();
    assert_eq!(weights[1], 14e9);
    let printed = greedy(&[2; 4], &weights, BlockedRule::Printed);
    assert_eq!(pairs(&printed), [(0, 1, 1), (1, 2, 1), (2, 3, 1)]);
    let continued = greedy(&[2; 4], &weights, BlockedRule::Continue);
    assert_eq!(pairs(&continued), [(0, 1, 1), (0, 3, 1), (1, 2, 1), (2, 3, 1)]);
    let time = |rates: &RegionRates, rule, circuits: &CircuitCounts| {
        Exchange::of(&demand, rates, rule).time(circuits)
    };
    assert!((time(&two, RoutingRule::Strict, &continued) - 180.0).abs() < 1e-9);
    assert!((time(&two, RoutingRule::Spill, &continued) - 200.0 / 3.0).abs() < 1e-9);
    let spill = |rates| Exchange::of(&demand, rates, RoutingRule::Spill);
    assert!((spill(&two).pooled_time(&[2; 4]) - 60.0).abs() < 1e-9);
    let three = rates(4, 3, 2);
    let circuits = greedy(&[3; 4], &weights, BlockedRule::Continue);
    assert_eq!(pairs(&circuits), [(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 2, 1), (2, 3, 1)]);
    assert!((time(&three, RoutingRule::Strict, &circuits) - 180.0).abs() < 1e-9);
    assert!((time(&three, RoutingRule::Spill, &circuits) - 60.0).abs() < 1e-9);
    assert!((spill(&three).pooled_time(&[3; 4]) - 48.0).abs() < 1e-9);
}

fn even(servers: usize) -> LayerDemand {
    demand(servers, vec![1e9; servers * servers])
}

/// Every pair wants its first circuit before any gets a second, so the last server finds all others full.
#[test]
fn the_greedy_algorithm_starves_a_server_and_the_swaps_feed_it() {
    let (demand, rates) = (even(8), rates(8, 6, 2));
    let mut circuits = greedy(&[6; 8], &demand.both_ways(), BlockedRule::Continue);
    assert_eq!((circuits.total(), circuits.free(7)), (21, 6));
    let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
    let before = exchange.time(&circuits);
    improve(&exchange, &mut circuits);
    assert_eq!(circuits.total(), 24);
    assert!((0..8).all(|server| circuits.free(server) == 0));
    assert!(exchange.time(&circuits) < 0.5 * before);
}

#[test]
fn nics_are_mapped_as_in_the_specification() {
    let region = MoeRegion::usual(4, 8, 6);
    let circuits = CircuitCounts::of(&[6; 4], &circulant(4, 6));
    let found: Vec<String> = mapped(&region, &circuits)
        .iter()
        .map(|c| format!("{}.{}-{}.{}", c.server_a, c.nic_a, c.server_b, c.nic_b))
        .collect();
    assert_eq!(
        found.join(" "),
        "0.0-1.0 0.4-1.4 0.1-2.0 0.5-2.4 0.2-3.0 0.6-3.4 1.1-2.1 1.5-2.5 1.2-3.1 1.6-3.5 2.2-3.2 2.6-3.6"
    );
}

/// Dirichlet demand; a smaller `kappa` makes it more skewed.
fn dirichlet(servers: usize, kappa: f64, number: u64) -> LayerDemand {
    let mut normal = Normal::new(Streams::new(7).stream(number));
    let mut bytes = vec![0.0; servers * servers];
    for row in bytes.chunks_mut(servers) {
        normal.dirichlet(std::iter::repeat_n(kappa, servers), &mut *row);
        for share in row {
            *share *= 2e9;
        }
    }
    demand(servers, bytes)
}

struct Ratios {
    greedy: f64,
    swap: f64,
    pooled: f64,
}

fn ratios(servers: usize, kappa: f64, count: u64) -> Ratios {
    let rates = rates(servers, 6, 2);
    let mut sums = Ratios { greedy: 0.0, swap: 0.0, pooled: 0.0 };
    for number in 0..count {
        let demand = dirichlet(servers, kappa, number);
        let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
        let start = greedy(&vec![6; servers], &demand.both_ways(), BlockedRule::Continue);
        let (swapped, _) = swapped(&exchange, &vec![6; servers], &demand.both_ways());
        let exact = best_circuits(&exchange, &swapped, &vec![6; servers], 100_000, &mut Unwatched::default())
            .unwrap();
        assert!(exact.proven && exact.bound <= exact.time && exact.bound > 0.9999 * exact.time);
        sums.greedy += exchange.time(&start) / exact.time / count as f64;
        sums.swap += exchange.time(&swapped) / exact.time / count as f64;
        sums.pooled += exchange.pooled_time(&vec![6; servers]) / exact.time / count as f64;
    }
    sums
}

#[test]
fn swaps_come_within_a_hundredth_of_the_best_circuits_of_four_servers() {
    for kappa in [0.3, 1.0, 3.0] {
        let mean = ratios(4, kappa, 6);
        assert!(mean.swap >= 1.0 - 1e-6 && mean.swap <= 1.01, "{kappa} {}", mean.swap);
        assert!(mean.greedy >= mean.swap && mean.pooled <= 1.0 + 1e-9);
    }
}

#[test]
fn swaps_come_within_a_hundredth_of_the_best_circuits_of_eight_servers() {
    let mean = ratios(8, 1.0, 2);
    assert!(mean.swap >= 1.0 - 1e-6 && mean.swap <= 1.01, "{}", mean.swap);
}

/// Strict routing as a program as well: the best circuits of the example.
#[test]
fn strict_routing_has_best_circuits_too() {
    let (demand, rates) = (example(), rates(4, 2, 2));
    let exchange = Exchange::of(&demand, &rates, RoutingRule::Strict);
    let mut known = greedy(&[2; 4], &demand.both_ways(), BlockedRule::Continue);
    improve(&exchange, &mut known);
    let exact = best_circuits(&exchange, &known, &[2; 4], 10_000, &mut Unwatched::default()).unwrap();
    // All topologies with two ports each, tried one by one.
    let mut best = f64::INFINITY;
    for code in 0..3_u32.pow(6) {
        let mut circuits = CircuitCounts::none(&[2; 4]);
        let mut left = code;
        let mut fits = true;
        for a in 0..4 {
            for b in a + 1..4 {
                for _ in 0..left % 3 {
                    fits &= circuits.free(a) > 0 && circuits.free(b) > 0;
                    if fits {
                        circuits.add(a, b);
                    }
                }
                left /= 3;
            }
        }
        if fits {
            best = best.min(exchange.time(&circuits));
        }
    }
    assert!((exact.time - best).abs() < 1e-6 * best, "{} {best}", exact.time);
}

#[test]
fn without_packet_switches_a_pair_without_circuits_has_no_way() {
    let (demand, rates) = (example(), rates(4, 2, 0));
    let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
    let circuits = greedy(&[2; 4], &demand.both_ways(), BlockedRule::Continue);
    assert_eq!(exchange.time(&circuits), f64::INFINITY);
    let mut region = MoeRegion::usual(4, 2, 2);
    region.numa_of_nic = vec![0, 1];
    let nics = mapped(&region, &circuits);
    assert!(routed(&region, &rates, &demand, &nics, RoutingRule::Spill).is_err());
}

#[test]
fn nothing_to_send_takes_no_time_and_no_circuits() {
    let (demand, rates) = (demand(3, vec![0.0; 9]), rates(3, 6, 2));
    let circuits = greedy(&[6; 3], &demand.both_ways(), BlockedRule::Continue);
    assert_eq!(circuits.total(), 0);
    assert_eq!(Exchange::of(&demand, &rates, RoutingRule::Spill).time(&circuits), 0.0);
}

/// Time with `spill` by bisection on its definition (docs/methods/moe.md, section 4).
fn bisected(demand: &LayerDemand, rates: &RegionRates, circuits: &CircuitCounts) -> f64 {
    let n = demand.servers;
    let over = |time: f64, server: usize, out: bool| {
        let excess = |other: usize| {
            let bytes = if out { demand.between(server, other) } else { demand.between(other, server) };
            (bytes - f64::from(circuits.between(server, other)) * rates.circuit * time).max(0.0)
        };
        (0..n).filter(|other| *other != server).map(excess).sum::<f64>() > rates.eps[server] * time
    };
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        let late = (0..n).any(|server| over(middle, server, true) || over(middle, server, false));
        if late { low = middle } else { high = middle }
    }
    high
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_time_is_that_of_bisection(servers in 2usize..9, kappa in 0.1..4.0f64, number in 0u64..1000) {
        let (demand, rates) = (dirichlet(servers, kappa, number), rates(servers, 6, 2));
        let exchange = Exchange::of(&demand, &rates, RoutingRule::Spill);
        let mut circuits = greedy(&vec![6; servers], &demand.both_ways(), BlockedRule::Continue);
        let first = exchange.time(&circuits);
        prop_assert!((first / bisected(&demand, &rates, &circuits) - 1.0).abs() < 1e-9);
        improve(&exchange, &mut circuits);
        let second = exchange.time(&circuits);
        prop_assert!((second / bisected(&demand, &rates, &circuits) - 1.0).abs() < 1e-9);
        prop_assert!(second <= first && second >= exchange.pooled_time(&vec![6; servers]) * (1.0 - 1e-12));
    }

    #[test]
    fn routes_carry_the_demand_within_the_time(servers in 2usize..9, number in 0u64..1000, strict: bool) {
        let (demand, rates) = (dirichlet(servers, 0.5, number), rates(servers, 6, 2));
        let rule = if strict { RoutingRule::Strict } else { RoutingRule::Spill };
        let region = MoeRegion::usual(servers as u32, 8, 6);
        let circuits = greedy(&vec![6; servers], &demand.both_ways(), BlockedRule::Continue);
        let nics = mapped(&region, &circuits);
        let found = routed(&region, &rates, &demand, &nics, rule).unwrap();
        let time = Exchange::of(&demand, &rates, rule).time(&circuits);
        let step3 = found.all_to_all.step3_ocs_ms.max(found.all_to_all.step3_eps_ms);
        prop_assert!((step3 / time - 1.0).abs() < 1e-9, "{} {}", step3, time);
        for from in 0..servers {
            for to in (0..servers).filter(|to| *to != from) {
                let carried: f64 = found.routes.iter()
                    .filter(|route| (route.src_server as usize, route.dst_server as usize) == (from, to))
                    .map(|route| route.bytes).sum();
                prop_assert!((carried - demand.between(from, to)).abs() <= 1e-9 * carried);
            }
        }
        prop_assert!(found.routes.iter().all(|route| route.path == RoutePath::Ocs || region.eps_nics.contains(&route.delegate_nic_src)));
    }

    #[test]
    fn nics_stay_balanced_from_change_to_change(servers in 2usize..9, degree in 1u32..8, number in 0u64..1000) {
        let region = MoeRegion::usual(servers as u32, 8, degree);
        let mut before: Vec<RegionCircuit> = Vec::new();
        for step in 0..4 {
            let demand = dirichlet(servers, 0.5, 4 * number + step);
            let circuits = greedy(&vec![degree; servers], &demand.both_ways(), BlockedRule::Continue);
            let after = changed(&region, &before, &circuits);
            let set: Vec<&RegionCircuit> = after.iter().filter(|c| c.action != CircuitAction::Remove).collect();
            prop_assert_eq!(set.len() as u32, circuits.total());
            let mut used = std::collections::BTreeSet::new();
            for circuit in &set {
                for end in [(circuit.server_a, circuit.nic_a), (circuit.server_b, circuit.nic_b)] {
                    prop_assert!(region.ocs_nics.contains(&end.1) && used.insert(end));
                }
            }
            for (a, b, count) in circuits.pairs() {
                for end in [true, false] {
                    let of = set.iter().filter(|c| (c.server_a as usize, c.server_b as usize) == (a, b));
                    let first = of.filter(|c| region.numa(if end { c.nic_a } else { c.nic_b }) == 0).count();
                    prop_assert!((2 * first).abs_diff(usize::from(count)) <= 1);
                }
            }
            let old = before.iter().filter(|c| c.action != CircuitAction::Remove).count();
            let stayed = after.iter().filter(|c| c.action != CircuitAction::Add).count();
            prop_assert_eq!(old, stayed);
            before = after;
        }
    }
}
