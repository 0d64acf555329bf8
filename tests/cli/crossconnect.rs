//! Tests of kind `crossconnect` on the command line: solve, check, show, compare, export, scenarios made from plans,
//! and invalid input.

use super::support::Place;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Arguments that end a run early.
const SHORT: &[&str] = &["--time-limit", "2s"];

fn solve(place: &Place, arguments: &[&str], name: &str) -> Value {
    let all: Vec<&str> = ["solve"].iter().chain(arguments).chain(&["-o", name]).copied().collect();
    place.run(&all).done();
    place.json(name)
}

/// Returns the circuits with their ports: before the change if `without` is `add`, after the change if it is `remove`.
fn state(plan: &Value, without: &str) -> BTreeSet<[u64; 5]> {
    let mut found = BTreeSet::new();
    for ocs in plan["result"]["ocs"].as_array().unwrap() {
        for entry in ocs["cross_connects"].as_array().unwrap() {
            if entry["action"] != without {
                let of = |key: &str| entry[key].as_u64().unwrap();
                let id = ocs["ocs_id"].as_u64().unwrap();
                found.insert([id, of("pod_a"), of("port_a_index"), of("pod_b"), of("port_b_index")]);
            }
        }
    }
    found
}

#[test]
fn the_worked_example_is_solved_checked_shown_compared_and_exported() {
    let place = Place::new();
    let plan = solve(&place, &["preset:crossconnect-example"], "auto.json");
    assert_eq!((&plan["method"], &plan["status"]), (&json!("auto"), &json!("optimal")));
    let objective = &plan["objective"];
    assert_eq!((objective["value"].as_f64(), objective["bound"].as_f64()), (Some(2.0), Some(2.0)));
    assert_eq!(plan["result"]["totals"]["kept_circuits"], 6);
    place.run(&["check", "auto.json"]).done().prints(&["0 violations", "verified"]);
    place.run(&["show", "auto.json"]).done().prints(&[
        "ports, side A",
        "2; by counting pairs of pods",
        "Switches",
        "Batches",
    ]);
    let shown = place.run(&["show", "auto.json", "--json"]).done().json();
    assert_eq!(shown["crossconnect"]["totals"]["removed_circuits"], 2);
    assert_eq!(shown["crossconnect"]["batches"][0]["removed"], 2);
    solve(&place, &["preset:crossconnect-example", "--method", "lumos-scratch"], "scratch.json");
    place
        .run(&["compare", "auto.json", "scratch.json", "--csv"])
        .done()
        .prints(&["removed_circuits", "batches"]);
    // An order of phases removes nothing because it touches nothing: it is listed, and beats nobody.
    solve(&place, &["preset:crossconnect-example", "--method", "all-to-all-order"], "order.json");
    place
        .run(&["compare", "auto.json", "order.json", "scratch.json"])
        .done()
        .prints(&["order.json is not ranked: all-to-all-order solves a different problem"]);
    let compared = place.run(&["compare", "auto.json", "order.json", "scratch.json", "--json"]).done().json();
    let verdict = |plan: usize| &compared["figures"][0]["changes"][plan]["verdict"];
    assert_eq!((verdict(0), verdict(1)), (&json!("different"), &json!("tie")));
    let judged = compared["figures"].as_array().unwrap().iter().filter(|figure| figure["sense"].is_string());
    for figure in judged {
        assert!(figure["role"] == "result" || figure["role"] == "restated", "{figure}");
    }
    place.run(&["export", "auto.json", "--to", "instance", "-o", "instance.json"]).done();
    assert_eq!(place.json("instance.json")["installed"], plan["scenario"]["installed"]);
}

#[test]
fn a_rollout_that_cannot_be_kept_is_said() {
    let place = Place::new();
    let asked =
        "solve preset:crossconnect-8-8-25 --method lumos-halving --progress plain --force -o rough.json";
    let asked: Vec<&str> = asked.split(' ').collect();
    let strict = [&asked[..], &["--set", "min_pair_share=1"]].concat();
    const SAID: &str = "found no order of the changes within the limits of the rollout";
    place.run(&strict).done().says(&[SAID]);
    assert_eq!(place.json("rough.json")["metrics"]["pair_share_kept"], 0.0);
    place.run(&["show", "rough.json"]).done().says(&[SAID]);
    assert!(!place.run(&asked).done().err.contains(SAID));
}

#[test]
fn every_method_finds_a_plan_that_passes_the_checker() {
    let place = Place::new();
    let all = place.run(&["methods", "crossconnect", "--json"]).done().json();
    for method in all["kinds"][0]["methods"].as_array().unwrap() {
        let method = method["name"].as_str().unwrap();
        let name = format!("{method}.json");
        let arguments = ["preset:crossconnect-example", "--method", method];
        solve(&place, &[&arguments, SHORT].concat(), &name);
        place.run(&["check", &name]).done().prints(&["0 violations"]);
    }
}

#[test]
fn the_order_of_an_all_to_all_is_right_for_any_size_and_as_printed_for_one() {
    let place = Place::new();
    let order = |settings: &[&str], name: &str| {
        let mut arguments = vec!["preset:crossconnect-example", "--method", "all-to-all-order"];
        arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        solve(&place, &arguments, name)
    };
    let plan = order(&["gpus_per_pod=2"], "corrected.json");
    assert_eq!(plan["result"]["phases"][0], json!([0, 3, 2, 5, 4, 7, 6, 1]));
    assert_eq!(plan["metrics"]["contended_phases"], 0.0);
    place.run(&["check", "corrected.json"]).done();
    place.run(&["show", "corrected.json"]).done().prints(&["corrected", "destinations", "0 3 2 5 4 7 6 1"]);
    let printed = [
        "--set",
        "gpus_per_pod=2",
        "--set",
        "phase_rule=printed",
        "--progress",
        "plain",
        "-o",
        "printed.json",
    ];
    let solve = ["solve", "preset:crossconnect-example", "--method", "all-to-all-order"];
    place.run(&[&solve[..], &printed].concat()).done().says(&["a GPU may receive from several GPUs at once"]);
    assert!(place.json("printed.json")["metrics"]["contended_phases"].as_f64().unwrap() > 0.0);
    let many = ["--set", "gpus_per_pod=1000"];
    place.run(&[&solve[..], &many].concat()).exit(2).says(&["gpus_per_pod: is 1000", "give at most 512"]);
}

#[test]
fn a_change_is_made_in_batches_that_keep_the_limits() {
    let place = Place::new();
    let arguments =
        ["preset:crossconnect-8-8-25", "--method", "lumos-halving", "--set", "max_dark_per_pod=2"];
    let plan = solve(&place, &arguments, "gentle.json");
    assert!(plan["result"]["batches"].as_array().unwrap().len() > 1);
    assert_eq!(plan["metrics"]["dark_limit_kept"], 1.0);
    assert!(plan["metrics"]["max_dark_per_pod"].as_f64().unwrap() <= 2.0);
    place.run(&["check", "gentle.json"]).done();
    place.run(&["show", "gentle.json"]).done().prints(&["2 circuits dark in a batch", "most dark"]);
}

/// A plan of a training job is converted to circuits of switches; for the next plan of the job, only the difference is
/// changed.
#[test]
fn training_plans_are_laid_on_switches_one_after_the_other() {
    let place = Place::new();
    let short = ["--method", "delta-joint", "--time-limit", "3s"];
    let job = |changes: &[&str], name: &str| {
        let changes = changes.iter().flat_map(|change| ["--set", *change]);
        let all: Vec<&str> = ["preset:megatron_462b"].into_iter().chain(short).chain(changes).collect();
        solve(&place, &all, name)
    };
    let first = job(&[], "a.json");
    // Slower ports move circuits between pipelines and exchanges; longer sequences leave them where they are.
    job(&["bandwidth_gbps=100"], "b.json");
    let longer = job(&["seq=8192"], "c.json");

    let new = |settings: &[&str], name: &str| {
        let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
        let all: Vec<&str> =
            ["new", "crossconnect"].into_iter().chain(settings).chain(["-o", name]).collect();
        place.run(&all)
    };
    new(&["from=a.json"], "sa.json").done();
    let scenario = place.json("sa.json");
    assert_eq!(scenario["derived_from"]["kind"], "training");
    assert_eq!(scenario["derived_from"]["scenario_sha256"], first["provenance"]["scenario_sha256"]);
    assert_eq!(scenario["predicted_makespan_s"], first["objective"]["value"]);
    assert_eq!(scenario["installed"]["ocs"], json!([]));
    let greenfield = solve(&place, &[&["sa.json"], SHORT].concat(), "pa.json");
    assert_eq!(greenfield["objective"]["value"], 0.0);
    assert_eq!(greenfield["metrics"]["predicted_makespan_s"], first["objective"]["value"]);
    place.run(&["check", "pa.json"]).done();
    place.run(&["show", "sa.json"]).done().prints(&["made from", "a training plan", "per iteration"]);

    new(&["from=b.json", "installed_from=pa.json"], "sb.json").done().says(&["installed circuits"]);
    let difference = solve(&place, &[&["sb.json"], SHORT].concat(), "pb.json");
    place.run(&["check", "pb.json"]).done();
    // What is set before the change is what the first one led to, and only part of it moves.
    assert_eq!(state(&difference, "add"), state(&greenfield, "remove"));
    let totals = |key: &str| difference["result"]["totals"][key].as_u64().unwrap();
    assert!(totals("lower_bound_removed_circuits") > 0);
    assert!(totals("removed_circuits") >= totals("lower_bound_removed_circuits"));
    assert!(totals("kept_circuits") > 4 * totals("removed_circuits"), "only the difference moves");

    // The same circuits again: nothing moves.
    assert_eq!(longer["result"]["topology"], first["result"]["topology"]);
    new(&["from=c.json", "installed_from=pa.json"], "same.json").done();
    let same = solve(&place, &[&["same.json"], SHORT].concat(), "psame.json");
    assert_eq!(same["objective"]["value"], 0.0);
    assert_eq!(same["result"]["batches"], json!([]));

    new(&["from=a.json", "ocs_count=3"], "uneven.json").done().says(&["the first switches get more ports"]);
    let other = new(&["from=a.json", "ocs_count=3", "installed_from=pa.json"], "x.json").exit(2);
    other.says(&["--set: installed_from: is for", "but 'ocs_count' is 3"]);
    new(&["ocs_count=3"], "x.json").exit(2).says(&["from: is missing"]);
    new(&["from=a.json", "from=b.json"], "x.json").exit(2).says(&["gives a second plan"]);
    new(&["from=a.json", "installed_from=b.json"], "x.json").exit(2).says(&["is a plan of kind training"]);
    new(&["from=sa.json"], "x.json").exit(2).says(&["is a scenario, not a plan"]);
    new(&["from=a.json", "ocs_count=0"], "x.json").exit(2).says(&["ocs_count: '0' is not valid"]);
    new(&["from=a.json", "wiring=single_sided", "max_dark_per_pod=3"], "single.json").done();
    let single = place.json("single.json");
    assert_eq!(
        (&single["wiring"], &single["rollout"]["max_dark_per_pod"]),
        (&json!("single_sided"), &json!(3))
    );
    assert!(!place.path("x.json").exists());
}

#[test]
fn what_is_exported_can_be_read_back_as_installed() {
    let place = Place::new();
    let plan = solve(&place, &["preset:crossconnect-example"], "plan.json");
    place.run(&["export", "plan.json", "--to", "csv", "--set", "full=true", "-o", "plan.csv"]).done();
    let read = |arguments: &[&str]| {
        let all: Vec<&str> = ["import", "csv"].iter().chain(arguments).copied().collect();
        place.run(&all)
    };
    read(&["plan.json", "plan.csv", "-o", "after.json"])
        .done()
        .prints(&["8 circuits are installed instead of 8"]);
    let again = solve(&place, &["after.json"], "again.json");
    assert_eq!(again["objective"]["value"], 0.0);
    assert_eq!(state(&again, "add"), state(&plan, "remove"));
    read(&["preset:crossconnect-example", "plan.csv", "--set", "state=before", "-o", "before.json"]).done();
    assert_eq!(place.json("before.json")["installed"], plan["scenario"]["installed"]);
    read(&["plan.csv"]).exit(2).says(&["none of the files is a scenario"]);
    read(&["plan.json", "preset:crossconnect-example", "plan.csv"]).exit(2).says(&["is the second scenario"]);
    read(&["preset:tiny4", "plan.csv"]).exit(2).says(&["preset:tiny4: kind: is 'training'"]);
    read(&["preset:crossconnect-3-1-25", "plan.csv"]).exit(2).says(&["plan.csv"]);

    place.run(&["export", "plan.json", "--to", "sonic_ocs"]).exit(2).says(&["name a folder with -o "]);
    std::fs::create_dir(place.path("files")).unwrap();
    place.run(&["export", "plan.json", "--to", "sonic_ocs", "-o", "files"]).done().prints(&["rollback"]);
    place.run(&["export", "again.json", "--to", "csv"]).exit(2).says(&["set full=true for the whole state"]);
    place
        .run(&["export", "preset:crossconnect-example", "--to", "csv"])
        .exit(2)
        .says(&["solve the scenario first"]);
}

#[test]
fn scenarios_that_are_wrong_are_refused_with_a_remedy() {
    let place = Place::new();
    place.scenario("crossconnect-example", "good.json");
    let wrong = |change: &dyn Fn(&mut Value), parts: &[&str]| {
        let mut scenario = place.json("good.json");
        change(&mut scenario);
        place.write("wrong.json", scenario.to_string());
        place.run(&["solve", "wrong.json"]).exit(2).says(parts);
    };
    let first = |scenario: &mut Value, change: &dyn Fn(&mut Value)| {
        change(&mut scenario["installed"]["ocs"][0]["cross_connects"][0]);
    };
    wrong(&|s| s["logical_circuits"][0][1] = json!(9), &["logical_circuits[0][1]: is 9, but [1][0] is 1"]);
    wrong(
        &|s| {
            s["logical_circuits"][0][1] = json!(9);
            s["logical_circuits"][1][0] = json!(9);
        },
        &["pod 0 needs 12 circuits but has 4 ports", "pod 1 needs 12"],
    );
    wrong(
        &|s| first(s, &|c| c["port_a_index"] = json!(1)),
        &["names A port 1 of switch 0", "pod 0 has ports 0 to 0"],
    );
    wrong(&|s| first(s, &|c| c["pod_b"] = json!(2)), &["uses B port 0 of pod 2, which"]);
    wrong(&|s| first(s, &|c| c["pod_b"] = json!(7)), &["names pod 7", "pods are 0 to 3"]);
    wrong(&|s| s["installed"]["ocs"][1]["ocs_id"] = json!(5), &["installed.ocs[1].ocs_id: is 5"]);
    wrong(
        &|s| drop(s["installed"]["ocs"].as_array_mut().unwrap().pop()),
        &["has 1 switches, but 'ocs_count' is 2", "check that the state belongs to these switches"],
    );
    wrong(
        &|s| {
            s["pinned"] =
                json!([{"ocs_id": 0, "pod_a": 0, "port_a_index": 0, "pod_b": 2, "port_b_index": 0}]);
        },
        &["pinned[0]: is not installed"],
    );
}

/// The circuits of a TPU pod stay at the ports of the design in the scenario of its 48 switches and in the files of
/// every vendor.
#[test]
fn a_pod_is_carried_to_its_switches_port_by_port() {
    let place = Place::new();
    solve(&place, &["preset:pt-4x4x8", "--set", "routing=none"], "pod.json");
    place.run(&["new", "crossconnect", "--set", "from=pod.json", "-o", "hall.json"]).done().says(&[
        "96 circuits on 48 switches keep their switches and ports",
        "dropped from the plan: the routes",
    ]);
    let hall = place.json("hall.json");
    assert_eq!((&hall["ocs_count"], hall["placed"].as_array().unwrap().len()), (&json!(48), 96));
    let plan = solve(&place, &["hall.json"], "laid.json");
    assert_eq!(
        (&plan["status"], &plan["result"]["totals"]["added_circuits"]),
        (&json!("optimal"), &json!(96))
    );
    place.run(&["check", "laid.json"]).done().prints(&["0 violations", "verified"]);
    place.run(&["show", "laid.json"]).done().prints(&["96, given port by port"]);
    place
        .run(&["export", "pod.json", "--to", "circuits", "-o", "pod.csv"])
        .done()
        .says(&["left out of this format: "]);
    let designed: BTreeSet<[u64; 5]> = std::fs::read_to_string(place.path("pod.csv"))
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<u64> = line.split(',').take(5).map(|cell| cell.parse().unwrap()).collect();
            [cells[0], cells[3], 0, cells[4], 0]
        })
        .collect();
    assert_eq!(state(&plan, "remove"), designed);
    for format in
        ["polatis_tl1", "calient_tl1", "polatis_restconf", "polatis_netconf", "ocp_ocs", "sonic_ocs"]
    {
        std::fs::create_dir(place.path(format)).unwrap();
        place.run(&["export", "laid.json", "--to", format, "-o", format]).done();
        let files = std::fs::read_dir(place.path(format)).unwrap().count();
        assert_eq!(files, 2 * 48 + 1, "{format}");
    }
    place
        .run(&["new", "crossconnect", "--set", "from=pod.json", "--set", "ocs_count=16"])
        .exit(2)
        .says(&["ocs_count: is 16, but the plan names the switch of every circuit and has 48"]);
    place
        .run(&["solve", "hall.json", "--set", "circuits=0-1:3"])
        .exit(2)
        .says(&["circuits: has no effect where the target circuits are given port by port"]);
    place
        .run(&["solve", "hall.json", "--set", "anneal_rounds=1"])
        .exit(2)
        .says(&["anneal_rounds: has no effect"]);
    // A switch that fails takes its circuits with it, and that is said.
    let cut = ["solve", "hall.json", "--set", "failed_ocs=3", "--progress", "plain", "-o", "cut.json"];
    place.run(&cut).done().says(&["2 of 96 target circuits cannot be set"]);
    place.run(&["check", "cut.json"]).done().prints(&["0 violations"]);
}

/// If a switch of a fully used fabric fails, the plan keeps as many circuits as the other switches can carry.
#[test]
fn a_failed_switch_leaves_the_best_of_the_rest() {
    let place = Place::new();
    let solved = |set: &str, name: &str| {
        let method = ["--method", "lumos-halving", "--progress", "plain", "-o", name];
        place.run(&[&["solve", "preset:crossconnect-8-8-25", "--set", set][..], &method].concat())
    };
    for (set, lost) in [("failed_ocs=3", 8.0), ("failed_ocs=1,2,3", 24.0), ("failed_ports=2:3:a0", 1.0)] {
        let name = format!("{set}.json").replace([',', ':'], "-");
        let said = format!("{lost} of 64 target circuits cannot be set");
        solved(set, &name).done().says(&[said.as_str()]);
        let plan = place.json(&name);
        assert_eq!(plan["metrics"]["unmet_circuits"], lost, "{set}");
        assert_eq!(plan["metrics"]["lower_bound_unmet_circuits"], lost, "{set}");
        place.run(&["check", &name]).done().prints(&["0 violations", "no plan sets more"]);
        place.run(&["show", &name]).done().prints(&["not set"]).says(&[said.as_str()]);
        // A circuit more is dropped and the sums are mended: the checker finds the ports that could carry it.
        let mut forged = plan.clone();
        let entries = forged["result"]["ocs"].as_array_mut().unwrap().iter_mut();
        let mut dropped = false;
        for ocs in entries {
            let list = ocs["cross_connects"].as_array_mut().unwrap();
            if let Some(at) = list.iter().position(|entry| entry["action"] == "add").filter(|_| !dropped) {
                list.remove(at);
                dropped = true;
            }
        }
        assert!(dropped, "{set}");
        forged["result"]["totals"]["unmet_circuits"] = json!(lost as u64 + 1);
        place.write("forged.json", forged.to_string());
        place.run(&["check", "forged.json"]).exit(1).prints(&["has working ports for one more"]);
    }
    // The same where ports have no sides.
    let single =
        ["--set", "wiring=single_sided", "--set", "failed_ocs=3", "--progress", "plain", "-o", "single.json"];
    place
        .run(&[&["solve", "preset:crossconnect-8-8-25"][..], &single].concat())
        .done()
        .says(&["8 of 64 target circuits cannot be set"]);
    place.run(&["check", "single.json"]).done().prints(&["0 violations", "no plan sets more"]);
}

/// If the only circuit of a pair of pods moves to ports in use, the pair is disconnected for a while; `solve` and
/// `show` report this.
#[test]
fn pairs_that_a_change_cuts_off_are_said() {
    let place = Place::new();
    let arguments =
        ["solve", "preset:crossconnect-16-16-25", "--method", "lumos-halving", "--progress", "plain"];
    const SAID: &str = "no circuit during batch 1 of 2";
    place.run(&[&arguments[..], &["-o", "rough.json"]].concat()).done().says(&[SAID, "min_pair_share=0.5"]);
    assert_eq!(place.json("rough.json")["metrics"]["least_pair_share"], 0.0);
    place.run(&["show", "rough.json"]).done().says(&[SAID]).prints(&["cut off"]);
    place.run(&["export", "rough.json", "--to", "csv", "-o", "rough.csv"]).done().says(&[SAID]);
    std::fs::create_dir(place.path("files")).unwrap();
    place.run(&["export", "rough.json", "--to", "sonic_ocs", "-o", "files"]).done();
    let mut script = std::fs::read_dir(place.path("files")).unwrap().map(|file| file.unwrap().path());
    let script = script.find(|path| path.extension().is_some_and(|ending| ending == "sh")).unwrap();
    assert!(std::fs::read_to_string(script).unwrap().contains(SAID));
}

/// If failed ports reduce the target, another plan may set other target circuits and remove fewer, so the bound names the
/// plans that it covers. Here pod 0 keeps four A ports for five target circuits. With two circuits to pod 2 and two to
/// pod 3, which need all of them, the circuit 0-1 on switch 0 is removed; a plan with 0-1 and three others keeps it.
#[test]
fn a_bound_on_a_reduced_target_names_its_plans() {
    let place = Place::new();
    let ocs = |id: u32, circuits: serde_json::Value| serde_json::json!({ "ocs_id": id, "cross_connects": circuits });
    let kept = serde_json::json!([{ "pod_a": 0, "port_a_index": 0, "pod_b": 1, "port_b_index": 0 }]);
    let hall = serde_json::json!({
        "schema": "lightbay.scenario/1", "kind": "crossconnect", "name": "hall", "pods": 4, "ocs_count": 3,
        "wiring": "two_sided",
        "ports_a": [[2, 2, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        "ports_b": [[0, 0, 0], [1, 1, 1], [2, 0, 0], [0, 2, 0]],
        "logical_circuits": [[0, 1, 2, 2], [1, 0, 0, 0], [2, 0, 0, 0], [2, 0, 0, 0]],
        "installed": { "ocs": [ocs(0, kept), ocs(1, serde_json::json!([])), ocs(2, serde_json::json!([]))] },
        "failed_ports": [{ "ocs_id": 2, "pod": 0, "side": "a", "port_index": 0 }],
    });
    place.write("hall.json", hall.to_string());
    place.run(&["solve", "hall.json", "-o", "plan.json"]).done();
    let plan = place.json("plan.json");
    assert_eq!(plan["objective"]["value"], 1.0);
    assert_eq!(plan["provenance"]["bound_covers"], "plans that set the same target circuits", "{plan}");
    place
        .run(&["check", "plan.json", "--exact"])
        .done()
        .prints(&["for plans that set the same target circuits"]);
}
