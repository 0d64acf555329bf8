use super::*;
use crate::methods::settings::{ROUTE_STREAM, route_seed};
use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod;
use crate::model::router::Allocator;
use crate::model::topology::Topology;
use crate::plan::{Expansion, Route, Routing, RoutingClaims, Simulation};
use crate::routing;
use crate::routing::dor;
use crate::scenario::SimulationSettings;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use proptest::prelude::*;

/// A prismatic torus, wired here by hand.
pub(super) fn torus(shape: [usize; 3]) -> Topology {
    let grid = shape.map(|side| side / 4);
    let group = Group::abelian(&grid).unwrap();
    let next = [
        usize::from(grid[0] > 1),
        grid[0] * usize::from(grid[1] > 1),
        grid[0] * grid[1] * usize::from(grid[2] > 1),
    ];
    Topology::symmetric(group, std::array::from_fn(|switch| next[pod::switch_dimension(switch)] as u16))
}

fn coordinates(node: u32, shape: [usize; 3]) -> [usize; 3] {
    let (cube, chip) = pod::parts(node);
    let grid = shape.map(|side| side / 4);
    let cubes = [cube % grid[0], cube / grid[0] % grid[1], cube / (grid[0] * grid[1])];
    let at = pod::position(chip);
    std::array::from_fn(|axis| 4 * cubes[axis] + usize::from(at[axis]))
}

/// Routes in dimension order; the second label from the wrap-around of a dimension on. Halves of a ring alternate.
pub(super) fn dimension_order(pod: &Topology, shape: [usize; 3]) -> Routing {
    let nodes = pod.nodes() as u32;
    let mut routes = Vec::new();
    for source in 0..nodes {
        for target in (0..nodes).filter(|&target| target != source) {
            let (from, to) = (coordinates(source, shape), coordinates(target, shape));
            let (mut ports, mut vcs) = (Vec::new(), Vec::new());
            for axis in 0..3 {
                let side = shape[axis];
                let up = (to[axis] + side - from[axis]) % side;
                let half = (from.iter().sum::<usize>() + to[(axis + 1) % 3]) % 2 == 0;
                let plus = 2 * up < side || (2 * up == side && half);
                let (mut at, mut label) = (from[axis], 0);
                for _ in 0..if plus { up } else { side - up } {
                    let next = if plus { (at + 1) % side } else { (at + side - 1) % side };
                    if at.abs_diff(next) > 1 {
                        label = 1;
                    }
                    ports.push(2 * axis as u8 + u8::from(!plus));
                    vcs.push(label);
                    at = next;
                }
            }
            routes.push(Route { source, target, ports, vcs });
        }
    }
    let claims = RoutingClaims { max_channel_load: 0, vc_hops: vec![], route_hop_sum: 0 };
    Routing { vc_count: 2, expand: Expansion::None, claims, routes, unbalanced: None }
}

pub(super) fn small() -> (Topology, Routing) {
    let pod = torus([4, 4, 4]);
    let routing = dimension_order(&pod, [4, 4, 4]);
    (pod, routing)
}

fn short() -> SimulationSettings {
    SimulationSettings { warmup_cycles: 1500, measure_cycles: 1500, ..SimulationSettings::default() }
}

/// Latencies short enough for many round trips in few cycles.
pub(super) fn near() -> SimulationSettings {
    SimulationSettings {
        router_latency_cycles: 1,
        link_latency_electrical_cycles: 2,
        link_latency_optical_cycles: 1,
        injection_latency_cycles: 1,
        ..short()
    }
}

fn conserved(simulator: &Simulator<'_>) -> bool {
    let counts = simulator.counts();
    let inside = simulator.in_network();
    // Credits tell the same number from the other side.
    inside == simulator.credits_in_use()
        && counts.offered - counts.refused == counts.delivered + inside + simulator.at_sources()
}

#[test]
fn a_lone_flit_takes_the_latencies_on_its_way() {
    let (pod, routing) = small();
    let latency = |settings: SimulationSettings, source: usize, target: usize| {
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let mut simulator = Simulator::new(&net, 0.0, 1, 0);
        simulator.send(source, target);
        simulator.run(3000);
        assert_eq!((simulator.counts().packets, simulator.in_network()), (1, 0));
        simulator.counts().latency_cycles
    };
    let usual = SimulationSettings::default;
    // From (0,0,0): to (1,0,0) one electrical hop, to (3,0,0) one optical, to (1,1,3) two electrical and one optical.
    assert_eq!(latency(usual(), 0, 1), 25 + (25 + 50));
    assert_eq!(latency(usual(), 0, 3), 25 + (25 + 25));
    assert_eq!(latency(usual(), 0, 1 + 4 + 48), 25 + 2 * (25 + 50) + (25 + 25));
    // The last of five flits is four cycles behind the first.
    assert_eq!(latency(SimulationSettings { packet_flits: 5, ..usual() }, 0, 1), 25 + 75 + 4);
    // At half the bandwidth a flit needs two cycles on a link, and the fifth begins eight cycles after the first.
    let slow = SimulationSettings { packet_flits: 5, link_gbyte_per_s: 64.0, ..usual() };
    assert_eq!(latency(slow, 0, 1), 25 + 76 + 8);
    // Buffers of one flit hold packets up: the next flit follows when the first has left, 75 cycles later.
    let narrow = SimulationSettings { packet_flits: 2, buffer_flits_per_vc: 1, vc_count: 2, ..usual() };
    assert_eq!(latency(narrow, 0, 1), 25 + 75 + 75);
    let other = SimulationSettings {
        router_latency_cycles: 3,
        link_latency_electrical_cycles: 7,
        link_latency_optical_cycles: 11,
        injection_latency_cycles: 0,
        ..usual()
    };
    assert_eq!(latency(other, 0, 1 + 4 + 48), 2 * (3 + 7) + (3 + 11));
}

#[test]
fn a_packet_sent_under_translation_arrives_at_its_target() {
    let pod = torus([4, 4, 8]);
    let all = dimension_order(&pod, [4, 4, 8]);
    let mut routes: Vec<Route> = all.routes.iter().filter(|route| route.source < 64).cloned().collect();
    // Every boundary between cubes is alike under translation, so each is a dateline.
    for route in &mut routes {
        let mut at = route.source;
        let mut crossed = [0; 3];
        for (&port, vc) in route.ports.iter().zip(&mut route.vcs) {
            let axis = pod::dimension(port);
            crossed[axis] |= u8::from(pod::electrical(pod::parts(at).1, port).is_none());
            *vc = crossed[axis];
            at = pod.neighbour(at, port);
        }
    }
    let translated = Routing { expand: Expansion::Translation, routes, ..all.clone() };
    let settings = SimulationSettings::default();
    let (full, quotient) = (
        SimulatedPod::new(&pod, &all, &settings).unwrap(),
        SimulatedPod::new(&pod, &translated, &settings).unwrap(),
    );
    assert_eq!(full.ideal_rate(), quotient.ideal_rate());
    for (source, target) in [(3, 77), (100, 5), (127, 64), (64, 0)] {
        let latency = |net| {
            let mut simulator = Simulator::new(net, 0.0, 1, 0);
            simulator.send(source, target);
            simulator.run(2000);
            simulator.counts()
        };
        let (a, b) = (latency(&full), latency(&quotient));
        assert_eq!(a.packets, 1);
        // Distances are the same; which half of a ring is taken may differ.
        assert_eq!((a.hops, a.packets), (b.hops, b.packets), "{source} {target}");
    }
}

#[test]
fn nothing_deadlocks_beyond_saturation_and_everything_drains() {
    let (pod, routing) = small();
    for (vc_count, packet_flits, buffer) in
        [(2, 1, 1), (2, 1, 200), (2, 4, 2), (2, 7, 20), (4, 5, 3), (4, 5, 20), (3, 1, 2)]
    {
        let settings = SimulationSettings { vc_count, packet_flits, buffer_flits_per_vc: buffer, ..near() };
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let mut simulator = Simulator::new(&net, 5.5, 3, 0);
        for _ in 0..20 {
            simulator.reset_counts();
            simulator.run(100);
            assert!(
                simulator.counts().delivered > 0,
                "{vc_count} lanes, {packet_flits} flits, {buffer} slots"
            );
        }
        simulator.stop_sources();
        for _ in 0..1000 {
            simulator.run(100);
            if simulator.in_network() + simulator.at_sources() == 0 {
                break;
            }
        }
        assert_eq!(
            simulator.in_network() + simulator.at_sources(),
            0,
            "{vc_count} lanes, {packet_flits} flits, {buffer} slots"
        );
    }
}

#[test]
fn routes_that_could_deadlock_are_refused() {
    for (shape, translation) in [([4, 4, 4], true), ([4, 4, 8], false)] {
        let pod = torus(shape);
        let mut routing = dimension_order(&pod, shape);
        if translation {
            routing.expand = Expansion::Translation;
        }
        SimulatedPod::new(&pod, &routing, &near()).unwrap();
        for route in &mut routing.routes {
            route.vcs.fill(0);
        }
        let problem = SimulatedPod::new(&pod, &routing, &near()).unwrap_err();
        assert!(problem.to_string().contains("in a cycle"), "{problem}");
    }
}

#[test]
fn tori_saturate_where_they_should() {
    // Of an independent simulator: 0.99 with four lanes, 0.97 with the two escape lanes alone, each within 0.05.
    let shape = [4, 4, 8];
    let pod = torus(shape);
    let routing = dimension_order(&pod, shape);
    for (vc_count, expected) in [(4, 0.99), (2, 0.97)] {
        let settings = SimulationSettings { vc_count, ..SimulationSettings::default() };
        let found =
            simulate(&pod, &routing, &settings, SaturationSearch::Bisection, 1, &mut Unwatched::default())
                .unwrap();
        let rate = found.saturation_flits_per_cycle_per_node;
        assert!((rate - expected).abs() <= 0.05, "{vc_count} lanes: {rate}");
        assert!(found.curve.windows(2).all(|pair| pair[0].0 < pair[1].0));
        // Latency grows along the curve; what is offered below saturation is delivered.
        for &(offered, delivered, _) in found.curve.iter().filter(|point| point.0 <= rate) {
            assert!((delivered / offered - 1.0).abs() < 0.02, "{offered} {delivered}");
        }
        assert!(found.curve.last().unwrap().2 > 2.0 * found.curve[0].2);
    }
}

/// Asserts that a pod saturates within 0.05 of a rate: not below, but above.
fn saturates_at(pod: &Topology, routing: &Routing, vc_count: u8, rate: f64) {
    let settings = SimulationSettings { vc_count, ..SimulationSettings::default() };
    let net = SimulatedPod::new(pod, routing, &settings).unwrap();
    let point = |rate| measure(&net, rate, 1, &|| false).unwrap();
    let (below, above) = (point(rate - 0.05), point(rate + 0.06));
    assert!(!below.saturated && above.saturated, "{vc_count} lanes: {below:?} {above:?}");
}

#[test]
fn twisted_tori_saturate_where_they_should() {
    // Figures of an independent simulator.
    let watch = &mut Unwatched::default();
    let pod = baselines::pdtt([4, 4, 8]).unwrap();
    let routing = dor::route(&pod, [4, 4, 8], true, &dor::DorSettings::default(), watch).unwrap();
    saturates_at(&pod, &routing, 4, 1.44);
    saturates_at(&pod, &routing, 2, 1.25);
}

#[test]
fn designs_saturate_beyond_every_torus_of_their_size() {
    // A design whose flow is 0.01366: its routes would carry 127 / 78 flits per cycle and node.
    let crossed = [
        0, 2, 5, 7, 8, 10, 12, 13, 15, 16, 18, 19, 21, 23, 24, 26, 29, 31, 32, 34, 36, 37, 39, 41, 42, 44,
        46, 47,
    ];
    let voltage = std::array::from_fn(|switch| u16::from(crossed.contains(&switch)));
    let pod = Topology::symmetric(Group::abelian(&[2]).unwrap(), voltage);
    let routing = routing::route(&pod, &routing::RoutingSettings::default(), &mut Unwatched::default())
        .unwrap()
        .routing;
    assert!(routing.claims.max_channel_load <= 79);
    let settings = SimulationSettings::default();
    let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
    let point = measure(&net, 1.48, 1, &|| false).unwrap();
    assert!(!point.saturated, "{point:?}");
    assert!(measure(&net, 1.7, 1, &|| false).unwrap().saturated);
}

/// Figures of an ideal allocator, of the version before routers had a crossbar: seed and settings still give them.
#[test]
fn figures_of_an_ideal_allocator_stay() {
    let shape = [4, 4, 4];
    let pod = baselines::pt(shape).unwrap();
    let watch = &mut Unwatched::default();
    let routing = dor::route(&pod, shape, false, &dor::DorSettings::default(), watch).unwrap();
    let settings = SimulationSettings {
        warmup_cycles: 300,
        measure_cycles: 300,
        rate_step: 0.1,
        ..SimulationSettings::default()
    };
    let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
    let seed = route_seed(Streams::new(1).stream(ROUTE_STREAM));
    for (rate, delivered, latency) in [
        (0.1, 0.098_229_166_666_666_67, 230.720_042_417_815_48),
        (1.4, 1.350_833_333_333_333_3, 236.117_597_162_245_52),
        (2.2, 1.596_875, 271.425_407_697_325_5),
    ] {
        let point = measure(&net, rate, seed, &|| false).unwrap();
        assert_eq!((point.delivered, point.mean_latency_cycles), (delivered, latency));
    }
}

#[test]
fn steps_and_bisection_agree_and_repeat() {
    let (pod, routing) = small();
    let settings = SimulationSettings {
        rate_step: 0.1,
        warmup_cycles: 600,
        measure_cycles: 600,
        ..SimulationSettings::default()
    };
    let find =
        |search, seed| simulate(&pod, &routing, &settings, search, seed, &mut Unwatched::default()).unwrap();
    let (steps, thirds) = (find(SaturationSearch::Steps, 4), find(SaturationSearch::Bisection, 4));
    assert_eq!(steps.saturation_flits_per_cycle_per_node, thirds.saturation_flits_per_cycle_per_node);
    assert_eq!(thirds, find(SaturationSearch::Bisection, 4));
    assert_ne!(thirds.curve, find(SaturationSearch::Bisection, 5).curve);
    // Rates are multiples of the step without its rounding error.
    assert!(steps.curve.iter().enumerate().all(|(index, point)| point.0 == (index + 1) as f64 / 10.0));
}

/// A window that ends before packets arrive measures itself, not the network.
#[test]
fn a_warm_up_shorter_than_the_latency_is_remarked() {
    let (pod, routing) = small();
    let note = |warmup_cycles| {
        let settings = SimulationSettings { rate_step: 0.1, warmup_cycles, ..short() };
        let found =
            simulate(&pod, &routing, &settings, SaturationSearch::Bisection, 1, &mut Unwatched::default());
        found.unwrap().window_note(warmup_cycles)
    };
    for warmup_cycles in [0, 100] {
        let said = note(warmup_cycles).unwrap();
        assert!(said.contains(&format!("longer than warmup_cycles={warmup_cycles}")), "{said}");
    }
    assert_eq!(note(1500), None);
    let empty = Simulation {
        saturation_flits_per_cycle_per_node: 0.0,
        allocator: Allocator::Ideal,
        speedup: 1,
        curve: vec![(0.5, 0.0, 0.0)],
    };
    assert!(empty.window_note(60).unwrap().contains("no packet left"));
}

#[test]
fn a_slow_link_halves_the_rate() {
    let (pod, routing) = small();
    let slow = SimulationSettings { link_gbyte_per_s: 64.0, rate_step: 0.02, ..short() };
    let fast = SimulationSettings { link_gbyte_per_s: 128.0, ..slow.clone() };
    let find = |settings: &SimulationSettings| {
        let found =
            simulate(&pod, &routing, settings, SaturationSearch::Bisection, 1, &mut Unwatched::default())
                .unwrap();
        found.saturation_flits_per_cycle_per_node
    };
    let (slow, fast) = (find(&slow), find(&fast));
    assert!((fast / slow - 2.0).abs() < 0.12, "{slow} {fast}");
}

/// With 1.5 cycles per flit, a busy link carries two flits in three cycles; faster links than one flit per cycle have no
/// further effect, and this is remarked.
#[test]
fn links_keep_rates_that_are_not_whole_cycles() {
    let (pod, routing) = small();
    let at = |link_gbyte_per_s| SimulationSettings { link_gbyte_per_s, rate_step: 0.02, ..short() };
    let find = |settings: &SimulationSettings| {
        let search = SaturationSearch::Bisection;
        let found = simulate(&pod, &routing, settings, search, 1, &mut Unwatched::default()).unwrap();
        found.saturation_flits_per_cycle_per_node
    };
    // 128 B at 1.05 GHz.
    let clock = 134.4;
    let (fast, slow, excess) = (at(clock), at(clock / 1.5), at(1344.0));
    let (whole, part) = (find(&fast), find(&slow));
    assert!((whole / part - 1.5).abs() < 0.1, "{whole} {part}");
    assert_eq!(find(&excess), whole);
    assert_eq!(
        [fast.rate_note(), slow.rate_note(), SimulationSettings::default().rate_note()],
        [None, None, None]
    );
    assert!(excess.rate_note().unwrap().contains("link_gbyte_per_s=1344 has the effect of 134.4"));
}

#[test]
fn settings_and_routes_that_make_no_sense_are_refused() {
    let (pod, routing) = small();
    let usual = SimulationSettings::default;
    let with = |allocator| SimulationSettings { allocator, ..usual() };
    for (settings, field) in [
        (SimulationSettings { vc_count: 9, ..usual() }, "vc_count"),
        (SimulationSettings { escape_vc_count: 5, ..usual() }, "escape_vc_count"),
        (SimulationSettings { escape_vc_count: 1, ..usual() }, "escape_vc_count"),
        (SimulationSettings { buffer_flits_per_vc: 0, ..usual() }, "buffer_flits_per_vc"),
        (SimulationSettings { buffer_flits_per_vc: u32::MAX, ..usual() }, "buffer_flits_per_vc"),
        (SimulationSettings { packet_flits: 0, ..usual() }, "packet_flits"),
        (SimulationSettings { speedup: 2, ..usual() }, "speedup"),
        (SimulationSettings { chip_ports: 2, ..usual() }, "chip_ports"),
        (SimulationSettings { speedup: 3, ..with(Allocator::Wavefront) }, "speedup"),
        (SimulationSettings { chip_ports: 0, ..with(Allocator::Islip) }, "chip_ports"),
        (SimulationSettings { islip_iterations: 2, ..with(Allocator::Wavefront) }, "islip_iterations"),
        (SimulationSettings { islip_iterations: 0, ..with(Allocator::Islip) }, "islip_iterations"),
        (SimulationSettings { rate_step: f64::NAN, ..usual() }, "rate_step"),
        (SimulationSettings { measure_cycles: u32::MAX, ..usual() }, "measure_cycles"),
        (SimulationSettings { router_latency_cycles: 70_000, ..usual() }, "router_latency_cycles"),
    ] {
        let problem = SimulatedPod::new(&pod, &routing, &settings).unwrap_err();
        assert_eq!(problem.path, format!("simulate.{field}"), "{problem}");
    }
    let spoil = |change: &dyn Fn(&mut Routing)| {
        let mut spoilt = routing.clone();
        change(&mut spoilt);
        SimulatedPod::new(&pod, &spoilt, &usual()).unwrap_err().to_string()
    };
    assert!(spoil(&|r| drop(r.routes.pop())).contains("no route from chip 63 to chip 62"));
    assert!(spoil(&|r| r.routes[0].target = 2).contains("ends at chip 1 instead of chip 2"));
    assert!(spoil(&|r| r.routes[1] = r.routes[0].clone()).contains("second route"));
    assert!(spoil(&|r| r.routes[0].ports[0] = 6).contains("port 6"));
    assert!(spoil(&|r| r.routes[0].vcs.clear()).contains("virtual channel"));
    let general: Vec<Vec<u16>> = (0..48).map(|_| vec![1, 0]).collect();
    let pod = Topology::general(&general).unwrap();
    let translated = Routing { expand: Expansion::Translation, ..routing.clone() };
    assert!(SimulatedPod::new(&pod, &translated, &usual()).unwrap_err().path.contains("expand"));
}

/// Every input port sends at most one flit per cycle, whatever lanes its flits are in.
#[test]
fn an_input_port_sends_one_flit_per_cycle() {
    let (pod, routing) = small();
    for vc_count in [2, 4, 8] {
        let net = SimulatedPod::new(&pod, &routing, &SimulationSettings { vc_count, ..near() }).unwrap();
        let mut simulator = Simulator::new(&net, 6.0, 1, 0);
        simulator.run(300);
        let stride = if vc_count > 4 { 8 } else { 4 };
        for _ in 0..200 {
            let before = simulator.departures.clone();
            simulator.run(1);
            for (before, after) in before.chunks(stride).zip(simulator.departures.chunks(stride)) {
                let sent: u64 = before.iter().zip(after).map(|(before, after)| after - before).sum();
                assert!(sent <= 1, "{vc_count} lanes: {sent} flits");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// At every moment, what was generated is delivered, in the network, at a source, or was refused.
    #[test]
    fn flits_are_conserved_at_every_moment(
        rate in 0.05f64..6.0,
        escapes in 2u8..4,
        free in 0u8..3,
        packet_flits in 1u32..6,
        buffer in 1u32..12,
        slow in proptest::bool::ANY,
        latencies in [0u32..30, 0u32..30, 0u32..30, 0u32..30],
        seed in 0u64..1000,
    ) {
        let (pod, routing) = small();
        let settings = SimulationSettings {
            vc_count: escapes + free,
            escape_vc_count: escapes,
            packet_flits,
            buffer_flits_per_vc: buffer,
            link_gbyte_per_s: if slow { 64.0 } else { 128.0 },
            router_latency_cycles: latencies[0],
            link_latency_electrical_cycles: latencies[1],
            link_latency_optical_cycles: latencies[2],
            injection_latency_cycles: latencies[3],
            ..SimulationSettings::default()
        };
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let mut simulator = Simulator::new(&net, rate, seed, 0);
        for _ in 0..300 {
            simulator.run(1);
            prop_assert!(conserved(&simulator));
        }
        simulator.stop_sources();
        for _ in 0..4000 {
            if simulator.in_network() + simulator.at_sources() == 0 {
                break;
            }
            simulator.run(200);
        }
        prop_assert_eq!(simulator.in_network() + simulator.at_sources(), 0);
        // Every flit has made the hops of its route, no more: on average 3 on this torus.
        let counts = simulator.counts();
        let sent = counts.offered - counts.refused;
        prop_assert_eq!(counts.delivered, sent);
        prop_assert_eq!(counts.packets * u64::from(packet_flits), sent);
        if sent > 3000 * u64::from(packet_flits) {
            let mean = counts.hops as f64 / sent as f64;
            prop_assert!((mean - 192.0 / 63.0).abs() < 0.15, "{}", mean);
        }
    }
}

#[test]
fn routes_of_any_length_are_walked_to_their_end() {
    // A ring of 32 chips along z: up to 2 + 2 + 16 hops, which no single word holds.
    let shape = [4, 4, 32];
    let pod = torus(shape);
    let net = SimulatedPod::new(&pod, &dimension_order(&pod, shape), &near()).unwrap();
    for (source, target) in
        [(0, 511), (0, 4 * 64), (5, 64 * 3 + 42), (63, 64 * 4), (17, 64 * 2 + 17), (0, 64 * 3 + 16)]
    {
        let (from, to) = (coordinates(source as u32, shape), coordinates(target as u32, shape));
        let away =
            |axis: usize| from[axis].abs_diff(to[axis]).min(shape[axis] - from[axis].abs_diff(to[axis]));
        let mut simulator = Simulator::new(&net, 0.0, 1, 0);
        simulator.send(source, target);
        simulator.run(300);
        let counts = simulator.counts();
        assert_eq!(
            (counts.packets, counts.hops),
            (1, (away(0) + away(1) + away(2)) as u64),
            "{source} {target}"
        );
    }
}

#[test]
fn eight_lanes_fit_into_the_request_masks() {
    let (pod, routing) = small();
    let settings = SimulationSettings { vc_count: 8, ..short() };
    let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
    assert!(!measure(&net, 1.0, 1, &|| false).unwrap().saturated);
}
