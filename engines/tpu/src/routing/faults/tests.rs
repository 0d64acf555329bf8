use super::*;
use crate::model::group::Group;
use crate::routing::testing::{assert_sound, random_pod, vector_pod};
use lightbay_core::watch::Unwatched;

#[test]
fn each_case_avoids_its_switch() {
    let pod = vector_pod(2);
    for turns in [FaultTurns::Shared, FaultTurns::PerFault] {
        let settings = FaultSettings {
            routing: routing::RoutingSettings { passes: 2, ..routing::RoutingSettings::default() },
            turns,
            with_routes: true,
        };
        let mut heard = Vec::new();
        let cases =
            sweep(&pod, &settings, &mut Unwatched::default(), |case| heard.push(case.failed_ocs)).unwrap();
        assert_eq!(heard, (0..48).collect::<Vec<u8>>());
        for case in &cases {
            let routing = case.routing.as_ref().unwrap();
            assert_sound(&pod, routing, &[usize::from(case.failed_ocs)]);
            assert_eq!(case.max_channel_load, Some(routing.claims.max_channel_load));
            assert!((case.avg_hops - routing.claims.route_hop_sum as f64 / (128.0 * 127.0)).abs() < 1e-12);
            assert!(case.unreachable.is_empty());
        }
    }
}

#[test]
fn pairs_that_a_fault_cuts_off_are_named() {
    // One switch alone joins the two cubes.
    let mut voltage = [0; SWITCHES];
    voltage[20] = 1;
    let pod = Topology::symmetric(Group::abelian(&[2]).unwrap(), voltage);
    let settings = FaultSettings {
        routing: routing::RoutingSettings { passes: 1, ..routing::RoutingSettings::default() },
        ..FaultSettings::default()
    };
    let found = routing::find(&pod, &settings.routing, &mut Unwatched::default()).unwrap();
    let cut = case(&pod, &found, &settings, 20, None, &mut Unwatched::default()).unwrap();
    assert_eq!(cut.max_channel_load, None);
    assert_eq!(cut.unreachable.len(), 20);
    assert_eq!(cut.unreachable[0], (0, 64));
    let held = case(&pod, &found, &settings, 21, None, &mut Unwatched::default()).unwrap();
    assert!(held.max_channel_load.is_some() && held.unreachable.is_empty());
}

#[test]
fn saturation_is_asked_for_each_case() {
    let pod = random_pod(Group::abelian(&[2]).unwrap(), 1);
    let settings = FaultSettings {
        routing: routing::RoutingSettings { passes: 1, ..routing::RoutingSettings::default() },
        ..FaultSettings::default()
    };
    let found = routing::find(&pod, &settings.routing, &mut Unwatched::default()).unwrap();
    let saturation = |switch: u8, routing: &Routing| {
        Some(f64::from(switch) + 1.0 / routing.claims.max_channel_load as f64)
    };
    let case = case(&pod, &found, &settings, 4, Some(&saturation), &mut Unwatched::default()).unwrap();
    let expected = 4.0 + 1.0 / case.max_channel_load.unwrap() as f64;
    assert_eq!(case.saturation_flits_per_cycle_per_node, Some(expected));
    assert!(case.routing.is_none());
}
