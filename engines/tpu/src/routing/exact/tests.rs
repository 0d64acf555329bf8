use crate::routing::testing::{assert_sound, vector_pod};
use crate::routing::{RouteSelection, RoutingSettings, route};
use lightbay_core::watch::Unwatched;

#[test]
fn the_program_is_no_worse_than_prices_and_says_what_is_possible() {
    let pod = vector_pod(2);
    let prices = RoutingSettings { passes: 3, ..RoutingSettings::default() };
    let program = RoutingSettings { selection: RouteSelection::Ilp, exact_limit_s: 4.0, ..prices.clone() };
    let before = route(&pod, &prices, &mut Unwatched::default()).unwrap();
    let after = route(&pod, &program, &mut Unwatched::default()).unwrap();
    assert_sound(&pod, &after.routing, &[]);
    let (before, load) = (before.routing.claims.max_channel_load, after.routing.claims.max_channel_load);
    assert!(load <= before, "{load} after {before}");
    let floor = after.found.load_floor.unwrap();
    assert!(u64::from(floor) <= load, "{floor} to {load}");
}

#[test]
fn too_many_candidates_are_refused() {
    let pod = vector_pod(8);
    let settings = RoutingSettings {
        selection: RouteSelection::Ilp,
        slack_hops: 2,
        passes: 1,
        ..RoutingSettings::default()
    };
    let error = route(&pod, &settings, &mut Unwatched::default()).unwrap_err().to_string();
    assert!(error.contains("more than 400000 routes"), "{error}");
    assert!(error.contains("route_selection=prices"), "{error}");
}
