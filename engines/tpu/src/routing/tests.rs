use super::testing::{assert_sound, vector_pod};
use super::*;
use crate::watch::Unwatched;

fn routed(pod: &Topology, settings: &Settings) -> Routed {
    route(pod, settings, &mut Unwatched::default()).unwrap()
}

#[test]
fn routes_are_sound_and_loads_add_up() {
    for (cubes, slack_hops) in [(1, 0), (2, 0), (3, 2), (4, 0)] {
        let pod = vector_pod(cubes);
        let Routed { routing, found } = routed(&pod, &Settings { slack_hops, ..Settings::default() });
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
