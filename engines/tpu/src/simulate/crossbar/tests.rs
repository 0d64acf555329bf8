use super::super::search::measure;
use super::super::tests::{dimension_order, near, small, torus};
use super::*;
use crate::scenario::SimulationSettings;
use lightbay_core::random::Streams;
use proptest::prelude::*;
use rand::RngExt;

const RULES: [(Allocator, u8); 4] =
    [(Allocator::Wavefront, 1), (Allocator::Wavefront, 2), (Allocator::Islip, 1), (Allocator::Islip, 2)];

fn with(allocator: Allocator, speedup: u8, other: SimulationSettings) -> SimulationSettings {
    SimulationSettings { allocator, speedup, ..other }
}

#[test]
fn a_lone_flit_takes_a_round_for_its_lane_and_one_for_its_crossing() {
    let (pod, routing) = small();
    for (allocator, speedup) in RULES {
        let settings = with(allocator, speedup, SimulationSettings::default());
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let mut simulator = CrossbarSimulator::new(&net, 0.0, 1, 0);
        simulator.enqueue(0, 0, 1);
        simulator.run(1000);
        let counts = simulator.counts();
        assert_eq!((counts.packets, counts.hops, simulator.in_network()), (1, 1, 0));
        // Two routers; with two rounds per cycle, both stages fit into the cycle of the arrival.
        let stages = 2 * u64::from(2 - speedup);
        assert_eq!(counts.latency_cycles, 25 + (25 + 50) + stages, "{allocator:?} {speedup}");
    }
}

/// Chip 0 sends to its neighbour alone: the ports of the chips, the crossbars and the link carry a flit in every cycle.
#[test]
fn one_link_saturates_at_one_flit_per_cycle() {
    let (pod, routing) = small();
    for (allocator, speedup) in RULES {
        let net = SimulatedPod::new(&pod, &routing, &with(allocator, speedup, near())).unwrap();
        let mut simulator = CrossbarSimulator::new(&net, 0.0, 1, 0);
        for cycle in 0..2000 {
            if cycle == 1000 {
                simulator.reset_counts();
            }
            simulator.enqueue(0, 0, 1);
            simulator.run(1);
        }
        let delivered = simulator.counts().delivered;
        assert!((995..=1005).contains(&delivered), "{allocator:?} {speedup}: {delivered}");
    }
}

#[test]
fn a_packet_keeps_its_lane_until_its_last_flit_has_crossed() {
    let (pod, routing) = small();
    let rate = |packet_flits: u32, speedup: u8| {
        let settings =
            SimulationSettings { packet_flits, vc_count: 2, ..with(Allocator::Wavefront, speedup, near()) };
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let mut simulator = CrossbarSimulator::new(&net, 0.0, 1, 0);
        (0..1200 / packet_flits).for_each(|_| simulator.enqueue(0, 0, 1));
        simulator.run(500);
        let before = simulator.counts().delivered;
        simulator.run(100);
        simulator.counts().delivered - before
    };
    // The route has one label, and there are no free lanes: p flits take p + 1 rounds.
    assert_eq!(rate(1, 1), 50);
    assert_eq!(rate(1, 2), 100);
    assert_eq!(rate(4, 1), 80);
}

/// Feeds every link input of chip 0 with packets to random outputs, in one lane; returns the flits that each output
/// sends per cycle.
fn one_switch(allocator: Allocator, speedup: u8, packet_flits: u32) -> f64 {
    const CYCLES: u32 = 8000;
    let (pod, routing) = small();
    let settings = SimulationSettings {
        packet_flits,
        vc_count: 2,
        buffer_flits_per_vc: 40_000,
        chip_ports: 6,
        ..with(allocator, speedup, near())
    };
    let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
    let mut simulator = CrossbarSimulator::new(&net, 0.0, 1, 0);
    let mut random = Streams::new(3).stream(0);
    for _ in 0..CYCLES {
        for input in 0..PORTS {
            if simulator.lanes[input * net.lanes].len() > packet_flits as usize {
                continue;
            }
            let port = random.random_range(0..PORTS as u64);
            for sent in 1..=packet_flits {
                let tail = if sent == packet_flits { TAIL } else { 0 };
                // One hop on label 0, then the end of the route.
                let flit = Flit::new(simulator.now | tail, port | u64::from(EJECT) << 5);
                simulator.store(input * net.lanes, flit);
            }
        }
        simulator.run(1);
    }
    simulator.counts().hops as f64 / f64::from(CYCLES) / PORTS as f64
}

/// Six first-in first-out inputs carry 0.630 of the traffic to six outputs (Karol, Hluchyj and Morgan, table I), here
/// less the round in which a packet of 64 flits gets its lane. Two rounds per cycle lift this limit.
#[test]
fn heads_of_queues_block_a_switch_of_one_round() {
    for allocator in [Allocator::Wavefront, Allocator::Islip] {
        let (single, double) = (one_switch(allocator, 1, 64), one_switch(allocator, 2, 64));
        assert!((single - 0.63 * 64.0 / 65.0).abs() < 0.03, "{allocator:?}: {single}");
        assert!(double > 0.96, "{allocator:?}: {double}");
    }
}

/// Rounded rates of BookSim2's input-queued router on these routes: 0.76 with wavefronts, 0.65 with iSLIP, 1.0 with a
/// speedup of 2; within 3 %, if every chip offers one flit per cycle and links have eight lanes, two of them escape
/// lanes.
#[test]
fn an_overloaded_torus_delivers_what_an_independent_simulator_finds() {
    let shape = [4, 4, 8];
    let pod = torus(shape);
    let routing = dimension_order(&pod, shape);
    let rules = [(Allocator::Wavefront, 1, 0.76), (Allocator::Islip, 1, 0.65), (Allocator::Islip, 2, 1.0)];
    for (allocator, speedup, expected) in rules {
        let settings =
            with(allocator, speedup, SimulationSettings { vc_count: 8, ..SimulationSettings::default() });
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let found = measure(&net, 1.0, 1, &|| false).unwrap().delivered;
        assert!((found / expected - 1.0).abs() < 0.03, "{allocator:?} {speedup}: {found}");
    }
}

#[test]
fn more_ports_of_a_chip_and_more_iterations_carry_more() {
    let (pod, routing) = small();
    let delivered = |settings: &SimulationSettings| {
        let settings = SimulationSettings { warmup_cycles: 500, measure_cycles: 500, ..settings.clone() };
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        measure(&net, 1.5, 1, &|| false).unwrap().delivered
    };
    let usual = with(Allocator::Islip, 2, near());
    let one = delivered(&usual);
    assert!(one <= 1.0, "{one}");
    // The routes of this torus could carry almost two flits per cycle and chip, which is remarked.
    assert!(usual.port_note(1.97).unwrap().contains("at most 1 flits per cycle (chip_ports=1)"));
    assert_eq!((usual.port_note(0.98), SimulationSettings::default().port_note(1.97)), (None, None));
    let two = delivered(&SimulationSettings { chip_ports: 2, ..usual });
    assert!(two > 1.3, "{two}");
    let slow = with(Allocator::Islip, 1, near());
    let more = SimulationSettings { islip_iterations: 4, ..slow.clone() };
    assert_ne!(delivered(&slow), delivered(&more));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// At every moment, what was generated is delivered, in the network, at a source, or was refused; without sources,
    /// the network drains, so nothing is deadlocked.
    #[test]
    fn flits_are_conserved_and_drain(
        rate in 0.05f64..6.0,
        free in 0u8..3,
        packet_flits in 1u32..6,
        buffer in 1u32..12,
        chip_ports in 1u8..=6,
        rule in 0usize..4,
        slow in proptest::bool::ANY,
        seed in 0u64..1000,
    ) {
        let (pod, routing) = small();
        let (allocator, speedup) = RULES[rule];
        let settings = SimulationSettings {
            vc_count: 2 + free,
            packet_flits,
            buffer_flits_per_vc: buffer,
            chip_ports,
            link_gbyte_per_s: if slow { 64.0 } else { 128.0 },
            ..with(allocator, speedup, near())
        };
        let net = SimulatedPod::new(&pod, &routing, &settings).unwrap();
        let mut simulator = CrossbarSimulator::new(&net, rate, seed, 0);
        for _ in 0..200 {
            simulator.run(1);
            let counts = simulator.counts();
            let kept = simulator.in_network() + simulator.at_sources();
            prop_assert_eq!(counts.offered - counts.refused, counts.delivered + kept);
            prop_assert!(simulator.is_balanced());
        }
        simulator.stop_sources();
        for _ in 0..4000 {
            if simulator.in_network() + simulator.at_sources() == 0 {
                break;
            }
            simulator.run(100);
        }
        prop_assert_eq!(simulator.in_network() + simulator.at_sources(), 0);
        let counts = simulator.counts();
        prop_assert_eq!(counts.packets * u64::from(packet_flits), counts.offered - counts.refused);
    }
}
