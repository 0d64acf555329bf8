//! Tests of `lightbay solve`: settings, progress, limits, hot start, and the exit code for every way in which a run
//! ends.

use super::support::Place;
use serde_json::Value;

fn events(err: &str) -> Vec<Value> {
    err.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
        .collect()
}

#[test]
fn progress_as_json_is_one_event_per_line_in_order() {
    let place = Place::new();
    let ran = place.run(&["solve", "preset:small", "--progress", "json"]).done();
    let plan = ran.json();
    let events = events(&ran.err);
    let mut best = f64::INFINITY;
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["schema"], "lightbay.event/1");
        assert_eq!(event["method"], "auto");
        assert_eq!(event["run"], 1);
        assert!(event["elapsed_s"].as_f64().unwrap() >= 0.0);
        assert!(event["event"].is_string());
        if index > 0 {
            assert!(event["seq"].as_u64() > events[index - 1]["seq"].as_u64());
        }
        if event["event"] == "incumbent" {
            let value = event["value"].as_f64().unwrap();
            assert!(value <= best * (1.0 + 1e-9), "incumbents only improve");
            best = value;
        }
    }
    assert_eq!(events[0]["event"], "started");
    assert_eq!(events[0]["scenario_sha256"], plan["provenance"]["scenario_sha256"]);
    let done = events.last().unwrap();
    assert_eq!(done["event"], "done");
    assert_eq!(done["status"], plan["status"]);
    assert_eq!(done["value"], plan["objective"]["value"]);
}

#[test]
fn progress_in_plain_has_a_line_per_milestone_and_none_has_none() {
    let place = Place::new();
    place.run(&["solve", "preset:tiny8", "--progress", "plain"]).done().says(&[
        "start      auto, seed 1",
        "plan       makespan",
        "bound      makespan",
        "done       optimal: makespan",
    ]);
    for arguments in [&["solve", "preset:tiny8", "--progress", "none"][..], &["solve", "preset:tiny8"]] {
        assert_eq!(place.run(arguments).done().err, "", "silent when nobody looks");
    }
}

#[test]
fn every_method_solves_a_small_preset_and_its_plan_passes_the_check() {
    let place = Place::new();
    let document = place.run(&["methods", "--json"]).done().json();
    let kinds = document["kinds"].as_array().unwrap();
    let training = kinds.iter().find(|kind| kind["name"] == "training").unwrap();
    for method in training["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let preset = if name == "reallocate" { "preset:tiny4_pair" } else { "preset:tiny4" };
        let mut arguments = vec!["solve", preset, "--method", name, "-o", "plan.json", "--force"];
        if name == "simulate" {
            arguments.extend(["--set", "topology=1,1,1"]);
        }
        if name == "delta-phases" {
            arguments.extend(["--set", "switch=mems"]);
        }
        place.run(&arguments).done();
        assert_eq!(place.json("plan.json")["method"], name);
        place.run(&["check", "plan.json"]).done();
    }
}

#[test]
fn settings_reach_scenario_and_method() {
    let place = Place::new();
    let plan = place
        .run(&[
            "solve",
            "preset:tiny8",
            "--method",
            "delta-fast",
            "--set",
            "bandwidth_gbps=800",
            "--set",
            "generations=3",
            "--set",
            "ports_per_pod=6",
            "--seed",
            "9",
            "--threads",
            "1",
            "--time-limit",
            "1m",
        ])
        .done()
        .json();
    assert_eq!(plan["scenario"]["job"]["run"]["bandwidth_gbps"], 800.0);
    assert_eq!(plan["scenario"]["job"]["ports_per_pod"], 6);
    assert_eq!(plan["parameters"]["generations"], 3);
    assert_eq!(plan["seed"], 9);
    assert_eq!(plan["threads"], 1);
    let new = place.run(&["new", "tiny8", "--set", "ports_per_pod[1]=3"]).done().json();
    assert_eq!(new["job"]["ports_per_pod"], serde_json::json!([4, 3]));
}

#[test]
fn all_wrong_settings_are_named_at_once() {
    let place = Place::new();
    place
        .run(&[
            "solve",
            "preset:tiny8",
            "--set",
            "bandwith_gbps=800",
            "--set",
            "tp=zero",
            "--set",
            "seed=3",
            "--seed",
            "4",
            "-o",
            "no/where",
        ])
        .exit(2)
        .says(&[
            "bandwith_gbps",
            "did you mean 'bandwidth_gbps'?",
            "'zero' is not valid",
            "also given by --seed",
            "'no' does not exist",
        ]);
    place
        .run(&["solve", "preset:tiny8", "--method", "delta-jont"])
        .exit(2)
        .says(&["did you mean 'delta-joint'?"]);
    place.run(&["new", "tiny8", "--set", "generations=3"]).exit(2).says(&["parameter"]);
    place.run(&["new", "tinny8"]).exit(2).says(&["did you mean 'tiny8'?"]);
    for command in [&["new", "tiny8"][..], &["solve", "preset:tiny8"], &["sweep", "preset:tiny8"]] {
        let twice = ["--set", "seq=4096", "--set", "seq=8192"];
        place.run(&[command, &twice].concat()).exit(2).says(&["seq: is given twice"]);
    }
    for (flag, value) in [
        ("--time-limit", "soon"),
        ("--gap", "150%"),
        ("--threads", "0"),
        ("--seed", "-1"),
        ("--set", "nonsense"),
    ] {
        place.run(&["solve", "preset:tiny8", flag, value]).exit(2).says(&[value]);
    }
}

#[test]
fn parameters_that_do_not_suit_the_scenario_are_invalid_input() {
    let place = Place::new();
    let ran = place.run(&["solve", "preset:tiny8", "--method", "simulate", "--set", "topology=1,1"]).exit(2);
    let ran = ran.says(&["topology", "3 links"]);
    assert_eq!(ran.out, "");
    place
        .run(&["solve", "preset:tiny8", "--method", "simulate", "--set", "topology=1,100,1"])
        .exit(2)
        .says(&["port"]);
}

#[test]
fn a_time_limit_returns_the_best_plan_with_exit_code_0() {
    let place = Place::new();
    let plan = place
        .run(&[
            "solve",
            "preset:deepseek_671b",
            "--method",
            "delta-fast",
            "--set",
            "generations=1000000",
            "--set",
            "stall_generations=1000000",
            "--time-limit",
            "300ms",
        ])
        .done()
        .json();
    assert_eq!(plan["status"], "stopped");
    assert_eq!(plan["limit"], "time");
    assert_eq!(plan["provenance"]["reproducible"], false);
}

#[test]
fn the_same_seed_gives_the_same_plan_on_any_number_of_threads() {
    let place = Place::new();
    let run = |threads: &str| {
        let mut plan = place
            .run(&["solve", "preset:small", "--method", "delta-fast", "--threads", threads])
            .done()
            .json();
        plan.as_object_mut().unwrap().retain(|key, _| key != "threads" && key != "provenance");
        plan
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn a_hot_start_is_used_repaired_and_reported() {
    let place = Place::new();
    place.plan("small", "delta-joint", "plan.json");
    let ran = place
        .run(&[
            "solve",
            "preset:small",
            "--set",
            "bandwidth_gbps=404",
            "--hot-start",
            "plan.json",
            "--progress",
            "json",
        ])
        .done();
    let events = events(&ran.err);
    let fate = events.iter().find(|event| event["event"] == "hot_start").unwrap();
    assert_ne!(fate["fate"], "rejected");
    let first = events.iter().find(|event| event["event"] == "incumbent").unwrap();
    assert!(first["source"].as_str().unwrap().contains("hot start"), "{first}");

    place.write("bad.json", place.read("plan.json").replacen("\"circuits\": ", "\"circuits\": 9", 1));
    place
        .run(&["solve", "preset:small", "--hot-start", "bad.json"])
        .exit(2)
        .says(&["--hot-start", "lightbay check"]);
    // What a method does not heed is refused.
    place
        .run(&["solve", "preset:small", "--method", "prop-alloc", "--hot-start", "plan.json", "--gap", "1%"])
        .exit(2)
        .says(&[
            "--hot-start: has no effect on prop-alloc, which does not accept a hot start; leave it out",
            "--gap: has no effect on prop-alloc, which proves no bound; leave it out",
        ]);
    // A plan that the run does not use is named, with the reason.
    place.plan("tiny8", "prop-alloc", "tiny8.json");
    let given = ["--method", "simulate", "--set", "topology=1,1,1", "--hot-start", "tiny8.json"];
    place
        .run(&[&["solve", "preset:tiny8"][..], &given].concat())
        .done()
        .says(&["does not start from the plan of --hot-start: the parameter `topology` gives the circuits"]);
    place.scenario("small", "scenario.json");
    place
        .run(&["solve", "preset:small", "--hot-start", "scenario.json"])
        .exit(2)
        .says(&["is a scenario, not a plan"]);
}

#[test]
fn the_scenario_of_a_plan_can_be_solved_again() {
    let place = Place::new();
    place.plan("tiny8", "prop-alloc", "plan.json");
    let ran = place.run(&["solve", "plan.json"]).done().says(&["is a plan, so its scenario is solved"]);
    let again = ran.json();
    assert_eq!(
        again["provenance"]["scenario_sha256"],
        place.json("plan.json")["provenance"]["scenario_sha256"]
    );
}

/// The default method is chosen after the settings have changed the scenario.
#[test]
fn settings_decide_which_method_suits() {
    let place = Place::new();
    let plan = place.run(&["solve", "preset:tiny4", "--set", "switch=mems"]).done().json();
    assert_eq!(plan["method"], "delta-phases");
    assert_eq!(place.run(&["solve", "preset:tiny4"]).done().json()["method"], "auto");
}

/// One replica on pods that no other replica uses; the expected 5.136996 s were calculated independently.
#[test]
fn a_model_on_pods_of_ones_own_is_two_commands() {
    let place = Place::new();
    let run = ["--set", "model=llama_3_1_70b", "--set", "gpus=512", "--set", "tp=8", "--set", "pp=8"];
    let new = |pods: &str| {
        let mut words = vec!["new", "training"];
        words.extend(run);
        words.extend(["--set", "micro_batches=64", "--set", pods, "-o", "job.json", "--force"]);
        place.run(&words).done();
        place.run(&["solve", "job.json"]).done().json()
    };
    let alone = new("gpus_per_pod_per_replica=16");
    assert!(
        (alone["objective"]["value"].as_f64().unwrap() - 5.136996).abs() < 5e-7,
        "{}",
        alone["objective"]
    );
    let shared = new("gpus_per_pod=128");
    let links = shared["scenario"]["job"]["run"].as_object().unwrap();
    assert_eq!(
        (links["gpus_per_pod"].as_u64(), links.contains_key("gpus_per_pod_per_replica")),
        (Some(128), false)
    );
    place
        .run(&["show", "job.json"])
        .done()
        .prints(&["8 replicas share each pod and add up their gradients inside it"]);
    // All replicas share each pod, so the circuits carry pipeline traffic alone; the checker proves the plan.
    place.run(&["solve", "job.json", "-o", "shared.json"]).done();
    place.run(&["check", "shared.json"]).done().prints(&[
        "0 violations",
        "verified bound on makespan",
        "gap 0.00 %",
    ]);
    let links = place.run(&["export", "shared.json", "--to", "instance"]).done().json();
    let links = links["instance"]["links"].as_array().unwrap();
    assert!(links.iter().all(|link| link["kind"] == "pp"), "{links:?}");
}

#[test]
fn pods_of_a_job_come_from_a_table() {
    let place = Place::new();
    let new = ["new", "training", "--set", "model=llama_3_1_70b", "--set", "gpus=512", "--set", "tp=8"];
    let more = ["--set", "pp=8", "--set", "micro_batches=8", "--set", "gpus_per_pod=128", "-o", "job.json"];
    place.run(&[&new[..], &more].concat()).done();
    place.write("pods.csv", "rank_first,rank_last,pod\n0,191,east\n192,383,west\n384,511,south\n");
    // A table alone is recognised by its columns.
    place.run(&["import", "pods.csv"]).exit(2).says(&["0 jobs and 1 table are given"]);
    place.run(&["import", "pod_map", "job.json", "pods.csv", "-o", "uneven.json"]).done().prints(&[
        "3 pods for 512 GPUs",
        "all replicas have the same pods",
        "the table replaces 'gpus_per_pod' of the scenario",
    ]);
    // Both files may be compressed.
    for name in ["job.json", "pods.csv"] {
        place.write(&format!("{name}.gz"), crate::bombs::gzip(place.read(name).as_bytes()));
    }
    place
        .run(&["import", "pod_map", "job.json.gz", "pods.csv.gz", "-o", "again.json"])
        .done()
        .prints(&["3 pods for 512 GPUs"]);
    place.run(&["solve", "uneven.json", "-o", "plan.json"]).done();
    place.run(&["check", "plan.json"]).done().prints(&["0 violations"]);
    place.run(&["show", "plan.json"]).done().prints(&["east", "west", "south"]);
    // 100 GPUs cut a stage of 64 ranks within a replica's 8.
    place.write("cut.csv", "rank_first,rank_last,pod\n0,99,a\n100,511,b\n");
    place.run(&["import", "pod_map", "job.json", "cut.csv", "-o", "cut.json"]).exit(2).says(&[
        "separates ranks 96 to 103",
        "stage 2 of replica 4",
        "multiples of 8",
    ]);
    place.write("gap.csv", "rank_first,rank_last,pod\n0,99,a\n104,511\n");
    place.run(&["import", "pod_map", "job.json", "gap.csv"]).exit(2).says(&["line 3: has 2 fields"]);
    let set = ["solve", "job.json", "--set", "gpus_per_pod=256,192,64", "-o", "list.json"];
    place.run(&set).done();
    assert_eq!(place.json("list.json")["scenario"]["job"]["pods"], serde_json::json!([256, 192, 64]));
    place.run(&["check", "list.json"]).done().prints(&["0 violations"]);
}

/// With one stage per pod the transfers share NICs, but the ports of a pod limit the transfers before the NICs do.
#[test]
fn circuits_move_where_ports_limit_transfers_before_nics_do() {
    let place = Place::new();
    let value = |plan: &Value| plan["objective"]["value"].as_f64().unwrap();
    let plan = place.run(&["solve", "preset:one_stage_per_pod", "--set", "switch=plzt"]).done().json();
    assert!((value(&plan) - 0.340_723).abs() < 6e-7, "{}", plan["objective"]);
    let more = ["solve", "preset:one_stage_per_pod", "--set", "switch=plzt", "--set", "most_switchings=1000"];
    place.run(&[&more[..], &["-o", "many.json"]].concat()).done();
    let many = place.json("many.json");
    assert!(value(&many) < 0.337_872, "{}", many["objective"]);
    place.run(&["check", "many.json"]).done().prints(&["0 violations"]);
    // A plan whose circuits move is a start for another dark time.
    let other =
        ["solve", "preset:one_stage_per_pod", "--set", "switching_delay_s=1e-9", "--hot-start", "many.json"];
    let again = place.run(&[&other[..], &["--set", "most_switchings=1000"]].concat()).done();
    assert!(value(&again.json()) <= value(&many) * (1.0 + 1e-9));
}
