use super::exchange::{paths, reversed};
use super::*;
use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::routing;
use crate::routing::dor;
use crate::throughput::mcf;
use lightbay_core::watch::Unwatched;

/// A pod with voltages by a formula, whose figures an independent implementation has worked out.
fn formula(cubes: usize) -> Topology {
    let voltage = std::array::from_fn(|o| ((o * o + 3 * o + 1) % cubes) as u16);
    Topology::symmetric(Group::abelian(&[cubes]).unwrap(), voltage)
}

/// The same pod without its symmetry.
fn general(pod: &Topology) -> Topology {
    let states: Vec<Vec<u16>> = (0..SWITCHES).map(|switch| pod.state(switch).to_vec()).collect();
    Topology::general(&states).unwrap()
}

fn gather(pod: &Topology) -> Schedule {
    let schedule = all_gather(pod, 1, &mut Unwatched::default()).unwrap();
    check(pod, &schedule).unwrap();
    schedule
}

#[test]
fn all_gather_reaches_the_bound() {
    let pods = [
        ("PT 4x4x8", baselines::pt([4, 4, 8]).unwrap(), 22),
        ("PDTT 4x4x8", baselines::pdtt([4, 4, 8]).unwrap(), 22),
        ("design 128", formula(2), 22),
        ("PT 4x8x8", baselines::pt([4, 8, 8]).unwrap(), 43),
        ("PDTT 4x8x8", baselines::pdtt([4, 8, 8]).unwrap(), 43),
        ("design 256", formula(4), 43),
    ];
    for (name, pod, epochs) in pods {
        assert_eq!(gather_bound(pod.nodes()), epochs);
        let schedule = gather(&pod);
        assert_eq!(schedule.epochs, epochs, "{name}");
        // Nothing is sent twice to anybody.
        assert_eq!(schedule.sends.len(), CHIPS * (pod.nodes() - 1), "{name}");
    }
}

#[test]
fn pods_without_symmetry_and_groups_that_do_not_commute_gather_too() {
    let dihedral = Group::dihedral(3).unwrap();
    let voltage = std::array::from_fn(|o| ((5 * o + 1) % 6) as u16);
    for pod in [general(&formula(2)), Topology::symmetric(dihedral, voltage)] {
        let schedule = gather(&pod);
        assert!(schedule.epochs <= gather_bound(pod.nodes()) + 1, "{}", schedule.epochs);
    }
    // One cube is its own torus.
    assert_eq!(gather(&baselines::pt([4, 4, 4]).unwrap()).epochs, 11);
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    let pod = formula(2);
    let find = |seed| all_gather(&pod, seed, &mut Unwatched::default()).unwrap();
    assert_eq!(find(7), find(7));
    assert_ne!(find(7), find(8));
}

#[test]
fn what_gathers_scatters_backwards_and_both_reduce() {
    for pod in [formula(2), general(&baselines::pdtt([4, 4, 8]).unwrap())] {
        let gather = gather(&pod);
        let scatter = gather.reversed(&pod).unwrap();
        assert_eq!((scatter.collective, scatter.epochs), (Collective::ReduceScatter, gather.epochs));
        check(&pod, &scatter).unwrap();
        assert_eq!(scatter.reversed(&pod).unwrap(), gather);
        let reduce = gather.all_reduce(&pod).unwrap();
        assert_eq!(reduce.epochs, 2 * gather.epochs);
        check(&pod, &reduce).unwrap();
        assert!(reduce.reversed(&pod).is_none() && reduce.all_reduce(&pod).is_none());
        // Spelled out it is the same.
        let wide = reduce.expanded(&pod).unwrap();
        assert_eq!(wide.sends.len(), 2 * pod.nodes() * (pod.nodes() - 1));
        check(&pod, &wide).unwrap();
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let pod = formula(2);
    let whole = gather(&pod).expanded(&pod).unwrap();
    let spoil = |schedule: &Schedule, change: &dyn Fn(&mut Schedule)| {
        let mut spoilt = schedule.clone();
        change(&mut spoilt);
        check(&pod, &spoilt).unwrap_err().to_string()
    };
    let wrong = |change: &dyn Fn(&mut Schedule)| spoil(&whole, change);
    assert!(wrong(&|s| s.sends.truncate(s.sends.len() - 1)).contains("does not deliver shard"));
    assert!(wrong(&|s| s.sends[1].arc = s.sends[0].arc).contains("twice"));
    assert!(wrong(&|s| s.sends[0].shard = (s.sends[0].shard + 64) % 128).contains("before the chip"));
    assert!(wrong(&|s| s.epochs -= 1).contains("in epoch 21, but has only 21 epochs"));
    assert!(wrong(&|s| s.sends.reverse()).contains("order of epochs"));
    assert!(wrong(&|s| s.sends[0].arc = 6 * 128).contains("arc 768"));
    let scatter = whole.reversed(&pod).unwrap();
    assert!(spoil(&scatter, &|s| s.sends.truncate(s.sends.len() - 1)).contains("contributions"));
    // A contribution that comes after the sum was passed on is lost.
    let early = spoil(&scatter, &|s| {
        let last = s.sends.len() - 1;
        let (first, far) = (s.sends[0], s.sends[last]);
        s.sends[last] = Send { epoch: far.epoch, ..first };
    });
    assert!(
        early.contains("before the chip") || early.contains("twice") || early.contains("after"),
        "{early}"
    );
    let translated = Schedule { expand: Expansion::Translation, ..whole.clone() };
    assert!(check(&general(&pod), &translated).unwrap_err().to_string().contains("no symmetry"));
    assert!(check(&pod, &Schedule { collective: Collective::AllReduce, ..whole.clone() }).is_err());
}

#[test]
fn all_to_all_along_routes_is_as_long_as_the_fullest_arc_or_little_more() {
    let watch = &mut Unwatched::default();
    let torus = baselines::pt([4, 4, 8]).unwrap();
    let in_order = dor::route(&torus, [4, 4, 8], false, &dor::DorSettings::default(), watch).unwrap();
    let design = formula(2);
    let settings = routing::RoutingSettings::default();
    let balanced = routing::route(&design, &settings, watch).unwrap().routing;
    for (pod, routing) in [(torus, in_order), (design, balanced)] {
        let exchange = single_path(&pod, &routing, watch).unwrap();
        check(&pod, &exchange.schedule).unwrap();
        assert_eq!(exchange.max_load, routing.claims.max_channel_load);
        assert_eq!(exchange.schedule.expand, routing.expand);
        let epochs = u64::from(exchange.schedule.epochs);
        // The last shard can still have some hops to go.
        assert!((exchange.max_load..=exchange.max_load + 12).contains(&epochs), "{epochs}");
        let share = exchange.max_load as f64 / epochs as f64;
        assert!((0.85..=1.0).contains(&share), "{share}");
        let mut short = exchange.schedule.clone();
        short.sends.pop();
        assert!(check(&pod, &short).unwrap_err().to_string().contains("does not deliver the shard"));
        let mut astray = routing.clone();
        astray.routes[0].ports[0] ^= 1;
        assert!(single_path(&pod, &astray, watch).is_err());
    }
}

#[test]
fn the_flow_of_a_certificate_splits_into_paths() {
    let pod = formula(2);
    let watch = &mut Unwatched::default();
    let attempt = mcf::attempt(&pod, &mcf::FlowSettings::default(), None, watch);
    let (flow, certificate) = (attempt.flow.unwrap(), attempt.certificate.unwrap());
    let used = fractional(&flow, certificate.upper);
    assert!((1.0 - 2e-3..=1.0 + 1e-9).contains(&used.share()), "{used:?}");
    // Carry all paths of all sources of cube 0, forwards and backwards, through the whole pod: a link class is full in
    // both directions alike, and no arc carries more than one unit of time.
    let neighbours = pod.neighbours();
    let mut loads = vec![0.0; crate::model::pod::ARC_CLASSES];
    for source in 0..CHIPS as u32 {
        let mut carried = vec![0.0; pod.nodes()];
        for path in paths(&pod, &flow, source) {
            carried[path.target as usize] += path.share;
            let mut at = source;
            for &port in &path.ports {
                loads[(at as usize * PORTS + usize::from(port)) % crate::model::pod::ARC_CLASSES] +=
                    path.share / 2.0;
                at = neighbours[at as usize][usize::from(port)];
            }
            assert_eq!(at, path.target);
            for port in reversed(&path.ports) {
                loads[(at as usize * PORTS + usize::from(port)) % crate::model::pod::ARC_CLASSES] +=
                    path.share / 2.0;
                at = neighbours[at as usize][usize::from(port)];
            }
            assert_eq!(at, source);
        }
        for (target, share) in carried.into_iter().enumerate() {
            let wanted = if target == source as usize { 0.0 } else { 1.0 };
            assert!((share - wanted).abs() < 1e-9, "{source} {target} {share}");
        }
    }
    let fullest = loads.into_iter().fold(0.0, f64::max);
    assert!(fullest * flow.value <= 1.0 + 1e-9 && fullest * flow.value > 0.999, "{fullest}");
}
