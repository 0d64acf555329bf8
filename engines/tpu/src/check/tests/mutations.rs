//! Sound plans with one damage each: every one has to be found.

use super::support::Case;
use crate::check::code;
use crate::model::baselines;
use crate::model::router::Allocator;
use crate::model::topology::Topology;
use crate::plan::{Expansion, OcsState, Route, Routing, Simulation};
use crate::routing;
use crate::routing::faults;
use crate::scenario::presets;
use crate::scenario::{SimulationSettings, TopologyChoice, TpuScenario};
use lightbay_core::kind::Depth;
use lightbay_core::watch::Unwatched;
use std::sync::LazyLock;

/// A symmetric pod of 128 chips, routes of cube 0 listed.
static SYMMETRIC: LazyLock<Case> = LazyLock::new(|| {
    let mut scenario = presets::scenario("tpu-random-128").unwrap();
    let pod = scenario.named_topology().unwrap().unwrap();
    scenario.topology = TopologyChoice::Design;
    Case::of(scenario, &pod)
});

/// The same pod without its symmetry, all routes listed.
static GENERAL: LazyLock<Case> = LazyLock::new(|| {
    let mut case = SYMMETRIC.clone();
    let pod = case.result.topology.topology().unwrap();
    let symmetry = pod.symmetry().unwrap().clone();
    let routing = case.result.routing.as_mut().unwrap();
    let first = routing.routes.clone();
    for cube in 1..pod.cubes() {
        let moved = |node: u32| 64 * symmetry.group.times(cube, node as usize / 64) as u32 + node % 64;
        let route = |route: &Route| Route {
            source: moved(route.source),
            target: moved(route.target),
            ports: route.ports.clone(),
            vcs: route.vcs.clone(),
        };
        routing.routes.extend(first.iter().map(route));
    }
    routing.routes.sort_by_key(|route| (route.source, route.target));
    routing.expand = Expansion::None;
    routing.unbalanced = None;
    case.result.topology.symmetry = None;
    case
});

fn routing(case: &mut Case) -> &mut Routing {
    case.result.routing.as_mut().unwrap()
}

fn ocs(case: &mut Case) -> &mut Vec<OcsState> {
    &mut case.result.topology.ocs
}

/// The first route of at least so many hops.
fn long_route(case: &mut Case, hops: usize) -> &mut Route {
    routing(case).routes.iter_mut().find(|route| route.ports.len() >= hops).unwrap()
}

#[test]
fn the_plans_to_be_damaged_are_sound() {
    SYMMETRIC.assert_passes();
    GENERAL.assert_passes();
}

#[test]
fn switches_that_are_no_permutations() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        case.with(|case| ocs(case)[7].to[1] = ocs(case)[7].to[0]).assert_codes(&[code::PERMUTATION]);
        case.with(|case| ocs(case)[7].to[1] = 2).assert_codes(&[code::PERMUTATION]);
        case.with(|case| ocs(case)[7].to.truncate(1)).assert_codes(&[code::PERMUTATION]);
        case.with(|case| ocs(case)[7].to.push(2)).assert_codes(&[code::PERMUTATION]);
    }
}

#[test]
fn switches_in_the_wrong_place() {
    let case = &*SYMMETRIC;
    case.with(|case| ocs(case).swap(3, 4)).assert_codes(&[code::TOPOLOGY]);
    case.with(|case| ocs(case)[3].id = 4).assert_codes(&[code::TOPOLOGY]);
    case.with(|case| ocs(case)[3].pos = [1, 1]).assert_codes(&[code::TOPOLOGY]);
    case.with(|case| ocs(case)[3].dim = crate::plan::Dimension::Z).assert_codes(&[code::TOPOLOGY]);
    case.with(|case| ocs(case).truncate(47)).assert_codes(&[code::TOPOLOGY]);
}

/// A switch with voltage 0 and one with voltage 1.
fn two_switches(case: &Case) -> (usize, usize) {
    let voltage = &case.result.topology.symmetry.as_ref().unwrap().voltage;
    let of = |g: u16| voltage.iter().position(|&voltage| voltage == g).unwrap();
    (of(0), of(1))
}

#[test]
fn two_entries_or_two_switches_exchanged() {
    let (a, b) = two_switches(&SYMMETRIC);
    SYMMETRIC.with(|case| ocs(case)[a].to.swap(0, 1)).assert_breaks(code::SYMMETRY);
    // Without symmetry the hops, the certificate or the routes tell.
    let entries = GENERAL.with(|case| ocs(case)[a].to.swap(0, 1));
    entries.assert_breaks(code::ROUTE);
    let switches = GENERAL.with(|case| {
        let state = ocs(case)[a].to.clone();
        ocs(case)[a].to = ocs(case)[b].to.clone();
        ocs(case)[b].to = state;
    });
    switches.assert_breaks(code::ROUTE);
    let unrouted = |case: &Case| {
        case.with(|case| {
            case.result.routing = None;
            case.metrics.remove("max_channel_load");
            case.metrics.remove("vc_ratio");
        })
    };
    for case in [&entries, &switches] {
        let codes = unrouted(case).codes();
        assert!(codes.contains(&code::HOPS) || codes.contains(&code::CERTIFICATE), "{codes:?}");
    }
}

#[test]
fn symmetries_that_are_none() {
    let damage = |change: &dyn Fn(&mut crate::plan::SymmetryRecord)| {
        SYMMETRIC.with(|case| change(case.result.topology.symmetry.as_mut().unwrap()))
    };
    damage(&|symmetry| symmetry.table[1][1] = 1).assert_breaks(code::SYMMETRY);
    damage(&|symmetry| symmetry.table[1][1] = 9).assert_breaks(code::SYMMETRY);
    damage(&|symmetry| symmetry.table.truncate(1)).assert_breaks(code::SYMMETRY);
    damage(&|symmetry| symmetry.table.swap(0, 1)).assert_breaks(code::SYMMETRY);
    damage(&|symmetry| symmetry.voltage[5] ^= 1).assert_breaks(code::SYMMETRY);
    damage(&|symmetry| symmetry.voltage[5] = 2).assert_breaks(code::SYMMETRY);
    damage(&|symmetry| symmetry.voltage.truncate(47)).assert_breaks(code::SYMMETRY);
    SYMMETRIC.with(|case| case.result.topology.symmetry = None).assert_breaks(code::SYMMETRY);
    // A latin square with identity that is not associative.
    let mut scenario = TpuScenario::design(5);
    scenario.topology = TopologyChoice::Design;
    let pod = Topology::symmetric(
        crate::model::group::Group::most_square(5),
        std::array::from_fn(|o| (o % 5) as u16),
    );
    let loops = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]];
    let case = Case::unrouted(scenario, &pod).with(|case| {
        let symmetry = case.result.topology.symmetry.as_mut().unwrap();
        symmetry.table = loops.map(|row| row.to_vec()).to_vec();
    });
    case.assert_breaks(code::SYMMETRY);
}

#[test]
fn pods_that_fall_apart() {
    let pod = baselines::pt([4, 4, 8]).unwrap();
    let case = Case::unrouted(TpuScenario::design(2), &pod).with(|case| {
        for state in ocs(case) {
            state.to = vec![0, 1];
        }
        case.result.topology.symmetry = None;
    });
    case.assert_breaks(code::CONNECTED);
}

#[test]
fn hops_that_are_not_those_of_the_pod() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        case.with(|case| case.result.claims.hop_sum += 2).assert_breaks(code::HOPS);
        case.with(|case| case.result.claims.diameter += 1).assert_breaks(code::HOPS);
        case.with(|case| case.result.claims.avg_hops *= 1.0 + 1e-6).assert_breaks(code::HOPS);
    }
}

#[test]
fn throughputs_that_cannot_be() {
    let lower = |case: &mut Case, value: f64| {
        case.result.claims.mcf_lower = value;
        case.value = value;
        case.metrics.insert("n_mcf".to_owned(), case.scenario.nodes() as f64 * value);
    };
    // More than the hops of the published design of 256 chips allow.
    let scenario = presets::scenario("tpu-random-256").unwrap();
    let pod = scenario.named_topology().unwrap().unwrap();
    Case::unrouted(scenario, &pod).with(|case| lower(case, 0.00636)).assert_breaks(code::MCF);
    let upper = SYMMETRIC.result.claims.mcf_upper;
    SYMMETRIC.with(|case| lower(case, upper * 1.001)).assert_breaks(code::MCF);
    SYMMETRIC.with(|case| lower(case, -0.001)).assert_breaks(code::MCF);
}

#[test]
fn certificates_that_prove_less() {
    let upper = |case: &mut Case, factor: f64| {
        case.result.claims.mcf_upper *= factor;
        case.metrics.insert("mcf_upper".to_owned(), case.result.claims.mcf_upper);
    };
    for case in [&*SYMMETRIC, &*GENERAL] {
        let tight = case.result.claims.mcf_lower / case.result.claims.mcf_upper;
        case.with(|case| upper(case, tight)).assert_breaks(code::CERTIFICATE);
        // More than is proven may be claimed.
        case.with(|case| upper(case, 1.5)).assert_passes();
        let lengths = |change: &dyn Fn(&mut Vec<f64>)| {
            case.with(|case| {
                let mut lengths =
                    case.result.certificates.class_lengths.clone().unwrap_or_else(|| vec![1.0; 192]);
                change(&mut lengths);
                case.result.certificates.class_lengths = Some(lengths);
            })
        };
        lengths(&|lengths| lengths.truncate(191)).assert_breaks(code::CERTIFICATE);
        lengths(&|lengths| lengths[0] = -1.0).assert_breaks(code::CERTIFICATE);
        lengths(&|lengths| lengths.fill(0.0)).assert_breaks(code::CERTIFICATE);
        lengths(&|lengths| lengths[3] = f64::NAN).assert_codes(&[code::SCHEMA]);
    }
    let links = GENERAL.with(|case| case.result.certificates.link_lengths = Some(vec![1.0; 3]));
    links.assert_breaks(code::CERTIFICATE);
    GENERAL.with(|case| case.result.certificates.link_lengths = Some(vec![1.0; 384])).assert_passes();
}

#[test]
fn figures_of_the_envelope_that_differ() {
    let case = &*SYMMETRIC;
    case.with(|case| case.value *= 1.001).assert_codes(&[code::METRICS]);
    for name in ["mcf_upper", "n_mcf", "avg_hops", "diameter", "max_channel_load", "vc_ratio"] {
        let damaged = case.with(|case| *case.metrics.get_mut(name).unwrap() *= 1.01);
        damaged.assert_codes(&[code::METRICS]);
    }
    for name in ["worst_fault_load", "saturation_flits_per_cycle_per_node"] {
        let damaged = case.with(|case| {
            case.metrics.insert(name.to_owned(), 1.0);
        });
        damaged.assert_codes(&[code::METRICS]);
    }
    let invented = case.with(|case| {
        case.metrics.insert("beauty".to_owned(), 1.0);
    });
    invented.assert_codes(&[code::METRICS]);
}

#[test]
fn pairs_without_a_route_or_with_two() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        let missing = case.with(|case| {
            routing(case).routes.remove(100);
        });
        missing.assert_codes(&[code::PAIR]);
        let doubled = case.with(|case| {
            let route = routing(case).routes[100].clone();
            routing(case).routes.push(route);
        });
        doubled.assert_codes(&[code::PAIR]);
        case.with(|case| routing(case).routes[100].target = 128).assert_breaks(code::PAIR);
        case.with(|case| routing(case).routes[100].target = routing(case).routes[100].source)
            .assert_breaks(code::PAIR);
    }
    SYMMETRIC.with(|case| routing(case).routes[100].source += 64).assert_breaks(code::PAIR);
}

#[test]
fn routes_that_lead_elsewhere() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        case.with(|case| long_route(case, 3).ports[0] ^= 1).assert_codes(&[code::ROUTE]);
        case.with(|case| long_route(case, 3).ports[0] = 6).assert_codes(&[code::ROUTE]);
        case.with(|case| long_route(case, 3).vcs[0] = 2).assert_codes(&[code::ROUTE]);
        let shorter = case.with(|case| {
            long_route(case, 3).vcs.pop();
        });
        shorter.assert_codes(&[code::ROUTE]);
        // There and back: the right end, but a chip twice.
        let detour = case.with(|case| {
            let route = long_route(case, 3);
            let (port, vc) = (route.ports[0], route.vcs[0]);
            route.ports.splice(0..0, [port, port ^ 1]);
            route.vcs.splice(0..0, [vc, vc]);
        });
        detour.assert_codes(&[code::ROUTE]);
        case.with(|case| routing(case).vc_count = 3).assert_codes(&[code::ROUTE]);
    }
}

#[test]
fn routes_over_failed_switches() {
    SYMMETRIC.with(|case| case.scenario.failed_ocs = vec![9]).assert_breaks(code::FAILED);
    // Hops and flow of the whole pod are not those beside a failed switch.
    SYMMETRIC.with(|case| case.scenario.failed_ocs = vec![9]).assert_breaks(code::HOPS);
    GENERAL.with(|case| case.scenario.failed_ocs = vec![9]).assert_breaks(code::FAILED);
    GENERAL.with(|case| case.scenario.failed_ocs = vec![9]).assert_breaks(code::HOPS);
}

#[test]
fn labels_that_let_routes_wait_in_a_circle() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        let damaged = case.with(|case| {
            for route in &mut routing(case).routes {
                route.vcs.fill(0);
            }
            let claims = &mut routing(case).claims;
            claims.vc_hops = vec![claims.route_hop_sum, 0];
            case.metrics.insert("vc_ratio".to_owned(), 0.0);
        });
        damaged.assert_breaks(code::DEADLOCK);
    }
}

#[test]
fn loads_that_are_off_by_one() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        let load = case.with(|case| {
            routing(case).claims.max_channel_load += 1;
            *case.metrics.get_mut("max_channel_load").unwrap() += 1.0;
        });
        load.assert_codes(&[code::LOAD]);
        case.with(|case| routing(case).claims.route_hop_sum += 1).assert_codes(&[code::LOAD]);
        let hops = case.with(|case| {
            let hops = &mut routing(case).claims.vc_hops;
            hops[0] += 1;
            hops[1] -= 1;
            let (least, most) = (hops[0].min(hops[1]), hops[0].max(hops[1]));
            case.metrics.insert("vc_ratio".to_owned(), least as f64 / most as f64);
        });
        hops.assert_codes(&[code::LOAD]);
    }
    let before = |change: &dyn Fn(&mut crate::plan::Unbalanced)| {
        SYMMETRIC.with(|case| change(routing(case).unbalanced.as_mut().unwrap()))
    };
    before(&|unbalanced| unbalanced.vc_hops[0] += 2).assert_codes(&[code::LOAD]);
    before(&|unbalanced| unbalanced.loads[0][3] += 1).assert_codes(&[code::LOAD]);
    before(&|unbalanced| unbalanced.loads.truncate(1)).assert_codes(&[code::LOAD]);
    before(&|unbalanced| unbalanced.loads[1].truncate(5)).assert_codes(&[code::LOAD]);
}

#[test]
fn figures_of_routes_that_are_not_listed() {
    let unlisted = SYMMETRIC.with(|case| routing(case).routes.clear());
    unlisted.assert_codes(&[code::PAIR]);
    let unlisted = unlisted.with(|case| case.with_routes = Some(false));
    unlisted.assert_passes();
    let verdict = unlisted.verdict(Depth::Usual);
    assert!(verdict.remarks.iter().any(|remark| remark.contains("claimed")), "{:?}", verdict.remarks);
    let damaged = unlisted.with(|case| {
        routing(case).claims.max_channel_load = 3;
        case.metrics.insert("max_channel_load".to_owned(), 3.0);
    });
    damaged.assert_breaks(code::LOAD);
    unlisted.with(|case| routing(case).claims.route_hop_sum += 1).assert_codes(&[code::LOAD]);
    // One route fewer over the most loaded arc: the loads before balancing show it.
    let load = unlisted.with(|case| {
        routing(case).claims.max_channel_load -= 1;
        *case.metrics.get_mut("max_channel_load").unwrap() -= 1.0;
    });
    load.assert_codes(&[code::LOAD]);
    // Fewer hops than shortest paths have.
    let short = unlisted.with(|case| {
        let hops = case.result.claims.hop_sum - 2;
        let claims = &mut routing(case).claims;
        claims.route_hop_sum = hops;
        claims.vc_hops = vec![hops / 2, hops / 2];
        routing(case).unbalanced = None;
        case.metrics.insert("vc_ratio".to_owned(), 1.0);
    });
    short.assert_codes(&[code::LOAD]);
}

#[test]
fn routes_out_of_order() {
    for case in [&*SYMMETRIC, &*GENERAL] {
        case.with(|case| routing(case).routes.swap(3, 70)).assert_codes(&[code::PAIR]);
    }
}

#[test]
fn failed_switches_that_are_made_up() {
    let mut case = SYMMETRIC.clone();
    let pod = case.result.topology.topology().unwrap();
    let settings = faults::FaultSettings {
        routing: routing::RoutingSettings::of(&case.scenario, 1),
        with_routes: true,
        ..faults::FaultSettings::default()
    };
    let found = routing::find(&pod, &settings.routing, &mut Unwatched::default()).unwrap();
    for switch in [9, 30] {
        let failed = faults::case(&pod, &found, &settings, switch, None, &mut Unwatched::default());
        case.result.faults.push(failed.unwrap());
    }
    let worst = case.result.faults.iter().filter_map(|case| case.max_channel_load).max().unwrap();
    case.metrics.insert("worst_fault_load".to_owned(), worst as f64);
    case.assert_passes();
    case.with(|case| case.result.faults[0].failed_ocs = 30).assert_breaks(code::FAULTS);
    case.with(|case| case.result.faults[0].failed_ocs = 48).assert_breaks(code::FAULTS);
    case.with(|case| case.result.faults[0].failed_ocs = 10).assert_codes(&[code::FAILED]);
    case.with(|case| case.result.faults[0].avg_hops += 0.01).assert_codes(&[code::FAULTS]);
    case.with(|case| case.result.faults[0].unreachable.push((0, 1))).assert_codes(&[code::FAULTS]);
    let load = case.with(|case| {
        let lowest = usize::from(case.result.faults[0].max_channel_load == Some(worst));
        case.result.faults[lowest].max_channel_load = Some(worst - 1);
        case.result.faults[1 - lowest].max_channel_load = Some(worst);
        case.result.faults[lowest].routing.as_mut().unwrap().claims.max_channel_load += 1;
    });
    load.assert_breaks(code::LOAD);
    let remarks = case.with(|case| case.scenario.tolerated_ocs_faults = 1);
    let remarks = remarks.verdict(Depth::Usual).remarks;
    assert!(remarks.iter().any(|remark| remark.contains("46 of the 48")), "{remarks:?}");
}

/// The symmetric pod with what the simulator finds in a short run.
static SIMULATED: LazyLock<Case> = LazyLock::new(|| {
    let mut case = SYMMETRIC.clone();
    case.scenario.simulate = Some(SimulationSettings {
        warmup_cycles: 60,
        measure_cycles: 60,
        rate_step: 0.5,
        ..SimulationSettings::default()
    });
    let found = case.simulated_again();
    let saturation = found.saturation_flits_per_cycle_per_node;
    case.metrics.insert("saturation_flits_per_cycle_per_node".to_owned(), saturation);
    case.result.simulation = Some(found);
    case
});

#[test]
fn simulations_that_no_search_can_end_with() {
    SIMULATED.assert_passes();
    let damaged = |damage: &dyn Fn(&mut Simulation)| {
        let damaged = SIMULATED.with(|case| {
            let simulation = case.result.simulation.as_mut().unwrap();
            damage(simulation);
            let saturation = simulation.saturation_flits_per_cycle_per_node;
            case.metrics.insert("saturation_flits_per_cycle_per_node".to_owned(), saturation);
        });
        damaged.assert_codes(&[code::SIMULATION]);
    };
    damaged(&|found| found.saturation_flits_per_cycle_per_node = 7.0);
    damaged(&|found| found.saturation_flits_per_cycle_per_node += 0.3);
    damaged(&|found| found.saturation_flits_per_cycle_per_node = -0.5);
    damaged(&|found| found.curve.clear());
    damaged(&|found| found.curve[0].1 = -0.5);
    damaged(&|found| found.curve[0].2 = -0.5);
    damaged(&|found| found.curve[0].0 += 0.1);
    damaged(&|found| found.curve.swap(0, 1));
    damaged(&|found| found.allocator = Allocator::Islip);
    damaged(&|found| found.speedup = 2);
    SIMULATED.with(|case| case.scenario.simulate = None).assert_codes(&[code::SIMULATION]);
    // One that is requested and dropped.
    let dropped = SIMULATED.with(|case| {
        case.result.simulation = None;
        case.metrics.remove("saturation_flits_per_cycle_per_node");
    });
    dropped.assert_codes(&[code::SIMULATION]);
}

#[test]
fn figures_of_the_simulator_are_claimed_until_it_has_run_again() {
    let says = |case: &Case, depth: Depth, what: &str| {
        let remarks = case.verdict(depth).remarks;
        assert!(remarks.iter().any(|remark| remark.contains(what)), "{what}: {remarks:#?}");
    };
    says(&SIMULATED, Depth::Usual, "figures of the simulator are claimed");
    says(&SIMULATED, Depth::EXACT, "run again and found the same figures");
    assert!(SIMULATED.verdict(Depth::EXACT).violations.is_empty());
    // Every figure of every point, by as little as a digit at the end.
    let points = SIMULATED.result.simulation.as_ref().unwrap().curve.len();
    for point in [0, points - 1] {
        for (delivered, latency) in [(1.0 + 1e-12, 1.0), (1.0, 1.0 - 1e-12)] {
            let forged = SIMULATED.with(|case| {
                let point = &mut case.result.simulation.as_mut().unwrap().curve[point];
                point.1 *= delivered;
                point.2 *= latency;
            });
            forged.assert_passes();
            let codes: Vec<_> =
                forged.verdict(Depth::EXACT).violations.iter().map(|found| found.code).collect();
            assert_eq!(codes, [code::SIMULATION], "point {point}");
        }
    }
    let unlisted = SIMULATED.with(|case| {
        routing(case).routes.clear();
        case.with_routes = Some(false);
    });
    says(
        &unlisted,
        Depth::EXACT,
        "figures of the simulator are claimed, because the plan does not contain the routes",
    );
}

#[test]
fn plans_of_other_pods() {
    let given = presets::scenario("tpu-random-128").unwrap();
    SYMMETRIC.with(|case| case.scenario = given.clone()).assert_passes();
    let torus = presets::scenario("pt-4x4x8").unwrap();
    SYMMETRIC.with(|case| case.scenario = torus).assert_codes(&[code::SCENARIO]);
    SYMMETRIC.with(|case| case.scenario.cubes = 3).assert_codes(&[code::PERMUTATION]);
}
