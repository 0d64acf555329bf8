use super::presets::{PRESETS, scenario};
use super::*;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;
use lightbay_core::record::Record as _;
use serde_json::{Value, json};

fn read(value: &Value) -> Result<CollectiveScenario, Problems> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "", &mut problems).unwrap();
    let read = CollectiveScenario::of_fields(&mut fields, &mut problems);
    fields.finish(&mut problems);
    problems.into_result(())?;
    let read = read.unwrap();
    read.validate().map(|()| read)
}

fn small() -> Value {
    json!({
        "topology": {"nodes": 3, "links": [
            {"from": 0, "to": 1, "capacity_gbyte_per_s": 50},
            {"from": 1, "to": 2, "capacity_gbyte_per_s": 25, "alpha_us": 0.7},
            {"from": 2, "to": 0, "capacity_gbyte_per_s": 25}
        ]},
        "demand": {"collective": "all_gather", "output_buffer_bytes": 3e6}
    })
}

#[test]
fn an_own_graph_takes_ten_lines() {
    let own = read(&small()).unwrap();
    assert_eq!(own.topology.nodes[2].name, "g2");
    assert_eq!(own.demand.chunk_size(&own.topology), 1e6);
    assert_eq!(own.demand.expand(&own.topology).dests(1).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn what_is_written_is_read_again() {
    for preset in PRESETS.iter().filter(|preset| !preset.name.starts_with("h800")) {
        let made = scenario(preset.name).unwrap_or_else(|| panic!("{} is not valid", preset.name));
        assert_eq!(read(&serde_json::to_value(&made).unwrap()).unwrap(), made, "{}", preset.name);
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let mut wrong = small();
    wrong["topology"]["links"][0]["capacity_gbyte_per_s"] = json!(0);
    wrong["topology"]["links"][1]["alpha_us"] = json!(-1);
    wrong["topology"]["links"][2]["to"] = json!("x");
    wrong["demand"]["colective"] = json!("all_gather");
    let told = read(&wrong).unwrap_err().to_string();
    for part in [
        "topology.links[0].capacity_gbyte_per_s: is '0'",
        "topology.links[1].alpha_us: is '-1'",
        "topology.links[2].to: is 'x'",
        "demand.colective: is not a known key; did you mean 'collective'?",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
}

#[test]
fn contradictions_are_refused() {
    type Change<'a> = &'a dyn Fn(&mut Value);
    let cases: [(&str, Change<'_>); 11] = [
        ("repeats links[0]", &|it| it["topology"]["links"][1] = it["topology"]["links"][0].clone()),
        ("connects node 2 to itself", &|it| it["topology"]["links"][2]["to"] = json!(2)),
        ("no path from node 1 to node 0", &|it| it["failed_links"] = json!([[2, 0]])),
        ("where no link exists", &|it| it["failed_links"] = json!([[0, 2]])),
        ("is not a permutation", &|it| it["topology"]["symmetry_generators"] = json!([[0, 0, 1]])),
        ("has another capacity or latency", &|it| it["topology"]["symmetry_generators"] = json!([[1, 2, 0]])),
        ("demand.ranks[1]: repeats GPU 0", &|it| it["demand"]["ranks"] = json!([0, 0])),
        ("demand.ranks[1]: is 7, but nodes are 0 to 2", &|it| it["demand"]["ranks"] = json!([0, 7])),
        ("demand.root: has no effect on AllGather", &|it| it["demand"]["root"] = json!(0)),
        ("time.epoch_us: is missing", &|it| it["time"] = json!({"epoch": "fixed"})),
        ("up_us[1]: is [5, 9]; use an interval that begins at 7 or later", &|it| {
            it["topology"]["links"][0]["up_us"] = json!([[0, 7], [5, 9]]);
        }),
    ];
    for (part, change) in cases {
        let mut wrong = small();
        change(&mut wrong);
        let told = read(&wrong).unwrap_err().to_string();
        assert!(told.contains(part), "{part} is not in {told}");
    }
}

#[test]
fn switches_hold_no_data_and_sources_want_nothing() {
    let mut wrong = small();
    wrong["topology"]["nodes"] = json!([{"id": 0}, {"id": 1, "kind": "switch"}, {"id": 2}]);
    wrong["demand"] = json!({"collective": "custom", "chunk_bytes": 1e6, "chunks": [
        {"source": 0, "dests": [1, 2, 2, 0]}, {"source": 1, "dests": []}]});
    let told = read(&wrong).unwrap_err().to_string();
    for part in [
        "demand.chunks[0].dests[0]: is 1, a switch",
        "demand.chunks[0].dests[2]: repeats GPU 2",
        "demand.chunks[0].dests[3]: is 0, the source",
        "demand.chunks[1].source: is 1, a switch",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
}

#[test]
fn demands_stand_for_chunks() {
    let chunks = |sort, per_rank: u32| {
        let mut made = scenario("ring8-allgather-1mb").unwrap();
        made.demand = Demand { chunks_per_rank: per_rank, ..Demand::named(sort, 1e6) };
        made.validate().unwrap();
        let list = made.demand.expand(&made.topology);
        (list.len(), list.deliveries(), list.is_unicast())
    };
    assert_eq!(chunks(CollectiveSort::AllGather, 2), (16, 112, false));
    assert_eq!(chunks(CollectiveSort::AllToAll, 1), (56, 56, true));
    assert_eq!(chunks(CollectiveSort::Broadcast, 3), (3, 21, false));
    assert_eq!(chunks(CollectiveSort::Gather, 1), (7, 7, true));
    let mut made = scenario("ring8-allgather-1mb").unwrap();
    made.demand = Demand::custom(1e6, Vec::new());
    made.demand.ranks = Some(vec![3, 5]);
    made.demand.matrix = vec![vec![0, 2], vec![1, 0]];
    made.validate().unwrap();
    let list = made.demand.expand(&made.topology);
    assert_eq!((list.len(), list.source(2), list.dests(2).collect::<Vec<_>>()), (3, 5, vec![3]));
}

#[test]
fn knobs_change_what_they_say() {
    let mut made = scenario("ndv2x2-allgather-1gb").unwrap();
    let text = |text: &str| ParamValue::Text(text.to_owned());
    made.set("network_size", None, &text("4")).unwrap();
    assert_eq!(made.topology.nodes.len(), 33);
    assert!(made.set("network_size", None, &text("3")).is_err());
    made.set("network", None, &text("torus")).unwrap();
    made.set("network_size", None, &text("2x3")).unwrap();
    assert_eq!(made.topology.name, "torus_2x3");
    made.set("stragglers", None, &text("0-1:1:2")).unwrap();
    assert!(made.topology.symmetry_generators.len() < 2, "a straggler breaks symmetries");
    assert_eq!(KNOBS.get(&made, "stragglers"), Some(text("0-1:1:2")));
    assert!(
        made.set("network_size", None, &text("3x3"))
            .unwrap_err()
            .to_string()
            .contains("would rebuild the network")
    );
    assert!(made.set("failed_links", None, &text("0-1")).is_err(), "the link is a straggler");
    made.set("stragglers", None, &text("none")).unwrap();
    // Nodes have numbers and names.
    for link in ["0-1", "g0.0-g0.1", "0→g0.1"] {
        made.set("failed_links", None, &text(link)).unwrap();
        assert_eq!(KNOBS.get(&made, "failed_links"), Some(text("0-1")), "{link}");
    }
    assert!(made.set("failed_links", None, &text("g0.0-nowhere")).is_err());
    made.set("capacities", None, &text("1-0:20")).unwrap();
    assert!(made.validate().is_ok());
    for (value, said) in [
        ("0-5:20", "the link 0-5 does not exist"),
        ("0-1:20", "the link 0-1 has failed"),
        ("1-0:20,1-0:30", "names the link 1-0 twice"),
        ("1-0:0", "a rate above 0"),
    ] {
        let refused = made.clone().set("capacities", None, &text(value)).unwrap_err().to_string();
        assert!(refused.contains(said), "{value}: {refused}");
    }
    made.set("collective", None, &text("broadcast")).unwrap();
    made.set("root", None, &ParamValue::Int(5)).unwrap();
    made.validate().unwrap();
    assert!(made.set("epoch_us", None, &ParamValue::Float(1.0)).is_err());
    made.set("epoch", None, &text("fixed")).unwrap();
    made.set("epoch_us", None, &ParamValue::Float(2.0)).unwrap();
    made.validate().unwrap();
}

#[test]
fn a_family_has_the_nodes_and_links_of_the_network() {
    let named = |network, size: &[u32]| {
        let mut scenario = presets::scenario("ring8-allgather-1mb").unwrap();
        scenario.family = Some(NetworkFamily { network, size: size.to_vec() });
        scenario.validate().map_err(|problems| problems.to_string())
    };
    use families::FamilySort;
    assert!(named(FamilySort::Ring, &[8]).is_ok());
    for (network, size) in [
        (FamilySort::Ring, &[7][..]),
        (FamilySort::Dgx1, &[1]),
        (FamilySort::Mesh, &[2, 4]),
        (FamilySort::Ring, &[2]),
    ] {
        let said = named(network, size).unwrap_err();
        assert!(said.starts_with("family: "), "{said}");
    }
    // Rates are changed by hand.
    let mut scenario = presets::scenario("ring8-allgather-1mb").unwrap();
    scenario.topology.links[0].capacity_gbyte_per_s /= 2.0;
    scenario.topology.symmetry_generators.clear();
    assert!(scenario.validate().is_ok());
}

#[test]
fn what_has_one_value_is_no_parameter() {
    let idle = |name: &str| -> Vec<String> {
        KNOBS.idle(&presets::scenario(name).unwrap()).into_iter().map(|problem| problem.path).collect()
    };
    assert!(idle("dgx1-allgather-200kb").contains(&"network_size".to_owned()));
    assert!(!idle("ring8-allgather-1mb").contains(&"network_size".to_owned()));
    for (name, one_by_one) in [
        ("dgx1-alltoall-200kb", true),
        ("dgx1-scatter-200kb", true),
        ("dgx1-gather-200kb", true),
        ("dgx1-allgather-200kb", false),
        ("dgx1-broadcast-200kb", false),
    ] {
        assert_eq!(idle(name).contains(&"copy".to_owned()), one_by_one, "{name}");
    }
    let mut exchange = presets::scenario("dgx1-alltoall-200kb").unwrap();
    let refused = exchange.set("copy", None, &ParamValue::Bool(false)).unwrap_err().to_string();
    assert!(refused.contains("copy: has no effect if every chunk has one destination"), "{refused}");
}
