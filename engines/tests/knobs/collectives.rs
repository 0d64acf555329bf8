//! Knobs of collectives and of their methods: every one changes the plan or what the run says.

use super::methods::{Case, Shows, case, change, on};
use super::runs::{fails, run, settings, solve, solve_ask};
use super::{assert_all_changed, assert_covered};
use lightbay_core::event::{EndStatus, EventBody};
use lightbay_engines::files::read_value;
use lightbay_engines::{
    AnyFile, AnyPlan, AnyScenario, Input, Request, Subject, apply, conversion, convert, export, import,
    knobs, methods, preset,
};
use serde_json::json;
use std::path::Path;

const CUBE: &str = "dgx1-allgather-200kb";
const EXCHANGE: &str = "dgx1-alltoall-200kb";
const MESH: &str = "mesh4x4-alltoall-1mb";
const DIES: &str = "amdx1-allgather-1mb";

/// Bound and shortest schedule differ, so that programs have something to answer.
const TWO: &str = "chunks_per_rank=2 output_buffer_bytes=400000 epoch=slowest_link";

const fn cube(
    methods: &'static [&'static str],
    param: &'static str,
    given: &'static str,
    to: &'static str,
) -> Case {
    on(CUBE, case(methods, param, given, to, Shows::Log))
}

const fn mesh(param: &'static str, given: &'static str, to: &'static str) -> Case {
    on(MESH, case(&["teccl-lp"], param, given, to, Shows::Log))
}

const fn trees(param: &'static str, to: &'static str) -> Case {
    on(CUBE, case(&["trees"], param, "", to, Shows::Plan))
}

const PROGRAMS: &[&str] = &["teccl-milp", "teccl-astar"];

const CASES: &[Case] = &[
    on("amdx2-allgather-1mb", case(&["construct"], "restarts", "", "0", Shows::Log)),
    on("amdx2-allgather-1mb", case(&["auto"], "restarts", "programs_s=0", "0", Shows::Log)),
    on("ndv2x2-alltoall-1gb", case(&["auto"], "other_epochs", "programs_s=0", "false", Shows::Log)),
    cube(&["auto"], "pieces", "", "false"),
    on(DIES, case(&["auto"], "programs_s", "other_epochs=false pieces=false", "0", Shows::Log)),
    on(DIES, case(&["teccl-milp"], "restarts", "question_s=10", "0", Shows::Log)),
    on(DIES, case(&["teccl-milp"], "question_s", "restarts=2 fold=false", "0.1", Shows::Log)),
    cube(PROGRAMS, "fold", TWO, "false"),
    cube(&["teccl-milp"], "epochs", TWO, "6"),
    cube(&["teccl-milp"], "early", TWO, "true"),
    cube(PROGRAMS, "solver_process", TWO, "own"),
    cube(PROGRAMS, "presolve", TWO, "off"),
    on(DIES, case(&["teccl-milp"], "heuristic_effort", "restarts=2", "0", Shows::Log)),
    cube(&["teccl-astar"], "round_epochs", TWO, "3"),
    trees("min_piece_bytes", "20000"),
    trees("most_pieces", "2"),
    trees("schedule", "periodic"),
    trees("most_sends", "0"),
    mesh("restarts", "", "0"),
    on("mesh3x4-alltoall-1mb", case(&["teccl-lp"], "question_s", "fold=false coarsest=1", "0.1", Shows::Log)),
    mesh("fold", "", "false"),
    mesh("coarsest", "", "1"),
    mesh("solver_process", "", "own"),
    mesh("presolve", "", "off"),
    mesh("lp_method", "", "ipx"),
];

#[test]
fn every_knob_of_every_method_of_collectives_does_something() {
    let mut entries: Vec<(String, String)> = Vec::new();
    for method in methods("collective") {
        entries.extend(method.params.iter().map(|param| (method.name.to_owned(), param.name.to_string())));
    }
    // Tested below.
    let mut covered = ["round_s", "mip_gap"].map(|knob| ("teccl-astar".to_owned(), knob.to_owned())).to_vec();
    let mut idle = Vec::new();
    for case in CASES {
        for method in case.methods {
            covered.push(((*method).to_owned(), case.param.to_owned()));
            idle.extend(change(case, method).err());
        }
    }
    assert_covered("knobs of methods", &entries, &covered);
    assert_all_changed("knobs of methods", idle);
}

#[test]
fn a_round_ends_with_its_time() {
    let with = |seconds: &str| format!("fold=false round_epochs=8 round_s={seconds}");
    solve("mesh4x4-allgather-1mb", "teccl-astar", &with("60"));
    assert!(fails("mesh4x4-allgather-1mb", "teccl-astar", &with("0.1")));
}

#[test]
fn a_gap_ends_the_solver_of_a_round_early() {
    // Several rounds are solved, and the log keeps the last state of the solver alone.
    let steps = |text: &str| {
        let ran = solve(DIES, "teccl-astar", text);
        let of_solver = ran.events.iter().filter_map(|event| match &event.body {
            EventBody::Solver(stats) => Some((stats.done, stats.lp_iterations)),
            _ => None,
        });
        of_solver.collect::<Vec<_>>()
    };
    assert_ne!(steps("mip_gap=0.9"), steps(""));
}

/// Knobs of collectives: preset, settings of both runs, value changed to.
const COLLECTIVE: &[(&str, &str, &str, &str)] = &[
    ("network", "ring8-allgather-1mb", "", "dgx1"),
    ("network_size", "ring8-allgather-1mb", "", "6"),
    ("collective", CUBE, "", "all_to_all"),
    ("chunks_per_rank", CUBE, "", "2"),
    ("output_buffer_bytes", CUBE, "", "400000"),
    ("root", "dgx1-broadcast-200kb", "", "3"),
    ("copy", CUBE, "", "false"),
    ("epoch", CUBE, "", "slowest_link"),
    ("epoch_us", CUBE, "epoch=fixed", "2"),
    ("epoch_multiplier", CUBE, "", "2"),
    ("alpha_threshold", CUBE, "", "2"),
    ("switch_copy", "ndv2x4-allgather-1mb", "", "false"),
    ("switch_hop", "dgx2x1-allgather-1mb", "", "store_and_forward"),
    ("switch_reduce", "dgx2x1-reducescatter-1mb", "", "true"),
    ("capacities", CUBE, "", "0-1:5"),
    ("failed_links", CUBE, "", "0-1"),
    ("stragglers", CUBE, "", "0-1:1:4"),
];

#[test]
fn every_knob_of_collectives_changes_the_plan() {
    let entries: Vec<String> = knobs("collective").iter().map(|knob| knob.name.to_string()).collect();
    let mut covered: Vec<String> = COLLECTIVE.iter().map(|(knob, ..)| (*knob).to_owned()).collect();
    // Tested below.
    covered.extend(["chunk_bytes", "buffer_limit_chunks", "sizes"].map(str::to_owned));
    assert_covered("knobs of collectives", &entries, &covered);
    let mut idle = Vec::new();
    for (knob, name, given, to) in COLLECTIVE {
        let before = solve(name, "construct", given);
        let after = solve(name, "construct", &format!("{given} {knob}={to}"));
        if before.plan() == after.plan() {
            idle.push(format!("{knob}={to}"));
        }
    }
    assert_all_changed("knobs of collectives", idle);
}

/// A demand that is listed chunk by chunk.
fn listed() -> AnyScenario {
    let mut value = preset("ring8-allgather-1mb").unwrap().to_value().unwrap();
    value["demand"] = json!({
        "collective": "custom", "chunk_bytes": 1e5, "copy": true,
        "chunks": [{"source": 0, "dests": [1, 4]}, {"source": 2, "dests": [3]}],
    });
    match read_value(&value).unwrap() {
        AnyFile::Scenario(scenario) => scenario,
        AnyFile::Plan(_) => panic!("a scenario"),
    }
}

#[test]
fn the_size_of_listed_chunks_changes_the_plan() {
    let solved = |text: &str| {
        let (scenario, given) = apply(&listed(), "construct", &settings(text)).unwrap();
        solve_ask(&scenario, &Request::of("construct").with(given)).plan()
    };
    assert_ne!(solved("chunk_bytes=200000"), solved(""));
}

#[test]
fn sizes_are_planned_by_auto_and_refused_by_all_others() {
    let solved = |text: &str| solve(CUBE, "auto", text).plan();
    assert_ne!(solved("sizes=1e3..1e6"), solved(""));
    let (with_sizes, _) = apply(&preset(CUBE).unwrap(), "auto", &settings("sizes=1e3..1e6")).unwrap();
    for method in methods("collective").iter().filter(|method| method.name != "auto") {
        let told =
            apply(&preset(CUBE).unwrap(), method.name, &settings("sizes=1e3..1e6")).unwrap_err().to_string();
        assert!(told.contains("sizes: has no effect"), "{}: {told}", method.name);
        // A file may list them too.
        let ran = run(&with_sizes, &Request::of(method.name));
        assert_eq!(ran.done.status, EndStatus::Invalid, "{}", method.name);
    }
}

#[test]
fn small_buffers_are_kept_to() {
    let free = solve(EXCHANGE, "teccl-milp", "");
    let scenario = preset(EXCHANGE).unwrap();
    let (scenario, given) = apply(&scenario, "teccl-milp", &settings("buffer_limit_chunks=1")).unwrap();
    let kept = solve_ask(&scenario, &Request::of("teccl-milp").with(given));
    assert_ne!(free.plan(), kept.plan());
}

const MACHINE: &str = "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" class=\"0x030200\">\
    <gpu dev=\"0\" sm=\"80\"><nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu></pci>\
    <pci busid=\"0000:02:00.0\" class=\"0x030200\">\
    <gpu dev=\"1\" sm=\"80\"><nvlink target=\"0000:01:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu></pci></cpu></system>";

/// Knobs of the importer of topologies, each with a value.
pub(super) const NCCL: [(&str, &str); 5] = [
    ("collective", "all_to_all"),
    ("output_buffer_bytes", "1000"),
    ("alpha_us", "2"),
    ("link_gbyte_per_s", "5"),
    ("intra", "mesh:50"),
];

#[test]
fn every_knob_of_topologies_changes_the_scenario() {
    let read = |text: &str, machine: &str| {
        let file = Input { name: "machine.xml".to_owned(), bytes: machine.as_bytes().to_vec() };
        import("nccl", &[file], &settings(text), false).map(|made| made.product.scenario())
    };
    let usual = read("", MACHINE).unwrap();
    for (knob, value) in NCCL.iter().filter(|(knob, _)| *knob != "intra") {
        assert_ne!(read(&format!("{knob}={value}"), MACHINE).unwrap(), usual, "{knob}");
    }
    assert!(read("intra=mesh:50", MACHINE).is_err());
    let bare = MACHINE.replace("nvlink", "other");
    assert!(read("", &bare).is_err());
    assert_ne!(read("intra=mesh:50", &bare).unwrap(), read("intra=mesh:60", &bare).unwrap());
}

/// Knobs of the other importers of topologies, each with a value.
pub(super) const TOPOLOGIES: [(&str, &str, &str); 9] = [
    ("taccl", "collective", "all_to_all"),
    ("taccl", "output_buffer_bytes", "1000"),
    ("taccl", "nodes", "4"),
    ("taccl", "connections", "2:3"),
    ("taccl", "mb", "2^20"),
    ("msccl_topology", "collective", "all_to_all"),
    ("msccl_topology", "output_buffer_bytes", "1000"),
    ("msccl_topology", "unit_gbyte_per_s", "10"),
    ("msccl_topology", "alpha_us", "2"),
];

#[test]
fn every_knob_of_other_topologies_changes_the_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/resources/inputs/collectives");
    let file = |name: &str| Input { name: name.to_owned(), bytes: std::fs::read(folder.join(name)).unwrap() };
    let msccl =
        "{\"msccl_type\": \"topology\", \"name\": \"t\", \"links\": [[0, 1], [1, 0]], \"switches\": []}";
    let read = |format: &str, text: &str| {
        let files = match format {
            "taccl" => vec![file("topo-ndv2-1MB.json"), file("sk1-ndv2-n2.json")],
            _ => vec![Input { name: "t.json".to_owned(), bytes: msccl.as_bytes().to_vec() }],
        };
        import(format, &files, &settings(text), false).unwrap().product.scenario()
    };
    for (format, knob, value) in TOPOLOGIES {
        assert_ne!(read(format, &format!("{knob}={value}")), read(format, ""), "{format} {knob}");
    }
}

/// Knobs of the importer of networks: a file on which each acts, and a value.
pub(super) const NETWORKS: [(&str, &str, &str); 9] = [
    (EDGES, "collective", "all_to_all"),
    (EDGES, "output_buffer_bytes", "1000"),
    (EDGES, "link_gbyte_per_s", "10"),
    (EDGES, "alpha_us", "2"),
    (EDGES, "directed", "true"),
    (EDGES, "switches", "c"),
    ("a b 400\nb c 400\nc a 400\n", "rate_unit", "gbyte_per_s"),
    (
        "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n",
        "gbyte_bytes",
        "1073741824",
    ),
    ("router 0 node 0 router 1 15\nrouter 1 node 1\n", "cycle_ns", "2"),
];

/// Parameters of the importer of traces, each with a value.
pub(super) const TRACES: [(&str, &str); 4] =
    [("network", "ring3"), ("node", "0"), ("size", "total"), ("elem_bytes", "2")];

#[test]
fn every_knob_of_traces_changes_the_scenario() {
    use lightbay_formats::chakra::{ChakraNode, ChakraSort, ChakraTrace, ChakraValue, write};
    let node = |id: u64, bytes: i64| ChakraNode {
        id,
        name: "gather".to_owned(),
        sort: ChakraSort::Collective,
        control_deps: Vec::new(),
        data_deps: Vec::new(),
        duration_us: 0,
        attributes: vec![
            ("comm_type".to_owned(), ChakraValue::Int(2)),
            ("comm_size".to_owned(), ChakraValue::Int(bytes)),
        ],
    };
    let trace =
        ChakraTrace { version: "0.0.4".to_owned(), nodes: vec![node(1, 100), node(2, 200)], skipped: 0 };
    let read = |text: &str| {
        let file = Input { name: "t.0.et".to_owned(), bytes: write(&trace) };
        import("chakra", &[file], &settings(text), false).unwrap().product.scenario()
    };
    let usual = read("network=ring4 node=1");
    assert_ne!(read("network=ring3 node=1"), usual);
    for (knob, value) in TRACES.iter().skip(1) {
        assert_ne!(read(&settled(&[("network", "ring4"), ("node", "1"), (knob, value)])), usual, "{knob}");
    }
}

/// Settings, the last of a name wins.
fn settled(settings: &[(&str, &str)]) -> String {
    let last: std::collections::BTreeMap<_, _> = settings.iter().copied().collect();
    last.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

const EDGES: &str = "a b\nb c\nc a\n";

#[test]
fn every_knob_of_networks_changes_the_scenario() {
    let read = |text: &str, knobs: &str| {
        let file = Input { name: "network.txt".to_owned(), bytes: text.as_bytes().to_vec() };
        import("network", &[file], &settings(knobs), false).map(|made| made.product.scenario())
    };
    for (text, knob, value) in NETWORKS {
        assert_ne!(read(text, &format!("{knob}={value}")).unwrap(), read(text, "").unwrap(), "{knob}");
    }
    // On a file that says it itself they are refused.
    let ring = NETWORKS[7].0;
    for (knob, value) in [
        ("link_gbyte_per_s", "10"),
        ("alpha_us", "2"),
        ("rate_unit", "gbps"),
        ("cycle_ns", "2"),
        ("switches", "a"),
        ("directed", "true"),
    ] {
        let told = read(ring, &format!("{knob}={value}")).unwrap_err().to_string();
        assert!(told.contains(&format!("{knob}: has no effect")), "{told}");
    }
    assert!(read(EDGES, "gbyte_bytes=1e9").is_err());
}

#[test]
fn every_knob_of_scenarios_made_from_plans_changes_them() {
    let conversion = conversion("collective").unwrap();
    let entries: Vec<String> =
        conversion.plans.iter().chain(&conversion.own).map(|knob| knob.name.to_string()).collect();
    let own = ["demand", "from_layer", "circuit_gbps", "circuit_alpha_us", "gpus_per_pod", "pod_gbyte_per_s"];
    let covered: Vec<String> = ["from"].iter().chain(&own).map(|name| (*name).to_owned()).collect();
    assert_covered("knobs of collectives made from plans", &entries, &covered);
    let trained = |text: &str| AnyPlan::of(&solve("small", "delta-joint", text).done.plan.unwrap()).unwrap();
    let made = |plan: &AnyPlan, text: &str| {
        convert("collective", &[("from".to_owned(), plan.clone())], &settings(text)).unwrap().scenario
    };
    let (one, other) = (trained(""), trained("ports_per_pod=6"));
    assert_ne!(made(&one, ""), made(&other, ""));
    for text in ["demand=traffic", "circuit_gbps=10", "circuit_alpha_us=9", "gpus_per_pod=2"] {
        assert_ne!(made(&one, text), made(&one, ""), "{text}");
    }
    assert_ne!(made(&one, "gpus_per_pod=2 pod_gbyte_per_s=9"), made(&one, "gpus_per_pod=2"));
    let early: Vec<&str> = conversion.early.iter().map(|knob| knob.name.as_ref()).collect();
    assert_eq!(early, ["collective", "output_buffer_bytes"]);
    for text in ["collective=all_to_all", "output_buffer_bytes=1e6"] {
        assert_ne!(made(&one, text), made(&one, ""), "{text}");
    }
    let region = AnyPlan::of(&solve("moe-small", "mfabric-swap", "").done.plan.unwrap()).unwrap();
    assert_ne!(made(&region, "from_layer=0"), made(&region, "from_layer=1"));
}

/// A region has a network and bytes for each layer: which one is taken is said, and what is given is not called assumed.
#[test]
fn a_collective_from_a_region_says_which_layer_and_demand_it_takes() {
    let region = AnyPlan::of(&solve("moe-small", "mfabric-swap", "").done.plan.unwrap()).unwrap();
    let made = |text: &str| convert("collective", &[("from".to_owned(), region.clone())], &settings(text));
    let notes = |text: &str| made(text).unwrap().notes.join("\n");
    let usual = notes("");
    assert!(usual.contains("assumed: the layer whose all-to-all takes longest (from_layer=)"), "{usual}");
    assert!(usual.contains("bytes of the layers other than layer "), "{usual}");
    assert!(usual.contains("demand: ") && !usual.contains("all_gather"), "{usual}");
    let first = notes("from_layer=0");
    assert!(!first.contains("takes longest") && first.contains("other than layer 0"), "{first}");
    let exchange = made("collective=all_to_all").unwrap();
    let told = exchange.notes.join("\n");
    assert!(!told.contains("all_gather") && !told.contains("demand: "), "{told}");
    assert!(told.contains("assumed: the buffer has 1000000000 bytes"), "{told}");
    assert!(
        told.contains(
            "missing from the scenario but present in the plan: bytes between nodes (demand=traffic keeps \
             them)"
        ),
        "{told}"
    );
    assert_eq!(exchange.scenario.knob("collective").unwrap().to_string(), "all_to_all");
    let sized = notes("collective=all_reduce output_buffer_bytes=1e6");
    assert!(!sized.contains("(collective=)") && !sized.contains("the buffer has"), "{sized}");
    for (text, told) in [
        ("demand=traffic collective=all_to_all", "collective: has no effect with demand=traffic"),
        ("from_layer=9", "from_layer: is 9, but the plan has no such layer"),
    ] {
        let refused = made(text).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
    let trained = AnyPlan::of(&solve("small", "delta-joint", "").done.plan.unwrap()).unwrap();
    let refused =
        convert("collective", &[("from".to_owned(), trained)], &settings("from_layer=0")).unwrap_err();
    assert!(refused.to_string().contains("plans of kind training have no networks of layers"), "{refused}");
}

#[test]
fn every_knob_of_programs_changes_the_file() {
    let plan = AnyPlan::of(&solve(CUBE, "construct", "").done.plan.unwrap()).unwrap();
    let written = |text: &str| export(Subject::Plan(&plan), "msccl", &settings(text)).unwrap();
    for text in ["protocol=LL", "min_bytes=5", "max_bytes=5000"] {
        assert_ne!(written(text), written(""), "{text}");
    }
    let written = |text: &str| export(Subject::Plan(&plan), "mscclpp", &settings(text)).unwrap();
    for text in ["channel=port", "min_bytes=5", "max_bytes=5000"] {
        assert_ne!(written(text), written(""), "{text}");
    }
    for (format, text) in [
        ("traffic", "between=groups"),
        ("traffic", "form=dense"),
        ("nccl_tuner", "protocol=ll"),
        ("nccl_tuner", "channels=2"),
        ("markdown", "picture=none"),
        ("html", "picture=none"),
    ] {
        let written = |text: &str| export(Subject::Plan(&plan), format, &settings(text)).unwrap();
        assert_ne!(written(text), written(""), "{format} {text}");
    }
    let exchange = AnyPlan::of(&solve(EXCHANGE, "construct", "").done.plan.unwrap()).unwrap();
    let text = export(Subject::Plan(&exchange), "msccl", &[]).unwrap();
    assert!(String::from_utf8_lossy(&text[0].bytes).contains("coll=\"alltoall\""));
}
