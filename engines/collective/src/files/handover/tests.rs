use super::*;
use lightbay_core::exchange::GraphLink;

fn matrix() -> CircuitMatrix {
    CircuitMatrix {
        pods: ["a", "b", "c"].map(str::to_owned).to_vec(),
        ports_per_pod: vec![4; 3],
        circuits: vec![(0, 1, 2), (1, 2, 1), (0, 2, 0)],
        ..CircuitMatrix::default()
    }
}

fn laid(matrix: &CircuitMatrix, given: &[(&str, ParamValue)]) -> Result<(Topology, Vec<String>), Problems> {
    let values: Vec<(String, ParamValue)> =
        given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    of_circuits("plan", matrix, Sources { plans: &[], values: &values })
}

fn link(topology: &Topology, from: u32, to: u32) -> Option<(f64, f64, &str)> {
    let found = topology.links.iter().find(|link| (link.from, link.to) == (from, to))?;
    Some((found.capacity_gbyte_per_s, found.alpha_us, found.kind.as_str()))
}

#[test]
fn circuits_join_pods_both_ways_with_their_rates_added() {
    let (topology, notes) = laid(&matrix(), &[]).unwrap();
    assert_eq!((topology.nodes.len(), topology.links.len()), (3, 4));
    assert_eq!(
        (link(&topology, 0, 1), link(&topology, 2, 1)),
        (Some((100.0, 1.3, "ocs")), Some((50.0, 1.3, "ocs")))
    );
    let told = notes.join("\n");
    for said in
        ["3 pods as one GPU each", "3 circuits", "circuit_gbps=", "circuit_alpha_us=", "gpus_per_pod="]
    {
        assert!(told.contains(said), "{said}: {told}");
    }
    let own = CircuitMatrix { circuit_gbps: Some(200.0), left_out: vec!["the times".to_owned()], ..matrix() };
    let (topology, notes) = laid(&own, &[]).unwrap();
    assert_eq!(link(&topology, 0, 1), Some((50.0, 1.3, "ocs")));
    let told = notes.join("\n");
    assert!(!told.contains("circuit_gbps=") && told.contains("dropped from the plan: the times"), "{told}");
    let given = [(CIRCUIT_GBPS, ParamValue::Float(80.0)), (CIRCUIT_ALPHA_US, ParamValue::Float(2.0))];
    assert_eq!(link(&laid(&own, &given).unwrap().0, 0, 1), Some((20.0, 2.0, "ocs")));
}

#[test]
fn pods_of_several_gpus_have_a_switch() {
    let given = [(GPUS_PER_POD, ParamValue::Int(2)), (POD_GBYTE_PER_S, ParamValue::Float(10.0))];
    let (topology, _) = laid(&matrix(), &given).unwrap();
    // Six GPUs and three switches; every GPU both ways, and two pairs of pods both ways.
    assert_eq!((topology.nodes.len(), topology.gpus().count(), topology.links.len()), (9, 6, 16));
    assert_eq!(
        (link(&topology, 3, 7), link(&topology, 7, 3)),
        (Some((10.0, 0.35, "nvlink")), Some((10.0, 0.35, "nvlink")))
    );
    assert_eq!((link(&topology, 6, 7), link(&topology, 0, 1)), (Some((100.0, 1.3, "ocs")), None));
    assert_eq!((topology.nodes[3].name.as_str(), topology.nodes[7].name.as_str()), ("b gpu 1", "b switch"));
    let told = laid(&matrix(), &[(POD_GBYTE_PER_S, ParamValue::Float(10.0))]).unwrap_err().to_string();
    assert!(told.contains("has no effect with gpus_per_pod=1"), "{told}");
}

#[test]
fn graphs_keep_their_links_and_join_parallel_ones() {
    let link_of = |from, to, capacity_gbps, latency_s| GraphLink { from, to, capacity_gbps, latency_s };
    let graph = Graph {
        nodes: ["a", "b"].map(str::to_owned).to_vec(),
        switches: Vec::new(),
        links: vec![
            link_of(0, 1, 80.0, 1e-6),
            link_of(0, 1, 40.0, 2e-6),
            link_of(1, 0, 8.0, 0.0),
            link_of(1, 1, 8.0, 0.0),
        ],
        left_out: Vec::new(),
    };
    let (topology, notes) = of_graph("plan", &graph).unwrap();
    assert_eq!(
        (link(&topology, 0, 1), link(&topology, 1, 0)),
        (Some((15.0, 2.0, "link")), Some((1.0, 0.0, "link")))
    );
    let told = notes.join("\n");
    assert!(
        told.contains("1 link replaces parallel links")
            && told.contains("1 link from a node to itself omitted"),
        "{told}"
    );
    let values = [(CIRCUIT_GBPS.to_owned(), ParamValue::Float(80.0))];
    let told = given_rates(Sources { plans: &[], values: &values }).unwrap_err().to_string();
    assert!(told.contains("circuit_gbps: has no effect"), "{told}");
    let told = convert(Sources { plans: &[], values: &[] }).unwrap_err().to_string();
    assert!(told.contains("from: is missing"), "{told}");
}

#[test]
fn bytes_between_nodes_become_chunks_of_one_size() {
    let link_of = |from, to| GraphLink { from, to, capacity_gbps: 80.0, latency_s: 0.0 };
    let graph = Graph {
        nodes: ["a", "b", "s"].map(str::to_owned).to_vec(),
        switches: vec![2],
        links: vec![link_of(0, 2), link_of(2, 0), link_of(1, 2), link_of(2, 1)],
        left_out: vec!["the other layers".to_owned()],
    };
    let (topology, notes) = of_graph("plan", &graph).unwrap();
    assert_eq!(topology.gpus().collect::<Vec<_>>(), [0, 1]);
    assert!(notes[0].contains("2 nodes of the plan as GPUs, 1 switch"), "{notes:?}");
    let traffic = |entries| TrafficMatrix { places: vec!["b".to_owned(), "a".to_owned()], entries };
    // The names decide, not the order: 240 bytes from b to a in 24 chunks, and 94 the other way in 9.
    let bytes = placed(&topology, &traffic(vec![(0, 1, 240.0), (1, 0, 94.0)])).unwrap();
    let mut notes = Vec::new();
    let demand = of_traffic(&topology, &bytes, &mut notes);
    assert_eq!((demand.matrix.clone(), demand.chunk_bytes), (vec![vec![0, 9], vec![24, 0]], Some(10.0)));
    assert!(
        notes[0].contains("changes the total by -1.20 %, and a pair of GPUs by at most 4 bytes"),
        "{notes:?}"
    );
    // A pair with next to nothing still has a chunk.
    let bytes = placed(&topology, &traffic(vec![(0, 1, 240.0), (1, 0, 0.1)])).unwrap();
    assert_eq!(of_traffic(&topology, &bytes, &mut notes).matrix[0][1], 1);
    let elsewhere =
        TrafficMatrix { places: vec!["c".to_owned(), "a".to_owned()], entries: vec![(0, 1, 1.0)] };
    assert!(placed(&topology, &elsewhere).is_none() && placed(&topology, &traffic(Vec::new())).is_none());
}
