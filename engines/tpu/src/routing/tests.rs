use super::testing::{assert_sound, plain, vector_pod};
use super::*;
use crate::model::group::Group;
use lightbay_core::watch::Unwatched;

fn routed(pod: &Topology, settings: &RoutingSettings) -> Routed {
    route(pod, settings, &mut Unwatched::default()).unwrap()
}

#[test]
fn routes_are_sound_and_loads_add_up() {
    for (cubes, slack_hops) in [(1, 0), (2, 0), (3, 2), (4, 0)] {
        let pod = vector_pod(cubes);
        let Routed { routing, found } =
            routed(&pod, &RoutingSettings { slack_hops, ..RoutingSettings::default() });
        assert_eq!(routing.expand, Expansion::Translation);
        assert_sound(&pod, &routing, &[]);
        let loads: u64 = found.selection.loads.iter().map(|load| u64::from(*load)).sum();
        assert_eq!(loads * cubes as u64, routing.claims.route_hop_sum);
        let [one, other] = routing.claims.vc_hops[..] else { panic!("two virtual channels") };
        assert!(one.abs_diff(other) * 1000 < one, "{one} and {other} hops");
        let unbalanced = routing.unbalanced.unwrap();
        assert!(unbalanced.vc_hops[0] > one);
        let hops = |vc: usize| unbalanced.loads[vc].iter().map(|load| u64::from(*load)).sum::<u64>();
        assert_eq!([hops(0), hops(1)].map(|hops| hops * cubes as u64)[..], unbalanced.vc_hops);
    }
}

#[path = "../../benches/routing/designs.rs"]
#[allow(dead_code)]
mod designs;

#[test]
fn designed_pods_are_routed_close_to_what_they_carry() {
    for design in &designs::DESIGNS[1..3] {
        let pod = Topology::symmetric(Group::abelian(design.factors).unwrap(), design.voltage);
        let routed = routed(&pod, &RoutingSettings::default());
        let ratio = routed.routing.claims.max_channel_load as f64 * design.mcf_upper;
        assert!((1.0..=1.04).contains(&ratio), "{} chips: {ratio}", pod.nodes());
    }
}

#[test]
fn the_same_seed_gives_the_same_routes_on_any_number_of_threads() {
    struct Many(Unwatched);
    impl Watch for Many {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            Watch::<()>::checkpoint(&mut self.0)
        }
        fn report(&mut self, _body: lightbay_core::event::EventBody) {}
        fn count(&mut self, units: u64) {
            Watch::<()>::count(&mut self.0, units);
        }
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Watch::<()>::stop_test(&self.0)
        }
        fn threads(&self) -> usize {
            3
        }
    }
    let pod = vector_pod(8);
    let settings = RoutingSettings { passes: 2, slack_hops: 2, seed: 3, ..RoutingSettings::default() };
    let one = routed(&pod, &settings).routing;
    let many = route(&pod, &settings, &mut Many(Unwatched::default())).unwrap().routing;
    assert_eq!(one, many);
    let other = routed(&pod, &RoutingSettings { seed: 4, ..settings }).routing;
    assert_ne!(one.routes, other.routes);
}

#[test]
fn pods_without_symmetry_are_routed_arc_by_arc() {
    let pod = plain(&vector_pod(2));
    let routed = routed(&pod, &RoutingSettings { passes: 3, ..RoutingSettings::default() });
    assert_eq!(routed.routing.expand, Expansion::None);
    assert_eq!(routed.routing.routes.len(), 128 * 127);
    assert_sound(&pod, &routed.routing, &[]);
}

#[test]
fn one_virtual_channel_needs_a_spanning_tree_and_more_than_two_are_used() {
    for (vc_count, tolerated_faults) in [(1, 0), (1, 1), (3, 0)] {
        let pod = vector_pod(2);
        let routed = routed(
            &pod,
            &RoutingSettings { vc_count, tolerated_faults, passes: 2, ..RoutingSettings::default() },
        );
        assert_sound(&pod, &routed.routing, &[]);
        assert_eq!(routed.routing.claims.vc_hops.len(), usize::from(vc_count));
        assert!(routed.routing.claims.vc_hops.iter().all(|hops| *hops > 0));
    }
}

#[test]
fn failed_switches_are_avoided() {
    let pod = vector_pod(3);
    let failed = vec![0, 17, 40];
    let routed = routed(
        &pod,
        &RoutingSettings { failed, passes: 2, priority: TurnPriority::Best, ..RoutingSettings::default() },
    );
    assert_sound(&pod, &routed.routing, &[0, 17, 40]);
}

#[test]
fn pairs_without_a_way_are_named() {
    let pod = vector_pod(2);
    let settings = RoutingSettings { failed: (0..48).collect(), ..RoutingSettings::default() };
    let error = route(&pod, &settings, &mut Unwatched::default()).unwrap_err();
    let RouteError::Unreachable(missing) = &error else { panic!("{error:?}") };
    assert_eq!((missing.total, missing.named[0], missing.named.len()), (64 * 64, (0, 64), 20));
    assert!(error.to_string().starts_with("no route leads from chip 0 to chip 64, chip 0 to chip 65"));
    assert!(error.to_string().ends_with("and 4076 more pairs"));
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let pod = vector_pod(2);
    let path = |settings: RoutingSettings| match route(&pod, &settings, &mut Unwatched::default()) {
        Err(RouteError::Invalid(problem)) => problem.path,
        other => panic!("{other:?}"),
    };
    assert_eq!(path(RoutingSettings { vc_count: 0, ..RoutingSettings::default() }), "vc_count");
    assert_eq!(path(RoutingSettings { vc_count: 9, ..RoutingSettings::default() }), "vc_count");
    assert_eq!(path(RoutingSettings { slack_hops: 1, ..RoutingSettings::default() }), "slack_hops");
    assert_eq!(path(RoutingSettings { failed: vec![48], ..RoutingSettings::default() }), "failed_ocs");
    assert_eq!(path(RoutingSettings { memory_limit_bytes: 1000, ..RoutingSettings::default() }), "routing");
}

#[test]
fn allowed_turns_do_on_tori_what_they_are_known_to() {
    // Torus, largest load known, hops of all routes.
    let rows = [
        (crate::model::baselines::pt([4, 4, 8]).unwrap(), 128, 65_776),
        (crate::model::baselines::pdtt([4, 4, 8]).unwrap(), 74, 56_442),
        (crate::model::baselines::pdtt([4, 8, 8]).unwrap(), 185, 283_612),
    ];
    for (pod, load, hops) in rows {
        let routing = routed(&pod, &RoutingSettings::default()).routing;
        assert_sound(&pod, &routing, &[]);
        let claims = &routing.claims;
        assert!(claims.max_channel_load.abs_diff(load) <= 2, "{} chips: {claims:?}", pod.nodes());
        // Few routes are longer than the shortest ones.
        assert!(claims.route_hop_sum.abs_diff(hops) * 100 < hops, "{} chips: {claims:?}", pod.nodes());
        let [one, other] = claims.vc_hops[..] else { panic!("two virtual channels") };
        assert!(one.abs_diff(other) * 1000 < one, "{claims:?}");
    }
}
