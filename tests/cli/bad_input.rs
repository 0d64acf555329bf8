//! Tests of invalid input: the message has file, field, value and remedy, the exit code is 2, and nothing is written.

use super::support::Place;
use std::fs;
use std::path::{Path, PathBuf};

fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs")
}

/// Every scenario file in `inputs/bad`, with the texts that the error message must contain.
const BAD_SCENARIOS: [(&str, &[&str]); 26] = [
    (
        "cycle.json",
        &["instance.edges: form a cycle: 0 'A' -> 1 'B' -> 0 'A'", "remove one edge of the cycle"],
    ),
    (
        "dangling_ids.json",
        &["links[1].pod_b: is '7'", "a pod from 0 to 2", "edges[2].succ: is '9'", "a task from 0 to 2"],
    ),
    (
        "duplicate_pair.json",
        &["links[2]: joins pods 1 and 0, as links[0] does", "keep one link per pod pair"],
    ),
    ("empty.json", &["is empty; use a file with content"]),
    ("escapes_in_names.json", &["form a cycle", "\\u{1b}]0;owned\\u{7}"]),
    ("gpus_do_not_divide.json", &["job.run.gpus: is '15'", "give 8 or 16"]),
    ("gpus_do_not_match_flows.json", &["tasks[0].src_gpus: has 1 entries for 2 flows", "one GPU per flow"]),
    ("ids_out_of_order.json", &["tasks[1].id: is '2'", "ids are consecutive and start at 0"]),
    ("job_and_instance.json", &["job: cannot be combined with 'instance'", "give one of the two"]),
    (
        "job_too_few_ports.json",
        &["job.ports_per_pod", "pod 'p0' has 1 port,", "give the pod at least 2 ports"],
    ),
    ("nan.json", &["line 6, column", "not valid JSON"]),
    ("negative_delay.json", &["edges[0].delay_s: is '-1'", "give a number from 0"]),
    ("newer_schema.json", &["schema: is version '2' of lightbay.scenario", "reads 'lightbay.scenario/1'"]),
    ("no_object.json", &["holds a list of length 3", "is an object"]),
    ("no_schema.json", &["schema: is missing", "lightbay.scenario/1"]),
    ("not_json.json", &["is neither a scenario or plan", "nor a format that lightbay knows"]),
    ("sends_to_itself.json", &["tasks[0].dst_pod: is '0', which is also the sending pod"]),
    ("too_few_ports.json", &["pods[1].ports: pod 'p1' has 1 port,", "give the pod at least 2 ports"]),
    ("too_large_number.json", &["line 6, column", "number out of range"]),
    ("truncated.json", &["the file ends too early; check whether it was cut off"]),
    (
        "unknown_keys.json",
        &[
            "instance.nic_bandwith_gbps: is not a known key; did you mean 'nic_bandwidth_gbps'?",
            "tasks[0].volume: is not a known key",
            "comment: is not a known key",
            "nic_bandwidth_gbps: is missing; add it",
        ],
    ),
    ("unknown_kind.json", &["kind: there is no kind 'trainning'; did you mean 'training'?"]),
    (
        "unknown_model.json",
        &["job.model: there is no built-in model 'gpt_7bb'; did you mean 'gpt_7b'? use one of gpt_7b"],
    ),
    (
        "wrong_types.json",
        &[
            "name: is '5'; give text in quotes",
            "nic_bandwidth_gbps: is 'fast'; give a number from",
            "pods[0].ports: is 'three'; give a whole number",
            "links[0].kind: is '7'",
            "tasks[0].flows: is '1.5'",
            "edges[0]: is '0 to 1'; give an object",
        ],
    ),
    ("zero_flows.json", &["tasks[0].flows: is '0'; give at least 1"]),
    ("zero_volume.json", &["tasks[0].volume_bytes: is '0'; give a number from 1 to"]),
];

#[test]
fn every_bad_scenario_is_refused_with_its_message() {
    let place = Place::new();
    for (name, messages) in BAD_SCENARIOS {
        fs::copy(inputs().join("bad").join(name), place.path(name)).unwrap();
        for command in
            [&["solve", name, "-o", "out.json"][..], &["show", name], &["export", name, "--to", "json"]]
        {
            let ran = place.run(command).exit(2).says(messages).says(&[name]);
            assert_eq!(ran.out, "", "{name}: {command:?}");
            assert!(!ran.err.contains('\u{1b}') && !ran.err.contains("panic"), "{name}:\n{}", ran.err);
        }
        assert!(!place.path("out.json").exists(), "{name}");
    }
}

#[test]
fn no_bad_file_is_left_out() {
    let mut there: Vec<String> = fs::read_dir(inputs().join("bad"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
        .collect();
    there.sort();
    let listed: Vec<&str> = BAD_SCENARIOS.iter().map(|(name, _)| *name).collect();
    assert_eq!(there, listed);
}

#[test]
fn the_good_files_beside_them_are_good() {
    let place = Place::new();
    for name in ["toy_b.json", "job.json", "escapes_in_names.json"] {
        fs::copy(inputs().join(name), place.path(name)).unwrap();
        place.run(&["solve", name, "-o", "plan.json", "--force"]).done();
        place.run(&["check", "plan.json"]).done();
    }
}

#[test]
fn escape_sequences_in_names_never_reach_the_terminal() {
    let place = Place::new();
    fs::copy(inputs().join("escapes_in_names.json"), place.path("s.json")).unwrap();
    place.run(&["solve", "s.json", "--method", "prop-alloc", "-o", "a.json"]).done();
    place.run(&["solve", "s.json", "--progress", "plain", "-o", "b.json"]).done();
    let file = "\u{1b}[2Jx.json";
    fs::copy(place.path("b.json"), place.path(file)).unwrap();
    for command in [
        &["show", "s.json"][..],
        &["show", "b.json"],
        &["show", "b.json", "--json"],
        &["check", "b.json"],
        &["check", file],
        &["compare", "a.json", file],
        &["compare", "a.json", file, "--md"],
        &["compare", "a.json", file, "--json"],
        &["export", "s.json", "--to", "json"],
        &["sweep", "s.json", "--method", "prop-alloc"],
        &["sweep", "s.json", "--method", "prop-alloc", "--json"],
    ] {
        let ran = place.run(command).done();
        let safe = |text: &str| !text.chars().any(|c| c == '\u{1b}' || c == '\u{7}' || c == '\u{202e}');
        // JSON escapes control characters by itself; marks of direction are legal in it.
        let json = command.contains(&"--json") || command.contains(&"export");
        assert!(safe(&ran.err), "{command:?}");
        assert!(safe(&ran.out) || (json && !ran.out.contains('\u{1b}')), "{command:?}");
    }
    let missing = place.run(&["check", "\u{1b}[2Jmissing.json"]).exit(2);
    assert!(!missing.err.contains('\u{1b}'));
}

#[test]
fn files_that_are_too_large_or_too_deep_are_refused_quickly() {
    let place = Place::new();
    // A sparse file of 100 MB costs nothing.
    fs::File::create(place.path("huge.json")).unwrap().set_len(100_000_000).unwrap();
    place.run(&["show", "huge.json"]).exit(2).says(&[
        "huge.json",
        "larger than 64 MiB",
        "check that this is the file you meant",
    ]);
    place.write("deep.json", "[".repeat(1_000_000));
    place.run(&["show", "deep.json"]).exit(2).says(&["deep.json", "nested deeper than 128 levels"]);
    place.write("deep_object.json", "{\"schema\":".repeat(100_000));
    place.run(&["solve", "deep_object.json"]).exit(2).says(&["nested deeper than 128 levels"]);
}

#[test]
fn what_is_no_file_is_named_as_what_it_is() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    place.run(&["show", "folder"]).exit(2).says(&["folder: is a folder"]);
    place.run(&["show", "nothing.json"]).exit(2).says(&["nothing.json: the file does not exist"]);
    place.run(&["show", "tiny8"]).exit(2).says(&["did you mean the preset 'preset:tiny8'?"]);
    place.run(&["show", "preset:tinny8"]).exit(2).says(&["preset:tinny8", "did you mean 'tiny8'?"]);
    place.run(&["solve", "session:x"]).exit(2).says(&["session:x: session 'x' does not exist"]);
    place.run(&["check", "preset:tiny8"]).exit(2).says(&["is a scenario, not a plan"]);
    place.run(&["methods", "trainning"]).exit(2).says(&["did you mean 'training'?"]);
    place.run(&["export", "preset:tiny8", "--to", "jsn"]).exit(2).says(&["did you mean 'json'?"]);
    place.run(&["import", "aicbb", "folder"]).exit(2);
    place.run(&["frobnicate"]).exit(2);
    place.run(&["solve"]).exit(2).says(&["SCENARIO"]);
    place.run(&["solve", "preset:tiny8", "--frobnicate"]).exit(2).says(&["--frobnicate"]);
}

#[test]
fn files_without_permission_are_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let path = place.write("secret.json", "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read everything.
    let message = if fs::File::open(&path).is_ok() { "schema: is missing" } else { "cannot be opened" };
    place.run(&["show", "secret.json"]).exit(2).says(&["secret.json", message]);
}

#[test]
fn plans_are_read_as_strictly_as_scenarios() {
    let place = Place::new();
    place.plan("tiny4", "delta-joint", "plan.json");
    let good = place.json("plan.json");
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut plan = good.clone();
        change(&mut plan);
        place.write("bad.json", plan.to_string());
    };
    with(&|plan| plan["schema"] = "lightbay.plan/9".into());
    place.run(&["check", "bad.json"]).exit(2).says(&["version '9' of lightbay.plan"]);
    with(&|plan| plan["objective"] = serde_json::Value::Null);
    place.run(&["check", "bad.json"]).exit(2).says(&["bad.json: objective: is missing"]);
    with(&|plan| plan["scenario"]["job"]["run"]["tp"] = "two".into());
    place.run(&["check", "bad.json"]).exit(2).says(&["scenario.job.run.tp: is 'two'"]);
    with(&|plan| plan["remark"] = "mine".into());
    place.run(&["check", "bad.json"]).done().says(&["warning: bad.json: remark: is not a known key"]);
    with(&|plan| plan["result"]["remark"] = "mine".into());
    place.run(&["check", "bad.json"]).exit(1).prints(&["schema: ", "remark"]);
    for command in [&["export", "bad.json", "--to", "json"][..], &["compare", "plan.json", "bad.json"]] {
        let ran = place.run(command).exit(2).says(&["bad.json", "lightbay check"]);
        assert_eq!(ran.out, "");
    }
}

#[test]
fn imports_that_would_invent_something_are_refused() {
    let place = Place::new();
    for (name, messages) in [
        ("placeholder_times.txt", &["placeholder_times.txt", "the placeholder of 1 ns", "compute=zero"][..]),
        ("unmatched_sends.csv", &["unmatched_sends.csv", "stage 0 to stage 1", "every send needs a receive"]),
    ] {
        fs::copy(inputs().join("bad").join(name), place.path(name)).unwrap();
        let arguments = ["import", "aicb", name, "--set", "gpus_per_pod_per_replica=2", "-o", "out.json"];
        let ran = place.run(&arguments).exit(2).says(messages);
        assert_eq!(ran.out, "");
        assert!(!place.path("out.json").exists());
    }
    let zero = [
        "import",
        "aicb",
        "placeholder_times.txt",
        "--set",
        "gpus_per_pod_per_replica=2",
        "--set",
        "compute=zero",
    ];
    place.run(&zero).done();
    place.run(&[&zero[..], &["--strict"]].concat()).exit(2);
    let document = place.run(&[&zero[..], &["--json"]].concat()).done().json();
    assert_eq!(document["schema"], "lightbay.import/1");
    assert_eq!(document["scenario"]["schema"], "lightbay.scenario/1");
    let summary = place.run(&[&zero[..], &["-o", "job.json"]].concat()).done().out;
    assert!(!summary.is_empty());
    place.run(&["solve", "job.json", "-o", "plan.json"]).done();
    place.run(&["check", "plan.json"]).done();
}
