use super::*;
use crate::model::baselines;
use crate::scenario::presets;

fn result(pod: &crate::model::topology::Topology) -> TpuResult {
    candidate(PodParts {
        topology: pod.clone(),
        hops: Hops { hop_sum: 1, diameter: 1 },
        certificate: Certificate {
            lower: 0.5,
            upper: 0.6,
            class_lengths: None,
            link_lengths: None,
            rounds: 0,
        },
        routing: None,
        faults: Vec::new(),
        simulation: None,
    })
    .result
}

#[test]
fn circuits_between_cubes_are_counted_once() {
    let pod = baselines::pdtt([4, 8, 8]).unwrap();
    let scenario = presets::scenario("tpu-256").unwrap();
    let matrix = circuits(&scenario, &result(&pod)).unwrap();
    // Cubes 0 to 3 at (y, z): X joins the diagonal, Y and Z the sides, both ways over 16 switches each.
    assert_eq!(matrix.circuits, [(0, 1, 32), (0, 2, 32), (0, 3, 32), (1, 2, 32), (1, 3, 32), (2, 3, 32)]);
    assert_eq!(matrix.ports_used(), [96; 4]);
    // The plain torus wraps X inside every cube: those ports are used, but by no link between cubes.
    let matrix = circuits(&scenario, &result(&baselines::pt([4, 8, 8]).unwrap())).unwrap();
    assert_eq!(matrix.ports_used(), [64; 4]);
    // The places name them all the same, one on every switch for every cube.
    let places = matrix.places.unwrap();
    let inside = places.circuits.iter().filter(|circuit| circuit.pod_a == circuit.pod_b).count();
    assert_eq!((places.circuits.len(), inside), (4 * 48, 4 * 16));
}

#[test]
fn the_network_has_the_delays_of_its_links() {
    let scenario = presets::scenario("pt-4x4x8").unwrap();
    let pod = baselines::pt([4, 4, 8]).unwrap();
    let graph = graph(&scenario, &result(&pod)).unwrap();
    assert_eq!((graph.nodes.len(), graph.links.len()), (128, 768));
    assert_eq!(graph.nodes[64 + 39], "cube 1 chip 3,1,2");
    let slow = graph.links.iter().filter(|link| (link.latency_s - 75.0 / 1.05e9).abs() < 1e-15).count();
    let fast = graph.links.iter().filter(|link| (link.latency_s - 50.0 / 1.05e9).abs() < 1e-15).count();
    assert_eq!((slow, fast), (2 * 2 * 144, 2 * 2 * 48));
    assert!(graph.links.iter().all(|link| link.capacity_gbps == 1024.0));
}

#[test]
fn wirings_are_carried_where_they_are_wanted() {
    let pod = baselines::pt([4, 8, 8]).unwrap();
    let plan = result(&pod);
    let (pt, design) = (presets::scenario("pt-4x8x8").unwrap(), presets::scenario("tpu-256").unwrap());
    let carried = carry(&plan, &pt, &design).unwrap();
    assert_eq!((carried.candidate.result.clone(), carried.repairs.len()), (plan.clone(), 0));
    let twisted = presets::scenario("pdtt-4x8x8").unwrap();
    assert!(carry(&plan, &pt, &twisted).unwrap_err().contains("wiring of the plan differs"));
    let larger = presets::scenario("tpu-512").unwrap();
    assert!(carry(&plan, &pt, &larger).unwrap_err().contains("4 cubes, but the scenario has 8"));
}

#[test]
fn every_topology_has_a_method_that_suits_it() {
    let suited = |name: &str| Tpu::suited_method(&presets::scenario(name).unwrap());
    let names = ["tpu-128", "pt-4x4x8", "pdtt-4x4x8", "tpu-random-256"].map(suited);
    assert_eq!(names, ["tons-fast", "pt", "pdtt", "evaluate"]);
}

#[test]
fn routes_that_carry_far_less_than_the_flow_are_spoken_of() {
    // Load of the fullest link by virtual channels, with a throughput of 0.006332: 1/0.006332 = 157.9 is ideal.
    let note = |load: u64, vc_count: u8| {
        let mut scenario = presets::scenario("tpu-256").unwrap();
        scenario.vc_count = vc_count;
        let mut result = result(&baselines::pt([4, 8, 8]).unwrap());
        result.claims.mcf_lower = 0.006332;
        result.routing = Some(crate::plan::Routing {
            vc_count,
            expand: crate::plan::Expansion::Translation,
            claims: crate::plan::RoutingClaims {
                max_channel_load: load,
                vc_hops: vec![1; usize::from(vc_count)],
                route_hop_sum: u64::from(vc_count),
            },
            routes: Vec::new(),
            unbalanced: None,
        });
        routes_note(&scenario, &result)
    };
    assert_eq!(note(161, 2), None);
    assert_eq!(note(197, 2), None);
    let lossy = note(198, 2).unwrap();
    assert!(lossy.contains("1.25 times the ideal") && !lossy.contains("torus"), "{lossy}");
    let bad = note(338, 1).unwrap();
    for part in [
        "carry 0.002959",
        "less than the torus 4x8x8",
        "an ideal flow carries 0.006332",
        "338 routes, 2.14 times",
        "vc_count=2",
    ] {
        assert!(bad.contains(part), "{part}: {bad}");
    }
    // Nothing was routed, so nothing is lost.
    assert_eq!(
        routes_note(&presets::scenario("tpu-256").unwrap(), &result(&baselines::pt([4, 8, 8]).unwrap())),
        None
    );
}
