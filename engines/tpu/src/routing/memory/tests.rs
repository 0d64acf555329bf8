use super::*;
use crate::routing::testing::{plain, vector_pod};

#[test]
fn the_largest_symmetric_pod_fits_and_without_symmetry_it_is_refused() {
    let pod = vector_pod(128);
    let settings = RoutingSettings { slack_hops: 2, ..RoutingSettings::default() };
    let symmetric = of(&Frame::new(&pod, &[], false), &settings);
    assert!(symmetric.total_bytes() < 500_000_000, "{symmetric:?}");
    let frame = Frame::new(&plain(&pod), &[], false);
    let problem = check(&frame, &settings).unwrap_err();
    assert_eq!(problem.path, "routing");
    assert!(problem.message.ends_with("GB of memory, but 8.6 GB are allowed"), "{}", problem.message);
    assert!(problem.remedy.contains("symmetric"));
}

#[test]
fn counts_distances_routes_and_their_headers() {
    // 2 sources, 10 nodes, 2 virtual channels, 4 hops: 120 states of 2 bytes for each source.
    let estimate = Estimate::new(2, 10, 2, 4);
    assert_eq!(estimate.distance_bytes, 2 * 120 * 2);
    assert_eq!(estimate.selection_bytes, 2 * 20 * 14);
    assert_eq!(estimate.route_bytes, 20 * (56 + 2 * 24));
}
