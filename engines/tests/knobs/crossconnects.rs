//! Knobs of cross-connects, of their methods and of scenarios made from plans.

use super::methods::{Case, Shows, case, change, on};
use super::runs::{settings, solve, solve_ask};
use super::{assert_all_changed, assert_covered};
use lightbay_engines::{
    AnyPlan, AnyScenario, Converted, Input, Request, Subject, conversion, convert, export, exporters, import,
    knobs, methods, preset,
};

const EXAMPLE: &str = "crossconnect-example";
const SMALL: &str = "crossconnect-8-8-25";
/// Not solved to the optimum by the first steps.
const MIDDLE: &str = "crossconnect-16-8-25";

const fn of(
    methods: &'static [&'static str],
    param: &'static str,
    given: &'static str,
    to: &'static str,
    shows: Shows,
) -> Case {
    on(MIDDLE, case(methods, param, given, to, shows))
}

const ORDER: &[&str] = &["all-to-all-order"];
const AUTO: &[&str] = &["auto"];
const ANNEAL: &[&str] = &["lumos-anneal"];
const EXACT: &[&str] = &["lumos-exact"];
const LNS: &[&str] = &["lumos-lns"];
const HALVING: &[&str] = &["lumos-halving", "lumos-polish", "lumos-scratch"];
const BEST: &[&str] = &["lumos-halving", "lumos-polish"];

/// Annealing that is over in a moment.
const SHORT: &str = "anneal_rounds=2 anneal_steps=200";
const SHORT_AUTO: &str =
    "decimate_patience=0 anneal_rounds=2 anneal_steps=200 exact_circuits=0 free_patience=1";
const SHORT_EXACT: &str = "anneal_rounds=2 anneal_steps=200 orientation=fixed";
const NO_ANNEAL: &str = "decimate_patience=0 anneal_rounds=0 exact_circuits=0";
const ONLY_DECIMATION: &str = "anneal_rounds=0 exact_circuits=0 free_patience=0";

const CASES: &[Case] = &[
    on(EXAMPLE, case(ORDER, "gpus_per_pod", "", "4", Shows::Plan)),
    on(EXAMPLE, case(ORDER, "phase_rule", "", "printed", Shows::Plan)),
    of(HALVING, "bipartition", "", "contiguous", Shows::Plan),
    of(BEST, "best_of", "", "4", Shows::Work),
    of(AUTO, "decimate_patience", ONLY_DECIMATION, "0", Shows::Work),
    of(AUTO, "anneal_rounds", SHORT_AUTO, "1", Shows::Work),
    of(AUTO, "anneal_steps", SHORT_AUTO, "100", Shows::Work),
    of(AUTO, "anneal_chains", SHORT_AUTO, "1", Shows::Work),
    of(AUTO, "anneal_hot", SHORT_AUTO, "3", Shows::Plan),
    of(AUTO, "anneal_cold", SHORT_AUTO, "0.05", Shows::Plan),
    of(AUTO, "anneal_detour", SHORT_AUTO, "4", Shows::Plan),
    of(AUTO, "free_share", NO_ANNEAL, "0.3", Shows::Work),
    of(AUTO, "free_patience", NO_ANNEAL, "1", Shows::Work),
    on(
        SMALL,
        case(AUTO, "exact_circuits", "decimate_patience=0 anneal_rounds=0 free_patience=1", "0", Shows::Work),
    ),
    of(ANNEAL, "anneal_rounds", SHORT, "1", Shows::Work),
    of(ANNEAL, "anneal_steps", SHORT, "100", Shows::Work),
    of(ANNEAL, "anneal_chains", SHORT, "1", Shows::Work),
    of(ANNEAL, "anneal_hot", SHORT, "3", Shows::Plan),
    of(ANNEAL, "anneal_cold", SHORT, "0.05", Shows::Plan),
    of(ANNEAL, "anneal_detour", SHORT, "4", Shows::Plan),
    of(ANNEAL, "orientation", SHORT, "fixed", Shows::Plan),
    of(ANNEAL, "relaxation", SHORT, "true", Shows::Log),
    of(EXACT, "anneal_rounds", SHORT_EXACT, "1", Shows::Work),
    of(EXACT, "anneal_steps", SHORT_EXACT, "100", Shows::Work),
    of(EXACT, "anneal_chains", SHORT_EXACT, "1", Shows::Work),
    of(EXACT, "anneal_hot", SHORT_EXACT, "3", Shows::Log),
    of(EXACT, "anneal_cold", SHORT_EXACT, "5", Shows::Log),
    of(EXACT, "anneal_detour", SHORT_EXACT, "4", Shows::Log),
    of(EXACT, "orientation", "anneal_rounds=0", "fixed", Shows::Plan),
    of(LNS, "lns_ocs", "", "2", Shows::Work),
    of(LNS, "lns_patience", "", "1", Shows::Work),
    of(LNS, "lns_start", "", "repair", Shows::Work),
    of(LNS, "lns_orientation", "", "joint", Shows::Work),
    of(&["lumos-polish"], "polish_start", "", "repair", Shows::Plan),
    of(&["lumos-polish"], "reorient", "bipartition=even_odd", "false", Shows::Plan),
];

/// Parameters that shape the tree search of the solver. Models that are solved in a moment here are solved before it
/// begins, so no case can show these; that they reach the solver is tested with it.
fn of_the_tree() -> Vec<String> {
    let solver = lightbay_highs::solve::knobs().into_iter().map(|knob| knob.name.to_string());
    solver.chain(["lns_nodes", "free_nodes", "exact_nodes"].map(str::to_owned)).collect()
}

#[test]
fn every_knob_of_every_method_of_cross_connects_does_something() {
    let tree = of_the_tree();
    let mut entries: Vec<(String, String)> = Vec::new();
    for method in methods("crossconnect") {
        let own = method.params.iter().filter(|param| !tree.contains(&param.name.to_string()));
        entries.extend(own.map(|param| (method.name.to_owned(), param.name.to_string())));
    }
    let mut covered: Vec<(String, String)> = Vec::new();
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

/// Knobs of scenarios: preset, settings of both runs, value changed to.
const HALL: &[(&str, &str, &str, &str)] = &[
    ("circuits", EXAMPLE, "", "0-1:0"),
    ("ports_a", SMALL, "ports_b=2", "2"),
    ("ports_b", SMALL, "ports_a=2", "2"),
    ("failed_ports", SMALL, "ports_a=2 ports_b=2", "0:0:a0"),
    ("failed_ocs", SMALL, "", "7"),
    ("pinned", SMALL, "", ""),
    ("max_dark_per_pod", SMALL, "", "2"),
    ("min_pair_share", SMALL, "", "0.9"),
    ("changed_percent", SMALL, "", "100"),
    ("instance_seed", SMALL, "", "2"),
];

/// A circuit that the usual plan of [`SMALL`] removes, as the knob `pinned` names it.
fn removed() -> String {
    let plan = solve(SMALL, "lumos-halving", "").done.plan.unwrap().to_value().unwrap();
    for ocs in plan["result"]["ocs"].as_array().unwrap() {
        for entry in ocs["cross_connects"].as_array().unwrap() {
            let (a, b) = (entry["pod_a"].as_u64().unwrap(), entry["pod_b"].as_u64().unwrap());
            let wanted = plan["scenario"]["logical_circuits"][a as usize][b as usize].as_u64();
            if entry["action"] == "remove" && wanted > Some(0) {
                return format!(
                    "{}:{a}.{}-{b}.{}",
                    ocs["ocs_id"], entry["port_a_index"], entry["port_b_index"]
                );
            }
        }
    }
    panic!("the plan removes nothing that could stay")
}

#[test]
fn every_knob_of_cross_connects_changes_the_plan() {
    let entries: Vec<String> = knobs("crossconnect").iter().map(|knob| knob.name.to_string()).collect();
    let mut covered: Vec<String> = HALL.iter().map(|(knob, ..)| (*knob).to_owned()).collect();
    covered.push("wiring".to_owned());
    assert_covered("knobs of cross-connects", &entries, &covered);
    let mut idle = Vec::new();
    for (knob, preset, given, to) in HALL {
        let to = if *knob == "pinned" { removed() } else { (*to).to_owned() };
        let before = solve(preset, "lumos-halving", given);
        let after = solve(preset, "lumos-halving", &format!("{given} {knob}={to}"));
        if before.plan() == after.plan() {
            idle.push(format!("{knob}={to} on {preset}"));
        }
    }
    assert_all_changed("knobs of cross-connects", idle);
}

/// Without sides a triangle takes three switches, with sides one.
#[test]
fn the_wiring_changes_the_plan() {
    let sided = solve(EXAMPLE, "lumos-exact", "");
    let single = solve(EXAMPLE, "lumos-exact", "wiring=single_sided");
    assert!(sided.plan() != single.plan());
}

/// A plan of a small training job.
fn trained(text: &str) -> AnyPlan {
    AnyPlan::of(&solve("small", "delta-joint", text).done.plan.unwrap()).unwrap()
}

fn made(plans: &[(&str, &AnyPlan)], text: &str) -> Converted {
    let plans: Vec<(String, AnyPlan)> =
        plans.iter().map(|(name, plan)| ((*name).to_owned(), (*plan).clone())).collect();
    convert("crossconnect", &plans, &settings(text)).unwrap_or_else(|problems| panic!("{text}: {problems}"))
}

#[test]
fn every_knob_of_scenarios_made_from_plans_changes_them() {
    let conversion = conversion("crossconnect").unwrap();
    let entries: Vec<String> =
        conversion.plans.iter().chain(&conversion.own).map(|knob| knob.name.to_string()).collect();
    let covered = ["from", "installed_from", "returns_to", "ocs_count", "from_layer", "phase", "keep_ports"]
        .map(str::to_owned);
    assert_covered("knobs of scenarios made from plans", &entries, &covered);

    let (one, other) = (trained(""), trained("ports_per_pod=6"));
    let scenario = |converted: Converted| converted.scenario;
    let usual = scenario(made(&[("from", &one)], ""));
    assert_ne!(scenario(made(&[("from", &other)], "")), usual);
    assert_ne!(
        scenario(made(&[("from", &one)], "ocs_count=2")),
        scenario(made(&[("from", &one)], "ocs_count=1"))
    );
    assert_ne!(scenario(made(&[("from", &one)], "wiring=cross_wired")), usual);
    let laid = solve_ask(&usual, &Request::of("lumos-halving")).done.plan.unwrap();
    let laid = AnyPlan::of(&laid).unwrap();
    let again = made(&[("from", &one), ("installed_from", &laid)], "");
    assert_ne!(again.scenario, usual);
    let back = made(&[("from", &one), ("installed_from", &laid), ("returns_to", &laid)], "");
    assert_ne!(back.scenario, again.scenario);
    let of_switches = |text: &str| scenario(made(&[("from", &laid)], text));
    assert_ne!(of_switches("keep_ports=true"), of_switches(""));
    let region = solve("moe-mixtral_8x22b", "mfabric-swap", "").done.plan.unwrap();
    let region = AnyPlan::of(&region).unwrap();
    let of_layer = |text: &str| scenario(made(&[("from", &region)], text));
    assert_ne!(of_layer("from_layer=0"), of_layer("from_layer=1"));
    let refused = |plan: &AnyPlan, text: &str| {
        convert("crossconnect", &[("from".to_owned(), plan.clone())], &settings(text))
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&region, "from_layer=7").contains("but the plan has no such layer"));
    assert!(refused(&one, "from_layer=0").contains("have no circuits by layer"));
    let moving = solve("tiny4", "delta-phases", "switch=mems").done.plan.unwrap();
    let moving = AnyPlan::of(&moving).unwrap();
    let of_phase = |text: &str| scenario(made(&[("from", &moving)], text));
    assert_ne!(of_phase("phase=1"), of_phase("phase=2"));
    assert!(refused(&moving, "").contains("phase: is missing"));
    assert!(refused(&moving, "phase=3").contains("give a number from 1 to 2"));
    assert!(refused(&moving, "phase=1 from_layer=0").contains("has no effect with from_layer"));
    assert!(refused(&one, "phase=1").contains("stay for whole iterations"));
    assert!(convert("crossconnect", &[], &[]).unwrap_err().to_string().contains("from: is missing"));
    assert!(convert("training", &[], &[]).is_err());
}

/// An optical NIC is connected to a port of the hall, a packet-switched one is not.
#[test]
fn failed_nics_of_a_region_are_failed_ports_of_its_hall() {
    let plan = solve("moe-small", "mfabric-swap", "failed_nics=s2:1,s3:4,s1:3").done.plan.unwrap();
    let AnyScenario::Crossconnect(hall) = made(&[("from", &AnyPlan::of(&plan).unwrap())], "").scenario else {
        panic!("another kind")
    };
    let failed: Vec<(u32, u32)> =
        hall.body.failed_ports.iter().map(|port| (port.pod, port.port_index)).collect();
    assert_eq!(failed, [(2, 1), (3, 3)]);
    // No circuit of the plan is lost.
    let done = solve_ask(&AnyScenario::Crossconnect(hall), &Request::of("auto")).done;
    let file: serde_json::Value =
        serde_json::from_slice(&AnyPlan::of(&done.plan.unwrap()).unwrap().to_json().unwrap()).unwrap();
    assert!(file["metrics"].get("unmet_circuits").is_none(), "{}", file["metrics"]);
}

/// A plan of cross-connects has circuits as well, so it can be laid on other switches.
#[test]
fn circuits_of_any_kind_that_has_them_can_be_wanted() {
    let example: AnyScenario = preset(EXAMPLE).unwrap();
    let plan = AnyPlan::of(&solve_ask(&example, &Request::of("lumos-halving")).done.plan.unwrap()).unwrap();
    let converted = made(&[("from", &plan)], "ocs_count=1");
    let AnyScenario::Crossconnect(scenario) = converted.scenario else { panic!("another kind") };
    assert_eq!(scenario.body.wanted_circuits(), 8);
    let order = solve(EXAMPLE, "all-to-all-order", "").done.plan.unwrap();
    let order = [("from".to_owned(), AnyPlan::of(&order).unwrap())];
    let refused = convert("crossconnect", &order, &[]).unwrap_err().to_string();
    assert!(refused.contains("which does not state the circuits between all pods"), "{refused}");
}

/// A value other than the default for every knob of the exporters, and what both files are written with.
const FORMATS: &[(&str, &str, &str, &str)] = &[
    ("polatis_tl1", "ctag", "", "7"),
    ("calient_tl1", "ctag", "", "7"),
    ("calient_tl1", "group", "", "blue"),
    ("calient_tl1", "port_template", "", "2.{slot}.{port}"),
    ("calient_tl1", "ports_per_slot", "", "3"),
    ("glimmerglass_tl1", "ctag", "", "7"),
    ("polatis_netconf", "list_name", "", "pairs"),
    ("ocp_ocs", "port_template", "", "p{n}"),
    ("ocp_ocs", "ports_per_slot", "port_template={slot}/{port}", "3"),
    ("ocp_ocs", "connections_module", "", "draft-connections"),
    ("ocp_ocs", "connection_name", "", "{input}-{output}"),
    ("ocp_ocs", "switch_module", "full=true", "draft-switch"),
    ("sonic_ocs", "form", "", "cli1"),
    ("sonic_ocs", "port_template", "", "{side}{n}"),
    ("sonic_ocs", "ports_per_slot", "port_template={slot}/{port}{side}", "3"),
    ("port_map", "state", "", "installed"),
    ("run_sheet", "form", "", "html"),
    ("run_sheet", "commands", "", "sonic_ocs"),
    ("csv", "full", "", "true"),
    ("csv", "table", "", "switches"),
    ("markdown", "picture", "", "beside"),
    ("html", "picture", "", "none"),
];

#[test]
fn every_knob_of_every_exporter_of_cross_connects_changes_the_files() {
    let switches = [
        "polatis_tl1",
        "calient_tl1",
        "glimmerglass_tl1",
        "polatis_restconf",
        "polatis_netconf",
        "ocp_ocs",
        "sonic_ocs",
    ];
    let shared = [("full", "true"), ("bidirectional", "true"), ("ingress_base", "3"), ("egress_base", "40")];
    let mut cases: Vec<(&str, &str, &str, &str)> = FORMATS.to_vec();
    for format in switches {
        cases.extend(shared.map(|(knob, value)| (format, knob, "", value)));
    }
    let mut entries = Vec::new();
    for format in exporters("crossconnect") {
        entries.extend(format.params.iter().map(|param| (format.name.to_owned(), param.name.to_string())));
    }
    let mut covered: Vec<_> =
        cases.iter().map(|(format, knob, ..)| ((*format).to_owned(), (*knob).to_owned())).collect();
    covered.extend(["mps", "lp"].map(|format| (format.to_owned(), "method".to_owned())));
    assert_covered("knobs of exporters of cross-connects", &entries, &covered);
    let plan = AnyPlan::of(&solve(SMALL, "lumos-halving", "").done.plan.unwrap()).unwrap();
    let written = |format: &str, text: &str| {
        export(Subject::Plan(&plan), format, &settings(text))
            .unwrap_or_else(|problems| panic!("{format} {text}: {problems}"))
    };
    let unchanged = cases.iter().filter(|(format, knob, given, value)| {
        written(format, given) == written(format, &format!("{given} {knob}={value}"))
    });
    assert_all_changed(
        "knobs of exporters of cross-connects",
        unchanged.map(|(format, knob, ..)| format!("{format} {knob}")).collect(),
    );
    // One method has a model; the others say so.
    for format in ["mps", "lp"] {
        let model =
            |method: &str| export(Subject::Plan(&plan), format, &settings(&format!("method={method}")));
        assert!(!model("lumos-exact").unwrap_or_else(|problems| panic!("{problems}"))[0].bytes.is_empty());
        assert!(model("lumos-halving").unwrap_err().to_string().contains("lumos-halving"));
    }
}

/// Every knob of the importers of halls.
#[test]
fn every_knob_of_halls_changes_the_scenario() {
    let cables = b"StartDevice,StartPort,EndDevice,EndPort\na,1,s,1\nb,1,s,2\nc,1,d,1\n";
    let sided = b"switch,port,side,pod,pod_port,label,state\ns,1,a,a,,,\ns,2,b,b,,,\n";
    let read = |format: &str, content: &[u8], text: &str| {
        let files = [Input { name: "hall.csv".to_owned(), bytes: content.to_vec() }];
        let imported = import(format, &files, &settings(text), false);
        imported.unwrap_or_else(|problems| panic!("{text}: {problems}")).product.scenario().to_json().unwrap()
    };
    let slots = b"StartDevice,StartPort,EndDevice,EndPort\na,1,s,1.1.1\nb,1,s,1.2.2\n";
    let pods = br#"{"pods": {"a": 2, "b": 2}, "switches": {"s": 4}}"#;
    let cases: [(&str, &[u8], &str); 5] = [
        ("hall", cables, "switches=s"),
        ("hall", cables, "panel_ports=8"),
        ("hall", slots, "ports_per_slot=16"),
        ("hall", pods, "wiring=two_sided"),
        ("port_map", sided, "wiring=cross_wired"),
    ];
    for (format, content, text) in cases {
        assert_ne!(read(format, content, ""), read(format, content, text), "{format} {text}");
    }
    let infos = lightbay_engines::importers();
    let names = |format: &str| -> Vec<String> {
        let info = infos.iter().find(|info| info.name == format).unwrap();
        info.params.iter().map(|param| param.name.to_string()).collect()
    };
    assert_eq!(names("hall"), ["wiring", "switches", "panel_ports", "ports_per_slot"]);
    assert_eq!(names("port_map"), ["wiring"]);
}

#[test]
fn a_table_is_read_as_the_state_before_or_after() {
    let plan = AnyPlan::of(&solve(SMALL, "lumos-halving", "").done.plan.unwrap()).unwrap();
    let table = export(Subject::Plan(&plan), "csv", &settings("full=true")).unwrap();
    // The second file takes back what the first one does.
    assert_eq!(table.iter().map(|file| file.undoes).collect::<Vec<_>>(), [false, true]);
    let files = [
        Input { name: "plan.json".to_owned(), bytes: plan.to_json().unwrap() },
        Input { name: "plan.csv".to_owned(), bytes: table[0].bytes.clone() },
    ];
    let read = |text: &str| {
        let imported = import("csv", &files, &settings(text), false);
        imported.unwrap_or_else(|problems| panic!("{text}: {problems}")).product.scenario()
    };
    assert_ne!(read(""), read("state=before"));
}
