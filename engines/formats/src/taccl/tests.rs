use super::teccl::{TecclEpoch, read_input, read_result};
use super::*;
use proptest::prelude::*;

macro_rules! resource {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/resources/inputs/collectives/", $name)).as_slice()
    };
}

const LIMITS: Limits = Limits { content_bytes: 1 << 24, line_bytes: 1 << 20, rows: 1000 };

#[test]
fn published_topologies_and_sketches() {
    let found = read_taccl(resource!("topo-ndv2-1MB.json"), &LIMITS).unwrap();
    let ndv2 = &found.value;
    assert_eq!(
        (ndv2.gpus_per_node, ndv2.nics_per_node, &ndv2.invbws_us_per_mb[..]),
        (8, 1, &[23.0, 46.0][..])
    );
    assert_eq!(
        (ndv2.remote_alpha_us, ndv2.remote_beta_us_per_mb, ndv2.remote_invbw_us_per_mb),
        (2.6, 105.0, 107.0)
    );
    // 46 µs for a megabyte.
    assert!((Megabyte::Decimal.gbyte_per_s(46.0) - 21.739_130_434_8).abs() < 1e-9);
    assert!(Megabyte::Binary.gbyte_per_s(46.0) > 22.7);
    assert_eq!(found.assumed.len(), 2);
    let dgx2 = read_taccl(resource!("topo-dgx2-1MB.json"), &LIMITS).unwrap().value;
    for topology in [ndv2, &dgx2] {
        assert_eq!(read_taccl(write_taccl(topology).as_bytes(), &LIMITS).unwrap().value, *topology);
    }
    let sketch = read_sketch(resource!("sk1-dgx2-n2.json"), &LIMITS).unwrap();
    assert_eq!((sketch.nodes, sketch.chunks, sketch.ordered), (2, 2, true));
    assert_eq!((sketch.switches[0].len(), &sketch.switch_strategies[..]), (16, &["uc-min".to_owned()][..]));
    assert_eq!((sketch.connections[&15].as_slice(), sketch.senders[&3].as_slice()), (&[14][..], &[2, 3][..]));
    assert_eq!(sketch.symmetry_offsets, [[2, 16], [16, 32]]);
    let other = read_sketch(resource!("sk1-ndv2-n2.json"), &LIMITS).unwrap();
    assert_eq!((other.nodes, other.ordered), (2, false));
}

#[test]
fn inputs_and_results_of_teccl() {
    let text = r#"{"TopologyParams": {"name": "NDv2", "option": 1, "chassis": 2, "chunk_size": 0.0625},
        "GurobiParams": {"time_limit": 2, "mip_gap": 0.3, "log_file": ""},
        "InstanceParams": {"collective": 2, "num_chunks": 1, "epoch_type": 3, "epoch_duration": 1.25e-6,
        "num_epochs": -1, "alpha_threshold": 0.1, "switch_copy": true, "objective_type": 3}}"#;
    let found = read_input(text.as_bytes(), &LIMITS).unwrap();
    let input = &found.value;
    assert_eq!((input.chassis, input.chunk_bytes, input.all_to_all), (2, 62.5e6, true));
    assert_eq!((input.epoch, input.epochs, input.mip_gap), (TecclEpoch::Fixed(1.25), None, 0.3));
    let note = "not used: TopologyParams.option, GurobiParams.log_file, InstanceParams.objective_type";
    assert_eq!(found.notes, [note]);
    let wrong = |text: &str| read_input(text.as_bytes(), &LIMITS).unwrap_err().to_string();
    let bad = text
        .replace("0.0625", "-1")
        .replace("1.25e-6", "-1")
        .replace("\"collective\": 2", "\"collective\": 9");
    let told = wrong(&bad);
    assert!(
        told.contains("TopologyParams.chunk_size") && told.contains("InstanceParams.collective"),
        "{told}"
    );
    assert!(told.contains("epoch_duration: is -1, but must be above 0 for epoch_type 3"), "{told}");
    let text = r#"{"1-Epoch_Duration": 3.5e-09, "3-Epochs_Required": 1182, "4-Collective_Finish_Time": 4.137e-06,
        "5-Algo_Bandwidth": 0.2417, "6-Demand_Met": {}, "7-Flows": ["Chunk 0 from 14 traveled over 14->13 in epoch 0",
        "Chunk 1 from 4 traveled over 4->3 in epoch 7 via switches 0"]}"#;
    let result = read_result(text.as_bytes(), &LIMITS).unwrap();
    assert!((result.finish_us - 4.137).abs() < 1e-12 && result.epochs == 1182);
    let send = &result.sends[1];
    assert_eq!((send.chunk, send.source, send.from, send.to, send.epoch), (1, 4, 4, 3, 7));
    assert_eq!(send.switches, [0]);
    let told = read_result(text.replace("4->3", "4-3").as_bytes(), &LIMITS).unwrap_err().to_string();
    assert!(told.contains("7-Flows[1]"), "{told}");
}

#[test]
fn names_of_switches_leave_room_for_a_suffix() {
    let text = |name: &str| {
        format!(
            r#"{{"msccl_type": "topology", "name": "x", "links": [[0, 1], [1, 0]], "switches": [[[0], [1], 1, "{name}"]]}}"#
        )
    };
    let longest = "s".repeat(990);
    assert_eq!(read_msccl(text(&longest).as_bytes(), &LIMITS).unwrap().switches[0].name, longest);
    let told = read_msccl(text(&"s".repeat(991)).as_bytes(), &LIMITS).unwrap_err().to_string();
    assert!(told.contains("switches[0][3]: has 991 characters; use at most 990"), "{told}");
}

#[test]
fn bad_entries_are_named_by_path() {
    let wrong = |text: &str| read_taccl(text.as_bytes(), &LIMITS).unwrap_err().to_string();
    let text = r#"{"name": "x", "gpus_per_node": 2, "alpha": "NaN", "node_betas_list": [1, 2], "node_invbws_list": [0],
        "remote_invbw": -1, "remote_alpha": 1e300, "remote_beta": 1, "links": [[0, 1], [1]], "speed": 3}"#;
    let told = wrong(text);
    for part in [
        "alpha: is",
        "remote_invbw: is",
        "remote_alpha: is",
        "links[1]: has 1 entries",
        "speed",
        "node_betas_list: has 2 classes",
        "node_invbws_list[0]: is 0",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    assert!(wrong(&"[".repeat(5000)).contains("line 1"));
    let wrong = |text: &str| read_msccl(text.as_bytes(), &LIMITS).unwrap_err().to_string();
    let text = r#"{"msccl_type": "algorithm", "name": "x", "links": [[1, 0.5], [2, 0]], "switches": [[[0], [9], 0, 3], 7]}"#;
    let told = wrong(text);
    for part in [
        "msccl_type",
        "links[0][0]: is 1",
        "links[0][1]: is 0.5",
        "switches[0][1]: has node 9",
        "switches[0][2]",
        "switches[0][3]",
        "switches[1]: is not a list of four",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let told = read_sketch(&b"{\"nnodes\": 0, \"intranode_sketch\": {\"strategy\": 3, \"other\": 1}, \"symmetry_offsets\": [[3, 16]]}"[..], &LIMITS).unwrap_err().to_string();
    for part in [
        "nnodes",
        "intranode_sketch.strategy",
        "intranode_sketch.other",
        "internode_sketch: is missing",
        "symmetry_offsets[0]",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
}

proptest! {
    #[test]
    fn topologies_of_msccl_read_back(
        size in 1..6_usize,
        seed in proptest::collection::vec(0..5_u32, 36),
        switches in proptest::collection::vec((0..9_u32, 0..9_u32, 1..9_u32, "[a-z\"]{0,5}"), 0..3),
    ) {
        let links = (0..size).map(|to| (0..size).map(|from| if to == from { 0 } else { seed[to * 6 + from] }).collect());
        let many = size as u32;
        let switches = switches.into_iter().map(|(a, b, bandwidth, name)|
            MscclSwitch { sources: vec![a % many], destinations: vec![b % many], bandwidth, name });
        let topology = MscclTopology { name: "t".into(), links: links.collect(), switches: switches.collect() };
        prop_assert_eq!(read_msccl(write_msccl(&topology).as_bytes(), &LIMITS).unwrap(), topology);
    }

    #[test]
    fn nothing_panics(text in "[\\[\\]{}0-9,.eE\\-a-z\": ]{0,60}") {
        let _ = (read_taccl(text.as_bytes(), &LIMITS), read_msccl(text.as_bytes(), &LIMITS));
        let _ = (read_sketch(text.as_bytes(), &LIMITS), read_input(text.as_bytes(), &LIMITS));
        let _ = read_result(text.as_bytes(), &LIMITS);
    }
}
