use super::*;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::plan::{RoutingClaims, Unbalanced};

/// Two cubes with every switch crossed.
fn crossed() -> Topology {
    Topology::symmetric(Group::most_square(2), [1; SWITCHES])
}

fn route(source: u32, target: u32, ports: &[u8], vcs: &[u8]) -> Route {
    Route { source, target, ports: ports.to_vec(), vcs: vcs.to_vec() }
}

fn routing(expand: Expansion, routes: Vec<Route>) -> Routing {
    let claims = RoutingClaims { max_channel_load: 0, vc_hops: vec![0, 0], route_hop_sum: 0 };
    Routing { vc_count: 2, expand, claims, routes, unbalanced: None::<Unbalanced> }
}

#[test]
fn hops_are_counted_where_they_leave() {
    let pod = crossed();
    // Chip 2 goes +X to chip 3 and on over switch 0 to chip 0 of cube 1 (node 64), then +X to node 65.
    let routes = vec![route(2, 64, &[0, 0], &[0, 1]), route(2, 65, &[0, 0, 0], &[0, 0, 1])];
    let loads = Loads::of(&pod, &routing(Expansion::Translation, routes.clone()));
    let at = |chip: u8, vc: usize| loads.vc[vc][pod::arc_class(chip, 0)];
    assert_eq!((at(2, 0), at(3, 0), at(3, 1), at(0, 1)), (2, 1, 1, 1));
    // Five hops in cube 0 represent ten in the pod.
    assert_eq!(loads.hops(), [6, 4]);
    let whole = Loads::of(&pod, &routing(Expansion::None, routes));
    assert_eq!(whole.channels(), 768);
    assert_eq!(whole.vc[1][PORTS * 64], 1, "node 64 by +X");
    assert_eq!(whole.hops(), [3, 2]);
    assert_eq!(whole.totals().iter().sum::<u32>(), 5);
    assert_eq!(loads.most(), 2);
}

#[test]
fn loads_of_a_plan_before_balancing_are_taken_as_they_are() {
    let mut vc = vec![vec![0; ARC_CLASSES]; 2];
    vc[0][7] = 5;
    let loads = Loads::stated(&vc, 4);
    assert_eq!(loads.hops(), [20, 0]);
    assert_eq!(Loads::stated(&[vec![1; 1536]], 4).hops(), [1536]);
}

#[test]
fn figures_are_nearest_ranks() {
    let loads: Vec<u32> = (1..=100).collect();
    let figures = LoadFigures::of(&loads);
    assert_eq!(figures.percentiles, [10, 50, 90, 99]);
    assert_eq!((figures.most, figures.idle, figures.channels), (100, 0, 100));
    assert!((figures.mean - 50.5).abs() < 1e-12);
    assert!((figures.crest().unwrap() - 100.0 / 50.5).abs() < 1e-12);
    let idle = LoadFigures::of(&[0, 0, 8]);
    assert_eq!((idle.idle, idle.percentiles), (2, [0, 0, 8, 8]));
    assert_eq!(LoadFigures::of(&[]).crest(), None);
}

#[test]
fn the_ratio_is_of_the_least_to_the_most_used_channel() {
    assert_eq!(ratio(&[173_796, 72_252]).map(|ratio| (ratio * 100.0).round()), Some(42.0));
    assert_eq!(ratio(&[5, 5]), Some(1.0));
    assert_eq!(ratio(&[0, 0]), None);
    assert_eq!(ratio(&[]), None);
}

#[test]
fn few_loads_are_levels_of_their_own_and_many_are_binned() {
    let mut totals = vec![160; ARC_CLASSES];
    let optical = pod::arc_class(3, 0);
    assert!(is_optical(optical) && is_optical(optical + ARC_CLASSES) && !is_optical(pod::arc_class(1, 0)));
    totals[optical] = 162;
    totals[pod::arc_class(1, 0)] = 158;
    let found = levels(&totals, 12);
    assert_eq!(
        found,
        [
            Level { load: (162, 162), electrical: 0, optical: 1 },
            Level { load: (160, 160), electrical: 287, optical: 95 },
            Level { load: (158, 158), electrical: 1, optical: 0 },
        ]
    );
    let many: Vec<u32> = (0..384).collect();
    let found = levels(&many, 12);
    assert_eq!(found.len(), 12);
    assert_eq!(found[0].load, (352, 383));
    assert_eq!(found.iter().map(|level| level.electrical + level.optical).sum::<usize>(), 384);
    assert!(found.windows(2).all(|pair| pair[1].load.1 + 1 == pair[0].load.0));
    // 13 values in two ranges: the lower range has six, and does not begin below the smallest load.
    let ranges: Vec<(u32, u32)> = levels(&[1284, 1290, 1296], 2).iter().map(|level| level.load).collect();
    assert_eq!(ranges, [(1290, 1296), (1284, 1289)]);
    assert!(levels(&[], 12).is_empty());
}

#[test]
fn the_flows_of_an_arc_are_the_routes_over_it() {
    let pod = crossed();
    let routes = vec![route(2, 64, &[0, 0], &[0, 1]), route(0, 1, &[0], &[0])];
    let routing = routing(Expansion::Translation, routes);
    let over = flows(&pod, &routing, pod::arc_class(3, 0));
    assert_eq!(over, [RoutedFlow { source: 2, target: 64, before: 1, hops: 2, vc: 1 }]);
    assert_eq!(flows(&pod, &routing, pod::arc_class(5, 0)), []);
}
