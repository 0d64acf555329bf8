use super::*;
use lightbay_core::param::ParamValue;

const NDV2: &str = include_str!("../../../../../tests/resources/inputs/collectives/topo-ndv2-1MB.json");
const NDV2_SKETCH: &str = include_str!("../../../../../tests/resources/inputs/collectives/sk1-ndv2-n2.json");
const DGX2: &str = include_str!("../../../../../tests/resources/inputs/collectives/topo-dgx2-1MB.json");
const DGX2_SKETCH: &str = include_str!("../../../../../tests/resources/inputs/collectives/sk1-dgx2-n2.json");

fn made(
    format: &str,
    texts: &[&str],
    given: &[(&str, &str)],
    strict: bool,
) -> Result<ImportedScenario<Collective>, String> {
    let info = formats().into_iter().find(|info| info.name == format).unwrap();
    let parsed: Vec<(&str, ParamValue)> = given
        .iter()
        .map(|(name, text)| {
            (*name, info.params.iter().find(|one| one.name == *name).unwrap().parse(text).unwrap())
        })
        .collect();
    let params = Params::resolve(&info.params, parsed.iter().map(|(name, value)| (*name, value))).unwrap();
    let input = |(at, text): (usize, &&str)| Input {
        name: format!("a/file{at}.json"),
        bytes: text.as_bytes().to_vec(),
    };
    let inputs: Vec<Input> = texts.iter().enumerate().map(input).collect();
    import(format, &inputs, &params, strict).map_err(|problems| problems.to_string())
}

fn topology(texts: &[&str], given: &[(&str, &str)]) -> Topology {
    made("taccl", texts, given, false).unwrap().scenario.body.topology
}

fn link(topology: &Topology, from: u32, to: u32) -> Option<(f64, f64)> {
    let found = topology.links.iter().find(|link| (link.from, link.to) == (from, to))?;
    Some((found.capacity_gbyte_per_s, found.alpha_us))
}

#[test]
fn published_topologies_of_taccl_become_networks() {
    let read = made("taccl", &[NDV2_SKETCH, NDV2], &[], false).unwrap();
    let ndv2 = &read.scenario.body.topology;
    assert_eq!((read.scenario.name.as_str(), ndv2.nodes.len(), ndv2.links.len()), ("file1", 16, 66));
    // 23 and 46 us for a megabyte; 107 us between nodes, from GPU 0 of one to GPU 1 of the other.
    assert_eq!(link(ndv2, 0, 1), Some((43.478_261, 0.3)));
    assert_eq!(link(ndv2, 8, 10), Some((21.739_13, 0.3)));
    assert_eq!(link(ndv2, 0, 9), Some((9.345_794, 2.6)));
    assert_eq!((link(ndv2, 1, 8), link(ndv2, 0, 5)), (None, None));
    let told = read.lines.join("\n");
    for said in [
        "size of a megabyte in the costs is 1e6 bytes (mb=)",
        "wiring inside a node",
        "collective is all_gather",
        "symmetry_offsets",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(!told.contains("number of nodes"), "{told}");
    let read = made("taccl", &[DGX2, DGX2_SKETCH], &[("mb", "2^20")], false).unwrap();
    let dgx2 = &read.scenario.body.topology;
    assert_eq!((dgx2.nodes.len(), dgx2.links.len()), (34, 80));
    assert_eq!((link(dgx2, 0, 32), link(dgx2, 33, 31)), (Some((131.072, 0.15)), Some((131.072, 0.15))));
    assert_eq!((link(dgx2, 1, 16), link(dgx2, 1, 18)), (Some((9.799_776, 2.6)), None));
    assert_eq!(read.scenario.body.demand.chunks_per_rank, 2);
    assert!(!dgx2.switch_model.copy);
}

#[test]
fn more_nodes_and_shared_network_cards_meet_at_switches() {
    let four = topology(&[NDV2, NDV2_SKETCH], &[("nodes", "4")]);
    assert_eq!((four.nodes.len(), four.links.len()), (33, 4 * 32 + 8));
    assert_eq!((link(&four, 8, 32), link(&four, 32, 25)), (Some((9.345_794, 1.3)), Some((9.345_794, 1.3))));
    // GPUs 0 and 1 of a DGX2 share a card, and 4 has another one.
    let shared = topology(&[DGX2], &[("nodes", "2"), ("connections", "0:0, 1:2, 4:6")]);
    let named = |name: &str| shared.nodes.iter().find(|node| node.name == name).map(|node| node.id);
    let (fabric, card, other) = (named("fabric0"), named("c1.nic0.out"), named("fabric4"));
    let (Some(fabric), Some(card), Some(other)) = (fabric, card, other) else { panic!("{:?}", shared.nodes) };
    assert_eq!(
        (link(&shared, 17, card), link(&shared, card, fabric)),
        (Some((9.345_794, 0.0)), Some((9.345_794, 1.3)))
    );
    assert_eq!((link(&shared, fabric, 18), link(&shared, 17, fabric)), (Some((9.345_794, 1.3)), None));
    assert_eq!((link(&shared, 4, other), link(&shared, 4, fabric)), (Some((9.345_794, 1.3)), None));
}

#[test]
fn wirings_of_their_own_are_read_destination_first() {
    let text = r#"{"name": "mine", "gpus_per_node": 2, "alpha": 0.5, "links": [[0, 1], [2, 0]],
        "betas": [[0, 20], [40, 0]], "invbws": [[0, 20], [40, 0]]}"#;
    let mine = topology(&[text], &[]);
    // 20 us for a megabyte from 1 to 0, 40 from 0 to 1.
    assert_eq!((link(&mine, 1, 0), link(&mine, 0, 1)), (Some((50.0, 0.5)), Some((25.0, 0.5))));
    let told = made("taccl", &[text], &[("nodes", "2")], false).unwrap_err();
    assert!(told.contains("nics_per_node") && told.contains("connections"), "{told}");
    let told = made("taccl", &[text.replace("[2, 0]", "[2, 1]").as_str()], &[], false).unwrap_err();
    assert!(told.contains("links[1][1]"), "{told}");
    let told = made("taccl", &[text.replace("\"invbws\"", "\"invbw\"").as_str()], &[], false).unwrap_err();
    assert!(told.contains("invbw"), "{told}");
}

#[test]
fn what_topologies_leave_open_is_told_and_refused_if_strict() {
    for (texts, given, said) in [
        (&[NDV2_SKETCH][..], &[][..], "none of the files is a topology of TACCL"),
        (&[NDV2, DGX2], &[], "is passed in addition to a/file0.json"),
        (&[NDV2], &[("nodes", "2")], "connections: is missing"),
        (&[NDV2], &[("nodes", "2"), ("connections", "0-1")], "has '0-1'"),
        (&[NDV2], &[("nodes", "2"), ("connections", "0:1, 0:1")], "names 0:1 twice"),
        (&[NDV2], &[("nodes", "1"), ("connections", "0:1")], "connections: has no effect on a single node"),
        (&[NDV2], &[("nodes", "2"), ("connections", "0:8")], "names GPU 8"),
        (&[NDV2.replace("NDv2_1MB", "Moebius").as_str()], &[], "is 'Moebius', whose wiring is unknown"),
        (&[NDV2.replace("[23, 46]", "[23]").as_str()], &[], "has 1 costs"),
        (
            &[DGX2.replace("\"gpus_per_node\": 16", "\"gpus_per_node\": 8").as_str()],
            &[],
            "gpus_per_node: is 8",
        ),
    ] {
        let told = made("taccl", texts, given, false).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
    let given = [("collective", "all_gather"), ("output_buffer_bytes", "1e9"), ("nodes", "1"), ("mb", "1e6")];
    let told = made("taccl", &[NDV2], &given, true).unwrap_err();
    assert!(told.contains("wiring inside a node") && !told.contains("mb="), "{told}");
    let told = made("taccl", &[NDV2], &[], true).unwrap_err();
    for said in ["collective=", "output_buffer_bytes=", "nodes=", "mb="] {
        assert!(told.contains(said), "{said}: {told}");
    }
}

#[test]
fn networks_of_simulators_and_graphs_become_networks() {
    let of = |text: &str, given: &[(&str, &str)]| made("network", &[text], given, false).unwrap();
    // Two dimensions: rings of two inside (one link each way), switches of two outside.
    let astra =
        "topology: [ Ring, Switch ]\nnpus_count: [ 2, 2 ]\nbandwidth: [ 80.0, 25 ]\nlatency: [ 1000, 500 ]\n";
    let read = of(astra, &[("gbyte_bytes", "1073741824")]);
    let network = &read.scenario.body.topology;
    assert_eq!((network.gpus().count(), network.nodes.len(), network.links.len()), (4, 6, 2 * 2 + 2 * 4));
    assert_eq!(link(network, 0, 1), Some((80.0 * 1.073_741_824, 1.0)));
    // The second dimension joins 0 with 2 and 1 with 3 over switches 4 and 5.
    assert_eq!(link(network, 0, 4), Some((25.0 * 1.073_741_824, 0.5)));
    assert_eq!((link(network, 5, 3), link(network, 4, 1)), (Some((25.0 * 1.073_741_824, 0.5)), None));
    // 400 Gb/s are 50 GB/s; two parallel edges add up; a switch by its name.
    let read = of(
        "graph { a -- sw1 [rate=400]; a -- sw1 [rate=400]; b -- sw1 [rate=400, latency_us=2]; }",
        &[("switches", "sw*")],
    );
    let network = &read.scenario.body.topology;
    assert_eq!((network.gpus().count(), network.links.len()), (2, 4));
    assert_eq!((link(network, 0, 1), link(network, 1, 2)), (Some((100.0, 0.7)), Some((50.0, 2.0))));
    let told = read.lines.join("\n");
    for said in [
        "found: 2 GPUs, 1 switch, 4 links",
        "latency of 2 links is 0.7 us",
        "unit of rates is Gb/s",
        "2 links were merged",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    // 15 cycles of 2 ns; links without a rate have one port's.
    let read = of("router 0 node 0 node 1 router 1 15\nrouter 1 node 2\n", &[("cycle_ns", "2")]);
    let network = &read.scenario.body.topology;
    let id = |name: &str| network.nodes.iter().find(|node| node.name == name).unwrap().id;
    assert_eq!(network.gpus().count(), 3);
    assert_eq!(link(network, id("r0"), id("r1")), Some((50.0, 0.03)));
    let wrong = made("network", &["a b\n"], &[("switches", "c")], false).unwrap_err();
    assert!(wrong.contains("contains 'c', which is not a node"), "{wrong}");
}

#[test]
fn specified_topologies_are_taken_as_they_are() {
    let text = r#"{"format": "lightbay.topology/1", "name": "pair", "nodes": [
        {"id": 0, "name": "g0", "kind": "gpu", "group": 0}, {"id": 1, "name": "g1", "kind": "gpu", "group": 0}],
        "links": [{"from": 0, "to": 1, "capacity_gbyte_per_s": 25.0, "alpha_us": 0.7, "kind": "nvlink"},
                  {"from": 1, "to": 0, "capacity_gbyte_per_s": 25.0, "alpha_us": 0.7, "kind": "nvlink"}],
        "switch_model": {"copy": true, "hop": "store_and_forward"}, "symmetry_generators": [[1, 0]], "notes": ""}"#;
    let read = made("network", &[text], &[("collective", "all_to_all")], false).unwrap();
    let network = &read.scenario.body.topology;
    assert_eq!(
        (network.name.as_str(), network.links.len(), link(network, 1, 0)),
        ("pair", 2, Some((25.0, 0.7)))
    );
    assert_eq!(network.symmetry_generators, [[1, 0]]);
    let told = made("network", &[text], &[("alpha_us", "1")], false).unwrap_err();
    assert!(told.contains("alpha_us: has no effect"), "{told}");
    let told = made("network", &[text.replace("0.7", "-1").as_str()], &[], false).unwrap_err();
    assert!(told.contains("links[0].alpha_us"), "{told}");
}

#[test]
fn a_collective_of_traces_is_planned_on_the_named_network() {
    use lightbay_formats::chakra::{ChakraNode, ChakraSort, ChakraTrace, ChakraValue, write};
    let trace = |collectives: &[(i64, i64)]| {
        let node = |(id, (sort, size)): (u64, &(i64, i64))| ChakraNode {
            id,
            name: "c".to_owned(),
            sort: ChakraSort::Collective,
            control_deps: Vec::new(),
            data_deps: Vec::new(),
            duration_us: 0,
            attributes: vec![
                ("comm_type".to_owned(), ChakraValue::Int(*sort)),
                ("comm_size".to_owned(), ChakraValue::Int(*size)),
            ],
        };
        let nodes = (0..).zip(collectives).map(node).collect();
        write(&ChakraTrace { version: "0.0.4".to_owned(), nodes, skipped: 0 })
    };
    let run = |files: &[Vec<u8>], given: &[(&str, &str)]| {
        let info = formats().into_iter().find(|info| info.name == "chakra").unwrap();
        let value = |name: &str, text: &str| {
            info.params.iter().find(|one| one.name == name).unwrap().parse(text).unwrap()
        };
        let parsed: Vec<(&str, ParamValue)> =
            given.iter().map(|(name, text)| (*name, value(name, text))).collect();
        let params =
            Params::resolve(&info.params, parsed.iter().map(|(name, value)| (*name, value))).unwrap();
        let input =
            |(at, bytes): (usize, &Vec<u8>)| Input { name: format!("t.{at}.et"), bytes: bytes.clone() };
        let inputs: Vec<Input> = files.iter().enumerate().map(input).collect();
        import("chakra", &inputs, &params, false).map_err(|problems| problems.to_string())
    };
    let four = vec![trace(&[(6, 1 << 20)]); 4];
    let made = run(&four, &[("network", "ring4")]).unwrap();
    let demand = &made.scenario.body.demand;
    assert_eq!(
        (demand.collective, demand.output_buffer_bytes),
        (CollectiveSort::AllToAll, Some(1_048_576.0))
    );
    assert_eq!(made.assumed, []);
    // Each rank's part of an AllGather of 100 elements of 2 bytes: four of them are 800 bytes.
    let two = [trace(&[(0, 8), (2, 100)])];
    let made = run(&two, &[("network", "ring4"), ("node", "1"), ("elem_bytes", "2")]).unwrap();
    assert_eq!(made.scenario.body.demand.output_buffer_bytes, Some(800.0));
    let made = run(&two, &[("network", "ring4"), ("node", "1"), ("size", "total")]).unwrap();
    assert_eq!(made.scenario.body.demand.output_buffer_bytes, Some(100.0));
    for (files, given, said) in [
        (&four[..], &[][..], "network: is missing"),
        (&four, &[("network", "ring8")], "has 8 GPUs, but 4 ranks take part"),
        (&four, &[("network", "star4")], "'star4' is not a known network"),
        (&four, &[("network", "ring4"), ("node", "1")], "node: is 1, but the trace has 1 collective"),
        (&four, &[("network", "ring4"), ("size", "total")], "size: has no effect"),
        (
            &two,
            &[("network", "ring4")],
            "choose one: node=0: AllReduce of size 8 (1 times), node=1: AllGather of size 100",
        ),
        (&[trace(&[(9, 1)])], &[("network", "ring4")], "is barrier"),
        (&[trace(&[(0, 8)]), trace(&[(0, 9)])], &[("network", "ring2")], "t.1.et: has AllReduce of size 9"),
        (&[trace(&[])], &[("network", "ring4")], "has no collective"),
    ] {
        let told = run(files, given).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
}

/// An AllGather in the traces of STAGE, whose sizes count elements and whose groups are in a file.
#[test]
fn sizes_of_stage_are_elements_and_its_groups_state_the_ranks() {
    macro_rules! trace {
        ($name:literal) => {
            Input {
                name: $name.to_owned(),
                bytes: include_bytes!(concat!("../../../../../tests/resources/inputs/traces/", $name))
                    .to_vec(),
            }
        };
    }
    let info = formats().into_iter().find(|info| info.name == "chakra").unwrap();
    let run = |files: &[Input], network: &str| {
        let given = [("network", ParamValue::Text(network.to_owned())), ("node", ParamValue::Int(0))];
        let params = Params::resolve(&info.params, given.iter().map(|(name, value)| (*name, value))).unwrap();
        import("chakra", files, &params, false).map_err(|problems| problems.to_string())
    };
    let first = trace!("dense.0.et.gz");
    let bytes = |made: &ImportedScenario<Collective>| made.scenario.body.demand.output_buffer_bytes.unwrap();
    // 262144 elements of two bytes from each of four ranks.
    let made = run(std::slice::from_ref(&first), "ring4").unwrap();
    assert_eq!(bytes(&made), 4.0 * 2.0 * 262_144.0);
    let what: Vec<&str> = made.assumed.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(what, ["meaning of the size", "unit of the size", "ranks that take part"]);
    assert_eq!(made.assumed[1].value, "2 bytes (one element)");
    // The group of the collective has two ranks.
    let both = [trace!("dense.comm_group.json"), first];
    let told = run(&both, "ring4").unwrap_err();
    assert!(told.contains("has 4 GPUs, but 2 ranks take part"), "{told}");
    let made = run(&both, "mesh2").unwrap();
    assert_eq!((bytes(&made), made.assumed.len()), (2.0 * 2.0 * 262_144.0, 2));
    // Ranks may be listed in any order, and a file without groups states nothing.
    let name = both[0].name.clone();
    let groups = |text: String| Input { name: name.clone(), bytes: text.into_bytes() };
    let listed = String::from_utf8(both[0].bytes.clone()).unwrap();
    let from = listed.split(['[', ']']).nth(1).unwrap();
    let reversed: Vec<&str> = from.split(',').rev().map(str::trim).collect();
    let reversed = listed.replacen(from, &reversed.join(", "), 1);
    assert_ne!(reversed, listed);
    assert!(run(&[groups(reversed), both[1].clone()], "mesh2").is_ok());
    assert!(run(&[groups("{}".to_owned()), both[1].clone()], "ring4").is_ok());
    let told = run(&[both[0].clone(), both[0].clone(), both[1].clone()], "mesh2").unwrap_err();
    assert!(told.contains("is a second file of groups"), "{told}");
}

/// Links into rank 0, 1 and 2 of three ranks.
fn msccl(links: [[u32; 3]; 3], switches: &str) -> String {
    format!(
        "{{\"msccl_type\": \"topology\", \"name\": \"t\", \"links\": {links:?}, \"switches\": {switches}}}"
    )
}

#[test]
fn topologies_of_msccl_become_networks() {
    let read = |text: &str, given: &[(&str, &str)], strict| made("msccl_topology", &[text], given, strict);
    let plain = msccl([[0, 1, 0], [2, 0, 1], [1, 0, 0]], "[]");
    let body = read(&plain, &[], false).unwrap().scenario.body;
    assert_eq!(body.topology.links.len(), 4);
    assert_eq!(
        (link(&body.topology, 0, 1), link(&body.topology, 0, 2)),
        (Some((50.0, 0.7)), Some((25.0, 0.7)))
    );
    let given = [
        ("unit_gbyte_per_s", "10"),
        ("alpha_us", "0"),
        ("collective", "all_to_all"),
        ("output_buffer_bytes", "6"),
    ];
    let body = read(&plain, &given, true).unwrap().scenario.body;
    assert_eq!(
        (link(&body.topology, 0, 1), body.demand),
        (Some((20.0, 0.0)), Demand::named(CollectiveSort::AllToAll, 6.0))
    );
    let told = read(&plain, &[], true).unwrap_err();
    assert!(told.contains("unit_gbyte_per_s=") && told.contains("alpha_us="), "{told}");
    // Rank 0 sends one chunk at a time to whomever it is, rank 2 receives two.
    let all = [[0, 1, 1], [2, 0, 1], [2, 2, 0]];
    let text = msccl(all, "[[[0], [1, 2], 1, \"out\"], [[0, 1], [2], 3, \"in\"]]");
    let shared = read(&text, &[("unit_gbyte_per_s", "1")], false).unwrap().scenario.body.topology;
    let rate = |from, to| link(&shared, from, to).map(|(rate, _)| rate);
    assert_eq!((shared.nodes.len(), shared.links.len()), (5, 8));
    assert_eq!(
        (rate(0, 3), rate(3, 1), rate(3, 4), rate(1, 4), rate(4, 2)),
        (Some(1.0), Some(2.0), Some(2.0), Some(2.0), Some(3.0))
    );
    assert_eq!(
        (rate(0, 1), rate(0, 2), link(&shared, 0, 3), link(&shared, 3, 1)),
        (None, None, Some((1.0, 0.7)), Some((2.0, 0.0)))
    );
    // All of them share one chunk at a time.
    let text = msccl(all, "[[[0, 1, 2], [0, 1, 2], 1, \"core\"]]");
    let shared = read(&text, &[("unit_gbyte_per_s", "1")], false).unwrap().scenario.body.topology;
    assert_eq!((shared.nodes.len(), shared.links.len()), (5, 7));
    assert!(shared.links.iter().all(|link| link.capacity_gbyte_per_s == 1.0));
    for (switches, said) in [
        ("[[[0, 1, 2], [0, 1, 2], 2, \"core\"]]", "from 2 to 0 only 1: no node can represent both limits"),
        ("[[[0], [0], 1, \"self\"]]", "'self' limits no link"),
        (
            "[[[0], [1, 2], 1, \"a\"], [[0], [1], 1, \"b\"]]",
            "'b' limits the link from 0 to 1 in the same way as 'a'",
        ),
    ] {
        let told = read(&msccl(all, switches), &[], false).unwrap_err();
        assert!(told.contains(said), "{said}: {told}");
    }
    let told = read(&msccl([[0, 0, 1], [1, 0, 1], [1, 1, 0]], "[[[0, 1], [0, 2], 1, \"x\"]]"), &[], false)
        .unwrap_err();
    assert!(told.contains("joins source 1 to destination 0, but no link connects them"), "{told}");
}
