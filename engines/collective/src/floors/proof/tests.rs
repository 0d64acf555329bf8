use super::*;
use crate::testing::{own, preset};

fn floors(scenario: &CollectiveScenario) -> ScenarioFloors {
    scenario_floors(scenario, &CollectiveTasks::of(scenario, None).unwrap()).unwrap()
}

/// Reference floors: AllGather without latencies, and AllToAll.
#[test]
fn floors_of_built_in_machines_are_the_known_ones() {
    for (name, floor_us, because) in [
        ("ndv2x2-allgather-1gb", 40_000.0, "cut into group 0"),
        ("ndv2x4-allgather-1gb", 60_000.0, "cut into group"),
        ("dgx1-allgather-1gb", 17_500.0 / 3.0, "cut into"),
        ("dgx2x2-allgather-1gb", 7_750.0, "cut into"),
        ("amdx2-allgather-1gb", 37_500.0 / 13.0, "cut into"),
        ("a100x4-reducescatter-1gb", 3_750.0, "cut out of"),
        ("dgx1-alltoall-1gb", 40_000.0 / 3.0, "cut into"),
        ("ndv2x2-alltoall-1gb", 320_000.0, "cut into group"),
        ("dgx2x2-alltoall-1gb", 80_000.0, "cut into group"),
        ("torus4x4x4-alltoall-1gb", 10_000.0, ""),
        ("a100x2-alltoall-1gb", 20_000.0, ""),
    ] {
        let found = floors(&preset(name)).without_latency;
        assert!((found.floor_us / floor_us - 1.0).abs() < 1e-9, "{name}: {found:?}");
        assert!(found.because.starts_with(because), "{name}: {found:?}");
    }
}

/// Hand example 7: a chain of three with 1 µs on every link.
#[test]
fn latencies_are_counted_on_both_sides_of_a_cut() {
    let links = [(0, 1, 1.0, 1.0), (1, 0, 1.0, 1.0), (1, 2, 1.0, 1.0), (2, 1, 1.0, 1.0)];
    let mut scenario = own(3, &[], &links, &[]);
    scenario.demand = crate::scenario::Demand::named(CollectiveSort::AllGather, 3e6);
    let found = floors(&scenario);
    assert!((found.without_latency.floor_us - 2000.0).abs() < 1e-9, "{found:?}");
    assert!((found.with_latency.floor_us - 2001.0).abs() < 1e-9, "{found:?}");
    scenario.demand.output_buffer_bytes = Some(3e-3);
    let found = floors(&scenario).with_latency;
    assert!((2.0..2.000_002).contains(&found.floor_us), "{found:?}");
}

/// All bytes of a ring of four have to go round: 2·3/4 of the data over each of the links.
#[test]
fn sums_take_two_transfers_for_each_gpu_but_one() {
    let found = floors(&preset("ring4-allreduce-1mb"));
    let rate = preset("ring4-allreduce-1mb").topology.links[0].capacity_gbyte_per_s;
    let floor_us = 2.0 * 3.0 * 1e6 / (8.0 * 1000.0 * rate);
    assert!((found.without_latency.floor_us - floor_us).abs() < 1e-9, "{found:?}");
    assert_eq!(found.without_latency.because, floor_words::GPUS);
}

#[test]
fn nothing_to_do_has_no_floor() {
    let found = floors(&own(2, &[], &[(0, 1, 1.0, 0.0)], &[(0, &[])]));
    assert_eq!((found.without_latency.floor_us, found.with_latency.floor_us), (0.0, 0.0));
}
