//! Everything that is written can be read back, and says what the plan says.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod left_out;
mod reviews;
mod support;

use lightbay_core::kind::Depth;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::scenario::instance::{Instance, LinkKind};
use lightbay_engines::{
    AnyFile, AnyPlan, AnyScenario, Artifact, Subject, SubjectSort, apply, convert, export, export_against,
    exporters, kinds, preset, read_file,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::{measured_job, one, settings, solve};

fn write_scenario(scenario: &AnyScenario, format: &str, text: &str) -> Artifact {
    one(export(Subject::Scenario(scenario), format, &settings(text)).unwrap())
}

fn write_plan(plan: &AnyPlan, format: &str, text: &str) -> Artifact {
    one(export(Subject::Plan(plan), format, &settings(text)).unwrap())
}

fn read_scenario(artifact: &Artifact) -> AnyScenario {
    match read_file(artifact.bytes.as_slice(), &artifact.name) {
        Ok(AnyFile::Scenario(scenario)) => scenario,
        Ok(AnyFile::Plan(_)) => panic!("{} holds a plan", artifact.name),
        Err(problems) => panic!("{problems}"),
    }
}

/// Reads a plan file and runs the checker on it.
fn read_plan(artifact: &Artifact, depth: Depth) -> AnyPlan {
    let file = match read_file(artifact.bytes.as_slice(), &artifact.name) {
        Ok(AnyFile::Plan(file)) => file,
        Ok(AnyFile::Scenario(_)) => panic!("{} holds a scenario", artifact.name),
        Err(problems) => panic!("{problems}"),
    };
    let report = file.check(depth);
    assert_eq!(report.violations, [], "{}", artifact.name);
    assert!(report.warnings.is_empty(), "{}: {:?}", artifact.name, report.warnings);
    report.plan.unwrap()
}

fn explicit(scenario: &AnyScenario) -> Instance {
    let AnyScenario::Training(scenario) = scenario else { panic!("a training scenario") };
    match &scenario.body {
        TrainingScenario::Instance(instance) => instance.clone(),
        _ => panic!("'{}' is a job", scenario.name),
    }
}

fn value(plan: &AnyPlan) -> Value {
    serde_json::from_slice(&plan.to_json().unwrap()).unwrap()
}

fn makespan(plan: &AnyPlan) -> f64 {
    plan.header().objective.value
}

/// Scenarios of every form.
fn scenarios() -> Vec<AnyScenario> {
    let mut all: Vec<AnyScenario> =
        ["tiny4", "one_stage_per_pod", "small", "mixtral_8x22b"].map(|name| preset(name).unwrap()).into();
    let settings = settings("ports_per_pod=16,12,14 reverse=true balance=exact blocking_p2p=false");
    all.push(apply(&preset("megatron_177b").unwrap(), "delta-joint", &settings).unwrap().0);
    all.push(measured_job());
    all.push(read_scenario(&write_scenario(&preset("small").unwrap(), "instance", "")));
    all.push(read_scenario(&write_scenario(&preset("tiny8").unwrap(), "expanded", "")));
    all
}

const SHORT: &str = "generations=10 islands=2";

#[test]
fn json_is_the_scenario_or_plan_itself() {
    for scenario in scenarios() {
        let artifact = write_scenario(&scenario, "json", "");
        assert_eq!(read_scenario(&artifact), scenario, "{}", scenario.name());
        for (method, text) in [("delta-joint", SHORT), ("delta-fast", SHORT), ("sqrt-alloc", "")] {
            let plan = solve(&scenario, method, text);
            let artifact = write_plan(&plan, "json", "");
            let read = read_plan(&artifact, Depth::Usual);
            assert!(value(&read) == value(&plan), "{} {method}", scenario.name());
            assert_eq!(read.to_json().unwrap(), artifact.bytes, "written again it is the same to the byte");
        }
    }
}

#[test]
fn an_instance_stands_for_its_job() {
    for scenario in scenarios() {
        let artifact = write_scenario(&scenario, "instance", "");
        let instance = read_scenario(&artifact);
        let (of_job, of_instance) =
            (solve(&scenario, "delta-joint", SHORT), solve(&instance, "delta-joint", SHORT));
        assert_eq!(makespan(&of_job), makespan(&of_instance), "{}", scenario.name());
        assert!(value(&of_job)["result"] == value(&of_instance)["result"], "{}", scenario.name());
        // Of a plan, the inputs that it was made from.
        assert_eq!(write_plan(&of_job, "instance", "").bytes, artifact.bytes, "{}", scenario.name());
        assert_eq!(write_scenario(&instance, "instance", "").bytes, artifact.bytes, "{}", scenario.name());
    }
}

#[test]
fn all_edges_allow_the_bandwidth_to_be_raised() {
    for name in ["tiny32", "small", "mixtral_8x22b"] {
        // In an instance, transfers inside a pod are delays that no longer follow the bandwidth.
        let fixed = settings("intra_pod_gbps=400");
        let (scenario, _) = apply(&preset(name).unwrap(), "delta-joint", &fixed).unwrap();
        let raise = |scenario: &AnyScenario| apply(scenario, "delta-joint", &settings("bandwidth_gbps=1600"));
        let few = read_scenario(&write_scenario(&scenario, "instance", ""));
        let refusal = raise(&few).unwrap_err().to_string();
        assert!(refusal.contains("up to 400 Gb/s") && refusal.contains("all_edges=true"), "{refusal}");
        // Lowering is always possible: an edge that another implies does so at lower rates, too.
        let slow = "bandwidth_gbps=100";
        assert_eq!(
            makespan(&solve(&few, "delta-joint", slow)),
            makespan(&solve(&scenario, "delta-joint", slow)),
            "{name}"
        );
        let all = read_scenario(&write_scenario(&scenario, "instance", "all_edges=true"));
        assert!(explicit(&all).edges.len() > explicit(&few).edges.len(), "{name}");
        assert_eq!(
            makespan(&solve(&all, "delta-joint", "")),
            makespan(&solve(&scenario, "delta-joint", "")),
            "{name}"
        );
        let (raised, _) = raise(&all).unwrap();
        let fast = makespan(&solve(&raised, "delta-joint", ""));
        let of_job = makespan(&solve(&scenario, "delta-joint", "bandwidth_gbps=1600"));
        assert!((fast - of_job).abs() <= 1e-12 * of_job, "{name}: {fast}, the job takes {of_job}");
    }
}

#[test]
fn an_expanded_plan_has_every_replica_and_passes_the_checker() {
    for (name, replicas) in
        [("tiny4", 2), ("one_stage_per_pod", 2), ("small", 4), ("mixtral_8x22b", 2), ("megatron_177b", 8)]
    {
        for (method, text) in [("delta-joint", SHORT), ("iter-halve", "")] {
            let plan = solve(&preset(name).unwrap(), method, text);
            let artifact = write_plan(&plan, "expanded", "");
            assert_eq!(artifact.name, format!("{name}.expanded.plan.json"));
            let wide = read_plan(&artifact, Depth::Usual);
            assert_eq!(makespan(&wide), makespan(&plan), "{name} {method}");
            let (narrow, all) = (value(&plan), value(&wide));
            for key in ["method", "parameters", "seed", "status", "limit", "objective"] {
                assert_eq!(narrow[key], all[key], "{name} {method} {key}");
            }
            assert_eq!(narrow["result"]["nct"], all["result"]["nct"], "{name} {method}");
            assert_eq!(narrow["result"]["rate_control"], all["result"]["rate_control"], "{name} {method}");
            let (one, many) =
                (explicit(&read_scenario(&write_plan(&plan, "instance", ""))), explicit(&wide.scenario()));
            assert!(many.pods.iter().all(|pod| !pod.mirror), "{name}");
            let real = one.pods.iter().filter(|pod| !pod.mirror).count();
            assert_eq!(many.pods.len(), replicas * real, "{name}");
            assert_circuits_are_copies(&one, &many, &narrow, &all, replicas);
            // Written for real pods, its ports are all of them.
            let ports = |value: &Value| value["result"]["ports_used"].as_u64().unwrap();
            assert_eq!(ports(&all), replicas as u64 * ports(&narrow), "{name} {method}");
        }
    }
}

#[test]
fn an_odd_stage_on_a_ring_can_be_expanded_at_any_rates() {
    // Two of three flows go round the ring clockwise, one the other way.
    let pairs = "tp=3 pp=4 gpus=36 gpus_per_pod_per_replica=6";
    let alone = "tp=3 pp=4 gpus=36 gpus_per_pod_per_replica=3 ports_per_pod=6";
    for text in [pairs, alone] {
        let (scenario, _) = apply(&preset("small").unwrap(), "delta-joint", &settings(text)).unwrap();
        for method in ["delta-joint", "delta-level", "delta-topo", "iter-halve"] {
            let plan = solve(&scenario, method, if method == "iter-halve" { "" } else { SHORT });
            let wide = read_plan(&write_plan(&plan, "expanded", ""), Depth::Usual);
            let (one, all) = (makespan(&plan), makespan(&wide));
            assert!((one - all).abs() <= 1e-9 * one, "{text} {method}: {all} instead of {one}");
            assert_eq!(plan.header().status, wide.header().status, "{text} {method}");
        }
    }
    // Sends share NICs with the first buckets of the exchange, whose smaller half leaves them less: together, replicas take longer.
    let tangled = "tp=5 pp=4 gpus=60 gpus_per_pod_per_replica=5 ports_per_pod=12 dp_buckets=4 \
                   micro_batches=2 blocking_p2p=false bandwidth_gbps=100";
    let (scenario, _) = apply(&preset("small").unwrap(), "simulate", &settings(tangled)).unwrap();
    let plan = solve(&scenario, "simulate", "topology=4,4,4,1,1,1,1");
    let wide = read_plan(&write_plan(&plan, "expanded", ""), Depth::Usual);
    assert!(makespan(&wide) > makespan(&plan) * 1.001);
    assert!(wide.header().metrics["nct"] > plan.header().metrics["nct"]);
}

/// Circuits by kind of link: as many as in one replica, for every replica.
fn assert_circuits_are_copies(one: &Instance, many: &Instance, narrow: &Value, all: &Value, replicas: usize) {
    let counts = |instance: &Instance, plan: &Value, kind: LinkKind| {
        let circuits = plan["result"]["topology"].as_array().unwrap();
        let mut counts: Vec<u64> = instance
            .links
            .iter()
            .zip(circuits)
            .filter(|(link, _)| link.kind == kind)
            .map(|(_, entry)| entry["circuits"].as_u64().unwrap())
            .collect();
        counts.sort_unstable();
        counts
    };
    for kind in [LinkKind::Pp, LinkKind::Dp] {
        // Two replicas are each other's only neighbour, so they share their exchange link.
        let copies = if kind == LinkKind::Dp && replicas == 2 { 1 } else { replicas };
        let mut expected = counts(one, narrow, kind).repeat(copies);
        expected.sort_unstable();
        assert_eq!(counts(many, all, kind), expected, "{kind:?}");
    }
}

#[test]
fn an_expanded_scenario_is_solved_like_its_job() {
    for name in ["tiny4", "tiny32"] {
        let scenario = preset(name).unwrap();
        let all = read_scenario(&write_scenario(&scenario, "expanded", ""));
        assert!(explicit(&all).pods.iter().all(|pod| !pod.mirror));
        let (one, many) = (solve(&scenario, "delta-joint", SHORT), solve(&all, "delta-joint", SHORT));
        assert!((makespan(&one) - makespan(&many)).abs() <= 1e-12 * makespan(&one), "{name}");
        assert_eq!(one.header().status, many.header().status, "{name}");
        // What is explicit already has nothing left to expand.
        assert_eq!(read_scenario(&write_scenario(&all, "expanded", "")), all);
    }
    let plan = solve(&measured_job(), "delta-joint", SHORT);
    read_plan(&write_plan(&plan, "expanded", ""), Depth::Usual);
}

#[test]
fn proven_plans_are_confirmed_after_reading_back() {
    for name in ["tiny4", "small", "megatron_177b"] {
        let plan = solve(&preset(name).unwrap(), "delta-joint", "");
        let read = read_plan(&write_plan(&plan, "json", ""), Depth::EXACT);
        assert_eq!(read.shared().bound_trust(), lightbay_core::checked::BoundTrust::Verified, "{name}");
    }
}

#[test]
fn file_names_are_safe_whatever_the_scenario_is_called() {
    let plan_of = |name: &str| solve(&preset("tiny4").unwrap().renamed(name), "prop-alloc", "");
    for name in ["../../etc/passwd", "a b\tc", "\u{1b}[31mred", "", "..", "ünïcode", &"x".repeat(500)] {
        let plan = plan_of(name);
        for format in exporters("training") {
            let scenario = plan.scenario();
            let mut subjects = vec![Subject::Plan(&plan)];
            if format.of == SubjectSort::Either {
                subjects.push(Subject::Scenario(&scenario));
            }
            for artifact in
                subjects.into_iter().flat_map(|subject| export(subject, format.name, &[]).unwrap())
            {
                let file = &artifact.name;
                assert!(file.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{file}");
                let ending = file.rsplit('.').next();
                assert!(
                    !file.starts_with('.')
                        && file.len() < 140
                        && ending.is_some_and(|ending| ["json", "csv", format.extension].contains(&ending)),
                    "{file}"
                );
            }
        }
        let read = read_plan(&write_plan(&plan, "json", ""), Depth::Usual);
        assert_eq!(read.header().name, name, "the name itself is kept");
    }
}

#[test]
fn formats_and_settings_that_do_not_exist_are_named() {
    let scenario = preset("tiny4").unwrap();
    let refused = |format: &str, text: &str| {
        export(Subject::Scenario(&scenario), format, &settings(text)).unwrap_err().to_string()
    };
    assert!(refused("instanc", "").contains("did you mean 'instance'?"));
    assert!(refused("instance", "all_edge=true").contains("did you mean 'all_edges'?"));
    assert!(refused("instance", "all_edges=maybe").contains("give true or false"));
    assert!(refused("json", "all_edges=true").contains("is not a parameter of format json"));
}

#[test]
fn pods_are_written_for_other_programs() {
    let scenario = preset("pt-4x4x8").unwrap();
    let plan = solve(&scenario, "pt", "");
    let names = |subject: Subject<'_>, format: &str| -> Vec<String> {
        let written = export(subject, format, &[]).unwrap_or_else(|problems| panic!("{format}: {problems}"));
        assert!(written.iter().all(|artifact| artifact.bytes.ends_with(b"\n")), "{format}");
        // The first file stands alone, the others say what they are called beside it.
        assert!(written.iter().enumerate().all(|(index, artifact)| artifact.beside.is_some() == (index > 0)));
        written.into_iter().map(|artifact| artifact.name).collect()
    };
    for (format, of_plan, of_scenario) in [
        ("routes", &["pt-4x4x8.routes.csv"][..], None),
        ("anynet", &["pt-4x4x8.anynet", "pt-4x4x8.routes.csv"], Some("pt-4x4x8.anynet")),
        ("circuits", &["pt-4x4x8.circuits.csv"], Some("pt-4x4x8.circuits.csv")),
        ("changes", &["pt-4x4x8.changes.csv"], Some("pt-4x4x8.changes.csv")),
        ("graphml", &["pt-4x4x8.graphml"], Some("pt-4x4x8.graphml")),
        ("dot", &["pt-4x4x8.dot"], Some("pt-4x4x8.dot")),
        ("msccl", &["pt-4x4x8.msccl.xml"], Some("pt-4x4x8.msccl.xml")),
    ] {
        assert_eq!(names(Subject::Plan(&plan), format), of_plan);
        if let Some(name) = of_scenario {
            assert_eq!(names(Subject::Scenario(&scenario), format), [name]);
        } else {
            let refusal = export(Subject::Scenario(&scenario), format, &[]).unwrap_err().to_string();
            assert!(refusal.contains("can be written only from a plan"), "{refusal}");
        }
    }
    let refusal = export(Subject::Plan(&plan), "curve", &[]).unwrap_err().to_string();
    assert!(refusal.contains("'simulate'"), "{refusal}");
    let open = preset("tpu-128").unwrap();
    let refusal = export(Subject::Scenario(&open), "circuits", &[]).unwrap_err().to_string();
    assert!(refusal.contains("solve the scenario first"), "{refusal}");
}

/// Circuits by switch and plus port, as the CSV of all circuits tells them.
fn circuits(subject: Subject<'_>) -> BTreeMap<(u32, u32), u32> {
    let csv = one(export(subject, "circuits", &[]).unwrap()).bytes;
    let csv = String::from_utf8(csv).unwrap();
    csv.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<u32> = line.split(',').take(3).map(|field| field.parse().unwrap()).collect();
            ((fields[0], fields[1]), fields[2])
        })
        .collect()
}

#[test]
fn changes_lead_from_any_pod_to_any_other() {
    let [pt, pdtt, random] = ["pt-4x4x8", "pdtt-4x4x8", "tpu-random-128"].map(|name| preset(name).unwrap());
    let plan = solve(&random, "evaluate", "routing=none certificate_gap=1%");
    let other = solve(&preset("tpu-128").unwrap(), "random", "routing=none certificate_gap=1%");
    let subjects =
        [Subject::Scenario(&pt), Subject::Scenario(&pdtt), Subject::Plan(&plan), Subject::Plan(&other)];
    for before in subjects {
        for after in subjects {
            let csv =
                one(export_against(after, Some(before), "changes", &settings("switches_per_batch=5"))
                    .unwrap());
            let csv = String::from_utf8(csv.bytes).unwrap();
            let mut state = circuits(before);
            for line in csv.lines().skip(1) {
                let fields: Vec<&str> = line.split(',').collect();
                let [switch, input, output] = [1, 2, 3].map(|field| fields[field].parse::<u32>().unwrap());
                if fields[6] == "remove" {
                    assert_eq!(state.remove(&(switch, input)), Some(output), "{line}");
                } else {
                    assert_eq!(state.insert((switch, input), output), None, "{line}");
                }
            }
            assert_eq!(state, circuits(after));
        }
    }
    // From a torus it is the same whether a knob or a second subject names it.
    let named = export(Subject::Plan(&plan), "changes", &settings("from=pdtt")).unwrap();
    let given = export_against(Subject::Plan(&plan), Some(Subject::Scenario(&pdtt)), "changes", &[]).unwrap();
    assert_eq!(named, given);
}

#[test]
fn a_second_subject_is_refused_where_it_says_nothing() {
    let refused = |subject: &str, against: &str, format: &str, text: &str| {
        let (subject, against) = (preset(subject).unwrap(), preset(against).unwrap());
        let (subject, against) = (Subject::Scenario(&subject), Subject::Scenario(&against));
        export_against(subject, Some(against), format, &settings(text)).unwrap_err().to_string()
    };
    let mut comparing = Vec::new();
    for kind in kinds() {
        let of = if kind.name == "training" { "tiny4" } else { "pt-4x4x8" };
        for format in exporters(kind.name) {
            match format.against {
                Some(second) => {
                    let knob = |name: &str| format.params.iter().any(|param| param.name == name);
                    assert!(second.replaces.is_none_or(knob), "{}", format.name);
                    comparing.push(format.name);
                }
                None if kind.name == "tpu" && format.of != SubjectSort::Plan => {
                    let refusal = refused(of, of, format.name, "");
                    assert!(
                        refusal.contains(format.name) && refusal.contains("export to changes"),
                        "{refusal}"
                    );
                }
                None => {}
            }
        }
    }
    assert!(comparing.contains(&"changes"), "{comparing:?}");
    let refusal = refused("tiny4", "tiny4", "instance", "");
    assert!(refusal.contains("against: ") && refusal.contains("leave it out"), "{refusal}");
    let refusal = refused("pt-4x4x8", "tiny4", "changes", "");
    assert!(refusal.contains("is of kind training") && refusal.contains("of kind tpu"), "{refusal}");
    let refusal = refused("pt-4x4x8", "pdtt-4x4x8", "changes", "from=dark");
    assert!(refusal.contains("from: ") && refusal.contains("one of the two"), "{refusal}");
    let refusal = refused("pt-4x4x8", "pdtt-4x8x8", "changes", "");
    assert!(refusal.contains("against: a pod of 4 cubes"), "{refusal}");
    let refusal = refused("pt-4x4x8", "tpu-128", "changes", "");
    assert!(refusal.contains("against.topology: is not designed yet"), "{refusal}");
}

/// Circuits of tiny4 that move once and return: one change list for each, over all replicas, and the way back.
#[test]
fn circuits_that_move_within_an_iteration_become_a_change_list_for_each_moment() {
    let (job, _) = apply(&preset("tiny4").unwrap(), "delta-phases", &settings("switch=mems")).unwrap();
    let plan = solve(&job, "delta-phases", "");
    let events = value(&plan)["result"]["phases"]["events"].as_array().unwrap().clone();
    assert_eq!(events.len(), 2);
    let made = |plans: &[(&str, &AnyPlan)], text: &str| {
        let plans: Vec<(String, AnyPlan)> =
            plans.iter().map(|(name, plan)| ((*name).to_owned(), (*plan).clone())).collect();
        convert("crossconnect", &plans, &settings(text)).unwrap().scenario
    };
    let first = solve(&made(&[("from", &plan)], "phase=1"), "auto", "");
    let second = made(&[("from", &plan), ("installed_from", &first)], "phase=2");
    let second = solve(&second, "auto", "");
    let files = export(Subject::Plan(&second), "runtime", &[]).unwrap();
    let read = |file: &Artifact| -> Value { serde_json::from_slice(&file.bytes).unwrap() };
    let (change, back) = (read(&files[0]), read(&files[1]));
    assert!(files[1].undoes && !files[0].undoes);
    assert_eq!(change["time_s"], events[1]["time_s"]);
    assert_eq!(change["period_s"], value(&plan)["objective"]["value"]);
    assert_eq!((change["phase"].as_u64(), change["delay_s"].as_f64()), (Some(2), Some(0.025)));
    let count = |change: &Value, which: &str| -> usize {
        change["switches"].as_array().unwrap().iter().map(|ocs| ocs[which].as_array().unwrap().len()).sum()
    };
    // tiny4 has two replicas, and a mirror is the other replica's pod: links to it stand once in the collapsed plan.
    let circuits = |event: &Value| -> Vec<i64> {
        event["circuits"].as_array().unwrap().iter().map(|count| count.as_i64().unwrap()).collect()
    };
    let moved = circuits(&events[0]).into_iter().zip(circuits(&events[1])).map(|(old, new)| new - old);
    let moved: Vec<i64> = moved.collect();
    assert!(moved.iter().any(|moved| *moved > 0) && moved.iter().any(|moved| *moved < 0), "{moved:?}");
    assert!(count(&change, "delete") > 0 && count(&change, "add") > 0);
    assert_eq!(count(&change, "delete"), count(&back, "add"));
    assert_eq!(count(&change, "add"), count(&back, "delete"));
    let circuits = |plan: &serde_json::Value| -> i64 {
        let rows = plan["scenario"]["logical_circuits"].as_array().unwrap();
        rows.iter().flat_map(|row| row.as_array().unwrap()).map(|count| count.as_i64().unwrap()).sum()
    };
    let (wanted, had) = (circuits(&value(&second)), circuits(&value(&first)));
    // Every circuit stands twice in a symmetric matrix.
    assert_eq!(count(&change, "add") as i64 - count(&change, "delete") as i64, (wanted - had) / 2);
    let refused =
        export(Subject::Plan(&solve(&preset("crossconnect-example").unwrap(), "auto", "")), "runtime", &[]);
    assert!(refused.unwrap_err().to_string().contains("switching: is missing"));
}

/// A toy switch: cross-connects by OCS. Adding to a busy port fails, and so does deleting what is not there.
type ToySwitches = BTreeMap<u64, BTreeMap<(u64, u64), (u64, u64)>>;

/// Carries out a run-time file, deletions first.
fn carry_out(switches: &mut ToySwitches, change: &Value) {
    let number = |entry: &Value, key: &str| entry[key].as_u64().unwrap();
    for ocs in change["switches"].as_array().unwrap() {
        let state = switches.entry(number(ocs, "ocs_id")).or_default();
        let ports = |entry: &Value| {
            let end =
                |side: &str| (number(entry, &format!("pod_{side}")), number(entry, &format!("port_{side}")));
            (end("a"), end("b"))
        };
        for (a, b) in ocs["delete"].as_array().unwrap().iter().map(ports) {
            assert_eq!(state.remove(&a), Some(b), "{a:?} is not connected to {b:?}");
        }
        for (a, b) in ocs["add"].as_array().unwrap().iter().map(ports) {
            assert!(state.values().all(|busy| *busy != b), "{b:?} is busy");
            assert_eq!(state.insert(a, b), None, "{a:?} is busy");
        }
    }
    switches.retain(|_, state| !state.is_empty());
}

/// The changes of one iteration after the other on toy switches: the last change returns to the ports of the first
/// state, so the files repeat in every iteration, and every roll-back undoes its change.
#[test]
fn run_time_files_lead_toy_switches_round_the_iteration_and_back() {
    for (name, text) in [
        ("tiny4", "switch=mems"),
        ("small", "switch=rotor most_switchings=2"),
        ("one_stage_per_pod", "switch=rotor"),
    ] {
        let (job, _) = apply(&preset(name).unwrap(), "delta-phases", &settings(text)).unwrap();
        let plan = solve(&job, "delta-phases", "");
        let phases = value(&plan)["result"]["phases"]["events"].as_array().unwrap().len();
        let change_to = |phase: usize, others: &[(&str, &AnyPlan)]| {
            let mut plans = vec![("from".to_owned(), plan.clone())];
            plans.extend(others.iter().map(|(name, plan)| ((*name).to_owned(), (*plan).clone())));
            let made = convert("crossconnect", &plans, &settings(&format!("phase={phase}"))).unwrap();
            solve(&made.scenario, "lumos-exact", "")
        };
        let first = change_to(phases, &[]);
        // The circuits with which an iteration begins; no change of the iteration leads to them from dark switches.
        let refused = export(Subject::Plan(&first), "runtime", &[]).unwrap_err().to_string();
        assert!(refused.contains("installed: is empty"), "{refused}");
        let mut switches = ToySwitches::new();
        carry_out(&mut switches, &all_added(&first));
        let begins = switches.clone();
        let (mut installed, mut changes) = (first.clone(), Vec::new());
        for phase in 1..=phases {
            installed = match phase {
                last if last == phases => {
                    change_to(phase, &[("installed_from", &installed), ("returns_to", &first)])
                }
                _ => change_to(phase, &[("installed_from", &installed)]),
            };
            let [change, back] = run_time(&installed);
            let before = switches.clone();
            carry_out(&mut switches, &change);
            let after = switches.clone();
            assert_ne!(before, after, "{name}, phase {phase}");
            carry_out(&mut switches, &back);
            assert_eq!(switches, before, "{name}, phase {phase}");
            carry_out(&mut switches, &change);
            assert_eq!(switches, after);
            // The circuits on the switches are those of the plan.
            let wanted = value(&installed)["scenario"]["logical_circuits"].clone();
            let rows = wanted.as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap().clone());
            let ends: u64 = rows.map(|count| count.as_u64().unwrap()).sum();
            let set: usize = switches.values().map(BTreeMap::len).sum();
            assert_eq!(2 * set as u64, ends, "{name}, phase {phase}");
            changes.push(change);
        }
        assert_eq!(switches, begins, "{name}: the iteration ends as it began");
        // A controller repeats the same files: each finds the cross-connects that it deletes, and free ports.
        for _ in 0..2 {
            for change in &changes {
                carry_out(&mut switches, change);
            }
            assert_eq!(switches, begins, "{name}");
        }
    }
}

/// The circuits of a plan for dark switches, as a change.
fn all_added(plan: &AnyPlan) -> Value {
    let switches = value(plan)["result"]["ocs"].as_array().unwrap().clone();
    let added = |ocs: &Value| {
        let connects = ocs["cross_connects"].as_array().unwrap().iter().map(|entry| {
            json!({"pod_a": entry["pod_a"], "port_a": entry["port_a_index"],
                   "pod_b": entry["pod_b"], "port_b": entry["port_b_index"]})
        });
        json!({"ocs_id": ocs["ocs_id"], "delete": [], "add": connects.collect::<Vec<_>>()})
    };
    json!({ "switches": switches.iter().map(added).collect::<Vec<_>>() })
}

/// The change of a plan, and its reversal.
fn run_time(plan: &AnyPlan) -> [Value; 2] {
    let files = export(Subject::Plan(plan), "runtime", &[]).unwrap();
    [0, 1].map(|file: usize| serde_json::from_slice(&files[file].bytes).unwrap())
}

/// A return needs the plan of the same circuits on the same switches.
#[test]
fn a_return_to_other_circuits_or_switches_is_refused() {
    let (job, _) = apply(&preset("tiny4").unwrap(), "delta-phases", &settings("switch=mems")).unwrap();
    let plan = solve(&job, "delta-phases", "");
    let make = |others: &[(&str, &AnyPlan)], text: &str| {
        let mut plans = vec![("from".to_owned(), plan.clone())];
        plans.extend(others.iter().map(|(name, plan)| ((*name).to_owned(), (*plan).clone())));
        convert("crossconnect", &plans, &settings(text))
    };
    let solved = |others: &[(&str, &AnyPlan)], text: &str| {
        solve(&make(others, text).unwrap().scenario, "lumos-exact", "")
    };
    let refused = |others: &[(&str, &AnyPlan)], text: &str| make(others, text).unwrap_err().to_string();
    let first = solved(&[], "phase=2");
    let second = solved(&[("installed_from", &first)], "phase=1");
    let refusal = refused(&[("installed_from", &first), ("returns_to", &second)], "phase=2");
    assert!(refusal.contains("returns_to: has another target"), "{refusal}");
    let refusal = refused(&[("installed_from", &second), ("returns_to", &plan)], "phase=2");
    assert!(refusal.contains("returns_to: is a plan of kind training"), "{refusal}");
    let refusal = refused(&[("returns_to", &first)], "phase=2 ocs_count=1 wiring=single_sided");
    assert!(refusal.contains("returns_to: "), "{refusal}");
}
